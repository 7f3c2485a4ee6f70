/* The draw list: what is recorded, what is dropped, how it reads as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ui_draw.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static int setup(void **state) {
    *state = ui_draw_create();
    ui_draw_begin(*state, 200, 100);
    return *state ? 0 : -1;
}

static int teardown(void **state) {
    ui_draw_destroy(*state);
    return 0;
}

static void expect_dump(struct ui_draw *draw, const char *expected) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(ui_draw_dump(draw, out));
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void every_command_has_its_line(void **state) {
    struct ui_draw *draw = *state;
    ui_draw_begin_group(draw, "panel", "map");
    ui_draw_push_clip(draw, ui_rect(10, 10, 500, 50));
    ui_draw_rect(draw, ui_rect(10, 20, 30, 40), UI_WRITTEN_2);
    ui_draw_rect(draw, ui_rect(10, 20, 30, 40), ui_fade(UI_WHITE, 55));
    ui_draw_frame(draw, ui_rect(11, 20, 30, 40), UI_RULE2);
    ui_draw_frame_thick(draw, ui_rect(11, 20, 30, 40), 2, UI_RULE2);
    ui_draw_begin_group(draw, "lane", "memory");
    ui_draw_text(draw, 12, 21, UI_M | UI_BOLD, UI_INK, "say \"a\\b\"\n");
    ui_draw_value(draw, "resident", "%d MiB", 16);
    ui_draw_end_group(draw);
    ui_draw_hline(draw, 10, 11, 5, UI_HAIR);
    ui_draw_vline(draw, 10, 11, 5, UI_HAIR);
    ui_draw_line(draw, 10, 11, 20, 30, UI_LINE_SMOOTH, UI_RULE2);
    ui_draw_dashed_h(draw, 10, 12, 90, UI_DASHED, UI_RULE2);
    ui_draw_triangle(draw, ui_rect(20, 20, 9, 5), UI_DOWN, UI_WHITE);
    ui_draw_triangle_hollow(draw, ui_rect(20, 20, 5, 9), UI_RIGHT, UI_WHITE);
    ui_draw_corner(draw, ui_rect(20, 20, 7, 7), UI_TOP_LEFT, UI_DIM);
    ui_draw_fan(draw, 10, 11, 50, 40, 12, 30, UI_HEAP);
    ui_draw_pattern(draw, ui_rect(20, 30, 8, 8), UI_PATTERN_GUARD, UI_ATTENTION);
    ui_draw_pattern(draw, ui_rect(20, 30, 8, 8), UI_PATTERN_EXACT, UI_HEAP);
    assert_non_null(ui_draw_image(draw, ui_rect(20, 30, 8, 8), 4, 2));
    ui_draw_pop_clip(draw);
    ui_draw_end_group(draw);
    expect_dump(draw, "screen 200 100\n"
                      "panel map\n"
                      "  clip 10 10 190 50\n"
                      "  rect 10 20 30 40 #ef8426\n"
                      "  rect 10 20 30 40 #ffffff8c\n"
                      "  frame 11 20 30 40 #4a5562\n"
                      "  frame 11 20 30 40 #4a5562 2\n"
                      "  lane memory\n"
                      "    text 12 21 M bold #d6dce4 \"say \\\"a\\\\b\\\"\\x0a\"\n"
                      "    value resident 16 MiB\n"
                      "  rect 10 11 5 1 #1f252c\n"
                      "  rect 10 11 1 5 #1f252c\n"
                      "  line 10 11 20 30 #4a5562 smooth\n"
                      "  dashes 10 12 90 1 #4a5562 4/3\n"
                      "  triangle 20 20 9 5 #ffffff down\n"
                      "  triangle 20 20 5 9 #ffffff right hollow\n"
                      "  corner 20 20 7 7 #98a3af top-left\n"
                      "  fan 10 11 50 to 40 12 30 #e8a035\n"
                      "  pattern guard 20 30 8 8 #ff4f64\n"
                      "  rect 20 30 8 8 #e8a035\n"
                      "  image 20 30 8 8 4x2\n"
                      "  clip 0 0 200 100\n");
}

static void names_cannot_break_the_dump(void **state) {
    struct ui_draw *draw = *state;
    ui_draw_begin_group(draw, "row", "two\nlines");
    ui_draw_end_group(draw);
    expect_dump(draw, "screen 200 100\nrow two?lines\n");
}

static void unseen_things_are_dropped(void **state) {
    struct ui_draw *draw = *state;
    ui_draw_rect(draw, ui_rect(200, 0, 10, 10), UI_INK);
    ui_draw_rect(draw, ui_rect(-10, 0, 10, 10), UI_INK);
    ui_draw_rect(draw, ui_rect(0, 0, 0, 10), UI_INK);
    ui_draw_rect(draw, ui_rect(0, 0, 10, -1), UI_INK);
    ui_draw_rect(draw, ui_rect(0, 0, 10, 10), UI_ALPHA(UI_INK, 0));
    ui_draw_text(draw, 0, -12, UI_S, UI_INK, "above");
    ui_draw_line(draw, -5, -5, -5, 90, UI_LINE_SHARP, UI_INK);
    assert_null(ui_draw_image(draw, ui_rect(0, 100, 5, 5), 5, 5));
    assert_null(ui_draw_image(draw, ui_rect(0, 0, 5, 5), 0, 5));
    assert_int_equal(ui_draw_count(draw), 0);
    ui_draw_rect(draw, ui_rect(199, 99, 1, 1), UI_INK);
    ui_draw_text(draw, 0, -11, UI_S, UI_INK, "one row is seen");
    assert_int_equal(ui_draw_count(draw), 2);
}

static void clips_nest(void **state) {
    struct ui_draw *draw = *state;
    ui_draw_push_clip(draw, ui_rect(10, 10, 50, 50));
    ui_draw_push_clip(draw, ui_rect(40, 0, 100, 20));
    assert_true(ui_rect_equal(ui_draw_clip(draw), ui_rect(40, 10, 20, 10)));
    assert_true(ui_draw_visible(draw, ui_rect(59, 19, 5, 5)));
    assert_false(ui_draw_visible(draw, ui_rect(60, 19, 5, 5)));
    ui_draw_push_clip(draw, ui_rect(0, 0, 5, 5)); /* nothing in common */
    ui_draw_rect(draw, ui_rect(-100, -100, 500, 500), UI_INK);
    ui_draw_pop_clip(draw);
    ui_draw_pop_clip(draw);
    assert_true(ui_rect_equal(ui_draw_clip(draw), ui_rect(10, 10, 50, 50)));
    ui_draw_pop_clip(draw);
    assert_int_equal(ui_draw_count(draw), 6); /* the clips alone */
}

