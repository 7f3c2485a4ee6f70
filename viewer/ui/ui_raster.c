/* Painting: clips, rectangles, text and images. Lines and patterns are in ui_raster_line.c, ui_raster_pattern.c. */
#include "ui_paint.h"

#include <math.h>
#include <wchar.h>

enum { FARTHEST = 1 << 29, LONG_ROW = 24 };

/* Long rows are filled by the C library, which has vector code for it. */
_Static_assert(sizeof(wchar_t) == sizeof(uint32_t), "a pixel is as large as a wchar_t");

int ui_scaled_wide(long long value, double scale) {
    double product = scale == 1 ? (double)value : floor((double)value * scale + 0.5);
    return product > FARTHEST ? FARTHEST : product < -FARTHEST ? -FARTHEST : (int)product;
}

int ui_scaled(int value, double scale) { return ui_scaled_wide(value, scale); }

struct ui_edges ui_edges_of(const struct ui_painter *painter, struct ui_rect rect) {
    double scale = painter->scale;
    long long right = (long long)rect.x + ui_max(rect.w, 0), bottom = (long long)rect.y + ui_max(rect.h, 0);
    struct ui_edges edges = {ui_scaled(rect.x, scale), ui_scaled(rect.y, scale), ui_scaled_wide(right, scale),
                             ui_scaled_wide(bottom, scale)};
    /* Nothing drawn falls below one pixel, at small scales either. */
    if (edges.right == edges.left && rect.w > 0) edges.right++;
    if (edges.bottom == edges.top && rect.h > 0) edges.bottom++;
    return edges;
}

struct ui_edges ui_edges_cut(struct ui_edges edges, struct ui_edges clip) {
    edges.left = ui_max(edges.left, clip.left);
    edges.top = ui_max(edges.top, clip.top);
    edges.right = ui_min(edges.right, clip.right);
    edges.bottom = ui_min(edges.bottom, clip.bottom);
    return edges;
}

void ui_fill_row(const struct ui_painter *painter, int y, int left, int right, ui_color color) {
    uint32_t *row = ui_row(painter, y);
    uint32_t alpha = ui_alpha_256(color >> 24);
    if (alpha < 256)
        for (int x = left; x < right; x++) row[x] = ui_blend_pixel(row[x], color, alpha);
    else if (right - left < LONG_ROW)
        for (int x = left; x < right; x++) row[x] = color;
    else
        wmemset((wchar_t *)(row + left), (wchar_t)color, (size_t)(right - left));
}

void ui_fill(const struct ui_painter *painter, struct ui_edges edges, ui_color color) {
    edges = ui_edges_cut(edges, painter->clip);
    for (int y = edges.top; y < edges.bottom; y++) ui_fill_row(painter, y, edges.left, edges.right, color);
}

void ui_fill_span(const struct ui_painter *painter, int y, int left, int right, ui_color color) {
    if (y < painter->clip.top || y >= painter->clip.bottom) return;
    ui_fill_row(painter, y, ui_max(left, painter->clip.left), ui_min(right, painter->clip.right), color);
}

void ui_fill_pixel(const struct ui_painter *painter, int x, int y, uint32_t coverage, ui_color color) {
    const struct ui_edges *clip = &painter->clip;
    if (x < clip->left || x >= clip->right || y < clip->top || y >= clip->bottom) return;
    uint32_t *pixel = ui_row(painter, y) + x, alpha = ui_alpha_256((color >> 24) * coverage / 255);
    if (alpha) *pixel = ui_blend_pixel(*pixel, color, alpha);
}

void ui_fill_frame(const struct ui_painter *painter, struct ui_edges edges, int thickness, ui_color color) {
    int across = ui_min(thickness, ui_min(edges.right - edges.left, edges.bottom - edges.top) / 2);
    if (across < thickness && across * 2 <= thickness) {
        ui_fill(painter, edges, color);
        return;
    }
    struct ui_edges top = edges, bottom = edges, left = edges, right = edges;
    top.bottom = left.top = right.top = edges.top + across;
    bottom.top = left.bottom = right.bottom = edges.bottom - across;
    left.right = edges.left + across;
    right.left = edges.right - across;
    ui_fill(painter, top, color);
    ui_fill(painter, bottom, color);
    ui_fill(painter, left, color);
    ui_fill(painter, right, color);
}

/* --- text --- */

static void paint_glyph(const struct ui_painter *painter, const struct ui_glyph *glyph, int x, int y, ui_color color) {
    struct ui_edges all = {x + glyph->left, y + glyph->top, x + glyph->left + glyph->width,
                           y + glyph->top + glyph->height};
    struct ui_edges cut = ui_edges_cut(all, painter->clip);
    uint32_t opacity = ui_alpha_256(color >> 24);
    for (int row = cut.top; row < cut.bottom; row++) {
        const uint8_t *coverage = glyph->coverage + (size_t)(row - all.top) * (size_t)glyph->width - all.left;
        uint32_t *pixels = ui_row(painter, row);
        for (int at = cut.left; at < cut.right; at++)
            if (coverage[at]) pixels[at] = ui_blend_pixel(pixels[at], color, ui_alpha_256(coverage[at]) * opacity >> 8);
    }
}

