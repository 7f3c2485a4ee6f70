// Walks events by filter, forwards and backwards. The cursor stands between two events: `seq` is the number of the
// later one. A chunk is decoded once and walked in either direction.
#include "timeline_internal.h"

#include <stdlib.h>

struct timeline_cursor {
    struct timeline *tl;
    struct timeline_filter filter;
    uint64_t seq;
    struct decoded *decoded; // pinned; the chunk of the last event given out
};

struct timeline_cursor *timeline_cursor_create(struct timeline *tl, const struct timeline_filter *filter) {
    struct timeline_cursor *cursor = calloc(1, sizeof *cursor);
    if (!cursor) abort();
    cursor->tl = tl;
    cursor->filter = *filter;
    return cursor;
}

void timeline_cursor_destroy(struct timeline_cursor *cursor) {
    if (!cursor) return;
    decoded_put(cursor->tl, cursor->decoded);
    free(cursor);
}

void timeline_cursor_seek(struct timeline_cursor *cursor, uint64_t t) { cursor->seq = seq_after_time(cursor->tl, t); }

static struct decoded *hold(struct timeline_cursor *cursor, size_t index) {
    if (cursor->decoded && cursor->decoded->index == index) return cursor->decoded;
    decoded_put(cursor->tl, cursor->decoded);
    cursor->decoded = decoded_get(cursor->tl, index);
    return cursor->decoded;
}

static const struct vmv_event *next_in(struct timeline_cursor *cursor, size_t index) {
    struct decoded *decoded = hold(cursor, index);
    if (!decoded) return NULL;
    uint64_t first = cursor->tl->chunks.events[index].chunk->header.first;
    for (size_t i = cursor->seq > first ? (size_t)(cursor->seq - first) : 0; i < decoded->count; i++) {
        if (!filter_match(cursor->tl, &cursor->filter, &decoded->events[i])) continue;
        cursor->seq = first + i + 1;
        return &decoded->events[i];
    }
    return NULL;
}

const struct vmv_event *timeline_cursor_next(struct timeline_cursor *cursor) {
    struct timeline *tl = cursor->tl;
    size_t index = chunk_at_seq(tl, cursor->seq);
    for (index = index == SIZE_MAX ? 0 : index; index < tl->chunks.event_count; index++) {
        if (cursor->filter.to && tl->chunks.events[index].chunk->header.t_first >= cursor->filter.to) break;
        if (cursor->seq >= chunk_end_seq(tl, index)) continue;
        const struct vmv_event *event = filter_match_chunk(tl, &cursor->filter, index) ? next_in(cursor, index) : NULL;
        if (event) return event;
        cursor->seq = chunk_end_seq(tl, index);
    }
    return NULL;
}

static const struct vmv_event *previous_in(struct timeline_cursor *cursor, size_t index) {
    struct decoded *decoded = hold(cursor, index);
    if (!decoded) return NULL;
    uint64_t first = cursor->tl->chunks.events[index].chunk->header.first;
    uint64_t i = cursor->seq - first < decoded->count ? cursor->seq - first : decoded->count;
    while (i-- > 0) {
        if (!filter_match(cursor->tl, &cursor->filter, &decoded->events[i])) continue;
        cursor->seq = first + i;
        return &decoded->events[i];
    }
    return NULL;
}

const struct vmv_event *timeline_cursor_previous(struct timeline_cursor *cursor) {
    struct timeline *tl = cursor->tl;
    if (!cursor->seq) return NULL;
    for (size_t index = chunk_at_seq(tl, cursor->seq - 1); index != SIZE_MAX; index = index ? index - 1 : SIZE_MAX) {
        const struct vmv_chunk_header *header = &tl->chunks.events[index].chunk->header;
        if (header->t_last < cursor->filter.from) break;
        const struct vmv_event *event =
            filter_match_chunk(tl, &cursor->filter, index) ? previous_in(cursor, index) : NULL;
        if (event) return event;
        if (cursor->seq > header->first) cursor->seq = header->first;
    }
    return NULL;
}
