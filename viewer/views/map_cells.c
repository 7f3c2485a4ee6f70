/* Cells of the look of pages: colour and pattern of each, the outlines of what belongs together, huge pages. */
#include "app_regions.h"
#include "map_rows.h"

#include <stdio.h>
#include <string.h>

enum { SMALL = 6, CHAIN_MOST = 64, WORDS_W = 64, WORDS_H = 32 };

bool map_cells_small(const struct map_grid *grid) {
    return grid->cell_w - grid->gap < SMALL || grid->cell_h - grid->gap < SMALL;
}

struct ui_rect map_cells_rect(const struct map_rows *rows, int column, int y) {
    const struct map_grid *grid = &rows->grid;
    return ui_rect(rows->area.x + column * grid->cell_w, y, grid->cell_w - grid->gap, grid->cell_h - grid->gap);
}

/* --- what lies in them ---------------------------------------------------------------------------------------------
 */

static bool plain(const struct app_mapping *mapping) { return !mapping->guard && !mapping->reserved; }

/* The first of the mappings that touch this one and belong to it. */
static int block_of(struct map_rows *rows, const struct app_mapping *mapping) {
    const struct app_regions *regions = app_regions(rows->frame->app);
    int index = (int)(mapping - regions->map);
    for (int steps = 0; steps < CHAIN_MOST && index > 0; steps++, index--) {
        const struct app_mapping *at = &regions->map[index], *before = at - 1;
        if (!plain(at) || !plain(before) || before->group != at->group || before->map->end != at->map->start) break;
    }
    return index;
}

void map_cells_fill(struct map_rows *rows, const struct map_item *item, int row, struct map_cell *cell) {
    struct map_frame *frame = rows->frame;
    uint64_t bytes = map_grid_cell_bytes(&rows->grid);
    const struct app_mapping *last = NULL;
    int block = -1, columns = map_grid_columns(&rows->grid);
    for (int i = 0; i < columns; i++) {
        int64_t addr = item->start + (int64_t)map_grid_offset(&rows->grid, i, row);
        const struct app_mapping *mapping = NULL;
        cell[i] = (struct map_cell){.block = -1};
        if (addr < 0) continue;
        cell[i].addr = (uint64_t)addr;
        if (!map_pages_strongest(frame, (uint64_t)addr, (uint64_t)addr + bytes, &cell[i].page, &mapping)) continue;
        if (mapping != last) block = block_of(rows, mapping);
        last = mapping;
        cell[i].mapping = mapping;
        cell[i].block = block;
    }
}

static void note_seen(struct map_frame *frame, const struct map_cell *cell) {
    struct map_seen *seen = &frame->seen;
    const struct map_page *page = &cell->page;
    seen->patterns |= 1u << page->pattern;
    bool plain_color =
        page->pattern == UI_PATTERN_DOT || page->pattern == UI_PATTERN_UNKNOWN || page->pattern == UI_PATTERN_GUARD;
    if (page->pattern == UI_PATTERN_OUTLINE && frame->app->colour == APP_COLOUR_WRITTEN) plain_color = true;
    if (!plain_color) map_seen_color(frame, cell->mapping, page->color, page->step);
    seen->kinds |= 1u << cell->mapping->kind;
    seen->huge |= (page->flags & MAP_PAGE_HUGE) != 0;
}

/* --- small cells: one image ----------------------------------------------------------------------------------------
 */

/* Colour of a pixel of the cell; 0: the ground is seen. x, y on the screen, phased as the painter's patterns. */
static uint32_t small_pixel(const struct map_page *page, int x, int y, bool lower) {
    if (page->flags & MAP_PAGE_HUGE) return page->color;
    switch (page->pattern) {
    case UI_PATTERN_DOT:
    case UI_PATTERN_DOTS:
        return x % 4 == 0 && y % 4 == 0 ? page->color : 0;
    case UI_PATTERN_UNKNOWN:
        return (x + y) % 2 == 0 ? page->color : 0;
    case UI_PATTERN_STALE:
        return ui_mix(UI_GROUND, page->color, 50);
    case UI_PATTERN_OUTLINE:
        return ui_mix(UI_GROUND, page->color, 40);
    case UI_PATTERN_TORN:
        return lower ? ui_mix(UI_GROUND, page->color, 28) : page->color;
    case UI_PATTERN_SWAPPED:
        return lower ? page->color : 0;
    default:
        return page->color;
    }
}

