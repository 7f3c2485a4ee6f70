#include "writer_events.h"

#include <string.h>

enum { FULL_BYTES = 256 << 10, FULL_EVENTS = 16384 };

void vmv_open_events_add(struct vmv_open_events *open, const struct vmv_world *world, const struct vmv_event *event) {
    if (open->count == 0) {
        open->first = event->seq;
        open->t_first = event->t;
    }
    vmv_event_encode(&open->codec, &open->raw, event);
    vmv_touched_add(&open->touched, world, event);
    if ((unsigned)event->type < VMV_EV_TYPE_COUNT) open->counts[event->type]++;
    open->t_last = event->t;
    open->count++;
}

bool vmv_open_events_full(const struct vmv_open_events *open) {
    return open->raw.length >= FULL_BYTES || open->count >= FULL_EVENTS;
}

size_t vmv_open_events_write(struct vmv_open_events *open, struct vmv_output *output) {
    open->lead.length = 0;
    size_t begin = vmv_lead_begin(&open->lead), length = open->raw.length;
    vmv_counts_encode(&open->lead, open->counts);
    vmv_touched_encode(&open->touched, &open->lead);
    vmv_lead_end(&open->lead, begin);
    struct vmv_chunk_header header = {.type = VMV_CHUNK_EVENTS,
                                      .flags = VMV_CHUNKF_PREFIX,
                                      .t_first = open->t_first,
                                      .t_last = open->t_last,
                                      .first = open->first,
                                      .count = open->count};
    vmv_output_pack(output, &header, (struct vmv_part){open->lead.data, open->lead.length},
                    (struct vmv_part){open->raw.data, length});
    open->raw.length = 0;
    open->count = 0;
    memset(open->counts, 0, sizeof open->counts);
    memset(&open->codec, 0, sizeof open->codec);
    vmv_touched_clear(&open->touched);
    return length;
}

void vmv_open_events_free(struct vmv_open_events *open) {
    vmv_out_free(&open->raw);
    vmv_out_free(&open->lead);
    vmv_touched_free(&open->touched);
}
