// Times and places as people write them.
#include "timeline_fixture.h"

static struct timeline *tl;

static int set_up(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made.t = MS;
    made_space(&made, 1, 100, 0);
    made_map_file(&made, HEAP, 2, MAP_PRIVATE, 0, "/usr/lib/libx.so");
    made_map_file(&made, HEAP + 8 * PAGE, 3, MAP_SHARED, 0, "/usr/lib/libx.so");
    made_map_file(&made, HEAP + 16 * PAGE, 1, MAP_PRIVATE, 0, "/opt/a/data");
    made_map_file(&made, HEAP + 32 * PAGE, 1, MAP_PRIVATE, 0, "/opt/b/data");
    made_map_file(&made, HEAP + 64 * PAGE, 1, MAP_PRIVATE, 0, "/opt/gone (deleted)");
    made.t = 20 * MS;
    made_frame(&made, 0);
    made.t = 25 * MS;
    made_event(&made, (struct vmv_event){.type = VMV_EV_MARK, .name = "half way"});
    made.t = 40 * MS;
    made_frame(&made, 0);
    made.t = 1500 * MS;
    made_finish(&made);
    tl = made_open(&made);
    made_remove(&made);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    timeline_close(tl);
    return 0;
}

static void is_time(const char *text, uint64_t wanted) {
    uint64_t t, seq;
    bool missing;
    char error[200] = "";
    if (!timeline_time(tl, text, &t, &seq, &missing, error, sizeof error)) fail_msg("%s: %s", text, error);
    assert_int_equal(t, wanted);
    assert_int_equal(seq, UINT64_MAX);
}

static void is_wrong(const char *text, bool no_such, const char *says) {
    uint64_t t, seq;
    bool missing;
    char error[200] = "";
    assert_false(timeline_time(tl, text, &t, &seq, &missing, error, sizeof error));
    assert_int_equal(missing, no_such);
    if (!strstr(error, says)) fail_msg("%s: \"%s\" does not say \"%s\"", text, error, says);
    assert_null(strchr(error, '\n'));
}

static void times(void **state) {
    (void)state;
    is_time("1.25s", 1250 * MS);
    is_time("350ms", 350 * MS);
    is_time("0.5ms", MS / 2);
    is_time("1250000000ns", 1250 * MS);
    is_time("1.0ns", 1);
    is_time("start", 0);
    is_time("end", 1500 * MS);
    is_time("frame:0", 20 * MS);
    is_time("frame:1", 40 * MS);
    is_time("mark:half way", 25 * MS);
}

static void a_number_of_an_event(void **state) {
    (void)state;
    uint64_t t, seq;
    bool missing;
    char error[200];
    assert_true(timeline_time(tl, "seq:6", &t, &seq, &missing, error, sizeof error));
    assert_int_equal(seq, 6);
    assert_int_equal(t, 20 * MS);
}

static void wrong_times(void **state) {
    (void)state;
    is_wrong("12", false, "s, ms or ns");
    is_wrong("1.5", false, "s, ms or ns");
    is_wrong("12min", false, "s, ms and ns");
    is_wrong("", false, "a time is");
    is_wrong("-1s", false, "a time is");
    is_wrong("soon", false, "a time is");
    is_wrong("1.s", false, "digits");
    is_wrong("1.5ns", false, "finer");
    is_wrong("99999999999999999999s", false, "too large");
    is_wrong("99999999999s", false, "too large");
    is_wrong("frame:", false, "number");
    is_wrong("frame:x", false, "number");
    is_wrong("frame:2", true, "0 to 1");
    is_wrong("seq:100", true, "the last one is");
    is_wrong("mark:other", true, "other");
}

static void is_place(const char *text, uint64_t wanted, uint64_t size) {
    uint64_t addr, length;
    if (!timeline_place(tl, 1, text, &addr, &length)) fail_msg("%s: not found", text);
    assert_int_equal(addr, wanted);
    assert_int_equal(length, size);
}

static void is_no_place(const char *text) {
    uint64_t addr, length;
    if (timeline_place(tl, 1, text, &addr, &length)) fail_msg("%s: found", text);
}

static void places(void **state) {
    (void)state;
    timeline_seek(tl, 30 * MS);
    is_place("0x7f00", 0x7f00, 0);
    is_place("map:/usr/lib/libx.so", HEAP, 2 * PAGE);
    is_place("map:libx.so", HEAP, 2 * PAGE);
    is_place("libx.so", HEAP, 2 * PAGE);
    is_place("/opt/b/data", HEAP + 32 * PAGE, PAGE);
    is_place("gone", HEAP + 64 * PAGE, PAGE);
    is_no_place("data"); // of a or of b
    is_no_place("map:");
    is_no_place("");
    is_no_place("0x");
    is_no_place("0x1g");
    is_no_place("0x10000000000000000");
    is_no_place("libx");
    is_no_place("sym:main");
    timeline_seek(tl, 0);
    is_no_place("libx.so");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(times),
        cmocka_unit_test(a_number_of_an_event),
        cmocka_unit_test(wrong_times),
        cmocka_unit_test(places),
    };
    return cmocka_run_group_tests_name("timeline/text", tests, set_up, tear_down);
}
