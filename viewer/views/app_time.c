/* The moment: going to it, stepping, playing, and the part of the recording that the timeline shows. */
#include "app_history.h"
#include "app_internal.h"
#include "app_regions.h"
#include "app_search.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- seeking --- */

static const struct vmv_space *space_of_moment(const struct app *app) {
    uint32_t id = app->history ? app_history_space(app->history, app->t) : 0;
    const struct vmv_process *process = vmv_world_process(app->world, app->pid);
    if (!id && process) id = process->space ? process->space : process->last_space;
    return id ? vmv_world_space(app->world, id) : NULL;
}

void app_moment_changed(struct app *app) {
    app->space = space_of_moment(app);
    app->space_id = app->space ? app->space->id : 0;
    app_regions_invalidate(app);
    app->moment++;
}

void app_seek(struct app *app, uint64_t t) {
    if (t > app->duration) t = app->duration;
    app->world = timeline_seek(app->tl, t);
    app->t = t;
    app->seq = UINT64_MAX;
    app->play_ms = app->now_ms;
    app->play_t = (double)t;
    app_moment_changed(app);
}

void app_seek_last_frame(struct app *app) { app_seek(app, app_last_moment(app)); }

void app_seek_seq(struct app *app, uint64_t seq, uint64_t t) {
    app->world = timeline_seek_seq(app->tl, seq);
    app->t = t > app->duration ? app->duration : t;
    app->seq = seq;
    app->play_ms = app->now_ms;
    app->play_t = (double)app->t;
    app_moment_changed(app);
}

bool app_seek_text(struct app *app, const char *text, char *error) {
    uint64_t t = 0, seq = UINT64_MAX;
    bool missing = false;
    if (!timeline_time(app->tl, text, &t, &seq, &missing, error, UI_ERROR_SIZE)) return false;
    if (!strcmp(text, "start")) t = app_first_moment(app);
    if (!strcmp(text, "end")) t = app_last_moment(app);
    if (seq != UINT64_MAX)
        app_seek_seq(app, seq, t);
    else
        app_seek(app, t);
    app_view_follow(app);
    return true;
}

/* --- the ends of a process --- */

static bool is_made_here(const struct app *app, const struct app_span *span) {
    size_t count = 0;
    const struct vmv_event *landmark = timeline_landmarks(app->tl, &count);
    for (size_t i = 0; i < count && landmark[i].t <= span->from; i++)
        if (landmark[i].type == VMV_EV_FORK && landmark[i].child_space == span->space) return false;
    return true;
}

/* When the space got its first mapping: a forked one has them from its beginning. */
static bool first_mapping(const struct app *app, const struct app_span *span, uint64_t *t) {
    *t = span->from;
    if (!is_made_here(app, span)) return true;
    struct timeline_filter filter = {.space = span->space};
    if (app->history->frame_count) filter.to = app->history->frame[0].t + 1;
    timeline_filter_type(&filter, VMV_EV_MAPS);
    timeline_filter_type(&filter, VMV_EV_MMAP);
    struct timeline_cursor *cursor = timeline_cursor_create(app->tl, &filter);
    const struct vmv_event *event = cursor ? timeline_cursor_next(cursor) : NULL;
    if (event) *t = event->t;
    timeline_cursor_destroy(cursor);
    return event != NULL;
}

uint64_t app_first_moment(const struct app *app) {
    const struct app_history *history = app->history;
    uint64_t t = 0;
    if (!history) return 0;
    if (history->frame_count && history->frame[0].why == VMV_FRAME_EXEC) return history->frame[0].t;
    if (history->span_count && first_mapping(app, &history->span[0], &t)) return t;
    return history->frame_count ? history->frame[0].t : t;
}

uint64_t app_last_moment(const struct app *app) {
    const struct app_history *history = app->history;
    if (!history) return app->duration;
    if (history->frame_count) return history->frame[history->frame_count - 1].t;
    if (!history->span_count) return app->duration;
    const struct app_span *last = &history->span[history->span_count - 1];
    /* A span ends just after the exit, with which the memory went. */
    return last->to > app->duration ? app->duration : last->to < 2 ? 0 : last->to - 2;
}

