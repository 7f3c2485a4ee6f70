/* How certain the moment is: every resident page of the space, asked for its certainty, as many in each picture as its
 * share of time allows. */
#include "app_internal.h"
#include "app_regions.h"
#include "app_search.h"

#include <stdlib.h>

struct app_census_walk {
    uint64_t moment; /* app->moment it was begun for */
    size_t map;      /* index of the mapping */
    uint64_t addr;
    bool begun;
};

/* Counts pages of one mapping from walk->addr on; true when it is done. */
static bool walk_mapping(struct app *app, struct app_census_walk *walk, uint64_t end) {
    struct timeline_census found = {0};
    int steps = 0;
    bool more = true, time = true;
    while (time && (more = timeline_census(app->tl, app->space_id, &walk->addr, end, &found)))
        if (++steps % 16 == 0) time = app_budget_left(app);
    app->census.exact += found.exact;
    app->census.stale += found.stale;
    app->census.torn += found.torn;
    app->census.unknown += found.unknown;
    return !more;
}

static void walk_on(struct app *app, struct app_census_walk *walk) {
    for (; walk->map < app->space->map_count; walk->map++) {
        const struct vmv_mapping *map = &app->space->maps[walk->map];
        if (walk->addr < map->start) walk->addr = map->start;
        if (!walk_mapping(app, walk, map->end)) return;
    }
    app->census.complete = true;
}

struct app_census app_census(struct app *app) {
    if (!app->census_walk) app->census_walk = calloc(1, sizeof *app->census_walk);
    struct app_census_walk *walk = app->census_walk;
    if (!walk || !app->space) return (struct app_census){.complete = true};
    if (!walk->begun || walk->moment != app->moment) {
        *walk = (struct app_census_walk){.begun = true, .moment = app->moment};
        app->census = (struct app_census){0};
    }
    /* While time runs, counts would never be finished: they wait until it stands still. */
    bool moving = app->playing && !app->patient;
    if (!app->census.complete && !moving && app_budget_left(app)) walk_on(app, walk);
    if (!app->census.complete && !moving) app->redraw = true;
    return app->census;
}

void app_census_free(struct app *app) {
    free(app->census_walk);
    app->census_walk = NULL;
}
