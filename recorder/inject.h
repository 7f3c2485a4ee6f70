// Runs one system call in a stopped tracee, without touching its memory and without leaving a trace in its registers.
// Only the tracer thread may call this.
#ifndef REC_INJECT_H
#define REC_INJECT_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { INJECT_SIGNALS_MAX = 8 };
struct inject_result {
    // The wait status of the stop the thread now stands in; or, with -ESRCH and `gone`, of its end, which was taken
    // from the kernel here and must be dispatched by the caller like one from waitpid(). 0: unchanged; with -ESRCH its
    // end is still to be waited for.
    int status;
    bool gone;
    // Signals that arrived and could not be kept pending (SIGSTOP): the caller must give them to the thread.
    siginfo_t signals[INJECT_SIGNALS_MAX];
    unsigned signal_count;
};

// The tracee `tid` (seized, PTRACE_O_TRACESYSGOOD) stands
//   - at PTRACE_EVENT_EXEC (afterwards at the exit stop of its execve),
//   - at a system call's exit stop (afterwards at an exit stop again), or
//   - at a PTRACE_EVENT_STOP, as a new child's first stop or after an interrupt (afterwards there again if a call waits
//     to be restarted or the group is stopped, else at an exit stop).
// The caller resumes it as it would have. Signals stay pending meanwhile. *ret: what the call returned (>= -4095).
// 0, or: -ESRCH it died or is dying (see result); -ENOEXEC no system call instruction could be found, or 32-bit code;
// -EAGAIN it stands in a restartable sequence, or may do so: try again later; -EINVAL not at such a stop.
int inject_syscall(pid_t tid, long nr, const uint64_t args[6], long *ret, struct inject_result *result);

// Where a system call instruction lies in the process (in its vdso), 0: none. Reads, does not write.
uint64_t inject_find_gadget(pid_t pid);

#endif
