#include "mend.h"

#include "kernel.h"
#include "peek.h"
#include "transfer.h"

#include <errno.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

// Times a thread is given a processor from one stop to the next within one sleep: to fall asleep again, to be woken.
enum { SLICES_OF_ONE_SLEEP = 2 };

// Calls that give EINTR at any signal, and begin anew with their whole timeout when restarted.
enum timeout_kind { TIMEOUT_MS, TIMEOUT_TIMESPEC, TIMEOUT_SOCKET };
static const struct timed {
    int64_t call;
    enum timeout_kind kind;
    unsigned argument; // ms, the address of a timespec, or the socket
    int64_t ended;     // what the call gives at its end
} timed[] = {
    {SYS_epoll_wait, TIMEOUT_MS, 3, 0},
    {SYS_epoll_pwait, TIMEOUT_MS, 3, 0},
    {SYS_epoll_pwait2, TIMEOUT_TIMESPEC, 3, 0},
    {SYS_rt_sigtimedwait, TIMEOUT_TIMESPEC, 2, -EAGAIN},
    {SYS_semtimedop, TIMEOUT_TIMESPEC, 3, -EAGAIN},
    {SYS_io_getevents, TIMEOUT_TIMESPEC, 4, 0},
    {SYS_io_pgetevents, TIMEOUT_TIMESPEC, 4, 0},
    {SYS_recvfrom, TIMEOUT_SOCKET, 0, -EAGAIN},
    {SYS_recvmsg, TIMEOUT_SOCKET, 0, -EAGAIN},
    {SYS_read, TIMEOUT_SOCKET, 0, -EAGAIN},
    {SYS_accept, TIMEOUT_SOCKET, 0, -EAGAIN},
    {SYS_accept4, TIMEOUT_SOCKET, 0, -EAGAIN},
};

static const struct timed *timed_call(int64_t call) {
    for (size_t i = 0; i < sizeof timed / sizeof *timed; i++)
        if (timed[i].call == call) return &timed[i];
    return NULL;
}

static uint64_t socket_timeout(pid_t pid, int fd) {
    struct timeval time = {0, 0};
    socklen_t length = sizeof time;
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0), own = -1;
    if (pidfd >= 0) own = (int)syscall(SYS_pidfd_getfd, pidfd, fd, 0);
    if (own >= 0) getsockopt(own, SOL_SOCKET, SO_RCVTIMEO, &time, &length);
    if (own >= 0) close(own);
    if (pidfd >= 0) close(pidfd);
    uint64_t ns = (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_usec * 1000;
    return ns ? ns : UINT64_MAX;
}

// ns; UINT64_MAX: none.
static uint64_t timeout_of(const struct tracee *tracee, const struct timed *call, const struct arch_regs *regs) {
    uint64_t value = arch_arg(regs, call->argument);
    if (call->kind == TIMEOUT_MS) return (int)value < 0 ? UINT64_MAX : (uint64_t)(int)value * 1000000;
    if (call->kind == TIMEOUT_SOCKET) return socket_timeout(tracee->process->pid, (int)value);
    struct timespec time;
    if (!value || !peek(tracee->tid, value, &time, sizeof time)) return UINT64_MAX;
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

// A call that is broken off again and again must still come to its end: when its timeout has gone by since it was first
// mended, it ends.
static bool is_over(struct tracee *tracee, const struct timed *call, const struct arch_regs *regs, uint64_t now) {
    struct mended *mended = &tracee->mended;
    uint64_t slices = 0;
    procstat_slices(&tracee->stat, &slices);
    bool same = mended->any && mended->call == arch_syscall(regs) && mended->sp == arch_sp(regs) &&
                mended->pc == arch_pc(regs) && slices - mended->slices <= SLICES_OF_ONE_SLEEP;
    mended->slices = slices;
    mended->sp = arch_sp(regs);
    mended->pc = arch_pc(regs);
    if (!same) mended->since = now;
    return now - mended->since >= timeout_of(tracee, call, regs);
}

bool mend_call(struct tracee *tracee, struct arch_regs *regs, uint64_t now) {
    if (transfer_goes_on(tracee, regs)) return true;
    if (!arch_repair_eintr(regs)) return false;
    const struct timed *call = arch_is_foreign_call(tracee->tid) ? NULL : timed_call(arch_syscall(regs));
    bool over = call && is_over(tracee, call, regs, now);
    if (over) arch_set_ret(regs, call->ended);
    tracee->mended.any = !over;
    tracee->mended.call = arch_syscall(regs);
    return true;
}

void mend_undo(struct tracee *tracee) {
    struct arch_regs regs;
    transfer_give_up(tracee);
    if (!tracee->mended.any || arch_get_regs(tracee->tid, &regs) != 0) return;
    if (arch_syscall(&regs) != tracee->mended.call || arch_ret(&regs) != -KERNEL_ERESTARTNOHAND) return;
    arch_set_ret(&regs, -EINTR);
    arch_set_regs(tracee->tid, &regs);
}

// Without a call's number the registers are not those of a call any more; the kernel looks at it for restarts alone.
void mend_settle(const struct tracee *tracee) {
    struct arch_regs regs;
    if (arch_get_regs(tracee->tid, &regs) != 0) return;
    if (arch_syscall(&regs) < 0 || arch_restart_pending(&regs)) return;
    arch_set_syscall(&regs, -1);
    arch_set_regs(tracee->tid, &regs);
}

static bool is_zombie(pid_t pid) {
    struct procstat_thread thread;
    char letter = 0;
    procstat_thread_init(&thread, pid, pid);
    bool zombie = procstat_state(&thread, &letter) == 0 && letter == 'Z';
    procstat_thread_close(&thread);
    return zombie;
}

// Whether a wait for `pid` (as wait4 and waitid with P_PID take it; <= 0: for several) has what it waits for.
static bool is_answered(pid_t pid, int options, const siginfo_t *news) {
    if (pid > 0 && is_zombie(pid)) return true;
    if (pid > 0 && pid != news->si_pid) return false;
    if (news->si_code == CLD_STOPPED) return options & WUNTRACED;
    if (news->si_code == CLD_CONTINUED) return options & WCONTINUED;
    return is_zombie(news->si_pid);
}

void mend_wait(struct tracee *tracee) {
    struct arch_regs regs;
    siginfo_t news;
    if (arch_get_regs(tracee->tid, &regs) != 0 || arch_ret(&regs) != -KERNEL_ERESTARTSYS) return;
    if (ptrace(PTRACE_GETSIGINFO, tracee->tid, 0, &news) != 0 || news.si_code <= 0) return;
    int64_t call = arch_syscall(&regs);
    bool several = call == SYS_waitid && arch_arg(&regs, 0) != P_PID;
    if (call != SYS_wait4 && call != SYS_waitid) return;
    pid_t pid = several ? -1 : (pid_t)arch_arg(&regs, call == SYS_waitid);
    if (!is_answered(pid, (int)arch_arg(&regs, call == SYS_waitid ? 3 : 2), &news)) return;
    arch_set_ret(&regs, -KERNEL_ERESTARTNOINTR);
    arch_set_regs(tracee->tid, &regs);
}

bool mend_is_ignored(const struct tracee *tracee, int signal) {
    struct procstat_signals signals;
    if (!tracee->process || procstat_signals(tracee->process->pid, tracee->tid, &signals) != 0) return false;
    uint64_t bit = 1ull << (signal - 1);
    bool by_default = signal == SIGCHLD || signal == SIGCONT || signal == SIGURG || signal == SIGWINCH;
    return signals.ignored & bit || (by_default && !(signals.caught & bit));
}
