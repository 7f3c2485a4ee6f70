/* Bars of mappings: as long as the logarithm of their size, filled where pages are resident, at their real places. */
#include "app_regions.h"
#include "map.h"

#include <stdlib.h>
#include <string.h>

enum { BARS_MOST = 4096, WIDEST = 2048 };

void map_bars_free(struct map_bars *bars) {
    for (size_t i = 0; i < bars->count; i++) free(bars->bar[i].column);
    free(bars->bar);
    *bars = (struct map_bars){0};
}

/* --- counting ------------------------------------------------------------------------------------------------------
 * Of each column: how many of its pages are resident, and the page last written (or captured), which gives its colour
 * where colours tell of time. */

struct count {
    uint64_t resident;
    const struct vmv_page *page; /* one of them, the newest; NULL: none */
    const struct app_mapping *mapping;
};

enum { WALK_MOST = 2048 }; /* pages of a mapping that are looked at one by one */

static bool dated(const struct app *app) { return app->colour == APP_COLOUR_WRITTEN || app->colour == APP_COLOUR_AGE; }

static bool newer(const struct app *app, const struct vmv_page *a, const struct vmv_page *b) {
    return app->colour == APP_COLOUR_AGE ? a->captured > b->captured : a->written > b->written;
}

/* Where column i begins; columns divide the bar evenly. */
static uint64_t column_start(const struct map_bar *bar, int column) {
    return bar->start + (uint64_t)((double)(bar->end - bar->start) / bar->width * column);
}

static void take_page(const struct app *app, const struct app_mapping *mapping, const struct vmv_page *page,
                      struct count *count) {
    count->resident++;
    if (count->page && !newer(app, page, count->page)) return;
    count->page = page;
    count->mapping = mapping;
}

/* Every page, into all columns that it reaches. */
static void walk_pages(const struct app *app, const struct app_mapping *mapping, const struct map_bar *bar,
                       struct count *counts) {
    uint64_t addr = mapping->map->start, size = app->space->page_size, next = column_start(bar, 1);
    const struct vmv_page *page;
    int column = 0;
    while ((page = vmv_space_page_next(app->space, &addr, mapping->map->end))) {
        bool resident = app_page_resident(page) || page->state == VMV_PAGE_SWAPPED;
        while (column + 1 < bar->width && next <= addr) next = column_start(bar, ++column + 1);
        if (resident) take_page(app, mapping, page, &counts[column]);
        for (int i = column + 1; resident && next < addr + size && i < bar->width; i++) {
            if (column_start(bar, i) >= addr + size) break;
            take_page(app, mapping, page, &counts[i]);
        }
        if (addr > UINT64_MAX - size) break;
        addr += size;
    }
}

/* By whole tables of pages, where colours do not depend on the page. */
static void count_columns(const struct app *app, const struct app_mapping *mapping, const struct map_bar *bar,
                          struct count *counts) {
    for (int i = 0; i < bar->width; i++) {
        uint64_t from = column_start(bar, i), to = i + 1 < bar->width ? column_start(bar, i + 1) : bar->end;
        if (from < mapping->map->start) from = mapping->map->start;
        if (to > mapping->map->end) to = mapping->map->end;
        if (from >= to) continue;
        struct vmv_space_counts found = vmv_space_count(app->space, from, to);
        counts[i].resident += found.resident + found.swapped;
        if (!(found.resident + found.swapped) || counts[i].page) continue;
        counts[i].page = vmv_space_page_next(app->space, &from, to);
        counts[i].mapping = mapping;
    }
}

/* Pages that a column of the bar touches. */
static uint64_t pages_of(const struct map_bar *bar, int column, uint64_t page_size) {
    double width = (double)(bar->end - bar->start) / bar->width;
    uint64_t first = (uint64_t)(width * column) / page_size, last = (uint64_t)(width * (column + 1) - 1) / page_size;
    return last - first + 1;
}

