/* The look of bytes: the page as lines of 64 bytes, and the lens beside it. */
#include "map_bytes.h"

#include <stdio.h>
#include <string.h>

enum {
    PAGE_X = 98, /* from the panel's left edge to the page's bytes */
    HEX = 44,    /* from offsets to bytes */
    TEXT = 336,  /* from bytes to text */
    TEXT_W = 112,
    TOP = 36, /* from the main area to the page's first line */
    BOTTOM = 12,
    LINE = 8 /* pixels a line of the page, at most */
};

int map_bytes_line_y(const struct map_bytes *bytes, int line) { return line * bytes->line_h + line / 8 * MAP_PAGE_GAP; }

int map_bytes_page_height(int line_h) { return MAP_LINES * line_h + (MAP_LINES / 8 - 1) * MAP_PAGE_GAP; }

static double pitch_of(double bits) {
    double near = 10.5 - bits;
    return 16 + 14 * (near < 0 ? 0 : near > 1.5 ? 1 : near / 1.5);
}

static struct map_bytes place(struct map_frame *frame) {
    struct ui_rect main = frame->main;
    struct map_bytes bytes = {.frame = frame, .top = main.y + TOP, .bottom = ui_rect_bottom(main) - 2};
    bool page = main.w >= MAP_BYTES_WIDE;
    bytes.hex_x = main.x + (page ? MAP_HEX_X : MAP_HEX_X_NARROW);
    bytes.offset_x = bytes.hex_x - HEX;
    bool text = bytes.hex_x + TEXT + TEXT_W <= ui_rect_right(main);
    bytes.text_x = text ? bytes.hex_x + TEXT : 0;
    bytes.right = ui_min(ui_rect_right(main) - 12, bytes.hex_x + TEXT + TEXT_W);
    bytes.pitch = (int)pitch_of(frame->bits);
    bytes.line_h = ui_clamp((main.h - TOP - BOTTOM - (MAP_LINES / 8 - 1) * MAP_PAGE_GAP) / MAP_LINES, 3, LINE);
    if (page)
        bytes.page = ui_rect(main.x + PAGE_X, bytes.top, MAP_LINE * MAP_BYTE_W, map_bytes_page_height(bytes.line_h));
    return bytes;
}

/* --- the page ------------------------------------------------------------------------------------------------------
 */

ui_color map_byte_color(const struct map_sheet *sheet, size_t at) {
    if (sheet->kind[at] & MAP_BYTE_CHANGED) return UI_WRITTEN_NOW;
    switch (sheet->kind[at]) {
    case MAP_BYTE_ZERO:
        return UI_BYTE_ZERO;
    case MAP_BYTE_TEXT:
        return UI_BYTE_TEXT;
    case MAP_BYTE_POINTER:
        return ui_mix(UI_PIT, view_kind_color((enum vmv_kind)sheet->target[at]), 75);
    default:
        return UI_BYTE_VALUE;
    }
}

/* A pixel of byte `at`, x and y on the screen, dx and dy within the whole page of w x h. */
static uint32_t page_pixel(const struct map_sheet *sheet, size_t at, int x, int y, bool low_right) {
    if (sheet->pattern[at] == UI_PATTERN_COUNT) return 0;
    if (sheet->kind[at] == MAP_BYTE_UNKNOWN) return (x + y) % 4 == 0 ? UI_DIM : UI_PIT;
    ui_color color = map_byte_color(sheet, at);
    if (sheet->pattern[at] == UI_PATTERN_STALE && y % 2) return UI_PIT;
    if (sheet->pattern[at] == UI_PATTERN_TORN && low_right) color = ui_mix(UI_GROUND, color, 28);
    return color;
}

/* The last column of 8 and of 16 bytes is darker: the grid. */
static uint32_t darken(uint32_t color, int column, int x) {
    if (!color || x != MAP_BYTE_W - 1 || column % 8 != 7) return color;
    return ui_mix(color, UI_GROUND, column % 16 == 15 ? 70 : 35);
}

static void paint_page(const struct map_bytes *bytes, const struct map_sheet *sheet) {
    struct ui_rect rect = bytes->page;
    uint32_t *out = ui_draw_image(bytes->frame->draw, rect, rect.w, rect.h);
    if (!out) return;
    for (int line = 0; line < MAP_LINES; line++)
        for (int dy = 0; dy < bytes->line_h - 1; dy++) {
            int y = map_bytes_line_y(bytes, line) + dy;
            for (int x = 0; x < rect.w; x++) {
                size_t at = (size_t)(line * MAP_LINE + x / MAP_BYTE_W);
                bool low_right = (long long)x * rect.h + (long long)y * rect.w >= (long long)rect.w * rect.h;
                uint32_t color = page_pixel(sheet, at, rect.x + x, rect.y + y, low_right);
                out[(size_t)y * (size_t)rect.w + (size_t)x] = darken(color, x / MAP_BYTE_W, x % MAP_BYTE_W);
            }
        }
}

