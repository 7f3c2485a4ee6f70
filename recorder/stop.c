#include "stop.h"

#include <signal.h>
#include <sys/wait.h>

// ptrace(2): the event number stands in bits 16 to 23 of the status.
enum {
    EVENT_FORK = 1,
    EVENT_VFORK,
    EVENT_CLONE,
    EVENT_EXEC,
    EVENT_VFORK_DONE,
    EVENT_EXIT,
    EVENT_SECCOMP,
    EVENT_STOP = 128
};
enum { SYSCALL_GOOD = 0x80 }; // PTRACE_O_TRACESYSGOOD sets this bit in the signal of syscall stops

static enum stop_kind classify_event(int event, int signal) {
    switch (event) {
    case EVENT_FORK:
        return STOP_FORK;
    case EVENT_VFORK:
        return STOP_VFORK;
    case EVENT_CLONE:
        return STOP_CLONE;
    case EVENT_EXEC:
        return STOP_EXEC;
    case EVENT_VFORK_DONE:
        return STOP_VFORK_DONE;
    case EVENT_EXIT:
        return STOP_EXIT;
    case EVENT_SECCOMP:
        return STOP_SECCOMP;
    case EVENT_STOP:
        return signal == SIGTRAP ? STOP_INTERRUPT : STOP_GROUP;
    default:
        return STOP_UNKNOWN;
    }
}

struct stop stop_classify(int status) {
    if (WIFEXITED(status)) return (struct stop){STOP_EXITED, WEXITSTATUS(status)};
    if (WIFSIGNALED(status)) return (struct stop){STOP_KILLED, WTERMSIG(status)};
    if (!WIFSTOPPED(status)) return (struct stop){STOP_UNKNOWN, 0};
    int signal = WSTOPSIG(status), event = (status >> 16) & 0xff;
    if (event) return (struct stop){classify_event(event, signal), signal};
    if (signal == (SIGTRAP | SYSCALL_GOOD)) return (struct stop){STOP_SYSCALL, 0};
    return (struct stop){STOP_SIGNAL, signal};
}

const char *stop_name(enum stop_kind kind) {
    static const char *const names[] = {"exited",     "killed", "seccomp", "syscall",   "fork",  "vfork",  "clone",
                                        "vfork-done", "exec",   "exit",    "interrupt", "group", "signal", "unknown"};
    return names[kind];
}
