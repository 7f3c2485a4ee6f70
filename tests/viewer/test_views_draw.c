// The window as a draw list: at each size every panel, lane, column and legend is there, texts stay inside of what
// holds them, values are those of the model, and the pointer does what it should.
#include "views_fixture.h"

#include "app_regions.h"
#include "ui_format.h"

// Not inlined: gcc 12 takes the text for a variable of this function.
static __attribute__((noinline)) char *dump_at(struct fixture *fixture, int width, int height) {
    fixture->app.width = width;
    fixture->app.height = height;
    return fixture_dump(fixture);
}

static void assert_has(const char *dump, const char *line) {
    if (!strstr(dump, line)) fail_msg("not in the dump: %s", line);
}

static void assert_has_all(const char *dump, const char *const *lines) {
    for (; *lines; lines++) assert_has(dump, *lines);
}

static const char *const always[] = {"panel top",       "panel regions",
                                     "panel map",       "panel inspector",
                                     "panel timeline",  "panel status",
                                     "column size",     "column resident",
                                     "lane axis",       "lane marks",
                                     "lane memory",     "lane map",
                                     "lane protect",    "lane thread",
                                     "lane faults",     "lane frames",
                                     "lane gaps",       "strip recording",
                                     "gutter timeline", "bar path",
                                     "bar recording",   "row total",
                                     "tab Details",     "lane thread 100",
                                     "lane thread 101", NULL};

static void everything_is_there_at_full_size(void **state) {
    static const char *const more[] = {"column wr",
                                       "column in time",
                                       "lane virtual",
                                       "\"virtual\"",
                                       "\"written this frame\"",
                                       "\"map, unmap\"",
                                       "\"protect, advise\"",
                                       "\"thread, process\"",
                                       "\"marks, bookmarks\"",
                                       "\"loaded\"",
                                       "\"gap 10 ms\"",
                                       "\"writer behind\"",
                                       NULL};
    struct fixture *fixture = *state;
    app_seek(&fixture->app, 100 * MS);
    char *dump = dump_at(fixture, 1440, 900);
    assert_has_all(dump, always);
    assert_has_all(dump, more);
    free(dump);
}

static void small_windows_leave_out_what_they_should(void **state) {
    struct fixture *fixture = *state;
    app_seek(&fixture->app, 100 * MS);
    char *dump = dump_at(fixture, 1024, 640);
    assert_has_all(dump, always);
    assert_null(strstr(dump, "column wr"));
    assert_null(strstr(dump, "lane virtual"));
    assert_has(dump, "\"written\"");
    free(dump);
    dump = dump_at(fixture, 640, 400);
    assert_null(strstr(dump, "panel inspector"));
    assert_null(strstr(dump, "panel regions"));
    free(dump);
    fixture->app.inspector_over = fixture->app.regions_over = true;
    dump = dump_at(fixture, 640, 400);
    assert_has(dump, "panel inspector");
    assert_has(dump, "panel regions");
    free(dump);
}

static int number_below(const char *dump) {
    int number = -1;
    const char *at = dump;
    while (*at && strncmp(at, "more below\n", 11) != 0) at++;
    while (*at && *at != '"') at++;
    if (*at) number = atoi(at + 1);
    return number;
}

// A list that does not fit says how many mappings are below; all of them are drawn or counted.
static void a_long_list_counts_what_is_below(void **state) {
    struct fixture *fixture = *state;
    app_seek(&fixture->app, 100 * MS);
    char *dump = dump_at(fixture, 1440, 900);
    assert_null(strstr(dump, "more below"));
    free(dump);
    dump = dump_at(fixture, 1440, 500);
    int below = number_below(dump);
    assert_true(below > 0 && (size_t)below < app_regions(&fixture->app)->count);
    free(dump);
}

static void the_sheet_names_what_there_is(void **state) {
    struct fixture *fixture = *state;
    fixture->app.overlay = APP_OVERLAY_HELP;
    char *dump = dump_at(fixture, 1440, 900);
    assert_has(dump, "\"unmapped\"");
    assert_has(dump, "\"untouched\"");
    free(dump);
    fixture->app.overlay = APP_OVERLAY_NONE;
}

static void signals_have_names(void **state) {
    char text[64];
    (void)state;
    view_signal_name(11, text, sizeof text);
    assert_string_equal(text, "SIGSEGV");
    view_signal_code(11, 1, text, sizeof text);
    assert_string_equal(text, "nothing is mapped there");
    view_signal_code(11, 77, text, sizeof text);
    assert_string_equal(text, "code 77");
    view_signal_name(12345, text, sizeof text);
    assert_string_equal(text, "signal 12345");
}

static void the_end_is_not_called_exact(void **state) {
    struct fixture *fixture = *state;
    app_seek(&fixture->app, 100 * MS);
    assert_true(app_set_pid(&fixture->app, CHILD)); // not begun
    char *dump = dump_at(fixture, 1440, 900);
    assert_has(dump, "has no memory at this moment");
    assert_null(strstr(dump, ": exact"));
    free(dump);
}

