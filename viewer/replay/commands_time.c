/* Commands that move in time. */
#include "app_search.h"
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct app *app_of(void *replay) { return &((struct replay *)replay)->app; }

static bool fail(char *error, const char *why) {
    snprintf(error, UI_ERROR_SIZE, "%s", why);
    return false;
}

/* Tells a time that does not exist from one that is malformed. */
static bool read_time(struct replay *replay, const char *text, uint64_t *t, char *error) {
    uint64_t seq;
    return timeline_time(replay->app.tl, text, t, &seq, &replay->missing, error, UI_ERROR_SIZE);
}

bool command_seek(void *replay, const struct ui_args *args, char *error) {
    uint64_t t;
    if (!read_time(replay, args->arg[0].text, &t, error)) return false;
    app_of(replay)->playing = false;
    return app_seek_text(app_of(replay), args->arg[0].text, error);
}

bool command_frame(void *replay, const struct ui_args *args, char *error) {
    int64_t step = args->arg[0].integer;
    app_of(replay)->playing = false;
    for (int64_t i = 0; i < llabs(step); i++)
        if (!app_step_frame(app_of(replay), step < 0 ? -1 : 1))
            return fail(error, step < 0 ? "this is the first frame" : "this is the last frame");
    return true;
}

/* Events that happened, not the carriers of state. */
static void filter_events(struct timeline_filter *filter) {
    for (int type = 1; type < VMV_EV_SPACE; type++)
        if (vmv_event_name((enum vmv_event_type)type)) timeline_filter_type(filter, (enum vmv_event_type)type);
}

/* Several events may share a time: their numbers tell them apart. */
static bool step_event(struct app *app, bool forwards) {
    struct app_question question = {.key = APP_ASK_STEP, .t = app->t, .forwards = forwards};
    filter_events(&question.filter);
    question.filter.space = app->space_id;
    question.by_seq = true;
    /* Sought by time, the moment stands after all events of its time. */
    question.seq = app->seq;
    if (app->seq == UINT64_MAX && forwards) question.by_seq = false;
    if (app->seq == UINT64_MAX && !forwards) {
        question.by_seq = false;
        const struct app_found *here = app_ask(app, &question);
        if (!here->found) return false;
        if (here->event.t < app->t) {
            app_seek_seq(app, here->event.seq, here->event.t);
            return true;
        }
        question.by_seq = true;
        question.seq = here->event.seq;
    }
    const struct app_found *found = app_ask(app, &question);
    if (!found->found) return false;
    app_seek_seq(app, found->event.seq, found->event.t);
    return true;
}

bool command_event(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    int64_t step = args->arg[0].integer;
    bool patient = app->patient, done = true;
    app->playing = false;
    app->patient = true; /* one step is short: events lie close together where there are many */
    for (int64_t i = 0; i < llabs(step) && done; i++) done = step_event(app, step > 0);
    app->patient = patient;
    app_view_follow(app);
    return done || fail(error, step < 0 ? "there is no event before" : "there is no event after");
}

bool command_change(void *replay, const struct ui_args *args, char *error) {
    app_of(replay)->playing = false;
    return replay_change_begin(replay, args->arg[0].integer < 0 ? -1 : 1, error);
}

/* --- playing --- */

bool command_play(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    int direction = app->playing ? 0 : 1;
    (void)error;
    if (args->count) {
        int wanted = args->arg[0].integer < 0 ? -1 : args->arg[0].integer > 0;
        direction = app->playing && app->direction == wanted ? 0 : wanted;
    }
    app_play(app, direction);
    return true;
}

bool command_speed(void *replay, const struct ui_args *args, char *error) {
    if (!(args->arg[0].number > 0)) return fail(error, "speed: a factor above 0 is needed");
    app_set_speed(app_of(replay), args->arg[0].number);
    return true;
}

bool command_faster(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    if (!(args->arg[0].number > 0)) return fail(error, "faster: a factor above 0 is needed");
    app_set_speed(app, app->speed * args->arg[0].number);
    app_say(app, false, "speed \xc3\x97%g", app->speed);
    return true;
}

/* --- bookmarks --- */

bool command_bookmark(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    struct app_bookmarks *marks = &app->bookmarks;
    size_t at = 0;
    (void)args;
    while (at < marks->count && marks->t[at] < app->t) at++;
    if (at < marks->count && marks->t[at] == app->t) {
        memmove(&marks->t[at], &marks->t[at + 1], (marks->count - at - 1) * sizeof *marks->t);
        marks->count--;
        return true;
    }
    if (marks->count == marks->room) {
        size_t room = marks->room ? marks->room * 2 : 16;
        uint64_t *more = realloc(marks->t, room * sizeof *more);
        if (!more) return fail(error, "out of memory");
        marks->t = more;
        marks->room = room;
    }
    memmove(&marks->t[at + 1], &marks->t[at], (marks->count - at) * sizeof *marks->t);
    marks->t[at] = app->t;
    marks->count++;
    return true;
}

bool command_bookmark_step(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    bool forwards = args->arg[0].integer > 0, found = false;
    uint64_t best = 0;
    size_t count = 0;
    const struct vmv_event *landmark = timeline_landmarks(app->tl, &count);
    for (size_t i = 0; i < count + app->bookmarks.count; i++) {
        if (i < count && landmark[i].type != VMV_EV_MARK) continue;
        uint64_t t = i < count ? landmark[i].t : app->bookmarks.t[i - count];
        if (forwards ? t <= app->t || (found && t >= best) : t >= app->t || (found && t <= best)) continue;
        best = t;
        found = true;
    }
    if (!found) return fail(error, forwards ? "no bookmark or mark after" : "no bookmark or mark before");
    app_seek(app, best);
    app_view_follow(app);
    return true;
}

/* --- what the timeline shows --- */

bool command_time_zoom(void *replay, const struct ui_args *args, char *error) {
    (void)error;
    view_timeline_zoom(app_of(replay), args->arg[0].number);
    return true;
}

bool command_time_fit(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    (void)args;
    (void)error;
    if (app->span_set)
        app_view_show(app, (double)app->span_from, (double)app->span_to, UI_FIT_MS);
    else
        app_view_show(app, 0, (double)app->duration, UI_FIT_MS);
    return true;
}

bool command_span(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    uint64_t from, to;
    if (!args->count) {
        app->span_set = false;
        return true;
    }
    if (args->count < 2) return fail(error, "span: needs from and to, or neither");
    if (!read_time(replay, args->arg[0].text, &from, error) || !read_time(replay, args->arg[1].text, &to, error))
        return false;
    if (from >= to) return fail(error, "span: from has to lie before to");
    app->span_from = from;
    app->span_to = to;
    app->span_set = true;
    return true;
}
