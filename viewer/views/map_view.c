/* The map: the panel around its three looks. */
#include "map.h"

#include "map_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- life ----------------------------------------------------------------------------------------------------------
 */

struct app_map_cache *map_cache(struct app *app) {
    if (!app->map_cache) app->map_cache = calloc(1, sizeof *app->map_cache);
    return app->map_cache;
}

void view_map_free(struct app *app) {
    struct app_map_cache *cache = app->map_cache;
    if (!cache) return;
    map_flow_free(&cache->flow);
    map_list_free(&cache->list);
    map_pages_free(&cache->pages);
    map_bars_free(&cache->bars);
    map_sheets_free(cache);
    free(cache);
    app->map_cache = NULL;
}

uint32_t map_page_size(const struct app *app) { return app->space ? app->space->page_size : app->world->page_size; }

void map_format_size(char *out, size_t size, uint64_t bytes) {
    struct ui_quantity quantity = ui_quantity_size(bytes);
    unsigned bits = bytes ? (unsigned)(63 - __builtin_clzll(bytes)) / 10 * 10 : 0;
    if (bytes && bytes % (1ull << bits) == 0)
        snprintf(out, size, "%llu %s", (unsigned long long)(bytes >> bits), quantity.unit);
    else
        ui_format_size(out, size, bytes);
}

void map_plain_name(const struct app_mapping *mapping, char *out, size_t size) {
    char perm[5];
    view_perm(mapping->map, perm);
    size_t length = strlen(mapping->name), tail = strlen(perm);
    bool ends =
        length > tail + 1 && mapping->name[length - tail - 1] == ' ' && !strcmp(mapping->name + length - tail, perm);
    snprintf(out, size, "%.*s", (int)(ends ? length - tail - 1 : length), mapping->name);
}

bool view_map_hilbert(const struct app *app) { return app->map_cache && app->map_cache->hilbert; }

void view_map_set_hilbert(struct app *app, bool hilbert) {
    struct app_map_cache *cache = map_cache(app);
    if (cache) cache->hilbert = hilbert;
    app->redraw = true;
}

ui_color map_age_color(int age) {
    static const ui_color colors[MAP_AGES] = {UI_INK, UI_DIM, UI_FAINT, UI_GHOST};
    return colors[age];
}

void map_seen_color(struct map_frame *frame, const struct app_mapping *mapping, ui_color color, int step) {
    frame->seen.steps |= 1u << (step + 1);
    frame->seen.protections |= 1u << (mapping->map->flags & 7);
    for (int i = 0; i < MAP_AGES; i++)
        if (color == map_age_color(i)) frame->seen.ages |= 1u << i;
}

/* --- header --------------------------------------------------------------------------------------------------------
 */

static void label(struct map_frame *frame, int *x, int y, const char *name, const char *value) {
    if (*x + 6 * (int)(strlen(name) + strlen(value) + 1) > ui_rect_right(frame->panel) - 8) return;
    *x = ui_draw_label(frame->draw, *x, y, UI_S, UI_DIM, name, value) + 14;
}

static const char *key(const struct map_frame *frame, const char *name) {
    return frame->layout->key_caps ? name : NULL;
}

static void choose_colour(struct map_frame *frame, int *x, int y) {
    struct app *app = frame->app;
    ui_id id = ui_id_of("map colour");
    if (ui_choice(&app->ui, id, x, y, "colour", app_colour_name(app->colour), key(frame, "K")) & UI_CLICKED)
        app->colour = (enum app_colour)((app->colour + 1) % APP_COLOUR_COUNT);
}

static void choose_gaps(struct map_frame *frame, int *x, int y, const char *name, const char *collapsed) {
    struct app *app = frame->app;
    const char *value = app->gaps_collapsed ? collapsed : "to scale";
    if (ui_choice(&app->ui, ui_id_of("map gaps"), x, y, name, value, key(frame, "C")) & UI_CLICKED)
        app->gaps_collapsed = !app->gaps_collapsed;
}

static void choose_order(struct map_frame *frame, int *x, int y) {
    const char *value = frame->cache->hilbert ? "Hilbert" : "linear";
    if (ui_choice(&frame->app->ui, ui_id_of("map order"), x, y, "order", value, key(frame, "H")) & UI_CLICKED)
        frame->cache->hilbert = !frame->cache->hilbert;
}

/* "a row 256 KiB = 64 pages", or of a Hilbert square. */
static void label_rows(struct map_frame *frame, int *x, int y) {
    const struct map_grid *grid = &frame->cache->drawn.grid;
    uint64_t bytes = map_grid_row_bytes(grid), pages = bytes / map_page_size(frame->app);
    char size[UI_FORMAT_SIZE], count[UI_FORMAT_SIZE], text[128];
    if (grid->square_bits) {
        bytes = map_grid_cell_bytes(grid) << 2 * grid->square_bits;
        pages = bytes / map_page_size(frame->app);
    }
    map_format_size(size, sizeof size, bytes);
    ui_format_count(count, sizeof count, pages);
    snprintf(text, sizeof text, "%s = %s page%s", size, count, pages == 1 ? "" : "s");
    label(frame, x, y, grid->square_bits ? "a square" : "a row", text);
    if (!grid->unit_bits) return;
    ui_format_count(count, sizeof count, 1u << grid->unit_bits);
    snprintf(text, sizeof text, "%s pages, the strongest is shown", count);
    label(frame, x, y, "a cell", text);
}

