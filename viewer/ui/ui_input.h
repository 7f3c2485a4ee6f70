/* Input as the viewer sees it, without SDL: events, keys and their names. Positions are logical pixels. */
#ifndef UI_INPUT_H
#define UI_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ui_modifier { UI_SHIFT = 1, UI_CTRL = 2, UI_ALT = 4, UI_SUPER = 8 };

/* Keys that type nothing have codes above Unicode. Keys that type are their character; letters as capitals. */
enum ui_key_code {
    UI_KEY_NONE = 0,
    UI_KEY_ESC = 0x110000,
    UI_KEY_ENTER,
    UI_KEY_TAB,
    UI_KEY_BACKSPACE,
    UI_KEY_DELETE,
    UI_KEY_INSERT,
    UI_KEY_LEFT,
    UI_KEY_RIGHT,
    UI_KEY_UP,
    UI_KEY_DOWN,
    UI_KEY_HOME,
    UI_KEY_END,
    UI_KEY_PAGE_UP,
    UI_KEY_PAGE_DOWN,
    UI_KEY_F1, /* F1 .. F12 follow each other */
    UI_KEY_F12 = UI_KEY_F1 + 11
};

/* Normal form: letters are capitals and carry Shift; a character that itself needs Shift ("?", "+", "\"") does not.
 * With Ctrl or Alt held, a key of the window is named by what it types without Shift: bind "Ctrl+=" rather than
 * "Ctrl++". */
struct ui_key {
    uint32_t code;      /* character or enum ui_key_code */
    unsigned modifiers; /* enum ui_modifier */
};

/* The normal form of a key given in any. */
struct ui_key ui_key_normal(struct ui_key key);
bool ui_key_equal(struct ui_key a, struct ui_key b);

/* "Ctrl+P", "Shift+Space", "]", "F11", "+", "Ctrl++"; case does not matter. false if it names no key. */
bool ui_key_parse(const char *name, struct ui_key *key);
bool ui_key_parse_n(const char *name, size_t bytes, struct ui_key *key);

/* The reverse, always as it is printed on a key cap; the buffer is always terminated. */
#define UI_KEY_NAME_SIZE 40
void ui_key_format(struct ui_key key, char *out, size_t size);

enum ui_event_kind {
    UI_EVENT_NONE,
    UI_EVENT_KEY,     /* key, repeat, text (what it types, or empty). Input methods: code UI_KEY_NONE and text */
    UI_EVENT_MOVE,    /* x, y */
    UI_EVENT_PRESS,   /* x, y, button, clicks */
    UI_EVENT_RELEASE, /* x, y, button */
    UI_EVENT_WHEEL,   /* x, y, wheel_x, wheel_y */
    UI_EVENT_LEAVE,   /* pointer left the window */
    UI_EVENT_RESIZE,  /* width, height (logical), scale */
    UI_EVENT_EXPOSE,  /* the window has to be presented again */
    UI_EVENT_QUIT
};

enum ui_button { UI_BUTTON_LEFT = 1, UI_BUTTON_MIDDLE = 2, UI_BUTTON_RIGHT = 3 };

struct ui_input_event {
    enum ui_event_kind kind;
    struct ui_key key;
    bool repeat;
    char text[32]; /* UTF-8, terminated */
    int x, y;
    enum ui_button button;
    int clicks;              /* 1, 2 for a double click */
    double wheel_x, wheel_y; /* steps; positive: right, away from the user */
    unsigned modifiers;      /* held at the time, for mouse events too */
    int width, height;
    double scale; /* physical per logical pixel */
};

/* Shapes of the pointer. */
enum ui_cursor {
    UI_CURSOR_ARROW,
    UI_CURSOR_CROSSHAIR,
    UI_CURSOR_MOVE,     /* four arrows, while panning */
    UI_CURSOR_RESIZE_H, /* between left and right */
    UI_CURSOR_RESIZE_V, /* between above and below */
    UI_CURSOR_TEXT,
    UI_CURSOR_COUNT
};

/* Build events, as scripts and tests do. A key event gets the text that the key types on a plain keyboard. */
struct ui_input_event ui_event_key(struct ui_key key);
struct ui_input_event ui_event_mouse(enum ui_event_kind kind, int x, int y, enum ui_button button);
struct ui_input_event ui_event_wheel(int x, int y, double steps);

#endif