static void paint_small(struct map_rows *rows, const struct map_cell *cell, struct ui_rect box) {
    struct ui_rect in = ui_rect_intersect(box, rows->area);
    for (int y = in.y; y < in.y + in.h; y++) {
        uint32_t *out = rows->image + (size_t)(y - rows->area.y) * (size_t)rows->area.w - rows->area.x;
        bool lower = y >= box.y + box.h / 2;
        for (int x = in.x; x < in.x + in.w; x++) out[x] = small_pixel(&cell->page, x, y, lower);
    }
}

/* --- huge pages ----------------------------------------------------------------------------------------------------
 */

static bool same_huge(const struct map_rows *rows, const struct map_cell *a, const struct map_cell *b) {
    if (!a || !b || !(a->page.flags & b->page.flags & MAP_PAGE_HUGE) || a->mapping != b->mapping) return false;
    uint64_t bytes = app_huge_bytes(map_page_size(rows->frame->app));
    return a->addr / bytes == b->addr / bytes;
}

static void huge_text(struct map_rows *rows, const struct map_cell *cell, struct ui_rect rect) {
    if (rows->huge_count == MAP_HUGE_TEXTS) return;
    uint64_t page = map_page_size(rows->frame->app), bytes = app_huge_bytes(page & UINT32_MAX);
    rows->huge[rows->huge_count++] = (struct map_huge_text){rect, cell->page, bytes, bytes / page};
}

/* One run of cells of one huge page in a row: its fill, and its frame where the page ends. */
static void paint_huge(struct map_rows *rows, int y, int from, int to, const struct map_cell *above,
                       const struct map_cell *row, const struct map_cell *below) {
    const struct map_grid *grid = &rows->grid;
    struct ui_draw *draw = rows->frame->draw;
    ui_color color = row[from].page.color;
    int x = rows->area.x + from * grid->cell_w, w = (to - from) * grid->cell_w - grid->gap;
    bool on = same_huge(rows, &row[from], below ? &below[from] : NULL);
    int h = grid->cell_h - (on ? 0 : grid->gap);
    ui_draw_rect(draw, ui_rect(x, y, w, h), ui_fade(color, 16));
    ui_draw_rect(draw, ui_rect(x, y, 2, h), color);
    ui_draw_rect(draw, ui_rect(x + w - 2, y, 2, h), color);
    for (int i = from; i < to; i++) {
        int left = rows->area.x + i * grid->cell_w, wide = grid->cell_w - (i + 1 < to ? 0 : grid->gap);
        if (!same_huge(rows, &row[i], above ? &above[i] : NULL)) ui_draw_rect(draw, ui_rect(left, y, wide, 2), color);
        if (!same_huge(rows, &row[i], below ? &below[i] : NULL))
            ui_draw_rect(draw, ui_rect(left, y + h - 2, wide, 2), color);
    }
    if (!same_huge(rows, &row[from], above ? &above[from] : NULL)) {
        uint64_t rows_high = app_huge_bytes(map_page_size(rows->frame->app)) / map_grid_row_bytes(grid);
        int high = rows_high > 1 ? (int)(rows_high < 4 ? rows_high : 4) * grid->cell_h : h;
        huge_text(rows, &row[from], ui_rect(x, y, w, high));
    }
}

