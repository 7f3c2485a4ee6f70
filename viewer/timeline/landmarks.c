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
    marks->gaps[marks->gap_count++] = (struct space_gap){.from = event->t, .to = event->to, .space = event->space};
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

// --- order

static int frames_by_time(const void *a, const void *b) {
    const struct timeline_frame *x = a, *y = b;
    if (x->t != y->t) return x->t < y->t ? -1 : 1;
    return (x->n > y->n) - (x->n < y->n);
}

static int frames_by_space(const void *a, const void *b) {
    const struct timeline_frame *const *x = a, *const *y = b;
    if ((*x)->space != (*y)->space) return (*x)->space < (*y)->space ? -1 : 1;
    return frames_by_time(*x, *y);
}

static int events_by_time(const void *a, const void *b) {
    const struct vmv_event *x = a, *y = b;
    if (x->t != y->t) return x->t < y->t ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static int gaps_by_time(const void *a, const void *b) {
    const struct space_gap *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

static void sort(void *array, size_t count, size_t size, int compare(const void *, const void *)) {
    if (count) qsort(array, count, size, compare);
}

static void index_frames(struct landmarks *marks) {
    marks->by_space = malloc((marks->frame_count + 1) * sizeof *marks->by_space);
    if (!marks->by_space) abort();
    for (size_t i = 0; i < marks->frame_count; i++) marks->by_space[i] = &marks->frames[i];
    sort(marks->by_space, marks->frame_count, sizeof *marks->by_space, frames_by_space);
}

// --- lives of threads

static struct thread_life *life_of(struct landmarks *marks, int32_t tid) {
    size_t at = id_map_get(&marks->life_places, (uint32_t)tid);
    if (at != SIZE_MAX) return &marks->lives[at];
    marks->lives = timeline_grow(marks->lives, marks->life_count, &marks->life_room, sizeof *marks->lives);
    id_map_put(&marks->life_places, (uint32_t)tid, marks->life_count);
    struct thread_life *life = &marks->lives[marks->life_count++];
    *life = (struct thread_life){.from = UINT64_MAX, .to = UINT64_MAX};
    return life;
}

static void starts(struct landmarks *marks, int32_t tid, uint64_t t) {
    struct thread_life *life = life_of(marks, tid);
    if (t < life->from) life->from = t;
    life->to = UINT64_MAX;
}

// From the first beginning to the last end: numbers are used again.
static void find_lives(struct landmarks *marks) {
    for (size_t i = 0; i < marks->event_count; i++) {
        const struct vmv_event *event = &marks->events[i];
        if (event->type == VMV_EV_THREAD_START || event->type == VMV_EV_SPACE) starts(marks, event->tid, event->t);
        if (event->type == VMV_EV_FORK) starts(marks, event->child, event->t);
        if (event->type == VMV_EV_THREAD_EXIT) life_of(marks, event->tid)->to = event->t;
        if (event->type == VMV_EV_EXIT) life_of(marks, event->pid)->to = event->t;
    }
}

struct thread_life landmarks_life(const struct landmarks *marks, int32_t tid) {
    size_t at = id_map_get(&marks->life_places, (uint32_t)tid);
    struct thread_life life = at == SIZE_MAX ? (struct thread_life){0, UINT64_MAX} : marks->lives[at];
    if (life.from == UINT64_MAX) life.from = 0;
    return life;
}

void landmarks_finish(struct landmarks *marks) {
    uint64_t reach = 0;
    sort(marks->frames, marks->frame_count, sizeof *marks->frames, frames_by_time);
    sort(marks->events, marks->event_count, sizeof *marks->events, events_by_time);
    sort(marks->gaps, marks->gap_count, sizeof *marks->gaps, gaps_by_time);
    for (size_t i = 0; i < marks->gap_count; i++) {
        if (marks->gaps[i].to > reach) reach = marks->gaps[i].to;
        marks->gaps[i].reach = reach;
    }
    index_frames(marks);
    find_lives(marks);
}

void landmarks_free(struct landmarks *marks) {
    free(marks->frames);
    free(marks->by_space);
    free(marks->events);
    free(marks->gaps);
    free(marks->lives);
    id_map_free(&marks->life_places);
    vmv_arena_free(&marks->arena);
    *marks = (struct landmarks){0};
}

// --- finding

// The first in by_space that is of a higher space, or of this one and later than t.
static size_t frames_until(const struct landmarks *marks, uint32_t space, uint64_t t) {
    size_t low = 0, high = marks->frame_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct timeline_frame *frame = marks->by_space[middle];
        bool before = frame->space < space || (frame->space == space && frame->t <= t);
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct timeline_frame *landmarks_frame_after(const struct landmarks *marks, uint32_t space, uint64_t t) {
    size_t i = frames_until(marks, space, t);
    return i < marks->frame_count && marks->by_space[i]->space == space ? marks->by_space[i] : NULL;
}

const struct timeline_frame *landmarks_frame_before(const struct landmarks *marks, uint32_t space, uint64_t t) {
    size_t i = frames_until(marks, space, t);
    return i && marks->by_space[i - 1]->space == space ? marks->by_space[i - 1] : NULL;
}

const struct space_gap *landmarks_gap(const struct landmarks *marks, uint32_t space, uint64_t from, uint64_t to,
                                      const struct space_gap *after) {
    size_t low = after ? (size_t)(after - marks->gaps) + 1 : 0, high = marks->gap_count;
    while (low < high) { // the first that reaches beyond `from`
        size_t middle = low + (high - low) / 2;
        if (marks->gaps[middle].reach <= from)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < marks->gap_count && marks->gaps[low].from < to; low++) {
        const struct space_gap *gap = &marks->gaps[low];
        if (gap->to > from && (!gap->space || gap->space == space)) return gap;
    }
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
