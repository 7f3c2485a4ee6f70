// Searches in growing windows find what a plain walk over all events finds; registers and calls have their names.
#include "views_fixture.h"

#include "app_search.h"
#include "registers.h"
#include "syscalls.h"

struct busy {
    struct made made;
    struct timeline *tl;
    struct app app;
};

static int busy_setup(void **state) {
    struct busy *busy = calloc(1, sizeof *busy);
    assert_non_null(busy);
    busy->made = made_begin("records");
    made_busy(&busy->made, 20000, 7);
    made_finish(&busy->made);
    busy->tl = made_open(&busy->made);
    assert_true(app_init(&busy->app, busy->tl));
    busy->app.patient = true;
    *state = busy;
    return 0;
}

static int busy_teardown(void **state) {
    struct busy *busy = *state;
    app_free(&busy->app);
    timeline_close(busy->tl);
    made_remove(&busy->made);
    free(busy);
    return 0;
}

static uint64_t plain(struct timeline *tl, const struct app_question *question) {
    struct timeline_cursor *cursor = timeline_cursor_create(tl, &question->filter);
    timeline_cursor_seek(cursor, question->t);
    const struct vmv_event *event =
        question->forwards ? timeline_cursor_next(cursor) : timeline_cursor_previous(cursor);
    uint64_t seq = event ? event->seq : UINT64_MAX;
    timeline_cursor_destroy(cursor);
    return seq;
}

static void searches_equal_a_plain_walk(void **state) {
    static const enum vmv_event_type types[] = {VMV_EV_MMAP, VMV_EV_MUNMAP, VMV_EV_FAULT, VMV_EV_FORK, VMV_EV_EXEC};
    struct busy *busy = *state;
    uint64_t random = 99;
    for (int i = 0; i < 400; i++) {
        struct app_question question = {.key = i % 5 + 1, .t = made_random(&random) % (busy->app.duration + 1)};
        question.forwards = made_random(&random) % 2;
        timeline_filter_type(&question.filter, types[made_random(&random) % 5]);
        if (i % 3 == 0) question.filter.space = 1;
        if (i % 7 == 0) {
            question.filter.addr = HEAP + made_random(&random) % 4096 * PAGE;
            question.filter.end = question.filter.addr + 16 * PAGE;
        }
        app_budget_begin(&busy->app);
        const struct app_found *found = app_ask(&busy->app, &question);
        assert_false(found->searching);
        assert_int_equal(found->found ? found->event.seq : UINT64_MAX, plain(busy->tl, &question));
    }
}

static void an_impatient_search_ends_too(void **state) {
    struct busy *busy = *state;
    struct app_question question = {.key = 9, .t = busy->app.duration};
    timeline_filter_type(&question.filter, VMV_EV_WATCH); // there is none
    busy->app.patient = false;
    int frames = 0;
    const struct app_found *found;
    do {
        app_budget_begin(&busy->app);
        found = app_ask(&busy->app, &question);
    } while (found->searching && ++frames < 100000);
    assert_false(found->searching);
    assert_false(found->found);
    assert_false(app_searching(&busy->app));
}

static void calls_have_names(void **state) {
    assert_string_equal(syscall_name("x86_64", 230), "clock_nanosleep");
    assert_string_equal(syscall_name("x86_64", 0), "read");
    assert_string_equal(syscall_name("aarch64", 115), "clock_nanosleep");
    assert_null(syscall_name("x86_64", 100000));
    assert_null(syscall_name("x86_64", -1));
    assert_null(syscall_name("vax", 1));
    assert_null(syscall_name(NULL, 1));
}

static void registers_have_names(void **state) {
    uint8_t blob[27 * 8] = {0};
    struct register_value value[REGISTERS_MOST];
    blob[16 * 8] = 0x42;     // rip
    blob[19 * 8 + 7] = 0x7f; // rsp
    int count = registers_list("x86_64", blob, sizeof blob, value, REGISTERS_MOST);
    assert_int_equal(count, 21);
    assert_string_equal(value[0].name, "rip");
    assert_int_equal(value[0].value, 0x42);
    assert_string_equal(value[1].name, "rsp");
    assert_int_equal(value[1].value, UINT64_C(0x7f) << 56);
    assert_int_equal(registers_list("x86_64", blob, 8, value, REGISTERS_MOST), 1); // cut: only r15
    assert_int_equal(registers_list("x86_64", blob, sizeof blob, value, 2), 2);
    assert_int_equal(registers_list("aarch64", blob, sizeof blob, value, REGISTERS_MOST), 27);
    assert_int_equal(registers_list("vax", blob, sizeof blob, value, REGISTERS_MOST), 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(searches_equal_a_plain_walk, busy_setup, busy_teardown),
        cmocka_unit_test_setup_teardown(an_impatient_search_ends_too, busy_setup, busy_teardown),
        cmocka_unit_test(calls_have_names),
        cmocka_unit_test(registers_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
