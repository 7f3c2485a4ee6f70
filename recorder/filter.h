// The seccomp filter under which a traced program runs: memory calls stop for the recorder, all others run at full
// speed.
#ifndef REC_FILTER_H
#define REC_FILTER_H

#include <stdbool.h>

// Installs the filter in the calling process (between fork and exec). With CAP_SYS_ADMIN no_new_privs is left alone.
// Returns 0 or a negative errno.
int filter_install(void);

#endif
