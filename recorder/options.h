// The command line of vmvis-record.
#ifndef REC_OPTIONS_H
#define REC_OPTIONS_H

#include "exclude.h"
#include "watch_list.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum faults_choice { FAULTS_AUTO, FAULTS_RECORDS, FAULTS_UFFD, FAULTS_FRAMES, FAULTS_NONE };

struct options {
    const char *output;    // -o; "-" is standard output
    uint64_t interval_ns;  // floor of the frame interval
    bool interval_auto;    // the governor may stretch it
    double budget_percent; // < 0: none
    enum faults_choice faults;
    uint32_t stack_bytes; // 0: none
    bool content;         // --content changed
    uint64_t embed_limit; // bytes
    bool embed_debug;     // separate debug files travel in the trace
    uint64_t max_size;    // bytes of trace, 0: no limit
    const char *ring;     // --ring as given, NULL: none
    uint64_t ring_ns, ring_bytes;
    struct exclude exclude;
    struct watch_list watch;
    bool no_env;     // the environment stays out of the trace
    bool split_huge; // arm huge pages too
    bool no_follow;  // children are not recorded
    pid_t attach;    // -p: this process instead of a program, 0: none
    bool maps_given;
    bool maps_frames; // --maps frames: mappings are read at each frame; no call stops
    const char *user; // the program runs as this user, NULL: as we do
    bool quiet;
    int verbose;
    char **command; // program and arguments, NULL-terminated; NULL with attach
};

enum options_result { OPTIONS_RUN, OPTIONS_DONE, OPTIONS_BAD };

// Fills *options. DONE: --help or --version was printed. BAD: one line was printed on standard error.
enum options_result options_parse(struct options *options, int argc, char **argv);

// "auto", "records" ...
const char *options_faults_word(enum faults_choice choice);

#endif