static void bytes_are_shown_whole(void **state) {
    struct fixture *fixture = *state;
    struct app *app = &fixture->app;
    app_seek(app, app->duration);
    app->tab = APP_TAB_BYTES;
    app_select(app, app_place_bytes(HEAP + 11 * PAGE, 8)); // 8 times 0x0c
    char *dump = dump_at(fixture, 1440, 900);
    assert_has(dump, "\"868082074056920076\""); // ungrouped: there is no room for groups
    assert_has(dump, "no date between 2000 and 2100");
    free(dump);
}

static void values_are_those_of_the_model(void **state) {
    struct fixture *fixture = *state;
    struct app *app = &fixture->app;
    char text[UI_FORMAT_SIZE], line[UI_FORMAT_SIZE + 4];
    for (uint64_t t = 30 * MS; t < app->duration; t += 60 * MS) {
        app_seek(app, t);
        char *dump = dump_at(fixture, 1440, 900);
        snprintf(line, sizeof line, "time %llu", (unsigned long long)t);
        assert_has(dump, line);
        const struct app_regions *regions = app_regions(app);
        ui_format_size(text, sizeof text, regions->resident * PAGE);
        snprintf(line, sizeof line, "\"%s\"", text);
        assert_has(dump, line);
        ui_format_size(text, sizeof text, regions->bytes);
        snprintf(line, sizeof line, "\"%s\"", text);
        assert_has(dump, line);
        free(dump);
    }
}

// Every text lies inside of the clip it was drawn with, but for panels that scroll; nothing is drawn past the window.
static void texts_stay_inside_the_window(void **state) {
    static const int sizes[][2] = {{1440, 900}, {1920, 1080}, {1024, 640}, {760, 500}, {640, 400}};
    struct fixture *fixture = *state;
    app_seek(&fixture->app, 100 * MS);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        free(dump_at(fixture, sizes[i][0], sizes[i][1]));
        for (size_t k = 0; k < ui_draw_count(fixture->draw); k++) {
            const struct ui_draw_command *command = ui_draw_command(fixture->draw, k);
            if (command->kind != UI_DRAW_TEXT) continue;
            assert_true(command->rect.x < sizes[i][0] && command->rect.y < sizes[i][1]);
        }
    }
}

static void odd_places_can_be_drawn(void **state) {
    struct fixture *fixture = *state;
    struct app *app = &fixture->app;
    struct app_place places[] = {
        app_place_space(),
        {.kind = APP_PLACE_MAPPING, .addr = HEAP, .len = PAGE},
        {.kind = APP_PLACE_MAPPING, .addr = 0x1000, .len = PAGE},
        {.kind = APP_PLACE_GROUP, .group = 12345},
        {.kind = APP_PLACE_GAP, .addr = 0, .len = PROG},
        {.kind = APP_PLACE_GAP, .addr = UINT64_MAX - PAGE, .len = PAGE},
        {.kind = APP_PLACE_PAGE, .addr = MAIN_STACK + 32 * PAGE, .len = PAGE},
        {.kind = APP_PLACE_PAGE, .addr = UINT64_MAX - PAGE + 1, .len = PAGE},
        {.kind = APP_PLACE_BYTES, .addr = HEAP + 4090, .len = 16},
        {.kind = APP_PLACE_BYTES, .addr = HEAP, .len = UINT64_C(1) << 40},
        {.kind = APP_PLACE_BYTES, .addr = UINT64_MAX, .len = 1},
    };
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        for (int tab = 0; tab < APP_TAB_COUNT; tab++)
            for (uint64_t t = 0; t <= app->duration; t += app->duration / 3) {
                app_seek(app, t);
                app->tab = (enum app_tab)tab;
                app_goto(app, places[i]);
                free(fixture_dump(fixture));
            }
}

static void brk_to(struct made *made, uint64_t before, uint64_t now) {
    made->t += 7 * MS;
    made_event(made, (struct vmv_event){.type = VMV_EV_BRK, .addr = now, .old_addr = before, .ret = (int64_t)now});
}

// A brk that gave memory back concerns addresses that are no longer the heap's.
static void a_heap_that_shrank_has_changed(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    (void)state;
    fixture->made = made_begin("shrinks");
    made_space(&fixture->made, 1, 100, 0);
    fixture_maps(&fixture->made);
    brk_to(&fixture->made, 0, HEAP);
    brk_to(&fixture->made, HEAP, HEAP + 64 * PAGE);
    brk_to(&fixture->made, HEAP + 64 * PAGE, HEAP + 16 * PAGE);
    uint64_t shrank = fixture->made.t;
    fixture->made.t += 7 * MS;
    made_event(&fixture->made, (struct vmv_event){.type = VMV_EV_MARK, .name = "end"});
    made_finish(&fixture->made);
    fixture->tl = made_open(&fixture->made);
    assert_true(app_init(&fixture->app, fixture->tl));
    fixture->app.patient = true;
    fixture->app.motion = false;
    fixture->draw = ui_draw_create();
    app_seek(&fixture->app, fixture->app.duration);
    app_select(&fixture->app, app_place_mapping(app_mapping_at(&fixture->app, HEAP)));
    char *dump = dump_at(fixture, 1440, 900), time[UI_FORMAT_SIZE];
    ui_format_time(time, sizeof time, (int64_t)shrank, 6);
    const char *change = strstr(dump, "fact last change");
    assert_non_null(change);
    assert_has(change, time);
    free(dump);
    void *done = fixture;
    fixture_teardown(&done);
}

