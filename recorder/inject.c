#include "inject.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch.h"
#include "kernel.h"
#include "peek.h"

// How a wait status reads while a call is injected.
enum stop_kind { STOP_DEAD, STOP_SYSCALL, STOP_SECCOMP, STOP_TRAP, STOP_SIGNAL };

static enum stop_kind classify(int status) {
    if (!WIFSTOPPED(status)) return STOP_DEAD;
    int event = status >> 16;
    if (event == PTRACE_EVENT_EXIT) return STOP_DEAD;
    if (event == PTRACE_EVENT_SECCOMP) return STOP_SECCOMP;
    if (event) return STOP_TRAP; // PTRACE_EVENT_STOP, with SIGTRAP or the signal of a group stop
    return WSTOPSIG(status) == (SIGTRAP | 0x80) ? STOP_SYSCALL : STOP_SIGNAL;
}

static bool in_group_stop(int status) { return status >> 16 == PTRACE_EVENT_STOP && WSTOPSIG(status) != SIGTRAP; }

struct injection {
    pid_t tid;
    struct inject_result *result;
    bool group_stop;
};

static void keep_signal(struct injection *in, int number) {
    struct inject_result *result = in->result;
    if (result->signal_count == INJECT_SIGNALS_MAX) return;
    siginfo_t *info = &result->signals[result->signal_count++];
    if (ptrace(PTRACE_GETSIGINFO, in->tid, NULL, info) == 0) return;
    memset(info, 0, sizeof *info);
    info->si_signo = number;
}

// Waits for the next stop that is not a matter of signals or of our own seccomp filter: passes those over with
// `request`.
static int wait_stop(struct injection *in, int request, enum stop_kind wanted) {
    for (;;) {
        int status;
        pid_t got = waitpid(in->tid, &status, __WALL);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -ESRCH; // another thread's exec took this one away
        in->result->status = status;
        enum stop_kind kind = classify(status);
        if (kind == STOP_DEAD) {
            in->result->gone = true;
            return -ESRCH;
        }
        if (kind == STOP_SIGNAL) keep_signal(in, WSTOPSIG(status));
        if (in_group_stop(status)) in->group_stop = true;
        if (kind == wanted) return 0;
        if (ptrace(request, in->tid, NULL, NULL) != 0 && errno != ESRCH) return -errno;
    }
}

// Lets the thread run to its next stop of the wanted kind.
static int go_to(struct injection *in, int request, enum stop_kind wanted) {
    // ESRCH: it is dying; its status comes from waiting.
    if (ptrace(request, in->tid, NULL, NULL) != 0 && errno != ESRCH) return -errno;
    return wait_stop(in, request, wanted);
}

static uint64_t vdso_of(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/auxv", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    Elf64_auxv_t entries[64];
    ssize_t got = read(fd, entries, sizeof entries);
    close(fd);
    for (size_t i = 0; got > 0 && i < (size_t)got / sizeof entries[0]; i++) {
        if (entries[i].a_type == AT_SYSINFO_EHDR) return entries[i].a_un.a_val;
    }
    return 0;
}

uint64_t inject_find_gadget(pid_t pid) {
    uint8_t page[4096];
    uint64_t vdso = vdso_of(pid);
    // The vdso is one to four pages of code; the instruction may lie across a border.
    for (uint64_t at = 0; vdso && at < 4 * sizeof page; at += sizeof page - 1) {
        size_t length = sizeof page;
        if (!peek(pid, vdso + at, page, length)) {
            length -= (vdso + at) & 4095; // up to the end of what is mapped
            if (!peek(pid, vdso + at, page, length)) return 0;
        }
        ptrdiff_t found = arch_find_syscall(page, length);
        if (found >= 0) return vdso + at + (uint64_t)found;
    }
    return 0;
}

// The thread has just come out of a call: the instruction that made it stands before its PC.
static uint64_t gadget_of(pid_t tid, const struct arch_regs *regs) {
    uint8_t code[ARCH_SYSCALL_BYTES];
    uint64_t before = arch_pc(regs) - ARCH_SYSCALL_BYTES;
    if (arch_syscall(regs) >= 0 && peek(tid, before, code, sizeof code) && arch_is_syscall_at(code)) return before;
    return inject_find_gadget(tid);
}

enum standing { AT_EXEC, AT_EXIT, AT_TRAP, AT_ELSE, NOWHERE };

