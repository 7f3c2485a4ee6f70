/* The lens: rows of 16 bytes in hex and text, with the grids of 8, 16, 64 and 4096 bytes. */
#include "map_bytes.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROW = 16, LINE_GAP = 7, NOTE_GAP = 15, WORDS_FROM = 28, ROWS_MOST = 96, FIRST_Y = 30 };

/* --- where rows stand ----------------------------------------------------------------------------------------------
 */

/* Pixels between the row that ends at addr and the one that begins there. */
static int gap_before(const struct map_bytes *bytes, uint64_t addr) {
    const struct app_mapping *mapping = app_mapping_at(bytes->frame->app, addr);
    bool border = mapping && mapping->map->start == addr;
    if (addr % map_page_size(bytes->frame->app) == 0 || border) return NOTE_GAP;
    return addr % MAP_LINE ? 0 : LINE_GAP;
}

/* Without an anchor the camera was set from outside: the selection is brought into view, else the address stands where
 * the end of the page before is still seen. */
static void reset(struct map_bytes *bytes) {
    struct app *app = bytes->frame->app;
    uint64_t at = app->camera.at;
    int y = bytes->top - bytes->frame->main.y + FIRST_Y;
    if (app->selection.kind == APP_PLACE_BYTES && app->selection.addr >= at && app->selection.addr - at < MAP_SHEET) {
        uint64_t rows = (app->selection.addr - at) / ROW;
        int room = (bytes->bottom - bytes->top) * 2 / 3 / (bytes->pitch + 2);
        if (rows > (uint64_t)ui_max(room, 1)) {
            at = app->selection.addr;
            y = (bytes->bottom - bytes->frame->main.y) * 2 / 5;
        }
    }
    map_anchor_set(app, at, -1, y, 0, -1);
}

static int rows_above(const struct map_bytes *bytes, uint64_t at, int y, struct map_lens_row *row) {
    int count = 0, top = bytes->top - bytes->frame->main.y;
    while (at >= ROW && count < ROWS_MOST / 2) {
        y -= gap_before(bytes, at) + bytes->pitch;
        at -= ROW;
        if (y < top - 1) break;
        row[count++] = (struct map_lens_row){at, y};
    }
    return count;
}

void map_lens_place(struct map_bytes *bytes, const struct map_anchor *anchor) {
    struct map_drawn *drawn = &bytes->frame->cache->drawn;
    struct app *app = bytes->frame->app;
    struct map_lens_row above[ROWS_MOST / 2];
    if (!anchor) reset(bytes);
    anchor = &bytes->frame->cache->anchor;
    uint64_t at = app->camera.at - app->camera.at % ROW;
    double shift = ui_anim_value(&app->camera.at_y, app->now_ms) - anchor->share * bytes->pitch;
    int y = (int)lround(fmin(fmax(shift, -1e5), 1e5)), bottom = bytes->bottom - bytes->frame->main.y;
    int top = bytes->top - bytes->frame->main.y, count = rows_above(bytes, at, y, above);
    drawn->row_count = 0;
    drawn->pitch = bytes->pitch;
    for (int i = count; i-- > 0;)
        if (above[i].y + bytes->pitch <= bottom) drawn->row[drawn->row_count++] = above[i];
    while (y + bytes->pitch <= bottom && drawn->row_count < ROWS_MOST) {
        if (y >= top - 1) drawn->row[drawn->row_count++] = (struct map_lens_row){at, y};
        if (at > UINT64_MAX - 2 * ROW) break;
        at += ROW;
        y += bytes->pitch + gap_before(bytes, at);
    }
    bytes->base = app->camera.at - app->camera.at % MAP_SHEET;
}

/* --- a row ---------------------------------------------------------------------------------------------------------
 */

struct line { /* the row being drawn */
    const struct map_sheet *sheet;
    uint64_t addr;
    size_t at; /* in the sheet */
    int y;     /* on the screen */
};

static ui_color hex_color(const struct map_sheet *sheet, size_t at) {
    if (sheet->kind[at] & MAP_BYTE_CHANGED) return UI_WRITTEN_NOW;
    switch (sheet->kind[at]) {
    case MAP_BYTE_ZERO:
        return UI_GHOST;
    case MAP_BYTE_TEXT:
        return UI_INK;
    case MAP_BYTE_POINTER:
        return view_kind_color((enum vmv_kind)sheet->target[at]);
    default:
        return UI_DIM;
    }
}

