#include "ui_context.h"

#include <stdlib.h>
#include <string.h>

enum { DRAG_DISTANCE = 3, CARD_DELAY_MS = 250 };

struct ui_area {
    ui_id id;
    struct ui_rect rect; /* cut to the clip */
    enum ui_cursor cursor;
    unsigned flags;
};

ui_id ui_id_of(const char *name) {
    ui_id hash = 0xcbf29ce484222325u;
    for (; *name; name++) hash = (hash ^ (unsigned char)*name) * 0x100000001b3u;
    return hash ? hash : 1;
}

ui_id ui_id_child(ui_id parent, uint64_t number) {
    ui_id hash = (parent ^ (number + 0x9e3779b97f4a7c15u)) * 0xff51afd7ed558ccdu;
    hash ^= hash >> 33;
    return hash ? hash : 1;
}

void ui_context_init(struct ui_context *context) { *context = (struct ui_context){0}; }

void ui_context_free(struct ui_context *context) {
    free(context->areas);
    ui_context_init(context);
}

/* --- events --- */

/* The area that lies on top at the pointer; with a flag: among those that have it. */
static const struct ui_area *area_at(const struct ui_context *context, unsigned flags) {
    if (!context->mouse_inside) return NULL;
    for (size_t i = context->area_count; i-- > 0;) {
        const struct ui_area *area = &context->areas[i];
        if ((area->flags & flags) == flags && ui_rect_contains(area->rect, context->mouse_x, context->mouse_y))
            return area;
    }
    return NULL;
}

static ui_id id_at(const struct ui_context *context, unsigned flags) {
    const struct ui_area *area = area_at(context, flags);
    return area ? area->id : 0;
}

static void find_hot(struct ui_context *context) {
    ui_id hot = context->active ? context->active : id_at(context, 0);
    if (hot != context->hot) context->hot_since_ms = context->event_ms;
    context->hot = hot;
}

static void move_pointer(struct ui_context *context, int x, int y) {
    if (x != context->mouse_x || y != context->mouse_y) context->hot_since_ms = context->event_ms;
    context->move_x = ui_add(context->move_x, ui_add(x, -context->mouse_x));
    context->move_y = ui_add(context->move_y, ui_add(y, -context->mouse_y));
    context->mouse_x = x;
    context->mouse_y = y;
    context->mouse_inside = true;
    bool near = llabs((long long)x - context->press_x) <= DRAG_DISTANCE &&
                llabs((long long)y - context->press_y) <= DRAG_DISTANCE;
    if (context->active && !near) context->dragging = true;
    find_hot(context);
}

static void press_left(struct ui_context *context, int clicks) {
    context->active = context->pressed = id_at(context, 0);
    context->press_x = context->mouse_x;
    context->press_y = context->mouse_y;
    context->dragging = false;
    context->focus = 0; /* a text line that was pressed takes it back when it is drawn */
    if (clicks >= 2) context->double_clicked = context->pressed;
    find_hot(context);
}

static void release_left(struct ui_context *context) {
    context->released = context->active;
    if (context->active && !context->dragging && id_at(context, 0) == context->active)
        context->clicked = context->active;
    context->active = 0;
    find_hot(context);
}

static void take_button(struct ui_context *context, const struct ui_input_event *event, bool down) {
    move_pointer(context, event->x, event->y);
    switch (event->button) {
    case UI_BUTTON_LEFT:
        if (down)
            press_left(context, event->clicks);
        else
            release_left(context);
        break;
    case UI_BUTTON_RIGHT:
        if (down) context->right_clicked = id_at(context, 0);
        break;
    case UI_BUTTON_MIDDLE:
        context->middle = down ? id_at(context, 0) : 0;
        break;
    }
}

static void take_wheel(struct ui_context *context, const struct ui_input_event *event) {
    move_pointer(context, event->x, event->y);
    ui_id id = id_at(context, UI_AREA_WHEEL);
    if (id != context->wheeled) context->wheel_x = context->wheel_y = 0;
    context->wheeled = id;
    context->wheel_x += event->wheel_x;
    context->wheel_y += event->wheel_y;
}

