// Calls that were broken off by a stop which the program alone would not have had: our interrupt, a signal that it
// ignores (the kernel drops those unseen unless there is a tracer), a SIGCONT that continues nothing.
#ifndef REC_MEND_H
#define REC_MEND_H

#include "tracer.h"

#include "arch.h"

// At such a stop: whether *regs were changed so that the call goes on. They are not written to the thread.
bool mend_call(struct tracee *tracee, struct arch_regs *regs, uint64_t now);
// At a stop that the program has alone too, which may follow right after one that was mended: it breaks the call off.
void mend_undo(struct tracee *tracee);
// At the end of a group-stop, which breaks calls off alone too: what it broke off stays so, whatever stops of ours come
// before the thread is back in the program.
void mend_settle(const struct tracee *tracee);
// At the stop of a SIGCHLD: a wait that our interrupt broke off before its child ended, and that would have had the
// child alone, is made to begin anew after the handler.
void mend_wait(struct tracee *tracee);
// Whether the thread's process ignores the signal, by choice or by default.
bool mend_is_ignored(const struct tracee *tracee, int signal);

#endif
