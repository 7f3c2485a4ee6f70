// The prefix of an EVENTS chunk: events per type, and the coarse addresses they concern, so that a search by address
// or type can pass over a chunk without inflating it (docs/FORMAT.md, EVENTS).
#ifndef VMV_TOUCHED_H
#define VMV_TOUCHED_H

#include "bytes.h"
#include "world.h"

enum { VMV_TOUCHED_SHIFT = 21, VMV_TOUCHED_RECENT = 16384 };

struct vmv_touched; // reader.h: a range of blocks of one space

struct vmv_touched_set { // zeroed: empty
    struct vmv_touched *ranges;
    size_t count, room;
    size_t compact_at; // sort and merge when there are that many
    struct {
        uint64_t block;
        uint32_t space;
    } recent[VMV_TOUCHED_RECENT]; // ranges of one block added lately
};
// Adds what `event` concerns; `world` is the state before it (files that are punched or truncated are looked up).
void vmv_touched_add(struct vmv_touched_set *set, const struct vmv_world *world, const struct vmv_event *event);
void vmv_touched_encode(struct vmv_touched_set *set, struct vmv_out *out); // sorted, merged
void vmv_touched_clear(struct vmv_touched_set *set);
void vmv_touched_free(struct vmv_touched_set *set);
// What encode wrote. NULL: malformed (in->bad is set) or none (*count is 0). free().
struct vmv_touched *vmv_touched_decode(struct vmv_in *in, size_t *count);

void vmv_counts_encode(struct vmv_out *out, const uint32_t counts[VMV_EV_TYPE_COUNT]);
bool vmv_counts_decode(struct vmv_in *in, uint64_t counts[VMV_EV_TYPE_COUNT]);

#endif