void map_cells_huge_texts(struct map_rows *rows) {
    for (int i = 0; i < rows->huge_count; i++) {
        const struct map_huge_text *text = &rows->huge[i];
        char size[UI_FORMAT_SIZE], line[128], ago[UI_FORMAT_SIZE];
        struct ui_quantity quantity = ui_quantity_size(text->bytes);
        snprintf(size, sizeof size, "%.*s %s", (int)strcspn(quantity.number, "."), quantity.number, quantity.unit);
        snprintf(ago, sizeof ago, "%s", text->page.step < 0 ? "not seen written" : "written before this frame");
        snprintf(line, sizeof line, "one huge page, %s, %s", size,
                 text->page.step == 0 ? "written in this frame" : ago);
        int x = text->rect.x + 12, room = text->rect.w - 24;
        ui_color strong = ui_mix(UI_GROUND, text->page.color, 92), weak = ui_mix(UI_GROUND, text->page.color, 60);
        if (text->rect.h < 20 || room < 60) continue;
        ui_draw_text_fit(rows->frame->draw, x, text->rect.y + (text->rect.h < 36 ? 4 : 8), room, UI_S, strong, line);
        if (text->rect.h < 36) continue;
        snprintf(line, sizeof line, "its %llu small pages cannot be told apart", (unsigned long long)text->pages);
        ui_draw_text_fit(rows->frame->draw, x, text->rect.y + 22, room, UI_S, weak, line);
    }
}

/* --- large cells ---------------------------------------------------------------------------------------------------
 */

static ui_color words_color(ui_color fill, bool filled) {
    unsigned light = (fill >> 16 & 255) * 3 + (fill >> 8 & 255) * 6 + (fill & 255);
    return filled && light > 1100 ? UI_GROUND : UI_INK;
}

/* Words in cells that are large enough: which page, and what is known of it. */
static void words(struct map_rows *rows, const struct map_cell *cell, struct ui_rect box) {
    if (box.w < WORDS_W || box.h < WORDS_H || rows->grid.unit_bits) return;
    struct ui_draw *draw = rows->frame->draw;
    const struct map_page *page = &cell->page;
    bool filled = page->pattern == UI_PATTERN_EXACT || page->pattern == UI_PATTERN_TORN;
    ui_color color = words_color(page->color, filled);
    char line[64];
    uint64_t number = (cell->addr - cell->mapping->map->start) / map_page_size(rows->frame->app);
    snprintf(line, sizeof line, "page %llu", (unsigned long long)number);
    if (!filled) {
        int width = ui_max(ui_text_width(UI_S, line), 60) + 8;
        ui_draw_rect(draw, ui_rect(box.x + 3, box.y + 4, ui_min(width, box.w - 6), 26), UI_GROUND);
    }
    ui_draw_text_fit(draw, box.x + 6, box.y + 5, box.w - 10, UI_S, color, line);
    const char *state = page->pattern == UI_PATTERN_DOT       ? "untouched"
                        : page->pattern == UI_PATTERN_OUTLINE ? "zero"
                                                              : ui_pattern_name((enum ui_pattern)page->pattern);
    ui_draw_text_fit(draw, box.x + 6, box.y + 17, box.w - 10, UI_S, color, state);
}

static void paint_large(struct map_rows *rows, const struct map_cell *cell, struct ui_rect box) {
    ui_draw_pattern(rows->frame->draw, box, (enum ui_pattern)cell->page.pattern, cell->page.color);
    words(rows, cell, box);
}

void map_cells_paint(struct map_rows *rows, int y, const struct map_cell *above, const struct map_cell *row,
                     const struct map_cell *below) {
    int columns = map_grid_columns(&rows->grid);
    for (int i = 0; i < columns; i++) {
        if (!row[i].mapping) continue;
        note_seen(rows->frame, &row[i]);
        struct ui_rect box = map_cells_rect(rows, i, y);
        if (rows->image) {
            paint_small(rows, &row[i], box);
        } else if (row[i].page.flags & MAP_PAGE_HUGE && !rows->grid.unit_bits) {
            int end = i + 1;
            while (end < columns && same_huge(rows, &row[i], &row[end])) end++;
            paint_huge(rows, y, i, end, above, row, below);
            i = end - 1;
        } else {
            paint_large(rows, &row[i], box);
        }
    }
}

/* --- outlines ------------------------------------------------------------------------------------------------------
 */

