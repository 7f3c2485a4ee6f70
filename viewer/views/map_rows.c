/* The look of pages: rows of page cells, folded stretches as notes, with the ruler above. */
#include "map_rows.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    CELLS_X = 136,       /* from the panel's left edge; with the ladder and the addresses */
    CELLS_X_NARROW = 56, /* without addresses */
    NAMES = 96,          /* right of the cells */
    NAMES_LEAST = 300,   /* cells narrower than this have no names */
    RULER = 17,          /* from the top of the main area to the rows */
    ADDRESS_EVERY = 30,  /* pixels between printed addresses at least */
    ALWAYS = 24,         /* pixels of the first or last rows that stay in view */
    PARTS = 4            /* of the ruler */
};

/* --- geometry ------------------------------------------------------------------------------------------------------
 */

static struct ui_rect rows_area(const struct map_frame *frame) {
    struct ui_rect main = frame->main;
    int left = frame->layout->map_columns ? CELLS_X : CELLS_X_NARROW;
    int right = main.w - left - NAMES >= NAMES_LEAST ? NAMES : 12;
    return ui_rect(main.x + left, main.y + RULER, ui_max(main.w - left - right, 16), main.h - RULER);
}

/* Bytes shown are counted over the height without the margin below. */
static struct map_grid grid_of(struct map_frame *frame, struct ui_rect area, const struct map_anchor *anchor) {
    struct map_grid grid = map_grid_make(frame->bits, area.w, area.h, map_page_size(frame->app), frame->cache->hilbert);
    if (!anchor) return grid;
    int x = anchor->x - (area.x - frame->main.x);
    if (x >= 0) map_grid_shift(&grid, frame->app->camera.at, x / grid.cell_w);
    return grid;
}

static bool build(struct map_frame *frame, const struct map_grid *grid, struct ui_rect area,
                  const struct map_anchor *anchor) {
    const struct map_source source = map_pages_source(frame);
    double y = ui_anim_value(&frame->app->camera.at_y, frame->app->now_ms) - RULER;
    if (!anchor && y >= 0 && y < MAP_NOTE) y = MAP_NOTE; /* a note above is seen whole */
    return map_flow_build(&frame->cache->flow, grid, &source, frame->app->camera.at, y, anchor ? anchor->share : 0,
                          area.h);
}

/* The camera's address has left the area: another one, that is seen, takes its part. Where nothing is seen, the ends
 * of the space are brought back. */
static bool hold_camera(struct map_frame *frame, const struct map_grid *grid, struct ui_rect area) {
    struct map_flow *flow = &frame->cache->flow;
    struct app *app = frame->app;
    if (!flow->count || ui_anim_moving(&app->camera.at_y, app->now_ms)) return false;
    const struct map_item *first = &flow->item[0], *last = &flow->item[flow->count - 1];
    const struct map_item *item = NULL;
    int y = 0;
    int least = ui_min(ALWAYS, area.h / 2);
    if (first->y > area.h - least)
        item = first, y = area.h - least;
    else if (last->y + last->h < least)
        item = last, y = least - last->h;
    if (item) {
        map_anchor_set(app, item->start < 0 ? 0 : (uint64_t)item->start, grid->phase ? area.x - frame->main.x : -1,
                       y + RULER, 0, -1);
        return true;
    }
    double at_y = app->camera.at_y.to - RULER;
    if (at_y >= 0 && at_y < area.h) return false;
    item = map_flow_at(flow, area.h / 2);
    if (!item) item = first;
    map_anchor_set(app, item->start < 0 ? 0 : (uint64_t)item->start, grid->phase ? area.x - frame->main.x : -1,
                   item->y + RULER, 0, -1);
    return false;
}

/* --- ruler ---------------------------------------------------------------------------------------------------------
 */

static int parts_of(const struct map_grid *grid) {
    int squares = grid->square_bits ? map_grid_columns(grid) >> grid->square_bits : PARTS;
    return squares < PARTS ? squares : PARTS;
}

static void draw_ruler(const struct map_rows *rows) {
    struct ui_draw *draw = rows->frame->draw;
    int width = map_grid_width(&rows->grid), parts = parts_of(&rows->grid), y = rows->area.y - 2;
    uint64_t bytes = map_grid_band_bytes(&rows->grid);
    ui_draw_begin_group(draw, "ruler", "row");
    ui_draw_hline(draw, rows->area.x - 1, y, width + 1, UI_RULE);
    for (int i = 0; i <= parts; i++) {
        int x = rows->area.x - 1 + width * i / parts;
        char size[UI_FORMAT_SIZE], text[UI_FORMAT_SIZE + 1];
        ui_draw_vline(draw, x, y - 5, 6, UI_RULE2);
        if (i == parts) break;
        map_format_size(size, sizeof size, bytes / (uint64_t)parts * (uint64_t)i);
        snprintf(text, sizeof text, "+%s", i ? size : "0");
        ui_draw_text_fit(draw, x + 4, y - 13, width / parts - 6, UI_S, UI_FAINT, text);
    }
    ui_draw_end_group(draw);
}

