/* The ladder at the left edge: a thin strip for each larger level, the whole of it, with a bracket around what the
 * next one shows, tied to it by two lines. */
#include "map_space.h"

#include <math.h>

enum {
    SPACE_X = 11,  /* from the panel's left edge to the edge of the strip of the space */
    SPACE_W = 9,   /* edges included */
    SECOND_X = 31, /* of mappings */
    SECOND_X_BYTES = 33,
    MAPPING_W = 11,
    SEGMENTS_SHARE = 55 /* percent of the kind's colour in segments not shown */
};

struct ladder {
    struct map_frame *frame;
    int top, bottom; /* of the strips, edges included */
};

static struct ui_rect strip_of(const struct ladder *ladder, int x, int w) {
    struct ui_rect rect = ui_rect(ladder->frame->main.x + x, ladder->top, w, ladder->bottom - ladder->top);
    ui_draw_rect(ladder->frame->draw, rect, UI_PIT);
    ui_draw_frame(ladder->frame->draw, rect, UI_RULE);
    return ui_rect_inset(rect, 1);
}

static void tie(const struct ladder *ladder, int x0, int y0, int x1, int y1) {
    ui_draw_line(ladder->frame->draw, x0, y0, x1, y1, UI_LINE_SHARP, UI_RULE2);
}

/* White, at the right of a strip, around y0 .. y1. */
static void bracket(const struct ladder *ladder, struct ui_rect strip, int y0, int y1) {
    struct ui_draw *draw = ladder->frame->draw;
    int x = ui_rect_right(strip) + 1;
    y1 = ui_max(y1, y0 + 3);
    ui_draw_hline(draw, x, y0, 3, UI_WHITE);
    ui_draw_hline(draw, x, y1 - 1, 3, UI_WHITE);
    ui_draw_vline(draw, x + 2, y0, y1 - y0, UI_WHITE);
}

/* --- the space -----------------------------------------------------------------------------------------------------
 */

static struct map_window whole(struct ui_rect inside) { return map_window_make(APP_BITS_MAX, 0, 0, inside.h); }

static int space_y(struct ui_rect inside, uint64_t addr) {
    struct map_window window = whole(inside);
    return inside.y + ui_clamp((int)map_window_y(&window, addr), 0, inside.h - 1);
}

static struct ui_rect draw_space(const struct ladder *ladder) {
    ui_draw_begin_group(ladder->frame->draw, "strip", "space");
    struct ui_rect inside = strip_of(ladder, SPACE_X, SPACE_W);
    struct map_window window = whole(inside);
    for (int i = 1; i < 8; i++)
        ui_draw_hline(ladder->frame->draw, inside.x, inside.y + inside.h * i / 8, inside.w, UI_HAIR);
    map_slivers_draw(ladder->frame, &window, inside);
    ui_draw_end_group(ladder->frame->draw);
    return inside;
}

/* --- the mappings, one segment each ----------------------------------------------------------------------------------
 */

static int segment_y(struct ui_rect inside, size_t index, size_t count) {
    return inside.y + (int)((double)inside.h * (double)index / (double)count);
}

/* Where addr stands among the segments: within its mapping by its share, between mappings at the border. */
static int mapping_y(const struct ladder *ladder, struct ui_rect inside, uint64_t addr) {
    const struct app_regions *regions = app_regions(ladder->frame->app);
    size_t i = app_mapping_lower(ladder->frame->app, addr);
    if (!regions->count || i >= regions->count) return inside.y + inside.h;
    const struct vmv_mapping *map = regions->map[i].map;
    double share = addr > map->start ? (double)(addr - map->start) / (double)(map->end - map->start) : 0;
    return inside.y + (int)((double)inside.h * ((double)i + share) / (double)regions->count);
}

static void draw_segments(const struct ladder *ladder, struct ui_rect inside) {
    struct app *app = ladder->frame->app;
    const struct app_regions *regions = app_regions(app);
    int last = -1;
    for (size_t i = 0; i < regions->count; i++) {
        const struct app_mapping *mapping = &regions->map[i];
        int y = segment_y(inside, i, regions->count), end = segment_y(inside, i + 1, regions->count);
        bool chosen =
            app->selection.kind != APP_PLACE_SPACE && app_selects(app, mapping->map->start, mapping->map->end);
        if (y == last && !chosen) continue;
        last = y;
        bool plain = !mapping->guard && !mapping->reserved;
        ui_color color = plain ? view_kind_color(mapping->kind) : UI_RULE;
        int high = end - y > 3 ? end - y - 1 : ui_max(end - y, 1);
        ui_draw_rect(ladder->frame->draw, ui_rect(inside.x, y, inside.w, high),
                     chosen ? color : ui_mix(UI_PIT, color, SEGMENTS_SHARE));
    }
}

