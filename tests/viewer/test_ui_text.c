/* Text metrics are functions of the cell sizes alone; UTF-8 is decoded safely; fonts fail in one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ui_text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void cells_are_those_of_the_look(void **state) {
    static const int widths[] = {6, 7, 9}, heights[] = {12, 16, 20}, fonts[] = {10, 12, 15};
    for (int style = UI_S; style <= UI_L; style++) {
        assert_int_equal(ui_cell_width(style), widths[style]);
        assert_int_equal(ui_cell_height(style | UI_BOLD), heights[style]);
        assert_int_equal(ui_font_size(style), fonts[style]);
    }
}

static void width_counts_code_points(void **state) {
    assert_int_equal(ui_text_width(UI_S, "abc"), 18);
    assert_int_equal(ui_text_width(UI_M, "125 \xc2\xb5s"), 7 * 6);
    assert_int_equal(ui_text_width(UI_L | UI_BOLD, "\xe2\x80\xa6"), 9);
    assert_int_equal(ui_text_width(UI_S, "e\xcc\x81"), 6); /* a combining accent takes no cell */
    assert_int_equal(ui_text_width(UI_S, "\xff\xfe"), 12); /* invalid bytes take one each */
    assert_int_equal(ui_text_width(UI_S, ""), 0);
}

static void decode_one(const char *text, size_t bytes, uint32_t code, size_t taken) {
    uint32_t got;
    assert_int_equal(ui_utf8_decode(text, bytes, &got), taken);
    assert_int_equal(got, code);
}

static void utf8_is_decoded_strictly(void **state) {
    decode_one("A", 1, 'A', 1);
    decode_one("\xc2\xb5", 2, 0xb5, 2);
    decode_one("\xe2\x80\x93", 3, 0x2013, 3);
    decode_one("\xf0\x9f\x98\x80", 4, 0x1f600, 4);
    decode_one("\xe2\x80", 2, 0xfffd, 1);         /* cut */
    decode_one("\xc0\x80", 2, 0xfffd, 1);         /* overlong */
    decode_one("\xe0\x80\x80", 3, 0xfffd, 1);     /* overlong */
    decode_one("\xed\xa0\x80", 3, 0xfffd, 1);     /* surrogate */
    decode_one("\xf4\x90\x80\x80", 4, 0xfffd, 1); /* above Unicode */
    decode_one("\x80", 1, 0xfffd, 1);
    decode_one("", 0, 0xfffd, 0);
}

static void utf8_goes_round(void **state) {
    static const uint32_t codes[] = {1, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
        char bytes[4];
        size_t length = ui_utf8_encode(codes[i], bytes);
        decode_one(bytes, length, codes[i], length);
        assert_int_equal(ui_utf8_previous(bytes, length), 0);
        assert_int_equal(ui_utf8_next(bytes, length, 0), length);
    }
    char bytes[4];
    assert_int_equal(ui_utf8_encode(0xd800, bytes), 0);
    assert_int_equal(ui_utf8_encode(0x110000, bytes), 0);
}

static void fit_never_cuts_a_code_point(void **state) {
    const char *text = "a\xc2\xb5z";
    assert_int_equal(ui_text_fit(UI_S, text, 4, 11), 1);
    assert_int_equal(ui_text_fit(UI_S, text, 4, 12), 3);
    assert_int_equal(ui_text_fit(UI_S, text, 4, 1000), 4);
    assert_int_equal(ui_text_fit(UI_S, text, 4, -5), 0);
}

static void wrap_breaks_at_spaces(void **state) {
    const char *text = "the heap grew\nverylongword x";
    size_t next, bytes = strlen(text);
    assert_int_equal(ui_text_wrap(UI_S, text, bytes, 8 * 6, &next), 8); /* "the heap" fills the line exactly */
    assert_int_equal(next, 9);
    assert_int_equal(ui_text_wrap(UI_S, text + 9, bytes - 9, 8 * 6, &next), 4);
    assert_int_equal(next, 5);
    assert_int_equal(ui_text_wrap(UI_S, text + 14, bytes - 14, 5 * 6, &next), 5); /* a long word is cut */
    assert_int_equal(next, 5);
    assert_int_equal(ui_text_wrap(UI_S, "x", 1, 0, &next), 1); /* it always goes on */
    assert_int_equal(next, 1);
}

static void wrap_reaches_the_end_of_anything(void **state) {
    srand(7);
    for (int round = 0; round < 2000; round++) {
        char text[64];
        size_t bytes = (size_t)(rand() % 64), at = 0, next;
        for (size_t i = 0; i < bytes; i++) text[i] = "a \n\xc2\xb5\xff"[rand() % 6];
        for (; at < bytes; at += next) {
            size_t line = ui_text_wrap(UI_S, text + at, bytes - at, rand() % 60 - 6, &next);
            assert_true(next > 0 && next <= bytes - at && line <= next);
        }
    }
}

static void glyphs_are_kept_and_bounded(void **state) {
    char error[256];
    struct ui_fonts *fonts = ui_fonts_create(1, error, sizeof error);
    if (!fonts) skip();
    const struct ui_glyph *a = ui_fonts_glyph(fonts, UI_S, 'a');
    assert_ptr_equal(a, ui_fonts_glyph(fonts, UI_S, 'a'));
    assert_ptr_not_equal(a, ui_fonts_glyph(fonts, UI_S | UI_BOLD, 'a'));
    assert_true(a->width > 0 && a->width <= 8 && a->height > 0 && a->height <= 12);
    assert_int_equal(ui_fonts_glyph(fonts, UI_S, ' ')->width, 0);
    /* What no face has is a box; all of Unicode does not exhaust memory. */
    const struct ui_glyph *box = ui_fonts_glyph(fonts, UI_S, 0x10fffe);
    assert_true(box->width > 0);
    for (uint32_t code = 0x20000; code < 0x20000 + 40000; code++) ui_fonts_glyph(fonts, UI_S, code);
    assert_ptr_equal(box, ui_fonts_glyph(fonts, UI_S, 0x30000));
    assert_ptr_equal(a, ui_fonts_glyph(fonts, UI_S, 'a'));
    ui_fonts_destroy(fonts);
}

static void no_font_is_one_line(void **state) {
    char path[] = "/tmp/vmvis-fonts-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    dprintf(file, "<?xml version=\"1.0\"?><fontconfig></fontconfig>");
    close(file);
    setenv("FONTCONFIG_FILE", path, 1);
    char error[256] = "";
    struct ui_fonts *fonts = ui_fonts_create(1, error, sizeof error);
    unsetenv("FONTCONFIG_FILE");
    unlink(path);
    assert_null(fonts);
    assert_non_null(strstr(error, "font"));
    assert_null(strchr(error, '\n'));
    ui_fonts_destroy(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cells_are_those_of_the_look),
        cmocka_unit_test(width_counts_code_points),
        cmocka_unit_test(utf8_is_decoded_strictly),
        cmocka_unit_test(utf8_goes_round),
        cmocka_unit_test(fit_never_cuts_a_code_point),
        cmocka_unit_test(wrap_breaks_at_spaces),
        cmocka_unit_test(wrap_reaches_the_end_of_anything),
        cmocka_unit_test(glyphs_are_kept_and_bounded),
        cmocka_unit_test(no_font_is_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
