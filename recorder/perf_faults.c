#include "perf_faults.h"

#include <stdlib.h>
#include <string.h>

enum { PAIR_NS = 10000000 }; // records of one fault are microseconds apart, unless the machine stood still
enum { PAIR_AHEAD = 8 };     // stacks looked at for one fault: they come in the order of the faults

struct sample { // the head of a record, in the kernel's order: TID TIME ADDR REGS_USER
    uint32_t pid, tid;
    uint64_t time, addr, abi;
};

uint64_t perf_keeper_sample_type(bool stacks) {
    uint64_t type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_REGS_USER;
    return stacks ? type | PERF_SAMPLE_STACK_USER : type;
}

size_t perf_keeper_fault_bytes(void) {
    return sizeof(struct perf_event_header) + sizeof(struct sample) + arch_perf_count() * sizeof(uint64_t);
}

static void *grown(void *memory, size_t *room, size_t need, size_t item) {
    if (need <= *room) return memory;
    size_t more = *room ? *room : 256;
    while (more < need) more *= 2;
    void *bigger = realloc(memory, more * item);
    if (!bigger) abort();
    *room = more;
    return bigger;
}

static struct perf_fault *add_fault(struct perf_keeper *keeper) {
    keeper->pending = grown(keeper->pending, &keeper->pending_room, keeper->pending_count + 1, sizeof *keeper->pending);
    struct perf_fault *fault = &keeper->pending[keeper->pending_count++];
    *fault = (struct perf_fault){0};
    return fault;
}

// Moves the newest entry to its place: an interrupt between stamping and writing can put records out of order.
static void sort_in(struct perf_keeper *keeper) {
    size_t at = keeper->pending_count - 1;
    struct perf_fault newest = keeper->pending[at];
    for (; at > keeper->pending_at && keeper->pending[at - 1].t > newest.t; at--)
        keeper->pending[at] = keeper->pending[at - 1];
    keeper->pending[at] = newest;
}

static bool take_sample(const struct perf_event_header *record, size_t tail, struct sample *out) {
    if (record->size < sizeof *record + sizeof *out) return false;
    memcpy(out, record + 1, sizeof *out);
    return out->abi == PERF_SAMPLE_REGS_ABI_NONE || record->size >= sizeof *record + sizeof *out + tail;
}

static void keep_loss(struct perf_keeper *keeper, uint64_t lost, uint64_t until) {
    struct perf_fault *loss = add_fault(keeper);
    loss->t = keeper->last_t ? keeper->last_t : until;
    loss->lost = lost;
    loss->lost_until = until;
    sort_in(keeper);
}

// The kernel writes it before the first record that finds space again.
static void keep_lost_record(struct perf_keeper *keeper, const struct perf_event_header *record) {
    uint64_t values[2]; // id, number
    if (record->size < sizeof *record + sizeof values) return;
    memcpy(values, record + 1, sizeof values);
    keeper->lost_seen += values[1];
}

static void keep_fault(void *user, const struct perf_event_header *record) {
    struct perf_keeper *keeper = user;
    struct sample sample;
    if (record->type == PERF_RECORD_LOST) keep_lost_record(keeper, record);
    if (record->type != PERF_RECORD_SAMPLE || !take_sample(record, arch_perf_count() * sizeof(uint64_t), &sample))
        return;
    if (keeper->lost_seen > keeper->lost_told) {
        keep_loss(keeper, keeper->lost_seen - keeper->lost_told, sample.time);
        keeper->lost_told = keeper->lost_seen;
    }
    struct perf_fault *fault = add_fault(keeper);
    fault->t = sample.time;
    fault->addr = sample.addr;
    fault->pid = (int32_t)sample.pid;
    fault->tid = (int32_t)sample.tid;
    fault->kernel = (record->misc & PERF_RECORD_MISC_CPUMODE_MASK) == PERF_RECORD_MISC_KERNEL;
    // The PC of user code, also when the fault came from inside a system call.
    if (sample.abi != PERF_SAMPLE_REGS_ABI_NONE)
        memcpy(&fault->pc, (const uint8_t *)(record + 1) + sizeof sample + arch_perf_pc_at(), sizeof fault->pc);
    if (sample.time > keeper->last_t) keeper->last_t = sample.time;
    sort_in(keeper);
}

// Drops what has been taken.
static void compact_faults(struct perf_keeper *keeper) {
    keeper->pending_count -= keeper->pending_at;
    if (keeper->pending_count)
        memmove(keeper->pending, keeper->pending + keeper->pending_at, keeper->pending_count * sizeof *keeper->pending);
    keeper->pending_at = 0;
}

enum { NEARLY_FULL = 8192 };

void perf_keeper_read_faults(struct perf_keeper *keeper, uint8_t *scratch, uint64_t now) {
    uint64_t lost;
    compact_faults(keeper);
    bool was_full = perf_ring_fill(&keeper->faults) + NEARLY_FULL > keeper->faults.size;
    perf_ring_read(&keeper->faults, scratch, keep_fault, keeper);
    // A full ring may have lost records that nothing tells of until the next fault on this processor.
    if (!was_full || !perf_ring_lost(&keeper->faults, &lost) || lost <= keeper->lost_told) return;
    keep_loss(keeper, lost - keeper->lost_told, now);
    keeper->lost_told = lost;
}

