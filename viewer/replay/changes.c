/* The next and previous change of the selection. Of bytes within one page: captures whose bytes differ from those of
 * the capture before. Of anything larger: any event that changed it. */
#include "app_search.h"
#include "replay.h"

#include <stdio.h>
#include <string.h>

static bool by_bytes(const struct app *app, struct app_place place) {
    uint64_t page = app->world->page_size;
    return place.kind == APP_PLACE_BYTES && place.addr % page + place.len <= page;
}

static bool is_change(const struct vmv_event *event, const struct timeline_filter *filter) {
    (void)filter;
    switch (event->type) {
    case VMV_EV_FAULT:
        return event->kind != VMV_FAULT_UNKNOWN || event->access == VMV_ACCESS_WRITE;
    case VMV_EV_PAGES:
        return event->page_flags & VMV_PAGEF_WRITTEN;
    default:
        return event->ret >= 0;
    }
}

static struct app_question question_of(const struct app *app, const struct change_search *change) {
    static const enum vmv_event_type any[] = {VMV_EV_MMAP,    VMV_EV_MUNMAP, VMV_EV_MREMAP, VMV_EV_MPROTECT,
                                              VMV_EV_MADVISE, VMV_EV_BRK,    VMV_EV_SHMAT,  VMV_EV_SHMDT,
                                              VMV_EV_FAULT,   VMV_EV_PAGES,  VMV_EV_CONTENT};
    struct app_question question = {.key = APP_ASK_STEP + 1, .t = change->t, .forwards = change->step > 0};
    uint64_t start, end;
    if (by_bytes(app, change->place)) {
        timeline_filter_type(&question.filter, VMV_EV_CONTENT);
    } else {
        for (size_t i = 0; i < sizeof any / sizeof *any; i++) timeline_filter_type(&question.filter, any[i]);
        question.accept = is_change;
    }
    app_place_range(app, change->place, &start, &end);
    question.filter.space = app->space_id;
    question.filter.addr = start;
    question.filter.end = end;
    return question;
}

/* The contents number that the event gives the page of addr. */
static uint64_t content_of(const struct app *app, const struct vmv_event *event, uint64_t addr) {
    uint64_t page = app->world->page_size, index = (addr - event->addr) / page;
    return event->content + (event->content_step ? index : 0);
}

/* The selected bytes of a page's contents; false: they are the file's, or cannot be read. */
static bool bytes_of(struct app *app, uint64_t content, struct app_place place, uint8_t *out) {
    uint8_t page[65536];
    if (content == VMV_CONTENT_ZERO) {
        memset(out, 0, place.len);
        return true;
    }
    if (content < VMV_CONTENT_FIRST || app->world->page_size > sizeof page) return false;
    if (!vmv_reader_page(timeline_reader(app->tl), content, page)) return false;
    memcpy(out, page + place.addr % app->world->page_size, place.len);
    return true;
}

static bool same_bytes(struct app *app, uint64_t a, uint64_t b, struct app_place place) {
    uint8_t left[65536], right[65536];
    if (a == b) return true;
    if (!bytes_of(app, a, place, left) || !bytes_of(app, b, place, right)) return false;
    return !memcmp(left, right, place.len);
}

static void arrive(struct replay *replay, uint64_t t) {
    replay->change.active = false;
    app_seek(&replay->app, t);
    app_view_follow(&replay->app);
}

/* A capture was found; true when it, or the one before, is the change looked for. */
static bool judge(struct replay *replay, const struct vmv_event *event) {
    struct app *app = &replay->app;
    struct change_search *change = &replay->change;
    uint64_t content = content_of(app, event, change->place.addr), at = event->t;
    bool known = change->have_last, differs = known && !same_bytes(app, content, change->last_content, change->place);
    uint64_t last_t = change->last_t;
    change->have_last = true;
    change->last_t = at;
    change->last_content = content;
    if (change->step > 0) {
        change->t = at;
        if (known && !differs) return false;
        arrive(replay, at);
        return true;
    }
    change->t = at ? at - 1 : 0;
    if (!differs) return false;
    arrive(replay, last_t);
    return true;
}

static void nothing(struct replay *replay) {
    struct change_search *change = &replay->change;
    change->active = false;
    /* Backwards: the first capture is where the value is known from. */
    if (change->step < 0 && change->have_last)
        arrive(replay, change->last_t);
    else
        app_say(&replay->app, true, change->step < 0 ? "no change before" : "no change after");
}

void replay_change_go_on(struct replay *replay) {
    struct app *app = &replay->app;
    struct change_search *change = &replay->change;
    while (change->active) {
        struct app_question question = question_of(app, change);
        const struct app_found *found = app_ask(app, &question);
        if (found->searching) return;
        if (!found->found)
            nothing(replay);
        else if (by_bytes(app, change->place))
            judge(replay, &found->event);
        else
            arrive(replay, found->event.t);
        if (change->active && change->step < 0 && change->t == 0 && change->last_t == 0) nothing(replay);
        if (change->active && !app_budget_left(app)) {
            app->redraw = true;
            return;
        }
    }
}

bool replay_change_begin(struct replay *replay, int step, char *error) {
    struct app *app = &replay->app;
    uint64_t start, end;
    if (app->selection.kind == APP_PLACE_SPACE) {
        snprintf(error, UI_ERROR_SIZE, "select a mapping, a page or bytes first: [ and ] go to its changes");
        return false;
    }
    if (!app_place_range(app, app->selection, &start, &end) && app->selection.kind == APP_PLACE_GROUP) {
        snprintf(error, UI_ERROR_SIZE, "it is not mapped at this moment");
        return false;
    }
    replay->change = (struct change_search){.active = true, .step = step, .place = app->selection, .t = app->t};
    if (step < 0) replay->change.t = app->t ? app->t - 1 : 0;
    if (step > 0 && by_bytes(app, app->selection)) {
        struct timeline_page page = timeline_page(app->tl, app->space_id, app->selection.addr);
        replay->change.have_last = page.page.content != VMV_CONTENT_NONE;
        replay->change.last_content = page.page.content;
    }
    app->redraw = true;
    return true;
}
