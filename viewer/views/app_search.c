#include "app_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BUDGET_NS 5000000.0
#define WINDOW_EVENTS 4096 /* the first window holds about so many events */
#define KEPT 64            /* answers kept */

struct app_search {
    struct app_question question;
    struct app_found found;
    uint64_t window; /* ns: length of the next one */
    uint64_t used;   /* clock of the last question, for throwing out */
};

static double clock_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

void app_budget_begin(struct app *app) {
    app->budget_ns = clock_ns() + BUDGET_NS;
    app->search_clock++;
}

bool app_budget_left(const struct app *app) { return app->patient || clock_ns() < app->budget_ns; }

/* --- one search --- */

static uint64_t first_window(const struct app *app) {
    double events = (double)timeline_event_count(app->tl) + 1;
    double window = (double)app->duration * WINDOW_EVENTS / events;
    return window < 1e6 ? 1000000 : (uint64_t)window;
}

static void search_begin(struct app *app, struct app_search *search, const struct app_question *question) {
    search->question = *question;
    search->found = (struct app_found){.searching = true, .reached = question->t};
    search->window = first_window(app);
}

static void take(struct app_search *search, const struct vmv_event *event) {
    struct app_found *found = &search->found;
    found->searching = false;
    found->found = event != NULL;
    if (!event) return;
    found->event = *event;
    found->event.maps = NULL;
    found->event.map_count = 0;
    found->event.argv = NULL;
    found->event.argc = 0;
    snprintf(found->name, sizeof found->name, "%s", event->name ? event->name : "");
    found->event.name = found->name;
}

static bool passes(const struct app_question *question, const struct vmv_event *event) {
    if (question->by_seq && question->forwards && event->seq <= question->seq) return false;
    if (question->by_seq && !question->forwards && event->seq >= question->seq) return false;
    return !question->accept || question->accept(event, &question->filter);
}

/* Look through [from, to) in the direction of the question; true when something was found. */
static bool look(struct app *app, struct app_search *search, uint64_t from, uint64_t to) {
    struct timeline_filter filter = search->question.filter;
    filter.from = from;
    filter.to = to;
    struct timeline_cursor *cursor = timeline_cursor_create(app->tl, &filter);
    if (!cursor) return false;
    bool forwards = search->question.forwards;
    const struct vmv_event *event = NULL;
    if (forwards && from > 0) timeline_cursor_seek(cursor, from - 1);
    if (!forwards) timeline_cursor_seek(cursor, to - 1);
    do {
        event = forwards ? timeline_cursor_next(cursor) : timeline_cursor_previous(cursor);
    } while (event && !passes(&search->question, event));
    if (event) take(search, event);
    timeline_cursor_destroy(cursor);
    return event != NULL;
}

static void step_back(struct app *app, struct app_search *search) {
    uint64_t to = search->found.reached, limit = search->question.filter.from;
    uint64_t from = to > search->window ? to - search->window : 0;
    if (from < limit) from = limit;
    if (look(app, search, from, to + 1)) return;
    if (from <= limit)
        take(search, NULL);
    else
        search->found.reached = from - 1;
}

static void step_on(struct app *app, struct app_search *search) {
    uint64_t limit = app->duration;
    if (search->question.filter.to && search->question.filter.to < limit) limit = search->question.filter.to;
    uint64_t from = search->found.reached + (search->question.by_seq ? 0 : 1);
    uint64_t to = limit > search->window && from < limit - search->window ? from + search->window : limit + 1;
    if (from < to && look(app, search, from, to)) return;
    if (to > limit)
        take(search, NULL);
    else
        search->found.reached = to - (search->question.by_seq ? 0 : 1);
}

static void search_run(struct app *app, struct app_search *search) {
    while (search->found.searching) {
        if (search->question.forwards)
            step_on(app, search);
        else
            step_back(app, search);
        if (search->window < UINT64_MAX / 4) search->window *= 2;
        if (!app_budget_left(app)) break;
    }
}

/* --- answers kept --- */

static bool same_filter(const struct timeline_filter *a, const struct timeline_filter *b) {
    return a->types[0] == b->types[0] && a->types[1] == b->types[1] && a->space == b->space && a->pid == b->pid &&
           a->tid == b->tid && a->addr == b->addr && a->end == b->end && a->from == b->from && a->to == b->to;
}

static bool still_valid(const struct app_search *search, const struct app_question *question) {
    const struct app_question *asked = &search->question;
    if (!same_filter(&asked->filter, &question->filter) || asked->accept != question->accept) return false;
    if (asked->forwards != question->forwards || asked->by_seq != question->by_seq) return false;
    if (asked->t == question->t && (!asked->by_seq || asked->seq == question->seq)) return true;
    if (asked->by_seq || search->found.searching) return false;
    if (asked->forwards) {
        return question->t > asked->t && (!search->found.found || question->t < search->found.event.t);
    }
    return question->t < asked->t && (!search->found.found || question->t >= search->found.event.t);
}

static struct app_search *fresh(struct app *app) {
    if (app->search_count == KEPT) {
        struct app_search *oldest = app->searches[0];
        for (size_t i = 1; i < KEPT; i++)
            if (app->searches[i]->used < oldest->used) oldest = app->searches[i];
        return oldest;
    }
    if (app->search_count == app->search_room) {
        struct app_search **more = realloc(app->searches, KEPT * sizeof *more);
        if (!more) return NULL;
        app->searches = more;
        app->search_room = KEPT;
    }
    struct app_search *search = calloc(1, sizeof *search);
    if (search) app->searches[app->search_count++] = search;
    return search;
}

const struct app_found *app_ask(struct app *app, const struct app_question *question) {
    static const struct app_found nothing;
    struct app_search *search = NULL;
    for (size_t i = 0; i < app->search_count && !search; i++)
        if (app->searches[i]->question.key == question->key) search = app->searches[i];
    if (!search) {
        search = fresh(app);
        if (!search) return &nothing;
        search_begin(app, search, question);
    } else if (!still_valid(search, question)) {
        search_begin(app, search, question);
    }
    search->used = app->search_clock;
    if (search->found.searching && app_budget_left(app)) search_run(app, search);
    if (search->found.searching) app->redraw = true;
    return &search->found;
}

bool app_searching(const struct app *app) {
    for (size_t i = 0; i < app->search_count; i++)
        if (app->searches[i]->used == app->search_clock && app->searches[i]->found.searching) return true;
    return false;
}

void app_search_free(struct app *app) {
    for (size_t i = 0; i < app->search_count; i++) free(app->searches[i]);
    free(app->searches);
    app->searches = NULL;
    app->search_count = app->search_room = 0;
}
