/* The list of regions: a tree by file, heap, stacks, anonymous memory and kernel, with sizes and residency in time. */
#include "app_curves.h"
#include "app_regions.h"
#include "ui_format.h"
#include "views.h"

#include <stdio.h>

enum { ROW = 13, HEADER = 20, TOTALS = 19, SPARK = APP_CURVES_SPARK, SPARK_HEIGHT = 8, FIRST_GAP = 5 };

struct row {
    int group;   /* index */
    int mapping; /* index into regions->map, -1: the group's own row */
    bool child;
};

struct columns { /* right edges */
    int size, resident, written, spark;
    bool numbers;
};

static struct columns columns_of(const struct view_layout *layout) {
    int right = ui_rect_right(layout->regions);
    bool numbers = layout->region_numbers;
    return (struct columns){numbers ? right - 130 : right - 60, right - 80, right - 50, right - 8, numbers};
}

/* --- which rows there are --- */

static bool group_selected(struct app *app, const struct app_regions *regions, const struct app_group *group) {
    if (app->selection.kind == APP_PLACE_GROUP) return app->selection.group == group->id;
    for (int i = 0; i < group->count; i++) {
        const struct vmv_mapping *map = regions->map[regions->order[group->first + i]].map;
        if (app_selects(app, map->start, map->end)) return true;
    }
    return false;
}

static bool is_folded(struct app *app, const struct view_layout *layout, const struct app_regions *regions, int group) {
    bool changed = app_group_folded(app, regions->group[group].id);
    if (!layout->fold_groups) return changed;
    return group_selected(app, regions, &regions->group[group]) ? changed : !changed;
}

static int list_rows(struct app *app, const struct view_layout *layout, struct row **rows) {
    const struct app_regions *regions = app_regions(app);
    int count = 0;
    *rows = ui_draw_alloc(app->draw, (regions->count + regions->group_count + 1) * sizeof **rows);
    if (!*rows) return 0;
    for (int g = 0; g < (int)regions->group_count; g++) {
        const struct app_group *group = &regions->group[g];
        if (group->single) {
            (*rows)[count++] = (struct row){g, regions->order[group->first], false};
            continue;
        }
        (*rows)[count++] = (struct row){g, -1, false};
        if (is_folded(app, layout, regions, g)) continue;
        for (int i = 0; i < group->count; i++)
            (*rows)[count++] = (struct row){g, regions->order[group->first + i], true};
    }
    return count;
}

static struct app_place row_place(const struct app_regions *regions, const struct row *row) {
    if (row->mapping >= 0) return app_place_mapping(&regions->map[row->mapping]);
    return (struct app_place){.kind = APP_PLACE_GROUP, .group = regions->group[row->group].id};
}

static bool row_selected(struct app *app, const struct app_regions *regions, const struct row *row) {
    if (row->mapping >= 0) {
        const struct vmv_mapping *map = regions->map[row->mapping].map;
        return app_selects(app, map->start, map->end);
    }
    return app->selection.kind == APP_PLACE_GROUP && app->selection.group == regions->group[row->group].id;
}

/* --- sparkline --- */

static void add_spark(struct app *app, const struct vmv_mapping *map, uint64_t *sums, bool *mapped) {
    const struct timeline_region_column *column = app_curves_spark(app, map->start, map->end);
    for (int i = 0; column && i < SPARK; i++) {
        sums[i] += column[i].resident;
        mapped[i] |= column[i].mapped;
    }
}

static int spark_height(uint64_t resident, uint64_t pages) {
    if (!resident || !pages) return 0;
    if (resident >= pages) return SPARK_HEIGHT;
    return (int)((resident * SPARK_HEIGHT + pages - 1) / pages);
}