/* Lines from the mappings that stand together in the space to their segments. */
static void tie_segments(const struct ladder *ladder, struct ui_rect space, struct ui_rect inside) {
    const struct app_regions *regions = app_regions(ladder->frame->app);
    int x0 = ui_rect_right(space) + 1, x1 = inside.x - 2;
    for (size_t i = 0, next; i < regions->count; i = next) {
        int y = space_y(space, regions->map[i].map->start), end = y;
        for (next = i; next < regions->count; next++) {
            int other = space_y(space, regions->map[next].map->start);
            if (other > end + 2) break;
            end = ui_max(other, space_y(space, regions->map[next].map->end - 1));
        }
        tie(ladder, x0, y, x1, segment_y(inside, i, regions->count));
        tie(ladder, x0, end, x1, segment_y(inside, next, regions->count) - 1);
    }
}

/* First and last address that the rows of pages show. */
static bool rows_shown(const struct map_frame *frame, uint64_t *start, uint64_t *end) {
    const struct map_flow *flow = &frame->cache->flow;
    bool any = false;
    for (size_t i = 0; i < flow->count; i++) {
        const struct map_item *item = &flow->item[i];
        if (item->note || item->end <= 0) continue;
        if (!any) *start = item->start < 0 ? 0 : (uint64_t)item->start;
        *end = (uint64_t)item->end;
        any = true;
    }
    return any;
}

static void draw_of_pages(struct ladder *ladder) {
    struct ui_draw *draw = ladder->frame->draw;
    uint64_t start, end;
    struct ui_rect space = draw_space(ladder);
    ui_draw_begin_group(draw, "strip", "mappings");
    struct ui_rect inside = strip_of(ladder, SECOND_X, SPACE_W);
    draw_segments(ladder, inside);
    tie_segments(ladder, space, inside);
    if (rows_shown(ladder->frame, &start, &end)) {
        ui_draw_value(draw, "from", "%012llx", (unsigned long long)start);
        ui_draw_value(draw, "to", "%012llx", (unsigned long long)end);
        int y0 = mapping_y(ladder, inside, start), y1 = mapping_y(ladder, inside, end);
        bracket(ladder, inside, ui_clamp(y0, inside.y, ui_rect_bottom(inside) - 3), ui_min(y1, ui_rect_bottom(inside)));
    }
    ui_draw_end_group(draw);
}

/* --- one mapping, to scale -------------------------------------------------------------------------------------------
 */

static int share_y(struct ui_rect inside, const struct vmv_mapping *map, uint64_t addr) {
    double share = (double)(addr - map->start) / (double)(map->end - map->start);
    return inside.y + ui_clamp((int)(share * inside.h), 0, inside.h - 1);
}

/* Where pages are resident: the kind at 36 %; pages are counted by pixel, each has one at least. */
static void fill_mapping(const struct ladder *ladder, struct ui_rect inside, const struct app_mapping *mapping) {
    const struct vmv_space *space = ladder->frame->app->space;
    const struct vmv_mapping *map = mapping->map;
    ui_color color = ui_mix(UI_PIT, view_kind_color(mapping->kind), 37);
    for (int y = 0, end; y < inside.h; y = end) {
        uint64_t from = map->start + (uint64_t)((double)(map->end - map->start) / inside.h * y), at = from, found;
        const struct vmv_page *page;
        while ((page = vmv_space_page_next(space, &at, map->end)) && page->state == VMV_PAGE_ABSENT)
            at += space->page_size;
        if (!page) return;
        found = at;
        y = ui_max(y, share_y(inside, map, found) - inside.y);
        end = share_y(inside, map, found + space->page_size - 1) - inside.y + 1;
        ui_draw_rect(ladder->frame->draw, ui_rect(inside.x, inside.y + y, inside.w, end - y), color);
        if (end <= y) end = y + 1;
    }
}

