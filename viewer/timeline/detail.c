// Spans finer than SUMMARY's: the events of a part of the recording, given to the same builder with stretched times, so
// that the meaning of a tick stands in one place.
#include "timeline_internal.h"

#include <stdlib.h>

enum { DETAIL_EVENTS = 400000, FINER_BY = 8 };

struct detail_run {
    struct vmv_summary_builder *builder;
    uint64_t origin;
    unsigned stretch; // by 2^stretch
};

static struct vmv_event stretched(const struct detail_run *run, const struct vmv_event *event) {
    struct vmv_event copy = *event;
    copy.t = (event->t > run->origin ? event->t - run->origin : 0) << run->stretch;
    return copy;
}

static void before(void *user, const struct vmv_world *world, const struct vmv_event *event) {
    struct detail_run *run = user;
    struct vmv_event copy = stretched(run, event);
    vmv_summary_builder_before(run->builder, world, &copy);
}

// Times on processors do not stretch: they are counted at their own scale only.
static void after(void *user, const struct vmv_world *world, const struct vmv_event *event) {
    struct detail_run *run = user;
    struct vmv_event copy = stretched(run, event);
    if (run->stretch && event->type == VMV_EV_THREAD) return;
    vmv_summary_builder_add(run->builder, world, &copy);
}

static void take_summary(struct vmv_summary_builder *builder, struct curves *curves, struct landmarks *marks) {
    struct vmv_out out = {0};
    struct vmv_arena arena = {0};
    struct vmv_summary summary = {0};
    vmv_summary_builder_flush(builder, &out);
    struct vmv_in in = {.data = out.data, .length = out.length};
    if (vmv_summary_decode(&in, &arena, &summary)) {
        curves_add(curves, &summary);
        if (marks) landmarks_add(marks, summary.landmarks, summary.landmark_count);
    }
    vmv_arena_free(&arena);
    vmv_out_free(&out);
}

void detail_build(struct timeline *tl, uint64_t from, uint64_t to, uint64_t origin, unsigned shift,
                  struct curves *curves, struct landmarks *marks) {
    uint64_t at;
    struct vmv_world *world = world_before(tl, from, &at);
    struct detail_run run = {vmv_summary_builder_create(), origin, VMV_BUCKET_SHIFT - shift};
    struct replay_hooks hooks = {before, after, &run};
    world_replay(tl, world, at, from, NULL);
    world_replay(tl, world, from, to, &hooks);
    curves->origin = origin;
    curves->shift = shift;
    take_summary(run.builder, curves, marks);
    vmv_summary_builder_destroy(run.builder);
    vmv_world_destroy(world);
}

// The largest span that is a power of two, at most `width`, and as the builder can count it.
static unsigned shift_for(uint64_t width, uint64_t length) {
    unsigned shift = 0;
    while (shift < VMV_BUCKET_SHIFT && (UINT64_C(2) << shift) <= width) shift++;
    while (shift < VMV_BUCKET_SHIFT && (length >> (shift + 40)) > 0) shift++;
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
    uint64_t length = to - from, low = from > length ? from - length : 0, high = to + length;
    if (events_between(tl, low, high) > DETAIL_EVENTS) low = from, high = to;
    unsigned shift = shift_for(width / FINER_BY + 1, high - low);
    curves_free(&detail->curves);
    uint64_t first = low ? seq_after_time(tl, low - 1) : 0;
    detail_build(tl, first, seq_after_time(tl, high - 1), low, shift, &detail->curves, NULL);
    curves_finish(&detail->curves);
    detail->valid = true;
    detail->from = low, detail->to = high;
    return (UINT64_C(1) << shift) <= width ? &detail->curves : NULL;
}
