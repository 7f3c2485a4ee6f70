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
    made_map_file(&made, HEAP + 128 * PAGE, 1, MAP_PRIVATE, 0, "/opt/a+1");
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
    is_time("500us", MS / 2);
    is_time("500\302\265s", MS / 2); // the micro sign
    is_time("1.5\316\274s", 1500);   // the letter mu
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
    assert_true(timeline_time(tl, "seq:7", &t, &seq, &missing, error, sizeof error));
    assert_int_equal(seq, 7);
    assert_int_equal(t, 20 * MS);
}

static void wrong_times(void **state) {
    (void)state;
    is_wrong("12", false, "s, ms, us or ns");
    is_wrong("1.5", false, "s, ms, us or ns");
    is_wrong("12min", false, "s, ms, us and ns");
    is_wrong("", false, "a time is");
    is_wrong("-1s", false, "a time is");
    is_wrong("soon", false, "a time is");
    is_wrong("1.s", false, "digits");
    is_wrong("1.5ns", false, "finer");
    is_wrong("1.0005us", false, "finer");
    is_wrong("5\302s", false, "unknown unit");
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

static void places_with_an_offset(void **state) {
    (void)state;
    timeline_seek(tl, 30 * MS);
    is_place("libx.so+0x10", HEAP + 16, 0);
    is_place("map:libx.so+4096", HEAP + PAGE, 0);
    is_place("/usr/lib/libx.so+0x8000", HEAP + 8 * PAGE, 0); // in the second one
    is_place("0x7f00+16", 0x7f10, 0);
    is_place("a+1", HEAP + 128 * PAGE, PAGE); // a name
    is_place("a+1+1", HEAP + 128 * PAGE + 1, 0);
    is_no_place("libx.so+");
    is_no_place("libx.so+x");
    is_no_place("libx.so+-1");
    is_no_place("libx.so+ 1");
    is_no_place("libx.so+1x");
    is_no_place("libx.so+0x");
    is_no_place("libx.so+99999999999999999999");
    is_no_place("libx.so+0xffffffffffffffff");
    is_no_place("+1");
    is_no_place("map:+1");
    is_no_place("data+1");
    is_no_place("sym:main+1");
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
        cmocka_unit_test(times),  cmocka_unit_test(a_number_of_an_event),  cmocka_unit_test(wrong_times),
        cmocka_unit_test(places), cmocka_unit_test(places_with_an_offset),
    };
    return cmocka_run_group_tests_name("timeline/text", tests, set_up, tear_down);
}
