/* Frames and pictures, with or without a window. */
#include "app_search.h"
#include "replay.h"
#include "ui_png.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SETTLE = 16 }; /* frames after which nothing changes any more: hover and heights take one or two */

static void one_frame(struct replay *replay) {
    struct app *app = &replay->app;
    app_budget_begin(app);
    replay_change_go_on(replay);
    app_draw(app, replay->draw, replay->platform ? ui_platform_now(replay->platform) : replay->clock_ms);
}

void replay_frame(struct replay *replay) {
    one_frame(replay);
    for (int i = 0; !replay->platform && replay->app.redraw && i < SETTLE; i++) one_frame(replay);
}

static bool make_fonts(struct replay *replay, double scale, char *error) {
    if (replay->fonts && ui_fonts_scale(replay->fonts) == scale) return true;
    ui_fonts_destroy(replay->fonts);
    replay->fonts = ui_fonts_create(scale, error, UI_ERROR_SIZE);
    return replay->fonts != NULL;
}

bool replay_picture(struct replay *replay, const char *path, char *error) {
    double scale = replay->platform ? ui_platform_scale(replay->platform)
                                    : (replay->options.scale > 0 ? replay->options.scale : 1);
    if (!make_fonts(replay, scale, error)) return false;
    struct ui_buffer buffer = {.width = ui_scaled(replay->app.width, scale),
                               .height = ui_scaled(replay->app.height, scale)};
    buffer.stride = buffer.width;
    buffer.pixels = calloc((size_t)buffer.width * (size_t)buffer.height, sizeof *buffer.pixels);
    if (!buffer.pixels) {
        snprintf(error, UI_ERROR_SIZE, "out of memory for a picture of %dx%d", buffer.width, buffer.height);
        return false;
    }
    ui_raster_paint(replay->draw, replay->fonts, scale, &buffer);
    bool written = ui_png_write(path, &buffer, error, UI_ERROR_SIZE);
    free(buffer.pixels);
    return written;
}

bool replay_dump(struct replay *replay, const char *path, char *error) {
    FILE *file = !strcmp(path, "-") ? stdout : fopen(path, "w");
    bool good = file && ui_draw_dump(replay->draw, file);
    if (file && file != stdout && fclose(file) != 0) good = false;
    if (!good) snprintf(error, UI_ERROR_SIZE, "cannot write %.150s: %s", path, strerror(errno));
    return good;
}
