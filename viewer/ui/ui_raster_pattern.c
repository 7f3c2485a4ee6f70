/* Painting: patterns. Rows, dots and hatching keep the phase of the screen, so that neighbours join. */
#include "ui_paint.h"

enum { SMALL = 6 }; /* logical pixels below which a pattern becomes its small form */

/* Every second row of the screen. */
static void paint_rows(const struct ui_painter *painter, struct ui_edges edges, ui_color color) {
    struct ui_edges cut = ui_edges_cut(edges, painter->clip);
    for (int y = cut.top; y < cut.bottom; y++)
        if (y / painter->unit % 2 == 0) ui_fill_row(painter, y, cut.left, cut.right, color);
}

/* Lines that rise to the right, one unit wide, every `period` units. */
static void paint_hatch(const struct ui_painter *painter, struct ui_edges edges, int period, ui_color color) {
    struct ui_edges cut = ui_edges_cut(edges, painter->clip);
    int every = period * painter->unit;
    for (int y = cut.top; y < cut.bottom; y++) {
        int phase = (cut.left + y) % every;
        for (int x = cut.left - phase; x < cut.right; x += every)
            ui_fill_span(painter, y, ui_max(x, cut.left), ui_min(x + painter->unit, cut.right), color);
    }
}

static void paint_chequer(const struct ui_painter *painter, struct ui_edges edges, ui_color color) {
    struct ui_edges cut = ui_edges_cut(edges, painter->clip);
    for (int y = cut.top; y < cut.bottom; y++)
        for (int x = cut.left; x < cut.right; x++)
            if ((x / painter->unit + y / painter->unit) % 2 == 0) ui_fill_pixel(painter, x, y, 255, color);
}

static void paint_dots(const struct ui_painter *painter, struct ui_edges edges, ui_color color) {
    struct ui_edges cut = ui_edges_cut(edges, painter->clip);
    int unit = painter->unit, every = 4 * unit;
    for (int y = cut.top; y < cut.bottom; y++) {
        if (y % every >= unit) continue;
        for (int x = cut.left - cut.left % every; x < cut.right; x += every)
            ui_fill_span(painter, y, ui_max(x, cut.left), ui_min(x + unit, cut.right), color);
    }
}

static void paint_dot(const struct ui_painter *painter, struct ui_edges edges, ui_color color) {
    int unit = painter->unit;
    int x = edges.left + (edges.right - edges.left - unit) / 2, y = edges.top + (edges.bottom - edges.top - unit) / 2;
    ui_fill(painter, (struct ui_edges){x, y, x + unit, y + unit}, color);
}

/* Full above the diagonal, one pixel of it left out, dim below. */
static void paint_torn(const struct ui_painter *painter, struct ui_edges edges, ui_color color) {
    ui_color dim = UI_ALPHA(ui_mix(UI_GROUND, color | 0xff000000u, 28), color >> 24);
    struct ui_edges cut = ui_edges_cut(edges, painter->clip);
    long long wide = edges.right - edges.left, high = edges.bottom - edges.top;
    for (int y = cut.top; y < cut.bottom; y++) {
        int row = y - edges.top;
        int diagonal = edges.left + (int)(wide * (high - row) / high) - painter->unit;
        ui_fill_span(painter, y, edges.left, ui_min(diagonal, edges.right), color);
        ui_fill_span(painter, y, ui_max(diagonal + painter->unit, edges.left), edges.right, dim);
    }
}

static struct ui_edges lower_half(struct ui_edges edges) {
    edges.top += (edges.bottom - edges.top) / 2;
    return edges;
}

static void paint_guard(const struct ui_painter *painter, struct ui_edges edges, ui_color color) {
    int unit = painter->unit;
    ui_fill_frame(painter, edges, unit, color);
    double left = edges.left, right = edges.right - unit, top = edges.top, bottom = edges.bottom - unit;
    ui_paint_segment(painter, left, top, right, bottom, unit, color);
    ui_paint_segment(painter, left, bottom, right, top, unit, color);
}

static void paint_large(const struct ui_painter *painter, struct ui_edges edges, enum ui_pattern pattern,
                        ui_color color) {
    switch (pattern) {
    case UI_PATTERN_STALE:
        paint_rows(painter, edges, color);
        break;
    case UI_PATTERN_TORN:
        paint_torn(painter, edges, color);
        break;
    case UI_PATTERN_UNKNOWN:
        paint_hatch(painter, edges, 4, color);
        break;
    case UI_PATTERN_OUTLINE:
        ui_fill_frame(painter, edges, painter->unit, color);
        break;
    case UI_PATTERN_GUARD:
        paint_guard(painter, edges, color);
        break;
    case UI_PATTERN_SWAPPED:
        ui_fill_frame(painter, edges, painter->unit, color);
        ui_fill(painter, lower_half(edges), color);
        break;
    case UI_PATTERN_HUGE:
        ui_fill(painter, edges, ui_fade(color, 16));
        ui_fill_frame(painter, edges, 2 * painter->unit, color);
        break;
    default:
        ui_fill(painter, edges, color);
        break;
    }
}

static void paint_small(const struct ui_painter *painter, struct ui_edges edges, enum ui_pattern pattern,
                        ui_color color) {
    switch (pattern) {
    case UI_PATTERN_STALE:
        ui_fill(painter, edges, ui_fade(color, 50));
        break;
    case UI_PATTERN_TORN:
        ui_fill(painter, edges, color);
        ui_fill(painter, lower_half(edges), ui_mix(UI_GROUND, color | 0xff000000u, 28));
        break;
    case UI_PATTERN_UNKNOWN:
        paint_chequer(painter, edges, color);
        break;
    case UI_PATTERN_OUTLINE:
        ui_fill(painter, edges, ui_fade(color, 40));
        break;
    case UI_PATTERN_SWAPPED:
        ui_fill(painter, lower_half(edges), color);
        break;
    default:
        ui_fill(painter, edges, color);
        break;
    }
}

void ui_paint_pattern(const struct ui_painter *painter, const struct ui_draw_command *command) {
    struct ui_edges edges = ui_edges_of(painter, command->rect);
    enum ui_pattern pattern = (enum ui_pattern)command->a;
    switch (pattern) {
    case UI_PATTERN_GAP:
        paint_hatch(painter, edges, 6, command->color);
        break;
    case UI_PATTERN_DOTS:
        paint_dots(painter, edges, command->color);
        break;
    case UI_PATTERN_DOT:
        paint_dot(painter, edges, command->color);
        break;
    default:
        if (command->rect.w < SMALL || command->rect.h < SMALL)
            paint_small(painter, edges, pattern, command->color);
        else
            paint_large(painter, edges, pattern, command->color);
        break;
    }
}
