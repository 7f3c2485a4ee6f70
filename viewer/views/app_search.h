/* Finding one event before or after a moment. A search reads the recording in windows of time that grow, and stops
 * when the picture's share of time is used up; the next picture goes on. Answers are kept by key and stay valid while
 * the question is the same, or while a moment lies between the answer and where the search began. */
#ifndef APP_SEARCH_H
#define APP_SEARCH_H

#include "app.h"

/* Whether an event that passes the filter is the one looked for; NULL: each is. */
typedef bool app_search_accept(const struct vmv_event *event, const struct timeline_filter *filter);

enum app_question_key {
    APP_ASK_LANE_MAP = 1,
    APP_ASK_LANE_PROTECT,
    APP_ASK_LANE_THREAD,
    APP_ASK_MADE,
    APP_ASK_CHANGED,
    APP_ASK_TOUCHED,
    APP_ASK_WRITTEN,
    APP_ASK_STEP /* commands: event and change, before and after */
};

struct app_question {
    uint64_t key;                  /* who asks: one answer is kept for each */
    struct timeline_filter filter; /* from and to are limits of the search */
    app_search_accept *accept;
    uint64_t t; /* backwards: newest at or before t; forwards: oldest after t */
    bool forwards;
    bool by_seq; /* seq decides among events of the same t: backwards below it, forwards above it */
    uint64_t seq;
};

struct app_found {
    bool found;
    bool searching;         /* not decided yet; `reached` is how far the search has come */
    uint64_t reached;       /* ns */
    struct vmv_event event; /* of found; its strings are cut off but for name */
    char name[128];
};

/* The answer so far; it lives until the next call. */
const struct app_found *app_ask(struct app *app, const struct app_question *question);
/* A search is still going on. */
bool app_searching(const struct app *app);
/* Called at the start of a frame: what it may spend on searching, counting and curves. */
void app_budget_begin(struct app *app);
/* Time is left in this frame (always, when app->patient). */
bool app_budget_left(const struct app *app);
void app_search_free(struct app *app);

#endif
