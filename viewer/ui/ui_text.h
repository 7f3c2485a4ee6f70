/* Text: sizes, metrics and glyphs. Metrics depend on the cell sizes alone, never on a font, so that layout is the
 * same on every machine. Fonts are needed only to paint. */
#ifndef UI_TEXT_H
#define UI_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* A text style is one size, with UI_BOLD added where wanted: `UI_S`, `UI_L | UI_BOLD`. */
enum ui_text_style {
    UI_S = 0,   /* 10 px, cell 6 x 12: tables, rulers, lanes */
    UI_M = 1,   /* 12 px, cell 7 x 16: hex bytes, prose */
    UI_L = 2,   /* 15 px, cell 9 x 20: subject, time at the cursor, input line */
    UI_BOLD = 4 /* the subject, the program's name, matched letters */
};

/* Logical pixels of one cell. */
int ui_cell_width(int style);
int ui_cell_height(int style);
/* Logical pixel size of the font. */
int ui_font_size(int style);

/* 1, or 0 for combining marks and other code points that take no cell of their own. */
int ui_code_point_cells(uint32_t code_point);

/* Cells that UTF-8 text takes: one a code point, none for combining marks. Invalid bytes take one cell each. */
size_t ui_text_cells(const char *text);
size_t ui_text_cells_n(const char *text, size_t bytes);

/* Width in logical pixels; held within int. */
int ui_text_width(int style, const char *text);
int ui_text_width_n(int style, const char *text, size_t bytes);

/* Bytes of the longest prefix that fits into `width` pixels and ends between two cells. */
size_t ui_text_fit(int style, const char *text, size_t bytes, int width);

/* Bytes of the longest prefix that fits into `width` pixels and ends before a space or newline, for prose; a word
 * longer than the line is cut. *next = where the following line starts (spaces skipped, one newline eaten). */
size_t ui_text_wrap(int style, const char *text, size_t bytes, int width, size_t *next);

/* Decode one code point at text[0 .. bytes); returns the bytes it took (>= 1 when bytes >= 1). Invalid input yields
 * U+FFFD and takes one byte. */
size_t ui_utf8_decode(const char *text, size_t bytes, uint32_t *code_point);
/* Encode into out (at least 4 bytes, not terminated); returns the bytes written, 0 if not encodable. */
size_t ui_utf8_encode(uint32_t code_point, char *out);
/* Byte offset of the code point before / after `at`. */
size_t ui_utf8_previous(const char *text, size_t at);
size_t ui_utf8_next(const char *text, size_t bytes, size_t at);

/* One glyph, as coverage 0 .. 255. Physical pixels. */
struct ui_glyph {
    const uint8_t *coverage; /* height rows of width bytes; owned by the fonts */
    int left, top;           /* from the cell's upper left corner to the bitmap's */
    int width, height;
};

struct ui_fonts;

/* Load regular and bold faces of "JetBrains Mono", else "DejaVu Sans Mono", else any fixed-width font; `scale` is
 * physical per logical pixel. NULL on failure, with one line in error. */
struct ui_fonts *ui_fonts_create(double scale, char *error, size_t error_size);
void ui_fonts_destroy(struct ui_fonts *fonts);

double ui_fonts_scale(const struct ui_fonts *fonts);
/* Family name of the first face, for messages. */
const char *ui_fonts_family(const struct ui_fonts *fonts);

/* The glyph of a code point, from the cache or freshly made; a code point that no face has is drawn as a hollow box.
 * Never NULL; stays valid until the fonts are destroyed. */
const struct ui_glyph *ui_fonts_glyph(struct ui_fonts *fonts, int style, uint32_t code_point);

#endif