static void alpha_multiplies(void **state) {
    struct ui_draw *draw = *state;
    ui_draw_push_alpha(draw, 128);
    ui_draw_push_alpha(draw, 128);
    ui_draw_rect(draw, ui_rect(0, 0, 1, 1), UI_WHITE);
    ui_draw_pop_alpha(draw);
    ui_draw_pop_alpha(draw);
    ui_draw_push_alpha(draw, 0);
    ui_draw_rect(draw, ui_rect(0, 0, 1, 1), UI_WHITE);
    ui_draw_pop_alpha(draw);
    assert_int_equal(ui_draw_count(draw), 1);
    assert_int_equal(ui_draw_command(draw, 0)->color >> 24, 64);
    ui_draw_push_alpha(draw, 255); /* changes nothing, below another one neither */
    ui_draw_push_alpha(draw, 254);
    ui_draw_rect(draw, ui_rect(0, 0, 1, 1), UI_WHITE);
    ui_draw_pop_alpha(draw);
    ui_draw_pop_alpha(draw);
    assert_int_equal(ui_draw_command(draw, 1)->color >> 24, 254);
}

static void hash_tells_pictures_apart(void **state) {
    struct ui_draw *draw = *state;
    uint64_t seen[6];
    for (int i = 0; i < 6; i++) {
        ui_draw_begin(draw, 200, i == 5 ? 101 : 100);
        ui_draw_rect(draw, ui_rect(i == 1, 0, 9, 9), i == 2 ? UI_INK : UI_DIM);
        ui_draw_text(draw, 0, 0, UI_S, UI_INK, i == 3 ? "b" : "a");
        uint32_t *pixels = ui_draw_image(draw, ui_rect(0, 0, 4, 4), 2, 2);
        pixels[3] = i == 4;
        seen[i] = ui_draw_hash(draw);
        for (int j = 0; j < i; j++) assert_true(seen[i] != seen[j]);
    }
    ui_draw_begin(draw, 200, 100);
    ui_draw_rect(draw, ui_rect(0, 0, 9, 9), UI_DIM);
    ui_draw_text(draw, 0, 0, UI_S, UI_INK, "a");
    ui_draw_image(draw, ui_rect(0, 0, 4, 4), 2, 2);
    assert_true(ui_draw_hash(draw) == seen[0]);
}

/* The same frame twice lies in the same memory: nothing is allocated once the list has grown. */
static void steady_state_reuses_memory(void **state) {
    struct ui_draw *draw = *state;
    const void *commands[4], *last[4];
    for (int frame = 0; frame < 4; frame++) {
        ui_draw_begin(draw, 200, 100);
        for (int i = 0; i < 20000; i++) ui_draw_textf(draw, 0, 0, UI_S, UI_INK, "row %d", i);
        commands[frame] = ui_draw_command(draw, 0);
        last[frame] = ui_draw_alloc(draw, 8);
    }
    assert_ptr_equal(commands[2], commands[3]);
    assert_ptr_equal(last[2], last[3]);
    assert_false(ui_draw_failed(draw));
}

