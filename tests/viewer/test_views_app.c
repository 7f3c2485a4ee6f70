// The state behind the window: names and groups of mappings, sums, time, frames, places, searches, recency.
#include "views_fixture.h"

#include "app_curves.h"
#include "app_history.h"
#include "app_regions.h"
#include "app_search.h"

static struct app *app_of(void **state) { return &((struct fixture *)*state)->app; }

static const struct app_mapping *mapping_named(struct app *app, const char *name) {
    const struct app_regions *regions = app_regions(app);
    for (size_t i = 0; i < regions->count; i++)
        if (!strcmp(regions->map[i].name, name)) return &regions->map[i];
    fail_msg("no mapping %s", name);
    return NULL;
}

static void names_come_from_files_and_threads(void **state) {
    struct app *app = app_of(state);
    app_seek(app, 100 * MS);
    assert_int_equal(mapping_named(app, "prog r-x")->kind, VMV_KIND_PROGRAM);
    assert_int_equal(mapping_named(app, "libc.so.6 r-x")->kind, VMV_KIND_LIBRARY);
    assert_int_equal(mapping_named(app, "payments.log rw-")->kind, VMV_KIND_FILE);
    assert_int_equal(mapping_named(app, "[heap]")->kind, VMV_KIND_HEAP);
    assert_int_equal(mapping_named(app, "[stack]")->tid, 100);
    assert_int_equal(mapping_named(app, "worker stack")->tid, WORKER);
    assert_true(mapping_named(app, "worker guard")->guard);
    assert_true(mapping_named(app, "reserved")->reserved);
    assert_string_equal(mapping_named(app, "prog r-x")->short_name, "r-x +1000");
}

static void groups_are_listed_in_order(void **state) {
    static const char *const wanted[] = {"prog",      "[heap]",       "prog 100",  "worker 101",
                                         "anonymous", "payments.log", "libc.so.6", "kernel"};
    struct app *app = app_of(state);
    app_seek(app, 100 * MS);
    const struct app_regions *regions = app_regions(app);
    assert_int_equal(regions->group_count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < regions->group_count; i++) assert_string_equal(regions->group[i].name, wanted[i]);
    assert_int_equal(regions->group[0].count, 3);
    assert_int_equal(regions->group[3].count, 2);
}

static void sums_are_those_of_what_is_listed(void **state) {
    struct app *app = app_of(state);
    for (uint64_t t = 0; t <= app->duration; t += 17 * MS) {
        app_seek(app, t);
        const struct app_regions *regions = app_regions(app);
        uint64_t bytes = 0, resident = 0, written = 0;
        size_t count = 0;
        for (size_t i = 0; i < regions->group_count; i++) {
            bytes += regions->group[i].bytes;
            resident += regions->group[i].resident;
            written += regions->group[i].written;
            count += (size_t)regions->group[i].count;
        }
        assert_int_equal(bytes, regions->bytes);
        assert_int_equal(resident, regions->resident);
        assert_int_equal(written, regions->written);
        assert_int_equal(count, regions->count);
        if (app->space) assert_int_equal(bytes, app->space->virtual_bytes);
    }
}

static void written_counts_this_frame(void **state) {
    struct app *app = app_of(state);
    for (size_t i = 1; i < app->history->frame_count; i++) {
        app_seek(app, app->history->frame[i].t);
        assert_int_equal(mapping_named(app, "[heap]")->written, 1);
        assert_int_equal(mapping_named(app, "[heap]")->resident, i + 1);
    }
}

static void frames_are_stepped_both_ways(void **state) {
    struct app *app = app_of(state);
    app_seek(app, app->duration);
    assert_int_equal(app_frame(app)->n, 11);
    assert_true(app_step_frame(app, -1)); // to the last frame, which lies before the end
    assert_int_equal(app->t, app_frame(app)->t);
    for (int n = 10; n >= 0; n--) {
        assert_true(app_step_frame(app, -1));
        assert_int_equal(app_frame(app)->n, n);
    }
    assert_false(app_step_frame(app, -1));
    assert_true(app_step_frame(app, 1));
    assert_int_equal(app_frame(app)->n, 1);
    app_seek(app, 0);
    assert_null(app_frame(app));
}

static void playing_goes_both_ways_and_stops_at_the_ends(void **state) {
    struct app *app = app_of(state);
    app_seek(app, 50 * MS);
    app->now_ms = 1000;
    app_play(app, 1);
    app->now_ms = 1010;
    assert_true(app_play_tick(app));
    assert_int_equal(app->t, 60 * MS);
    app_set_speed(app, 0.5);
    app->now_ms = 1030;
    app_play_tick(app);
    assert_int_equal(app->t, 70 * MS);
    app_play(app, -1);
    app->now_ms = 1070;
    app_play_tick(app);
    assert_int_equal(app->t, 50 * MS);
    app->now_ms = 9999;
    app_play_tick(app);
    assert_int_equal(app->t, app_first_moment(app));
    assert_false(app->playing);
    app_set_speed(app, 1);
    app_play(app, 1);
    app->now_ms = 99999;
    app_play_tick(app);
    assert_int_equal(app->t, app->history->frame[app->history->frame_count - 1].t);
    assert_false(app->playing);
    app_play(app, 1); /* from the end: anew */
    assert_int_equal(app->t, app_first_moment(app));
    app_play(app, 0);
}

