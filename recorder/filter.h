// The seccomp filter under which a traced program runs: memory calls stop for the recorder, all others run at full
// speed.
#ifndef REC_FILTER_H
#define REC_FILTER_H

#include <stdbool.h>

// What the filter says of a call it traces (PTRACE_GETEVENTMSG at the seccomp stop).
enum filter_answer {
    FILTER_NATIVE = 0x5600, // numbers that no filter of the program's own will use
    FILTER_FOREIGN,         // made by another convention (int 0x80, x32): a memory call,
    FILTER_FOREIGN_EXEC,
    FILTER_FOREIGN_SECCOMP,
    FILTER_FOREIGN_CLONE, // a clone with CLONE_UNTRACED
};

// Installs the filter in the calling process (between fork and exec). With CAP_SYS_ADMIN no_new_privs is left alone.
// Returns 0 or a negative errno.
int filter_install(void);

#endif
