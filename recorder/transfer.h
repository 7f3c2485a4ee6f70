// Calls that a stop of ours cut short: a large write to a pipe, a receive with MSG_WAITALL, a large read of random
// bytes, an io_uring_enter that handed in but did not wait to the end. The program alone would have seen them whole;
// they are made to go on, and their parts are added up.
#ifndef REC_TRANSFER_H
#define REC_TRANSFER_H

#include "tracer.h"

#include "arch.h"

// At a stop that the program alone would not have had: whether the thread stands at the end of such a call. Then *regs
// are changed so that the rest is done, and the thread is to be restarted into TRACEE_IN_CALL.
bool transfer_goes_on(struct tracee *tracee, struct arch_regs *regs);
// At a syscall stop of a thread whose transfer goes on: entry, then exit, where the sum is handed to the program.
// Restarts it.
void transfer_step(struct tracer *tracer, struct tracee *tracee);
// The stop turns out to be one that cuts the call short alone too (a signal with a handler, a group-stop), before the
// rest was begun: the program gets what was done.
void transfer_give_up(struct tracee *tracee);

#endif
