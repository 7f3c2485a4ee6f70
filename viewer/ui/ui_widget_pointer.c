/* Parts that answer to the pointer: tabs, choices, rows, scroll regions, splitters. */
#include "ui_widget.h"

#include <math.h>

#define ELLIPSIS "\xe2\x80\xa6"

/* --- tabs --- */

enum { TAB_GAP_LEAST = 7, TAB_GAP_MOST = 11, TABS_MOST = 32 };

/* Which tabs are shown, in order, and how far apart. */
struct tab_layout {
    int shown[TABS_MOST];
    int count;
    int gap;
    int hidden; /* first one left out, -1 if none */
};

static int tabs_width(const char *const *names, const int *shown, int count) {
    int width = 0;
    for (int i = 0; i < count; i++) width = ui_add(width, ui_text_width(UI_S, names[shown[i]]));
    return width;
}

/* As many from the left as fit; the current one takes the last place if it would be left out. */
static struct tab_layout layout_tabs(const char *const *names, int count, int current, int width) {
    struct tab_layout layout = {.hidden = -1, .gap = TAB_GAP_LEAST};
    count = ui_clamp(count, 0, TABS_MOST);
    for (int i = 0; i < count; i++) layout.shown[i] = i;
    layout.count = count;
    int room = width;
    while (layout.count > 1 &&
           tabs_width(names, layout.shown, layout.count) + (layout.count - 1) * TAB_GAP_LEAST > room) {
        if (layout.count == count) room -= TAB_GAP_LEAST + ui_cell_width(UI_S);
        layout.count--;
        if (current >= layout.count && current < count) layout.shown[layout.count - 1] = current;
    }
    for (int i = 0; i < layout.count && layout.hidden < 0 && layout.count < count; i++)
        if (layout.shown[i] != i) layout.hidden = i;
    if (layout.hidden < 0 && layout.count < count) layout.hidden = layout.count;
    if (layout.count > 1)
        layout.gap = ui_clamp((room - tabs_width(names, layout.shown, layout.count)) / (layout.count - 1),
                              TAB_GAP_LEAST, TAB_GAP_MOST);
    return layout;
}

static bool draw_tab(struct ui_context *context, ui_id id, struct ui_rect rect, const char *name, bool active) {
    ui_draw_begin_group(context->draw, "tab", name);
    unsigned signals = ui_area(context, id, rect, UI_CURSOR_ARROW, 0);
    ui_color color = active ? UI_WHITE : signals & UI_HOVER ? UI_INK : UI_FAINT;
    ui_draw_text(context->draw, rect.x, ui_add(rect.y, (rect.h - ui_cell_height(UI_S)) / 2), UI_S, color, name);
    if (active) ui_draw_rect(context->draw, ui_rect(rect.x, ui_add(ui_rect_bottom(rect), -2), rect.w, 2), UI_WHITE);
    ui_draw_end_group(context->draw);
    return signals & UI_PRESSED;
}

int ui_tabs(struct ui_context *context, ui_id id, struct ui_rect rect, const char *const *names, int count,
            int current) {
    struct tab_layout layout = layout_tabs(names, count, current, rect.w);
    int chosen = current, x = rect.x;
    for (int i = 0; i < layout.count; i++) {
        int tab = layout.shown[i], width = ui_text_width(UI_S, names[tab]);
        struct ui_rect part = {x, rect.y, width, rect.h};
        if (draw_tab(context, ui_id_child(id, (uint64_t)tab), part, names[tab], tab == current)) chosen = tab;
        x = ui_add(x, width + layout.gap);
    }
    if (layout.hidden < 0) return chosen;
    int cell = ui_cell_width(UI_S);
    struct ui_rect rest = {ui_add(ui_rect_right(rect), -cell), rect.y, cell, rect.h};
    return draw_tab(context, ui_id_child(id, TABS_MOST), rest, ELLIPSIS, false) ? layout.hidden : chosen;
}

/* --- choices and rows --- */

unsigned ui_choice(struct ui_context *context, ui_id id, int *x, int y, const char *label, const char *value,
                   const char *key) {
    struct ui_draw *draw = context->draw;
    int cell = ui_cell_width(UI_S), start = *x;
    int width = ui_text_width(UI_S, value);
    if (label[0]) width = ui_add(width, ui_add(ui_text_width(UI_S, label), cell));
    if (key) width = ui_add(width, ui_add(ui_key_cap_width(key), cell));
    unsigned signals = ui_area(context, id, ui_rect(start, ui_add(y, -2), width, 16), UI_CURSOR_ARROW, 0);
    ui_draw_begin_group(draw, "choice", label[0] ? label : value);
    int at = label[0] ? ui_add(ui_draw_text(draw, start, y, UI_S, UI_FAINT, label), cell) : start;
    at = ui_draw_text(draw, at, y, UI_S, signals & UI_HOVER ? UI_INK : UI_DIM, value);
    if (key) ui_key_cap(draw, ui_add(at, cell), y, key, UI_DIM);
    ui_draw_end_group(draw);
    *x = ui_add(start, width + 14);
    return signals;
}