static void draw_header(struct map_frame *frame) {
    struct ui_rect panel = frame->panel;
    int x = panel.x + 12, y = panel.y + 4;
    ui_color color = frame->app->focus == APP_PANEL_MAP ? UI_INK : UI_FAINT;
    ui_draw_hline(frame->draw, panel.x, panel.y + 19, panel.w, UI_HAIR);
    x = ui_draw_text(frame->draw, x, y, UI_S, color, "MAP") + 12;
    if (frame->cache->drawn.look == APP_LOOK_BYTES) {
        label(frame, &x, y, "colour", "content");
        label(frame, &x, y, "grid", "8 16 64 4096");
        label(frame, &x, y, "a row", "16 bytes");
        return;
    }
    choose_colour(frame, &x, y);
    if (frame->cache->drawn.look == APP_LOOK_SPACE) {
        label(frame, &x, y, "left", "to scale");
        choose_gaps(frame, &x, y, "right", "gaps collapsed");
        return;
    }
    choose_order(frame, &x, y);
    choose_gaps(frame, &x, y, "gaps", "collapsed");
    label_rows(frame, &x, y);
}

/* --- the picture ---------------------------------------------------------------------------------------------------
 */

static bool begin(struct map_frame *frame, struct app *app, const struct view_layout *layout) {
    *frame = (struct map_frame){.app = app, .cache = map_cache(app), .layout = layout, .draw = app->draw};
    if (!frame->cache) return false;
    frame->panel = frame->main = layout->map;
    ui_rect_cut_top(&frame->main, 20);
    frame->legend = ui_rect_cut_bottom(&frame->main, 18);
    ui_rect_cut_bottom(&frame->main, 1);
    return true;
}

/* Nothing is mapped: the process has not begun, or has ended. */
static void draw_nothing(struct map_frame *frame) {
    ui_draw_text_centred(frame->draw, frame->main.x, frame->main.y + frame->main.h / 2 - 6, frame->main.w, UI_S,
                         UI_FAINT, "this process has no address space at this moment");
}

static void draw_look(struct map_frame *frame) {
    static const char *const names[] = {"space", "pages", "bytes"};
    struct map_drawn *drawn = &frame->cache->drawn;
    drawn->main = frame->main;
    enum app_look look = app_look(frame->app);
    ui_draw_begin_group(frame->draw, "look", names[look]);
    if (look == APP_LOOK_SPACE)
        map_space_draw(frame);
    else if (look == APP_LOOK_PAGES)
        map_rows_draw(frame);
    else
        map_bytes_draw(frame);
    drawn->look = look;
    drawn->valid = true;
    ui_draw_end_group(frame->draw);
}

/* The thing under the pointer, and what other panels point at. */
static void draw_hover(struct map_frame *frame) {
    struct app *app = frame->app;
    struct ui_context *ui = &app->ui;
    struct ui_rect rect;
    if (ui->hot != ui_id_of("map") || !ui->mouse_inside || ui->dragging) {
        bool other = app->hover_set && app->hover.kind != APP_PLACE_SPACE && app->hover.kind != APP_PLACE_GROUP;
        bool shown = other && frame->cache->drawn.look != APP_LOOK_BYTES &&
                     map_hit_range(app, app->hover.addr, app->hover.len, &rect);
        if (shown) ui_hover_box(frame->draw, rect);
        return;
    }
    struct map_hit hit = map_hit_at(app, ui->mouse_x, ui->mouse_y);
    if (!hit.set) return;
    app_hover_place(app, hit.place);
    if (hit.place.kind == APP_PLACE_PAGE && hit.place.len > map_grid_cell_bytes(&frame->cache->drawn.grid) &&
        map_hit_range(app, hit.place.addr, hit.place.len, &rect))
        hit.rect = rect;
    if (!ui_rect_empty(hit.rect)) ui_hover_box(frame->draw, hit.rect);
    if (ui_card_due(ui, NULL)) map_card_draw(frame, &hit);
}

void view_map_draw(struct app *app, const struct view_layout *layout) {
    struct map_frame frame;
    if (!begin(&frame, app, layout)) return;
    ui_draw_begin_group(frame.draw, "panel", "map");
    ui_draw_push_clip(frame.draw, frame.panel);
    ui_panel_background(frame.draw, frame.panel, UI_GROUND, app->focus == APP_PANEL_MAP);
    map_input(&frame);
    frame.bits = app_camera_bits(app);
    ui_draw_value(frame.draw, "bits", "%.3f", frame.bits);
    if (app->space) {
        map_markers_find(&frame);
        ui_draw_push_clip(frame.draw, frame.main);
        draw_look(&frame);
        map_ladder_draw(&frame);
        ui_draw_pop_clip(frame.draw);
        map_legend_draw(&frame);
        draw_hover(&frame);
    } else {
        frame.cache->drawn.valid = false;
        draw_nothing(&frame);
    }
    draw_header(&frame);
    ui_draw_pop_clip(frame.draw);
    ui_draw_end_group(frame.draw);
}

/* --- questions -----------------------------------------------------------------------------------------------------
 */

bool view_map_address_at(struct app *app, int x, int y, uint64_t *addr) {
    struct map_hit hit = map_hit_at(app, x, y);
    *addr = hit.addr;
    return hit.set;
}

bool view_map_rect_of(struct app *app, uint64_t addr, uint64_t len, struct ui_rect *rect) {
    return map_hit_range(app, addr, len ? len : 1, rect);
}
