/* The draw list: what a frame looks like, as a list of commands in logical pixels. Views fill it, ui_raster paints it,
 * tests read it as text. The list's memory is kept from frame to frame: a steady state allocates nothing.
 *
 * Coordinates may be any int; anything outside of the current clip is dropped when recorded, so that the list and its
 * dump hold only what can be seen. Text and pixels are copied. Lines, frames and patterns are 1 px at scale 1.
 */
#ifndef UI_DRAW_H
#define UI_DRAW_H

#include "ui_geom.h"
#include "ui_palette.h"
#include "ui_text.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ui_draw;

/* --- life ------------------------------------------------------------------------------------------------------ */

/* NULL when out of memory. */
struct ui_draw *ui_draw_create(void);
void ui_draw_destroy(struct ui_draw *draw);

/* Empty the list and start a frame of the given logical size; the clip is the whole frame. */
void ui_draw_begin(struct ui_draw *draw, int width, int height);
int ui_draw_width(const struct ui_draw *draw);
int ui_draw_height(const struct ui_draw *draw);

/* Memory ran out in this frame: some commands are missing. */
bool ui_draw_failed(const struct ui_draw *draw);

/* A number that differs (all but surely) when the picture differs; equal lists have equal hashes. */
uint64_t ui_draw_hash(const struct ui_draw *draw);

/* Memory that lives until the next ui_draw_begin; 8-byte aligned, zeroed. NULL when out of memory. */
void *ui_draw_alloc(struct ui_draw *draw, size_t bytes);

/* --- state ----------------------------------------------------------------------------------------------------- */

/* Draw only within rect, and within the clip before; every push has its pop. */
void ui_draw_push_clip(struct ui_draw *draw, struct ui_rect rect);
void ui_draw_pop_clip(struct ui_draw *draw);
struct ui_rect ui_draw_clip(const struct ui_draw *draw);
/* Whether any of rect would be seen: lets a view skip rows. */
bool ui_draw_visible(const struct ui_draw *draw, struct ui_rect rect);

/* Multiply the alpha of everything until the pop by alpha / 255; nests. For cross-fades. */
void ui_draw_push_alpha(struct ui_draw *draw, int alpha);
void ui_draw_pop_alpha(struct ui_draw *draw);

/* --- names, for tests and scripts ---------------------------------------------------------------------------------
 * A group names a part of the picture: kind "panel", "lane", "column", "row", "strip", "legend", "tab", ...; it paints
 * nothing. The dump indents what lies between begin and end. */
