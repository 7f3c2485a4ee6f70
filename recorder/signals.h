// Signals sent to the recorder itself: most are meant for the program.
#ifndef REC_SIGNALS_H
#define REC_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SIGNALS_END = 65 }; // one more than the highest number

struct signals_news {       // of one number, not passed on yet
    _Atomic unsigned count; // times it came
    _Atomic uint64_t since; // ns, CLOCK_MONOTONIC: when the first of them came
    volatile pid_t sender;  // of the last; -1: the kernel
    volatile bool queued;   // the last came with a value (sigqueue(3))
    volatile union sigval value;
};

struct signals {
    struct signals_news news[SIGNALS_END]; // by number
    _Atomic bool any;                      // some of them are not passed on yet
    bool insists;                          // SIGTERM was ignored when we were started: it never ends the recording
    volatile sig_atomic_t stopped;         // the signal that told the group to stop
    volatile uint64_t stopped_at;          // ns, CLOCK_MONOTONIC
    volatile sig_atomic_t stop;            // end the recording now
    volatile sig_atomic_t keep_ring;       // SIGUSR1 with --ring: what the ring holds is to be kept
};

enum signals_use {
    SIGNALS_LAUNCHED, // what others send us is passed on to the program
    SIGNALS_ATTACHED, // the process is not ours to end: SIGTERM and its like end the recording
};
// Catches them from now on, also those that were blocked when we were started; to be called once, after the program was
// forked and before there are threads. The signal `tick` is left to the caller.
struct signals *signals_catch(enum signals_use use, bool ring, int tick);

#endif
