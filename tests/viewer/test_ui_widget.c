/* Widgets are driven by events and read back from the draw list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ui_png.h"
#include "ui_widget.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct ui_context context;
static struct ui_draw *draw;
static double now;

static int setup(void **state) {
    ui_context_init(&context);
    draw = ui_draw_create();
    now = 1000;
    return 0;
}

static int teardown(void **state) {
    ui_context_free(&context);
    ui_draw_destroy(draw);
    return 0;
}

static void begin(void) {
    ui_draw_begin(draw, 400, 300);
    ui_context_begin(&context, draw, now);
}

static void mouse(enum ui_event_kind kind, int x, int y) {
    struct ui_input_event event = ui_event_mouse(kind, x, y, UI_BUTTON_LEFT);
    ui_context_event(&context, &event, now);
}

static void press_key(const char *name) {
    struct ui_key key;
    assert_true(ui_key_parse(name, &key));
    struct ui_input_event event = ui_event_key(key);
    ui_context_event(&context, &event, now);
}

static bool dump_has(const char *line) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(ui_draw_dump(draw, out));
    fclose(out);
    bool found = strstr(text, line) != NULL;
    free(text);
    return found;
}

/* --- areas --- */

/* A frame with two areas, the second one over the right half of the first. */
static void two_areas(unsigned *below, unsigned *above) {
    begin();
    *below = ui_area(&context, 1, ui_rect(10, 10, 100, 100), UI_CURSOR_CROSSHAIR, UI_AREA_WHEEL);
    *above = ui_area(&context, 2, ui_rect(60, 10, 50, 100), UI_CURSOR_TEXT, 0);
    ui_context_end(&context);
}

static void later_areas_lie_on_top(void **state) {
    unsigned below, above;
    two_areas(&below, &above);
    mouse(UI_EVENT_MOVE, 20, 20);
    two_areas(&below, &above);
    assert_int_equal(below, UI_HOVER);
    assert_int_equal(above, 0);
    assert_int_equal(context.cursor, UI_CURSOR_CROSSHAIR);
    mouse(UI_EVENT_MOVE, 70, 20);
    two_areas(&below, &above);
    assert_int_equal(below, 0);
    assert_int_equal(above, UI_HOVER);
    assert_int_equal(context.cursor, UI_CURSOR_TEXT);
    struct ui_input_event leave = {.kind = UI_EVENT_LEAVE};
    ui_context_event(&context, &leave, now);
    two_areas(&below, &above);
    assert_int_equal(below | above, 0);
    assert_int_equal(context.cursor, UI_CURSOR_ARROW);
}

static void clicks_need_press_and_release(void **state) {
    unsigned below, above;
    two_areas(&below, &above);
    mouse(UI_EVENT_PRESS, 20, 20);
    two_areas(&below, &above);
    assert_int_equal(below, UI_HOVER | UI_PRESSED | UI_HELD);
    mouse(UI_EVENT_RELEASE, 22, 20);
    two_areas(&below, &above);
    assert_int_equal(below, UI_HOVER | UI_RELEASED | UI_CLICKED);
    two_areas(&below, &above);
    assert_int_equal(below, UI_HOVER); /* told once */
}

static void drags_hold_on_and_are_no_clicks(void **state) {
    unsigned below, above;
    two_areas(&below, &above);
    mouse(UI_EVENT_PRESS, 20, 20);
    two_areas(&below, &above);
    mouse(UI_EVENT_MOVE, 70, 250); /* over the other area, then outside: still held */
    two_areas(&below, &above);
    assert_int_equal(below, UI_HOVER | UI_HELD | UI_DRAGGED);
    assert_int_equal(above, 0);
    mouse(UI_EVENT_RELEASE, 20, 20);
    two_areas(&below, &above);
    assert_int_equal(below, UI_HOVER | UI_RELEASED | UI_DRAGGED);
}

