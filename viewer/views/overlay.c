#include "overlay.h"

#include <string.h>

void overlay_close(struct app *app) {
    app->overlay = APP_OVERLAY_NONE;
    app->ui.focus = 0;
    app->redraw = true;
}

void overlay_cover(struct app *app, bool dark) {
    struct ui_rect window = ui_rect(0, 0, app->width, app->height);
    if (dark) ui_draw_rect(app->draw, window, UI_SHADE);
    unsigned signals = ui_area(&app->ui, ui_id_of("overlay"), window, UI_CURSOR_ARROW, UI_AREA_WHEEL);
    if (signals & UI_PRESSED) overlay_close(app);
}

struct ui_rect overlay_box(const struct app *app, int height) {
    int width = ui_min(624, app->width - 16);
    return ui_rect((app->width - width) / 2, ui_min(56, app->height / 12), width, ui_min(height, app->height - 48));
}

unsigned overlay_input(struct app *app, struct ui_rect box, const char *sign, struct ui_text_input *input,
                       const char *hint, const char *right) {
    struct ui_draw *draw = app->draw;
    ui_id id = ui_id_of("overlay input");
    int after = ui_draw_text(draw, box.x + 14, box.y + 8, UI_L, UI_FAINT, sign) + 10;
    int end = ui_draw_text_right(draw, ui_rect_right(box) - 14, box.y + 12, UI_S, UI_FAINT, right) - 10;
    app->ui.focus = id;
    unsigned result =
        ui_text_line(&app->ui, id, ui_rect(after, box.y + 4, ui_max(end - after, 20), 28), UI_L, input, hint);
    ui_draw_hline(draw, box.x + 1, box.y + OVERLAY_INPUT - 1, box.w - 2, UI_RULE);
    if (result) app->redraw = true;
    return result;
}

int overlay_match(struct app *app, int x, int y, int style, ui_color color, const char *text,
                  const struct ui_match *match) {
    size_t at = 0, length = strlen(text);
    for (int i = 0; i < match->ranges; i++) {
        size_t start = match->range[i].start, end = start + match->range[i].length;
        if (start < at || end > length) break;
        x = ui_draw_text_n(app->draw, x, y, style, color, text + at, start - at);
        x = ui_draw_text_n(app->draw, x, y, style | UI_BOLD, UI_WHITE, text + start, end - start);
        at = end;
    }
    return ui_draw_text_n(app->draw, x, y, style, color, text + at, length - at);
}

void overlay_choose(struct app *app, int *chosen, int least, int count) {
    int step = ui_take_key(&app->ui, "Up") ? -1 : ui_take_key(&app->ui, "Down") ? 1 : 0;
    if (step) app->redraw = true;
    *chosen = ui_clamp(*chosen + step, least, ui_max(least, count - 1));
}

void overlay_hints(struct app *app, struct ui_rect box, const char *run) {
    int y = ui_rect_bottom(box) - OVERLAY_HINTS;
    ui_draw_hline(app->draw, box.x + 1, y, box.w - 2, UI_RULE);
    int x = ui_key_hint(app->draw, box.x + 14, y + 4, "Up Down", "choose");
    x = ui_key_hint(app->draw, x, y + 4, "Enter", run);
    ui_key_hint(app->draw, x, y + 4, "Esc", "close");
}
