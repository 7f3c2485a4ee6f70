/* Text helpers of the draw list: alignment, ellipsis, prose. All end in ui_draw_text_n. */
#include "ui_draw.h"

#include <stdarg.h>
#include <string.h>

#define ELLIPSIS "\xe2\x80\xa6"

int ui_draw_text(struct ui_draw *draw, int x, int y, int style, ui_color color, const char *text) {
    return ui_draw_text_n(draw, x, y, style, color, text, strlen(text));
}

int ui_draw_textf(struct ui_draw *draw, int x, int y, int style, ui_color color, const char *format, ...) {
    char text[1024];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    return ui_draw_text(draw, x, y, style, color, text);
}

int ui_draw_text_right(struct ui_draw *draw, int x_right, int y, int style, ui_color color, const char *text) {
    int x = ui_add(x_right, -ui_text_width(style, text));
    ui_draw_text(draw, x, y, style, color, text);
    return x;
}

int ui_draw_text_fit(struct ui_draw *draw, int x, int y, int width, int style, ui_color color, const char *text) {
    size_t bytes = strlen(text);
    if (ui_text_fit(style, text, bytes, width) == bytes) return ui_draw_text_n(draw, x, y, style, color, text, bytes);
    int room = width - ui_cell_width(style);
    if (room < 0) return x;
    char cut[1024];
    size_t fits = ui_text_fit(style, text, bytes < sizeof cut - 4 ? bytes : sizeof cut - 4, room);
    memcpy(cut, text, fits);
    memcpy(cut + fits, ELLIPSIS, sizeof ELLIPSIS);
    return ui_draw_text(draw, x, y, style, color, cut);
}

int ui_draw_text_centred(struct ui_draw *draw, int x, int y, int width, int style, ui_color color, const char *text) {
    return ui_draw_text(draw, ui_add(x, (width - ui_text_width(style, text)) / 2), y, style, color, text);
}

/* Prose is measured and wrapped without its backticks. `strong` per byte says how it is drawn. */
struct prose {
    char text[4096];
    bool strong[4096];
    size_t bytes;
};

static void strip_marks(struct prose *prose, const char *text) {
    bool strong = false;
    prose->bytes = 0;
    for (; *text && prose->bytes < sizeof prose->text - 1; text++) {
        if (*text == '`') {
            strong = !strong;
            continue;
        }
        prose->strong[prose->bytes] = strong;
        prose->text[prose->bytes++] = *text;
    }
    prose->text[prose->bytes] = '\0';
}

/* Draw bytes [from, to) of the prose as runs of one strength. */
static void draw_runs(struct ui_draw *draw, const struct prose *prose, size_t from, size_t to, int x, int y, int style,
                      ui_color color, ui_color strong) {
    while (from < to) {
        size_t end = from + 1;
        while (end < to && prose->strong[end] == prose->strong[from]) end++;
        x = ui_draw_text_n(draw, x, y, style, prose->strong[from] ? strong : color, prose->text + from, end - from);
        from = end;
    }
}

int ui_draw_prose(struct ui_draw *draw, struct ui_rect rect, int line_height, int style, ui_color color,
                  ui_color strong, const char *text) {
    struct prose prose;
    strip_marks(&prose, text);
    int y = rect.y, height = line_height > 0 ? line_height : ui_cell_height(style);
    for (size_t at = 0, next; at < prose.bytes; at += next) {
        size_t line = ui_text_wrap(style, prose.text + at, prose.bytes - at, rect.w, &next);
        draw_runs(draw, &prose, at, at + line, rect.x, y, style, color, strong);
        y = ui_add(y, line > 0 ? height : height / 2);
    }
    return y;
}
