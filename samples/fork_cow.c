// A child shares its parent's pages until one of them writes.   fork_cow [--checkpoints N]
#include "calls.h"
#include <sys/wait.h>

#define PAGE 4096
#define PAGES 16

static void say(const char *name, char *start) {
    truth_checkpoint(name);
    for (size_t i = 0; i < PAGES; i += 5) truth_value(name, start + i * PAGE, 8);
}

static _Noreturn void be_child(char *start) {
    truth_line("\"what\":\"child\",\"pid\":%d,\"t\":%" PRId64, getpid(), truth_now());
    for (size_t i = 0; i < PAGES; i += 2) call_store(start + i * PAGE, 0xc000 + i);
    call_munmap(start + PAGES * PAGE, PAGE);
    say("child wrote", start);
    truth_flush();
    _exit(7);
}

static void fork_once(char *start) {
    truth_flush();
    int64_t before = truth_now();
    pid_t child = fork();
    if (child < 0) truth_fail("fork");
    if (child == 0) be_child(start);
    truth_line("\"what\":\"fork\",\"pid\":%d,\"child\":%d,\"before\":%" PRId64 ",\"after\":%" PRId64, getpid(), child,
               before, truth_now());
    int status;
    waitpid(child, &status, 0);
    truth_line("\"what\":\"exit\",\"pid\":%d,\"code\":%d,\"t\":%" PRId64, child, WEXITSTATUS(status), truth_now());
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    truth_begin();
    char *start = call_anonymous((PAGES + 1) * PAGE);
    for (size_t i = 0; i < PAGES; i++) call_store(start + i * PAGE, 0xa000 + i);
    say("filled", start);
    fork_once(start);
    say("child gone", start);
    for (size_t i = 0; i < PAGES; i += 3) call_store(start + i * PAGE, 0xb000 + i);
    say("parent wrote", start);
    fork_once(start);
    say("second child gone", start);
    call_munmap(start + 2 * PAGE, (PAGES - 1) * PAGE);
    truth_checkpoint("unmapped");
    return truth_end();
}
