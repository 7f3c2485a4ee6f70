// Curves of the whole recording (or a part of it) in memory, built from summaries.
#include "timeline_internal.h"

#include <stdlib.h>
#include <string.h>

struct space_curve *curves_space(const struct curves *curves, uint32_t space) {
    size_t at = id_map_get(&curves->space_places, space);
    return at == SIZE_MAX ? NULL : &curves->spaces[at];
}

struct thread_curve *curves_thread(const struct curves *curves, int32_t tid) {
    size_t at = id_map_get(&curves->thread_places, (uint32_t)tid);
    return at == SIZE_MAX ? NULL : &curves->threads[at];
}

uint64_t curves_span(const struct curves *curves, uint64_t t) {
    return t <= curves->origin ? 0 : (t - curves->origin) >> curves->shift;
}

uint64_t curves_span_up(const struct curves *curves, uint64_t t) {
    if (t <= curves->origin) return 0;
    uint64_t span = curves_span(curves, t);
    return span + ((span << curves->shift) < t - curves->origin);
}

struct space_curve *curves_make_space(struct curves *curves, uint32_t space) {
    struct space_curve *curve = curves_space(curves, space);
    if (curve) return curve;
    curves->spaces = timeline_grow(curves->spaces, curves->space_count, &curves->space_room, sizeof *curves->spaces);
    id_map_put(&curves->space_places, space, curves->space_count);
    curve = &curves->spaces[curves->space_count++];
    memset(curve, 0, sizeof *curve);
    curve->space = space;
    curve->level_count = 1;
    return curve;
}

static struct thread_curve *thread_of(struct curves *curves, int32_t tid) {
    struct thread_curve *curve = curves_thread(curves, tid);
    if (curve) return curve;
    curves->threads =
        timeline_grow(curves->threads, curves->thread_count, &curves->thread_room, sizeof *curves->threads);
    id_map_put(&curves->thread_places, (uint32_t)tid, curves->thread_count);
    curve = &curves->threads[curves->thread_count++];
    *curve = (struct thread_curve){.tid = tid};
    return curve;
}

static struct curve_node node_of(const struct vmv_bucket *bucket) {
    struct curve_node node = {.index = bucket->index,
                              .virtual_bytes = bucket->virtual_bytes,
                              .low = bucket->resident,
                              .high = bucket->resident,
                              .last = bucket->resident,
                              .written = bucket->written};
    memcpy(node.ticks, bucket->ticks, sizeof node.ticks);
    memcpy(node.faults, bucket->faults, sizeof node.faults);
    memcpy(node.tick_kinds, bucket->tick_kinds, sizeof node.tick_kinds);
    return node;
}

// Two summaries may share a span: the one was flushed in the middle of it.
static void add_node(struct space_curve *curve, const struct vmv_bucket *bucket) {
    struct curve_level *level = &curve->levels[0];
    struct curve_node node = node_of(bucket);
    struct curve_node *last = level->count ? &level->nodes[level->count - 1] : NULL;
    if (last && last->index >= node.index) {
        uint32_t written = last->written + node.written;
        node.index = last->index;
        curve_node_merge(last, &node);
        last->written = written;
        return;
    }
    level->nodes = timeline_grow(level->nodes, level->count, &level->room, sizeof *level->nodes);
    level->nodes[level->count++] = node;
}

static void add_threads(struct curves *curves, const struct vmv_bucket *bucket) {
    for (size_t i = 0; i < bucket->thread_count; i++) {
        struct thread_curve *thread = thread_of(curves, bucket->threads[i].tid);
        uint64_t run_ns = bucket->threads[i].run_us * UINT64_C(1000);
        struct thread_point *last = thread->count ? &thread->points[thread->count - 1] : NULL;
        if (last && last->index >= bucket->index) {
            last->run_ns += run_ns;
            continue;
        }
        thread->points = timeline_grow(thread->points, thread->count, &thread->room, sizeof *thread->points);
        thread->points[thread->count++] = (struct thread_point){bucket->index, run_ns};
    }
}

void curves_add(struct curves *curves, const struct vmv_summary *summary) {
    for (size_t i = 0; i < summary->bucket_count; i++) {
        struct space_curve *curve = curves_make_space(curves, summary->buckets[i].space);
        add_node(curve, &summary->buckets[i]);
        regions_add(curve, &summary->buckets[i]);
        add_threads(curves, &summary->buckets[i]);
    }
}

void curves_finish(struct curves *curves) {
    for (size_t i = 0; i < curves->space_count; i++) {
        struct space_curve *curve = &curves->spaces[i];
        regions_finish(curve);
        curves->bytes +=
            curve->levels[0].room * 2 * sizeof(struct curve_node) + curve->region_room * sizeof(struct region_point);
    }
    for (size_t i = 0; i < curves->thread_count; i++) {
        struct thread_curve *thread = &curves->threads[i];
        for (size_t k = 1; k < thread->count; k++) thread->points[k].run_ns += thread->points[k - 1].run_ns;
        curves->bytes += thread->room * sizeof *thread->points;
    }
}

void curves_free(struct curves *curves) {
    for (size_t i = 0; i < curves->space_count; i++) {
        for (unsigned level = 0; level < CURVE_LEVELS; level++) free(curves->spaces[i].levels[level].nodes);
        free(curves->spaces[i].regions);
        free(curves->spaces[i].region_peak);
    }
    for (size_t i = 0; i < curves->thread_count; i++) free(curves->threads[i].points);
    free(curves->spaces);
    free(curves->threads);
    id_map_free(&curves->space_places);
    id_map_free(&curves->thread_places);
    *curves = (struct curves){0};
}
