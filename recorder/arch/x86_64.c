#include "arch.h"

#include <asm/perf_regs.h>
#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

#include "kernel.h"

int arch_get_regs(pid_t tid, struct arch_regs *regs) {
    return ptrace(PTRACE_GETREGS, tid, NULL, &regs->user) == 0 ? 0 : -errno;
}

int arch_set_regs(pid_t tid, const struct arch_regs *regs) {
    return ptrace(PTRACE_SETREGS, tid, NULL, &regs->user) == 0 ? 0 : -errno;
}

size_t arch_get_extended(pid_t tid, void *out, size_t room) {
    struct iovec area = {.iov_base = out, .iov_len = room};
    return ptrace(PTRACE_GETREGSET, tid, (void *)(long)NT_X86_XSTATE, &area) == 0 ? area.iov_len : 0;
}

uint64_t arch_arg(const struct arch_regs *regs, unsigned index) {
    const struct user_regs_struct *r = &regs->user;
    switch (index) {
    case 0:
        return r->rdi;
    case 1:
        return r->rsi;
    case 2:
        return r->rdx;
    case 3:
        return r->r10;
    case 4:
        return r->r8;
    case 5:
        return r->r9;
    default:
        return 0;
    }
}

void arch_set_arg(struct arch_regs *regs, unsigned index, uint64_t value) {
    struct user_regs_struct *r = &regs->user;
    switch (index) {
    case 0:
        r->rdi = value;
        break;
    case 1:
        r->rsi = value;
        break;
    case 2:
        r->rdx = value;
        break;
    case 3:
        r->r10 = value;
        break;
    case 4:
        r->r8 = value;
        break;
    case 5:
        r->r9 = value;
        break;
    default:
        break;
    }
}

void arch_prepare_call(struct arch_regs *regs, uint64_t pc, int64_t nr, const uint64_t args[6]) {
    regs->user.rip = pc;
    regs->user.rax = (uint64_t)nr;
    // The thread must not seem to be inside a call, or the kernel might "restart" this one on its way out.
    regs->user.orig_rax = (uint64_t)-1;
    for (unsigned i = 0; i < 6; i++) arch_set_arg(regs, i, args[i]);
}

bool arch_is_compat(const struct arch_regs *regs) {
    return regs->user.cs == 0x23; // the kernel's selector for 32-bit user code
}

bool arch_is_foreign_call(pid_t tid) {
    struct __ptrace_syscall_info info;
    return ptrace(PTRACE_GET_SYSCALL_INFO, tid, sizeof info, &info) > 0 && info.arch != ARCH_AUDIT;
}

uint64_t arch_foreign_arg(const struct arch_regs *regs, unsigned index) {
    const uint64_t args[] = {regs->user.rbx, regs->user.rcx, regs->user.rdx};
    return (uint32_t)args[index];
}

bool arch_is_foreign_prctl(const struct arch_regs *regs) { return arch_syscall(regs) == 172; }

bool arch_foreign_is_strict(const struct arch_regs *regs) {
    int64_t call = arch_syscall(regs);
    return call == 3 || call == 4 || call == 1 || call == 119; // read, write, exit, sigreturn
}

void arch_set_foreign_arg(struct arch_regs *regs, uint64_t value) { regs->user.rbx = value; }

bool arch_restart_pending(const struct arch_regs *regs) {
    if ((int64_t)regs->user.orig_rax < 0) return false;
    int64_t error = -(int64_t)regs->user.rax;
    return error == KERNEL_ERESTARTSYS || error == KERNEL_ERESTARTNOINTR || error == KERNEL_ERESTARTNOHAND ||
           error == KERNEL_ERESTART_RESTARTBLOCK;
}

bool arch_repair_eintr(struct arch_regs *regs) {
    if ((int64_t)regs->user.orig_rax < 0 || (int64_t)regs->user.rax != -EINTR) return false;
    // Restarts the call unless a signal has a handler to run: then the kernel turns it into EINTR, as it would alone.
    regs->user.rax = (uint64_t)-KERNEL_ERESTARTNOHAND;
    return true;
}

bool arch_is_syscall_at(const uint8_t *code) { return code[0] == 0x0f && code[1] == 0x05; }

ptrdiff_t arch_find_syscall(const uint8_t *code, size_t length) {
    for (size_t i = 0; i + ARCH_SYSCALL_BYTES <= length; i++) {
        if (arch_is_syscall_at(code + i)) return (ptrdiff_t)i;
    }
    return -1;
}

// DS, ES, FS and GS are refused by the kernel on 64-bit.
static const uint8_t perf_order[] = {
    PERF_REG_X86_AX,  PERF_REG_X86_BX,  PERF_REG_X86_CX,  PERF_REG_X86_DX,  PERF_REG_X86_SI,
    PERF_REG_X86_DI,  PERF_REG_X86_BP,  PERF_REG_X86_SP,  PERF_REG_X86_IP,  PERF_REG_X86_FLAGS,
    PERF_REG_X86_CS,  PERF_REG_X86_SS,  PERF_REG_X86_R8,  PERF_REG_X86_R9,  PERF_REG_X86_R10,
    PERF_REG_X86_R11, PERF_REG_X86_R12, PERF_REG_X86_R13, PERF_REG_X86_R14, PERF_REG_X86_R15,
};
enum { PERF_COUNT = sizeof perf_order / sizeof perf_order[0] };

uint64_t arch_perf_mask(void) {
    uint64_t mask = 0;
    for (size_t i = 0; i < PERF_COUNT; i++) mask |= 1ULL << perf_order[i];
    return mask;
}

// The kernel writes them in the order of the mask's bits.
size_t arch_perf_pc_at(void) {
    uint64_t below = arch_perf_mask() & ((1ULL << PERF_REG_X86_IP) - 1);
    return (size_t)__builtin_popcountll(below) * sizeof(uint64_t);
}

size_t arch_perf_count(void) { return PERF_COUNT; }

void arch_perf_to_regs(const uint64_t *values, struct arch_regs *regs) {
    struct user_regs_struct *r = &regs->user;
    unsigned long long *const into[PERF_COUNT] = {
        &r->rax, &r->rbx, &r->rcx, &r->rdx, &r->rsi, &r->rdi, &r->rbp, &r->rsp, &r->rip, &r->eflags,
        &r->cs,  &r->ss,  &r->r8,  &r->r9,  &r->r10, &r->r11, &r->r12, &r->r13, &r->r14, &r->r15,
    };
    memset(regs, 0, sizeof *regs);
    for (size_t i = 0; i < PERF_COUNT; i++) *into[i] = values[i];
    r->orig_rax = (unsigned long long)-1;
}

bool arch_is_fork_begun_anew(const struct arch_regs *regs) {
    enum { ERESTARTNOINTR = 513 }; // not in the uapi headers: include/linux/errno.h
    int64_t call = arch_syscall(regs);
    bool fork = call == SYS_fork || call == SYS_vfork || call == SYS_clone || call == SYS_clone3;
    if (arch_is_compat(regs)) fork = call == 2 || call == 190 || call == 120 || call == SYS_clone3;
    return fork && arch_ret(regs) == -ERESTARTNOINTR;
}