bool app_alive(const struct app *app) { return app->space && app->space->map_count > 0; }

/* --- frames and events --- */

const struct timeline_frame *app_frame(const struct app *app) {
    long i = app->history ? app_history_frame(app->history, app->t) : -1;
    return i < 0 ? NULL : &app->history->frame[i];
}

bool app_frame_interval(const struct app *app, uint64_t *from, uint64_t *to) {
    long i = app->history ? app_history_frame(app->history, app->t) : -1;
    if (i < 0) return false;
    *from = i > 0 ? app->history->frame[i - 1].t : 0;
    *to = app->history->frame[i].t;
    return true;
}

bool app_step_frame(struct app *app, int step) {
    if (!app->history) return false;
    long i = app_history_frame(app->history, app->t);
    if (step < 0 && i >= 0 && app->history->frame[i].t == app->t) i--;
    if (step > 0) i++;
    if (i < 0 || i >= (long)app->history->frame_count) return false;
    app_seek(app, app->history->frame[i].t);
    app_view_follow(app);
    return true;
}

/* --- playing --- */

void app_play(struct app *app, int direction) {
    app->playing = direction != 0;
    if (direction) app->direction = direction;
    /* From the end (or, backwards, the start) it begins anew. */
    uint64_t first = app_first_moment(app), last = app_last_moment(app);
    if (direction > 0 && app->t >= last) app_seek(app, first);
    if (direction < 0 && app->t <= first) app_seek(app, last);
    app->play_ms = app->now_ms;
    app->play_t = (double)app->t;
    app->redraw = true;
}

void app_set_speed(struct app *app, double speed) {
    app->play_ms = app->now_ms;
    app->play_t = (double)app->t;
    app->speed = fmin(fmax(speed, 1e-6), 1e4);
}

bool app_play_tick(struct app *app) {
    if (!app->playing) return false;
    double ms = app->now_ms - app->play_ms;
    double t = app->play_t + ms * 1e6 * app->speed * app->direction;
    double from = app->play_t, from_ms = app->play_ms;
    uint64_t end = app->direction < 0 ? app_first_moment(app) : app_last_moment(app);
    bool ends = app->direction < 0 ? t <= (double)end : t >= (double)end;
    if (t < 0) t = 0;
    if ((uint64_t)t == app->t && !ends) return false;
    app_seek(app, ends ? end : (uint64_t)t);
    app->play_t = from; /* counted from where playing began, so that rounding does not add up */
    app->play_ms = from_ms;
    if (ends) app->playing = false;
    app_view_follow(app);
    return true;
}

/* --- what the timeline shows --- */

#define NARROWEST 1000.0 /* ns */

void app_view_range(const struct app *app, double *from, double *to) {
    *from = ui_anim_value(&app->view_from, app->now_ms);
    *to = ui_anim_value(&app->view_to, app->now_ms);
    if (*to < *from + 1) *to = *from + 1;
}

void app_view_show(struct app *app, double from, double to, double ms) {
    double all = app->duration ? (double)app->duration : 1;
    double length = fmin(fmax(to - from, fmin(NARROWEST, all)), all);
    double middle = (from + to) / 2;
    if (to - from > 0 && to - from <= all && to - from >= length) middle = from + length / 2;
    from = fmin(fmax(middle - length / 2, 0), all - length);
    ui_anim_go(&app->view_from, from, app->now_ms, app_ms(app, ms));
    ui_anim_go(&app->view_to, from + length, app->now_ms, app_ms(app, ms));
    app->redraw = true;
}

void app_view_follow(struct app *app) {
    double from = app->view_from.to, to = app->view_to.to, t = (double)app->t;
    if (t >= from && t <= to) return;
    double length = to - from;
    double start = t < from ? t - length * 0.1 : t - length * 0.9;
    if (app->playing) start = app->direction > 0 ? t - length * 0.05 : t - length * 0.95;
    app_view_show(app, start, start + length, app->playing ? 0 : UI_FIT_MS);
}
