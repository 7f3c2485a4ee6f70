#include "app_curves.h"
#include "app_history.h"
#include "app_regions.h"
#include "app_search.h"

#include <stdlib.h>
#include <string.h>

#define SPARKS 4096

struct thread_row {
    int32_t tid;
    uint64_t from, to;
    size_t count, room;
    float *share;
};

struct spark {
    uint32_t space;
    uint64_t start, end;
    struct timeline_region_column column[APP_CURVES_SPARK];
};

struct app_curves {
    int32_t pid;
    uint64_t from, to;
    size_t count, room;
    struct timeline_column *column;
    struct thread_row *thread;
    size_t thread_count;
    struct spark **spark; /* open addressing, SPARKS * 2 slots */
    size_t spark_count;
    struct { /* pages written in each frame of one range */
        int32_t pid;
        uint32_t space;
        uint64_t start, end;
        uint32_t *written;
        size_t count, done;
    } chart;
    struct {
        uint32_t space;
        uint64_t from, to, count;
    } faults;
};

static struct app_curves *curves_of(struct app *app) {
    if (!app->curves) app->curves = calloc(1, sizeof *app->curves);
    return app->curves;
}

/* --- columns --- */

/* Columns of the spaces before an exec: those that begin while the process had that space. */
static void fill_columns(struct app *app, struct app_curves *curves) {
    const struct app_history *history = app->history;
    double width = (double)(curves->to - curves->from) / (double)curves->count;
    memset(curves->column, 0, curves->count * sizeof *curves->column);
    if (history->span_count <= 1) {
        uint32_t space = history->span_count ? history->span[0].space : app->space_id;
        if (space) timeline_columns(app->tl, space, curves->from, curves->to, curves->column, curves->count);
        return;
    }
    struct timeline_column *part = calloc(curves->count, sizeof *part);
    if (!part) return;
    for (size_t s = 0; s < history->span_count; s++) {
        const struct app_span *span = &history->span[s];
        if (span->to <= curves->from || span->from >= curves->to) continue;
        timeline_columns(app->tl, span->space, curves->from, curves->to, part, curves->count);
        for (size_t i = 0; i < curves->count; i++) {
            double begins = (double)curves->from + width * (double)i;
            if (begins + width > (double)span->from && begins < (double)span->to) curves->column[i] = part[i];
        }
    }
    free(part);
}

const struct timeline_column *app_curves_columns(struct app *app, uint64_t from, uint64_t to, size_t count) {
    struct app_curves *curves = curves_of(app);
    if (!curves || !count || to <= from) return NULL;
    if (curves->count == count && curves->from == from && curves->to == to && curves->pid == app->pid)
        return curves->column;
    if (count > curves->room) {
        struct timeline_column *more = realloc(curves->column, count * sizeof *more);
        if (!more) return NULL;
        curves->column = more;
        curves->room = count;
    }
    curves->from = from;
    curves->to = to;
    curves->count = count;
    curves->pid = app->pid;
    fill_columns(app, curves);
    return curves->column;
}

static struct thread_row *thread_row(struct app_curves *curves, int32_t tid) {
    for (size_t i = 0; i < curves->thread_count; i++)
        if (curves->thread[i].tid == tid) return &curves->thread[i];
    struct thread_row *more = realloc(curves->thread, (curves->thread_count + 1) * sizeof *more);
    if (!more) return NULL;
    curves->thread = more;
    more[curves->thread_count] = (struct thread_row){.tid = tid};
    return &more[curves->thread_count++];
}

const float *app_curves_thread(struct app *app, int32_t tid, uint64_t from, uint64_t to, size_t count) {
    struct app_curves *curves = curves_of(app);
    struct thread_row *row = curves ? thread_row(curves, tid) : NULL;
    if (!row || !count || to <= from) return NULL;
    if (row->count == count && row->from == from && row->to == to) return row->share;
    if (count > row->room) {
        float *more = realloc(row->share, count * sizeof *more);
        if (!more) return NULL;
        row->share = more;
        row->room = count;
    }
    row->from = from;
    row->to = to;
    row->count = count;
    timeline_thread_columns(app->tl, tid, from, to, row->share, count);
    return row->share;
}

/* --- sparklines --- */

static size_t slot_of(uint32_t space, uint64_t start, uint64_t end) {
    uint64_t h = (start ^ end * 0x9e3779b97f4a7c15u ^ space) * 0xff51afd7ed558ccdu;
    return (size_t)(h >> 32) % (SPARKS * 2);
}

static void drop_sparks(struct app_curves *curves) {
    for (size_t i = 0; curves->spark && i < SPARKS * 2; i++) {
        free(curves->spark[i]);
        curves->spark[i] = NULL;
    }
    curves->spark_count = 0;
}

