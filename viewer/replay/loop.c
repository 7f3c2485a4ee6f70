/* The window's loop: sleeps until input comes or something moves, and presents only what changed. */
#include "replay.h"

#include <math.h>

/* Presses, releases and keys each want a frame of their own; moves and wheel steps are gathered. */
static bool ends_gathering(enum ui_event_kind kind) {
    return kind == UI_EVENT_PRESS || kind == UI_EVENT_RELEASE || kind == UI_EVENT_KEY || kind == UI_EVENT_QUIT;
}

static int timeout_of(const struct app *app) {
    double wait = app_next_frame(app);
    return wait < 0 ? -1 : (int)ceil(wait);
}

/* true: the buffer has to be painted again, whatever the list says. */
static bool take_events(struct replay *replay) {
    struct ui_input_event event;
    bool exposed = false;
    int timeout = timeout_of(&replay->app);
    while (ui_platform_wait(replay->platform, timeout, &event)) {
        replay->app.now_ms = ui_platform_now(replay->platform);
        replay_event(replay, &event);
        exposed |= event.kind == UI_EVENT_EXPOSE || event.kind == UI_EVENT_RESIZE;
        if (ends_gathering(event.kind)) break;
        timeout = 0;
    }
    return exposed;
}

static bool fonts_for_scale(struct replay *replay) {
    double scale = ui_platform_scale(replay->platform);
    char error[UI_ERROR_SIZE];
    if (replay->fonts && ui_fonts_scale(replay->fonts) == scale) return true;
    struct ui_fonts *fonts = ui_fonts_create(scale, error, sizeof error);
    if (!fonts) return replay->fonts != NULL;
    ui_fonts_destroy(replay->fonts);
    replay->fonts = fonts;
    return true;
}

static void present(struct replay *replay, bool exposed) {
    uint64_t hash = ui_draw_hash(replay->draw);
    struct ui_buffer *buffer = ui_platform_buffer(replay->platform);
    if (!buffer->pixels || (!exposed && hash == replay->shown) || !fonts_for_scale(replay)) return;
    replay->shown = hash;
    ui_raster_paint(replay->draw, replay->fonts, ui_platform_scale(replay->platform), buffer);
    ui_platform_present(replay->platform);
}

void replay_loop(struct replay *replay) {
    struct app *app = &replay->app;
    bool exposed = true;
    ui_platform_size(replay->platform, &app->width, &app->height);
    while (!app->quit) {
        replay_frame(replay);
        ui_platform_set_cursor(replay->platform, app->ui.cursor);
        present(replay, exposed);
        exposed = take_events(replay);
    }
}
