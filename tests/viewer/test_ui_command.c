/* One table for keys, palette and scripts: parsing, errors, look-up and the palette's order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ui_command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Each command writes what it was given into the application, which is a text. */
static bool run_seek(void *app, const struct ui_args *args, char *error) {
    sprintf(app, "seek %s", args->arg[0].text);
    return true;
}

static bool run_click(void *app, const struct ui_args *args, char *error) {
    sprintf(app, "click %lld %lld %d", (long long)args->arg[0].integer, (long long)args->arg[1].integer, args->count);
    return true;
}

static bool run_wheel(void *app, const struct ui_args *args, char *error) {
    sprintf(app, "wheel %g", args->arg[0].number);
    return true;
}

static bool run_goto(void *app, const struct ui_args *args, char *error) {
    sprintf(app, "goto <%s>", args->arg[0].text);
    return true;
}

static bool run_tab(void *app, const struct ui_args *args, char *error) {
    sprintf(app, "tab %s", args->arg[0].text);
    return true;
}

static bool run_fail(void *app, const struct ui_args *args, char *error) {
    snprintf(error, UI_ERROR_SIZE, "there is nothing before");
    return false;
}

static const struct ui_command rows[] = {
    {"seek", "time:word", NULL, NULL, NULL, NULL, NULL, run_seek},
    {"click", "x:int y:int [button:word]", NULL, NULL, NULL, NULL, NULL, run_click},
    {"wheel", "steps:number", NULL, NULL, NULL, NULL, NULL, run_wheel},
    {"goto", "[place:text]", NULL, "G", "go to an address or symbol", NULL, "move in space", run_goto},
    {"tab", "name:word", "explain", "1", "Explain", NULL, "look", run_tab},
    {"tab", "name:word", "history", "7", "History of the selection", NULL, "look", run_tab},
    {"compare", "", NULL, "8", "compare with the previous frame", "Diff", "look", run_fail},
    {"previous-change", NULL, NULL, "[", "previous change of the selection", "goes to the moment", "move", run_fail},
    {"previous-event", NULL, NULL, ", Shift+E", "previous event", "of any kind", "move", run_fail},
    {"bookmark", NULL, NULL, "M", "bookmark this moment", NULL, "move", run_fail},
};
static const struct ui_commands table = {rows, sizeof rows / sizeof *rows};

static void expect_run(const char *line, const char *result) {
    char app[256] = "", error[UI_ERROR_SIZE] = "";
    assert_true(ui_command_run_line(table, app, line, error));
    assert_string_equal(app, result);
    assert_string_equal(error, "");
}

static void expect_error(const char *line, const char *result) {
    char app[256] = "", error[UI_ERROR_SIZE] = "";
    assert_false(ui_command_run_line(table, app, line, error));
    assert_string_equal(error, result);
    assert_string_equal(app, "");
}

static void lines_become_calls(void **state) {
    expect_run("seek 1.5s", "seek 1.5s");
    expect_run("  seek \t1.5s \r\n", "seek 1.5s");
}

static void arguments_have_kinds(void **state) {
    expect_run("click 10 0x20", "click 10 32 2");
    expect_run("click -10 32 right", "click -10 32 3");
    expect_run("wheel -2.5", "wheel -2.5");
    expect_run("goto [heap] + 16  ", "goto <[heap] + 16>");
    expect_run("seek \"a \\\"b\\\" c\"", "seek a \"b\" c");
    expect_run("seek \"\"", "seek ");
    expect_run("", "");
    expect_run("   # a remark", "");
}

static void errors_say_what_is_wrong(void **state) {
    expect_error("sek 1", "no command \"sek\"; did you mean seek?");
    expect_error("frobnicate", "no command \"frobnicate\"");
    expect_error("seek", "seek: needs time");
    expect_error("click 1", "click: needs y");
    expect_error("click 1 a", "click: y is not a whole number: \"a\"");
    expect_error("click 1 2.5", "click: y is not a whole number: \"2.5\"");
    expect_error("click 1 99999999999999999999", "click: y is not a whole number: \"99999999999999999999\"");
    expect_error("wheel fast", "wheel: steps is not a number: \"fast\"");
    expect_error("wheel inf", "wheel: steps is not a number: \"inf\"");
    expect_error("seek 1 2", "seek: one argument too many: \"2\"");
    expect_error("seek \"1", "seek: time: a closing quote is missing");
    expect_error("compare", "there is nothing before");
}

static void long_lines_are_refused(void **state) {
    char line[4000], app[256] = "", error[UI_ERROR_SIZE];
    memset(line, 'x', sizeof line);
    line[sizeof line - 1] = '\0';
    assert_false(ui_command_run_line(table, app, line, error));
    memcpy(line, "seek ", 5);
    assert_false(ui_command_run_line(table, app, line, error));
    assert_string_equal(error, "seek: the line is too long");
    line[5 + UI_ARGS_BYTES - 1] = '\0'; /* one byte too many for its end */
    assert_false(ui_command_run_line(table, app, line, error));
}

static const char *name_for(const char *key_name) {
    struct ui_key key;
    assert_true(ui_key_parse(key_name, &key));
    const struct ui_command *command = ui_command_for_key(table, key);
    return command ? command->title : "none";
}

static void keys_find_their_row(void **state) {
    assert_string_equal(name_for("7"), "History of the selection");
    assert_string_equal(name_for(","), "previous event");
    assert_string_equal(name_for("Shift+E"), "previous event");
    assert_string_equal(name_for("E"), "none");
    assert_string_equal(name_for("Ctrl+7"), "none");
}

