/* Pixels: shapes as drawn by hand, clips at every edge, patterns that join, and coordinates from hell. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ui_raster.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { PADDING = 5 };
#define UNTOUCHED 0xdeadbeefu

static struct ui_buffer buffer_create(int width, int height) {
    struct ui_buffer buffer = {.width = width, .height = height, .stride = width + PADDING};
    size_t count = (size_t)buffer.stride * (size_t)height;
    buffer.pixels = malloc(count * sizeof *buffer.pixels);
    for (size_t i = 0; i < count; i++) buffer.pixels[i] = UNTOUCHED;
    return buffer;
}

static uint32_t pixel(const struct ui_buffer *buffer, int x, int y) { return buffer->pixels[y * buffer->stride + x]; }

/* '#' for white, 'o' for anything else that was painted, '.' for what was not. */
static void expect_art(struct ui_draw *draw, double scale, const char *const *rows) {
    int height = 0, width = (int)strlen(rows[0]);
    while (rows[height]) height++;
    struct ui_buffer buffer = buffer_create(width, height);
    ui_raster_paint(draw, NULL, scale, &buffer);
    for (int y = 0; y < height; y++) {
        char row[64] = "";
        for (int x = 0; x < width; x++)
            row[x] = pixel(&buffer, x, y) == UNTOUCHED ? '.' : pixel(&buffer, x, y) == UI_WHITE ? '#' : 'o';
        assert_string_equal(row, rows[y]);
    }
    free(buffer.pixels);
    ui_draw_begin(draw, 32, 32);
}

#define ART(draw, ...) expect_art(draw, 1, (const char *const[]){__VA_ARGS__, NULL})
#define ART2(draw, ...) expect_art(draw, 2, (const char *const[]){__VA_ARGS__, NULL})

static int setup(void **state) {
    *state = ui_draw_create();
    ui_draw_begin(*state, 32, 32);
    return 0;
}

static int teardown(void **state) {
    ui_draw_destroy(*state);
    return 0;
}

static void rectangles_and_frames(void **state) {
    struct ui_draw *draw = *state;
    ui_draw_rect(draw, ui_rect(1, 1, 3, 2), UI_WHITE);
    ART(draw, ".....", ".###.", ".###.", ".....");
    ui_draw_frame(draw, ui_rect(0, 0, 5, 4), UI_WHITE);
    ART(draw, "#####", "#...#", "#...#", "#####");
    ui_draw_frame(draw, ui_rect(0, 0, 2, 3), UI_WHITE);
    ART(draw, "##.", "##.", "##.");
    ui_draw_frame_thick(draw, ui_rect(0, 0, 7, 6), 2, UI_WHITE);
    ART(draw, "#######", "#######", "##...##", "##...##", "#######", "#######");
    ui_draw_frame(draw, ui_rect(0, 0, 3, 3), UI_WHITE);
    ART2(draw, "######", "######", "##..##", "##..##", "######", "######");
}

static void lines_include_both_ends(void **state) {
    struct ui_draw *draw = *state;
    ui_draw_line(draw, 0, 0, 4, 2, UI_LINE_SHARP, UI_WHITE);
    ART(draw, "#....", ".##..", "...##");
    ui_draw_line(draw, 4, 2, 0, 0, UI_LINE_SHARP, UI_WHITE);
    ART(draw, "#....", ".##..", "...##");
    ui_draw_line(draw, 1, 0, 1, 3, UI_LINE_SHARP, UI_WHITE);
    ART(draw, ".#.", ".#.", ".#.", ".#.");
    ui_draw_line(draw, 1, 1, 1, 1, UI_LINE_SHARP, UI_WHITE);
    ART(draw, "...", ".#.", "...");
    ui_draw_line(draw, 0, 3, 3, 0, UI_LINE_SMOOTH, UI_WHITE);
    ART(draw, "...#", "..#.", ".#..", "#...");
}

static void dashes_keep_the_phase_of_the_screen(void **state) {
    struct ui_draw *draw = *state;
    ui_draw_dashed_h(draw, 2, 0, 12, UI_DASHED, UI_WHITE);
    ui_draw_dashed_h(draw, 0, 1, 14, UI_DASHED, UI_WHITE);
    ui_draw_dashed_h(draw, 3, 2, 9, UI_DOTTED, UI_WHITE);
    ART(draw, "..##...####...", "####...####...", "....#...#.....");
    ui_draw_dashed_v(draw, 0, 1, 6, 2, 1, UI_WHITE);
    ART(draw, ".", "#", ".", "#", "#", ".", "#");
}

