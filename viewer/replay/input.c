/* Input: keys become commands unless a text line takes them; everything else goes to the context. */
#include "replay.h"

#include <stdlib.h>

static bool typing(const struct app *app) {
    return app->overlay == APP_OVERLAY_GOTO || app->overlay == APP_OVERLAY_PALETTE;
}

static struct ui_text_input *open_line(struct app *app) {
    return app->overlay == APP_OVERLAY_GOTO ? &app->goto_input : &app->palette_input;
}

static bool is_key(struct ui_key key, const char *name) {
    struct ui_key other;
    return ui_key_parse(name, &other) && ui_key_equal(key, other);
}

/* Keys of an overlay that no text line would take. true: done with. */
static bool overlay_key(struct replay *replay, const struct ui_input_event *event) {
    struct app *app = &replay->app;
    if (typing(app) && is_key(event->key, "Ctrl+V")) {
        char *text = replay->platform ? ui_platform_paste(replay->platform) : NULL;
        if (text) ui_text_input_insert(open_line(app), text);
        free(text);
        return true;
    }
    if (app->overlay == APP_OVERLAY_PIDS && (is_key(event->key, "Esc") || is_key(event->key, "Enter"))) {
        app->overlay = APP_OVERLAY_NONE;
        return true;
    }
    return false;
}

static void run_key(struct replay *replay, struct ui_key key) {
    const struct ui_command *command = ui_command_for_key(replay_commands, key);
    char error[UI_ERROR_SIZE] = "";
    replay->missing = false;
    if (command && !ui_command_run(command, replay, error)) app_say(&replay->app, true, "%s", error);
}

static void take_key(struct replay *replay, const struct ui_input_event *event) {
    struct app *app = &replay->app;
    app->message[0] = '\0';
    if (overlay_key(replay, event)) return;
    if (typing(app) || app->overlay == APP_OVERLAY_PIDS)
        ui_context_event(&app->ui, event, app->now_ms);
    else if (event->key.code != UI_KEY_NONE)
        run_key(replay, event->key);
}

void replay_event(struct replay *replay, const struct ui_input_event *event) {
    struct app *app = &replay->app;
    app->redraw = true;
    switch (event->kind) {
    case UI_EVENT_QUIT:
        app->quit = true;
        break;
    case UI_EVENT_RESIZE:
        app->width = event->width;
        app->height = event->height;
        break;
    case UI_EVENT_KEY:
        take_key(replay, event);
        break;
    case UI_EVENT_PRESS:
        app->message[0] = '\0';
        ui_context_event(&app->ui, event, app->now_ms);
        break;
    default:
        ui_context_event(&app->ui, event, app->now_ms);
        break;
    }
}

void replay_wait(struct replay *replay, double ms) {
    const double step = 1000.0 / 60;
    double end = replay->clock_ms + ms;
    while (replay->clock_ms + step < end) {
        replay->clock_ms += step;
        replay_frame(replay);
    }
    replay->clock_ms = end;
    replay_frame(replay);
}
