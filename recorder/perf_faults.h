// Page-fault records out of the rings of one processor, waiting to be handed on in the order of time. Private to the
// page-fault records.
#ifndef REC_PERF_FAULTS_H
#define REC_PERF_FAULTS_H

#include "arch.h"
#include "perf_ring.h"

struct perf_fault {
    uint64_t t;        // CLOCK_MONOTONIC, ns
    uint64_t addr, pc; // pc: in user code; 0 unknown
    int32_t pid, tid;
    bool kernel;
    uint64_t lost; // not 0: no fault, but so many records were lost between t and `lost_until`
    uint64_t lost_until;
};
struct perf_stack { // the second record of a fault
    uint64_t t, addr;
    int32_t tid;
    uint32_t length; // bytes of stack
    bool has_regs;
    uint8_t *bytes; // in the keeper's slots
    struct arch_regs regs;
};

struct perf_keeper {                 // of one processor
    struct perf_ring faults, stacks; // stacks.fd -1: none
    struct perf_fault *pending;
    size_t pending_count, pending_room, pending_at;
    struct perf_stack *kept;
    size_t kept_count, kept_room, kept_at;
    uint8_t *slots; // stack bytes, slot_bytes each
    size_t slot_bytes;
    uint64_t last_t;    // of the newest fault read
    uint64_t lost_told; // records lost, as told so far
    uint64_t lost_seen; // sum of LOST records
    bool choked;        // stacks are not read, so that the kernel stops writing them
};

uint64_t perf_keeper_sample_type(bool stacks); // how its events must be opened
size_t perf_keeper_fault_bytes(void);          // of one record of a fault in its ring

// Reads the faults' ring to its end. *lost grows by what was lost meanwhile; a loss becomes an entry of its own.
void perf_keeper_read_faults(struct perf_keeper *keeper, uint8_t *scratch, uint64_t now);
// Reads at most `allowed` stacks, drops the others; returns how many were kept.
size_t perf_keeper_read_stacks(struct perf_keeper *keeper, uint8_t *scratch, size_t allowed);
// The oldest entry up to `until`, NULL: none; and the stack that belongs to it, or NULL. Both hold until the next read.
const struct perf_fault *perf_keeper_peek(const struct perf_keeper *keeper, uint64_t until);
const struct perf_fault *perf_keeper_take(struct perf_keeper *keeper, const struct perf_stack **stack);
size_t perf_keeper_waiting(const struct perf_keeper *keeper); // read, but not taken yet
void perf_keeper_close(struct perf_keeper *keeper);

#endif