static void fill_columns(struct app *app, struct map_bar *bar, const struct count *counts, bool unknown) {
    for (int i = 0; i < bar->width; i++) {
        struct map_bar_column *column = &bar->column[i];
        uint64_t pages = pages_of(bar, i, app->space->page_size), resident = counts[i].resident;
        column->full = (uint8_t)(resident >= pages ? 255 : resident ? 1 + resident * 253 / pages : 0);
        column->unknown = unknown && !counts[i].page;
        if (!counts[i].page) continue;
        /* Its certainty is not asked: residency and the last write are the page's own. */
        struct timeline_page page = {.page = *counts[i].page, .state = counts[i].page->state, .mapped = true};
        page.certainty = VMV_CERT_EXACT;
        column->color = view_page_cell(app, counts[i].mapping, &page).color;
        column->step = (int8_t)view_recency_step(view_recency(app), app->t, counts[i].page->written);
        column->huge = (counts[i].page->flags & VMV_PAGEF_HUGE) != 0;
    }
}

/* Nothing is known of the pages that were never heard of: one of them is asked. */
static bool rest_unknown(struct map_frame *frame, const struct app_mapping *mapping) {
    uint64_t addr = mapping->map->start, size = map_page_size(frame->app);
    uint64_t pages = (mapping->map->end - addr) / size;
    if (mapping->reserved || mapping->guard || mapping->known >= pages) return false;
    for (int i = 0; i < 64 && addr < mapping->map->end; i++, addr += size)
        if (!vmv_space_page_peek(frame->app->space, addr)) break;
    return map_page_at(frame, addr)->pattern == UI_PATTERN_UNKNOWN;
}

static void make(struct map_frame *frame, struct map_bar *bar, size_t first, size_t count) {
    const struct app_regions *regions = app_regions(frame->app);
    struct count *counts = calloc((size_t)bar->width, sizeof *counts);
    bar->column = calloc((size_t)bar->width, sizeof *bar->column);
    bool unknown = false;
    for (size_t i = first; counts && bar->column && i < first + count; i++) {
        const struct app_mapping *mapping = &regions->map[i];
        bool few = mapping->map->end - mapping->map->start <= (uint64_t)WALK_MOST * map_page_size(frame->app);
        if (mapping->known && (few || dated(frame->app)))
            walk_pages(frame->app, mapping, bar, counts);
        else if (mapping->known)
            count_columns(frame->app, mapping, bar, counts);
        unknown |= rest_unknown(frame, mapping);
    }
    if (counts && bar->column) fill_columns(frame->app, bar, counts, unknown);
    free(counts);
}

static const struct map_bar *bar_of(struct map_frame *frame, size_t first, size_t count, int width) {
    struct map_bars *bars = &frame->cache->bars;
    const struct app_regions *regions = app_regions(frame->app);
    if (bars->moment != frame->app->moment + 1 || bars->colour != frame->app->colour || bars->count >= BARS_MOST) {
        map_bars_free(bars);
        bars->moment = frame->app->moment + 1;
        bars->colour = frame->app->colour;
    }
    uint64_t start = regions->map[first].map->start, end = regions->map[first + count - 1].map->end;
    for (size_t i = 0; i < bars->count; i++)
        if (bars->bar[i].start == start && bars->bar[i].end == end && bars->bar[i].width == width) return &bars->bar[i];
    if (bars->count == bars->room) {
        size_t room = bars->room ? bars->room * 2 : 64;
        struct map_bar *grown = realloc(bars->bar, room * sizeof *grown);
        if (!grown) return NULL;
        bars->bar = grown;
        bars->room = room;
    }
    struct map_bar *bar = &bars->bar[bars->count++];
    *bar = (struct map_bar){.start = start, .end = end, .width = width};
    make(frame, bar, first, count);
    return bar;
}

/* --- drawing -------------------------------------------------------------------------------------------------------
 */

static bool alike(const struct map_bar_column *a, const struct map_bar_column *b) {
    return a->color == b->color && a->full == b->full && a->unknown == b->unknown && a->huge == b->huge &&
           a->step == b->step;
}