static void triangles_are_even(void **state) {
    struct ui_draw *draw = *state;
    ui_draw_triangle(draw, ui_rect(0, 0, 9, 5), UI_DOWN, UI_WHITE);
    ART(draw, "#########", ".#######.", "..#####..", "...###...", "....#....");
    ui_draw_triangle(draw, ui_rect(0, 0, 3, 5), UI_RIGHT, UI_WHITE);
    ART(draw, "#..", "##.", "###", "##.", "#..");
    ui_draw_triangle(draw, ui_rect(0, 0, 3, 5), UI_LEFT, UI_WHITE);
    ART(draw, "..#", ".##", "###", ".##", "..#");
    ui_draw_triangle_hollow(draw, ui_rect(0, 0, 9, 5), UI_UP, UI_WHITE);
    ART(draw, "....#....", "...###...", "..#...#..", ".#.....#.", "#########");
    ui_draw_corner(draw, ui_rect(0, 0, 3, 3), UI_TOP_LEFT, UI_WHITE);
    ui_draw_corner(draw, ui_rect(4, 0, 3, 3), UI_BOTTOM_RIGHT, UI_WHITE);
    ART(draw, "###...#", "##...##", "#...###");
}

static void fans_have_upright_sides(void **state) {
    struct ui_draw *draw = *state;
    ui_draw_fan(draw, 0, 2, 4, 4, 0, 6, UI_WHITE);
    ART(draw, "...#", ".###", "####", "####", ".###", "...#");
}

static void patterns_as_in_the_look(void **state) {
    struct ui_draw *draw = *state;
    ui_draw_pattern(draw, ui_rect(0, 0, 6, 6), UI_PATTERN_TORN, UI_WHITE);
    ART(draw, "#####.", "####.o", "###.oo", "##.ooo", "#.oooo", ".ooooo");
    ui_draw_pattern(draw, ui_rect(0, 0, 7, 7), UI_PATTERN_GUARD, UI_WHITE);
    ART(draw, "#######", "##...##", "#.#.#.#", "#..#..#", "#.#.#.#", "##...##", "#######");
    ui_draw_pattern(draw, ui_rect(0, 0, 6, 6), UI_PATTERN_SWAPPED, UI_WHITE);
    ART(draw, "######", "#....#", "#....#", "######", "######", "######");
    ui_draw_pattern(draw, ui_rect(0, 0, 7, 6), UI_PATTERN_HUGE, UI_WHITE);
    ART(draw, "#######", "#######", "##ooo##", "##ooo##", "#######", "#######");
    ui_draw_pattern(draw, ui_rect(0, 0, 6, 6), UI_PATTERN_OUTLINE, UI_WHITE);
    ART(draw, "######", "#....#", "#....#", "#....#", "#....#", "######");
    ui_draw_pattern(draw, ui_rect(1, 1, 6, 6), UI_PATTERN_STALE, UI_WHITE);
    ART(draw, ".......", ".......", ".######", ".......", ".######", ".......", ".######");
    ui_draw_pattern(draw, ui_rect(0, 0, 8, 8), UI_PATTERN_UNKNOWN, UI_WHITE);
    ART(draw, "#...#...", "...#...#", "..#...#.", ".#...#..", "#...#...", "...#...#", "..#...#.", ".#...#..");
    ui_draw_pattern(draw, ui_rect(1, 1, 8, 8), UI_PATTERN_DOTS, UI_WHITE);
    ART(draw, ".........", ".........", ".........", ".........", "....#...#", ".........", ".........", ".........",
        "....#...#");
    ui_draw_pattern(draw, ui_rect(0, 0, 5, 5), UI_PATTERN_DOT, UI_WHITE);
    ART(draw, ".....", ".....", "..#..", ".....", ".....");
}

static void patterns_have_small_forms(void **state) {
    struct ui_draw *draw = *state;
    ui_draw_pattern(draw, ui_rect(0, 0, 4, 4), UI_PATTERN_TORN, UI_WHITE);
    ART(draw, "####", "####", "oooo", "oooo");
    ui_draw_pattern(draw, ui_rect(0, 0, 5, 6), UI_PATTERN_TORN, UI_WHITE); /* one narrow side is enough */
    ART(draw, "#####", "#####", "#####", "ooooo", "ooooo", "ooooo");
    ui_draw_pattern(draw, ui_rect(0, 0, 4, 2), UI_PATTERN_UNKNOWN, UI_WHITE);
    ART(draw, "#.#.", ".#.#");
    ui_draw_pattern(draw, ui_rect(0, 0, 2, 2), UI_PATTERN_STALE, UI_WHITE);
    ART(draw, "oo", "oo");
    ui_draw_pattern(draw, ui_rect(0, 0, 2, 2), UI_PATTERN_OUTLINE, UI_WHITE);
    ART(draw, "oo", "oo");
    ui_draw_pattern(draw, ui_rect(0, 0, 1, 1), UI_PATTERN_GUARD, UI_WHITE);
    ART(draw, "#");
    ui_draw_pattern(draw, ui_rect(0, 0, 2, 4), UI_PATTERN_SWAPPED, UI_WHITE);
    ART(draw, "..", "..", "##", "##");
}

