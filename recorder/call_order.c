#include "call_order.h"

#include "tracee.h"

#include <sys/mman.h>

// ---------------------------------------------------------------------------------------------- what a call may change

static struct call_reach reach(uint64_t start, uint64_t length, uint64_t page_size) {
    uint64_t end = start + length, up = page_size - 1;
    if (end < start || end > UINT64_MAX - up) return (struct call_reach){.all = true};
    return (struct call_reach){.start = start & ~up, .end = (end + up) & ~up};
}

static struct call_reach freeing(struct call_reach reach) {
    reach.frees = true;
    return reach;
}

static struct call_reach reach_of_mmap(const uint64_t args[6], uint64_t page_size) {
    if (!(args[3] & (MAP_FIXED | MAP_FIXED_NOREPLACE))) return (struct call_reach){.anywhere = true};
    return freeing(reach(args[0], args[1], page_size));
}

static struct call_reach reach_of_mremap(const uint64_t args[6], uint64_t page_size) {
    if (args[3] & MREMAP_FIXED) return (struct call_reach){.all = true};
    struct call_reach moved = freeing(reach(args[0], args[1] > args[2] ? args[1] : args[2], page_size));
    moved.anywhere = args[3] & MREMAP_MAYMOVE;
    return moved;
}

static struct call_reach reach_of_brk(uint64_t wanted, uint64_t before, uint64_t page_size) {
    if (!wanted) return (struct call_reach){0}; // it only asks
    uint64_t low = wanted < before ? wanted : before, high = wanted < before ? before : wanted;
    return freeing(reach(low, high - low, page_size));
}

struct call_reach call_reach_of(enum call call, const uint64_t args[6], uint64_t program_break, uint64_t page_size) {
    switch (call) {
    case CALL_MMAP:
        return reach_of_mmap(args, page_size);
    case CALL_MUNMAP:
        return freeing(reach(args[0], args[1], page_size));
    case CALL_MREMAP:
        return reach_of_mremap(args, page_size);
    case CALL_MPROTECT:
    case CALL_PKEY_MPROTECT:
        // PROT_GROWSDOWN and PROT_GROWSUP reach to the end of the mapping.
        if (args[2] & (PROT_GROWSDOWN | PROT_GROWSUP)) return (struct call_reach){.all = true};
        return reach(args[0], args[1], page_size);
    case CALL_MADVISE:
    case CALL_MSEAL:
        return reach(args[0], args[1], page_size);
    case CALL_SET_VMA:
        return reach(args[2], args[3], page_size);
    case CALL_BRK:
        return reach_of_brk(args[0], program_break, page_size);
    default:
        return (struct call_reach){.all = true};
    }
}

// A range that becomes free may be given to a call that takes any: which of the two was first shows.
bool call_reaches_meet(const struct call_reach *a, const struct call_reach *b) {
    if (a->all || b->all) return true;
    if ((a->frees && b->anywhere) || (b->frees && a->anywhere)) return true;
    return a->start < b->end && b->start < a->end;
}

// ---------------------------------------------------------------------------------------------- the queue

bool call_order_is_free(const struct rec_space *space, const struct tracee *tracee) {
    for (const struct tracee *other = space->in_call; other; other = other->next_in_call)
        if (call_reaches_meet(&other->call_reach, &tracee->call_reach)) return false;
    for (const struct tracee *other = space->waiting; other && other != tracee; other = other->next_waiting)
        if (call_reaches_meet(&other->call_reach, &tracee->call_reach)) return false;
    return true;
}

void call_order_enter(struct rec_space *space, struct tracee *tracee) {
    tracee->next_in_call = space->in_call;
    space->in_call = tracee;
}

void call_order_wait(struct rec_space *space, struct tracee *tracee) {
    struct tracee **link = &space->waiting;
    while (*link) link = &(*link)->next_waiting;
    *link = tracee;
    tracee->next_waiting = NULL;
}

struct tracee *call_order_next(struct rec_space *space) {
    for (struct tracee **link = &space->waiting; *link; link = &(*link)->next_waiting) {
        struct tracee *tracee = *link;
        if (!call_order_is_free(space, tracee)) continue;
        *link = tracee->next_waiting;
        tracee->next_waiting = NULL;
        return tracee;
    }
    return NULL;
}

void call_order_leave(struct rec_space *space, struct tracee *tracee) {
    for (struct tracee **link = &space->in_call; *link; link = &(*link)->next_in_call)
        if (*link == tracee) {
            *link = tracee->next_in_call;
            break;
        }
    for (struct tracee **link = &space->waiting; *link; link = &(*link)->next_waiting)
        if (*link == tracee) {
            *link = tracee->next_waiting;
            break;
        }
    tracee->next_in_call = tracee->next_waiting = NULL;
}

bool call_order_is_awaited(const struct rec_space *space, const struct tracee *tracee) {
    for (const struct tracee *other = space->waiting; other; other = other->next_waiting)
        if (call_reaches_meet(&other->call_reach, &tracee->call_reach)) return true;
    return false;
}