unsigned ui_list_row(struct ui_context *context, ui_id id, struct ui_rect rect, bool selected) {
    unsigned signals = ui_area(context, id, rect, UI_CURSOR_ARROW, 0);
    if (selected) {
        ui_draw_rect(context->draw, rect, UI_RAISED2);
        ui_draw_rect(context->draw, ui_rect(rect.x, rect.y, 2, rect.h), UI_WHITE);
    } else if (signals & UI_HELD) {
        ui_draw_rect(context->draw, rect, UI_RAISED2);
    }
    if (signals & UI_HOVER) ui_draw_frame(context->draw, rect, ui_fade(UI_WHITE, 80));
    return signals;
}

/* --- scrolling --- */

enum { WHEEL_STEP = 39, BAR_WIDTH = 2, BAR_GRAB = 8, BAR_SHORTEST = 16 };

static void hold_offset(struct ui_scroll *scroll, int view_height) {
    scroll->offset = ui_clamp(scroll->offset, 0, ui_max(0, ui_add(scroll->content, -ui_max(view_height, 0))));
}

int ui_scroll_begin(struct ui_context *context, ui_id id, struct ui_rect rect, int content, struct ui_scroll *scroll) {
    scroll->content = ui_max(content, 0);
    if (ui_area(context, id, rect, UI_CURSOR_ARROW, UI_AREA_WHEEL) & UI_WHEELED)
        scroll->offset = ui_add(scroll->offset, (int)lround(fmin(fmax(-context->wheel_y, -1e4), 1e4) * WHEEL_STEP));
    hold_offset(scroll, rect.h);
    ui_draw_push_clip(context->draw, rect);
    return ui_add(rect.y, -scroll->offset);
}

void ui_scroll_end(struct ui_context *context, ui_id id, struct ui_rect rect, struct ui_scroll *scroll) {
    ui_draw_pop_clip(context->draw);
    int hidden = scroll->content - rect.h;
    if (rect.h <= 0 || hidden <= 0) return;
    int length = ui_clamp((int)((long long)rect.h * rect.h / scroll->content), ui_min(BAR_SHORTEST, rect.h), rect.h);
    int way = rect.h - length;
    struct ui_rect grab = {ui_add(ui_rect_right(rect), -BAR_GRAB), rect.y, BAR_GRAB, rect.h};
    unsigned signals = ui_area(context, ui_id_child(id, 1), grab, UI_CURSOR_ARROW, 0);
    int top = rect.y + (int)((long long)way * scroll->offset / hidden);
    if (signals & UI_PRESSED) {
        /* A press beside the bar brings its middle to the pointer first. */
        if (context->press_y < top || context->press_y >= top + length)
            scroll->offset = way ? (int)((long long)(context->press_y - rect.y - length / 2) * hidden / way) : 0;
        hold_offset(scroll, rect.h);
        scroll->grab = scroll->offset;
    }
    if (signals & UI_DRAGGED && way > 0)
        scroll->offset = ui_add(scroll->grab, (int)((long long)(context->mouse_y - context->press_y) * hidden / way));
    hold_offset(scroll, rect.h);
    top = rect.y + (int)((long long)way * scroll->offset / hidden);
    ui_color color = signals & (UI_HOVER | UI_HELD) ? UI_DIM : UI_RULE2;
    ui_draw_rect(context->draw, ui_rect(ui_add(ui_rect_right(rect), -BAR_WIDTH - 1), top, BAR_WIDTH, length), color);
}

void ui_scroll_show(struct ui_scroll *scroll, int view_height, int top, int height) {
    if (ui_add(top, height) > ui_add(scroll->offset, view_height))
        scroll->offset = ui_add(ui_add(top, height), -view_height);
    if (top < scroll->offset) scroll->offset = top;
}

/* --- splitters --- */

bool ui_splitter(struct ui_context *context, ui_id id, struct ui_rect line, bool reversed, int *size, int min,
                 int max) {
    bool upright = line.h >= line.w; /* between left and right */
    struct ui_rect grip =
        upright ? ui_rect(ui_add(line.x, -2), line.y, 5, line.h) : ui_rect(line.x, ui_add(line.y, -2), line.w, 5);
    unsigned signals = ui_area(context, id, grip, upright ? UI_CURSOR_RESIZE_H : UI_CURSOR_RESIZE_V, 0);
    ui_draw_rect(context->draw, line, signals & (UI_HOVER | UI_HELD) ? UI_RULE2 : UI_HAIR);
    int before = *size;
    if (signals & UI_HELD) {
        int to = upright ? ui_add(context->mouse_x, -line.x) : ui_add(context->mouse_y, -line.y);
        *size = ui_add(before, reversed ? -to : to);
    }
    *size = ui_clamp(*size, min, ui_max(min, max));
    return *size != before;
}
