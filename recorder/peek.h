// Reading and writing the memory of a traced process, by process_vm_readv(2) or, where that is refused, /proc/PID/mem.
#ifndef REC_PEEK_H
#define REC_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// Up to `length` bytes from `addr`: how many could be read, from the beginning on; 0: none. Pages that the process has
// not touched are brought in.
size_t peek_some(pid_t pid, uint64_t addr, void *out, size_t length);
bool peek(pid_t pid, uint64_t addr, void *out, size_t length); // all of it
bool poke(pid_t pid, uint64_t addr, const void *bytes, size_t length);

// Copies up to `length` bytes (at most 64 KiB) from `addr` of process `pid`; stops before the first page that is not
// present. pagemap: descriptor of /proc/PID/pagemap, -1: presence cannot be asked, all is read. Returns the bytes
// copied.
size_t peek_present(pid_t pid, int pagemap, uint64_t addr, void *out, size_t length);

#endif
