/* The functions that called each other, of the thread shown. */
#include "inspector.h"

#include "unwind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 24, NUMBER = 26 };

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool frame_line(void *user, const struct unwind_frame *frame) {
    struct page_writer *page = user;
    struct ui_draw *draw = page->app->draw;
    char number[16], *plain = frame->named ? decode_demangle(frame->symbol.name) : NULL;
    const char *name = frame->how == UNWIND_SIGNAL ? "signal handler called" : plain ? plain : "unknown";
    const char *object = frame->module ? last_part(frame->module->object->path) : "";
    int object_width = ui_text_width(UI_S, object), room = page->w - NUMBER - object_width - 10;
    snprintf(number, sizeof number, "#%u", frame->n);
    bool guessed = frame->how == UNWIND_SCAN;
    ui_draw_text(draw, page->x, page->y, UI_S, UI_FAINT, number);
    ui_draw_text_fit(draw, page->x + NUMBER, page->y, room, UI_S, guessed || !plain ? UI_DIM : UI_INK, name);
    ui_draw_text(draw, page->x + page->w - object_width, page->y, UI_S, UI_FAINT, object);
    page->y += INSPECTOR_LINE;
    free(plain);
    return frame->n + 1 < FRAMES;
}

void inspector_backtrace(struct page_writer *page, int32_t tid) {
    struct app *app = page->app;
    if (!app->decode || !app->space_id) return;
    inspector_section(page, "backtrace", NULL);
    const char *end = decode_backtrace(app->decode, app->space_id, tid, frame_line, page);
    if (!end) end = "the registers are not known";
    if (end[0] && strcmp(end, "outermost frame") != 0) inspector_line(page, UI_FAINT, "ends: %s", end);
}
