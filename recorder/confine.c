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

struct request {
    bool prctl; // else seccomp
    uint64_t args[3];
};

static struct request request_of(const struct arch_regs *regs, bool foreign) {
    struct request request = {.prctl = foreign ? arch_is_foreign_prctl(regs) : arch_syscall(regs) == SYS_prctl};
    for (unsigned i = 0; i < 3; i++) request.args[i] = foreign ? arch_foreign_arg(regs, i) : arch_arg(regs, i);
    return request;
}

static bool asks_for_strict(const struct request *request) {
    if (request->prctl) return request->args[1] == SECCOMP_MODE_STRICT;
    return request->args[0] == SECCOMP_SET_MODE_STRICT && request->args[1] == 0 && request->args[2] == 0;
}

static bool asks_for_listener(const struct request *request) {
    if (request->prctl || request->args[0] != SECCOMP_SET_MODE_FILTER) return false;
    return request->args[1] & SECCOMP_FILTER_FLAG_NEW_LISTENER;
}

void confine_entry(struct tracer *tracer, struct tracee *tracee, struct arch_regs *regs, bool foreign) {
    struct rec_process *process = tracee->process;
    struct request request = request_of(regs, foreign);
    tracee->call = CALL_NONE;
    if (asks_for_strict(&request) && !tracer->every_call) { // attached to, it has no filter of ours
        tracee->strict = true;
        answer(tracer, tracee, regs, 0);
        return;
    }
    if (asks_for_listener(&request) && process && process->space && !process->space->maps_hidden) {
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
    bool known = arch_get_regs(tracee->tid, &regs) == 0 && arch_syscall(&regs) != -1;
    bool foreign = known && arch_is_foreign_call(tracee->tid);
    if (known && !(foreign ? arch_foreign_is_strict(&regs) : is_allowed_in_strict(arch_syscall(&regs))))
        syscall(SYS_tgkill, tracee->process->pid, tracee->tid, SIGKILL);
    tracer_resume(tracer, tracee, TRACEE_RUNNING, 0);
}