static void draw_hex(const struct map_bytes *bytes, const struct line *line) {
    static const char digits[] = "0123456789abcdef";
    struct ui_draw *draw = bytes->frame->draw;
    for (int i = 0; i < ROW; i++) {
        size_t at = line->at + (size_t)i;
        int x = bytes->hex_x + map_lens_x(i);
        if (line->sheet->kind[at] == MAP_BYTE_UNKNOWN) continue;
        char text[2] = {digits[line->sheet->byte[at] >> 4], digits[line->sheet->byte[at] & 15]};
        if (line->sheet->kind[at] & MAP_BYTE_CHANGED) {
            bool on = i < 15 && i != 7 && line->sheet->kind[at + 1] & MAP_BYTE_CHANGED;
            ui_draw_rect(draw, ui_rect(x - 2, line->y, on ? MAP_HEX : 18, 16), ui_fade(UI_WRITTEN_NOW, 24));
        }
        ui_draw_text_n(draw, x, line->y, UI_M, hex_color(line->sheet, at), text, 2);
    }
}

/* Bytes that are not known: hatched from the first to the last of a run, in hex and text. */
static void draw_unknown(const struct map_bytes *bytes, const struct line *line) {
    struct ui_draw *draw = bytes->frame->draw;
    for (int from = 0, to; from < ROW; from = to) {
        size_t at = line->at + (size_t)from;
        bool hatched = line->sheet->pattern[at] == UI_PATTERN_UNKNOWN;
        for (to = from + 1; to < ROW && (line->sheet->pattern[line->at + (size_t)to] == UI_PATTERN_UNKNOWN) == hatched;)
            to++;
        if (!hatched) continue;
        int x = bytes->hex_x + map_lens_x(from), end = bytes->hex_x + map_lens_x(to - 1) + 14;
        ui_draw_pattern(draw, ui_rect(x, line->y + 2, end - x, 12), UI_PATTERN_UNKNOWN, UI_FAINT);
        if (bytes->text_x)
            ui_draw_pattern(draw,
                            ui_rect(bytes->text_x + from * MAP_TEXT_CELL, line->y + 2, (to - from) * MAP_TEXT_CELL, 12),
                            UI_PATTERN_UNKNOWN, UI_FAINT);
    }
}

static void draw_text(const struct map_bytes *bytes, const struct line *line) {
    if (!bytes->text_x) return;
    for (int from = 0, to; from < ROW; from = to) {
        size_t at = line->at + (size_t)from;
        bool known = line->sheet->kind[at] != MAP_BYTE_UNKNOWN;
        uint8_t byte = line->sheet->byte[at];
        bool shown = known && byte >= 0x20 && byte < 0x7f;
        ui_color color = !shown ? UI_GHOST : line->sheet->kind[at] == MAP_BYTE_TEXT ? UI_INK : UI_FAINT;
        char text[ROW * 2 + 1];
        size_t used = 0;
        for (to = from; to < ROW; to++) {
            size_t next = line->at + (size_t)to;
            uint8_t other = line->sheet->byte[next];
            bool known_too = line->sheet->kind[next] != MAP_BYTE_UNKNOWN,
                 shown_too = known_too && other >= 0x20 && other < 0x7f;
            ui_color color_too = !shown_too ? UI_GHOST : line->sheet->kind[next] == MAP_BYTE_TEXT ? UI_INK : UI_FAINT;
            if (known_too != known || color_too != color) break;
            if (shown_too)
                text[used++] = (char)other;
            else
                memcpy(text + used, "\xc2\xb7", 2), used += 2;
        }
        if (known)
            ui_draw_text_n(bytes->frame->draw, bytes->text_x + from * MAP_TEXT_CELL, line->y, UI_M, color, text, used);
    }
}

/* The state of what is shown, where it is less than certain: a strip of its pattern before the bytes. */
static void draw_state(const struct map_bytes *bytes, const struct line *line) {
    uint8_t pattern = line->sheet->pattern[line->at];
    if (pattern == UI_PATTERN_EXACT || pattern == UI_PATTERN_COUNT) return;
    ui_draw_pattern(bytes->frame->draw, ui_rect(bytes->hex_x - 14, line->y + 2, 6, 12), (enum ui_pattern)pattern,
                    UI_DIM);
}

static void draw_offset(const struct map_bytes *bytes, const struct line *line) {
    uint64_t offset = line->addr % map_page_size(bytes->frame->app);
    ui_color color = line->addr % MAP_LINE ? UI_FAINT : UI_INK;
    if (line->sheet->pattern[line->at] == UI_PATTERN_COUNT) color = UI_GHOST;
    ui_draw_textf(bytes->frame->draw, bytes->offset_x, line->y + 2, UI_S, color, "+%03llx", (unsigned long long)offset);
}

