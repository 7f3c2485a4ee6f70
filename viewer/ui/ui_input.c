#include "ui_input.h"
#include "ui_text.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static const struct key_name {
    uint32_t code;
    const char *name; /* the first name of a code is the printed one */
} key_names[] = {
    {UI_KEY_ESC, "Esc"},
    {UI_KEY_ESC, "Escape"},
    {UI_KEY_ENTER, "Enter"},
    {UI_KEY_ENTER, "Return"},
    {UI_KEY_TAB, "Tab"},
    {UI_KEY_BACKSPACE, "Backspace"},
    {UI_KEY_DELETE, "Delete"},
    {UI_KEY_INSERT, "Insert"},
    {UI_KEY_LEFT, "Left"},
    {UI_KEY_RIGHT, "Right"},
    {UI_KEY_UP, "Up"},
    {UI_KEY_DOWN, "Down"},
    {UI_KEY_HOME, "Home"},
    {UI_KEY_END, "End"},
    {UI_KEY_PAGE_UP, "PageUp"},
    {UI_KEY_PAGE_DOWN, "PageDown"},
    {' ', "Space"},
};

static const struct modifier_name {
    unsigned modifier;
    const char *name;
} modifier_names[] = {{UI_CTRL, "Ctrl+"}, {UI_ALT, "Alt+"}, {UI_SHIFT, "Shift+"}, {UI_SUPER, "Super+"}};

enum { KEY_NAMES = sizeof key_names / sizeof *key_names, MODIFIERS = sizeof modifier_names / sizeof *modifier_names };

bool ui_key_equal(struct ui_key a, struct ui_key b) { return a.code == b.code && a.modifiers == b.modifiers; }

static bool is_letter(uint32_t code) { return (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z'); }

struct ui_key ui_key_normal(struct ui_key key) {
    if (key.code >= 'a' && key.code <= 'z') key.code -= 'a' - 'A';
    bool shift_is_in_it = key.code > ' ' && key.code < UI_KEY_ESC && !is_letter(key.code);
    if (shift_is_in_it) key.modifiers &= ~(unsigned)UI_SHIFT;
    return key;
}

/* Takes modifiers off the front; a name that consists of them alone keeps its last character: "Ctrl++". */
static size_t parse_modifiers(const char *name, size_t bytes, unsigned *modifiers) {
    size_t at = 0;
    for (int i = 0; i < MODIFIERS; i++) {
        size_t length = strlen(modifier_names[i].name);
        if (bytes - at <= length || strncasecmp(name + at, modifier_names[i].name, length) != 0) continue;
        *modifiers |= modifier_names[i].modifier;
        at += length;
        i = -1;
    }
    return at;
}

static uint32_t parse_function_key(const char *name, size_t bytes) {
    if (bytes < 2 || bytes > 3 || (name[0] != 'F' && name[0] != 'f')) return UI_KEY_NONE;
    unsigned number = 0;
    for (size_t i = 1; i < bytes; i++) {
        if (name[i] < '0' || name[i] > '9') return UI_KEY_NONE;
        number = number * 10 + (unsigned)(name[i] - '0');
    }
    return number >= 1 && number <= 12 && name[1] != '0' ? UI_KEY_F1 + number - 1 : UI_KEY_NONE;
}

static uint32_t parse_code(const char *name, size_t bytes) {
    for (int i = 0; i < KEY_NAMES; i++)
        if (strlen(key_names[i].name) == bytes && strncasecmp(name, key_names[i].name, bytes) == 0)
            return key_names[i].code;
    uint32_t code;
    if (bytes > 0 && ui_utf8_decode(name, bytes, &code) == bytes && code > ' ' && code != 0x7f && code != 0xfffd)
        return code;
    return parse_function_key(name, bytes);
}

bool ui_key_parse_n(const char *name, size_t bytes, struct ui_key *key) {
    *key = (struct ui_key){0};
    size_t at = parse_modifiers(name, bytes, &key->modifiers);
    key->code = parse_code(name + at, bytes - at);
    *key = ui_key_normal(*key);
    return key->code != UI_KEY_NONE;
}

bool ui_key_parse(const char *name, struct ui_key *key) { return ui_key_parse_n(name, strlen(name), key); }

static void format_code(uint32_t code, char *out, size_t size) {
    for (int i = 0; i < KEY_NAMES; i++) {
        if (key_names[i].code != code) continue;
        snprintf(out, size, "%s", key_names[i].name);
        return;
    }
    char character[4];
    if (code >= UI_KEY_F1 && code <= UI_KEY_F12)
        snprintf(out, size, "F%u", code - UI_KEY_F1 + 1);
    else
        snprintf(out, size, "%.*s", (int)ui_utf8_encode(code, character), character);
}

void ui_key_format(struct ui_key key, char *out, size_t size) {
    char code[16] = "";
    if (key.code != UI_KEY_NONE) format_code(key.code, code, sizeof code);
    snprintf(out, size, "%s%s%s%s%s", key.modifiers & UI_CTRL ? "Ctrl+" : "", key.modifiers & UI_ALT ? "Alt+" : "",
             key.modifiers & UI_SHIFT ? "Shift+" : "", key.modifiers & UI_SUPER ? "Super+" : "", code);
}

struct ui_input_event ui_event_key(struct ui_key key) {
    struct ui_input_event event = {.kind = UI_EVENT_KEY, .key = ui_key_normal(key)};
    event.modifiers = event.key.modifiers;
    bool types = event.key.code >= ' ' && event.key.code < UI_KEY_ESC;
    if (!types || event.modifiers & (UI_CTRL | UI_ALT | UI_SUPER)) return event;
    uint32_t code = event.key.code;
    if (code >= 'A' && code <= 'Z' && !(event.modifiers & UI_SHIFT)) code += 'a' - 'A';
    event.text[ui_utf8_encode(code, event.text)] = '\0';
    return event;
}

struct ui_input_event ui_event_mouse(enum ui_event_kind kind, int x, int y, enum ui_button button) {
    return (struct ui_input_event){.kind = kind, .x = x, .y = y, .button = button, .clicks = 1};
}

struct ui_input_event ui_event_wheel(int x, int y, double steps) {
    return (struct ui_input_event){.kind = UI_EVENT_WHEEL, .x = x, .y = y, .wheel_y = steps};
}