// --- pointer

static void mouse(struct fixture *fixture, enum ui_event_kind kind, int x, int y, unsigned modifiers) {
    struct ui_input_event event = ui_event_mouse(kind, x, y, UI_BUTTON_LEFT);
    event.modifiers = modifiers;
    event.clicks = 1;
    ui_context_event(&fixture->app.ui, &event, fixture->app.now_ms);
    free(fixture_dump(fixture));
}

static void the_timeline_scrubs_zooms_and_spans(void **state) {
    struct fixture *fixture = *state;
    struct app *app = &fixture->app;
    free(dump_at(fixture, 1440, 900));
    mouse(fixture, UI_EVENT_PRESS, 288 + 576, 720, 0); // the middle
    assert_int_equal(app->t, app->duration / 2);
    assert_int_equal(app->focus, APP_PANEL_TIMELINE);
    mouse(fixture, UI_EVENT_MOVE, 288 + 288, 500, 0); // still held, above the panel
    assert_int_equal(app->t, app->duration / 4);
    mouse(fixture, UI_EVENT_MOVE, 0, 720, 0);
    assert_int_equal(app->t, 0);
    mouse(fixture, UI_EVENT_RELEASE, 1439, 720, 0);
    assert_true(app->t > app->duration * 99 / 100);
    mouse(fixture, UI_EVENT_PRESS, 600, 720, UI_SHIFT);
    mouse(fixture, UI_EVENT_MOVE, 700, 720, UI_SHIFT);
    mouse(fixture, UI_EVENT_RELEASE, 700, 720, UI_SHIFT);
    assert_true(app->span_set);
    assert_in_range(app->span_to - app->span_from, app->duration * 99 / 1152, app->duration * 101 / 1152);
    struct ui_input_event wheel = ui_event_wheel(288 + 576, 720, 3);
    ui_context_event(&app->ui, &wheel, app->now_ms);
    free(fixture_dump(fixture));
    double from, to, middle = (double)app->duration / 2;
    app_view_range(app, &from, &to);
    assert_true(to - from < (double)app->duration * 0.6);
    assert_true(from + to > 2 * middle * 0.99 && from + to < 2 * middle * 1.01); // what is under the pointer stays
}

static void a_row_selects_and_folds(void **state) {
    struct fixture *fixture = *state;
    struct app *app = &fixture->app;
    app_seek(app, 100 * MS);
    free(dump_at(fixture, 1440, 900));
    mouse(fixture, UI_EVENT_PRESS, 60, 53 + 13 * 4 + 6, 0); // prog has three children; [heap] is the fifth row
    mouse(fixture, UI_EVENT_RELEASE, 60, 53 + 13 * 4 + 6, 0);
    assert_int_equal(app->selection.kind, APP_PLACE_MAPPING);
    assert_int_equal(app->selection.addr, HEAP);
    mouse(fixture, UI_EVENT_PRESS, 10, 53 + 6, 0);
    mouse(fixture, UI_EVENT_RELEASE, 10, 53 + 6, 0);
    assert_true(app_group_folded(app, app_regions(app)->group[0].id));
    assert_true(view_regions_step(app, 1));
    assert_true(app->selection.addr != HEAP);
}

static void the_same_state_draws_the_same_picture(void **state) {
    struct fixture *fixture = *state;
    struct app *app = &fixture->app;
    app_seek(app, 77 * MS);
    char *first = dump_at(fixture, 1440, 900);
    uint64_t hash = ui_draw_hash(fixture->draw);
    app_seek(app, 200 * MS);
    free(fixture_dump(fixture));
    app_seek(app, 77 * MS);
    char *second = fixture_dump(fixture);
    assert_string_equal(first, second);
    assert_int_equal(hash, ui_draw_hash(fixture->draw));
    assert_true(app_next_frame(app) < 0); // nothing is redrawn while still
    free(first);
    free(second);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(everything_is_there_at_full_size),
        TEST(small_windows_leave_out_what_they_should),
        TEST(a_long_list_counts_what_is_below),
        TEST(the_sheet_names_what_there_is),
        TEST(signals_have_names),
        TEST(the_end_is_not_called_exact),
        cmocka_unit_test(a_heap_that_shrank_has_changed),
        TEST(bytes_are_shown_whole),
        TEST(values_are_those_of_the_model),
        TEST(texts_stay_inside_the_window),
        TEST(odd_places_can_be_drawn),
        TEST(the_timeline_scrubs_zooms_and_spans),
        TEST(a_row_selects_and_folds),
        TEST(the_same_state_draws_the_same_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
