/* The list of mappings: address, protection, name, bar and size of each, gaps between them, threads where they are. */
#include "map_space.h"

#include <stdio.h>
#include <string.h>

enum { BAR_GAP = 8, NUMBER = 24, MARKER_GAP = 10, GUIDE_EVERY = 2, GUIDE_APART = 20, LARGE_GAP_BITS = 30 };

static bool is_selected(struct app *app, const struct map_entry *entry) {
    if (entry->kind == MAP_ENTRY_GAP)
        return app->selection.kind == APP_PLACE_GAP && app->selection.addr == entry->start;
    if (app->selection.kind == APP_PLACE_SPACE) return false;
    if (app->selection.kind == APP_PLACE_GROUP) {
        const struct app_regions *regions = app_regions(app);
        return regions->group[regions->map[entry->first].group].id == app->selection.group;
    }
    return app_selects(app, entry->start, entry->end);
}

static const char *entry_name(const struct map_space *space, const struct map_entry *entry, char *out, size_t size) {
    struct app *app = space->frame->app;
    bool columns = space->columns;
    const struct app_regions *regions = app_regions(app);
    const struct app_mapping *first = &regions->map[entry->first];
    if (entry->kind == MAP_ENTRY_CLUSTER) {
        char count[UI_FORMAT_SIZE];
        ui_format_count(count, sizeof count, entry->count);
        snprintf(out, size, "%s \xe2\x80\xa6 %s, %s mappings", first->name,
                 regions->map[entry->first + entry->count - 1].name, count);
    } else if (entry->count > 1) {
        /* Of a thread's stack and guard, the stack. */
        const struct app_mapping *last = first + entry->count - 1;
        snprintf(out, size, "%s", last->kind == VMV_KIND_STACK ? last->name : regions->group[first->group].name);
    } else if (columns) {
        map_plain_name(first, out, size);
    } else {
        snprintf(out, size, "%s", first->name);
    }
    return out;
}

/* --- bars ----------------------------------------------------------------------------------------------------------
 */

struct ui_rect map_list_bar(const struct map_drawn *drawn, const struct app_regions *regions, uint32_t page_size,
                            const struct map_list *list, const struct map_entry *entry) {
    int y = drawn->cells.y + map_list_y(list, entry), h = map_list_h(list, entry);
    if (entry->kind == MAP_ENTRY_GAP) return ui_rect(drawn->cells.x, y, drawn->cells.w - 12, h);
    uint64_t bytes = entry->end - entry->start;
    if (entry->kind == MAP_ENTRY_CLUSTER) {
        bytes = 0;
        for (size_t i = entry->first; i < entry->first + entry->count && i < regions->count; i++)
            bytes += regions->map[i].map->end - regions->map[i].map->start;
    }
    int high = ui_clamp(h - 3, 4, 16);
    return ui_rect(drawn->bar_x, y + (h - high) / 2, map_bar_width(bytes, page_size, drawn->bar_step), high);
}

/* One part for each mapping, as wide as its share of the bytes, at least a pixel where there is room. */
static void draw_cluster_bar(struct map_space *space, const struct map_entry *entry, struct ui_rect bar) {
    const struct app_regions *regions = app_regions(space->frame->app);
    uint64_t total = 0, before = 0;
    for (size_t i = entry->first; i < entry->first + entry->count; i++)
        total += regions->map[i].map->end - regions->map[i].map->start;
    int x = bar.x;
    for (size_t i = entry->first; i < entry->first + entry->count && total; i++) {
        before += regions->map[i].map->end - regions->map[i].map->start;
        int end = bar.x + (int)((double)before / (double)total * bar.w);
        if (end <= x && x < ui_rect_right(bar)) end = x + 1;
        if (end > x) map_bar_draw(space->frame, i, 1, ui_rect(x, bar.y, end - x, bar.h));
        x = ui_max(x, end);
    }
}

static void draw_guides(struct map_space *space) {
    struct ui_rect area = space->area;
    if (space->frame->cache->list.to_scale) return;
    int every = GUIDE_EVERY;
    while (every * space->bar_step < GUIDE_APART) every++;
    for (int i = 0;; i += every) {
        int x = space->bar_x + map_bar_width(map_page_size(space->frame->app) * (1ull << i),
                                             map_page_size(space->frame->app), space->bar_step);
        if (x > space->bar_x + 230 || x > space->right - 60 || i > 40) return;
        ui_draw_dashed_v(space->frame->draw, x, area.y, area.h, UI_DOTTED, UI_RULE);
    }
}

/* --- a row ---------------------------------------------------------------------------------------------------------
 */