static void image_pixels_stay_in_place(void **state) {
    struct ui_draw *draw = *state;
    uint32_t *first = ui_draw_image(draw, ui_rect(0, 0, 10, 10), 10, 10);
    for (int i = 0; i < 100; i++) assert_int_equal(first[i], 0);
    for (int i = 0; i < 50000; i++) ui_draw_text(draw, 0, 0, UI_S, UI_INK, "the list grows");
    memset(first, 0x55, 400);
    assert_ptr_equal(ui_draw_command(draw, 0)->data, first);
}

static void text_helpers(void **state) {
    struct ui_draw *draw = *state;
    assert_int_equal(ui_draw_text(draw, 10, 0, UI_S, UI_INK, "abc"), 28);
    assert_int_equal(ui_draw_text_right(draw, 100, 0, UI_S, UI_INK, "abc"), 82);
    assert_int_equal(ui_draw_text_fit(draw, 0, 0, 18, UI_S, UI_INK, "abc"), 18);
    assert_int_equal(ui_draw_text_fit(draw, 0, 0, 23, UI_S, UI_INK, "libstdc++"), 18);
    assert_int_equal(ui_draw_text_fit(draw, 0, 0, 5, UI_S, UI_INK, "libstdc++"), 0);
    ui_draw_text_centred(draw, 0, 0, 30, UI_S, UI_INK, "abc");
    expect_dump(draw, "screen 200 100\n"
                      "text 10 0 S #d6dce4 \"abc\"\n"
                      "text 82 0 S #d6dce4 \"abc\"\n"
                      "text 0 0 S #d6dce4 \"abc\"\n"
                      "text 0 0 S #d6dce4 \"li\xe2\x80\xa6\"\n"
                      "text 6 0 S #d6dce4 \"abc\"\n");
}

static void prose_wraps_with_strong_words(void **state) {
    struct ui_draw *draw = *state;
    int y = ui_draw_prose(draw, ui_rect(0, 0, 70, 100), 0, UI_M, UI_DIM, UI_INK, "that `malloc hands` out\n\nend");
    assert_int_equal(y, 16 + 16 + 16 + 8 + 16);
    expect_dump(draw, "screen 200 100\n"
                      "text 0 0 M #98a3af \"that\"\n"
                      "text 0 16 M #d6dce4 \"malloc\"\n"
                      "text 0 32 M #d6dce4 \"hands\"\n"
                      "text 35 32 M #98a3af \" out\"\n"
                      "text 0 56 M #98a3af \"end\"\n");
}

static void rectangles_hold_within_int(void **state) {
    struct ui_rect huge = {INT_MIN, INT_MIN, INT_MAX, INT_MAX}, far = {INT_MAX, INT_MAX, INT_MAX, INT_MAX};
    assert_int_equal(ui_rect_right(far), INT_MAX);
    assert_true(ui_rect_empty(ui_rect_intersect(huge, far)));
    assert_true(ui_rect_equal(ui_rect_inset(ui_rect(0, 0, 10, 3), 2), ui_rect(2, 2, 6, 0)));
    ui_rect_inset(huge, INT_MIN);
    ui_rect_inset(far, INT_MAX);
    struct ui_rect rest = {0, 0, 100, 50};
    assert_true(ui_rect_equal(ui_rect_cut_left(&rest, 30), ui_rect(0, 0, 30, 50)));
    assert_true(ui_rect_equal(ui_rect_cut_right(&rest, 500), ui_rect(30, 0, 70, 50)));
    assert_true(ui_rect_empty(rest));
    rest = ui_rect(0, 0, 100, 50);
    assert_true(ui_rect_equal(ui_rect_cut_top(&rest, 20), ui_rect(0, 0, 100, 20)));
    assert_true(ui_rect_equal(ui_rect_cut_bottom(&rest, -5), ui_rect(0, 50, 100, 0)));
    assert_true(ui_rect_equal(rest, ui_rect(0, 20, 100, 30)));
}

static void colours_mix(void **state) {
    assert_int_equal(ui_mix(UI_GROUND, UI_WRITTEN_2, 28), 0xff4b2e16);
    assert_int_equal(ui_mix(UI_BLACK, UI_WHITE, 0), UI_BLACK);
    assert_int_equal(ui_mix(UI_BLACK, UI_WHITE, 150), UI_WHITE);
    assert_int_equal(ui_fade(UI_WHITE, 20), 0x33ffffff);
    assert_int_equal(ui_blend(UI_BLACK, 0x80ffffff), 0xff808080);
    assert_int_equal(ui_written_color(-1), UI_WRITTEN_NOW);
    assert_int_equal(ui_written_color(9), UI_WRITTEN_OLD);
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(every_command_has_its_line),
        TEST(names_cannot_break_the_dump),
        TEST(unseen_things_are_dropped),
        TEST(clips_nest),
        TEST(alpha_multiplies),
        TEST(hash_tells_pictures_apart),
        TEST(steady_state_reuses_memory),
        TEST(image_pixels_stay_in_place),
        TEST(text_helpers),
        TEST(prose_wraps_with_strong_words),
        TEST(rectangles_hold_within_int),
        TEST(colours_mix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
