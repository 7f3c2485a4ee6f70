#include "transfer.h"

#include <sys/socket.h>
#include <sys/syscall.h>

// write(2), pwrite64(2), sendto(2), recvfrom(2): buffer and length are the second and third argument in all of them.
enum { ARG_BUFFER = 1, ARG_LENGTH = 2, ARG_FLAGS = 3 };

static bool may_be_cut(const struct arch_regs *regs) {
    switch (arch_syscall(regs)) {
    case SYS_write:
    case SYS_sendto:
        return true;
    case SYS_recvfrom:
        return arch_arg(regs, ARG_FLAGS) & MSG_WAITALL;
    default:
        return false;
    }
}

bool transfer_goes_on(struct tracee *tracee, struct arch_regs *regs) {
    int64_t done = arch_ret(regs);
    uint64_t length = arch_arg(regs, ARG_LENGTH);
    if (tracee->transfer.active || !may_be_cut(regs) || done <= 0 || (uint64_t)done >= length) return false;
    int64_t call = arch_syscall(regs);
    tracee->transfer = (struct transfer){true, false, done, arch_arg(regs, ARG_BUFFER), length};
    arch_set_arg(regs, ARG_BUFFER, tracee->transfer.buffer + (uint64_t)done);
    arch_set_arg(regs, ARG_LENGTH, length - (uint64_t)done);
    arch_set_pc(regs, arch_pc(regs) - ARCH_SYSCALL_BYTES);
    arch_set_ret(regs, call);   // the call's number, as before a system call instruction
    arch_set_syscall(regs, -1); // nothing to be restarted by the kernel
    tracee->call_since = 0;
    return true;
}

// An error of the rest (a signal, a reader that left, a descriptor that does not block) was not one of the whole.
static void add_up(struct tracee *tracee) {
    struct arch_regs regs;
    struct transfer *transfer = &tracee->transfer;
    if (arch_get_regs(tracee->tid, &regs) != 0) return;
    int64_t rest = arch_ret(&regs);
    arch_set_ret(&regs, transfer->done + (rest > 0 ? rest : 0));
    arch_set_arg(&regs, ARG_BUFFER, transfer->buffer);
    arch_set_arg(&regs, ARG_LENGTH, transfer->length);
    arch_set_regs(tracee->tid, &regs);
}

void transfer_step(struct tracer *tracer, struct tracee *tracee) {
    if (!tracee->transfer.entered) {
        tracee->transfer.entered = true;
        tracer_resume(tracer, tracee, TRACEE_IN_CALL, 0);
        return;
    }
    add_up(tracee);
    tracee->transfer.active = false;
    tracer_resume(tracer, tracee, TRACEE_RUNNING, 0);
}
