/* Painting: lines, dashes, triangles and fans. Loops run over the clip, never over the coordinates, which may be any.
 */
#include "ui_paint.h"

#include <math.h>

/* --- lines --- */

/* A segment that is at least as long along `along` as across. Swapped: along is y. */
struct segment {
    double along0, across0, along1, across1;
    bool swapped;
};

static struct segment segment_of(double x0, double y0, double x1, double y1) {
    bool swapped = fabs(y1 - y0) > fabs(x1 - x0);
    struct segment segment = swapped ? (struct segment){y0, x0, y1, x1, true} : (struct segment){x0, y0, x1, y1, false};
    if (segment.along0 > segment.along1)
        segment = (struct segment){segment.along1, segment.across1, segment.along0, segment.across0, swapped};
    return segment;
}

static double across_at(const struct segment *segment, double along) {
    double length = segment->along1 - segment->along0;
    if (length <= 0) return segment->across0;
    return segment->across0 + (segment->across1 - segment->across0) * ((along - segment->along0) / length);
}

/* First and last step along the segment that the clip can show. */
static void steps_of(const struct ui_painter *painter, const struct segment *segment, int *first, int *last) {
    const struct ui_edges *clip = &painter->clip;
    int low = segment->swapped ? clip->top : clip->left, high = segment->swapped ? clip->bottom : clip->right;
    *first = segment->along0 > low ? (int)fmin(segment->along0, high) : low;
    *last = segment->along1 < high - 1 ? (int)fmax(segment->along1, low - 1) : high - 1;
}

static void put(const struct ui_painter *painter, const struct segment *segment, int along, double across,
                uint32_t coverage, ui_color color) {
    if (across < -1e9 || across > 1e9) return;
    int side = (int)across;
    ui_fill_pixel(painter, segment->swapped ? side : along, segment->swapped ? along : side, coverage, color);
}

void ui_paint_segment(const struct ui_painter *painter, double x0, double y0, double x1, double y1, int thick,
                      ui_color color) {
    struct segment segment = segment_of(x0, y0, x1, y1);
    int first, last;
    steps_of(painter, &segment, &first, &last);
    for (int along = first; along <= last; along++) {
        double across = floor(across_at(&segment, along) + 0.5) - (thick - 1) / 2;
        for (int i = 0; i < thick; i++) put(painter, &segment, along, across + i, 255, color);
    }
}

static void smooth_segment(const struct ui_painter *painter, double x0, double y0, double x1, double y1, int thick,
                           ui_color color) {
    struct segment segment = segment_of(x0, y0, x1, y1);
    int first, last;
    steps_of(painter, &segment, &first, &last);
    for (int along = first; along <= last; along++) {
        double across = across_at(&segment, along) - (thick - 1) / 2.0, whole = floor(across);
        uint32_t part = (uint32_t)((across - whole) * 255);
        put(painter, &segment, along, whole, 255 - part, color);
        for (int i = 1; i < thick; i++) put(painter, &segment, along, whole + i, 255, color);
        put(painter, &segment, along, whole + thick, part, color);
    }
}

void ui_paint_line(const struct ui_painter *painter, const struct ui_draw_command *command) {
    double scale = painter->scale, middle = (painter->unit - 1) / 2;
    struct ui_rect rect = command->rect;
    double x0 = ui_scaled(rect.x, scale) + middle, y0 = ui_scaled(rect.y, scale) + middle;
    double x1 = ui_scaled(rect.w, scale) + middle, y1 = ui_scaled(rect.h, scale) + middle;
    if (command->a == UI_LINE_SMOOTH)
        smooth_segment(painter, x0, y0, x1, y1, painter->unit, command->color);
    else
        ui_paint_segment(painter, x0, y0, x1, y1, painter->unit, command->color);
}

void ui_paint_dashes(const struct ui_painter *painter, const struct ui_draw_command *command) {
    struct ui_edges cut = ui_edges_cut(ui_edges_of(painter, command->rect), painter->clip);
    int on = ui_max(1, ui_scaled(command->a, painter->scale));
    int period = on + ui_scaled(command->b, painter->scale);
    bool down = command->rect.w == 1 && command->rect.h != 1;
    for (int y = cut.top; y < cut.bottom; y++) {
        if (down) {
            if (y % period < on) ui_fill_row(painter, y, cut.left, cut.right, command->color);
            continue;
        }
        for (int x = cut.left - cut.left % period; x < cut.right; x += period)
            ui_fill_span(painter, y, ui_max(x, cut.left), ui_min(x + on, cut.right), command->color);
    }
}

/* --- triangles --- */

/* How far along its side a triangle reaches in one of `count` steps from its tip: its share of `size` pixels, with the
 * parity of size, so that the tip is one pixel (or two) and both halves are equal. */
