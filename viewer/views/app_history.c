#include "app_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *grow(void *items, size_t *room, size_t count, size_t size) {
    if (count < *room) return items;
    size_t more = *room ? *room * 2 : 16;
    void *bigger = realloc(items, more * size);
    if (bigger) *room = more;
    return bigger;
}

/* --- spaces --- */

static void end_span(struct app_history *history, uint64_t t) {
    if (history->span_count && history->span[history->span_count - 1].to > t)
        history->span[history->span_count - 1].to = t;
}

static void begin_span(struct app_history *history, uint32_t space, uint64_t t) {
    if (history->span_count && history->span[history->span_count - 1].space == space) return;
    end_span(history, t);
    struct app_span *span = grow(history->span, &history->span_room, history->span_count, sizeof *span);
    if (!span) return;
    history->span = span;
    history->span[history->span_count++] = (struct app_span){space, t, UINT64_MAX};
}

static void follow_space(struct app_history *history, const struct vmv_event *event) {
    bool mine = event->pid == history->pid;
    if ((event->type == VMV_EV_SPACE || event->type == VMV_EV_EXEC) && mine && event->space)
        begin_span(history, event->space, event->t);
    else if (event->type == VMV_EV_FORK && event->child == history->pid && event->child_space)
        begin_span(history, event->child_space, event->t);
    else if (event->type == VMV_EV_EXIT && mine)
        end_span(history, event->t + 1);
}

/* --- threads --- */

static struct app_lifetime *living(struct app_history *history, int32_t tid) {
    for (size_t i = history->thread_count; i-- > 0;)
        if (history->thread[i].tid == tid && !history->thread[i].ended) return &history->thread[i];
    return NULL;
}

static void begin_thread(struct app_history *history, int32_t tid, const char *name, uint64_t t, uint64_t end) {
    struct app_lifetime *thread = living(history, tid);
    if (!thread) {
        thread = grow(history->thread, &history->thread_room, history->thread_count, sizeof *thread);
        if (!thread) return;
        history->thread = thread;
        thread += history->thread_count++;
        *thread = (struct app_lifetime){.tid = tid, .from = t, .to = end};
    }
    if (name && *name) snprintf(thread->name, sizeof thread->name, "%s", name);
}

static void end_thread(struct app_history *history, int32_t tid, uint64_t t) {
    struct app_lifetime *thread = living(history, tid);
    if (!thread) return;
    thread->ended = true;
    thread->to = t;
}

/* The main thread's start may not be an event of its own: the process's first space stands for it. */
static void follow_thread(struct app_history *history, const struct vmv_event *event, uint64_t end) {
    bool mine = event->pid == history->pid;
    if (event->type == VMV_EV_THREAD_START && mine)
        begin_thread(history, event->tid, event->name, event->t, end);
    else if (event->type == VMV_EV_SPACE && mine)
        begin_thread(history, history->pid, NULL, event->t, end);
    else if (event->type == VMV_EV_FORK && event->child == history->pid)
        begin_thread(history, history->pid, NULL, event->t, end);
    else if (event->type == VMV_EV_THREAD_EXIT && mine)
        end_thread(history, event->tid, event->t);
    else if (event->type == VMV_EV_EXIT && mine)
        for (size_t i = 0; i < history->thread_count; i++)
            if (!history->thread[i].ended) end_thread(history, history->thread[i].tid, event->t);
}

/* --- frames --- */

static bool has_space(const struct app_history *history, uint32_t space) {
    for (size_t i = 0; i < history->span_count; i++)
        if (history->span[i].space == space) return true;
    return false;
}

static bool take_frames(struct app_history *history, struct timeline *tl) {
    size_t count = 0;
    const struct timeline_frame *all = timeline_frames(tl, &count);
    history->frame = malloc((count ? count : 1) * sizeof *history->frame);
    if (!history->frame) return false;
    for (size_t i = 0; i < count; i++)
        if (all[i].pid == history->pid || has_space(history, all[i].space))
            history->frame[history->frame_count++] = all[i];
    return true;
}

struct app_history *app_history_create(struct timeline *tl, int32_t pid) {
    struct app_history *history = calloc(1, sizeof *history);
    if (!history) return NULL;
    history->pid = pid;
    size_t count = 0;
    const struct vmv_event *landmark = timeline_landmarks(tl, &count);
    for (size_t i = 0; i < count; i++) {
        follow_space(history, &landmark[i]);
        follow_thread(history, &landmark[i], timeline_duration(tl));
    }
    if (!take_frames(history, tl)) {
        app_history_destroy(history);
        return NULL;
    }
    return history;
}

void app_history_destroy(struct app_history *history) {
    if (!history) return;
    free(history->span);
    free(history->frame);
    free(history->thread);
    free(history);
}

long app_history_frame(const struct app_history *history, uint64_t t) {
    size_t low = 0, high = history->frame_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (history->frame[middle].t <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return (long)low - 1;
}

uint32_t app_history_space(const struct app_history *history, uint64_t t) {
    for (size_t i = history->span_count; i-- > 0;)
        if (history->span[i].from <= t && t < history->span[i].to) return history->span[i].space;
    return 0;
}
