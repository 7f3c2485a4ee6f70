// Signals sent to the recorder itself: most are meant for the program.
#ifndef REC_SIGNALS_H
#define REC_SIGNALS_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct signals {
    _Atomic uint64_t forward;        // to be passed on to the program: bit n-1 for signal n
    volatile pid_t sender[65];       // by number: who sent the last
    volatile sig_atomic_t stopped;   // the terminal told the group to stop
    volatile sig_atomic_t stop;      // end the recording now
    volatile sig_atomic_t keep_ring; // SIGUSR1 with --ring: what the ring holds is to be kept
};

enum signals_use {
    SIGNALS_LAUNCHED, // what would end a program is passed on to it; a second SIGTERM or SIGHUP ends the recording
    SIGNALS_ATTACHED, // the process is not ours to end: any of them ends the recording
};
// Catches them from now on; to be called once, after the program was forked.
struct signals *signals_catch(enum signals_use use, bool ring);

#endif
