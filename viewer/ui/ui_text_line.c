/* The text input line: editing, then drawing with a steady caret. */
#include "ui_widget.h"

#include <string.h>

void ui_text_input_set(struct ui_text_input *input, const char *text) {
    *input = (struct ui_text_input){0};
    ui_text_input_insert(input, text);
}

size_t ui_text_input_selection(const struct ui_text_input *input, size_t *length) {
    bool forward = input->mark < input->caret;
    *length = forward ? input->caret - input->mark : input->mark - input->caret;
    return forward ? input->mark : input->caret;
}

static void remove_bytes(struct ui_text_input *input, size_t start, size_t length) {
    memmove(input->text + start, input->text + start + length, input->length - start - length + 1);
    input->length -= length;
    input->caret = input->mark = start;
}

static bool remove_selection(struct ui_text_input *input) {
    size_t length, start = ui_text_input_selection(input, &length);
    if (length > 0) remove_bytes(input, start, length);
    return length > 0;
}

/* Control characters (a pasted newline) become spaces; what does not fit is left out, never half a code point. */
void ui_text_input_insert(struct ui_text_input *input, const char *text) {
    remove_selection(input);
    size_t room = sizeof input->text - 1 - input->length, bytes = strlen(text), fits = 0;
    while (fits < bytes) {
        size_t next = ui_utf8_next(text, bytes, fits);
        if (next > room) break;
        fits = next;
    }
    memmove(input->text + input->caret + fits, input->text + input->caret, input->length - input->caret + 1);
    for (size_t i = 0; i < fits; i++) input->text[input->caret + i] = (unsigned char)text[i] < 0x20 ? ' ' : text[i];
    input->length += fits;
    input->caret += fits;
    input->mark = input->caret;
}

/* --- keys --- */

static size_t word_before(const struct ui_text_input *input) {
    size_t at = input->caret;
    while (at > 0 && input->text[at - 1] == ' ') at--;
    while (at > 0 && input->text[at - 1] != ' ') at--;
    return at;
}

static size_t word_after(const struct ui_text_input *input) {
    size_t at = input->caret;
    while (at < input->length && input->text[at] == ' ') at++;
    while (at < input->length && input->text[at] != ' ') at++;
    return at;
}

/* Where a movement key leads; false if it is none. */
static bool target_of(const struct ui_text_input *input, struct ui_key key, size_t *target) {
    bool words = key.modifiers & UI_CTRL;
    switch (key.code) {
    case UI_KEY_LEFT:
        *target = words ? word_before(input) : ui_utf8_previous(input->text, input->caret);
        return true;
    case UI_KEY_RIGHT:
        *target = words ? word_after(input) : ui_utf8_next(input->text, input->length, input->caret);
        return true;
    case UI_KEY_HOME:
        *target = 0;
        return true;
    case UI_KEY_END:
        *target = input->length;
        return true;
    default:
        return false;
    }
}

static bool move_caret(struct ui_text_input *input, struct ui_key key) {
    size_t target;
    if (!target_of(input, key, &target)) return false;
    input->caret = target;
    if (!(key.modifiers & UI_SHIFT)) input->mark = target;
    return true;
}

/* Backspace and Delete; true if text went. */
static bool erase(struct ui_text_input *input, struct ui_key key) {
    if (remove_selection(input)) return true;
    struct ui_key way = {key.code == UI_KEY_BACKSPACE ? UI_KEY_LEFT : UI_KEY_RIGHT, key.modifiers & UI_CTRL};
    size_t target = input->caret;
    target_of(input, way, &target);
    size_t start = target < input->caret ? target : input->caret;
    size_t length = target < input->caret ? input->caret - target : target - input->caret;
    if (length > 0) remove_bytes(input, start, length);
    return length > 0;
}

