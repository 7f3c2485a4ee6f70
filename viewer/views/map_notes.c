/* Notes: folded rows and gaps in words, followed by what they look like. */
#include "map_rows.h"

#include <stdio.h>
#include <string.h>

enum { PIECES = 3, SAMPLES = 3 };

struct piece {
    enum map_stretch what;
    uint64_t bytes;
};
struct pieces {
    struct piece list[PIECES + 1];
    int count; /* PIECES + 1: and more */
};

static void add(struct pieces *pieces, enum map_stretch what, uint64_t bytes) {
    struct piece *last = pieces->count ? &pieces->list[pieces->count - 1] : NULL;
    if (!bytes || pieces->count > PIECES) return;
    if (last && last->what == what && what != MAP_STRETCH_UNMAPPED)
        last->bytes += bytes;
    else
        pieces->list[pieces->count++] = (struct piece){what, bytes};
}

/* Nothing is known of the pages of [from, to), or it is known that nobody touched them: some are asked. */
static enum map_stretch mapped_stretch(struct map_frame *frame, const struct app_mapping *mapping, uint64_t from,
                                       uint64_t to) {
    if (mapping->reserved) return MAP_STRETCH_RESERVED;
    uint64_t size = map_page_size(frame->app), pages = (to - from) / size;
    for (uint64_t i = 0; i < SAMPLES && pages; i++) {
        const struct map_page *page = map_page_at(frame, from + (pages - 1) * i / (SAMPLES - 1) * size);
        if (page->pattern == UI_PATTERN_UNKNOWN) return MAP_STRETCH_UNKNOWN;
    }
    return MAP_STRETCH_UNTOUCHED;
}

static struct pieces pieces_of(struct map_frame *frame, uint64_t start, uint64_t end) {
    const struct app_regions *regions = app_regions(frame->app);
    struct pieces pieces = {.count = 0};
    size_t i = app_mapping_lower(frame->app, start);
    uint64_t below = i > 0 ? regions->map[i - 1].map->end : 0, at = start;
    for (; i < regions->count && regions->map[i].map->start < end && pieces.count <= PIECES; i++) {
        const struct app_mapping *mapping = &regions->map[i];
        const struct vmv_mapping *map = mapping->map;
        if (map->start > at) add(&pieces, MAP_STRETCH_UNMAPPED, map->start - below);
        uint64_t from = map->start > start ? map->start : start, to = map->end < end ? map->end : end;
        enum map_stretch what = mapped_stretch(frame, mapping, from, to);
        add(&pieces, what, what == MAP_STRETCH_RESERVED ? map->end - map->start : to - from);
        at = below = map->end;
    }
    if (at < end) {
        uint64_t next = i < regions->count ? regions->map[i].map->start : MAP_SPACE_END;
        add(&pieces, MAP_STRETCH_UNMAPPED, next > below ? next - below : 0);
    }
    return pieces;
}

static const char *word_of(enum map_stretch what) {
    static const char *const words[] = {"unmapped", "reserved", "never touched", "not known"};
    return words[what];
}

enum map_stretch map_note_text(struct map_frame *frame, const struct map_grid *grid, const struct map_item *item,
                               char *out, size_t size) {
    uint64_t start = item->start < 0 ? 0 : (uint64_t)item->start;
    struct pieces pieces = pieces_of(frame, start, (uint64_t)item->end);
    enum map_stretch look = MAP_STRETCH_UNMAPPED;
    size_t used = 0;
    char bytes[UI_FORMAT_SIZE], count[UI_FORMAT_SIZE];
    if (pieces.count == 1 && pieces.list[0].what >= MAP_STRETCH_UNTOUCHED) {
        uint64_t rows = ((uint64_t)item->end - start) / map_grid_row_bytes(grid);
        ui_format_count(count, sizeof count, rows);
        used = (size_t)snprintf(out, size, "%s row%s, ", count, rows == 1 ? "" : "s");
    }
    for (int i = 0; i < pieces.count && i < PIECES && used < size; i++) {
        const struct piece *piece = &pieces.list[i];
        ui_format_size(bytes, sizeof bytes, piece->bytes);
        used += (size_t)snprintf(out + used, size - used, "%s%s %s", i ? ", then " : "", bytes, word_of(piece->what));
        if (piece->what > look) look = piece->what;
    }
    if (pieces.count > PIECES && used < size) snprintf(out + used, size - used, ", and more");
    if (!pieces.count) snprintf(out, size, "unmapped");
    return look;
}

