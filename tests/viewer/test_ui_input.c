/* Key names go both ways; events typed by scripts are those of a keyboard; tweens are functions of the given time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ui_anim.h"
#include "ui_input.h"

#include <string.h>

static void expect_key(const char *name, uint32_t code, unsigned modifiers, const char *printed) {
    struct ui_key key;
    char text[UI_KEY_NAME_SIZE];
    assert_true(ui_key_parse(name, &key));
    assert_int_equal(key.code, code);
    assert_int_equal(key.modifiers, modifiers);
    ui_key_format(key, text, sizeof text);
    assert_string_equal(text, printed);
}

static void keys_are_parsed_and_printed(void **state) {
    expect_key("Ctrl+P", 'P', UI_CTRL, "Ctrl+P");
    expect_key("ctrl+p", 'P', UI_CTRL, "Ctrl+P");
    expect_key("Shift+Ctrl+Alt+x", 'X', UI_SHIFT | UI_CTRL | UI_ALT, "Ctrl+Alt+Shift+X");
    expect_key("Shift+Space", ' ', UI_SHIFT, "Shift+Space");
    expect_key("]", ']', 0, "]");
    expect_key(",", ',', 0, ",");
    expect_key("F11", UI_KEY_F1 + 10, 0, "F11");
    expect_key("f1", UI_KEY_F1, 0, "F1");
    expect_key("F", 'F', 0, "F");
    expect_key("Esc", UI_KEY_ESC, 0, "Esc");
    expect_key("escape", UI_KEY_ESC, 0, "Esc");
    expect_key("Return", UI_KEY_ENTER, 0, "Enter");
    expect_key("PageDown", UI_KEY_PAGE_DOWN, 0, "PageDown");
    expect_key("+", '+', 0, "+");
    expect_key("Ctrl++", '+', UI_CTRL, "Ctrl++");
    expect_key("Shift+?", '?', 0, "?"); /* a sign that needs Shift does not carry it */
    expect_key("\xc3\xa4", 0xe4, 0, "\xc3\xa4");
    expect_key("Shift+Left", UI_KEY_LEFT, UI_SHIFT, "Shift+Left");
}

static void wrong_names_are_no_keys(void **state) {
    static const char *const names[] = {"", "Ctrl+", "Foo", "F0", "F13", "F01", "Ctrl+Foo", "ab", "\xff", "F1x", " "};
    struct ui_key key;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) assert_false(ui_key_parse(names[i], &key));
    assert_true(ui_key_parse_n("F11", 1, &key)); /* only as many bytes as given */
    assert_int_equal(key.code, 'F');
}

static void key_events_carry_what_they_type(void **state) {
    struct ui_key key;
    ui_key_parse("m", &key);
    assert_string_equal(ui_event_key(key).text, "m");
    ui_key_parse("Shift+M", &key);
    assert_string_equal(ui_event_key(key).text, "M");
    ui_key_parse("Space", &key);
    assert_string_equal(ui_event_key(key).text, " ");
    ui_key_parse("Ctrl+M", &key);
    assert_string_equal(ui_event_key(key).text, "");
    ui_key_parse("Left", &key);
    assert_string_equal(ui_event_key(key).text, "");
}

static void tweens_end_where_they_should(void **state) {
    struct ui_anim anim = ui_anim_at(10);
    assert_false(ui_anim_moving(&anim, 0));
    ui_anim_go(&anim, 20, 1000, UI_ZOOM_MS);
    assert_true(ui_anim_moving(&anim, 1000));
    assert_true(ui_anim_value(&anim, 1000) == 10);
    double before = 10;
    for (double now = 1010; now < 1120; now += 10) { /* always forward, fast first */
        double value = ui_anim_value(&anim, now);
        assert_true(value > before && value < 20);
        before = value;
    }
    assert_true(ui_anim_value(&anim, 1060) > 15);
    assert_true(ui_anim_value(&anim, 1120) == 20);
    assert_false(ui_anim_moving(&anim, 1120));
}

static void tweens_change_their_aim_without_a_jump(void **state) {
    struct ui_anim anim = ui_anim_at(0);
    ui_anim_go(&anim, 100, 0, 120);
    double half_way = ui_anim_value(&anim, 40);
    ui_anim_go(&anim, -50, 40, 120);
    assert_true(ui_anim_value(&anim, 40) == half_way);
    assert_true(ui_anim_value(&anim, 160) == -50);
}

static void motion_off_is_at_once(void **state) {
    struct ui_anim anim = ui_anim_at(0);
    ui_anim_go(&anim, 100, 50, 0);
    assert_false(ui_anim_moving(&anim, 50));
    assert_true(ui_anim_value(&anim, 50) == 100);
    assert_true(ui_ease_out(-1) == 0 && ui_ease_out(2) == 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_are_parsed_and_printed),
        cmocka_unit_test(wrong_names_are_no_keys),
        cmocka_unit_test(key_events_carry_what_they_type),
        cmocka_unit_test(tweens_end_where_they_should),
        cmocka_unit_test(tweens_change_their_aim_without_a_jump),
        cmocka_unit_test(motion_off_is_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