const struct timeline_region_column *app_curves_spark(struct app *app, uint64_t start, uint64_t end) {
    struct app_curves *curves = curves_of(app);
    if (!curves || !app->duration || !app->space_id) return NULL;
    if (!curves->spark) curves->spark = calloc(SPARKS * 2, sizeof *curves->spark);
    if (!curves->spark) return NULL;
    size_t slot = slot_of(app->space_id, start, end);
    for (; curves->spark[slot]; slot = (slot + 1) % (SPARKS * 2)) {
        const struct spark *spark = curves->spark[slot];
        if (spark->space == app->space_id && spark->start == start && spark->end == end) return spark->column;
    }
    if (!app_budget_left(app)) {
        app->redraw = true;
        return NULL;
    }
    if (curves->spark_count == SPARKS) {
        drop_sparks(curves);
        slot = slot_of(app->space_id, start, end);
    }
    struct spark *spark = calloc(1, sizeof *spark);
    if (!spark) return NULL;
    spark->space = app->space_id;
    spark->start = start;
    spark->end = end;
    timeline_region_columns(app->tl, app->space_id, start, end, 0, app->duration, spark->column, APP_CURVES_SPARK);
    curves->spark[slot] = spark;
    curves->spark_count++;
    return spark->column;
}

/* --- pages written in each frame --- */

static uint32_t pages_written(const struct app *app, const struct vmv_event *event, uint64_t start, uint64_t end) {
    uint64_t from = event->addr > start ? event->addr : start, to = event->addr + event->len;
    if (to > end) to = end;
    if (!(event->page_flags & VMV_PAGEF_WRITTEN) || to <= from) return 0;
    uint64_t unit = event->page_flags & VMV_PAGEF_HUGE ? app_huge_bytes(app->world->page_size) : app->world->page_size;
    return (uint32_t)((to - 1) / unit - from / unit + 1);
}

/* What frames say of pages carries the frame's own time. */
static void count_frames(struct app *app, size_t first, size_t end) {
    const struct timeline_frame *frame = app->history->frame;
    struct timeline_filter filter = {.addr = app->curves->chart.start, .end = app->curves->chart.end};
    filter.space = app->space_id;
    filter.from = frame[first].t;
    filter.to = frame[end - 1].t + 1;
    timeline_filter_type(&filter, VMV_EV_PAGES);
    struct timeline_cursor *cursor = timeline_cursor_create(app->tl, &filter);
    if (!cursor) return;
    if (filter.from > 0) timeline_cursor_seek(cursor, filter.from - 1);
    size_t i = first;
    for (const struct vmv_event *event; (event = timeline_cursor_next(cursor));) {
        while (i < end && frame[i].t < event->t) i++;
        if (i < end && frame[i].t == event->t)
            app->curves->chart.written[i] += pages_written(app, event, filter.addr, filter.end);
    }
    timeline_cursor_destroy(cursor);
}

static bool chart_begin(struct app *app, uint64_t start, uint64_t end) {
    struct app_curves *curves = app->curves;
    size_t count = app->history->frame_count;
    bool same = curves->chart.pid == app->pid && curves->chart.space == app->space_id && curves->chart.start == start &&
                curves->chart.end == end && curves->chart.count == count;
    if (same && curves->chart.written) return true;
    free(curves->chart.written);
    curves->chart.pid = app->pid;
    curves->chart.space = app->space_id;
    curves->chart.start = start;
    curves->chart.end = end;
    curves->chart.count = count;
    curves->chart.done = 0;
    curves->chart.written = calloc(count, sizeof *curves->chart.written);
    return curves->chart.written != NULL;
}

const uint32_t *app_curves_frames(struct app *app, uint64_t start, uint64_t end, size_t *done) {
    enum { AT_ONCE = 16 };
    struct app_curves *curves = curves_of(app);
    *done = 0;
    if (!curves || !app->space_id || !app->history || !app->history->frame_count) return NULL;
    if (!chart_begin(app, start, end)) return NULL;
    while (curves->chart.done < curves->chart.count && app_budget_left(app)) {
        size_t next = curves->chart.done + AT_ONCE;
        if (next > curves->chart.count) next = curves->chart.count;
        count_frames(app, curves->chart.done, next);
        curves->chart.done = next;
    }
    if (curves->chart.done < curves->chart.count) app->redraw = true;
    *done = curves->chart.done;
    return curves->chart.written;
}

uint64_t app_curves_faults(struct app *app, uint64_t from, uint64_t to) {
    struct app_curves *curves = curves_of(app);
    if (!curves || to <= from || !app->space_id) return 0;
    if (curves->faults.space == app->space_id && curves->faults.from == from && curves->faults.to == to)
        return curves->faults.count;
    struct timeline_filter filter = {.space = app->space_id, .from = from + 1, .to = to + 1};
    timeline_filter_type(&filter, VMV_EV_FAULT);
    struct timeline_cursor *cursor = timeline_cursor_create(app->tl, &filter);
    if (!cursor) return 0;
    curves->faults.space = app->space_id;
    curves->faults.from = from;
    curves->faults.to = to;
    curves->faults.count = 0;
    timeline_cursor_seek(cursor, from);
    while (timeline_cursor_next(cursor)) curves->faults.count++;
    timeline_cursor_destroy(cursor);
    return curves->faults.count;
}

void app_curves_free(struct app *app) {
    struct app_curves *curves = app->curves;
    if (!curves) return;
    drop_sparks(curves);
    for (size_t i = 0; i < curves->thread_count; i++) free(curves->thread[i].share);
    free(curves->thread);
    free(curves->spark);
    free(curves->column);
    free(curves->chart.written);
    free(curves);
    app->curves = NULL;
}
