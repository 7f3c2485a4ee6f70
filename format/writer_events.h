// The open EVENTS chunk of a writer: encoded events, and what its prefix says of them.
#ifndef VMV_WRITER_EVENTS_H
#define VMV_WRITER_EVENTS_H

#include "blocks.h"
#include "codec.h"
#include "touched.h"
#include "writer_output.h"

struct vmv_open_events {
    struct vmv_codec codec;
    struct vmv_out raw, lead;
    struct vmv_touched_set touched;
    uint32_t counts[VMV_EV_TYPE_COUNT];
    uint32_t count;
    uint64_t first;           // seq of the first event
    uint64_t t_first, t_last; // ns
};
// `world` is the state before the event.
void vmv_open_events_add(struct vmv_open_events *open, const struct vmv_world *world, const struct vmv_event *event);
bool vmv_open_events_full(const struct vmv_open_events *open);
// Writes the chunk and starts anew. Returns the raw bytes of its events.
size_t vmv_open_events_write(struct vmv_open_events *open, struct vmv_output *output);
void vmv_open_events_free(struct vmv_open_events *open);

#endif