static void paint_text(const struct ui_painter *painter, const struct ui_draw_command *command) {
    const char *text = command->data;
    int cell = ui_cell_width(command->a), y = ui_scaled(command->rect.y, painter->scale);
    int last = ui_scaled_wide(painter->clip.right, 1 / painter->scale);
    long long x = command->rect.x;
    for (size_t at = 0; at < command->bytes && x <= last;) {
        uint32_t code = (unsigned char)text[at];
        int cells = 1;
        if (code < 0x80)
            at++;
        else {
            at += ui_utf8_decode(text + at, command->bytes - at, &code);
            cells = ui_code_point_cells(code);
        }
        long long stand = cells ? x : x - cell; /* a mark stands over the letter before it */
        if (code != ' ')
            paint_glyph(painter, ui_fonts_glyph(painter->fonts, command->a, code),
                        ui_scaled_wide(stand, painter->scale), y, command->color);
        x += cells * cell;
    }
}

/* --- images --- */

/* Source row or column of a physical one: the middle of the pixel decides. */
static int source_of(int at, int start, int end, int count) {
    return (int)((2 * (long long)(at - start) + 1) * count / (2 * (long long)(end - start)));
}

/* Walks the source columns as source_of would, without a division per pixel: column + part / whole. */
struct walk {
    int column, step;
    long long part, part_step, whole;
};

static struct walk walk_from(int x, int left, int right, int columns) {
    struct walk walk = {.whole = 2 * (long long)(right - left)};
    long long position = (2 * (long long)(x - left) + 1) * columns, step = 2 * (long long)columns;
    walk.column = (int)(position / walk.whole);
    walk.part = position % walk.whole;
    walk.step = (int)(step / walk.whole);
    walk.part_step = step % walk.whole;
    return walk;
}

static void walk_on(struct walk *walk) {
    walk->column += walk->step;
    walk->part += walk->part_step;
    if (walk->part < walk->whole) return;
    walk->part -= walk->whole;
    walk->column++;
}

static void image_row(const struct ui_painter *painter, const uint32_t *source, int y, struct ui_edges cut,
                      struct walk walk, uint32_t opacity) {
    uint32_t *row = ui_row(painter, y);
    for (int x = cut.left; x < cut.right; x++, walk_on(&walk)) {
        uint32_t color = source[walk.column];
        uint32_t alpha = ui_alpha_256(color >> 24) * opacity >> 8;
        if (alpha == 256)
            row[x] = color;
        else if (alpha)
            row[x] = ui_blend_pixel(row[x], color, alpha);
    }
}

static void paint_image(const struct ui_painter *painter, const struct ui_draw_command *command) {
    struct ui_edges all = ui_edges_of(painter, command->rect);
    struct ui_edges cut = ui_edges_cut(all, painter->clip);
    const uint32_t *pixels = command->data;
    uint32_t opacity = ui_alpha_256(command->color >> 24);
    if (cut.left >= cut.right) return;
    struct walk walk = walk_from(cut.left, all.left, all.right, command->a);
    for (int y = cut.top; y < cut.bottom; y++) {
        size_t row = (size_t)source_of(y, all.top, all.bottom, command->b);
        image_row(painter, pixels + row * (size_t)command->a, y, cut, walk, opacity);
    }
}

/* --- the list --- */

static void set_clip(struct ui_painter *painter, struct ui_rect rect) {
    struct ui_edges whole = {0, 0, painter->buffer->width, painter->buffer->height};
    painter->clip = ui_edges_cut(whole, ui_edges_of(painter, rect));
}

static void paint(struct ui_painter *painter, const struct ui_draw_command *command) {
    switch (command->kind) {
    case UI_DRAW_CLIP:
        set_clip(painter, command->rect);
        break;
    case UI_DRAW_RECT:
        ui_fill(painter, ui_edges_of(painter, command->rect), command->color);
        break;
    case UI_DRAW_FRAME:
        ui_fill_frame(painter, ui_edges_of(painter, command->rect),
                      ui_max(ui_scaled(command->a, painter->scale), painter->unit), command->color);
        break;
    case UI_DRAW_LINE:
        ui_paint_line(painter, command);
        break;
    case UI_DRAW_DASHES:
        ui_paint_dashes(painter, command);
        break;
    case UI_DRAW_TRIANGLE:
        ui_paint_triangle(painter, command);
        break;
    case UI_DRAW_CORNER:
        ui_paint_corner(painter, command);
        break;
    case UI_DRAW_FAN:
        ui_paint_fan(painter, command);
        break;
    case UI_DRAW_TEXT:
        if (painter->fonts) paint_text(painter, command);
        break;
    case UI_DRAW_PATTERN:
        ui_paint_pattern(painter, command);
        break;
    case UI_DRAW_IMAGE:
        paint_image(painter, command);
        break;
    case UI_DRAW_BEGIN:
    case UI_DRAW_END:
    case UI_DRAW_VALUE:
        break;
    }
}

void ui_raster_paint(const struct ui_draw *draw, struct ui_fonts *fonts, double scale, struct ui_buffer *buffer) {
    if (!buffer->pixels || buffer->width <= 0 || buffer->height <= 0 || !(scale >= 0.25 && scale <= 16)) return;
    struct ui_painter painter = {.buffer = buffer, .fonts = fonts, .scale = scale};
    painter.unit = ui_max(1, ui_scaled(1, scale));
    set_clip(&painter, ui_rect(0, 0, ui_draw_width(draw), ui_draw_height(draw)));
    size_t count = ui_draw_count(draw);
    for (size_t i = 0; i < count; i++) paint(&painter, ui_draw_command(draw, i));
}
