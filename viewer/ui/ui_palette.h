/* The colours of the viewer. A colour is 0xAARRGGBB with straight alpha. One meaning per colour: white is "you"
 * (cursor time, selection, focus, PC and SP), attention is never used without a sign or a word beside it. */
#ifndef UI_PALETTE_H
#define UI_PALETTE_H

#include <stdint.h>

typedef uint32_t ui_color;

#define UI_RGB(hex) ((ui_color)(0xff000000u | (hex)))

/* Surfaces. */
#define UI_GROUND UI_RGB(0x0b0d10u)  /* map and timeline */
#define UI_PIT UI_RGB(0x06080au)     /* inside of a scale strip */
#define UI_PANEL UI_RGB(0x101317u)   /* side panels */
#define UI_RAISED UI_RGB(0x191e24u)  /* cards, input, selected list entry */
#define UI_RAISED2 UI_RGB(0x222931u) /* selected row, empty slot, pressed */

/* Lines. */
#define UI_HAIR UI_RGB(0x1f252cu)  /* separators, 8-byte grid */
#define UI_RULE UI_RGB(0x343c46u)  /* axes */
#define UI_RULE2 UI_RGB(0x4a5562u) /* ticks, card edges, dots, hatching on the timeline */

/* Text, from least to most. */
#define UI_GHOST UI_RGB(0x48525du) /* zeros, repeated digits, disabled */
#define UI_FAINT UI_RGB(0x6d7884u) /* labels, units */
#define UI_DIM UI_RGB(0x98a3afu)   /* values */
#define UI_INK UI_RGB(0xd6dce4u)   /* important values */
#define UI_WHITE UI_RGB(0xffffffu) /* you */

#define UI_ATTENTION UI_RGB(0xff4f64u)

/* Kinds of memory. */
#define UI_PROGRAM UI_RGB(0x3f87ddu)
#define UI_LIBRARY UI_RGB(0x86c5eeu)
#define UI_FILE UI_RGB(0x2fae8cu)
#define UI_KERNEL UI_RGB(0x606b77u)
#define UI_HEAP UI_RGB(0xe8a035u)
#define UI_ANONYMOUS UI_RGB(0xefdf8eu)
#define UI_STACK UI_RGB(0xd484b6u)

/* Time since the last write, five steps, newest first; and resident but not written. */
#define UI_WRITTEN_NOW UI_RGB(0xfff1a8u)
#define UI_WRITTEN_1 UI_RGB(0xfdc247u)
#define UI_WRITTEN_2 UI_RGB(0xef8426u)
#define UI_WRITTEN_3 UI_RGB(0xbf3f52u)
#define UI_WRITTEN_OLD UI_RGB(0x5b1f68u)
#define UI_NOT_WRITTEN UI_RGB(0x41617fu)

/* Curves and other colourings. */
#define UI_RESIDENT_AREA UI_RGB(0x1b2732u)
#define UI_RESIDENT_LINE UI_RGB(0x93a6b8u)
#define UI_READ_ONLY UI_RGB(0x6f8296u)    /* protection r-- */
#define UI_BYTE_ZERO UI_RGB(0x14191eu)    /* content: zero */
#define UI_BYTE_VALUE UI_RGB(0x3c4854u)   /* content: value */
#define UI_BYTE_TEXT UI_RGB(0x5d6b79u)    /* content: text */
#define UI_SHADE UI_ALPHA(0x000000u, 194) /* over the window behind the sheet: black 76 % */
#define UI_BLACK UI_RGB(0x000000u)

/* `color` with alpha 0 (nothing) .. 255 (opaque). */
#define UI_ALPHA(color, alpha) ((ui_color)(((color)&0xffffffu) | ((ui_color)(alpha) << 24)))

/* `color` at `percent` (0 .. 100) of opacity. */
ui_color ui_fade(ui_color color, int percent);

/* `percent` of `over`, the rest of `base`; opaque when both are. Same result whatever is below. */
ui_color ui_mix(ui_color base, ui_color over, int percent);

/* `over` blended onto an opaque `base` by its own alpha. */
ui_color ui_blend(ui_color base, ui_color over);

/* Step 0 (now) .. 4 (older) of the write colours; clamped. */
ui_color ui_written_color(int step);

#endif
