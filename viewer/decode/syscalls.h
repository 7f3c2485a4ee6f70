/* Names of system calls. */
#ifndef SYSCALLS_H
#define SYSCALLS_H

#include <stdint.h>

/* "clock_nanosleep"; NULL where the architecture or the number is not known. */
const char *syscall_name(const char *arch, int64_t number);

#endif