void map_note_draw(struct map_rows *rows, const struct map_item *item) {
    struct ui_draw *draw = rows->frame->draw;
    char text[160];
    enum map_stretch look = map_note_text(rows->frame, &rows->grid, item, text, sizeof text);
    int y = rows->area.y + item->y, right = rows->area.x + map_grid_width(&rows->grid) - 1;
    ui_draw_begin_group(draw, "note", text);
    ui_draw_value(draw, "start", "%012llx", (unsigned long long)(item->start < 0 ? 0 : item->start));
    ui_draw_value(draw, "end", "%012llx", (unsigned long long)item->end);
    bool cut = item->y < -2 || item->y + item->h > rows->area.h + 2;
    int x = cut ? rows->area.x + 4
                : ui_draw_text_fit(draw, rows->area.x + 4, y, right - rows->area.x - 4, UI_S, UI_FAINT, text) + 8;
    if (look == MAP_STRETCH_UNMAPPED)
        ui_draw_dashed_h(draw, x, y + 6, right - x, UI_DASHED, UI_RULE2);
    else if (look == MAP_STRETCH_UNKNOWN)
        ui_draw_pattern(draw, ui_rect(x, y + 3, right - x, 7), UI_PATTERN_UNKNOWN, UI_DIM);
    else
        ui_draw_pattern(draw, ui_rect(x, y + 2, right - x, 9), UI_PATTERN_DOTS, UI_RULE2);
    if (look == MAP_STRETCH_UNKNOWN) rows->frame->seen.patterns |= 1u << UI_PATTERN_UNKNOWN;
    if (look == MAP_STRETCH_RESERVED || look == MAP_STRETCH_UNTOUCHED)
        rows->frame->seen.patterns |= 1u << UI_PATTERN_DOTS;
    ui_draw_end_group(draw);
}

/* --- to scale ------------------------------------------------------------------------------------------------------
 */

static bool is_empty(struct map_frame *frame, const struct map_item *item) {
    const struct app_regions *regions = app_regions(frame->app);
    if (item->note || item->end <= 0) return false;
    size_t i = app_mapping_lower(frame->app, item->start < 0 ? 0 : (uint64_t)item->start);
    return i >= regions->count || (int64_t)regions->map[i].map->start >= item->end;
}

static void measure(struct map_rows *rows, uint64_t addr, int y, int bottom) {
    struct ui_draw *draw = rows->frame->draw;
    const struct app_regions *regions = app_regions(rows->frame->app);
    size_t i = app_mapping_lower(rows->frame->app, addr);
    uint64_t start = i > 0 ? regions->map[i - 1].map->end : 0;
    uint64_t end = i < regions->count ? regions->map[i].map->start : MAP_SPACE_END;
    char size[UI_FORMAT_SIZE], text[UI_FORMAT_SIZE + 16];
    if (bottom - y < 2 * MAP_NOTE || end <= start) return;
    ui_format_size(size, sizeof size, end - start);
    snprintf(text, sizeof text, "%s unmapped", size);
    int middle = (y + bottom) / 2, right = rows->area.x + map_grid_width(&rows->grid) - 1;
    ui_draw_begin_group(draw, "empty", text);
    int x = ui_draw_text(draw, rows->area.x + 4, middle - 6, UI_S, UI_FAINT, text) + 8;
    ui_draw_dashed_h(draw, x, middle, right - x, UI_DASHED, UI_RULE2);
    ui_draw_end_group(draw);
}

void map_note_empty(struct map_rows *rows) {
    const struct map_flow *flow = &rows->frame->cache->flow;
    for (size_t from = 0, to; from < flow->count; from = to) {
        to = from + 1;
        if (!is_empty(rows->frame, &flow->item[from])) continue;
        while (to < flow->count && is_empty(rows->frame, &flow->item[to])) to++;
        int y = ui_max(rows->area.y + flow->item[from].y, rows->area.y);
        int bottom = ui_min(rows->area.y + flow->item[to - 1].y + flow->item[to - 1].h, ui_rect_bottom(rows->area));
        measure(rows, flow->item[from].start < 0 ? 0 : (uint64_t)flow->item[from].start, y, bottom);
    }
}