void ui_context_event(struct ui_context *context, const struct ui_input_event *event, double now_ms) {
    context->event_ms = now_ms;
    switch (event->kind) {
    case UI_EVENT_MOVE:
        move_pointer(context, event->x, event->y);
        break;
    case UI_EVENT_PRESS:
        take_button(context, event, true);
        break;
    case UI_EVENT_RELEASE:
        take_button(context, event, false);
        break;
    case UI_EVENT_WHEEL:
        take_wheel(context, event);
        break;
    case UI_EVENT_KEY:
        context->key = *event;
        break;
    case UI_EVENT_LEAVE:
        context->mouse_inside = false;
        find_hot(context);
        break;
    default:
        return;
    }
    context->modifiers = event->modifiers;
}

/* --- a frame --- */

void ui_context_begin(struct ui_context *context, struct ui_draw *draw, double now_ms) {
    context->draw = draw;
    context->now_ms = now_ms;
    context->area_count = 0;
}

/* What the frame has heard is over; the pointer may now be over something that moved. */
void ui_context_end(struct ui_context *context) {
    context->pressed = context->released = context->clicked = context->double_clicked = 0;
    context->right_clicked = context->wheeled = 0;
    context->move_x = context->move_y = 0;
    context->wheel_x = context->wheel_y = 0;
    context->key = (struct ui_input_event){0};
    context->event_ms = context->now_ms;
    if (!context->active) context->dragging = false;
    find_hot(context);
    context->cursor = UI_CURSOR_ARROW;
    for (size_t i = context->area_count; i-- > 0;) {
        if (context->areas[i].id != context->hot) continue;
        context->cursor = context->areas[i].cursor;
        break;
    }
}

static void remember(struct ui_context *context, struct ui_area area) {
    if (context->area_count == context->area_room) {
        size_t room = context->area_room ? context->area_room * 2 : 256;
        struct ui_area *grown = realloc(context->areas, room * sizeof *grown);
        if (!grown) return;
        context->areas = grown;
        context->area_room = room;
    }
    context->areas[context->area_count++] = area;
}

unsigned ui_area(struct ui_context *context, ui_id id, struct ui_rect rect, enum ui_cursor cursor, unsigned flags) {
    struct ui_rect seen = ui_rect_intersect(rect, ui_draw_clip(context->draw));
    if (!ui_rect_empty(seen)) remember(context, (struct ui_area){id, seen, cursor, flags});
    unsigned signals = 0;
    if (context->hot == id) signals |= UI_HOVER;
    if (context->pressed == id) signals |= UI_PRESSED;
    if (context->active == id) signals |= UI_HELD | (context->dragging ? UI_DRAGGED : 0u);
    if (context->released == id) signals |= UI_RELEASED | (context->dragging ? UI_DRAGGED : 0u);
    if (context->clicked == id) signals |= UI_CLICKED;
    if (context->double_clicked == id) signals |= UI_DOUBLE_CLICKED;
    if (context->right_clicked == id) signals |= UI_RIGHT_CLICKED;
    if (context->wheeled == id) signals |= UI_WHEELED;
    if (context->middle == id) signals |= UI_MIDDLE_HELD;
    return signals;
}

bool ui_card_due(const struct ui_context *context, double *wait_ms) {
    double rested = context->now_ms - context->hot_since_ms;
    bool possible = context->hot && !context->active && context->mouse_inside;
    if (wait_ms) *wait_ms = possible ? (rested < CARD_DELAY_MS ? CARD_DELAY_MS - rested : 0) : -1;
    return possible && rested >= CARD_DELAY_MS;
}

bool ui_take_key(struct ui_context *context, const char *name) {
    struct ui_key key;
    if (context->key.kind != UI_EVENT_KEY || !ui_key_parse(name, &key) || !ui_key_equal(key, context->key.key))
        return false;
    context->key.kind = UI_EVENT_NONE;
    return true;
}
