/* Beside the rows of pages: addresses at the left, names and threads at the right. */
#include "map_rows.h"

#include <stdio.h>
#include <string.h>

enum {
    ADDRESS_GAP = 8,    /* between addresses and cells */
    ADDRESS_LEAST = 12, /* from one address to the next */
    NAME_X = 8,         /* from the cells to the names */
    NAME_LINE = 11,     /* from one name to the next */
    NAME_OFF = 26,      /* names further than this from their row are left out */
    NAMES_MOST = 3,     /* names of one row */
    TICK = 4
};

void map_margin_address(struct map_rows *rows, uint64_t address, int y, bool wanted) {
    struct ui_draw *draw = rows->frame->draw;
    int right = rows->area.x - ADDRESS_GAP, middle = y + (rows->grid.cell_h - rows->grid.gap) / 2;
    if (!rows->frame->layout->map_columns) return;
    if (wanted && middle - 6 >= rows->address_bottom && middle - 6 >= rows->area.y - 2) {
        int x = right - ui_address_width(UI_S);
        ui_draw_address(draw, x, middle - 6, UI_S, UI_DIM, address, rows->address_above);
        rows->address_above = address;
        rows->address_bottom = middle + ADDRESS_LEAST - 6;
    } else if (rows->grid.cell_h >= 6 && middle >= rows->address_bottom) {
        ui_draw_hline(draw, right - TICK, middle, TICK, UI_RULE);
    }
}

static struct map_label *add(struct map_rows *rows, int y) {
    if (rows->label_count == MAP_LABELS) return NULL;
    struct map_label *label = &rows->label[rows->label_count++];
    *label = (struct map_label){.y = y, .color = UI_INK};
    return label;
}

static int text_y(const struct map_rows *rows, int y) {
    return ui_max(y + ui_min((rows->grid.cell_h - rows->grid.gap) / 2, 8) - 6, rows->area.y - 1);
}

static void block_name(struct map_rows *rows, const struct app_mapping *mapping, int block, char *out, size_t size) {
    const struct app_regions *regions = app_regions(rows->frame->app);
    const struct app_mapping *next = mapping + 1;
    bool alone =
        block == mapping - regions->map && !(block + 1 < (int)regions->count && next->map->start == mapping->map->end &&
                                             next->group == mapping->group && !next->reserved && !next->guard);
    if (alone || mapping->reserved || mapping->guard)
        map_plain_name(mapping, out, size);
    else
        snprintf(out, size, "%s", regions->group[mapping->group].name);
}

void map_margin_names(struct map_rows *rows, int y, const struct map_cell *row) {
    int columns = map_grid_columns(&rows->grid), count = 0;
    for (int i = 0; i < columns; i++) {
        const struct app_mapping *mapping = row[i].mapping;
        if (!mapping || row[i].block <= rows->block_named) continue;
        rows->block_named = row[i].block;
        /* What is reserved beside something used is said by the note that follows. */
        if (mapping->reserved && i > 0 && row[i - 1].mapping) continue;
        if (++count > NAMES_MOST) continue;
        struct map_label *label = add(rows, text_y(rows, y));
        if (!label) return;
        bool chosen = app_selects(rows->frame->app, mapping->map->start, mapping->map->end) &&
                      rows->frame->app->selection.kind == APP_PLACE_MAPPING;
        label->bar = true;
        label->bar_color = mapping->guard || mapping->reserved ? UI_RULE2 : view_kind_color(mapping->kind);
        label->color = chosen ? UI_WHITE : UI_INK;
        block_name(rows, mapping, row[i].block, label->text, sizeof label->text);
    }
    if (count <= NAMES_MOST) return;
    struct map_label *more = &rows->label[rows->label_count - 1];
    *more = (struct map_label){.y = more->y, .color = UI_FAINT};
    snprintf(more->text, sizeof more->text, "and %d more", count - NAMES_MOST + 1);
}

/* --- threads -------------------------------------------------------------------------------------------------------
 */

static void sign_in_cell(struct map_rows *rows, const struct map_marker *marker, struct ui_rect cell) {
    struct ui_draw *draw = rows->frame->draw;
    if (cell.w < 7 || cell.h < 7) {
        ui_draw_rect(draw, ui_rect(cell.x, cell.y, ui_max(cell.w, 2), ui_max(cell.h, 2)), UI_WHITE);
        return;
    }
    int x = cell.x + ui_min((cell.w - 6) / 2, 12), y = cell.y + (cell.h - 8) / 2;
    ui_draw_rect(draw, ui_rect(x - 1, y, 8, 9), ui_fade(UI_GROUND, 60));
    map_marker_sign(draw, x, y, marker);
}