static ui_color edge_color(const struct map_cell *a, const struct map_cell *b) {
    const struct map_cell *cell = b && b->mapping ? b : a;
    ui_color color = plain(cell->mapping) ? view_kind_color(cell->mapping->kind) : UI_RULE2;
    return ui_mix(UI_GROUND, color, 90);
}

static bool differ(const struct map_cell *a, const struct map_cell *b) {
    return (a ? a->block : -1) != (b ? b->block : -1);
}

/* Between two rows, one of which may be none. */
static void edges_across(struct map_rows *rows, int y, const struct map_cell *above, const struct map_cell *below) {
    int columns = map_grid_columns(&rows->grid), pitch = rows->grid.cell_w;
    for (int i = 0, end; i < columns; i = end) {
        const struct map_cell *a = above ? &above[i] : NULL, *b = below ? &below[i] : NULL;
        end = i + 1;
        if (!differ(a, b)) continue;
        ui_color color = edge_color(a, b);
        for (; end < columns; end++) {
            const struct map_cell *c = above ? &above[end] : NULL, *d = below ? &below[end] : NULL;
            if (!differ(c, d) || edge_color(c, d) != color) break;
        }
        ui_draw_hline(rows->frame->draw, rows->area.x + i * pitch - 1, y, (end - i) * pitch + 1, color);
    }
}

static void edges_down(struct map_rows *rows, int y, const struct map_cell *row) {
    int columns = map_grid_columns(&rows->grid);
    for (int i = 0; i <= columns; i++) {
        const struct map_cell *left = i > 0 ? &row[i - 1] : NULL, *right = i < columns ? &row[i] : NULL;
        if (!differ(left, right)) continue;
        ui_draw_vline(rows->frame->draw, rows->area.x + i * rows->grid.cell_w - 1, y - 1, rows->grid.cell_h + 1,
                      edge_color(left, right));
    }
}

void map_cells_outline(struct map_rows *rows, int y, const struct map_cell *above, const struct map_cell *row,
                       const struct map_cell *below) {
    bool gap = rows->grid.gap;
    if (gap || !above) edges_across(rows, y - 1, above, row);
    if (!below) edges_across(rows, y + rows->grid.cell_h - gap, row, NULL);
    if (gap) edges_down(rows, y, row);
}

/* --- for tests -----------------------------------------------------------------------------------------------------
 */

static void describe(struct map_rows *rows, const struct map_cell *cell, char *out, size_t size) {
    const struct map_page *page = &cell->page;
    char step[UI_FORMAT_SIZE] = "";
    if (!cell->mapping) {
        snprintf(out, size, "unmapped");
        return;
    }
    const char *pattern = ui_pattern_name((enum ui_pattern)page->pattern);
    view_recency_label(view_recency(rows->frame->app), page->step, step, sizeof step);
    bool dated = page->flags & MAP_PAGE_TOUCHED && page->pattern != UI_PATTERN_OUTLINE;
    snprintf(out, size, "%s%s%s%s%s", page->flags & MAP_PAGE_HUGE ? "huge " : "", pattern, dated ? " " : "",
             dated ? step : "", "");
}

void map_cells_value(struct map_rows *rows, const struct map_cell *row) {
    char text[480] = "", last[64] = "", now[64];
    int columns = map_grid_columns(&rows->grid), count = 0;
    size_t used = 0;
    for (int i = 0; i <= columns; i++) {
        if (i < columns) describe(rows, &row[i], now, sizeof now);
        if (i < columns && count && !strcmp(now, last)) {
            count++;
            continue;
        }
        if (used > 380) { /* a long row goes on in the next value */
            ui_draw_value(rows->frame->draw, "cells", "%s", text);
            used = 0;
        }
        if (count) used += (size_t)snprintf(text + used, sizeof text - used, "%s%d %s", used ? ", " : "", count, last);
        count = 1;
        snprintf(last, sizeof last, "%s", now);
    }
    ui_draw_value(rows->frame->draw, "cells", "%s", text);
}