static int reach(int step, int count, int size) {
    int wide = (int)(((long long)step * 2 + 1) * size / (2LL * count));
    if ((wide ^ size) & 1) wide++;
    return ui_clamp(wide, 1, size);
}

struct shape {
    const struct ui_painter *painter;
    struct ui_edges edges;
    bool sideways; /* the tip points left or right: steps go along x */
    bool backward; /* the tip is at the right or bottom */
};

/* The stretch from..to across, in one step along; in the shape's own directions. */
static void fill_step(const struct shape *shape, int step, int from, int to, ui_color color) {
    struct ui_edges all = shape->edges;
    int along = shape->sideways ? (shape->backward ? all.right - 1 - step : all.left + step)
                                : (shape->backward ? all.bottom - 1 - step : all.top + step);
    struct ui_edges part = shape->sideways ? (struct ui_edges){along, all.top + from, along + 1, all.top + to}
                                           : (struct ui_edges){all.left + from, along, all.left + to, along + 1};
    ui_fill(shape->painter, part, color);
}

static void fill_triangle(const struct shape *shape, int count, int size, ui_color color) {
    for (int step = 0; step < count; step++) {
        int wide = reach(step, count, size), from = (size - wide) / 2;
        fill_step(shape, step, from, from + wide, color);
    }
}

static void hollow_triangle(const struct shape *shape, int count, int size, int unit, ui_color color) {
    for (int step = 0; step < count; step++) {
        int wide = reach(step, count, size), from = (size - wide) / 2;
        int inner = step >= unit && step < count - unit ? reach(step - unit, count, size) - unit : 0;
        if (inner <= 0) {
            fill_step(shape, step, from, from + wide, color);
            continue;
        }
        int side = ui_max(unit, (wide - inner) / 2);
        fill_step(shape, step, from, from + side, color);
        fill_step(shape, step, ui_max(from + side, from + wide - side), from + wide, color);
    }
}

/* Shapes larger than this are drawn as far as this: a triangle is a sign, not an area. */
enum { LARGEST_SHAPE = 8192 };

static struct ui_edges shape_edges(const struct ui_painter *painter, struct ui_rect rect) {
    struct ui_edges edges = ui_edges_of(painter, rect);
    edges.right = ui_min(edges.right, edges.left + LARGEST_SHAPE);
    edges.bottom = ui_min(edges.bottom, edges.top + LARGEST_SHAPE);
    return edges;
}

void ui_paint_triangle(const struct ui_painter *painter, const struct ui_draw_command *command) {
    enum ui_direction tip = (enum ui_direction)command->a;
    struct shape shape = {painter, shape_edges(painter, command->rect), tip == UI_LEFT || tip == UI_RIGHT,
                          tip == UI_RIGHT || tip == UI_DOWN};
    int wide = shape.edges.right - shape.edges.left, high = shape.edges.bottom - shape.edges.top;
    int count = shape.sideways ? wide : high, size = shape.sideways ? high : wide;
    if (command->b)
        hollow_triangle(&shape, count, size, painter->unit, command->color);
    else
        fill_triangle(&shape, count, size, command->color);
}

void ui_paint_corner(const struct ui_painter *painter, const struct ui_draw_command *command) {
    struct ui_edges edges = shape_edges(painter, command->rect);
    bool right = command->a == UI_TOP_RIGHT || command->a == UI_BOTTOM_RIGHT;
    bool bottom = command->a == UI_BOTTOM_LEFT || command->a == UI_BOTTOM_RIGHT;
    int wide = edges.right - edges.left, high = edges.bottom - edges.top;
    for (int row = 0; row < high; row++) {
        int from_corner = bottom ? high - 1 - row : row;
        int length = (int)((long long)wide * (high - from_corner) / high);
        int left = right ? edges.right - length : edges.left;
        ui_fill_span(painter, edges.top + row, left, left + length, command->color);
    }
}

void ui_paint_fan(const struct ui_painter *painter, const struct ui_draw_command *command) {
    double scale = painter->scale;
    int x0 = ui_scaled(command->rect.x, scale), x1 = ui_scaled(command->rect.h, scale);
    double top0 = ui_scaled(command->rect.y, scale), bottom0 = ui_scaled(command->rect.w, scale);
    double top1 = ui_scaled(command->a, scale), bottom1 = ui_scaled(command->b, scale);
    if (x1 <= x0) return;
    int first = ui_max(x0, painter->clip.left), last = ui_min(x1, painter->clip.right);
    for (int x = first; x < last; x++) {
        double part = (x + 0.5 - x0) / ((double)x1 - x0);
        struct ui_edges column = {x, (int)floor(top0 + (top1 - top0) * part + 0.5), x + 1,
                                  (int)floor(bottom0 + (bottom1 - bottom0) * part + 0.5)};
        ui_fill(painter, column, command->color);
    }
}
