// The program's own use of seccomp beside our filter.
#ifndef REC_CONFINE_H
#define REC_CONFINE_H

#include "tracer.h"

#include "arch.h"

// At the entry stop of seccomp(2) or prctl(PR_SET_SECCOMP): acts on it, and restarts the thread.
// Strict mode, which the kernel refuses to a thread that has a filter, is enforced here instead. A filter with a
// listener hides memory calls that the listener lets pass: the mappings of its process are read at frames from then on.
// foreign: the call was made by another convention than the native one.
void confine_entry(struct tracer *tracer, struct tracee *tracee, struct arch_regs *regs, bool foreign);
// At the entry or exit stop of any call of a thread in strict mode: kills it for a call that is not allowed.
void confine_strict(struct tracer *tracer, struct tracee *tracee);
// At a seccomp stop that a filter of the program's own asked for: no tracer of its own is there.
void confine_of_program(struct tracer *tracer, struct tracee *tracee, struct arch_regs *regs);

#endif
