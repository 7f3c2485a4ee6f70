/* Paints a draw list into a buffer of 32-bit pixels. Pure: same list, same fonts, same pixels. */
#ifndef UI_RASTER_H
#define UI_RASTER_H

#include "ui_draw.h"

struct ui_buffer {
    uint32_t *pixels;  /* 0x..RRGGBB, row by row; owned by the caller */
    int width, height; /* physical pixels */
    int stride;        /* pixels from row to row */
};

/* Paint the list at `scale` physical per logical pixel (positions are multiplied, then rounded, so that what joins
 * in the list joins on the screen). Pixels no command covers keep what they hold. `fonts` may be NULL: text is then
 * left out. Coordinates may be any int. */
void ui_raster_paint(const struct ui_draw *draw, struct ui_fonts *fonts, double scale, struct ui_buffer *buffer);

/* round(value * scale), held within +-2^29. */
int ui_scaled(int value, double scale);

#endif
