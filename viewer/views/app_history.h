/* What a process had over the whole recording: its address spaces (one after another, by exec), its frames and its
 * threads. Made once per process from the landmarks, so that views need not walk events. */
#ifndef APP_HISTORY_H
#define APP_HISTORY_H

#include "timeline.h"

struct app_span { /* which space the process had, when */
    uint32_t space;
    uint64_t from, to; /* ns, half-open */
};

struct app_lifetime { /* of a thread */
    int32_t tid;
    char name[16]; /* "" when no name was recorded */
    uint64_t from, to;
    bool ended; /* else `to` is the end of the recording */
};

struct app_history {
    int32_t pid;
    struct app_span *span; /* by time */
    size_t span_count, span_room;
    struct timeline_frame *frame; /* by time */
    size_t frame_count;
    struct app_lifetime *thread; /* by first appearance */
    size_t thread_count, thread_room;
};

/* NULL when out of memory. */
struct app_history *app_history_create(struct timeline *tl, int32_t pid);
void app_history_destroy(struct app_history *history); /* accepts NULL */

/* Latest frame at or before t: index; -1: none. */
long app_history_frame(const struct app_history *history, uint64_t t);
/* The space at t; 0: none then. */
uint32_t app_history_space(const struct app_history *history, uint64_t t);

#endif
