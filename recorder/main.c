// vmvis-record: runs a program and records what it does with its virtual memory.
#include "record.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

// Ends as the program did, so that whoever started us sees the same.
static void die_by(int signal_number) {
    struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    signal(signal_number, SIG_DFL);
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, signal_number);
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    raise(signal_number);
}

int main(int argc, char **argv) {
    struct options options;
    enum options_result parsed = options_parse(&options, argc, argv);
    if (parsed != OPTIONS_RUN) return parsed == OPTIONS_DONE ? 0 : 125;
    struct record_result result;
    record_run(&options, &result);
    if (result.error[0]) fprintf(stderr, "vmvis-record: %s\n", result.error);
    bool summarised = result.summary[0] && result.started && !result.error[0];
    if (summarised && !options.quiet) fprintf(stderr, "vmvis-record: %s\n", result.summary);
    if (result.hint[0] && !options.quiet) fprintf(stderr, "vmvis-record: %s\n", result.hint);
    fflush(stderr);
    if (result.signal) die_by(result.signal);
    return result.signal ? 128 + result.signal : result.status;
}