static int draw_markers(struct map_space *space, const struct map_entry *entry, int x, int y) {
    struct map_frame *frame = space->frame;
    size_t i = map_markers_lower(frame, entry->start);
    for (; i < frame->marker_count && frame->marker[i].addr < entry->end; i++) {
        const struct map_marker *marker = &frame->marker[i];
        char text[48];
        if (marker->what == MAP_MARKER_FP) continue; /* beside SP, on this scale */
        snprintf(text, sizeof text, "%s %s", map_marker_word(marker), view_thread_name(marker->thread));
        int end = x + 9 + ui_text_width(UI_S, text);
        if (end > space->right) {
            ui_draw_text(frame->draw, x, y, UI_S, UI_INK, "\xe2\x80\xa6");
            return x;
        }
        map_marker_sign(frame->draw, x, y + 2, marker);
        ui_draw_text(frame->draw, x + 9, y, UI_S, UI_INK, text);
        frame->seen.markers = true;
        x = end + MARKER_GAP;
    }
    return x;
}

static void draw_size(struct map_space *space, const struct map_entry *entry, int x, int y, uint64_t bytes,
                      ui_color color) {
    struct ui_quantity size = ui_quantity_size(bytes);
    struct ui_draw *draw = space->frame->draw;
    int right = x + BAR_GAP + NUMBER;
    ui_draw_text_right(draw, right, y, UI_S, color, size.number);
    int end = ui_draw_text(draw, right + ui_group_gap(UI_S), y, UI_S, UI_FAINT, size.unit);
    draw_markers(space, entry, end + 8, y);
}

static void draw_facts(struct map_space *space, const struct map_entry *entry) {
    struct ui_draw *draw = space->frame->draw;
    const struct app_regions *regions = app_regions(space->frame->app);
    uint64_t resident = 0, bytes = 0;
    for (size_t i = entry->first; i < entry->first + entry->count; i++) {
        resident += regions->map[i].resident;
        bytes += regions->map[i].map->end - regions->map[i].map->start;
    }
    ui_draw_value(draw, "start", "%012llx", (unsigned long long)entry->start);
    ui_draw_value(draw, "end", "%012llx", (unsigned long long)entry->end);
    ui_draw_value(draw, "size", "%llu", (unsigned long long)bytes);
    ui_draw_value(draw, "resident", "%llu", (unsigned long long)(resident * map_page_size(space->frame->app)));
    ui_draw_value(draw, "kind", "%s", view_kind_word(regions->map[entry->first].kind));
}

static void draw_mapping(struct map_space *space, const struct map_entry *entry, uint64_t above) {
    struct map_frame *frame = space->frame;
    struct ui_draw *draw = frame->draw;
    const struct app_regions *regions = app_regions(frame->app);
    struct ui_rect bar =
        map_list_bar(&frame->cache->drawn, regions, map_page_size(frame->app), &frame->cache->list, entry);
    int y = space->area.y + map_list_y(&frame->cache->list, entry), h = map_list_h(&frame->cache->list, entry);
    bool selected = is_selected(frame->app, entry);
    ui_color color = selected ? UI_WHITE : UI_DIM;
    char name[APP_NAME_SIZE * 2 + 64], perm[5];
    int text_y = y + (h - 12) / 2, left = space->columns ? space->address_x : space->name_x;
    if (selected) {
        struct ui_rect row = ui_rect(left - 6, y - 1, ui_rect_right(frame->main) - left + 5, h + 2);
        ui_draw_rect(draw, row, UI_RAISED2);
        ui_draw_rect(draw, ui_rect(row.x, row.y, 2, row.h), UI_WHITE);
    }
    if (space->columns) {
        ui_draw_address(draw, space->address_x, text_y, UI_S, color, entry->start, above);
        view_perm(regions->map[entry->first].map, perm);
        if (entry->kind == MAP_ENTRY_MAPPINGS) ui_draw_text(draw, space->perm_x, text_y, UI_S, UI_FAINT, perm);
    }
    entry_name(space, entry, name, sizeof name);
    uint64_t bytes = entry->end - entry->start;
    if (entry->kind == MAP_ENTRY_CLUSTER) {
        /* Its own words need the room of the bar's column too. */
        int end = ui_draw_text_fit(draw, space->name_x, text_y, space->right - space->name_x - 90, UI_S, color, name);
        bar.x = ui_max(bar.x, end + 8);
        bar.w = ui_min(bar.w, space->right - 60 - bar.x);
        bytes = 0;
        for (size_t i = entry->first; i < entry->first + entry->count; i++)
            bytes += regions->map[i].map->end - regions->map[i].map->start;
        draw_cluster_bar(space, entry, bar);
    } else {
        ui_draw_text_fit(draw, space->name_x, text_y, space->bar_x - space->name_x - 6, UI_S, color, name);
        map_bar_draw(frame, entry->first, entry->count, bar);
    }
    draw_size(space, entry, ui_rect_right(bar), text_y, bytes, color);
    if (selected && frame->app->selection.kind != APP_PLACE_GROUP) ui_selection_box(draw, bar);
    draw_facts(space, entry);
}

