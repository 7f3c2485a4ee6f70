/* Numbers as the look prints them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ui_format.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FORMATTED(function, expected, ...)                                                                             \
    do {                                                                                                               \
        char text[UI_FORMAT_SIZE];                                                                                     \
        function(text, sizeof text, __VA_ARGS__);                                                                      \
        assert_string_equal(text, expected);                                                                           \
    } while (0)

static void addresses(void **state) {
    FORMATTED(ui_format_address, "5627 b7b9 8098", 0x5627b7b98098);
    FORMATTED(ui_format_address, "0000 0000 0000", 0);
    FORMATTED(ui_format_address, "ffff ffff ffff fffe", UINT64_MAX - 1);
    FORMATTED(ui_format_address_copy, "0x5627b7b98098", 0x5627b7b98098);
    FORMATTED(ui_format_offset, "+098", 0x98);
    FORMATTED(ui_format_offset, "+116098", 0x116098);
}

static void sizes(void **state) {
    FORMATTED(ui_format_size, "0 B", 0);
    FORMATTED(ui_format_size, "148 B", 148);
    FORMATTED(ui_format_size, "1023 B", 1023);
    FORMATTED(ui_format_size, "1 KiB", 1024);
    FORMATTED(ui_format_size, "4 KiB", 4096);
    FORMATTED(ui_format_size, "516 KiB", 516 << 10);
    FORMATTED(ui_format_size, "64.1 KiB", 65638);
    FORMATTED(ui_format_size, "1.00 MiB", 1 << 20);
    FORMATTED(ui_format_size, "1.00 MiB", (1 << 20) - 1); /* never 1024 KiB */
    FORMATTED(ui_format_size, "2.96 MiB", 759 * 4096);
    FORMATTED(ui_format_size, "12.0 MiB", 12 << 20);
    FORMATTED(ui_format_size, "174 MiB", 174 << 20);
    FORMATTED(ui_format_size, "10.0 MiB", 10484000); /* 9.998 MiB rounds to three digits */
    FORMATTED(ui_format_size, "128 TiB", UINT64_C(1) << 47);
    FORMATTED(ui_format_size, "16.0 EiB", UINT64_MAX);
}

static void spans(void **state) {
    FORMATTED(ui_format_span, "125 \xc2\xb5s", 125000);
    FORMATTED(ui_format_span, "895 ms", 895000000);
    FORMATTED(ui_format_span, "3.87 s", 3869725000);
    FORMATTED(ui_format_span, "1.4 ms", 1400000);
    FORMATTED(ui_format_span, "2 ms", 2000000);
    FORMATTED(ui_format_span, "20 ms", 20000000);
    FORMATTED(ui_format_span, "999 ns", 999);
    FORMATTED(ui_format_span, "1 \xc2\xb5s", 1000);
    FORMATTED(ui_format_span, "1 s", 999999999); /* never 1000 ms */
    FORMATTED(ui_format_span, "0 s", 0);
    FORMATTED(ui_format_span, "-1.5 s", -1500000000);
    FORMATTED(ui_format_span, "999 s", 999000000000);
    FORMATTED(ui_format_span, "16.7 min", 1000000000000);
    FORMATTED(ui_format_span, "3.2 h", 11520000000000);
    FORMATTED(ui_format_ago, "3.87 s ago", 3869725000);
    FORMATTED(ui_format_span, "2562047.8 h", INT64_MAX);
    FORMATTED(ui_format_span, "-2562047.8 h", INT64_MIN);
}

static void counts(void **state) {
    FORMATTED(ui_format_count, "0", 0);
    FORMATTED(ui_format_count, "999", 999);
    FORMATTED(ui_format_count, "1 000", 1000);
    FORMATTED(ui_format_count, "37 128", 37128);
    FORMATTED(ui_format_count, "18 446 744 073 709 551 615", UINT64_MAX);
    FORMATTED(ui_format_signed, "-9 223 372 036 854 775 808", INT64_MIN);
    FORMATTED(ui_format_percent, "97.9 %", 0.9788);
    FORMATTED(ui_format_percent, "100 %", 1);
    FORMATTED(ui_format_percent, "100 %", 0.99951);
    FORMATTED(ui_format_percent, "3.1 %", 0.031);
    FORMATTED(ui_format_percent, "0.25 %", 0.0025);
    FORMATTED(ui_format_percent, "0 %", 0);
    FORMATTED(ui_format_percent, UI_NONE, NAN);
}

