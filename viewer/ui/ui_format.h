/* Numbers as text, and drawn. Buffers are always terminated; UI_FORMAT_SIZE is enough for every one of these. None is
 * an en dash. */
#ifndef UI_FORMAT_H
#define UI_FORMAT_H

#include "ui_draw.h"

#define UI_FORMAT_SIZE 48
#define UI_NONE "\xe2\x80\x93"
#define UI_NO_ADDRESS UINT64_MAX
#define UI_NO_TIME INT64_MIN

/* "5627 b7b9 8098": 12 digits (more if it needs them), groups of four. */
void ui_format_address(char *out, size_t size, uint64_t address);
/* "0x5627b7b98098", for copying. */
void ui_format_address_copy(char *out, size_t size, uint64_t address);
/* "+098": at least three digits. */
void ui_format_offset(char *out, size_t size, uint64_t offset);

/* A number and its unit, for two columns. */
struct ui_quantity {
    char number[24];
    char unit[8]; /* may be empty */
};
/* Binary units: 148 B, 516 KiB (whole where it is; else 64.1 KiB), 2.96 MiB, 12.0 MiB, 174 MiB, 128 TiB. */
struct ui_quantity ui_quantity_size(uint64_t bytes);
/* 125 µs, 895 ms, 1.4 ms, 3.87 s: three significant digits, zeros after the point dropped; 0 s; a minus is kept. From
 * 1000 s on: "16.7 min", "3.2 h". */
struct ui_quantity ui_quantity_span(int64_t ns);

void ui_format_size(char *out, size_t size, uint64_t bytes);
void ui_format_span(char *out, size_t size, int64_t ns);
/* "3.87 s ago" */
void ui_format_ago(char *out, size_t size, int64_t ns);
/* "37 128" */
void ui_format_count(char *out, size_t size, uint64_t count);
void ui_format_signed(char *out, size_t size, int64_t count);
/* "4.881 453 s": seconds, `digits` decimals (0, 3, 6 or 9) in groups of three, rounded down. UI_NO_TIME: none. */
void ui_format_time(char *out, size_t size, int64_t ns, int digits);
/* "4.861 to 4.881 s" */
void ui_format_interval(char *out, size_t size, int64_t from_ns, int64_t to_ns, int digits);
/* "97.9 %", of 0 .. 1; three significant digits at most. NaN or of nothing: en dash. */
void ui_format_percent(char *out, size_t size, double share);

/* Drawn forms. Each returns the x after what it drew (_right: the x where it starts). */

/* Pixels between groups: 3, 5 in L. Width of a 12-digit address. */
int ui_group_gap(int style);
int ui_address_width(int style);
/* Groups a few pixels apart; leading digits equal to those of `above` are ghost (UI_NO_ADDRESS: none are). In the
 * dump, `value address 5627b7b98098` stands before it. */
int ui_draw_address(struct ui_draw *draw, int x, int y, int style, ui_color color, uint64_t address, uint64_t above);
/* 16 digits, leading zeros ghost. */
int ui_draw_register(struct ui_draw *draw, int x, int y, int style, ui_color color, uint64_t value);
/* Number in color, unit faint; _right: the unit is left-aligned in its own column of unit_cells (3 for KiB). */
int ui_draw_quantity(struct ui_draw *draw, int x, int y, int style, ui_color color, struct ui_quantity quantity);
int ui_draw_quantity_right(struct ui_draw *draw, int x_right, int y, int style, ui_color color,
                           struct ui_quantity quantity, int unit_cells);
/* Time in groups, the last groups dimmer. */
int ui_draw_time(struct ui_draw *draw, int x, int y, int style, ui_color color, int64_t ns, int digits);
/* "label value": label faint, value in color, one cell between. */
int ui_draw_label(struct ui_draw *draw, int x, int y, int style, ui_color color, const char *label, const char *value);

#endif