static void draw_gap(struct map_space *space, const struct map_entry *entry) {
    struct ui_draw *draw = space->frame->draw;
    const struct map_list *list = &space->frame->cache->list;
    bool large = (entry->end - entry->start) >> LARGE_GAP_BITS, selected = is_selected(space->frame->app, entry);
    int y = space->area.y + map_list_y(list, entry) + map_list_h(list, entry) / 2;
    char size[UI_FORMAT_SIZE], text[UI_FORMAT_SIZE + 16];
    ui_format_size(size, sizeof size, entry->end - entry->start);
    snprintf(text, sizeof text, "%s%s", size, large ? " unmapped" : "");
    int on = large ? 4 : 1, left = space->columns ? space->address_x : space->name_x;
    int end = ui_draw_text(draw, space->name_x, y - 6, UI_S, selected ? UI_WHITE : large ? UI_DIM : UI_FAINT, text) + 8;
    if (space->columns) ui_draw_dashed_h(draw, left, y, space->name_x - 7 - left, on, 3, large ? UI_RULE2 : UI_RULE);
    ui_draw_dashed_h(draw, end, y, space->right - end, on, 3, large ? UI_RULE2 : UI_RULE);
    ui_draw_value(draw, "start", "%012llx", (unsigned long long)entry->start);
    ui_draw_value(draw, "end", "%012llx", (unsigned long long)entry->end);
    ui_draw_value(draw, "size", "%llu", (unsigned long long)(entry->end - entry->start));
}

/* --- all of them ---------------------------------------------------------------------------------------------------
 */

static void draw_header(struct map_space *space) {
    struct ui_draw *draw = space->frame->draw;
    int y = space->frame->main.y + 4;
    static const char *const names[] = {"address", "perm", "mapping", "size"};
    const int x[] = {space->address_x, space->perm_x, space->name_x, space->bar_x};
    for (int i = 0; i < 4; i++) {
        if (!space->columns && i < 3) continue;
        const char *text = names[i];
        if (i == 3)
            text = space->columns ? "size, a step each doubling; filled where resident" : "size (log), resident";
        ui_draw_begin_group(draw, "column", names[i]);
        ui_draw_text_fit(draw, x[i], y, ui_rect_right(space->frame->main) - x[i] - 4, UI_S, UI_FAINT, text);
        ui_draw_end_group(draw);
    }
}

/* How much of the list is seen, at the right edge. */
static void draw_scroll_bar(struct map_space *space) {
    const struct map_list *list = &space->frame->cache->list;
    double content = map_list_content(list);
    if (list->to_scale || content <= list->height) return;
    int length = ui_max((int)(list->height * (double)list->height / content), 16);
    int y = (int)((list->height - length) * (-list->top / (content - list->height)));
    ui_draw_rect(space->frame->draw, ui_rect(ui_rect_right(space->frame->main) - 3, space->area.y + y, 2, length),
                 UI_RULE2);
}

/* A row that the lower edge would cut is left out: it is counted among those below. */
static bool below_edge(const struct map_list *list, const struct map_entry *entry) {
    bool longer = !list->to_scale && map_list_content(list) > list->height;
    return map_list_y(list, entry) + (longer ? map_list_h(list, entry) : 0) > list->height;
}

static void draw_more(struct map_space *space, size_t first) {
    const struct map_list *list = &space->frame->cache->list;
    size_t more = 0;
    for (size_t i = first; i < list->count; i++)
        if (list->entry[i].kind != MAP_ENTRY_GAP) more += list->entry[i].count;
    if (!more || list->to_scale) return;
    char count[UI_FORMAT_SIZE], text[UI_FORMAT_SIZE + 16];
    ui_format_count(count, sizeof count, more);
    snprintf(text, sizeof text, "%s more below", count);
    ui_draw_begin_group(space->frame->draw, "more", "below");
    ui_draw_triangle(space->frame->draw, ui_rect(space->name_x - 11, ui_rect_bottom(space->area) + 5, 7, 4), UI_DOWN,
                     UI_DIM);
    ui_draw_text(space->frame->draw, space->name_x, ui_rect_bottom(space->area) + 1, UI_S, UI_DIM, text);
    ui_draw_end_group(space->frame->draw);
}

void map_list_draw(struct map_space *space) {
    struct map_frame *frame = space->frame;
    struct ui_draw *draw = frame->draw;
    const struct map_list *list = &frame->cache->list;
    uint64_t above = UI_NO_ADDRESS;
    draw_header(space);
    ui_draw_push_clip(
        draw, ui_rect(space->tie_x, space->area.y - 2, ui_rect_right(frame->main) - space->tie_x, space->area.h + 3));
    draw_guides(space);
    size_t i = map_list_at(list, -2);
    for (; i < list->count; i++) {
        const struct map_entry *entry = &list->entry[i];
        char name[APP_NAME_SIZE * 2 + 64];
        if (below_edge(list, entry)) break;
        bool gap = entry->kind == MAP_ENTRY_GAP;
        ui_draw_begin_group(draw, gap ? "gap" : "row", gap ? "unmapped" : entry_name(space, entry, name, sizeof name));
        if (gap)
            draw_gap(space, entry);
        else
            draw_mapping(space, entry, above);
        ui_draw_end_group(draw);
        if (!gap) above = entry->start;
    }
    draw_scroll_bar(space);
    ui_draw_pop_clip(draw);
    draw_more(space, i);
}
