// Serves userfaultfd messages (--faults=uffd): each first touch is recorded while the thread that made it still stands
// in it, and is then resolved. A thread of its own, which never waits for the tracer nor for the program.
#ifndef REC_FAULT_SERVER_H
#define REC_FAULT_SERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "sink.h"

struct fault_server;

// stack_bytes: taken with each fault, 0: none. NULL: no thread or descriptor could be had.
struct fault_server *fault_server_create(struct sink *sink, uint32_t stack_bytes);
// Stops serving; all descriptors must have been removed. Accepts NULL.
void fault_server_destroy(struct fault_server *server);

// Begins to serve a userfaultfd (owned by its track), before anything is registered on it. `pagemap` (of the same
// address space, -1: none) tells which stack pages are present. `space` and `pid` go into the events. 0 or negative
// errno.
int fault_server_add(struct fault_server *server, int uffd, int pagemap, pid_t pid, uint32_t space);
// Stops serving it. When this returns, the server does not use the descriptors any more: they may be closed, which lets
// threads that still wait go on.
void fault_server_remove(struct fault_server *server, int uffd);

struct fault_server_counts {
    uint64_t faults, reads, writes; // served
    uint64_t stacks;                // with a stack
    uint64_t races;                 // resolved by someone else, or unmapped meanwhile
    uint64_t given_up;              // could not be resolved: the range was unregistered (a GAP says so)
    uint64_t held_ns;               // from message to resolution, summed
};
void fault_server_counts(struct fault_server *server, struct fault_server_counts *counts);
#endif