/* Where rows are far apart: a bracket under each pointer, and what it points to. */
static void draw_targets(const struct map_bytes *bytes, const struct line *line) {
    struct ui_draw *draw = bytes->frame->draw;
    if (bytes->pitch < WORDS_FROM) return;
    for (int i = 0; i < ROW; i += 8) {
        size_t at = line->at + (size_t)i;
        if ((line->sheet->kind[at] & 7) != MAP_BYTE_POINTER) continue;
        uint64_t value = 0;
        for (int k = 7; k >= 0; k--) value = value << 8 | line->sheet->byte[at + (size_t)k];
        char name[APP_NAME_SIZE + 24];
        view_address_name(bytes->frame->app, value, name, sizeof name);
        int x = bytes->hex_x + map_lens_x(i), w = 7 * MAP_HEX + 14, y = line->y + 16;
        ui_draw_hline(draw, x - 1, y, w + 2, UI_DIM);
        ui_draw_vline(draw, x - 1, y - 2, 2, UI_DIM);
        ui_draw_vline(draw, x + w, y - 2, 2, UI_DIM);
        int after = ui_draw_text(draw, x, y + 1, UI_S, UI_FAINT, "\xe2\x86\x92 ");
        ui_draw_text_fit(draw, after, y + 1, x + w - after, UI_S,
                         view_kind_color((enum vmv_kind)line->sheet->target[at]), name);
    }
}

/* Threads' registers that point into the row: a sign before the byte, and the name below where there is room. */
static void draw_markers(const struct map_bytes *bytes, const struct line *line) {
    struct map_frame *frame = bytes->frame;
    size_t i = map_markers_lower(frame, line->addr);
    for (; i < frame->marker_count && frame->marker[i].addr < line->addr + ROW; i++) {
        const struct map_marker *marker = &frame->marker[i];
        int x = bytes->hex_x + map_lens_x((int)(marker->addr - line->addr));
        map_marker_sign(frame->draw, x - 7, line->y + 4, marker);
        frame->seen.markers = true;
        if (bytes->pitch < WORDS_FROM) continue;
        ui_draw_textf(frame->draw, x, line->y + 17, UI_S, UI_WHITE, "%s %s", map_marker_word(marker),
                      view_thread_name(marker->thread));
    }
}

/* --- borders between rows ------------------------------------------------------------------------------------------
 */

static void border_words(struct app *app, uint64_t addr, char *out, size_t size) {
    const struct app_mapping *below = app_mapping_at(app, addr), *above = addr ? app_mapping_at(app, addr - 1) : NULL;
    uint64_t page = map_page_size(app);
    unsigned long long number = below ? (addr - below->map->start) / page : 0;
    if (below && below->map->start == addr)
        snprintf(out, size, "%s%s%s begins", above ? above->name : "", above ? " ends, " : "", below->name);
    else if (below)
        snprintf(out, size, "page %llu ends, page %llu begins", number - 1, number);
    else if (above && above->map->end == addr)
        snprintf(out, size, "%s ends, unmapped", above->name);
    else
        snprintf(out, size, "unmapped");
}

static void draw_page_border(const struct map_bytes *bytes, uint64_t addr, int y) {
    struct ui_draw *draw = bytes->frame->draw;
    char words[2 * APP_NAME_SIZE + 32];
    border_words(bytes->frame->app, addr, words, sizeof words);
    int middle = y - 7, room = bytes->right - bytes->hex_x;
    int x = ui_draw_text_fit(draw, bytes->hex_x, middle - 6, room, UI_S, UI_DIM, words) + 8;
    for (int i = -1; i <= 1; i += 2) {
        ui_draw_hline(draw, bytes->offset_x, middle + i, bytes->hex_x - 6 - bytes->offset_x, UI_DIM);
        ui_draw_hline(draw, x, middle + i, bytes->right - x, UI_DIM);
    }
}

static void draw_line_border(const struct map_bytes *bytes, uint64_t addr, int y) {
    struct ui_draw *draw = bytes->frame->draw;
    unsigned long long line = addr % map_page_size(bytes->frame->app) / MAP_LINE;
    int after = ui_draw_textf(draw, bytes->offset_x, y - 10, UI_S, UI_FAINT, "line %llu", line) + 2;
    int x = ui_max(after, bytes->hex_x - 3);
    ui_draw_hline(draw, x, y - 4, bytes->right - x, UI_RULE2);
}

