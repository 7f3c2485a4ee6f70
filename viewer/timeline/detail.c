// Spans finer than SUMMARY's, made from the events of a part of the recording, so that ticks stand at their times.
#include "timeline_internal.h"

#include <stdlib.h>
#include <string.h>

enum { DETAIL_EVENTS = 120000, FINER_BY = 8, MOST_MAPPINGS = 64 };

struct building {
    struct curves *curves;
    unsigned kinds; // of the memory that the event at hand concerned before it
};

// --- spans

static void add_sample(struct curve_node *node, const struct vmv_space *space) {
    uint32_t resident = space->resident_pages < UINT32_MAX ? (uint32_t)space->resident_pages : UINT32_MAX;
    node->virtual_bytes = space->virtual_bytes;
    node->last = resident;
    if (resident < node->low) node->low = resident;
    if (resident > node->high) node->high = resident;
}

static struct curve_node *node_at(struct curves *curves, uint32_t space, uint64_t t) {
    struct curve_level *level = &curves_make_space(curves, space)->levels[0];
    uint64_t index = curves_span(curves, t);
    if (level->count && level->nodes[level->count - 1].index >= index) return &level->nodes[level->count - 1];
    level->nodes = timeline_grow(level->nodes, level->count, &level->room, sizeof *level->nodes);
    struct curve_node *node = &level->nodes[level->count++];
    *node = (struct curve_node){.index = index, .low = UINT32_MAX};
    return node;
}

static void add_count(uint32_t *count, uint64_t more) {
    *count = more > UINT32_MAX - *count ? UINT32_MAX : (uint32_t)(*count + more);
}

// --- what an event adds

static unsigned kinds_in(const struct vmv_space *space, const struct event_span *span) {
    size_t at = vmv_space_lower_bound(space, span->start);
    unsigned kinds = 0;
    for (size_t i = at; i < space->map_count && i - at < MOST_MAPPINGS && space->maps[i].start < span->end; i++)
        kinds |= 1u << vmv_mapping_kind(space, &space->maps[i]);
    return kinds;
}

static unsigned kinds_of(const struct vmv_space *space, const struct vmv_event *event) {
    struct event_span spans[2];
    unsigned kinds = 0;
    int count = event_spans(event, space->page_size, spans);
    for (int i = 0; i < count; i++) kinds |= kinds_in(space, &spans[i]);
    return kinds;
}

static bool takes_away(enum vmv_event_type type) {
    return type == VMV_EV_MUNMAP || type == VMV_EV_SHMDT || type == VMV_EV_MREMAP || type == VMV_EV_BRK;
}

static void before(void *user, const struct vmv_world *world, const struct vmv_event *event) {
    struct building *building = user;
    const struct vmv_space *space = takes_away(event->type) ? vmv_world_space(world, event->space) : NULL;
    building->kinds = space ? kinds_of(space, event) : 0;
}

static void add_fault(struct curve_node *node, const struct vmv_space *space, const struct vmv_event *event) {
    const struct vmv_mapping *map = vmv_space_find(space, event->addr);
    add_count(&node->faults[map ? vmv_mapping_kind(space, map) : VMV_KIND_ANONYMOUS], 1);
    if (event->kind == VMV_FAULT_WRITE || event->access == VMV_ACCESS_WRITE) add_count(&node->written, 1);
}

static void add_tick(struct curve_node *node, enum vmv_tick tick, unsigned kinds) {
    add_count(&node->ticks[tick], 1);
    node->tick_kinds[tick] |= (uint8_t)kinds;
}