static void wheel_goes_through_what_does_not_take_it(void **state) {
    unsigned below, above;
    two_areas(&below, &above);
    for (int i = 0; i < 3; i++) {
        struct ui_input_event event = ui_event_wheel(70, 20, 1);
        ui_context_event(&context, &event, now);
    }
    assert_true(context.wheel_y == 3);
    two_areas(&below, &above);
    assert_int_equal(below, UI_WHEELED);
    assert_int_equal(above, UI_HOVER);
    assert_true(context.wheel_y == 0);
}

static void areas_are_cut_to_the_clip(void **state) {
    for (int frame = 0; frame < 2; frame++) {
        begin();
        ui_draw_push_clip(draw, ui_rect(0, 0, 50, 50));
        unsigned signals = ui_area(&context, 1, ui_rect(10, 10, 100, 100), UI_CURSOR_ARROW, 0);
        ui_draw_pop_clip(draw);
        ui_context_end(&context);
        assert_int_equal(signals, 0);
        mouse(UI_EVENT_MOVE, 60, 20);
    }
}

static void cards_wait_a_quarter_of_a_second(void **state) {
    unsigned below, above;
    double wait;
    two_areas(&below, &above);
    assert_false(ui_card_due(&context, &wait));
    assert_true(wait < 0);
    mouse(UI_EVENT_MOVE, 20, 20);
    now += 100;
    two_areas(&below, &above);
    assert_false(ui_card_due(&context, &wait));
    assert_true(wait == 150);
    now += 150;
    two_areas(&below, &above);
    assert_true(ui_card_due(&context, &wait));
    mouse(UI_EVENT_MOVE, 21, 20); /* moving starts again */
    two_areas(&below, &above);
    assert_false(ui_card_due(&context, NULL));
}

/* --- cards --- */

static void cards_keep_off_the_pointer_and_on_the_screen(void **state) {
    struct ui_rect bounds = {0, 0, 400, 300};
    assert_true(ui_rect_equal(ui_card_place(bounds, 100, 100, 80, 40), ui_rect(112, 112, 80, 40)));
    assert_true(ui_rect_equal(ui_card_place(bounds, 350, 280, 80, 40), ui_rect(258, 228, 80, 40)));
    assert_true(ui_rect_equal(ui_card_place(bounds, 312, 100, 300, 40), ui_rect(0, 112, 300, 40)));
    srand(1);
    for (int i = 0; i < 20000; i++) {
        int x = rand() % 400, y = rand() % 300, w = 1 + rand() % 380, h = 1 + rand() % 130;
        struct ui_rect card = ui_card_place(bounds, x, y, w, h);
        assert_true(card.w == w && card.h == h);
        assert_false(ui_rect_contains(card, x, y));
        assert_true(card.x >= 0 && card.y >= 0 && ui_rect_right(card) <= 400 && ui_rect_bottom(card) <= 300);
    }
}

static void cards_show_signs_beside_their_lines(void **state) {
    struct ui_card_line lines[] = {{.text = "page 804", .color = UI_INK},
                                   {"stale", UI_INK, true, UI_PATTERN_STALE, UI_WRITTEN_3},
                                   {.text = "since 3.986 s", .color = UI_DIM}};
    begin();
    struct ui_rect card = ui_card(draw, ui_rect(0, 0, 400, 300), 0, 0, lines, 3);
    ui_context_end(&context);
    assert_true(ui_rect_equal(card, ui_rect(12, 12, 16 + 16 + 78, 15 + 2 * 13 + 8)));
    assert_true(dump_has("card page 804\n  rect 12 12 110 49 #191e24\n  frame 12 12 110 49 #4a5562\n"));
    assert_true(dump_has("text 20 17 S #d6dce4 \"page 804\""));
    assert_true(dump_has("pattern stale 20 33 10 10 #bf3f52"));
    assert_true(dump_has("text 36 45 S #98a3af \"since 3.986 s\""));
}

/* --- tabs, rows, titles --- */