static void draw_border(const struct map_bytes *bytes, uint64_t addr, int y) {
    int gap = gap_before(bytes, addr);
    if (y - gap < bytes->top) return;
    if (gap == NOTE_GAP)
        draw_page_border(bytes, addr, y);
    else if (gap)
        draw_line_border(bytes, addr, y);
}

/* --- the whole -----------------------------------------------------------------------------------------------------
 */

static void draw_header(const struct map_bytes *bytes) {
    struct ui_draw *draw = bytes->frame->draw;
    int y = bytes->top - 16;
    for (int i = 0; i < ROW; i++) {
        int x = bytes->hex_x + map_lens_x(i);
        ui_draw_textf(draw, x + 1, y, UI_S, i % 8 ? UI_FAINT : UI_DIM, "%x", (unsigned)i);
        ui_draw_vline(draw, x - 3, bytes->top - (i % 4 ? 2 : 4), i % 4 ? 2 : 4, UI_RULE2);
    }
    ui_draw_vline(draw, bytes->hex_x + map_lens_x(15) + MAP_HEX - 3, bytes->top - 4, 4, UI_RULE2);
    if (bytes->text_x) ui_draw_text(draw, bytes->text_x, y, UI_S, UI_FAINT, "text");
    ui_draw_vline(draw, bytes->hex_x + 8 * MAP_HEX + 2, bytes->top - 2, bytes->bottom - bytes->top + 2, UI_HAIR);
}

static void draw_row(struct map_bytes *bytes, const struct line *line) {
    char name[32];
    snprintf(name, sizeof name, "%012llx", (unsigned long long)line->addr);
    ui_draw_begin_group(bytes->frame->draw, "row", name);
    uint8_t pattern = line->sheet->pattern[line->at];
    ui_draw_value(bytes->frame->draw, "state", "%s",
                  pattern == UI_PATTERN_COUNT ? "unmapped" : ui_pattern_name((enum ui_pattern)pattern));
    draw_offset(bytes, line);
    draw_state(bytes, line);
    draw_unknown(bytes, line);
    draw_hex(bytes, line);
    draw_text(bytes, line);
    draw_targets(bytes, line);
    draw_markers(bytes, line);
    ui_draw_end_group(bytes->frame->draw);
}

/* The box around bytes of [start, end) that stand in the row. */
static void draw_box(const struct map_bytes *bytes, const struct map_lens_row *row, uint64_t start, uint64_t end,
                     bool selected) {
    if (end <= row->addr || start >= row->addr + ROW) return;
    int from = start > row->addr ? (int)(start - row->addr) : 0;
    int to = end < row->addr + ROW ? (int)(end - row->addr) : ROW, y = bytes->frame->main.y + row->y;
    int x = bytes->hex_x + map_lens_x(from), right = bytes->hex_x + map_lens_x(to - 1) + 14;
    ui_color color = selected ? UI_WHITE : ui_fade(UI_WHITE, 80);
    ui_draw_frame(bytes->frame->draw, ui_rect(x - 3, y, right - x + 6, 16), color);
    if (!bytes->text_x) return;
    ui_draw_frame(bytes->frame->draw,
                  ui_rect(bytes->text_x + from * MAP_TEXT_CELL - 1, y, (to - from) * MAP_TEXT_CELL + 2, 16), color);
}

void map_lens_rows_draw(struct map_bytes *bytes) {
    const struct map_drawn *drawn = &bytes->frame->cache->drawn;
    const struct app *app = bytes->frame->app;
    draw_header(bytes);
    for (int i = 0; i < drawn->row_count; i++) {
        const struct map_lens_row *row = &drawn->row[i];
        const struct map_sheet *sheet = map_sheet_at(bytes->frame, row->addr);
        if (!sheet) return;
        struct line line = {sheet, row->addr, (size_t)(row->addr - sheet->addr), bytes->frame->main.y + row->y};
        draw_border(bytes, row->addr, line.y);
        draw_row(bytes, &line);
        if (app->selection.kind == APP_PLACE_BYTES)
            draw_box(bytes, row, app->selection.addr, app->selection.addr + app->selection.len, true);
        if (app->hover_set && app->hover.kind == APP_PLACE_BYTES)
            draw_box(bytes, row, app->hover.addr, app->hover.addr + app->hover.len, false);
    }
}