/* Lines down from the ruler, seen where nothing covers them. */
static void draw_guides(const struct map_rows *rows) {
    const struct map_flow *flow = &rows->frame->cache->flow;
    int width = map_grid_width(&rows->grid), parts = parts_of(&rows->grid);
    for (size_t from = 0, to; from < flow->count; from = to) {
        for (to = from + 1; to < flow->count && flow->item[to].note == flow->item[from].note;) to++;
        if (flow->item[from].note) continue;
        int y = flow->item[from].y, bottom = flow->item[to - 1].y + flow->item[to - 1].h;
        for (int i = 1; i < parts; i++)
            ui_draw_vline(rows->frame->draw, rows->area.x - 1 + width * i / parts, rows->area.y + y, bottom - y,
                          UI_HAIR);
    }
}

/* --- rows ----------------------------------------------------------------------------------------------------------
 */

struct pass { /* over all rows, with the one above and the one below at hand */
    struct map_cell *cell[3];
    bool set[3];
    int y[3];
};

static void name_row(struct map_rows *rows, const struct map_cell *row, int y) {
    struct map_frame *frame = rows->frame;
    char name[32];
    snprintf(name, sizeof name, "%012llx", (unsigned long long)row[0].addr);
    ui_draw_begin_group(frame->draw, "row", name);
    ui_draw_value(frame->draw, "y", "%d", y);
    if (frame->app->patient) map_cells_value(rows, row);
    ui_draw_end_group(frame->draw);
}

/* Paints the middle row of the three. */
static void paint_middle(struct map_rows *rows, const struct pass *pass) {
    if (!pass->set[1]) return;
    const struct map_cell *above = pass->set[0] ? pass->cell[0] : NULL, *below = pass->set[2] ? pass->cell[2] : NULL;
    map_cells_outline(rows, pass->y[1], above, pass->cell[1], below);
    map_cells_paint(rows, pass->y[1], above, pass->cell[1], below);
    map_margin_names(rows, pass->y[1], pass->cell[1]);
    name_row(rows, pass->cell[1], pass->y[1]);
}

static void advance(struct map_rows *rows, struct pass *pass) {
    paint_middle(rows, pass);
    struct map_cell *oldest = pass->cell[0];
    for (int i = 0; i < 2; i++)
        pass->cell[i] = pass->cell[i + 1], pass->set[i] = pass->set[i + 1], pass->y[i] = pass->y[i + 1];
    pass->cell[2] = oldest;
    pass->set[2] = false;
}

/* Addresses stand at the first row after a note and where they are rounder than others. */
static void address_of(struct map_rows *rows, const struct map_item *item, bool after_note) {
    uint64_t every = 1, band = map_grid_band_bytes(&rows->grid);
    while ((double)every * item->h < ADDRESS_EVERY) every *= 2;
    uint64_t start = item->start < 0 ? 0 : (uint64_t)item->start;
    bool round = start >= rows->grid.phase && (start - rows->grid.phase) / band % every == 0;
    map_margin_address(rows, start, rows->area.y + item->y, round || after_note);
}

static void draw_band(struct map_rows *rows, struct pass *pass, const struct map_item *item) {
    for (int row = 0; row < map_grid_band_rows(&rows->grid); row++) {
        int y = rows->area.y + item->y + row * rows->grid.cell_h;
        if (y + rows->grid.cell_h <= rows->area.y || y >= ui_rect_bottom(rows->area)) continue;
        map_cells_fill(rows, item, row, pass->cell[2]);
        pass->y[2] = y;
        pass->set[2] = true;
        advance(rows, pass);
    }
}

static bool make_pass(struct map_rows *rows, struct pass *pass) {
    size_t columns = (size_t)map_grid_columns(&rows->grid);
    *pass = (struct pass){0};
    for (int i = 0; i < 3; i++) {
        pass->cell[i] = ui_draw_alloc(rows->frame->draw, columns * sizeof **pass->cell);
        if (!pass->cell[i]) return false;
    }
    return true;
}