static const char *const tab_names[] = {"Explain", "Bytes", "Code", "Symbols", "Heap", "Threads", "History", "Diff"};

static int tabs(int width, int current) {
    begin();
    int chosen = ui_tabs(&context, ui_id_of("tabs"), ui_rect(10, 0, width, 20), tab_names, 8, current);
    ui_context_end(&context);
    return chosen;
}

static void tabs_switch_on_press(void **state) {
    assert_int_equal(tabs(320, 0), 0);
    assert_true(dump_has("tab Bytes\n  text 59 4 S #6d7884 \"Bytes\""));
    assert_true(dump_has("rect 10 18 42 2 #ffffff"));
    mouse(UI_EVENT_PRESS, 60, 10);
    assert_int_equal(tabs(320, 0), 1);
}

static void tabs_that_do_not_fit_are_behind_an_ellipsis(void **state) {
    assert_int_equal(tabs(150, 6), 6);
    assert_true(dump_has("tab Explain"));
    assert_true(dump_has("tab History")); /* the current one is always shown */
    assert_false(dump_has("tab Diff"));
    assert_true(dump_has("tab \xe2\x80\xa6"));
    mouse(UI_EVENT_PRESS, 157, 10);
    assert_int_equal(tabs(150, 6), 2);
}

static void rows_show_selection_and_hover(void **state) {
    for (int frame = 0; frame < 2; frame++) {
        begin();
        ui_list_row(&context, 1, ui_rect(0, 0, 100, 13), true);
        ui_list_row(&context, 2, ui_rect(0, 13, 100, 13), false);
        ui_context_end(&context);
        mouse(UI_EVENT_MOVE, 5, 15);
    }
    assert_true(dump_has("rect 0 0 100 13 #222931\nrect 0 0 2 13 #ffffff\nframe 0 13 100 13 #ffffffcc\n"));
}

static void titles_are_capitals_with_a_hair(void **state) {
    begin();
    ui_section_title(draw, 0, 0, 200, "facts", "max 273");
    ui_section_title(draw, 0, 20, 200, "struct\naccount", NULL);
    int x = ui_key_hint(draw, 0, 40, "[ Ctrl+P", "go");
    ui_context_end(&context);
    assert_true(dump_has("text 158 0 S #6d7884 \"max 273\"\ntext 0 0 S #6d7884 \"FACTS\"\nrect 38 6 112 1 #1f252c\n"));
    assert_true(dump_has("\"STRUCT account\"\nrect 92 26 108 1 #1f252c\n"));
    assert_true(dump_has("frame 0 39 12 13 #343c46\ntext 3 40 S #98a3af \"[\"\nframe 16 39 42 13 #343c46\n"));
    assert_int_equal(x, 16 + 42 + 4 + 1 + 12 + 12);
}

/* --- scrolling and splitting --- */

static int scroll_frame(struct ui_scroll *scroll, int content) {
    struct ui_rect rect = {0, 0, 100, 100};
    begin();
    int top = ui_scroll_begin(&context, 1, rect, content, scroll);
    ui_scroll_end(&context, 1, rect, scroll);
    ui_context_end(&context);
    return top;
}

static void scrolling_stays_within_the_content(void **state) {
    struct ui_scroll scroll = {.offset = -50};
    assert_int_equal(scroll_frame(&scroll, 300), 0);
    struct ui_input_event down = ui_event_wheel(50, 50, -2);
    ui_context_event(&context, &down, now);
    assert_int_equal(scroll_frame(&scroll, 300), -78);
    down = ui_event_wheel(50, 50, -1e9);
    ui_context_event(&context, &down, now);
    assert_int_equal(scroll_frame(&scroll, 300), -200);
    assert_true(dump_has("rect 97 67 2 33 #4a5562"));
    assert_int_equal(scroll_frame(&scroll, 50), 0); /* all fits: no offset, no bar */
    assert_false(dump_has("rect 97"));
    ui_scroll_show(&scroll, 100, 250, 13);
    assert_int_equal(scroll.offset, 163);
    ui_scroll_show(&scroll, 100, 20, 13);
    assert_int_equal(scroll.offset, 20);
}

