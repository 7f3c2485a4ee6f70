// Names of system calls.
#ifndef INSPECT_SYSCALLS_H
#define INSPECT_SYSCALLS_H

#include <stdint.h>

// NULL if the architecture or the number is not known.
const char *inspect_syscall_name(const char *arch, int64_t number);

#endif