static void after(void *user, const struct vmv_world *world, const struct vmv_event *event) {
    struct building *building = user;
    enum vmv_tick tick = vmv_event_tick(event->type);
    bool of_pages = event->type == VMV_EV_FAULT || event->type == VMV_EV_PAGES;
    bool of_maps = event->type == VMV_EV_MAPS || event->type == VMV_EV_SPACE;
    if (!event->space || (tick == VMV_TICK_COUNT && !of_pages && !of_maps)) return;
    const struct vmv_space *space = vmv_world_space(world, event->space);
    struct curve_node *node = node_at(building->curves, event->space, event->t);
    if (tick != VMV_TICK_COUNT) {
        bool of_memory = tick <= VMV_TICK_MADVISE && space && event->ret >= 0;
        add_tick(node, tick, building->kinds | (of_memory ? kinds_of(space, event) : 0));
    }
    if (!space) return;
    if (event->type == VMV_EV_FAULT) add_fault(node, space, event);
    if (event->type == VMV_EV_PAGES && event->page_flags & VMV_PAGEF_WRITTEN)
        add_count(&node->written, event->len / space->page_size);
    add_sample(node, space);
}

// --- the part of the recording that is kept

// Where every space stands when the part begins.
static void add_beginning(struct curves *curves, const struct vmv_world *world) {
    for (size_t i = 0; i < world->space_count; i++)
        add_sample(node_at(curves, world->spaces[i]->id, curves->origin), world->spaces[i]);
}

// Spaces of which nothing was sampled have no lowest value either.
static void settle_lows(struct curves *curves) {
    for (size_t i = 0; i < curves->space_count; i++) {
        struct curve_level *level = &curves->spaces[i].levels[0];
        for (size_t k = 0; k < level->count; k++)
            if (level->nodes[k].low > level->nodes[k].high) level->nodes[k].low = level->nodes[k].high;
    }
}

static void build(struct timeline *tl, struct detail *detail, unsigned shift) {
    uint64_t first = detail->from ? seq_after_time(tl, detail->from - 1) : 0, end = seq_after_time(tl, detail->to - 1);
    struct standing standing = worlds_borrow(tl, first);
    struct building building = {.curves = &detail->curves};
    struct replay_hooks hooks = {.before = before, .after = after, .user = &building};
    detail->curves = (struct curves){.origin = detail->from, .shift = shift};
    world_replay(tl, standing.world, standing.seq, first, NULL);
    standing.seq = first;
    add_beginning(&detail->curves, standing.world);
    worlds_keep(tl, &standing);
    world_replay(tl, standing.world, first, end, &hooks);
    vmv_world_destroy(standing.world);
    settle_lows(&detail->curves);
    curves_finish(&detail->curves);
}

static unsigned shift_for(uint64_t width) {
    unsigned shift = 0;
    while (shift < VMV_BUCKET_SHIFT && (UINT64_C(2) << shift) <= width) shift++;
    return shift;
}

static uint64_t events_between(const struct timeline *tl, uint64_t from, uint64_t to) {
    uint64_t events = 0;
    size_t first = chunk_at_time(tl, from);
    for (size_t i = first == SIZE_MAX ? 0 : first; i < tl->chunks.event_count; i++) {
        if (tl->chunks.events[i].chunk->header.t_first >= to) break;
        events += tl->chunks.events[i].chunk->header.count;
    }
    return events;
}

static bool covers(const struct detail *detail, uint64_t from, uint64_t to, uint64_t width) {
    return detail->valid && detail->from <= from && detail->to >= to && (UINT64_C(1) << detail->curves.shift) <= width;
}

const struct curves *detail_get(struct timeline *tl, uint64_t from, uint64_t to, uint64_t width) {
    struct detail *detail = &tl->detail;
    if (to > tl->duration + 1) to = tl->duration + 1;
    if (from >= to) return NULL;
    if (covers(detail, from, to, width)) return &detail->curves;
    if (events_between(tl, from, to) > DETAIL_EVENTS) return NULL;
    uint64_t more = (to - from) / 2, low = from > more ? from - more : 0, high = to + more;
    if (events_between(tl, low, high) > DETAIL_EVENTS) low = from, high = to;
    curves_free(&detail->curves);
    detail->from = low, detail->to = high;
    build(tl, detail, shift_for(width / FINER_BY + 1));
    detail->valid = true;
    return &detail->curves;
}