static void the_bar_follows_the_pointer(void **state) {
    struct ui_scroll scroll = {0};
    scroll_frame(&scroll, 300);
    mouse(UI_EVENT_PRESS, 98, 10);
    scroll_frame(&scroll, 300);
    mouse(UI_EVENT_MOVE, 98, 43);
    scroll_frame(&scroll, 300);
    assert_int_equal(scroll.offset, 33 * 200 / 67);
    mouse(UI_EVENT_MOVE, 98, 1000);
    scroll_frame(&scroll, 300);
    assert_int_equal(scroll.offset, 200);
}

static void splitters_move_within_bounds(void **state) {
    int size = 100;
    for (int i = 0; i < 4; i++) {
        static const int to[] = {101, 130, 5, 390};
        static const int expected[] = {100, 101, 130, 80};
        begin();
        ui_splitter(&context, 1, ui_rect(size, 0, 1, 300), false, &size, 80, 200);
        ui_context_end(&context);
        assert_int_equal(size, expected[i]);
        mouse(i == 0 ? UI_EVENT_PRESS : UI_EVENT_MOVE, to[i], 50);
    }
    begin();
    assert_true(ui_splitter(&context, 1, ui_rect(size, 0, 1, 300), false, &size, 80, 200));
    ui_context_end(&context);
    assert_int_equal(size, 200);
    assert_int_equal(context.cursor, UI_CURSOR_RESIZE_H);
}

/* --- text input --- */

static struct ui_text_input input;

static unsigned line_frame(void) {
    begin();
    unsigned result = ui_text_line(&context, 9, ui_rect(10, 10, 90, 24), UI_L, &input, "go to");
    ui_context_end(&context);
    return result;
}

static unsigned type(const char *key) {
    press_key(key);
    return line_frame();
}

static void text_is_edited(void **state) {
    ui_text_input_set(&input, "");
    line_frame();
    assert_true(dump_has("\"go to\""));
    assert_int_equal(type("a"), 0); /* not focused: not its key */
    context.focus = 9;
    assert_int_equal(type("a"), UI_INPUT_CHANGED);
    type("Shift+B");
    type("Space");
    type("\xc3\xa4");
    assert_string_equal(input.text, "aB \xc3\xa4");
    type("Left");
    type("Left");
    type("Backspace");
    assert_string_equal(input.text, "a \xc3\xa4");
    type("End");
    type("Backspace");
    assert_string_equal(input.text, "a ");
    assert_true(dump_has("rect 28 13 2 18 #ffffff")); /* the caret, steady, behind two cells */
    type("Shift+Home");
    type("x");
    assert_string_equal(input.text, "x");
    assert_int_equal(type("Enter"), UI_INPUT_SUBMITTED);
    assert_int_equal(type("Esc"), UI_INPUT_CANCELLED);
}

static void words_and_all(void **state) {
    ui_text_input_set(&input, "one two three");
    context.focus = 9;
    type("Ctrl+Backspace");
    assert_string_equal(input.text, "one two ");
    type("Ctrl+Left");
    type("Ctrl+Delete");
    assert_string_equal(input.text, "one  ");
    type("Ctrl+A");
    size_t length;
    assert_int_equal(ui_text_input_selection(&input, &length), 0);
    assert_int_equal(length, 5);
    type("Delete");
    assert_string_equal(input.text, "");
    assert_int_equal(type("Backspace"), 0);
}

static void keys_for_others_are_left(void **state) {
    ui_text_input_set(&input, "a");
    context.focus = 9;
    press_key("Down");
    begin();
    ui_text_line(&context, 9, ui_rect(10, 10, 90, 24), UI_L, &input, NULL);
    assert_true(ui_take_key(&context, "Down"));
    assert_false(ui_take_key(&context, "Down"));
    ui_context_end(&context);
}

