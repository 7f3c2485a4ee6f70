// Signals and why they came, by the names that signal(7) and sigaction(2) give them.
#ifndef INSPECT_SIGNAL_H
#define INSPECT_SIGNAL_H

#include "inspect_show.h"

struct shown inspect_signal(int32_t number);                    // "SIGSEGV", "SIGRTMIN+3", "signal 99"
struct shown inspect_signal_code(int32_t number, int32_t code); // "SEGV_MAPERR", "SI_USER", "code 99"

#endif
