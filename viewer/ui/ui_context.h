/* What the pointer and the keys do to the parts of the picture: hit areas with ids, and which of them is hot (under the
 * pointer), active (held down) and focused (takes keys). Owned by the caller, one per window.
 *
 * A frame:  ui_context_begin · draw everything, calling ui_area for what can be pointed at · ui_context_end.
 * Between frames: ui_context_event for each input event. Events are resolved against the areas of the last frame, that
 * is, against what the user saw; the later of two overlapping areas lies on top. Draw a frame after each press, release
 * or key; moves may be gathered.
 */
#ifndef UI_CONTEXT_H
#define UI_CONTEXT_H

#include "ui_draw.h"
#include "ui_input.h"

typedef uint64_t ui_id; /* 0: nothing */

/* Stable ids from a name, and from a parent and a number (row, tab). */
ui_id ui_id_of(const char *name);
ui_id ui_id_child(ui_id parent, uint64_t number);

/* What happened to an area since the frame before; bits. */
enum ui_signal {
    UI_HOVER = 1,           /* the pointer is over it, and nothing else is held */
    UI_PRESSED = 2,         /* left button went down on it */
    UI_HELD = 4,            /* left button is down since it went down on it */
    UI_RELEASED = 8,        /* left button came up after UI_HELD */
    UI_CLICKED = 16,        /* came up over it, without having been dragged */
    UI_DOUBLE_CLICKED = 32, /* with UI_PRESSED */
    UI_DRAGGED = 64,        /* held and moved by more than 3 px; stays until released */
    UI_RIGHT_CLICKED = 128,
    UI_WHEELED = 256, /* context->wheel_x, wheel_y are for this area */
    UI_MIDDLE_HELD = 512
};

enum ui_area_flag {
    UI_AREA_WHEEL = 1 /* takes the wheel from everything that lies over it and does not */
};

struct ui_area; /* private */

struct ui_context {
    struct ui_draw *draw; /* of this frame */
    double now_ms;        /* as given to begin */

    /* Pointer, logical pixels. */
    int mouse_x, mouse_y;
    bool mouse_inside;
    unsigned modifiers;
    int press_x, press_y; /* where the held button went down */
    int move_x, move_y;   /* moved since the frame before */
    double wheel_x, wheel_y;

    ui_id hot, active, focus;
    double hot_since_ms;   /* when hot became hot, or the pointer last moved within it: cards wait 250 ms */
    enum ui_cursor cursor; /* what the pointer should look like; valid after end */

    /* The key event of this frame, if a focused part should handle it; set kind to UI_EVENT_NONE when used. */
    struct ui_input_event key;

    /* private */
    ui_id pressed, released, clicked, double_clicked, right_clicked, wheeled, middle;
    bool dragging;
    struct ui_area *areas;
    size_t area_count, area_room;
    double event_ms;
};

void ui_context_init(struct ui_context *context);
void ui_context_free(struct ui_context *context);

/* Take one input event. now_ms: the same clock as begin. */
void ui_context_event(struct ui_context *context, const struct ui_input_event *event, double now_ms);
void ui_context_begin(struct ui_context *context, struct ui_draw *draw, double now_ms);
void ui_context_end(struct ui_context *context);

/* Declare an area (cut to the current clip) and hear what happened to it: enum ui_signal bits. */
unsigned ui_area(struct ui_context *context, ui_id id, struct ui_rect rect, enum ui_cursor cursor, unsigned flags);

/* The pointer has rested over the hot area for 250 ms: its card is due. When it is not yet, *wait_ms (may be NULL) is
 * the time to the moment it will be, < 0 when nothing is hot. */
bool ui_card_due(const struct ui_context *context, double *wait_ms);

/* The key of this frame equals `key`: takes it. */
bool ui_take_key(struct ui_context *context, const char *key);

#endif