unsigned ui_text_input_key(struct ui_text_input *input, const struct ui_input_event *event, bool *used) {
    struct ui_key key = event->key;
    *used = true;
    if (event->text[0]) {
        ui_text_input_insert(input, event->text);
        return UI_INPUT_CHANGED;
    }
    if (key.code == UI_KEY_ENTER) return UI_INPUT_SUBMITTED;
    if (key.code == UI_KEY_ESC) return UI_INPUT_CANCELLED;
    if (move_caret(input, key)) return 0;
    if (key.code == UI_KEY_BACKSPACE || key.code == UI_KEY_DELETE) return erase(input, key) ? UI_INPUT_CHANGED : 0;
    if (key.code == 'A' && key.modifiers == UI_CTRL) {
        input->mark = 0;
        input->caret = input->length;
        return 0;
    }
    *used = false;
    return 0;
}

/* --- the line --- */

static int cells_before(const struct ui_text_input *input, size_t at) { return (int)ui_text_cells_n(input->text, at); }

static size_t byte_of_cell(const struct ui_text_input *input, int cell) {
    return ui_text_fit(UI_S, input->text, input->length, ui_max(cell, 0) * ui_cell_width(UI_S));
}

/* Scroll so that the caret is in sight, and no further than needed. */
static void show_caret(struct ui_text_input *input, int room) {
    int caret = cells_before(input, input->caret), all = cells_before(input, input->length);
    input->scroll = ui_min(input->scroll, ui_max(0, all + 1 - room));
    input->scroll = ui_clamp(input->scroll, ui_max(0, caret + 1 - room), caret);
}

static void follow_pointer(struct ui_context *context, struct ui_rect rect, int style, struct ui_text_input *input,
                           bool pressed) {
    int cell = ui_cell_width(style);
    int at = ui_add(context->mouse_x, -rect.x);
    input->caret = byte_of_cell(input, input->scroll + (ui_clamp(at, 0, 1 << 20) + cell / 2) / cell);
    if (pressed && !(context->modifiers & UI_SHIFT)) input->mark = input->caret;
}

static void draw_line(struct ui_context *context, struct ui_rect rect, int style, const struct ui_text_input *input,
                      const char *hint, bool focused) {
    struct ui_draw *draw = context->draw;
    int cell = ui_cell_width(style), high = ui_cell_height(style), y = ui_add(rect.y, (rect.h - high) / 2);
    int x = ui_add(rect.x, -input->scroll * cell);
    size_t length, start = ui_text_input_selection(input, &length);
    if (focused && length > 0) {
        int from = ui_add(x, cells_before(input, start) * cell);
        ui_draw_rect(draw, ui_rect(from, y, ui_text_width_n(style, input->text + start, length), high), UI_RULE);
    }
    if (input->length == 0)
        ui_draw_text(draw, x, y, style, UI_GHOST, hint ? hint : "");
    else
        ui_draw_text_n(draw, x, y, style, UI_WHITE, input->text, input->length);
    int caret = ui_add(x, cells_before(input, input->caret) * cell);
    if (focused) ui_draw_rect(draw, ui_rect(caret, y + 1, (style & 3) == UI_L ? 2 : 1, high - 2), UI_WHITE);
}

unsigned ui_text_line(struct ui_context *context, ui_id id, struct ui_rect rect, int style, struct ui_text_input *input,
                      const char *hint) {
    unsigned signals = ui_area(context, id, rect, UI_CURSOR_TEXT, 0), result = 0;
    if (signals & UI_PRESSED) context->focus = id;
    if (signals & UI_HELD) follow_pointer(context, rect, style, input, signals & UI_PRESSED);
    bool focused = context->focus == id;
    if (focused && context->key.kind == UI_EVENT_KEY) {
        bool used;
        result = ui_text_input_key(input, &context->key, &used);
        if (used) context->key.kind = UI_EVENT_NONE;
    }
    show_caret(input, ui_max(1, rect.w / ui_cell_width(style)));
    ui_draw_push_clip(context->draw, rect);
    draw_line(context, rect, style, input, hint, focused);
    ui_draw_pop_clip(context->draw);
    return result;
}
