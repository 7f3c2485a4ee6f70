// Moving to a moment: the newest STATE at or before it, then the events up to it.
#include "timeline_internal.h"

#include <string.h>

uint64_t seq_end(const struct timeline *tl) {
    return tl->chunks.event_count ? chunk_end_seq(tl, tl->chunks.event_count - 1) : 0;
}

uint64_t seq_after_time(struct timeline *tl, uint64_t t) {
    size_t index = chunk_at_time(tl, t);
    if (index == SIZE_MAX) return tl->chunks.event_count ? tl->chunks.events[0].chunk->header.first : 0;
    const struct vmv_chunk_header *header = &tl->chunks.events[index].chunk->header;
    if (header->t_last <= t) return chunk_end_seq(tl, index);
    struct event_walk walk;
    uint64_t seq = header->first;
    if (walk_begin(tl, &walk, index)) {
        const struct vmv_event *event;
        while ((event = walk_next(&walk)) && event->t <= t) seq = event->seq + 1;
    }
    walk_end(&walk);
    return seq;
}

uint64_t time_of_seq(struct timeline *tl, uint64_t seq) {
    size_t index = chunk_at_seq(tl, seq);
    if (index == SIZE_MAX || seq >= chunk_end_seq(tl, index)) return UINT64_MAX;
    struct event_walk walk;
    uint64_t t = UINT64_MAX;
    if (walk_begin(tl, &walk, index)) {
        const struct vmv_event *event;
        while ((event = walk_next(&walk)) && event->seq < seq) continue;
        if (event) t = event->t;
    }
    walk_end(&walk);
    return t;
}

static size_t state_before(const struct timeline *tl, uint64_t seq) {
    size_t low = 0, high = tl->chunks.state_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tl->chunks.states[middle]->header.first <= seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low; // how many begin at or before it
}

struct vmv_world *world_before(struct timeline *tl, uint64_t seq, uint64_t *seq_out) {
    for (size_t i = state_before(tl, seq); i-- > 0;) {
        struct vmv_world *world = vmv_reader_state(tl->reader, tl->chunks.states[i]);
        if (world) {
            *seq_out = tl->chunks.states[i]->header.first;
            return world;
        }
        timeline_note_trouble(tl, vmv_reader_error(tl->reader));
    }
    *seq_out = 0;
    return vmv_world_create(tl->page_size);
}

static void replay_chunk(struct timeline *tl, struct vmv_world *world, size_t index, uint64_t from, uint64_t to,
                         replay_visit *visit, void *user) {
    struct event_walk walk;
    if (walk_begin(tl, &walk, index)) {
        const struct vmv_event *event;
        while ((event = walk_next(&walk)) && event->seq < to) {
            if (event->seq < from) continue;
            vmv_world_apply(world, event);
            if (visit) visit(user, world, event);
        }
    }
    walk_end(&walk);
}

void world_replay(struct timeline *tl, struct vmv_world *world, uint64_t from, uint64_t to, replay_visit *visit,
                  void *user) {
    size_t index = chunk_at_seq(tl, from);
    for (index = index == SIZE_MAX ? 0 : index; index < tl->chunks.event_count; index++) {
        if (tl->chunks.events[index].chunk->header.first >= to) return;
        if (chunk_end_seq(tl, index) > from) replay_chunk(tl, world, index, from, to, visit, user);
    }
}

// Whether going on from the world at hand costs more than starting from a STATE that lies between it and the goal.
static bool better_from_state(const struct timeline *tl, uint64_t goal) {
    if (!tl->world || tl->position > goal) return true;
    size_t count = state_before(tl, goal);
    return count > 0 && tl->chunks.states[count - 1]->header.first > tl->position + 20000;
}

static const struct vmv_world *move_to(struct timeline *tl, uint64_t seq) {
    if (better_from_state(tl, seq)) {
        vmv_world_destroy(tl->world);
        tl->world = world_before(tl, seq, &tl->position);
    }
    world_replay(tl, tl->world, tl->position, seq, NULL, NULL);
    tl->position = seq;
    return tl->world;
}

const struct vmv_world *timeline_seek(struct timeline *tl, uint64_t t) {
    tl->trouble[0] = 0;
    if (t > tl->duration) t = tl->duration;
    move_to(tl, seq_after_time(tl, t));
    tl->now = t;
    return tl->world;
}

const struct vmv_world *timeline_seek_seq(struct timeline *tl, uint64_t seq) {
    tl->trouble[0] = 0;
    uint64_t end = seq_end(tl);
    uint64_t goal = seq >= end ? end : seq + 1;
    uint64_t t = goal ? time_of_seq(tl, goal - 1) : 0;
    move_to(tl, goal);
    tl->now = t != UINT64_MAX ? t : tl->world->t;
    return tl->world;
}
