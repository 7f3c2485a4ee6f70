// What /proc tells of a thread without stopping it: whether it runs, its system call, SP and PC, time on a processor.
#ifndef REC_PROCSTAT_H
#define REC_PROCSTAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

// Descriptors of one thread, opened on first use and kept. They stay with the thread, not with the number: when the tid
// is used again, they answer -ESRCH.
struct procstat_thread {
    pid_t pid, tid;
    int syscall_fd, stat_fd, schedstat_fd; // -1: not open yet; else < -1: -errno of a refusal
};
void procstat_thread_init(struct procstat_thread *thread, pid_t pid, pid_t tid);
void procstat_thread_close(struct procstat_thread *thread);

enum procstat_where {
    PROCSTAT_RUNNING,    // on a processor or ready: nothing else is known
    PROCSTAT_IN_SYSCALL, // held inside a system call: syscall, args, sp, pc are valid
    PROCSTAT_IN_USER,    // held outside of one (a page fault, a stop): sp, pc are valid
};
struct procstat_syscall {
    enum procstat_where where;
    int64_t nr; // -1 unless IN_SYSCALL; and where the call is of another convention than the native one
    uint64_t args[6], sp, pc;
};
// 0; -ESRCH gone; -EACCES not readable here. About 1.2 us.
int procstat_syscall(struct procstat_thread *thread, struct procstat_syscall *out);
// Time on a processor so far, ns. As above; -ENOENT where the kernel keeps no schedstat. About 0.6 us.
int procstat_run_ns(struct procstat_thread *thread, uint64_t *ns);
// How often it was given a processor so far: the difference tells whether it slept once or more. As above.
int procstat_slices(struct procstat_thread *thread, uint64_t *count);
// The state letter of /proc/PID/task/TID/stat: R S D T t Z X I. About 2 us.
int procstat_state(struct procstat_thread *thread, char *letter);

// CPU time of all threads of a process together, ns. Unchanged: nothing of it ran. -ESRCH.
int procstat_cpu_ns(pid_t pid, uint64_t *ns);

// Where exec put the environment strings on the stack. 0, -ESRCH, -EACCES (and both are 0).
int procstat_environment(pid_t pid, uint64_t *start, uint64_t *end);
// Minor page faults of a process so far, of all its threads. About 3 us. 0, -ESRCH.
int procstat_minor_faults(pid_t pid, uint64_t *faults);
// Resident pages of its address space, as the kernel counts them: a few dozen may be missing. 0, -ESRCH.
int procstat_resident(pid_t pid, uint64_t *pages);

struct procstat_signals { // bit n-1: signal n
    uint64_t pending, shared_pending, blocked, ignored, caught;
};
// Of a thread, from its status. 0, -ESRCH, -EACCES.
int procstat_signals(pid_t pid, pid_t tid, struct procstat_signals *out);
// Number of seccomp filters on a thread; -ENODATA where the kernel does not tell (before 5.9); other negative errno.
int procstat_seccomp_filters(pid_t pid, pid_t tid);
// SECCOMP_MODE_DISABLED, _STRICT or _FILTER of a thread; -ENODATA where the kernel has none; other negative errno.
int procstat_seccomp_mode(pid_t pid, pid_t tid);
// Who traces a process: 0 nobody, or one whom this PID namespace does not show.
pid_t procstat_tracer(pid_t pid);
// The thread's name (comm). 0, -ESRCH.
int procstat_name(pid_t pid, pid_t tid, char name[16]);
struct procstat_ids { // effective
    uint32_t uid, gid;
};
int procstat_ids(pid_t pid, struct procstat_ids *ids); // 0, -ESRCH
// Effective capabilities of the process, bit n: capability n.
int procstat_capabilities(pid_t pid, uint64_t *effective);

#endif
