// Starts the program under the recorder: forked, held until it is attached, with the filter installed, then executed.
#ifndef REC_LAUNCH_H
#define REC_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct launch {
    pid_t pid;
    int go;     // writing lets it execute
    int result; // reading gives the errno of a failed exec, or the end of file when it succeeded
};

// Whether `program` can be executed, as execvp would look for it: 0, or the errno: ENOENT, EACCES.
int launch_check(const char *program);
// Forks and attaches (PTRACE_SEIZE). The child has the caller's signals, descriptors and terminal; with
// stdout_to_stderr its standard output is the recorder's standard error. 0 or a negative errno.
int launch_start(struct launch *launch, char **command, bool stdout_to_stderr);
void launch_go(struct launch *launch);
// 0: it was executed. Else the errno; where: "exec", or "filter" when the seccomp filter was refused.
int launch_result(struct launch *launch, const char **where);

#endif