static void places_go_and_come_back(void **state) {
    struct app *app = app_of(state);
    char error[UI_ERROR_SIZE];
    app_seek(app, 100 * MS);
    assert_true(app_goto_text(app, "[heap]", error));
    assert_int_equal(app->selection.kind, APP_PLACE_MAPPING);
    assert_int_equal(app_look(app), APP_LOOK_PAGES);
    assert_true(app_goto_text(app, "0x555555600010", error));
    assert_int_equal(app->selection.kind, APP_PLACE_BYTES);
    assert_int_equal(app_look(app), APP_LOOK_BYTES);
    assert_true(app_goto_text(app, "@frame:3", error));
    assert_int_equal(app_frame(app)->n, 3);
    assert_false(app_goto_text(app, "nowhere", error));
    assert_true(app_back(app));
    assert_int_equal(app->selection.kind, APP_PLACE_MAPPING);
    assert_true(app_back(app));
    assert_int_equal(app->selection.kind, APP_PLACE_SPACE);
    assert_int_equal(app_look(app), APP_LOOK_SPACE);
    assert_false(app_back(app));
}

static void selected_mapping_follows_its_growth(void **state) {
    struct app *app = app_of(state);
    uint64_t start, end;
    app_seek(app, 100 * MS);
    app_select(app, app_place_mapping(mapping_named(app, "[heap]")));
    assert_true(app_place_range(app, app->selection, &start, &end));
    assert_int_equal(end - start, HEAP_PAGES * PAGE);
    app_seek(app, 0);
    assert_false(app_place_range(app, app->selection, &start, &end));
}

static void searches_remember_and_renew(void **state) {
    struct app *app = app_of(state);
    struct app_question question = {.key = 1, .t = 200 * MS};
    timeline_filter_type(&question.filter, VMV_EV_BRK);
    app_budget_begin(app);
    const struct app_found *found = app_ask(app, &question);
    assert_true(found->found);
    uint64_t t = found->event.t;
    question.t = t + 1;
    assert_int_equal(app_ask(app, &question)->event.t, t);
    question.t = t - 1;
    assert_true(app_ask(app, &question)->found);
    assert_true(app_ask(app, &question)->event.t < t);
    question.t = 0;
    assert_false(app_ask(app, &question)->found);
    question.forwards = true;
    assert_int_equal(app_ask(app, &question)->event.type, VMV_EV_BRK);
    question.t = app->duration;
    assert_false(app_ask(app, &question)->found);
}

static void census_counts_every_resident_page(void **state) {
    struct app *app = app_of(state);
    app_seek(app, 100 * MS);
    app_budget_begin(app);
    struct app_census census = app_census(app);
    assert_true(census.complete);
    uint64_t swapped = 1;
    assert_int_equal(census.exact + census.stale + census.torn + census.unknown, app_regions(app)->resident + swapped);
}

static void recency_steps_rise_with_age(void **state) {
    struct app *app = app_of(state);
    app_seek(app, app->duration);
    const struct view_recency *recency = view_recency(app);
    assert_true(recency->bound[0] < recency->bound[1] && recency->bound[1] < recency->bound[2]);
    assert_int_equal(view_recency_step(recency, app->t, 0), -1);
    assert_int_equal(view_recency_step(recency, app->t, recency->frame_t), 0);
    int before = 0;
    for (uint64_t age = 0; age < app->t; age += MS) {
        int step = view_recency_step(recency, app->t, app->t - age);
        assert_true(step >= before && step <= 4);
        before = step;
    }
    char label[64];
    view_recency_label(recency, 4, label, sizeof label);
    assert_string_equal(label, "older");
}

static void recency_has_pages_in_its_first_step(void **state) {
    struct app *app = app_of(state);
    for (uint64_t t = 60 * MS; t <= app->duration; t += 30 * MS) {
        app_seek(app, t);
        const struct view_recency *recency = view_recency(app);
        const struct app_ages *ages = app_regions(app)->ages;
        uint64_t young = 0;
        for (int i = 0; i < APP_AGES && app_age_bound(i) <= recency->bound[0]; i++) young += ages->count[i];
        assert_true(young > 0);
        assert_true(recency->bound[2] <= 1000 * MS); // nothing is older than the recording
    }
}

static void processes_have_their_own_histories(void **state) {
    struct app *app = app_of(state);
    app_seek(app, 200 * MS);
    assert_true(app_set_pid(app, CHILD));
    assert_int_equal(app->space_id, 2);
    assert_false(app_set_pid(app, 4711));
    assert_int_equal(app->pid, CHILD);
    app_seek(app, 100 * MS);
    assert_null(app->space);
    assert_int_equal(app_regions(app)->count, 0);
}