/* Two neighbours look as one area: the phase is that of the screen. */
static void patterns_join(void **state) {
    static const enum ui_pattern joining[] = {UI_PATTERN_STALE, UI_PATTERN_UNKNOWN, UI_PATTERN_GAP, UI_PATTERN_DOTS};
    static const double scales[] = {1, 1.25, 2};
    struct ui_draw *draw = *state;
    for (int i = 0; i < 4 * 3; i++)
        for (int cut = 6; cut <= 20; cut++) {
            struct ui_buffer one = buffer_create(70, 70), two = buffer_create(70, 70);
            ui_draw_begin(draw, 32, 32);
            ui_draw_pattern(draw, ui_rect(3, 2, 27, 26), joining[i % 4], UI_INK);
            ui_raster_paint(draw, NULL, scales[i / 4], &one);
            ui_draw_begin(draw, 32, 32);
            ui_draw_pattern(draw, ui_rect(3, 2, cut, 26), joining[i % 4], UI_INK);
            ui_draw_pattern(draw, ui_rect(3 + cut, 2, 27 - cut, cut), joining[i % 4], UI_INK);
            ui_draw_pattern(draw, ui_rect(3 + cut, 2 + cut, 27 - cut, 26 - cut), joining[i % 4], UI_INK);
            ui_raster_paint(draw, NULL, scales[i / 4], &two);
            assert_memory_equal(one.pixels, two.pixels, sizeof *one.pixels * 70 * (70 + PADDING));
            free(one.pixels);
            free(two.pixels);
        }
}

/* At any scale, what joins in the list joins on the screen: no seam, nothing painted twice. */
static void scaled_neighbours_join(void **state) {
    struct ui_draw *draw = *state;
    for (double scale = 1; scale <= 3; scale += 0.23) {
        struct ui_buffer buffer = buffer_create((int)(30 * scale), 4);
        for (int i = 0; i < 4 * buffer.stride; i++) buffer.pixels[i] = UI_BLACK;
        ui_draw_begin(draw, 32, 32);
        for (int x = 0; x < 30; x += 3) ui_draw_rect(draw, ui_rect(x, 0, 3, 30), ui_fade(UI_WHITE, 50));
        ui_raster_paint(draw, NULL, scale, &buffer);
        for (int x = 1; x < buffer.width; x++) assert_int_equal(pixel(&buffer, x, 2), pixel(&buffer, 0, 2));
        assert_int_not_equal(pixel(&buffer, 0, 2), UI_BLACK);
        free(buffer.pixels);
    }
}

static void images_are_stretched_without_smoothing(void **state) {
    struct ui_draw *draw = *state;
    uint32_t *pixels = ui_draw_image(draw, ui_rect(1, 0, 6, 2), 3, 1);
    pixels[0] = UI_WHITE;
    pixels[1] = 0; /* see-through */
    pixels[2] = UI_HEAP;
    ART(draw, ".##..oo", ".##..oo", ".......");
    pixels = ui_draw_image(draw, ui_rect(0, 0, 2, 1), 4, 1); /* shrunk: the middle decides */
    pixels[1] = UI_WHITE;
    ART(draw, "#.");
}

/* The pixel over the middle of a column shows that column, at any size. */
static void images_keep_their_proportions(void **state) {
    struct ui_draw *draw = *state;
    for (int columns = 1; columns < 40; columns += 3)
        for (int width = 1; width <= 30; width++) {
            struct ui_buffer buffer = buffer_create(32, 1);
            ui_draw_begin(draw, 32, 32);
            uint32_t *pixels = ui_draw_image(draw, ui_rect(-1, 0, width + 1, 1), columns, 1);
            for (int i = 0; i < columns; i++) pixels[i] = UI_RGB((uint32_t)i);
            ui_raster_paint(draw, NULL, 1, &buffer);
            for (int x = 0; x < width; x++)
                assert_int_equal(pixel(&buffer, x, 0),
                                 UI_RGB((uint32_t)((2 * (x + 1) + 1) * columns / (2 * (width + 1)))));
            free(buffer.pixels);
        }
}