static void a_full_line_takes_no_more(void **state) {
    ui_text_input_set(&input, "");
    for (int i = 0; i < 1000; i++) ui_text_input_insert(&input, "\xe2\x80\xa6");
    assert_int_equal(input.length, (UI_INPUT_BYTES - 1) / 3 * 3);
    assert_int_equal(strlen(input.text), input.length);
    ui_text_input_set(&input, "");
    for (int i = 0; i < 1000; i++) ui_text_input_insert(&input, "\xc2\xb5");
    assert_int_equal(input.length, (UI_INPUT_BYTES - 1) / 2 * 2);
    ui_text_input_set(&input, "two\nlines");
    assert_string_equal(input.text, "two lines");
}

static void long_text_scrolls_with_the_caret(void **state) {
    ui_text_input_set(&input, "0123456789abcdef");
    context.focus = 9;
    line_frame();
    assert_int_equal(input.scroll, 7); /* 10 cells, the last one for the caret */
    type("Home");
    assert_int_equal(input.scroll, 0);
    mouse(UI_EVENT_PRESS, 10 + 9 * 4 + 2, 20);
    line_frame();
    assert_int_equal(input.caret, 4);
    mouse(UI_EVENT_MOVE, 10 + 9 * 6, 20);
    line_frame();
    size_t length;
    assert_int_equal(ui_text_input_selection(&input, &length), 4);
    assert_int_equal(length, 2);
    mouse(UI_EVENT_PRESS, 300, 200); /* elsewhere: the focus goes */
    line_frame();
    assert_int_equal(context.focus, 0);
}

/* --- pictures --- */

static void pictures_are_written_or_fail_in_one_line(void **state) {
    uint32_t pixels[6] = {0xff112233};
    struct ui_buffer buffer = {pixels, 2, 2, 3};
    char path[] = "/tmp/vmvis-picture-XXXXXX", error[256] = "", head[8];
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_true(ui_png_write(path, &buffer, error, sizeof error));
    assert_int_equal(read(file, head, 8), 8);
    assert_memory_equal(head, "\x89PNG\r\n\x1a\n", 8);
    close(file);
    unlink(path);
    struct ui_buffer empty = {pixels, 0, 2, 3};
    assert_false(ui_png_write(path, &empty, error, sizeof error));
    assert_false(ui_png_write("/nowhere/at/all.png", &buffer, error, sizeof error));
    assert_string_equal(error, "/nowhere/at/all.png: No such file or directory");
    if (access("/dev/full", W_OK) != 0) return;
    assert_false(ui_png_write("/dev/full", &buffer, error, sizeof error));
    assert_string_equal(error, "/dev/full: No space left on device");
    assert_int_equal(access("/dev/full", F_OK), 0); /* devices are never removed */
}

int main(void) {
#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(later_areas_lie_on_top),
        TEST(clicks_need_press_and_release),
        TEST(drags_hold_on_and_are_no_clicks),
        TEST(wheel_goes_through_what_does_not_take_it),
        TEST(areas_are_cut_to_the_clip),
        TEST(cards_wait_a_quarter_of_a_second),
        TEST(cards_keep_off_the_pointer_and_on_the_screen),
        TEST(cards_show_signs_beside_their_lines),
        TEST(tabs_switch_on_press),
        TEST(tabs_that_do_not_fit_are_behind_an_ellipsis),
        TEST(rows_show_selection_and_hover),
        TEST(titles_are_capitals_with_a_hair),
        TEST(scrolling_stays_within_the_content),
        TEST(the_bar_follows_the_pointer),
        TEST(splitters_move_within_bounds),
        TEST(text_is_edited),
        TEST(words_and_all),
        TEST(keys_for_others_are_left),
        TEST(a_full_line_takes_no_more),
        TEST(long_text_scrolls_with_the_caret),
        TEST(pictures_are_written_or_fail_in_one_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
