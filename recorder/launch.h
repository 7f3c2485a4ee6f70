// Starts the program under the recorder: forked, held until it is attached, with the filter installed, then executed.
#ifndef REC_LAUNCH_H
#define REC_LAUNCH_H

#include <stdbool.h>
#include <sys/types.h>

struct program_user;

struct launch {
    pid_t pid;
    int go;       // writing lets it execute
    int result;   // reading gives the errno of a failed exec, or the end of file when it succeeded
    pid_t tracer; // when it could not be attached to: who traces it already, 0: nobody
};

struct launch_how {
    bool stdout_to_stderr;
    bool filter;                     // memory calls stop
    const struct program_user *user; // whom the program runs as, NULL: as we do
};

// Finds `program` as execvp would (PATH, if it has no slash). 0 and its path, or the errno: ENOENT, EACCES, EISDIR.
int launch_find(const char *program, char path[4096]);
// Forks and attaches (PTRACE_SEIZE). The child has the caller's signals, descriptors and terminal; with
// stdout_to_stderr its standard output is the recorder's standard error. 0 or a negative errno.
int launch_start(struct launch *launch, const char *path, char **command, const struct launch_how *how);
void launch_go(struct launch *launch);
// 0: it was executed. Else the errno; where: "exec", "filter" when the seccomp filter was refused,
// "user" when its user could not be taken on.
int launch_result(struct launch *launch, const char **where);

#endif