/* A line where the page is thin, else a frame. */
static void mark_page(const struct ladder *ladder, struct ui_rect inside, int y0, int y1) {
    struct ui_draw *draw = ladder->frame->draw;
    struct ui_rect mark = ui_rect(inside.x - 1, y0, inside.w + 2, y1 - y0 + 1);
    if (mark.h > 3) {
        ui_draw_frame(draw, mark, UI_WHITE);
        return;
    }
    ui_draw_rect(draw, ui_rect(inside.x, y0 - 1, inside.w, mark.h + 2), UI_GROUND);
    ui_draw_rect(draw, mark, UI_WHITE);
}

static void draw_mapping(struct ladder *ladder, struct ui_rect space, uint64_t base) {
    struct ui_draw *draw = ladder->frame->draw;
    const struct app_mapping *mapping = app_mapping_at(ladder->frame->app, base);
    const struct map_drawn *drawn = &ladder->frame->cache->drawn;
    struct ui_rect inside = strip_of(ladder, SECOND_X_BYTES, MAPPING_W);
    if (!mapping) return;
    fill_mapping(ladder, inside, mapping);
    ui_draw_value(draw, "mapping", "%s", mapping->name);
    tie(ladder, ui_rect_right(space) + 1, space_y(space, mapping->map->start), inside.x - 2, ladder->top);
    tie(ladder, ui_rect_right(space) + 1, space_y(space, mapping->map->end - 1), inside.x - 2, ladder->bottom - 1);
    int y0 = share_y(inside, mapping->map, base);
    uint64_t last = base + MAP_SHEET - 1 < mapping->map->end ? base + MAP_SHEET - 1 : mapping->map->end - 1;
    int y1 = share_y(inside, mapping->map, last);
    mark_page(ladder, inside, y0, y1);
    if (ui_rect_empty(drawn->cells)) return;
    tie(ladder, ui_rect_right(inside) + 1, y0, drawn->cells.x - 34, ladder->top);
    tie(ladder, ui_rect_right(inside) + 1, y1, drawn->cells.x - 34, ladder->bottom - 1);
}

static const char *short_name(struct app *app, uint64_t addr) {
    const struct app_mapping *mapping = app_mapping_at(app, addr);
    return mapping ? view_kind_word(mapping->kind) : "";
}

static void draw_of_bytes(struct ladder *ladder) {
    struct map_frame *frame = ladder->frame;
    uint64_t base = frame->cache->drawn.page;
    struct ui_rect space = draw_space(ladder);
    ui_draw_begin_group(frame->draw, "strip", "mapping");
    int y = ladder->top - 16, x = frame->main.x + SPACE_X;
    ui_draw_text(frame->draw, x, y, UI_S, UI_FAINT, "all");
    if (!ui_rect_empty(frame->cache->drawn.cells))
        ui_draw_text_fit(frame->draw, x + 24, y, frame->cache->drawn.cells.x - x - 28, UI_S, UI_FAINT,
                         short_name(frame->app, base));
    draw_mapping(ladder, space, base);
    ui_draw_end_group(frame->draw);
}

/* --- zoomed into the space -------------------------------------------------------------------------------------------
 */

static void draw_of_space(struct ladder *ladder) {
    const struct map_drawn *drawn = &ladder->frame->cache->drawn;
    struct ui_rect space = draw_space(ladder);
    int y0 = space_y(space, (uint64_t)drawn->window.from), y1 = space_y(space, map_window_end(&drawn->window) - 1) + 1;
    bracket(ladder, space, y0, y1);
}

void map_ladder_draw(struct map_frame *frame) {
    const struct map_drawn *drawn = &frame->cache->drawn;
    struct ladder ladder = {frame, frame->main.y + 13, ui_rect_bottom(frame->main) - 6};
    enum app_look look = drawn->look;
    if (look == APP_LOOK_SPACE && frame->bits >= APP_BITS_MAX - 0.001) return;
    if (look == APP_LOOK_SPACE) ladder = (struct ladder){frame, drawn->strip.y - 1, ui_rect_bottom(drawn->strip)};
    if (look == APP_LOOK_BYTES) {
        ladder.top = frame->main.y + 35;
        ladder.bottom =
            ui_rect_empty(drawn->cells) ? ui_rect_bottom(frame->main) - 6 : ui_rect_bottom(drawn->cells) + 1;
    }
    ui_draw_begin_group(frame->draw, "ladder", "map");
    if (look == APP_LOOK_SPACE)
        draw_of_space(&ladder);
    else if (look == APP_LOOK_PAGES)
        draw_of_pages(&ladder);
    else
        draw_of_bytes(&ladder);
    ui_draw_end_group(frame->draw);
}
