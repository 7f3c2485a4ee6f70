#include "perf_ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int open_event(struct perf_event_attr *attr, pid_t pid, int cpu) {
    long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0 && errno == EINVAL && (attr->read_format & PERF_FORMAT_LOST)) {
        attr->read_format &= ~(uint64_t)PERF_FORMAT_LOST; // before 6.0
        fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    }
    return fd < 0 ? -errno : (int)fd;
}

int perf_ring_open(struct perf_ring *ring, struct perf_event_attr *attr, pid_t pid, int cpu, size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    *ring = (struct perf_ring){.fd = open_event(attr, pid, cpu)};
    if (ring->fd < 0) return ring->fd;
    void *memory = mmap(NULL, page + size, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, 0);
    if (memory == MAP_FAILED) {
        int error = -errno;
        close(ring->fd);
        ring->fd = -1;
        return error;
    }
    ring->control = memory;
    ring->data = (uint8_t *)memory + page;
    ring->size = size;
    return 0;
}

void perf_ring_close(struct perf_ring *ring) {
    if (ring->control) munmap(ring->control, (size_t)(ring->data - (uint8_t *)ring->control) + ring->size);
    if (ring->fd >= 0) close(ring->fd);
    *ring = (struct perf_ring){.fd = -1};
}

static uint64_t head_of(const struct perf_ring *ring) {
    return __atomic_load_n(&ring->control->data_head, __ATOMIC_ACQUIRE);
}

uint64_t perf_ring_head(const struct perf_ring *ring) { return ring->control ? head_of(ring) : 0; }

size_t perf_ring_fill(const struct perf_ring *ring) { return (size_t)(head_of(ring) - ring->control->data_tail); }

static const struct perf_event_header *record_at(const struct perf_ring *ring, uint64_t at, uint8_t *scratch) {
    size_t begin = (size_t)at & (ring->size - 1); // a header never goes round the end: all is a multiple of 8
    const struct perf_event_header *header = (const void *)(ring->data + begin);
    size_t until_end = ring->size - begin;
    if (header->size <= until_end) return header;
    memcpy(scratch, header, until_end);
    memcpy(scratch + until_end, ring->data, header->size - until_end);
    return (const void *)scratch;
}

void perf_ring_read(struct perf_ring *ring, uint8_t *scratch, perf_ring_each *each, void *user) {
    uint64_t head = head_of(ring), at = ring->control->data_tail;
    while (at < head) {
        const struct perf_event_header *record = record_at(ring, at, scratch);
        if (record->size < sizeof *record || record->size > head - at) break;
        each(user, record);
        at += record->size;
    }
    __atomic_store_n(&ring->control->data_tail, head, __ATOMIC_RELEASE);
}

void perf_ring_discard(struct perf_ring *ring) {
    __atomic_store_n(&ring->control->data_tail, head_of(ring), __ATOMIC_RELEASE);
}

bool perf_ring_lost(const struct perf_ring *ring, uint64_t *lost) {
    uint64_t values[2]; // the count, the losses
    if (read(ring->fd, values, sizeof values) != sizeof values) return false;
    *lost = values[1];
    return true;
}
