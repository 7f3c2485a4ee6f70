// What a wait status of a tracee means. Pure: knows the numbers of ptrace(2), makes no call.
#ifndef REC_STOP_H
#define REC_STOP_H

#include <stdint.h>

// What is valid in each stop, and how the tracee is restarted, is said once, here.
enum stop_kind {
    // Gone. No ptrace request is valid any more.
    STOP_EXITED, // status: code
    STOP_KILLED, // status: signal

    // Stops. Registers may be read and written in all of them; restart with CONT, or SYSCALL to see the call's exit.
    STOP_SECCOMP,    // entry of a call that the filter traces; the event message is the filter's data
    STOP_SYSCALL,    // syscall-exit-stop (or -entry, after SYSCALL from another stop), told apart by GET_SYSCALL_INFO
    STOP_FORK,       // in the parent; event message: the child's tid. The child stops by itself (STOP_INTERRUPT)
    STOP_VFORK,      // the same; the parent then sleeps uninterruptibly until the child execs or exits
    STOP_CLONE,      // the same; a thread or a process
    STOP_VFORK_DONE, // the vfork child let go
    STOP_EXEC,       // in the new program; the wait reports the leader's tid, the event message has the former tid
    STOP_EXIT,       // about to end; the event message is the wait status; memory is still there
    STOP_INTERRUPT,  // PTRACE_INTERRUPT took effect, or a new tracee's first stop
    STOP_GROUP,      // group-stop (SIGSTOP and kin): restart with LISTEN, so that SIGCONT works; registers readable
    STOP_SIGNAL,     // a signal is about to be delivered: restart with that signal, or swallow it
    STOP_UNKNOWN,    // a stop this version does not know: continue
};

struct stop {
    enum stop_kind kind;
    int signal; // STOP_SIGNAL, STOP_GROUP: the signal; STOP_EXITED: exit code; STOP_KILLED: the signal
};

// Classifies the status that waitpid(2) gave for a tracee attached with PTRACE_SEIZE and TRACESYSGOOD.
struct stop stop_classify(int status);
const char *stop_name(enum stop_kind kind);

#endif