static void draw_items(struct map_rows *rows) {
    const struct map_flow *flow = &rows->frame->cache->flow;
    struct pass pass;
    if (!make_pass(rows, &pass)) return;
    for (size_t i = 0; i < flow->count; i++) {
        const struct map_item *item = &flow->item[i];
        bool after_note = i > 0 && flow->item[i - 1].note;
        if (item->note) {
            advance(rows, &pass);
            advance(rows, &pass);
            map_note_draw(rows, item);
            continue;
        }
        draw_band(rows, &pass, item);
        address_of(rows, item, after_note || i == 0);
    }
    advance(rows, &pass);
    advance(rows, &pass);
    for (size_t i = 0; i < flow->count; i++)
        if (!flow->item[i].note) map_margin_markers(rows, &flow->item[i]);
}

/* --- selection -----------------------------------------------------------------------------------------------------
 */

static void draw_selected_mapping(struct map_rows *rows) {
    uint64_t start, end;
    struct app *app = rows->frame->app;
    const struct map_flow *flow = &rows->frame->cache->flow;
    if (!app_place_range(app, app->selection, &start, &end)) return;
    for (size_t i = 0; i < flow->count; i++) {
        const struct map_item *item = &flow->item[i];
        if (item->note || item->end <= (int64_t)start || item->start >= (int64_t)end) continue;
        ui_draw_rect(rows->frame->draw, ui_rect(rows->area.x - 4, rows->area.y + item->y, 2, item->h), UI_WHITE);
    }
}

static void draw_selection(struct map_rows *rows) {
    struct app *app = rows->frame->app;
    struct ui_rect rect;
    if (app->selection.kind == APP_PLACE_MAPPING) draw_selected_mapping(rows);
    if (app->selection.kind != APP_PLACE_PAGE && app->selection.kind != APP_PLACE_BYTES) return;
    if (!map_hit_range(app, app->selection.addr, app->selection.len, &rect)) return;
    map_margin_selected(rows, rect);
    ui_selection_box(rows->frame->draw, rect);
}

/* --- the look ------------------------------------------------------------------------------------------------------
 */

static void remember(struct map_rows *rows) {
    struct map_drawn *drawn = &rows->frame->cache->drawn;
    drawn->cells = rows->area;
    drawn->cells.w = map_grid_width(&rows->grid);
    drawn->grid = rows->grid;
}

/* A new length of rows fades in. */
static int fade_of(struct map_frame *frame, const struct map_grid *grid) {
    struct app_map_cache *cache = frame->cache;
    unsigned bits = grid->column_bits + grid->unit_bits;
    if (cache->drawn.valid && cache->drawn.look == APP_LOOK_PAGES && cache->fade_bits != bits) {
        cache->fade = ui_anim_at(0.35);
        ui_anim_go(&cache->fade, 1, frame->app->now_ms, app_ms(frame->app, UI_FADE_MS));
    } else if (!cache->drawn.valid || cache->drawn.look != APP_LOOK_PAGES) {
        cache->fade = ui_anim_at(1);
    }
    cache->fade_bits = bits;
    if (ui_anim_moving(&cache->fade, frame->app->now_ms)) frame->app->redraw = true;
    return (int)lround(ui_anim_value(&cache->fade, frame->app->now_ms) * 255);
}

static bool make_rows(struct map_frame *frame, struct map_rows *rows) {
    struct ui_rect area = rows_area(frame);
    *rows = (struct map_rows){.frame = frame, .area = area, .panel = frame->main, .block_named = -1};
    rows->address_above = UI_NO_ADDRESS;
    rows->address_bottom = area.y - 4;
    for (int tries = 0; tries < 2; tries++) {
        const struct map_anchor *anchor = map_anchor_now(frame);
        rows->grid = grid_of(frame, area, anchor);
        if (!build(frame, &rows->grid, area, anchor)) return false;
        if (!hold_camera(frame, &rows->grid, area)) break;
    }
    return true;
}

void map_rows_draw(struct map_frame *frame) {
    struct map_rows *rows = ui_draw_alloc(frame->draw, sizeof *rows);
    if (!rows || !make_rows(frame, rows)) return;
    int fade = fade_of(frame, &rows->grid);
    remember(rows);
    draw_ruler(rows);
    struct ui_rect clip = ui_rect(frame->main.x, rows->area.y - 1, frame->main.w, rows->area.h + 1);
    ui_draw_push_clip(frame->draw, clip);
    ui_draw_push_alpha(frame->draw, fade);
    draw_guides(rows);
    if (map_cells_small(&rows->grid)) rows->image = ui_draw_image(frame->draw, rows->area, rows->area.w, rows->area.h);
    draw_items(rows);
    map_cells_huge_texts(rows);
    map_note_empty(rows);
    draw_selection(rows);
    map_margin_draw(rows);
    ui_draw_pop_alpha(frame->draw);
    ui_draw_pop_clip(frame->draw);
}
