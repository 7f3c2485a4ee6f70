/* Parts that only paint, and cards. */
#include "ui_widget.h"

#include <string.h>

enum { CAP_HEIGHT = 13, CAP_PADDING = 3, SIGN = 10, CARD_PADDING = 8, CARD_LINE = 13, CARD_FIRST = 15, CARD_AWAY = 12 };

int ui_key_cap_width(const char *name) { return ui_add(ui_text_width(UI_S, name), 2 * CAP_PADDING); }

int ui_key_cap(struct ui_draw *draw, int x, int y, const char *name, ui_color color) {
    int width = ui_key_cap_width(name);
    ui_draw_frame(draw, ui_rect(x, ui_add(y, -1), width, CAP_HEIGHT), UI_ALPHA(UI_RULE, color >> 24));
    ui_draw_text(draw, ui_add(x, CAP_PADDING), y, UI_S, color, name);
    return ui_add(x, width);
}

int ui_key_hint(struct ui_draw *draw, int x, int y, const char *keys, const char *what) {
    while (*keys) {
        char name[UI_KEY_NAME_SIZE];
        size_t bytes = strcspn(keys, " ");
        snprintf(name, sizeof name, "%.*s", (int)(bytes < sizeof name ? bytes : sizeof name - 1), keys);
        x = ui_add(ui_key_cap(draw, x, y, name, UI_DIM), 4);
        keys += bytes + strspn(keys + bytes, " ");
    }
    return ui_add(ui_draw_text(draw, ui_add(x, 1), y, UI_S, UI_FAINT, what), 12);
}

/* ASCII letters up to the newline as capitals, then a space and the rest as it is. */
static void title_text(char *out, size_t size, const char *title) {
    size_t at = 0;
    bool capitals = true;
    for (; *title && at < size - 1; title++) {
        char c = *title;
        if (c == '\n') {
            capitals = false;
            c = ' ';
        }
        out[at++] = capitals && c >= 'a' && c <= 'z' ? (char)(c - ('a' - 'A')) : c;
    }
    out[at] = '\0';
}

void ui_section_title(struct ui_draw *draw, int x, int y, int width, const char *title, const char *right) {
    char text[128];
    title_text(text, sizeof text, title);
    int end = ui_add(x, width);
    if (right) end = ui_add(ui_draw_text_right(draw, end, y, UI_S, UI_FAINT, right), -8);
    int after = ui_draw_text_fit(draw, x, y, ui_add(end, -x), UI_S, UI_FAINT, text);
    ui_draw_hline(draw, ui_add(after, 8), ui_add(y, 6), ui_add(end, -ui_add(after, 8)), UI_HAIR);
}

int ui_legend_entry(struct ui_draw *draw, int x, int y, enum ui_pattern pattern, ui_color color, const char *text) {
    ui_draw_pattern(draw, ui_rect(x, ui_add(y, 1), SIGN, SIGN), pattern, color);
    return ui_add(ui_draw_text(draw, ui_add(x, SIGN + 4), y, UI_S, UI_DIM, text), 10);
}

void ui_panel_background(struct ui_draw *draw, struct ui_rect rect, ui_color color, bool focused) {
    ui_draw_rect(draw, rect, color);
    if (focused) ui_draw_hline(draw, rect.x, rect.y, rect.w, ui_fade(UI_WHITE, 55));
}

void ui_selection_box(struct ui_draw *draw, struct ui_rect cell) {
    ui_draw_frame(draw, ui_rect_inset(cell, -2), UI_WHITE);
}

void ui_hover_box(struct ui_draw *draw, struct ui_rect cell) {
    ui_draw_frame(draw, ui_rect_inset(cell, -1), ui_fade(UI_WHITE, 80));
}

/* --- cards --- */

/* Start of `size` pixels beside `pointer` within low .. low + room: after it, else before it, else held inside. */
static int beside(int pointer, int size, int low, int room) {
    int high = ui_add(low, room), after = ui_add(pointer, CARD_AWAY), before = ui_add(pointer, -CARD_AWAY - size);
    if (ui_add(after, size) <= high) return after;
    if (before >= low) return before;
    return ui_max(low, ui_add(high, -size));
}

struct ui_rect ui_card_place(struct ui_rect bounds, int pointer_x, int pointer_y, int w, int h) {
    struct ui_rect card = {beside(pointer_x, w, bounds.x, bounds.w), beside(pointer_y, h, bounds.y, bounds.h), w, h};
    if (!ui_rect_contains(card, pointer_x, pointer_y)) return card;
    /* No room on either side of the pointer in one direction nor the other: keep off it downwards or upwards. */
    bool below = bounds.h - (pointer_y - bounds.y) >= pointer_y - bounds.y;
    card.y = below ? ui_add(pointer_y, CARD_AWAY) : ui_add(pointer_y, -CARD_AWAY - h);
    return card;
}

void ui_card_draw(struct ui_draw *draw, struct ui_rect rect) {
    ui_draw_rect(draw, rect, UI_RAISED);
    ui_draw_frame(draw, rect, UI_RULE2);
}

/* Text of the lines from the first sign on stands right of the signs. */
static size_t first_sign(const struct ui_card_line *lines, size_t count) {
    size_t at = 0;
    while (at < count && !lines[at].has_sign) at++;
    return at;
}

static int card_width(const struct ui_card_line *lines, size_t count) {
    size_t sign = first_sign(lines, count);
    int width = 0;
    for (size_t i = 0; i < count; i++)
        width = ui_max(width, ui_add(ui_text_width(UI_S, lines[i].text), i >= sign ? SIGN + 6 : 0));
    return ui_add(width, 2 * CARD_PADDING);
}

struct ui_rect ui_card(struct ui_draw *draw, struct ui_rect bounds, int pointer_x, int pointer_y,
                       const struct ui_card_line *lines, size_t count) {
    size_t sign = first_sign(lines, count);
    int width = ui_min(card_width(lines, count), ui_max(bounds.w, 0));
    int height = CARD_FIRST + CARD_LINE * ui_max((int)ui_min((int)count, 64) - 1, 0) + 8;
    struct ui_rect rect = ui_card_place(bounds, pointer_x, pointer_y, width, height);
    ui_draw_begin_group(draw, "card", count > 0 ? lines[0].text : "");
    ui_card_draw(draw, rect);
    ui_draw_push_clip(draw, ui_rect_inset(rect, 1));
    int y = ui_add(rect.y, 5);
    for (size_t i = 0; i < count && i < 64; i++) {
        int x = ui_add(rect.x, CARD_PADDING), text_x = i >= sign ? ui_add(x, SIGN + 6) : x;
        if (lines[i].has_sign)
            ui_draw_pattern(draw, ui_rect(x, ui_add(y, 1), SIGN, SIGN), lines[i].sign, lines[i].sign_color);
        int room = ui_add(ui_rect_right(rect), -CARD_PADDING - text_x);
        ui_draw_text_fit(draw, text_x, y, room, UI_S, lines[i].color, lines[i].text);
        y = ui_add(y, i == 0 ? CARD_FIRST : CARD_LINE);
    }
    ui_draw_pop_clip(draw);
    ui_draw_end_group(draw);
    return rect;
}
