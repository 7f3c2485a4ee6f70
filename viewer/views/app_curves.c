#include "app_curves.h"
#include "app_history.h"
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
    struct spark chart_key;
    struct timeline_region_column *chart;
    size_t chart_count;
    bool chart_valid;
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

const struct timeline_region_column *app_curves_chart(struct app *app, uint64_t start, uint64_t end, size_t count) {
    struct app_curves *curves = curves_of(app);
    if (!curves || !app->duration || !app->space_id || !count) return NULL;
    struct spark *key = &curves->chart_key;
    if (curves->chart_valid && curves->chart_count == count && key->space == app->space_id && key->start == start &&
        key->end == end)
        return curves->chart;
    struct timeline_region_column *more = realloc(curves->chart, count * sizeof *more);
    if (!more) return NULL;
    memset(more, 0, count * sizeof *more);
    curves->chart = more;
    curves->chart_count = count;
    *key = (struct spark){.space = app->space_id, .start = start, .end = end};
    curves->chart_valid = true;
    timeline_region_columns(app->tl, app->space_id, start, end, 0, app->duration, more, count);
    return curves->chart;
}

void app_curves_free(struct app *app) {
    struct app_curves *curves = app->curves;
    if (!curves) return;
    drop_sparks(curves);
    for (size_t i = 0; i < curves->thread_count; i++) free(curves->thread[i].share);
    free(curves->thread);
    free(curves->spark);
    free(curves->column);
    free(curves->chart);
    free(curves);
    app->curves = NULL;
}
