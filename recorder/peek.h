// Reads a piece of a thread's stack without bringing in pages that the program has not touched.
#ifndef REC_PEEK_H
#define REC_PEEK_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Copies up to `length` bytes (at most 64 KiB) from `addr` of process `pid`; stops before the first page that is not
// present. pagemap: descriptor of /proc/PID/pagemap, -1: presence cannot be asked, all is read. Returns the bytes
// copied.
size_t peek_present(pid_t pid, int pagemap, uint64_t addr, void *out, size_t length);

#endif
