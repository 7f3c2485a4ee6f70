/* What lies over the window: shade, boxes, lists with a chosen row. */
#ifndef OVERLAY_H
#define OVERLAY_H

#include "views.h"

/* Cover the window so that nothing below answers; a press closes the overlay. dark: black 76 % over it. */
void overlay_cover(struct app *app, bool dark);
void overlay_close(struct app *app);
/* A box of the width of input overlays, near the top, centred; its first 36 px hold the input line. */
struct ui_rect overlay_box(const struct app *app, int height);
/* The input line in the box: sign at its left, words at its right. Returns enum ui_input_result bits. */
unsigned overlay_input(struct app *app, struct ui_rect box, const char *sign, struct ui_text_input *input,
                       const char *hint, const char *right);
/* Text with its matched bytes bold and white. Returns the x after. */
int overlay_match(struct app *app, int x, int y, int style, ui_color color, const char *text,
                  const struct ui_match *match);
/* Up and Down move *chosen within [least, count). */
void overlay_choose(struct app *app, int *chosen, int least, int count);
/* Hints at the bottom of the box, 20 high. */
void overlay_hints(struct app *app, struct ui_rect box, const char *run);

enum { OVERLAY_INPUT = 36, OVERLAY_ROW = 20, OVERLAY_HINTS = 20 };

#endif
