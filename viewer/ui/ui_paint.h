/* Shared by the ui_raster*.c files: the painter's state and its innermost loops. Physical pixels throughout. */
#ifndef UI_PAINT_H
#define UI_PAINT_H

#include "ui_raster.h"

/* Half open: left <= x < right. */
struct ui_edges {
    int left, top, right, bottom;
};

struct ui_painter {
    const struct ui_buffer *buffer;
    struct ui_fonts *fonts;
    double scale;
    int unit;             /* thickness of a line that is 1 px at scale 1; >= 1 */
    struct ui_edges clip; /* always within the buffer */
};

/* round(value * scale) within +-2^29, so that differences and small sums fit into an int. */
int ui_scaled_wide(long long value, double scale);
struct ui_edges ui_edges_of(const struct ui_painter *painter, struct ui_rect rect);
struct ui_edges ui_edges_cut(struct ui_edges edges, struct ui_edges clip);

/* base and color by alpha 0 .. 256. */
static inline uint32_t ui_blend_pixel(uint32_t base, uint32_t color, uint32_t alpha) {
    uint32_t rest = 256 - alpha;
    uint32_t odd = (((base & 0xff00ff) * rest + (color & 0xff00ff) * alpha + 0x800080) >> 8) & 0xff00ff;
    uint32_t even = (((base & 0x00ff00) * rest + (color & 0x00ff00) * alpha + 0x008000) >> 8) & 0x00ff00;
    return 0xff000000u | odd | even;
}

/* 0 .. 255 to 0 .. 256. */
static inline uint32_t ui_alpha_256(uint32_t alpha) { return alpha + (alpha >> 7); }

static inline uint32_t *ui_row(const struct ui_painter *painter, int y) {
    return painter->buffer->pixels + (size_t)y * (size_t)painter->buffer->stride;
}

/* left .. right of row y; the caller has cut them to the clip. */
void ui_fill_row(const struct ui_painter *painter, int y, int left, int right, ui_color color);
/* Fill what lies within the clip. */
void ui_fill(const struct ui_painter *painter, struct ui_edges edges, ui_color color);
/* The same for one row or pixel that may lie outside. */
void ui_fill_span(const struct ui_painter *painter, int y, int left, int right, ui_color color);
void ui_fill_pixel(const struct ui_painter *painter, int x, int y, uint32_t coverage, ui_color color);
/* Frame inside of edges. */
void ui_fill_frame(const struct ui_painter *painter, struct ui_edges edges, int thickness, ui_color color);

/* Between the centres of two pixels; `thick` pixels across. */
void ui_paint_segment(const struct ui_painter *painter, double x0, double y0, double x1, double y1, int thick,
                      ui_color color);
void ui_paint_line(const struct ui_painter *painter, const struct ui_draw_command *command);
void ui_paint_dashes(const struct ui_painter *painter, const struct ui_draw_command *command);
void ui_paint_triangle(const struct ui_painter *painter, const struct ui_draw_command *command);
void ui_paint_corner(const struct ui_painter *painter, const struct ui_draw_command *command);
void ui_paint_fan(const struct ui_painter *painter, const struct ui_draw_command *command);
void ui_paint_pattern(const struct ui_painter *painter, const struct ui_draw_command *command);

#endif
