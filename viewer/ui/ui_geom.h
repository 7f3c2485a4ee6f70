/* Rectangles in logical pixels, and cutting them up for layout. All functions are pure and safe for any int:
 * sums saturate instead of overflowing. */
#ifndef UI_GEOM_H
#define UI_GEOM_H

#include <stdbool.h>

struct ui_rect {
    int x, y, w, h; /* empty when w <= 0 or h <= 0 */
};

/* a + b, held within int. */
int ui_add(int a, int b);
int ui_min(int a, int b);
int ui_max(int a, int b);
int ui_clamp(int value, int low, int high);

static inline struct ui_rect ui_rect(int x, int y, int w, int h) { return (struct ui_rect){x, y, w, h}; }

/* The first column to the right of, and the first row below, the rectangle. */
int ui_rect_right(struct ui_rect rect);
int ui_rect_bottom(struct ui_rect rect);

bool ui_rect_empty(struct ui_rect rect);
bool ui_rect_equal(struct ui_rect a, struct ui_rect b);
bool ui_rect_contains(struct ui_rect rect, int x, int y);
/* What both cover; w = h = 0 when nothing. */
struct ui_rect ui_rect_intersect(struct ui_rect a, struct ui_rect b);
/* Smaller by `pixels` on each side; negative: larger. Never less than empty. */
struct ui_rect ui_rect_inset(struct ui_rect rect, int pixels);
struct ui_rect ui_rect_move(struct ui_rect rect, int dx, int dy);

/* Take up to `size` pixels off one side of *rect and return them; *rect keeps the rest. */
struct ui_rect ui_rect_cut_left(struct ui_rect *rect, int size);
struct ui_rect ui_rect_cut_right(struct ui_rect *rect, int size);
struct ui_rect ui_rect_cut_top(struct ui_rect *rect, int size);
struct ui_rect ui_rect_cut_bottom(struct ui_rect *rect, int size);

#endif
