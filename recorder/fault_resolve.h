// Resolves one userfaultfd message, so that the thread that waits in it goes on whatever happens. Private to the fault
// server.
#ifndef REC_FAULT_RESOLVE_H
#define REC_FAULT_RESOLVE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernel.h"

enum fault_resolved {
    FAULT_RESOLVED,
    FAULT_RACED,  // someone else resolved it, or the page is not mapped any more: woken
    FAULT_GONE,   // the address space has ended
    FAULT_FAILED, // woken, but it will come back: give the mapping up
};

// A reservation that reads as zeros, large enough for the largest page (1 GiB). NULL: no memory. Never freed by these.
const void *fault_zeros_create(void);
void fault_zeros_destroy(const void *zeros);

// A missing page at `addr` (any byte of it) is filled with zeros. *failure: errno of FAULT_FAILED.
enum fault_resolved fault_resolve_missing(int uffd, uint64_t addr, bool write, const void *zeros, int *failure);
// Write protection or a missing page table entry is taken off: these are not asked for, but must not hang anyone.
enum fault_resolved fault_resolve_other(int uffd, uint64_t addr, uint64_t flags);

#endif
