// Transfers that our own interrupt cut short: a large write to a pipe, a receive with MSG_WAITALL. The program would
// have seen them whole; they are made to go on, and their parts are added up.
#ifndef REC_TRANSFER_H
#define REC_TRANSFER_H

#include "tracer.h"

#include "arch.h"

// At a stop by our interrupt: whether the thread stands at the end of such a call. Then *regs are changed so that the
// rest of the transfer is done, and the thread is to be restarted into TRACEE_IN_CALL.
bool transfer_goes_on(struct tracee *tracee, struct arch_regs *regs);
// At a syscall stop of a thread whose transfer goes on: entry, then exit, where the sum is handed to the program.
// Restarts it.
void transfer_step(struct tracer *tracer, struct tracee *tracee);

#endif