static void ends_are_where_there_is_memory(void **state) {
    struct app *app = app_of(state);
    char error[UI_ERROR_SIZE];
    assert_true(app_seek_text(app, "start", error));
    assert_true(app_alive(app));
    assert_true(app_seek_text(app, "end", error));
    assert_int_equal(app_frame(app)->n, 11);
    assert_int_equal(app_frame(app)->t, app->t);
}

static void visiting_goes_where_the_process_is_alive(void **state) {
    struct app *app = app_of(state);
    app_seek(app, 50 * MS);
    assert_true(app_visit_pid(app, CHILD));
    assert_true(app_alive(app));
    assert_non_null(strstr(app->message, "had not begun"));
    uint64_t t = app->t;
    *app->message = '\0';
    assert_true(app_visit_pid(app, 100)); /* alive then: the moment stays */
    assert_int_equal(app->t, t);
    assert_string_equal(app->message, "");
}

static void chart_agrees_with_what_each_frame_says(void **state) {
    struct app *app = app_of(state);
    app->budget_ns = 0;
    for (size_t i = 0; i < app->history->frame_count; i++) {
        app_seek(app, app->history->frame[i].t);
        app_budget_begin(app);
        const struct app_mapping *heap = mapping_named(app, "[heap]");
        size_t done;
        const uint32_t *written = app_curves_frames(app, heap->map->start, heap->map->end, &done);
        assert_int_equal(done, app->history->frame_count);
        assert_int_equal(written[i], heap->written);
    }
}

static void faults_are_counted_backwards(void **state) {
    struct app *app = app_of(state);
    uint64_t from, to;
    app_seek(app, app->history->frame[1].t);
    assert_true(app_frame_interval(app, &from, &to));
    assert_int_equal(app_curves_faults(app, from, to), 1);
    assert_int_equal(app_curves_faults(app, 0, from - 2 * MS), 0);
}

static void view_range_stays_within_the_recording(void **state) {
    struct app *app = app_of(state);
    double from, to;
    app_view_show(app, -5e9, 5e12, 0);
    app_view_range(app, &from, &to);
    assert_true(from == 0 && to == (double)app->duration);
    app_view_show(app, 100.0 * MS, 100.0 * MS, 0);
    app_view_range(app, &from, &to);
    assert_true(to > from && from >= 0 && to <= (double)app->duration);
    app_view_show(app, 0, 20.0 * MS, 0);
    app_seek(app, 150 * MS);
    app_view_follow(app);
    app_view_range(app, &from, &to);
    assert_true(from <= 150.0 * MS && to >= 150.0 * MS);
}

static void layout_shrinks_and_fills_the_window(void **state) {
    struct app *app = app_of(state);
    static const int sizes[][2] = {{1440, 900}, {1920, 1080}, {1024, 640}, {899, 640}, {719, 480}, {640, 400}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        app->width = sizes[i][0];
        app->height = sizes[i][1];
        struct view_layout layout = view_layout(app);
        assert_int_equal(layout.top.h + layout.map.h + layout.timeline.h + layout.status.h, app->height);
        assert_int_equal(layout.regions.w + layout.map.w + layout.inspector.w, app->width);
        assert_true(layout.map.w >= 240 && layout.map.h >= 120);
        assert_int_equal(ui_rect_empty(layout.inspector), app->width < 900);
        assert_int_equal(ui_rect_empty(layout.regions), app->width < 720);
        if (!ui_rect_empty(layout.regions)) assert_int_equal(layout.gutter, layout.map.x);
    }
    app->width = 1440;
    app->height = 900;
    struct view_layout layout = view_layout(app);
    assert_int_equal(layout.regions.w, 288);
    assert_int_equal(layout.inspector.w, 344);
    assert_int_equal(layout.timeline.h, 224);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(names_come_from_files_and_threads),
        TEST(groups_are_listed_in_order),
        TEST(sums_are_those_of_what_is_listed),
        TEST(written_counts_this_frame),
        TEST(frames_are_stepped_both_ways),
        TEST(playing_goes_both_ways_and_stops_at_the_ends),
        TEST(places_go_and_come_back),
        TEST(selected_mapping_follows_its_growth),
        TEST(searches_remember_and_renew),
        TEST(census_counts_every_resident_page),
        TEST(recency_steps_rise_with_age),
        TEST(recency_has_pages_in_its_first_step),
        TEST(processes_have_their_own_histories),
        TEST(ends_are_where_there_is_memory),
        TEST(visiting_goes_where_the_process_is_alive),
        TEST(chart_agrees_with_what_each_frame_says),
        TEST(faults_are_counted_backwards),
        TEST(view_range_stays_within_the_recording),
        TEST(layout_shrinks_and_fills_the_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