static ui_color part_color(struct map_frame *frame, const struct app_mapping *mapping) {
    bool dots;
    if (frame->app->colour == APP_COLOUR_PROTECTION) return view_protection_color(mapping->map->flags, &dots);
    if (frame->app->colour == APP_COLOUR_RESIDENCY || frame->app->colour == APP_COLOUR_AGE) return UI_RESIDENT_LINE;
    if (frame->app->colour == APP_COLOUR_WRITTEN) return UI_NOT_WRITTEN;
    return view_kind_color(mapping->kind);
}

/* A run of columns: 20 % where nothing is resident, from the bottom up where a part is. */
static void draw_run(struct map_frame *frame, const struct app_mapping *mapping, struct ui_rect rect,
                     const struct map_bar_column *column, ui_color color) {
    struct ui_draw *draw = frame->draw;
    int high = column->full == 255 ? rect.h : column->full ? ui_max(1, (rect.h * column->full + 127) / 255) : 0;
    if (high < rect.h) {
        struct ui_rect empty = ui_rect(rect.x, rect.y, rect.w, rect.h - high);
        if (column->unknown)
            ui_draw_pattern(draw, empty, UI_PATTERN_UNKNOWN, UI_DIM);
        else
            ui_draw_rect(draw, empty, ui_fade(color, 20));
        if (column->unknown) frame->seen.patterns |= 1u << UI_PATTERN_UNKNOWN;
        frame->seen.dimmed |= !column->unknown;
    }
    if (high) map_seen_color(frame, mapping, column->color, column->step);
    ui_draw_rect(draw, ui_rect(rect.x, rect.y + rect.h - high, rect.w, high), column->color);
    if (!column->huge || high < rect.h || rect.w < 8) return;
    ui_draw_frame(draw, ui_rect_inset(rect, 2), UI_GROUND);
    frame->seen.huge = true;
}

static void draw_columns(struct map_frame *frame, const struct map_bar *bar, const struct app_mapping *first,
                         size_t count, struct ui_rect rect) {
    const struct app_mapping *mapping = first;
    double bytes = (double)(bar->end - bar->start) / bar->width;
    for (int from = 0, to; from < bar->width; from = to) {
        uint64_t addr = bar->start + (uint64_t)(bytes * (from + 0.5));
        while (mapping + 1 < first + count && mapping->map->end <= addr) mapping++;
        for (to = from + 1; to < bar->width && alike(&bar->column[from], &bar->column[to]); to++)
            if (bar->start + (uint64_t)(bytes * (to + 0.5)) >= mapping->map->end) break;
        struct ui_rect part = ui_rect(rect.x + from, rect.y, to - from, rect.h);
        const struct map_bar_column *column = &bar->column[from];
        if ((mapping->reserved || mapping->guard) && !column->full) {
            ui_draw_pattern(frame->draw, part, UI_PATTERN_DOTS, UI_RULE2);
            frame->seen.patterns |= 1u << UI_PATTERN_DOTS;
        } else {
            draw_run(frame, mapping, part, column, part_color(frame, mapping));
        }
    }
}

void map_bar_draw(struct map_frame *frame, size_t first, size_t count, struct ui_rect rect) {
    const struct app_mapping *mapping = &app_regions(frame->app)->map[first];
    if (count == 1 && mapping->guard) {
        ui_draw_pattern(frame->draw, ui_rect(rect.x, rect.y, ui_min(rect.w, rect.h), rect.h), UI_PATTERN_GUARD,
                        UI_ATTENTION);
        frame->seen.patterns |= 1u << UI_PATTERN_GUARD;
        return;
    }
    if (count == 1 && mapping->reserved && !mapping->known) {
        ui_draw_pattern(frame->draw, rect, UI_PATTERN_DOTS, UI_RULE2);
        frame->seen.patterns |= 1u << UI_PATTERN_DOTS;
        return;
    }
    frame->seen.kinds |= 1u << mapping->kind;
    const struct map_bar *bar = bar_of(frame, first, count, ui_clamp(rect.w, 1, WIDEST));
    if (bar && bar->column) draw_columns(frame, bar, mapping, count, rect);
}
