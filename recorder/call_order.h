// The order of memory calls in one address space. Calls that may touch each other are let in one after the other, from
// entry to exit, so that the order recorded is the kernel's; calls that cannot (ranges that do not meet) run side by
// side, for either order of them has the same effect. Private to the tracer's files.
#ifndef REC_CALL_ORDER_H
#define REC_CALL_ORDER_H

#include "call.h"

#include <stdbool.h>
#include <stdint.h>

struct tracee;
struct rec_space;

struct call_reach { // what a call may change
    uint64_t start, end;
    bool anywhere; // it may take any free range
    bool frees;    // it may make its range free, for others to be given
    bool all;      // not known: everything
};

// Pure. program_break: before the call.
struct call_reach call_reach_of(enum call call, const uint64_t args[6], uint64_t program_break, uint64_t page_size);
bool call_reaches_meet(const struct call_reach *a, const struct call_reach *b);

// Whether a call may be let in now: it meets none that is under way, and none that waits already.
bool call_order_is_free(const struct rec_space *space, const struct tracee *tracee);
void call_order_enter(struct rec_space *space, struct tracee *tracee); // it is under way from now on
void call_order_wait(struct rec_space *space, struct tracee *tracee);  // to the end of the queue
struct tracee *call_order_next(struct rec_space *space);               // out of the queue; NULL: none may go
void call_order_leave(struct rec_space *space, struct tracee *tracee); // it returned, died, or is given up; any time
bool call_order_is_awaited(const struct rec_space *space, const struct tracee *tracee); // by one in the queue

#endif