static void draw_spark_gaps(struct app *app, int x, int y) {
    size_t count = 0;
    const struct vmv_event *landmark = timeline_landmarks(app->tl, &count);
    for (size_t i = 0; i < count; i++) {
        if (landmark[i].type != VMV_EV_GAP || !app->duration) continue;
        int from = (int)((double)landmark[i].t / (double)app->duration * SPARK);
        int to = (int)((double)landmark[i].to / (double)app->duration * SPARK);
        from = ui_clamp(from, 0, SPARK - 1);
        to = ui_clamp(to, from + 1, SPARK);
        ui_draw_rect(app->draw, ui_rect(x + from, y, to - from, SPARK_HEIGHT), UI_PANEL);
        ui_draw_dashed_v(app->draw, x + (from + to) / 2, y, SPARK_HEIGHT, UI_DOTTED, UI_FAINT);
    }
}

static void draw_spark(struct app *app, const struct app_regions *regions, const struct row *row, int x, int y) {
    uint64_t sums[SPARK] = {0};
    bool mapped[SPARK] = {false};
    const struct app_group *group = &regions->group[row->group];
    uint64_t bytes = group->bytes;
    ui_color color = view_kind_color(group->kind);
    if (row->mapping >= 0) {
        const struct app_mapping *mapping = &regions->map[row->mapping];
        add_spark(app, mapping->map, sums, mapped);
        bytes = mapping->map->end - mapping->map->start;
        color = view_kind_color(mapping->kind);
    } else {
        for (int i = 0; i < group->count; i++)
            add_spark(app, regions->map[regions->order[group->first + i]].map, sums, mapped);
    }
    uint64_t pages = bytes / app->world->page_size;
    for (int i = 0, end; i < SPARK; i = end) {
        int height = spark_height(sums[i], pages);
        for (end = i + 1; end < SPARK && spark_height(sums[end], pages) == height && mapped[end] == mapped[i];) end++;
        ui_draw_rect(app->draw, ui_rect(x + i, y + SPARK_HEIGHT - height, end - i, height), ui_fade(color, 85));
        if (mapped[i]) ui_draw_hline(app->draw, x + i, y + SPARK_HEIGHT, end - i, UI_RULE);
    }
    draw_spark_gaps(app, x, y);
    if (!app->duration) return;
    int cursor = (int)((double)app->t / (double)app->duration * (SPARK - 1));
    ui_draw_vline(app->draw, x + cursor, y - 1, SPARK_HEIGHT + 2, UI_WHITE);
}

/* --- rows --- */

struct numbers {
    uint64_t bytes, resident, written;
};

/* Four digits fit. */
static void written_text(char *out, size_t size, uint64_t written) {
    if (written < 10000)
        snprintf(out, size, "%llu", (unsigned long long)written);
    else if (written < 1000000)
        snprintf(out, size, "%lluk", (unsigned long long)written / 1000);
    else
        snprintf(out, size, "%lluM", (unsigned long long)written / 1000000);
}

static void draw_numbers(struct app *app, const struct columns *columns, int y, struct numbers n, ui_color color) {
    struct ui_draw *draw = app->draw;
    ui_draw_quantity_right(draw, columns->size, y, UI_S, color, ui_quantity_size(n.bytes), 3);
    if (!columns->numbers) return;
    if (n.resident)
        ui_draw_quantity_right(draw, columns->resident, y, UI_S, color,
                               ui_quantity_size(n.resident * app->world->page_size), 3);
    else
        ui_draw_text_right(draw, columns->resident - 9, y, UI_S, UI_GHOST, UI_NONE);
    char text[UI_FORMAT_SIZE];
    written_text(text, sizeof text, n.written);
    if (n.written) ui_draw_text_right(draw, columns->written, y, UI_S, UI_WRITTEN_1, text);
}

static void draw_fold(struct app *app, const struct view_layout *layout, const struct row *row, int x, int y) {
    const struct app_regions *regions = app_regions(app);
    const struct app_group *group = &regions->group[row->group];
    struct ui_rect area = ui_rect(x, y, 15, ROW);
    ui_id id = ui_id_child(ui_id_of("fold"), group->id);
    bool folded = is_folded(app, layout, regions, row->group);
    if (folded)
        ui_draw_triangle(app->draw, ui_rect(x + 9, y + 3, 4, 7), UI_RIGHT, UI_FAINT);
    else
        ui_draw_triangle(app->draw, ui_rect(x + 7, y + 4, 7, 4), UI_DOWN, UI_FAINT);
    if (ui_area(&app->ui, id, area, UI_CURSOR_ARROW, 0) & UI_PRESSED) {
        app_group_fold(app, group->id, !app_group_folded(app, group->id));
        app->redraw = true;
    }
}