static void draw_page_rulers(const struct map_bytes *bytes) {
    struct ui_draw *draw = bytes->frame->draw;
    struct ui_rect page = bytes->page;
    ui_draw_text_right(draw, ui_rect_right(page), bytes->frame->main.y + 4, UI_S, UI_DIM, "64 lines of 64 bytes");
    for (int i = 0; i <= MAP_LINE; i += 8) {
        int x = page.x - 1 + i * MAP_BYTE_W, high = i % 16 ? 3 : 6;
        ui_draw_vline(draw, x, page.y - high, high, UI_RULE2);
        if (i % 16 == 0 && i < MAP_LINE) ui_draw_textf(draw, x + 3, page.y - 16, UI_S, UI_FAINT, "%d", i);
    }
    for (int line = 0; line < MAP_LINES; line += 8) {
        int y = page.y + map_bytes_line_y(bytes, line) + (bytes->line_h - 1) / 2 - 6;
        ui_draw_textf(draw, page.x - 30, y + 1, UI_S, UI_FAINT, "+%03x",
                      (unsigned)(bytes->base % map_page_size(bytes->frame->app)) + (unsigned)line * MAP_LINE);
    }
}

static void note_page(struct map_bytes *bytes, const struct map_sheet *sheet) {
    struct map_seen *seen = &bytes->frame->seen;
    for (size_t i = 0; i < sheet->size; i++) {
        if (sheet->pattern[i] == UI_PATTERN_COUNT) continue;
        seen->bytes |= 1u << (sheet->kind[i] & 7);
        if (sheet->kind[i] & MAP_BYTE_CHANGED) seen->bytes |= 1u << MAP_BYTE_CHANGED;
        if (sheet->kind[i] == MAP_BYTE_POINTER) seen->kinds |= 1u << sheet->target[i];
        seen->patterns |= 1u << sheet->pattern[i];
    }
}

static const char *state_words(const struct map_bytes *bytes, const struct map_sheet *sheet, char *out, size_t size) {
    const struct app *app = bytes->frame->app;
    const struct timeline_frame *at = app_frame(app);
    char time[UI_FORMAT_SIZE], ago[UI_FORMAT_SIZE];
    if (sheet->certainty == VMV_CERT_UNKNOWN) {
        snprintf(out, size, sheet->pattern[0] == UI_PATTERN_COUNT ? "not mapped" : "unknown: never captured");
        return out;
    }
    const char *word = view_certainty_word(sheet->certainty);
    ui_format_time(time, sizeof time, (int64_t)sheet->captured, 6);
    ui_format_ago(ago, sizeof ago, (int64_t)(app->t > sheet->captured ? app->t - sheet->captured : 0));
    if (at && sheet->captured >= at->t)
        snprintf(out, size, "%s: captured in this frame", word);
    else if (sheet->captured)
        snprintf(out, size, "%s: captured %s, %s", word, time, ago);
    else
        snprintf(out, size, "%s: as in the mapped file", word);
    return out;
}

static void draw_page(struct map_bytes *bytes, const struct map_sheet *sheet) {
    struct ui_draw *draw = bytes->frame->draw;
    char words[160];
    ui_draw_begin_group(draw, "strip", "page");
    ui_draw_value(draw, "start", "%012llx", (unsigned long long)bytes->base);
    ui_draw_value(draw, "state", "%s", state_words(bytes, sheet, words, sizeof words));
    if (!ui_rect_empty(bytes->page)) {
        struct ui_rect pit = ui_rect(bytes->page.x - 1, bytes->page.y, bytes->page.w + 1, bytes->page.h - 1);
        ui_draw_rect(draw, pit, UI_PIT);
        paint_page(bytes, sheet);
        draw_page_rulers(bytes);
    }
    ui_draw_end_group(draw);
}

/* --- bracket and ties ----------------------------------------------------------------------------------------------
 */

/* The lines of the page that the lens shows; false: none of this page. */
static bool shown_lines(const struct map_bytes *bytes, int *first, int *last, int *y0, int *y1) {
    const struct map_drawn *drawn = &bytes->frame->cache->drawn;
    *first = MAP_LINES;
    *last = -1;
    for (int i = 0; i < drawn->row_count; i++) {
        uint64_t addr = drawn->row[i].addr;
        if (addr < bytes->base || addr - bytes->base >= MAP_SHEET) continue;
        int line = (int)((addr - bytes->base) / MAP_LINE), y = bytes->frame->main.y + drawn->row[i].y;
        if (*last < 0) *first = line, *y0 = y;
        *last = line;
        *y1 = y + drawn->pitch;
    }
    return *last >= 0;
}