static void name_marker(struct map_rows *rows, const struct map_marker *marker, int y, int more) {
    struct map_label *label = add(rows, text_y(rows, y));
    if (!label) return;
    label->marker = marker;
    snprintf(label->text, sizeof label->text, "%s %s", map_marker_word(marker), view_thread_name(marker->thread));
    size_t used = strlen(label->text);
    if (more) snprintf(label->text + used, sizeof label->text - used, " +%d", more);
}

void map_margin_markers(struct map_rows *rows, const struct map_item *item) {
    struct map_frame *frame = rows->frame;
    size_t i = map_markers_lower(frame, item->start < 0 ? 0 : (uint64_t)item->start);
    for (; i < frame->marker_count && (int64_t)frame->marker[i].addr < item->end; i++) {
        const struct map_marker *marker = &frame->marker[i];
        int column, row, more = 0;
        /* In the same cell as SP it would hide it. */
        uint64_t bytes = map_grid_cell_bytes(&rows->grid);
        if (marker->what == MAP_MARKER_FP && marker->addr / bytes == marker->thread->sp / bytes) continue;
        map_grid_cell(&rows->grid, (uint64_t)((int64_t)marker->addr - item->start), &column, &row);
        int y = rows->area.y + item->y + row * rows->grid.cell_h;
        sign_in_cell(rows, marker, map_cells_rect(rows, column, y));
        while (i + 1 < frame->marker_count && frame->marker[i + 1].what == marker->what &&
               frame->marker[i + 1].addr / rows->grid.page == marker->addr / rows->grid.page)
            i++, more++;
        name_marker(rows, marker, y, more);
        frame->seen.markers = true;
    }
}

void map_margin_selected(struct map_rows *rows, struct ui_rect cell) {
    int middle = cell.y + cell.h / 2, from = ui_rect_right(cell) + 2;
    int to = rows->area.x + map_grid_width(&rows->grid) + NAME_X + 3;
    /* Not through the words of a huge page. */
    if (!(map_page_at(rows->frame, rows->frame->app->selection.addr)->flags & MAP_PAGE_HUGE))
        ui_draw_hline(rows->frame->draw, from, middle, to - from, ui_fade(UI_WHITE, 35));
    struct map_label *label = add(rows, middle - 6);
    if (!label) return;
    label->color = UI_WHITE;
    snprintf(label->text, sizeof label->text, "selected");
}

/* --- drawing -------------------------------------------------------------------------------------------------------
 */

static void sort_labels(struct map_rows *rows) {
    for (int i = 1; i < rows->label_count; i++)
        for (int j = i; j > 0 && rows->label[j].y < rows->label[j - 1].y; j--) {
            struct map_label swap = rows->label[j];
            rows->label[j] = rows->label[j - 1];
            rows->label[j - 1] = swap;
        }
}

static void draw_label(struct map_rows *rows, const struct map_label *label, int y) {
    struct ui_draw *draw = rows->frame->draw;
    int x = rows->area.x + map_grid_width(&rows->grid) + NAME_X;
    ui_draw_begin_group(draw, "name", label->text);
    if (label->bar) ui_draw_rect(draw, ui_rect(x, y + 2, 3, 8), label->bar_color);
    if (label->marker) map_marker_sign(draw, x, y + 2, label->marker);
    int text_x = x + (label->marker ? 10 : 7);
    ui_draw_text_fit(draw, text_x, y, ui_rect_right(rows->panel) - 2 - text_x, UI_S, label->color, label->text);
    ui_draw_end_group(draw);
}

void map_margin_draw(struct map_rows *rows) {
    int free_y = INT32_MIN;
    if (ui_rect_right(rows->panel) - rows->area.x - map_grid_width(&rows->grid) < 40) return;
    sort_labels(rows);
    for (int i = 0; i < rows->label_count; i++) {
        const struct map_label *label = &rows->label[i];
        int y = ui_max(label->y, free_y);
        if (y - label->y > NAME_OFF || y + 10 > ui_rect_bottom(rows->area)) continue;
        draw_label(rows, label, y);
        free_y = y + NAME_LINE;
    }
}