static void blending_reaches_both_ends(void **state) {
    struct ui_draw *draw = *state;
    struct ui_buffer buffer = buffer_create(3, 1);
    for (int i = 0; i < 3; i++) buffer.pixels[i] = UI_BLACK;
    ui_draw_rect(draw, ui_rect(0, 0, 1, 1), UI_ALPHA(UI_WHITE, 128));
    ui_draw_rect(draw, ui_rect(1, 0, 1, 1), UI_ALPHA(UI_WHITE, 254));
    ui_draw_rect(draw, ui_rect(2, 0, 1, 1), UI_WHITE);
    ui_raster_paint(draw, NULL, 1, &buffer);
    assert_in_range(pixel(&buffer, 0, 0) & 0xff, 127, 129);
    assert_in_range(pixel(&buffer, 1, 0) & 0xff, 253, 255);
    assert_int_equal(pixel(&buffer, 2, 0), UI_WHITE);
    free(buffer.pixels);
}

/* --- random lists --- */

static int near(void) { return rand() % 90 - 30; }

/* Mostly on the screen, sometimes as far away as an int goes. */
static int hostile(void) {
    switch (rand() % 6) {
    case 0:
        return INT_MIN + rand() % 3;
    case 1:
        return INT_MAX - rand() % 3;
    case 2:
        return (int)((unsigned)rand() * 2u);
    default:
        return near();
    }
}

static void random_shape(struct ui_draw *draw, int (*at)(void)) {
    ui_color color = (ui_color)rand() << 8 ^ (ui_color)rand();
    struct ui_rect rect = {at(), at(), at(), at()};
    switch (rand() % 13) {
    case 0:
        ui_draw_rect(draw, rect, color);
        break;
    case 1:
        ui_draw_frame_thick(draw, rect, at(), color);
        break;
    case 2:
        ui_draw_line(draw, at(), at(), at(), at(), UI_LINE_SHARP, color);
        break;
    case 3:
        ui_draw_line(draw, at(), at(), at(), at(), UI_LINE_SMOOTH, color);
        break;
    case 4:
        ui_draw_dashed_h(draw, at(), at(), at(), at(), at(), color);
        break;
    case 5:
        ui_draw_dashed_frame(draw, rect, at(), at(), color);
        break;
    case 6:
        ui_draw_triangle(draw, rect, (enum ui_direction)(rand() % 4), color);
        break;
    case 7:
        ui_draw_triangle_hollow(draw, rect, (enum ui_direction)(rand() % 4), color);
        break;
    case 8:
        ui_draw_corner(draw, rect, (enum ui_corner)(rand() % 4), color);
        break;
    case 9:
        ui_draw_fan(draw, at(), at(), at(), at(), at(), at(), color);
        break;
    case 10:
        ui_draw_text(draw, at(), at(), rand() % 8, color, "g\xc2\xb5|\xff\xe2\x96\x88W");
        break;
    case 11:
        ui_draw_pattern(draw, rect, (enum ui_pattern)(rand() % UI_PATTERN_COUNT), color);
        break;
    case 12: {
        int columns = rand() % 20, rows = rand() % 20;
        uint32_t *pixels = ui_draw_image(draw, rect, columns, rows);
        for (int i = 0; pixels && i < columns * rows; i++) pixels[i] = color * (uint32_t)(i + 1);
        break;
    }
    }
}

/* A clipped picture is the unclipped one inside of the clip, and nothing outside. */
static void clips_cut_exactly(void **state) {
    static const double scales[] = {1, 1.5, 2, 0.75};
    struct ui_draw *draw = *state;
    char error[256];
    for (unsigned round = 0; round < 600; round++) {
        double scale = scales[round % 4];
        struct ui_fonts *fonts = round < 8 ? ui_fonts_create(scale, error, sizeof error) : NULL;
        struct ui_buffer whole = buffer_create(80, 80), cut = buffer_create(80, 80);
        srand(round);
        struct ui_rect clip = {rand() % 40, rand() % 40, rand() % 40, rand() % 40};
        for (int pass = 0; pass < 2; pass++) {
            srand(round + 1000);
            ui_draw_begin(draw, 60, 60);
            if (pass) ui_draw_push_clip(draw, clip);
            for (int i = 0; i < 12; i++) random_shape(draw, near);
            if (pass) ui_draw_pop_clip(draw);
            ui_raster_paint(draw, fonts, scale, pass ? &cut : &whole);
        }
        int left = ui_scaled(clip.x, scale), right = ui_scaled(ui_rect_right(clip), scale);
        if (clip.w > 0 && right == left) right++; /* nothing falls below one pixel, a clip neither */
        int top = ui_scaled(clip.y, scale), bottom = ui_scaled(ui_rect_bottom(clip), scale);
        if (clip.h > 0 && bottom == top) bottom++;
        for (int y = 0; y < 80; y++)
            for (int x = 0; x < 80; x++) {
                bool inside = x >= left && x < right && y >= top && y < bottom;
                assert_int_equal(pixel(&cut, x, y), inside ? pixel(&whole, x, y) : UNTOUCHED);
            }
        free(whole.pixels);
        free(cut.pixels);
        ui_fonts_destroy(fonts);
    }
}