static void times(void **state) {
    FORMATTED(ui_format_time, "4.881 453 s", 4881453210, 6);
    FORMATTED(ui_format_time, "4.881 s", 4881953210, 3); /* rounded down: a moment is never put later */
    FORMATTED(ui_format_time, "4.881 453 210 s", 4881453210, 9);
    FORMATTED(ui_format_time, "4 s", 4881453210, 0);
    FORMATTED(ui_format_time, "1 234.000 s", 1234000000000, 3);
    FORMATTED(ui_format_time, "-0.001 s", -1000000, 3);
    FORMATTED(ui_format_time, UI_NONE, UI_NO_TIME, 3);
    FORMATTED(ui_format_interval, "4.861 to 4.881 s", 4861000000, 4881000000, 3);
    FORMATTED(ui_format_interval, UI_NONE " to 4.881 s", UI_NO_TIME, 4881000000, 3);
}

static void small_buffers_are_terminated(void **state) {
    char text[5];
    ui_format_address(text, sizeof text, 0x5627b7b98098);
    assert_string_equal(text, "5627");
    ui_format_time(text, sizeof text, 4881453210, 6);
    assert_string_equal(text, "4.88");
}

/* The list as text, without its first line. */
static char *dumped(struct ui_draw *draw) {
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    assert_true(ui_draw_dump(draw, out));
    fclose(out);
    memmove(text, strchr(text, '\n') + 1, strlen(strchr(text, '\n')));
    return text;
}

static void expect_dump(struct ui_draw *draw, const char *expected) {
    char *text = dumped(draw);
    assert_string_equal(text, expected);
    free(text);
    ui_draw_begin(draw, 400, 100);
}

static void drawn_numbers(void **state) {
    struct ui_draw *draw = ui_draw_create();
    ui_draw_begin(draw, 400, 100);
    assert_int_equal(ui_address_width(UI_S), 78);
    assert_int_equal(ui_draw_address(draw, 10, 0, UI_S, UI_INK, 0x5627b7b98000, 0x5627b7a81000), 10 + 78);
    expect_dump(draw, "value address 5627b7b98000\n"
                      "text 10 0 S #48525d \"5627\"\n"
                      "text 37 0 S #48525d \"b7\"\n"
                      "text 49 0 S #d6dce4 \"b9\"\n"
                      "text 64 0 S #d6dce4 \"8000\"\n");
    ui_draw_register(draw, 0, 0, UI_S, UI_DIM, 0);
    expect_dump(draw, "value register 0000000000000000\n"
                      "text 0 0 S #48525d \"0000\"\n"
                      "text 27 0 S #48525d \"0000\"\n"
                      "text 54 0 S #48525d \"0000\"\n"
                      "text 81 0 S #48525d \"000\"\n"
                      "text 99 0 S #98a3af \"0\"\n");
    ui_draw_quantity_right(draw, 100, 0, UI_S, UI_DIM, ui_quantity_size(759 * 4096), 3);
    expect_dump(draw, "text 82 0 S #6d7884 \"MiB\"\ntext 55 0 S #98a3af \"2.96\"\n");
    ui_draw_time(draw, 0, 0, UI_L, UI_INK, 4881453210, 6);
    expect_dump(draw, "value time 4881453210\n"
                      "text 0 0 L #d6dce4 \"4.881\"\n"
                      "text 50 0 L #98a3af \"453\"\n"
                      "text 82 0 L #6d7884 \"s\"\n");
    ui_draw_time(draw, 0, 0, UI_S, UI_INK, 4881453210, 0);
    expect_dump(draw, "value time 4881453210\ntext 0 0 S #d6dce4 \"4\"\ntext 9 0 S #6d7884 \"s\"\n");
    ui_draw_destroy(draw);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses),     cmocka_unit_test(sizes), cmocka_unit_test(spans),
        cmocka_unit_test(counts),        cmocka_unit_test(times), cmocka_unit_test(small_buffers_are_terminated),
        cmocka_unit_test(drawn_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
