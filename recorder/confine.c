#include "confine.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

// The call is not made; the program sees this result.
static void answer(struct tracer *tracer, struct tracee *tracee, struct arch_regs *regs, int64_t result) {
    arch_set_syscall(regs, -1);
    arch_set_ret(regs, result);
    arch_set_regs(tracee->tid, regs);
    tracer_resume(tracer, tracee, TRACEE_RUNNING, 0);
}

void confine_of_program(struct tracer *tracer, struct tracee *tracee, struct arch_regs *regs) {
    answer(tracer, tracee, regs, -ENOSYS); // seccomp(2), SECCOMP_RET_TRACE
}

static bool asks_for_strict(const struct arch_regs *regs) {
    if (arch_syscall(regs) == SYS_prctl) return arch_arg(regs, 1) == SECCOMP_MODE_STRICT;
    return arch_arg(regs, 0) == SECCOMP_SET_MODE_STRICT && arch_arg(regs, 1) == 0 && arch_arg(regs, 2) == 0;
}

static bool asks_for_listener(const struct arch_regs *regs) {
    if (arch_syscall(regs) == SYS_prctl || arch_arg(regs, 0) != SECCOMP_SET_MODE_FILTER) return false;
    return arch_arg(regs, 1) & SECCOMP_FILTER_FLAG_NEW_LISTENER;
}

void confine_entry(struct tracer *tracer, struct tracee *tracee, struct arch_regs *regs) {
    struct rec_process *process = tracee->process;
    tracee->call = CALL_NONE;
    if (asks_for_strict(regs) && !tracer->every_call) { // attached to, it has no filter of ours
        tracee->strict = true;
        answer(tracer, tracee, regs, 0);
        return;
    }
    if (asks_for_listener(regs) && process && process->space && !process->space->maps_hidden) {
        process->space->maps_hidden = true;
        tracer_note(tracer, VMV_EV_NOTE, process->space,
                    "a seccomp listener may let memory calls of process %d pass unseen: mappings are read at frames",
                    process->pid);
    }
    tracer_resume(tracer, tracee, TRACEE_RUNNING, 0);
}

static bool is_allowed_in_strict(int64_t call) {
    return call == SYS_read || call == SYS_write || call == SYS_exit || call == SYS_rt_sigreturn;
}

void confine_strict(struct tracer *tracer, struct tracee *tracee) {
    struct arch_regs regs;
    if (arch_get_regs(tracee->tid, &regs) == 0 && !is_allowed_in_strict(arch_syscall(&regs)) &&
        arch_syscall(&regs) != -1)
        syscall(SYS_tgkill, tracee->process->pid, tracee->tid, SIGKILL);
    tracer_resume(tracer, tracee, TRACEE_RUNNING, 0);
}