static void answer_row(struct app *app, struct app_place place, unsigned signals) {
    if (signals & UI_HOVER) app_hover_place(app, place);
    if (signals & UI_PRESSED) {
        app->focus = APP_PANEL_REGIONS;
        if (signals & UI_DOUBLE_CLICKED)
            app_goto(app, place);
        else
            app_select(app, place);
        app->regions_seen = place;
    }
}

static void draw_row(struct app *app, const struct view_layout *layout, const struct row *row, int y) {
    const struct app_regions *regions = app_regions(app);
    const struct app_group *group = &regions->group[row->group];
    const struct app_mapping *mapping = row->mapping >= 0 ? &regions->map[row->mapping] : NULL;
    struct columns columns = columns_of(layout);
    struct ui_rect rect = ui_rect(layout->regions.x, y, layout->regions.w - 1, ROW);
    struct app_place place = row_place(regions, row);
    bool selected = row_selected(app, regions, row);
    const char *name = !mapping ? group->name : row->child ? mapping->short_name : mapping->name;
    int x = rect.x + (row->child ? 28 : 18), name_x = x + 7;
    struct numbers n = {group->bytes, group->resident, group->written};
    if (mapping) n = (struct numbers){mapping->map->end - mapping->map->start, mapping->resident, mapping->written};
    ui_id id = ui_id_child(ui_id_of("region"), mapping ? mapping->map->start : group->id);
    ui_draw_begin_group(app->draw, "row", name);
    unsigned signals = ui_list_row(&app->ui, id, rect, selected);
    answer_row(app, place, signals);
    bool hovered = app->hover_set && app_place_equal(app->hover, place);
    if (mapping && !hovered) hovered = app_hovers(app, mapping->map->start, mapping->map->end);
    if (hovered && !(signals & UI_HOVER)) ui_hover_box(app->draw, ui_rect_inset(rect, 1));
    if (!mapping) draw_fold(app, layout, row, rect.x, y);
    bool pale = mapping && (mapping->guard || mapping->reserved);
    ui_color bar = pale ? UI_RULE2 : view_kind_color(mapping ? mapping->kind : group->kind);
    ui_draw_rect(app->draw, ui_rect(x, y + 2, 3, 9), bar);
    ui_color color = row->child ? UI_DIM : UI_INK;
    ui_draw_text_fit(app->draw, name_x, y + 1, columns.size - 48 - name_x, UI_S, selected ? UI_INK : color, name);
    draw_numbers(app, &columns, y + 1, n, color);
    draw_spark(app, regions, row, columns.spark - SPARK, y + 2);
    ui_draw_end_group(app->draw);
}

/* --- header, totals --- */

static void head(struct app *app, const char *name, int right, int y, ui_color color) {
    ui_draw_begin_group(app->draw, "column", name);
    ui_draw_text_right(app->draw, right, y, UI_S, color, name);
    ui_draw_end_group(app->draw);
}

static void draw_header(struct app *app, const struct view_layout *layout) {
    struct columns columns = columns_of(layout);
    struct ui_rect rect = layout->regions;
    int y = rect.y + 4;
    ui_draw_text(app->draw, rect.x + 12, y, UI_S, UI_FAINT, "REGIONS");
    head(app, "size", columns.size - 21, y, UI_FAINT);
    if (columns.numbers) {
        head(app, "resident", columns.resident, y, UI_DIM);
        head(app, "wr", columns.written, y, UI_FAINT);
        head(app, "in time", columns.spark + 4, y, UI_FAINT);
    } else {
        head(app, "resident", columns.spark, y, UI_FAINT);
    }
    ui_draw_hline(app->draw, rect.x, rect.y + HEADER - 1, rect.w, UI_HAIR);
}

