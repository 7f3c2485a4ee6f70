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

static void count(struct app_census *census, enum vmv_certainty certainty) {
    switch (certainty) {
    case VMV_CERT_EXACT:
        census->exact++;
        break;
    case VMV_CERT_TORN:
        census->torn++;
        break;
    case VMV_CERT_STALE:
    case VMV_CERT_PARTIAL:
        census->stale++;
        break;
    default:
        census->unknown++;
        break;
    }
}

/* Counts pages of one mapping from walk->addr on; true when it is done. */
static bool walk_mapping(struct app *app, struct app_census_walk *walk, uint64_t end) {
    const struct vmv_page *page;
    uint64_t step = app->space->page_size;
    int counted = 0;
    while ((page = vmv_space_page_next(app->space, &walk->addr, end))) {
        if (app_page_resident(page) || page->state == VMV_PAGE_SWAPPED)
            count(&app->census, timeline_page(app->tl, app->space_id, walk->addr).certainty);
        if (walk->addr > UINT64_MAX - step) return true;
        walk->addr += step;
        if (++counted % 256 == 0 && !app_budget_left(app)) return false;
    }
    return true;
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
