// Frames, marks, gaps, beginnings and ends of threads and processes: few enough to keep all of them in memory.
#include "timeline_internal.h"

#include <stdlib.h>
#include <string.h>

static void add_frame(struct landmarks *marks, const struct vmv_event *event) {
    marks->frames = timeline_grow(marks->frames, marks->frame_count, &marks->frame_room, sizeof *marks->frames);
    marks->frames[marks->frame_count++] = (struct timeline_frame){.n = event->frame,
                                                                  .t = event->t,
                                                                  .pause_ns = event->pause_ns,
                                                                  .pages_written = event->pages_written,
                                                                  .torn = event->torn,
                                                                  .space = event->space,
                                                                  .pid = event->pid,
                                                                  .why = event->why};
}

static void add_gap(struct landmarks *marks, const struct vmv_event *event) {
    marks->gaps = timeline_grow(marks->gaps, marks->gap_count, &marks->gap_room, sizeof *marks->gaps);
    marks->gaps[marks->gap_count++] = (struct space_gap){event->t, event->to, event->space};
}

static void add_other(struct landmarks *marks, const struct vmv_event *event) {
    marks->events = timeline_grow(marks->events, marks->event_count, &marks->event_room, sizeof *marks->events);
    struct vmv_event *kept = &marks->events[marks->event_count++];
    *kept = *event;
    kept->name = event->name ? vmv_arena_strdup(&marks->arena, event->name, strlen(event->name)) : NULL;
    kept->argv = NULL, kept->argc = 0;
    kept->maps = NULL, kept->map_count = 0;
}

void landmarks_add(struct landmarks *marks, const struct vmv_event *events, size_t count) {
    for (size_t i = 0; i < count; i++) {
        if (events[i].type == VMV_EV_FRAME)
            add_frame(marks, &events[i]);
        else
            add_other(marks, &events[i]);
        if (events[i].type == VMV_EV_GAP) add_gap(marks, &events[i]);
    }
}

static int frames_by_time(const void *a, const void *b) {
    const struct timeline_frame *x = a, *y = b;
    if (x->t != y->t) return x->t < y->t ? -1 : 1;
    return (x->n > y->n) - (x->n < y->n);
}

static int events_by_time(const void *a, const void *b) {
    const struct vmv_event *x = a, *y = b;
    if (x->t != y->t) return x->t < y->t ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

void landmarks_finish(struct landmarks *marks) {
    if (marks->frame_count) qsort(marks->frames, marks->frame_count, sizeof *marks->frames, frames_by_time);
    if (marks->event_count) qsort(marks->events, marks->event_count, sizeof *marks->events, events_by_time);
}

void landmarks_free(struct landmarks *marks) {
    free(marks->frames);
    free(marks->events);
    free(marks->gaps);
    vmv_arena_free(&marks->arena);
    *marks = (struct landmarks){0};
}

static size_t frames_until(const struct landmarks *marks, uint64_t t) {
    size_t low = 0, high = marks->frame_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (marks->frames[middle].t <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct timeline_frame *landmarks_frame_after(const struct landmarks *marks, uint32_t space, uint64_t t) {
    for (size_t i = frames_until(marks, t); i < marks->frame_count; i++)
        if (marks->frames[i].space == space) return &marks->frames[i];
    return NULL;
}

const struct timeline_frame *landmarks_frame_before(const struct landmarks *marks, uint32_t space, uint64_t t) {
    for (size_t i = frames_until(marks, t); i-- > 0;)
        if (marks->frames[i].space == space) return &marks->frames[i];
    return NULL;
}

const struct timeline_frame *timeline_frames(struct timeline *tl, size_t *count) {
    const struct overview *overview = overview_get(tl);
    *count = overview->marks.frame_count;
    return overview->marks.frames;
}

const struct vmv_event *timeline_landmarks(struct timeline *tl, size_t *count) {
    const struct overview *overview = overview_get(tl);
    *count = overview->marks.event_count;
    return overview->marks.events;
}