static void draw_bracket(struct map_bytes *bytes) {
    struct ui_draw *draw = bytes->frame->draw;
    int first, last, top, bottom;
    if (ui_rect_empty(bytes->page) || !shown_lines(bytes, &first, &last, &top, &bottom)) return;
    int x = ui_rect_right(bytes->page), y0 = bytes->page.y + map_bytes_line_y(bytes, first) - 2;
    int y1 = bytes->page.y + map_bytes_line_y(bytes, last) + bytes->line_h;
    ui_draw_hline(draw, x, y0, 3, UI_WHITE);
    ui_draw_hline(draw, x, y1 - 1, 3, UI_WHITE);
    ui_draw_vline(draw, x + 2, y0, y1 - y0, UI_WHITE);
    top = ui_max(top, bytes->top);
    bottom = ui_min(bottom, bytes->bottom);
    ui_draw_fan(draw, x + 4, y0, y1, x + 15, top, bottom, ui_mix(UI_GROUND, UI_DIM, 4));
    ui_draw_line(draw, x + 4, y0, x + 15, top, UI_LINE_SHARP, UI_RULE2);
    ui_draw_line(draw, x + 4, y1 - 1, x + 15, bottom - 1, UI_LINE_SHARP, UI_RULE2);
}

static void draw_selected_on_page(struct map_bytes *bytes) {
    const struct app *app = bytes->frame->app;
    if (ui_rect_empty(bytes->page) || app->selection.kind != APP_PLACE_BYTES) return;
    uint64_t from = app->selection.addr, to = from + app->selection.len;
    if (from < bytes->base || from - bytes->base >= MAP_SHEET) return;
    unsigned at = (unsigned)(from - bytes->base);
    int line = (int)(at / MAP_LINE), column = (int)(at % MAP_LINE);
    int count = (int)(to - from < (uint64_t)(MAP_LINE - column) ? to - from : (uint64_t)(MAP_LINE - column));
    struct ui_rect box = ui_rect(bytes->page.x + column * MAP_BYTE_W, bytes->page.y + map_bytes_line_y(bytes, line),
                                 count * MAP_BYTE_W, bytes->line_h - 1);
    ui_selection_box(bytes->frame->draw, box);
}

/* --- the look ------------------------------------------------------------------------------------------------------
 */

static void remember(const struct map_bytes *bytes) {
    struct map_drawn *drawn = &bytes->frame->cache->drawn;
    drawn->cells = bytes->page;
    drawn->page = bytes->base;
    drawn->line_h = bytes->line_h;
    drawn->lens = ui_rect(bytes->hex_x, bytes->top, map_lens_x(15) + MAP_HEX, bytes->bottom - bytes->top);
    drawn->text_x = bytes->text_x;
}

static void draw_state(struct map_bytes *bytes, const struct map_sheet *sheet) {
    struct ui_draw *draw = bytes->frame->draw;
    char words[160];
    int y = bytes->frame->main.y + 4;
    int x = ui_draw_address(draw, bytes->hex_x, y, UI_S, UI_DIM, bytes->base, UI_NO_ADDRESS);
    x = ui_draw_text(draw, x + 6, y, UI_S, UI_FAINT, "+ row + column") + 16;
    if (sheet->certainty == VMV_CERT_EXACT) return;
    state_words(bytes, sheet, words, sizeof words);
    ui_color color = sheet->pattern[0] == UI_PATTERN_COUNT ? UI_FAINT : UI_DIM;
    if (sheet->pattern[0] != UI_PATTERN_COUNT)
        ui_draw_pattern(draw, ui_rect(x, y + 1, 10, 10), view_certainty_pattern(sheet->certainty), UI_DIM);
    ui_draw_text_fit(draw, x + 14, y, bytes->right - x - 14, UI_S, color, words);
}

void map_bytes_draw(struct map_frame *frame) {
    struct map_bytes bytes = place(frame);
    map_lens_place(&bytes, map_anchor_now(frame));
    remember(&bytes);
    const struct map_sheet *sheet = map_sheet_at(frame, bytes.base);
    if (!sheet) return;
    note_page(&bytes, sheet);
    draw_page(&bytes, sheet);
    draw_bracket(&bytes);
    draw_selected_on_page(&bytes);
    draw_state(&bytes, sheet);
    map_lens_rows_draw(&bytes);
}
