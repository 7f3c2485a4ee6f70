/* Commands that only scripts have: the pointer, keys, pictures. */
#include "replay.h"

#include <stdio.h>
#include <string.h>

static bool fail(char *error, const char *why) {
    snprintf(error, UI_ERROR_SIZE, "%s", why);
    return false;
}

static void mouse(struct replay *replay, enum ui_event_kind kind, int64_t x, int64_t y, unsigned modifiers,
                  int clicks) {
    struct ui_input_event event = ui_event_mouse(kind, (int)x, (int)y, UI_BUTTON_LEFT);
    event.modifiers = modifiers;
    event.clicks = clicks;
    replay_event(replay, &event);
    replay_frame(replay);
}

static bool inside(const struct replay *replay, int64_t x, int64_t y, char *error) {
    if (x >= 0 && y >= 0 && x < replay->app.width && y < replay->app.height) return true;
    snprintf(error, UI_ERROR_SIZE, "%lld %lld lies outside of the window of %dx%d", (long long)x, (long long)y,
             replay->app.width, replay->app.height);
    return false;
}

bool command_key(void *replay, const struct ui_args *args, char *error) {
    struct ui_key key;
    if (!ui_key_parse(args->arg[0].text, &key)) return fail(error, "key: no such key; Ctrl+P, Left, ], F11 are keys");
    struct ui_input_event event = ui_event_key(key);
    replay_event(replay, &event);
    replay_frame(replay);
    return true;
}

bool command_type(void *replay, const struct ui_args *args, char *error) {
    const char *text = args->arg[0].text;
    (void)error;
    while (*text) {
        struct ui_input_event event = {.kind = UI_EVENT_KEY};
        size_t bytes = ui_utf8_next(text, strlen(text), 0);
        memcpy(event.text, text, bytes < sizeof event.text ? bytes : sizeof event.text - 1);
        replay_event(replay, &event);
        replay_frame(replay);
        text += bytes;
    }
    return true;
}

bool command_move(void *replay, const struct ui_args *args, char *error) {
    if (!inside(replay, args->arg[0].integer, args->arg[1].integer, error)) return false;
    mouse(replay, UI_EVENT_MOVE, args->arg[0].integer, args->arg[1].integer, 0, 0);
    return true;
}

bool command_click(void *replay, const struct ui_args *args, char *error) {
    int64_t x = args->arg[0].integer, y = args->arg[1].integer, times = args->count > 2 ? args->arg[2].integer : 1;
    if (!inside(replay, x, y, error)) return false;
    mouse(replay, UI_EVENT_MOVE, x, y, 0, 0);
    for (int i = 1; i <= times && i <= 3; i++) {
        mouse(replay, UI_EVENT_PRESS, x, y, 0, i);
        mouse(replay, UI_EVENT_RELEASE, x, y, 0, i);
    }
    return true;
}

bool command_drag(void *replay, const struct ui_args *args, char *error) {
    int64_t x = args->arg[0].integer, y = args->arg[1].integer;
    int64_t to_x = args->arg[2].integer, to_y = args->arg[3].integer;
    unsigned modifiers = 0;
    if (args->count > 4) {
        if (strcmp(args->arg[4].text, "shift") != 0) return fail(error, "drag: only shift may be held");
        modifiers = UI_SHIFT;
    }
    if (!inside(replay, x, y, error)) return false;
    mouse(replay, UI_EVENT_MOVE, x, y, modifiers, 0);
    mouse(replay, UI_EVENT_PRESS, x, y, modifiers, 1);
    for (int i = 1; i <= 8; i++)
        mouse(replay, UI_EVENT_MOVE, x + (to_x - x) * i / 8, y + (to_y - y) * i / 8, modifiers, 0);
    mouse(replay, UI_EVENT_RELEASE, to_x, to_y, modifiers, 1);
    return true;
}

bool command_wheel(void *replay, const struct ui_args *args, char *error) {
    int64_t x = args->arg[0].integer, y = args->arg[1].integer;
    if (!inside(replay, x, y, error)) return false;
    struct ui_input_event event = ui_event_wheel((int)x, (int)y, args->arg[2].number);
    replay_event(replay, &event);
    replay_frame(replay);
    return true;
}

bool command_wait(void *replay, const struct ui_args *args, char *error) {
    double ms = args->count ? args->arg[0].number : 0;
    if (!(ms >= 0 && ms <= 3600000)) return fail(error, "wait: from 0 to 3600000 ms");
    replay_wait(replay, ms);
    return true;
}

bool command_size(void *replay, const struct ui_args *args, char *error) {
    struct replay *self = replay;
    int64_t width = args->arg[0].integer, height = args->arg[1].integer;
    if (width < 640 || height < 400 || width > 16384 || height > 16384)
        return fail(error, "size: from 640 400 to 16384 16384");
    if (self->platform) return fail(error, "size: the window has the size the display gave it");
    self->app.width = (int)width;
    self->app.height = (int)height;
    return true;
}

bool command_draw(void *replay, const struct ui_args *args, char *error) {
    replay_frame(replay);
    return replay_picture(replay, args->arg[0].text, error);
}

bool command_dump(void *replay, const struct ui_args *args, char *error) {
    replay_frame(replay);
    return replay_dump(replay, args->arg[0].text, error);
}
