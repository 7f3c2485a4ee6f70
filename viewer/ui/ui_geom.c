#include "ui_geom.h"

#include <limits.h>

int ui_add(int a, int b) {
    long long sum = (long long)a + b;
    return sum > INT_MAX ? INT_MAX : sum < INT_MIN ? INT_MIN : (int)sum;
}

int ui_min(int a, int b) { return a < b ? a : b; }
int ui_max(int a, int b) { return a > b ? a : b; }
int ui_clamp(int value, int low, int high) { return value < low ? low : value > high ? high : value; }

int ui_rect_right(struct ui_rect rect) { return ui_add(rect.x, ui_max(rect.w, 0)); }
int ui_rect_bottom(struct ui_rect rect) { return ui_add(rect.y, ui_max(rect.h, 0)); }

bool ui_rect_empty(struct ui_rect rect) { return rect.w <= 0 || rect.h <= 0; }

bool ui_rect_equal(struct ui_rect a, struct ui_rect b) { return a.x == b.x && a.y == b.y && a.w == b.w && a.h == b.h; }

bool ui_rect_contains(struct ui_rect rect, int x, int y) {
    return x >= rect.x && y >= rect.y && x < ui_rect_right(rect) && y < ui_rect_bottom(rect);
}

/* Distance from a to b >= a, held within int. */
static int span(int a, int b) {
    long long length = (long long)b - a;
    return length > INT_MAX ? INT_MAX : (int)length;
}

struct ui_rect ui_rect_intersect(struct ui_rect a, struct ui_rect b) {
    struct ui_rect both = {ui_max(a.x, b.x), ui_max(a.y, b.y), 0, 0};
    int right = ui_min(ui_rect_right(a), ui_rect_right(b));
    int bottom = ui_min(ui_rect_bottom(a), ui_rect_bottom(b));
    if (right <= both.x || bottom <= both.y) return both;
    both.w = span(both.x, right);
    both.h = span(both.y, bottom);
    return both;
}

/* Move one side inwards on both ends of [at, at + size). */
static void inset_side(int *at, int *size, int pixels) {
    long long end = (long long)*at + *size - pixels;
    long long start = (long long)*at + pixels;
    if (end < start) end = start;
    *at = start > INT_MAX ? INT_MAX : start < INT_MIN ? INT_MIN : (int)start;
    *size = end - start > INT_MAX ? INT_MAX : (int)(end - start);
}

struct ui_rect ui_rect_inset(struct ui_rect rect, int pixels) {
    inset_side(&rect.x, &rect.w, pixels);
    inset_side(&rect.y, &rect.h, pixels);
    return rect;
}

struct ui_rect ui_rect_move(struct ui_rect rect, int dx, int dy) {
    rect.x = ui_add(rect.x, dx);
    rect.y = ui_add(rect.y, dy);
    return rect;
}

struct ui_rect ui_rect_cut_left(struct ui_rect *rect, int size) {
    int taken = ui_clamp(size, 0, ui_max(rect->w, 0));
    struct ui_rect cut = {rect->x, rect->y, taken, rect->h};
    rect->x = ui_add(rect->x, taken);
    rect->w -= taken;
    return cut;
}

struct ui_rect ui_rect_cut_right(struct ui_rect *rect, int size) {
    int taken = ui_clamp(size, 0, ui_max(rect->w, 0));
    rect->w -= taken;
    return (struct ui_rect){ui_add(rect->x, rect->w), rect->y, taken, rect->h};
}

struct ui_rect ui_rect_cut_top(struct ui_rect *rect, int size) {
    int taken = ui_clamp(size, 0, ui_max(rect->h, 0));
    struct ui_rect cut = {rect->x, rect->y, rect->w, taken};
    rect->y = ui_add(rect->y, taken);
    rect->h -= taken;
    return cut;
}

struct ui_rect ui_rect_cut_bottom(struct ui_rect *rect, int size) {
    int taken = ui_clamp(size, 0, ui_max(rect->h, 0));
    rect->h -= taken;
    return (struct ui_rect){rect->x, ui_add(rect->y, rect->h), rect->w, taken};
}