static enum standing where_it_stands(pid_t tid) {
    siginfo_t info;
    if (ptrace(PTRACE_GETSIGINFO, tid, NULL, &info) != 0) return errno == ESRCH ? NOWHERE : AT_ELSE;
    if (info.si_code >> 8 == PTRACE_EVENT_STOP) return AT_TRAP;
    if (info.si_signo != SIGTRAP) return AT_ELSE;
    if (info.si_code == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) return AT_EXEC;
    return info.si_code == (SIGTRAP | 0x80) ? AT_EXIT : AT_ELSE;
}

// A thread that was interrupted within a restartable sequence (rseq(2)) is sent to its abort handler on its way back to
// user code. A call injected there would make the kernel forget the sequence, which would then be gone on with.
static bool outside_rseq(pid_t tid, uint64_t pc) {
    struct kernel_rseq_configuration where;
    struct {
        uint32_t version, flags;
        uint64_t start, length, abort;
    } sequence;
    uint64_t pointer;
    if (ptrace((enum __ptrace_request)KERNEL_PTRACE_GET_RSEQ_CONFIGURATION, tid, sizeof where, &where) !=
        (long)sizeof where)
        return false;
    if (!where.rseq_abi_pointer) return true;
    if (!peek(tid, where.rseq_abi_pointer + RSEQ_CS_OFFSET, &pointer, sizeof pointer)) return false;
    if (!pointer) return true;
    return peek(tid, pointer, &sequence, sizeof sequence) && pc - sequence.start >= sequence.length;
}

// From entry to exit of the call that the registers were prepared for.
static int run_call(struct injection *in, long *ret) {
    struct arch_regs regs;
    int error = go_to(in, PTRACE_SYSCALL, STOP_SYSCALL);
    if (error == 0) error = go_to(in, PTRACE_SYSCALL, STOP_SYSCALL);
    if (error == 0) error = arch_get_regs(in->tid, &regs);
    if (error == 0) *ret = (long)arch_ret(&regs);
    return error;
}

// A call that waits to be restarted is restarted only on the way through the kernel's signal code, where the thread
// stood; and a stopped group must find the thread stopped. So it is brought back into the same kind of stop.
static int trap_again(struct injection *in) {
    if (ptrace(PTRACE_INTERRUPT, in->tid, NULL, NULL) != 0) return -errno;
    return go_to(in, PTRACE_CONT, STOP_TRAP);
}

static int inject_with(struct injection *in, const struct arch_regs *saved, uint64_t gadget, long nr,
                       const uint64_t args[6], long *ret) {
    struct arch_regs regs = *saved;
    arch_prepare_call(&regs, gadget, nr, args);
    int error = arch_set_regs(in->tid, &regs);
    if (error == 0) error = run_call(in, ret);
    // Also after an error: a thread that is not dead gets its registers back.
    int restored = arch_set_regs(in->tid, saved);
    return error ? error : restored;
}

int inject_syscall(pid_t tid, long nr, const uint64_t args[6], long *ret, struct inject_result *result) {
    struct injection in = {.tid = tid, .result = result};
    struct arch_regs saved;
    uint64_t mask = 0, all = ~0ULL;
    *result = (struct inject_result){0};
    *ret = -ENOSYS;

    enum standing standing = where_it_stands(tid);
    if (standing == NOWHERE) return -ESRCH; // killed in its stop: its end is still to be waited for
    if (standing == AT_ELSE) return -EINVAL;
    // At the exec event the kernel has yet to write the call's result into the registers.
    int error = standing == AT_EXEC ? go_to(&in, PTRACE_SYSCALL, STOP_SYSCALL) : 0;
    if (error == 0) error = arch_get_regs(tid, &saved);
    if (error) return error;
    if (arch_is_compat(&saved)) return -ENOEXEC;
    if (standing == AT_TRAP && arch_syscall(&saved) < 0 && !outside_rseq(tid, arch_pc(&saved))) return -EAGAIN;
    uint64_t gadget = gadget_of(tid, &saved);
    if (!gadget) return -ENOEXEC;

    bool masked = ptrace(PTRACE_GETSIGMASK, tid, sizeof mask, &mask) == 0 &&
                  ptrace(PTRACE_SETSIGMASK, tid, sizeof all, &all) == 0;
    error = inject_with(&in, &saved, gadget, nr, args, ret);
    if (masked && ptrace(PTRACE_SETSIGMASK, tid, sizeof mask, &mask) != 0 && error == 0) error = -errno;
    if (error == 0 && (in.group_stop || (standing == AT_TRAP && arch_restart_pending(&saved)))) error = trap_again(&in);
    return error;
}