static void draw_totals(struct app *app, const struct view_layout *layout, struct ui_rect rect) {
    const struct app_regions *regions = app_regions(app);
    struct columns columns = columns_of(layout);
    char text[UI_FORMAT_SIZE];
    ui_draw_begin_group(app->draw, "row", "total");
    ui_draw_hline(app->draw, rect.x, rect.y, rect.w, UI_HAIR);
    snprintf(text, sizeof text, regions->count == 1 ? "1 mapping" : "%zu mappings", regions->count);
    ui_draw_text(app->draw, rect.x + 12, rect.y + 4, UI_S, UI_FAINT, text);
    struct numbers sums = {regions->bytes, regions->resident, regions->written};
    draw_numbers(app, &columns, rect.y + 4, sums, UI_INK);
    ui_draw_end_group(app->draw);
}

static void draw_nothing(struct app *app, struct ui_rect rect) {
    const struct vmv_process *process = vmv_world_process(app->world, app->pid);
    const char *why = !process         ? "the process has not started"
                      : process->ended ? "the process has ended"
                                       : "no mappings";
    ui_draw_text_fit(app->draw, rect.x + 12, rect.y + 8, rect.w - 24, UI_S, UI_FAINT, why);
}

/* Bring the selected row into view when something else selected it. */
static void follow_selection(struct app *app, const struct row *rows, int count, int height) {
    const struct app_regions *regions = app_regions(app);
    if (app_place_equal(app->regions_seen, app->selection)) return;
    app->regions_seen = app->selection;
    for (int i = 0; i < count; i++)
        if (row_selected(app, regions, &rows[i])) {
            app->regions_scroll.content = count * ROW + 2 * FIRST_GAP;
            ui_scroll_show(&app->regions_scroll, height, i * ROW, ROW + 2 * FIRST_GAP);
            return;
        }
}

void view_regions_draw(struct app *app, const struct view_layout *layout) {
    struct ui_rect rect = layout->regions, list = rect;
    struct row *rows;
    ui_draw_begin_group(app->draw, "panel", "regions");
    ui_draw_push_clip(app->draw, rect);
    ui_panel_background(app->draw, rect, UI_PANEL, app->focus == APP_PANEL_REGIONS);
    draw_header(app, layout);
    ui_rect_cut_top(&list, HEADER);
    struct ui_rect totals = ui_rect_cut_bottom(&list, TOTALS);
    list.w -= 1;
    int count = list_rows(app, layout, &rows), height = count * ROW + 2 * FIRST_GAP;
    follow_selection(app, rows, count, list.h);
    ui_id id = ui_id_of("regions");
    int y = ui_scroll_begin(&app->ui, id, list, height, &app->regions_scroll) + FIRST_GAP;
    for (int i = 0; i < count; i++)
        if (ui_draw_visible(app->draw, ui_rect(rect.x, y + i * ROW, rect.w, ROW)))
            draw_row(app, layout, &rows[i], y + i * ROW);
    if (!count) draw_nothing(app, list);
    ui_scroll_end(&app->ui, id, list, &app->regions_scroll);
    draw_totals(app, layout, totals);
    ui_draw_vline(app->draw, ui_rect_right(rect) - 1, rect.y, rect.h, UI_HAIR);
    ui_draw_pop_clip(app->draw);
    ui_draw_end_group(app->draw);
}

bool view_regions_step(struct app *app, int step) {
    if (!app->draw) return false;
    struct view_layout layout = view_layout(app);
    const struct app_regions *regions = app_regions(app);
    struct row *rows;
    int count = list_rows(app, &layout, &rows), at = -1;
    for (int i = 0; i < count && at < 0; i++)
        if (row_selected(app, regions, &rows[i])) at = i;
    at = at < 0 ? (step > 0 ? 0 : count - 1) : at + step;
    if (at < 0 || at >= count) return false;
    app_select(app, row_place(regions, &rows[at]));
    return true;
}
