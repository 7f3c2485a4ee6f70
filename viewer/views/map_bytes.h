/* The look of bytes while it is drawn: what its files share. */
#ifndef MAP_BYTES_H
#define MAP_BYTES_H

#include "map.h"

struct map_bytes {
    struct map_frame *frame;
    struct ui_rect page;                /* the page's bytes; empty: no room for it */
    int line_h;                         /* pixels from one of its lines to the next */
    int offset_x, hex_x, text_x, right; /* of the lens; text_x 0: no room for text */
    int top, bottom;                    /* of the lens' rows */
    int pitch;                          /* pixels from one row to the next */
    uint64_t base;                      /* address of the page shown */
};

enum { MAP_BYTE_W = 3, MAP_HEX = 20, MAP_TEXT_CELL = 7 };

/* Pixels from the page's top to a line. */
int map_bytes_line_y(const struct map_bytes *bytes, int line);
int map_bytes_page_height(int line_h);

/* --- map_lens.c
 * -------------------------------------------------------------------------------------------------------- */

/* Lays out the rows around the camera's address into cache->drawn. */
void map_lens_place(struct map_bytes *bytes, const struct map_anchor *anchor);
void map_lens_rows_draw(struct map_bytes *bytes);
ui_color map_byte_color(const struct map_sheet *sheet, size_t at);

#endif
