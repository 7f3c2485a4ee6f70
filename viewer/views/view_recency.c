/* Colour of pages: time since the last write and the other colourings, with the state as the pattern. */
#include "app_regions.h"
#include "ui_format.h"
#include "views.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* --- the bounds --- */

static double weight(const uint64_t *sums, int from, int to) { return log1p((double)(sums[to] - sums[from])); }

/* Three of the bounds so that the pages spread over the four steps between and after them as evenly as can be: the sum
 * of logarithms is largest when each step has its share, and an empty step adds nothing. The first step is never empty;
 * of equals the smallest bounds are taken, so that an empty step is the oldest. */
static void choose_bounds(const struct app_ages *ages, uint64_t bound[3]) {
    uint64_t sums[APP_AGES + 2] = {0};
    int best[3] = {4, 5, 6}, lowest = 0; /* 100 ms, 300 ms, 1 s */
    double most = 0;
    for (int i = 0; i <= APP_AGES; i++) sums[i + 1] = sums[i] + ages->count[i];
    while (lowest < APP_AGES - 3 && !ages->count[lowest]) lowest++;
    for (int i = lowest; i < APP_AGES && sums[APP_AGES + 1]; i++)
        for (int j = i + 1; j < APP_AGES; j++)
            for (int k = j + 1; k < APP_AGES; k++) {
                double sum = weight(sums, 0, i + 1) + weight(sums, i + 1, j + 1) + weight(sums, j + 1, k + 1) +
                             weight(sums, k + 1, APP_AGES + 1);
                if (sum <= most + 1e-9) continue;
                most = sum;
                best[0] = i;
                best[1] = j;
                best[2] = k;
            }
    for (int i = 0; i < 3; i++) bound[i] = app_age_bound(best[i]);
}

const struct view_recency *view_recency(struct app *app) {
    const struct app_regions *regions = app_regions(app);
    if (app->recency_moment == app->moment + 1) return &app->recency;
    static const struct app_ages none;
    app->recency_moment = app->moment + 1;
    app->recency.frame_t = app->space ? app->space->last_frame_t : 0;
    choose_bounds(regions->ages ? regions->ages : &none, app->recency.bound);
    return &app->recency;
}

int view_recency_step(const struct view_recency *recency, uint64_t now, uint64_t written) {
    if (!written) return -1;
    if (recency->frame_t && written >= recency->frame_t) return 0;
    uint64_t age = now > written ? now - written : 0;
    for (int i = 0; i < 3; i++)
        if (age <= recency->bound[i]) return i + 1;
    return 4;
}

void view_recency_label(const struct view_recency *recency, int step, char *out, size_t size) {
    if (step >= 1 && step <= 3) {
        char span[UI_FORMAT_SIZE];
        ui_format_span(span, sizeof span, (int64_t)recency->bound[step - 1]);
        snprintf(out, size, "<%s", span);
    } else {
        snprintf(out, size, "%s", step < 0 ? "not" : step == 0 ? "now" : "older");
    }
}

/* --- pages --- */

ui_color view_age_color(struct app *app, const struct timeline_page *page, bool *never) {
    const struct view_recency *recency = view_recency(app);
    uint64_t captured = page->page.captured;
    *never = page->page.content == VMV_CONTENT_NONE;
    if (*never) return UI_DIM;
    if (recency->frame_t && captured >= recency->frame_t) return UI_INK;
    uint64_t age = app->t > captured ? app->t - captured : 0;
    return age < 100000000 ? UI_DIM : age < 1000000000 ? UI_FAINT : UI_GHOST;
}

static bool is_resident(const struct timeline_page *page) {
    return page->state == VMV_PAGE_RESIDENT || page->state == VMV_PAGE_ZERO;
}

static ui_color cell_color(struct app *app, const struct app_mapping *mapping, const struct timeline_page *page) {
    ui_color kind = view_kind_color(mapping->kind);
    bool flag = false;
    int step;
    switch (app->colour) {
    case APP_COLOUR_WRITTEN:
        step = view_recency_step(view_recency(app), app->t, page->page.written);
        return step < 0 ? UI_NOT_WRITTEN : ui_written_color(step);
    case APP_COLOUR_RESIDENCY:
        return UI_RESIDENT_LINE;
    case APP_COLOUR_PROTECTION:
        return view_protection_color(mapping->map->flags, &flag);
    case APP_COLOUR_AGE:
        return view_age_color(app, page, &flag);
    default:
        return kind;
    }
}

static enum ui_pattern state_pattern(const struct timeline_page *page) {
    switch (page->state) {
    case VMV_PAGE_ABSENT:
        return UI_PATTERN_DOT;
    case VMV_PAGE_ZERO:
        return UI_PATTERN_OUTLINE;
    case VMV_PAGE_SWAPPED:
        return UI_PATTERN_SWAPPED;
    case VMV_PAGE_GUARD:
        return UI_PATTERN_GUARD;
    case VMV_PAGE_RESIDENT:
        return view_certainty_pattern(page->certainty);
    default:
        return UI_PATTERN_UNKNOWN;
    }
}

/* attention, now .. older, not written, zero, dots, unknown. */
static int strength(struct app *app, const struct timeline_page *page, enum ui_pattern pattern) {
    if (pattern == UI_PATTERN_GUARD) return 10;
    if (pattern == UI_PATTERN_DOT) return 1;
    if (pattern == UI_PATTERN_OUTLINE) return 2;
    if (!is_resident(page) && page->state != VMV_PAGE_SWAPPED) return 1;
    int step = view_recency_step(view_recency(app), app->t, page->page.written);
    return step < 0 ? 3 : 9 - step;
}

struct view_cell view_page_cell(struct app *app, const struct app_mapping *mapping, const struct timeline_page *page) {
    struct view_cell cell = {cell_color(app, mapping, page), state_pattern(page), 0};
    if (mapping->guard) cell.pattern = UI_PATTERN_GUARD;
    if (cell.pattern == UI_PATTERN_GUARD) cell.color = UI_ATTENTION;
    if (cell.pattern == UI_PATTERN_DOT) cell.color = UI_RULE2;
    if (cell.pattern == UI_PATTERN_UNKNOWN) cell.color = UI_DIM;
    cell.strength = strength(app, page, cell.pattern);
    return cell;
}