struct stack_reading {
    struct perf_keeper *keeper;
    size_t left;
};

enum { REGISTERS_MAX = 64 };

// What follows a sample's head: registers (if it has any), then size, bytes, and how many of them are the stack's.
static void take_stack(const struct perf_event_header *record, bool has_regs, uint64_t *registers,
                       const uint8_t **bytes, uint64_t *length) {
    const uint8_t *at = (const uint8_t *)(record + 1) + sizeof(struct sample);
    const uint8_t *end = (const uint8_t *)record + record->size;
    size_t regs = has_regs ? arch_perf_count() * sizeof *registers : 0;
    uint64_t size = 0;
    *length = 0;
    memcpy(registers, at, regs);
    at += regs;
    if (end - at >= 8) memcpy(&size, at, 8);
    *bytes = at + 8;
    if (!has_regs || !size || end - at < 16 || size > (uint64_t)(end - at) - 16) return;
    memcpy(length, *bytes + size, 8);
    if (*length > size) *length = 0;
}

static struct perf_stack *add_stack(struct perf_keeper *keeper) {
    if (keeper->kept_count == keeper->kept_room) {
        keeper->kept = grown(keeper->kept, &keeper->kept_room, keeper->kept_count + 1, sizeof *keeper->kept);
        keeper->slots = realloc(keeper->slots, keeper->kept_room * keeper->slot_bytes);
        if (!keeper->slots) abort();
    }
    return &keeper->kept[keeper->kept_count++];
}

static void keep_stack(void *user, const struct perf_event_header *record) {
    struct stack_reading *reading = user;
    struct perf_keeper *keeper = reading->keeper;
    uint64_t registers[REGISTERS_MAX] = {0}, length;
    const uint8_t *bytes;
    struct sample sample;
    size_t regs = arch_perf_count() * sizeof registers[0];
    if (record->type != PERF_RECORD_SAMPLE || !reading->left || !take_sample(record, regs, &sample)) return;
    bool has_regs = sample.abi != PERF_SAMPLE_REGS_ABI_NONE;
    take_stack(record, has_regs, registers, &bytes, &length);
    if (length > keeper->slot_bytes) length = 0;
    struct perf_stack *kept = add_stack(keeper);
    *kept =
        (struct perf_stack){.t = sample.time, .addr = sample.addr, .tid = (int32_t)sample.tid, .has_regs = has_regs};
    if (has_regs) arch_perf_to_regs(registers, &kept->regs);
    kept->length = (uint32_t)length;
    if (length) memcpy(keeper->slots + (keeper->kept_count - 1) * keeper->slot_bytes, bytes, length);
    reading->left--;
}

static void compact_stacks(struct perf_keeper *keeper) {
    size_t left = keeper->kept_count - keeper->kept_at;
    if (keeper->kept_at && left) {
        memmove(keeper->kept, keeper->kept + keeper->kept_at, left * sizeof *keeper->kept);
        memmove(keeper->slots, keeper->slots + keeper->kept_at * keeper->slot_bytes, left * keeper->slot_bytes);
    }
    keeper->kept_count = left;
    keeper->kept_at = 0;
}

size_t perf_keeper_read_stacks(struct perf_keeper *keeper, uint8_t *scratch, size_t allowed) {
    compact_stacks(keeper);
    struct stack_reading reading = {keeper, allowed};
    perf_ring_read(&keeper->stacks, scratch, keep_stack, &reading);
    for (size_t i = 0; i < keeper->kept_count; i++) keeper->kept[i].bytes = keeper->slots + i * keeper->slot_bytes;
    return allowed - reading.left;
}

const struct perf_fault *perf_keeper_peek(const struct perf_keeper *keeper, uint64_t until) {
    if (keeper->pending_at == keeper->pending_count) return NULL;
    const struct perf_fault *oldest = &keeper->pending[keeper->pending_at];
    return oldest->t <= until ? oldest : NULL;
}

// The stacks are some of the faults, in their order. One whose fault was lost is passed over.
static const struct perf_stack *stack_of(struct perf_keeper *keeper, const struct perf_fault *fault) {
    while (keeper->kept_at < keeper->kept_count && keeper->kept[keeper->kept_at].t + PAIR_NS < fault->t)
        keeper->kept_at++;
    for (size_t i = keeper->kept_at; i < keeper->kept_count && i < keeper->kept_at + PAIR_AHEAD; i++) {
        const struct perf_stack *stack = &keeper->kept[i];
        if (stack->t > fault->t + PAIR_NS) break;
        if (stack->tid != fault->tid || stack->addr != fault->addr) continue;
        keeper->kept_at = i + 1;
        return stack;
    }
    return NULL;
}

const struct perf_fault *perf_keeper_take(struct perf_keeper *keeper, const struct perf_stack **stack) {
    const struct perf_fault *fault = &keeper->pending[keeper->pending_at++];
    *stack = fault->lost ? NULL : stack_of(keeper, fault);
    return fault;
}

size_t perf_keeper_waiting(const struct perf_keeper *keeper) { return keeper->pending_count - keeper->pending_at; }

void perf_keeper_close(struct perf_keeper *keeper) {
    perf_ring_close(&keeper->faults);
    perf_ring_close(&keeper->stacks);
    free(keeper->pending);
    free(keeper->kept);
    free(keeper->slots);
}