void ui_draw_begin_group(struct ui_draw *draw, const char *kind, const char *name);
void ui_draw_end_group(struct ui_draw *draw);
/* `value name text` in the dump, no paint: a fact that the pixels show but no text says. */
void ui_draw_value(struct ui_draw *draw, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* --- shapes ---------------------------------------------------------------------------------------------------- */

void ui_draw_rect(struct ui_draw *draw, struct ui_rect rect, ui_color color);
/* 1-px frame just inside of rect. */
void ui_draw_frame(struct ui_draw *draw, struct ui_rect rect, ui_color color);
/* Frame of the given thickness inside of rect. */
void ui_draw_frame_thick(struct ui_draw *draw, struct ui_rect rect, int thickness, ui_color color);
/* 1-px lines: from x, `length` pixels to the right; from y, `length` pixels down. */
void ui_draw_hline(struct ui_draw *draw, int x, int y, int length, ui_color color);
void ui_draw_vline(struct ui_draw *draw, int x, int y, int length, ui_color color);

/* 1-px line between the centres of two pixels, both included. UI_LINE_SMOOTH is anti-aliased (ties, curves). */
enum ui_line { UI_LINE_SHARP, UI_LINE_SMOOTH };
void ui_draw_line(struct ui_draw *draw, int x0, int y0, int x1, int y1, enum ui_line line, ui_color color);

/* 1-px horizontal or vertical line of `on` pixels drawn, `off` left out; the phase is that of the screen, so that
 * lines side by side agree. Dashed is 4/3, dotted 1/3, the cursor in the timeline 3/3. Length as ui_draw_hline. */
void ui_draw_dashed_h(struct ui_draw *draw, int x, int y, int length, int on, int off, ui_color color);
void ui_draw_dashed_v(struct ui_draw *draw, int x, int y, int length, int on, int off, ui_color color);
#define UI_DASHED 4, 3
#define UI_DOTTED 1, 3
/* Frame of dashes, e.g. the instruction a thread waits in. */
void ui_draw_dashed_frame(struct ui_draw *draw, struct ui_rect rect, int on, int off, ui_color color);

/* Flat triangle within rect: its tip at the middle of one side, its base along the opposite one. Use odd heights for
 * left/right and odd widths for up/down: 5 x 9, 9 x 5. */
enum ui_direction { UI_LEFT, UI_RIGHT, UI_UP, UI_DOWN };
void ui_draw_triangle(struct ui_draw *draw, struct ui_rect rect, enum ui_direction tip, ui_color color);
void ui_draw_triangle_hollow(struct ui_draw *draw, struct ui_rect rect, enum ui_direction tip, ui_color color);
/* Right-angled triangle with its right angle in one corner of rect (flags, jump targets). */
enum ui_corner { UI_TOP_LEFT, UI_TOP_RIGHT, UI_BOTTOM_LEFT, UI_BOTTOM_RIGHT };
void ui_draw_corner(struct ui_draw *draw, struct ui_rect rect, enum ui_corner corner, ui_color color);

/* Area between two vertical sides, (x0, top0 .. bottom0) and (x1, top1 .. bottom1): the fan from strip to list. */
void ui_draw_fan(struct ui_draw *draw, int x0, int top0, int bottom0, int x1, int top1, int bottom1, ui_color color);

/* --- text ------------------------------------------------------------------------------------------------------
 * x, y: upper left corner of the first cell. All return the x after the text (its start, for _right). */
int ui_draw_text(struct ui_draw *draw, int x, int y, int style, ui_color color, const char *text);
int ui_draw_text_n(struct ui_draw *draw, int x, int y, int style, ui_color color, const char *text, size_t bytes);
int ui_draw_textf(struct ui_draw *draw, int x, int y, int style, ui_color color, const char *format, ...)
    __attribute__((format(printf, 6, 7)));
/* Ends before x_right. */
int ui_draw_text_right(struct ui_draw *draw, int x_right, int y, int style, ui_color color, const char *text);
/* Cut to `width` pixels, the last cell an ellipsis, if it is too long. */
int ui_draw_text_fit(struct ui_draw *draw, int x, int y, int width, int style, ui_color color, const char *text);
/* Centred in `width`. */
int ui_draw_text_centred(struct ui_draw *draw, int x, int y, int width, int style, ui_color color, const char *text);
/* Prose, wrapped at spaces, one line per cell height; newlines break, an empty line is half as high. Words between two
 * backticks are drawn in strong. Returns the y below the last line. line_height 0: the cell height of the style. */
int ui_draw_prose(struct ui_draw *draw, struct ui_rect rect, int line_height, int style, ui_color color,
                  ui_color strong, const char *text);

/* --- patterns: state is shape ------------------------------------------------------------------------------------ */
enum ui_pattern {
    UI_PATTERN_EXACT,   /* full */
    UI_PATTERN_STALE,   /* every second row of the screen left out; 50 % below 6 px */
    UI_PATTERN_TORN,    /* cut along the diagonal, lower right half mixed 72 % into ground; lower half dim below 6 px */
    UI_PATTERN_UNKNOWN, /* 45 degree lines, every 4 px, phase by screen position; every second pixel below 6 px */
    UI_PATTERN_GAP,     /* the same, every 6 px: hatching on the timeline */
    UI_PATTERN_DOTS,    /* never touched, reserved: one pixel per 4 x 4 of the screen */
    UI_PATTERN_DOT,     /* the same for one cell: a single pixel in its middle */
    UI_PATTERN_OUTLINE, /* zero page: 1-px outline; 40 % of the colour below 6 px */
    UI_PATTERN_GUARD,   /* box with both diagonals; full below 6 px */
    UI_PATTERN_SWAPPED, /* outline, lower half filled; lower half below 6 px */
    UI_PATTERN_HUGE,    /* 2-px frame, 16 % fill; full below 6 px */
    UI_PATTERN_COUNT
};
void ui_draw_pattern(struct ui_draw *draw, struct ui_rect rect, enum ui_pattern pattern, ui_color color);
/* "exact", "stale", ...: as in the dump. */
const char *ui_pattern_name(enum ui_pattern pattern);

/* --- images ----------------------------------------------------------------------------------------------------
 * Returns columns x rows pixels (0xAARRGGBB, row by row, zeroed) for the caller to fill before the next
 * ui_draw_begin; they are stretched over rect without smoothing. NULL when empty, invisible, above 256 MiB or out
 * of memory: the caller then has nothing to fill. */
uint32_t *ui_draw_image(struct ui_draw *draw, struct ui_rect rect, int columns, int rows);

/* --- reading the list ------------------------------------------------------------------------------------------ */

/* One line a command, two spaces of indent a group, decimal coordinates, colours #rrggbb or #rrggbbaa, text quoted
 * with \" \\ and \xNN for bytes below 0x20:
 *     screen 1440 900
 *     panel map
 *       clip 288 28 808 600
 *       rect 300 40 8 8 #ef8426
 *       text 300 52 S bold #d6dce4 "[heap]"
 * Every command of ui_draw.c's table has its line; see ui_dump.c. false when writing failed. */
bool ui_draw_dump(const struct ui_draw *draw, FILE *out);

enum ui_draw_kind {
    UI_DRAW_CLIP,     /* rect: the clip from here on, already intersected */
    UI_DRAW_RECT,     /* rect */
    UI_DRAW_FRAME,    /* rect, a = thickness */
    UI_DRAW_LINE,     /* rect.x, .y to rect.w, .h (a point, not a size), a = enum ui_line */
    UI_DRAW_DASHES,   /* rect (one of w, h is 1), a = on, b = off */
    UI_DRAW_TRIANGLE, /* rect, a = enum ui_direction, b = hollow */
    UI_DRAW_CORNER,   /* rect, a = enum ui_corner */
    UI_DRAW_FAN,      /* rect.x = x0, .y = top0, .w = bottom0, .h = x1, a = top1, b = bottom1 */
    UI_DRAW_TEXT,     /* rect, a = style, b = bytes, data = the text */
    UI_DRAW_PATTERN,  /* rect, a = enum ui_pattern */
    UI_DRAW_IMAGE,    /* rect, a = columns, b = rows, data = pixels, color's alpha applies */
    UI_DRAW_BEGIN,    /* group begins: data = "kind\0name" */
    UI_DRAW_END,      /* group ends */
    UI_DRAW_VALUE     /* data = "name\0text" */
};

struct ui_draw_command {
    enum ui_draw_kind kind;
    ui_color color;
    struct ui_rect rect;
    int a, b;
    const void *data; /* in the list's memory */
    size_t bytes;     /* of data */
};

size_t ui_draw_count(const struct ui_draw *draw);
const struct ui_draw_command *ui_draw_command(const struct ui_draw *draw, size_t index);

#endif