static void rows_run_with_their_preset(void **state) {
    char app[256] = "", error[UI_ERROR_SIZE] = "";
    assert_true(ui_command_run(&rows[5], app, error));
    assert_string_equal(app, "tab history");
    assert_true(ui_command_ready(&rows[5]));
    assert_true(ui_command_ready(&rows[3])); /* only optional arguments */
    assert_false(ui_command_ready(&rows[0]));
    assert_false(ui_command_run(&rows[0], app, error));
    assert_string_equal(error, "seek: needs time");
    assert_ptr_equal(ui_command_find(table, "tab"), &rows[4]);
    assert_null(ui_command_find(table, "ta"));
}

static void expect_fault(struct ui_command row, const char *fault) {
    struct ui_command two[] = {{"first", NULL, NULL, "A", NULL, NULL, NULL, run_fail}, row};
    char error[UI_ERROR_SIZE] = "";
    assert_false(ui_commands_check((struct ui_commands){two, 2}, error));
    assert_string_equal(error, fault);
}

static void tables_are_checked(void **state) {
    char error[UI_ERROR_SIZE];
    assert_true(ui_commands_check(table, error));
    expect_fault((struct ui_command){.name = "b", .keys = "B a", .run = run_fail},
                 "b: its key A belongs to first already");
    expect_fault((struct ui_command){.name = "b", .keys = "Foo", .run = run_fail}, "b: no such key in \"Foo\"");
    expect_fault((struct ui_command){.name = "b", .args = "x", .run = run_fail}, "b: wrong arguments \"x\"");
    expect_fault((struct ui_command){.name = "b", .args = "x:float", .run = run_fail},
                 "b: wrong arguments \"x:float\"");
    expect_fault((struct ui_command){.name = "b", .args = "x:text y:int", .run = run_fail},
                 "b: wrong arguments \"x:text y:int\"");
    expect_fault((struct ui_command){.name = "b", .args = "x:int", .preset = "z", .run = run_fail},
                 "b: x is not a whole number: \"z\"");
    expect_fault((struct ui_command){.name = "b"}, "b: nothing to run");
    expect_fault((struct ui_command){.name = "b c", .run = run_fail}, "row 1: it has no proper name");
}

/* Titles of the matches, one a line, matched letters in brackets. */
static const char *filtered(const char *query) {
    static char text[1024];
    struct ui_match matches[16];
    size_t count = ui_palette_filter(table, query, matches, 16), at = 0;
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        const char *title = matches[i].command->title;
        size_t from = 0;
        for (int j = 0; j < matches[i].ranges; j++) {
            size_t start = matches[i].range[j].start, length = matches[i].range[j].length;
            at +=
                (size_t)sprintf(text + at, "%.*s[%.*s]", (int)(start - from), title + from, (int)length, title + start);
            from = start + length;
        }
        at += (size_t)sprintf(text + at, "%s\n", title + from);
    }
    return text;
}

static void palette_sorts_by_how_it_matches(void **state) {
    assert_string_equal(filtered("prev"), "[prev]ious change of the selection\n"
                                          "[prev]ious event\n"
                                          "compare with the [prev]ious frame\n");
    assert_string_equal(filtered("PREV EV"), "[prev]ious [ev]ent\n");
    assert_string_equal(filtered("prev "), "[prev]ious change of the selection\n"
                                           "[prev]ious event\n"
                                           "compare with the [prev]ious frame\n");
    assert_string_equal(filtered("mark"), "book[mark] this moment\n");
    assert_string_equal(filtered("btm"), "[b]ookmark [t]his [m]oment\n");
    assert_string_equal(filtered("zzz"), "");
}

static void empty_query_is_everything_in_order(void **state) {
    struct ui_match matches[3];
    assert_int_equal(ui_palette_filter(table, "", matches, 3), 7);
    assert_string_equal(matches[0].command->title, "go to an address or symbol");
    assert_string_equal(matches[2].command->title, "History of the selection");
    assert_int_equal(matches[0].ranges, 0);
}

static void few_places_keep_the_best(void **state) {
    struct ui_match match;
    assert_int_equal(ui_palette_filter(table, "prev", &match, 1), 3);
    assert_string_equal(match.command->name, "previous-change");
    assert_int_equal(ui_palette_filter(table, "prev", NULL, 0), 3);
}

static void matching_survives_anything(void **state) {
    srand(3);
    for (int round = 0; round < 20000; round++) {
        char text[40], query[12];
        size_t text_size = (size_t)(rand() % 40), query_size = (size_t)(rand() % 12);
        for (size_t i = 0; i < text_size; i++) text[i] = "abC -\xc3"[rand() % 6];
        for (size_t i = 0; i < query_size; i++) query[i] = "aBc  \xc3"[rand() % 6];
        if (text_size)
            text[text_size - 1] = '\0';
        else
            text[0] = '\0';
        if (query_size)
            query[query_size - 1] = '\0';
        else
            query[0] = '\0';
        struct ui_match match;
        if (!ui_match_text(text, query, &match)) continue;
        size_t end = 0;
        for (int i = 0; i < match.ranges; i++) { /* in order, apart, inside */
            assert_true(match.range[i].length > 0 && match.range[i].start >= end);
            end = (size_t)match.range[i].start + match.range[i].length;
        }
        assert_true(end <= strlen(text));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_become_calls),
        cmocka_unit_test(arguments_have_kinds),
        cmocka_unit_test(errors_say_what_is_wrong),
        cmocka_unit_test(long_lines_are_refused),
        cmocka_unit_test(keys_find_their_row),
        cmocka_unit_test(rows_run_with_their_preset),
        cmocka_unit_test(tables_are_checked),
        cmocka_unit_test(palette_sorts_by_how_it_matches),
        cmocka_unit_test(empty_query_is_everything_in_order),
        cmocka_unit_test(few_places_keep_the_best),
        cmocka_unit_test(matching_survives_anything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
