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

size_t state_before(const struct timeline *tl, uint64_t seq) {
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
    struct vmv_world *world = NULL;
    *seq_out = 0;
    for (size_t i = state_before(tl, seq); i-- > 0 && !world;) {
        world = vmv_reader_state(tl->reader, tl->chunks.states[i]);
        if (world)
            *seq_out = tl->chunks.states[i]->header.first;
        else
            timeline_note_trouble(tl, vmv_reader_error(tl->reader));
    }
    if (!world) world = vmv_world_create(tl->page_size);
    vmv_world_limit_pages(world, WORLD_MEMORY);
    return world;
}

static void apply(struct vmv_world *world, const struct vmv_event *event, const struct replay_hooks *hooks) {
    if (hooks && hooks->before) hooks->before(hooks->user, world, event);
    if (hooks && hooks->undo)
        undo_apply(hooks->undo, world, event);
    else
        vmv_world_apply(world, event);
    if (hooks && hooks->after) hooks->after(hooks->user, world, event);
}

// Looks at the pages that the next events will change: events touch pages all over memory, and the processor waits for
// several of them at once.
static void warm_pages(const struct vmv_world *world, const struct vmv_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (events[i].type != VMV_EV_FAULT && events[i].type != VMV_EV_PAGES) continue;
        const struct vmv_space *space = vmv_world_space(world, events[i].space);
        if (space) vmv_space_page_prefetch(space, events[i].addr);
    }
}

static void replay_chunk(struct timeline *tl, struct vmv_world *world, size_t index, uint64_t from, uint64_t to,
                         const struct replay_hooks *hooks) {
    struct event_walk walk;
    if (walk_begin(tl, &walk, index)) {
        size_t count;
        for (const struct vmv_event *events; (events = walk_batch(&walk, &count)) && events[0].seq < to;) {
            if (events[count - 1].seq >= from) warm_pages(world, events, count);
            for (size_t i = 0; i < count && events[i].seq < to; i++)
                if (events[i].seq >= from) apply(world, &events[i], hooks);
        }
    }
    walk_end(&walk);
}

void world_replay(struct timeline *tl, struct vmv_world *world, uint64_t from, uint64_t to,
                  const struct replay_hooks *hooks) {
    size_t index = chunk_at_seq(tl, from);
    for (index = index == SIZE_MAX ? 0 : index; index < tl->chunks.event_count; index++) {
        if (tl->chunks.events[index].chunk->header.first >= to) return;
        if (chunk_end_seq(tl, index) > from) replay_chunk(tl, world, index, from, to, hooks);
    }
}

enum { NEAR_EVENTS = 32768 };

// Notes all of the way when little steps back are likely to follow, else the last part.
static void replay_to(struct timeline *tl, uint64_t seq, bool note_all) {
    struct replay_hooks hooks = {.undo = &tl->undo};
    uint64_t kept = tl->at.seq;
    if (!note_all && seq - tl->at.seq > NEAR_EVENTS) {
        world_replay(tl, tl->at.world, tl->at.seq, seq - NEAR_EVENTS, NULL);
        tl->at.seq = seq - NEAR_EVENTS;
        undo_reset(&tl->undo, tl->at.seq);
    }
    while (tl->at.seq < seq) {
        uint64_t stop = seq - tl->at.seq > KEEP_EVENTS ? tl->at.seq + KEEP_EVENTS : seq;
        world_replay(tl, tl->at.world, tl->at.seq, stop, &hooks);
        tl->at.seq = stop;
        bool lost = tl->undo.from > kept; // what was before cannot be undone: a copy must do
        if (note_all && lost && stop < seq) worlds_keep(tl, &tl->at), kept = stop;
    }
}

static void approach(struct timeline *tl, uint64_t seq, bool near) {
    uint64_t before = tl->at.seq;
    bool had = tl->at.world != NULL;
    bool from_state = worlds_approach(tl, seq);
    if (from_state || !had || tl->at.seq != before) undo_reset(&tl->undo, tl->at.seq);
    if (near && from_state) worlds_keep(tl, &tl->at);
    memcpy(tl->trouble, tl->at.trouble, sizeof tl->trouble);
    replay_to(tl, seq, near);
    memcpy(tl->at.trouble, tl->trouble, sizeof tl->trouble);
}

static void move_to(struct timeline *tl, uint64_t seq) {
    bool near = tl->at.world && seq < tl->at.seq && tl->at.seq - seq < NEAR_EVENTS;
    bool back = tl->at.world && seq <= tl->at.seq;
    if ((back && undo_to(&tl->undo, tl->at.world, seq)) || (near && prepare_take(tl, seq))) {
        memcpy(tl->trouble, tl->at.trouble, sizeof tl->trouble);
        if (tl->at.seq > seq) tl->at.seq = seq;
    }
    if (tl->at.seq != seq || !tl->at.world) approach(tl, seq, near);
    if (near)
        prepare_step(tl);
    else
        prepare_cancel(tl);
    worlds_trim(tl);
}

const struct vmv_world *timeline_seek(struct timeline *tl, uint64_t t) {
    tl->trouble[0] = 0;
    if (t > tl->duration) t = tl->duration;
    uint64_t seq = seq_after_time(tl, t);
    move_to(tl, seq);
    tl->now = t;
    return tl->at.world;
}

const struct vmv_world *timeline_seek_seq(struct timeline *tl, uint64_t seq) {
    tl->trouble[0] = 0;
    uint64_t end = seq_end(tl);
    uint64_t goal = seq >= end ? end : seq + 1;
    uint64_t t = goal ? time_of_seq(tl, goal - 1) : 0;
    move_to(tl, goal);
    tl->now = t != UINT64_MAX ? t : tl->at.world->t;
    return tl->at.world;
}
