// One perf event with its ring of records. Private to the page-fault records.
#ifndef REC_PERF_RING_H
#define REC_PERF_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "kernel.h"

struct perf_ring {
    int fd; // -1: none
    struct perf_event_mmap_page *control;
    uint8_t *data;
    size_t size; // bytes, a power of two
};

// Opens `attr` on (pid, cpu) and maps a ring of `size` bytes, or of less where the memory limit forbids it. 0 or
// -errno.
int perf_ring_open(struct perf_ring *ring, struct perf_event_attr *attr, pid_t pid, int cpu, size_t size);
void perf_ring_close(struct perf_ring *ring);

// Bytes waiting to be read.
size_t perf_ring_fill(const struct perf_ring *ring);
uint64_t perf_ring_head(const struct perf_ring *ring); // bytes written since it was opened; 0 without a ring
// Calls `each` for every whole record, then frees their space. A record that goes round the end is put together in
// `scratch` (64 KiB).
typedef void perf_ring_each(void *user, const struct perf_event_header *record);
void perf_ring_read(struct perf_ring *ring, uint8_t *scratch, perf_ring_each *each, void *user);
void perf_ring_discard(struct perf_ring *ring); // frees the space of all that waits, unread
// Records the kernel could not write so far; false where it does not count them (before 6.0). Costs an interrupt for
// each thread that is followed: ask only when something was lost.
bool perf_ring_lost(const struct perf_ring *ring, uint64_t *lost);

#endif