/* Under AddressSanitizer and UndefinedBehaviorSanitizer this also proves that no sum overflows. */
static void hostile_coordinates_stay_inside(void **state) {
    static const double scales[] = {1, 1.37, 3, 16, 0.25};
    struct ui_draw *draw = *state;
    char error[256];
    struct ui_fonts *fonts = ui_fonts_create(1, error, sizeof error);
    srand(42);
    for (int round = 0; round < 4000; round++) {
        struct ui_buffer buffer = buffer_create(1 + rand() % 60, 1 + rand() % 60);
        ui_draw_begin(draw, rand() % 2 ? 60 : hostile(), rand() % 2 ? 60 : hostile());
        if (rand() % 2) ui_draw_push_clip(draw, ui_rect(hostile(), hostile(), hostile(), hostile()));
        for (int i = 0; i < 10; i++) random_shape(draw, hostile);
        ui_raster_paint(draw, fonts, scales[rand() % 5], &buffer);
        for (int y = 0; y < buffer.height; y++)
            for (int x = 0; x < PADDING; x++) assert_int_equal(pixel(&buffer, buffer.width + x, y), UNTOUCHED);
        free(buffer.pixels);
    }
    ui_fonts_destroy(fonts);
}

static void text_paints_where_its_cells_are(void **state) {
    struct ui_draw *draw = *state;
    char error[256];
    struct ui_fonts *fonts = ui_fonts_create(1, error, sizeof error);
    if (!fonts) skip();
    struct ui_buffer buffer = buffer_create(32, 24);
    ui_draw_text(draw, 6, 6, UI_S, UI_WHITE, " H ");
    ui_raster_paint(draw, fonts, 1, &buffer);
    int painted = 0;
    for (int y = 0; y < 24; y++)
        for (int x = 0; x < 32; x++) {
            if (pixel(&buffer, x, y) == UNTOUCHED) continue;
            painted++;
            assert_in_range(x, 12, 17);
            assert_in_range(y, 6, 15); /* on the line, nothing below */
        }
    assert_true(painted > 10);
    ui_draw_begin(draw, 32, 32);
    ui_draw_text(draw, -594, 6, UI_S, UI_WHITE,
                 "                                                  "
                 "                                                    H");
    ui_raster_paint(draw, fonts, 1, &buffer); /* cell 102 of a text that begins far to the left: x = 18 */
    painted = 0;
    for (int y = 0; y < 24; y++)
        for (int x = 18; x < 24; x++) painted += pixel(&buffer, x, y) != UNTOUCHED;
    assert_true(painted > 10);
    free(buffer.pixels);
    ui_fonts_destroy(fonts);
}

static void wrong_buffers_are_left_alone(void **state) {
    struct ui_draw *draw = *state;
    struct ui_buffer none = {0};
    ui_draw_rect(draw, ui_rect(0, 0, 9, 9), UI_WHITE);
    ui_raster_paint(draw, NULL, 1, &none);
    struct ui_buffer buffer = buffer_create(4, 4);
    ui_raster_paint(draw, NULL, 0, &buffer);
    ui_raster_paint(draw, NULL, -1, &buffer);
    assert_int_equal(pixel(&buffer, 0, 0), UNTOUCHED);
    free(buffer.pixels);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(rectangles_and_frames),
        TEST(lines_include_both_ends),
        TEST(dashes_keep_the_phase_of_the_screen),
        TEST(triangles_are_even),
        TEST(fans_have_upright_sides),
        TEST(patterns_as_in_the_look),
        TEST(patterns_have_small_forms),
        TEST(patterns_join),
        TEST(scaled_neighbours_join),
        TEST(images_are_stretched_without_smoothing),
        TEST(images_keep_their_proportions),
        TEST(blending_reaches_both_ends),
        TEST(clips_cut_exactly),
        TEST(hostile_coordinates_stay_inside),
        TEST(text_paints_where_its_cells_are),
        TEST(wrong_buffers_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
