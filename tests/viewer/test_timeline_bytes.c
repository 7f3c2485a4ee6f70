// Bytes and their certainty, with hindsight: one recording a case, and what must be said of its moments.
#include "timeline_fixture.h"

// Frames at 20, 40, 60 … ms of a space with 16 anonymous pages at ANON.
static struct made begin(void) {
    struct made made = made_begin("records");
    made.t = MS;
    made_space(&made, 1, 100, 0);
    made_mmap(&made, ANON, 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    return made;
}

static void frame_at(struct made *made, uint64_t ms) {
    made->t = ms * MS;
    made_frame(made, 0);
}

static void write_at(struct made *made, uint64_t ms, uint64_t addr, uint8_t byte) {
    made->t = ms * MS;
    made_write_frame(made, addr, byte);
}

static struct timeline *end(struct made *made) {
    made->t += MS;
    made_finish(made);
    struct timeline *tl = made_open(made);
    made_remove(made);
    return tl;
}

static struct timeline_run read_one(struct timeline *tl, uint64_t addr, uint8_t *byte) {
    struct timeline_run run = {0};
    assert_int_equal(timeline_read(tl, 1, addr, byte, 1, &run, 1), 1);
    assert_int_equal(run.addr, addr);
    assert_int_equal(run.length, 1);
    return run;
}

// The byte at addr at t is `byte` with that certainty.
static void expect(struct timeline *tl, uint64_t t, uint64_t addr, uint8_t byte, enum vmv_certainty certainty) {
    uint8_t found;
    timeline_seek(tl, t);
    struct timeline_run run = read_one(tl, addr, &found);
    if (!run.known || found != byte || run.certainty != certainty)
        fail_msg("at %.3f ms: known %d, byte %#x (want %#x), certainty %d (want %d)", (double)t / 1e6, run.known, found,
                 byte, run.certainty, certainty);
    assert_int_equal(timeline_page(tl, 1, addr).certainty, certainty);
}

static void expect_unknown(struct timeline *tl, uint64_t t, uint64_t addr) {
    uint8_t found;
    timeline_seek(tl, t);
    struct timeline_run run = read_one(tl, addr, &found);
    assert_false(run.known);
    assert_true(run.mapped);
    assert_int_equal(found, 0);
}

static void exact_until_the_next_write(void **state) {
    (void)state;
    struct made made = begin();
    write_at(&made, 20, ANON, 1);
    frame_at(&made, 40);
    frame_at(&made, 60);
    write_at(&made, 80, ANON, 2);
    frame_at(&made, 100);
    struct timeline *tl = end(&made);
    expect(tl, 20 * MS, ANON, 1, VMV_CERT_EXACT);
    expect(tl, 30 * MS, ANON, 1, VMV_CERT_EXACT);
    expect(tl, 60 * MS, ANON, 1, VMV_CERT_EXACT);
    expect(tl, 70 * MS, ANON, 1, VMV_CERT_STALE);
    assert_int_equal(timeline_page(tl, 1, ANON).may_have_changed, 60 * MS + 1);
    expect(tl, 80 * MS, ANON, 2, VMV_CERT_EXACT);
    assert_int_equal(timeline_page(tl, 1, ANON).may_have_changed, 0);
    expect(tl, 90 * MS, ANON, 2, VMV_CERT_EXACT);
    expect(tl, 100 * MS + 500000, ANON, 2, VMV_CERT_STALE); // no frame after it
    timeline_close(tl);
}

static void a_fault_record_tells_when(void **state) {
    (void)state;
    struct made made = begin();
    write_at(&made, 20, ANON, 1);
    frame_at(&made, 40);
    made.t = 50 * MS;
    made_fault(&made, ANON + 8, VMV_FAULT_WRITE);
    write_at(&made, 60, ANON, 2);
    struct timeline *tl = end(&made);
    expect(tl, 45 * MS, ANON, 1, VMV_CERT_EXACT);
    expect(tl, 50 * MS - 1, ANON, 1, VMV_CERT_EXACT);
    expect(tl, 50 * MS, ANON, 1, VMV_CERT_STALE);
    assert_int_equal(timeline_page(tl, 1, ANON).may_have_changed, 50 * MS);
    expect(tl, 55 * MS, ANON, 1, VMV_CERT_STALE);
    assert_int_equal(timeline_page(tl, 1, ANON).may_have_changed, 50 * MS);
    expect(tl, 60 * MS, ANON, 2, VMV_CERT_EXACT);
    timeline_close(tl);
}

static void torn_until_the_next_capture(void **state) {
    (void)state;
    struct made made = begin();
    made.t = 20 * MS;
    made_frame(&made, 1);
    made_pages(&made, ANON, 1, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN);
    made_content(&made, ANON, 3, VMV_CERT_TORN);
    frame_at(&made, 40);
    write_at(&made, 60, ANON, 4);
    struct timeline *tl = end(&made);
    expect(tl, 20 * MS, ANON, 3, VMV_CERT_TORN);
    expect(tl, 50 * MS, ANON, 3, VMV_CERT_TORN);
    expect(tl, 60 * MS, ANON, 4, VMV_CERT_EXACT);
    timeline_close(tl);
}

static void skipped_and_huge_are_at_most_stale(void **state) {
    (void)state;
    struct made made = begin();
    write_at(&made, 20, ANON, 1);
    made.t = 40 * MS;
    made_frame(&made, 1);
    made_pages(&made, ANON, 1, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN | VMV_PAGEF_SKIPPED);
    frame_at(&made, 60);
    made.t = 80 * MS;
    made_frame(&made, 1);
    made_pages(&made, ANON + PAGE, 1, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN | VMV_PAGEF_HUGE);
    made_content(&made, ANON + PAGE, 5, VMV_CERT_EXACT);
    frame_at(&made, 100);
    struct timeline *tl = end(&made);
    expect(tl, 20 * MS, ANON, 1, VMV_CERT_EXACT);
    expect(tl, 30 * MS, ANON, 1, VMV_CERT_STALE);
    expect(tl, 50 * MS, ANON, 1, VMV_CERT_STALE);
    assert_int_equal(timeline_page(tl, 1, ANON).may_have_changed, 20 * MS + 1);
    expect(tl, 70 * MS, ANON, 1, VMV_CERT_STALE);
    expect(tl, 80 * MS, ANON + PAGE, 5, VMV_CERT_EXACT);
    expect(tl, 90 * MS, ANON + PAGE, 5, VMV_CERT_STALE);
    timeline_close(tl);
}

static void shared_pages_are_at_most_stale(void **state) {
    (void)state;
    struct made made = begin();
    made_mmap(&made, HEAP, 4, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS);
    write_at(&made, 20, HEAP, 1);
    frame_at(&made, 40);
    struct timeline *tl = end(&made);
    expect(tl, 30 * MS, HEAP, 1, VMV_CERT_STALE);
    timeline_close(tl);
}

static void gaps_end_certainty(void **state) {
    (void)state;
    struct made made = begin();
    write_at(&made, 20, ANON, 1);
    frame_at(&made, 40);
    made.t = 50 * MS;
    made_event(&made, (struct vmv_event){.type = VMV_EV_GAP, .to = 55 * MS, .name = "lost"});
    frame_at(&made, 60);
    frame_at(&made, 80);
    struct timeline *tl = end(&made);
    expect(tl, 35 * MS, ANON, 1, VMV_CERT_EXACT);
    expect(tl, 45 * MS, ANON, 1, VMV_CERT_STALE);
    assert_int_equal(timeline_page(tl, 1, ANON).may_have_changed, 40 * MS + 1);
    expect(tl, 70 * MS, ANON, 1, VMV_CERT_STALE);
    timeline_close(tl);
}

static void dropped_pages_cannot_be_vouched_for(void **state) {
    (void)state;
    struct made made = begin();
    write_at(&made, 20, ANON, 1);
    made.t = 30 * MS;
    made_munmap(&made, ANON, 1);
    made_mmap(&made, ANON, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS);
    frame_at(&made, 40);
    struct timeline *tl = end(&made);
    expect(tl, 25 * MS, ANON, 1, VMV_CERT_STALE);
    expect(tl, 35 * MS, ANON, 0, VMV_CERT_EXACT); // fresh: zeros, as the frame says that nobody touched it
    timeline_close(tl);
}

static void untouched_memory_is_zero(void **state) {
    (void)state;
    struct made made = begin();
    frame_at(&made, 20);
    made.t = 30 * MS;
    made_fault(&made, ANON + 3 * PAGE, VMV_FAULT_FIRST_TOUCH);
    made.t = 40 * MS;
    made_frame(&made, 2);
    made_pages(&made, ANON + 3 * PAGE, 1, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN | VMV_PAGEF_SKIPPED);
    made_pages(&made, ANON + 4 * PAGE, 1, VMV_PAGE_RESIDENT,
               VMV_PAGEF_WRITTEN | VMV_PAGEF_SKIPPED | VMV_PAGEF_POPULATED);
    struct timeline *tl = end(&made);
    expect(tl, 10 * MS, ANON, 0, VMV_CERT_EXACT);
    expect(tl, 25 * MS, ANON + 3 * PAGE, 0, VMV_CERT_EXACT);
    assert_int_equal(timeline_page(tl, 1, ANON + 3 * PAGE).state, VMV_PAGE_ABSENT);
    expect_unknown(tl, 30 * MS, ANON + 3 * PAGE);
    expect_unknown(tl, 40 * MS, ANON + 3 * PAGE);
    expect_unknown(tl, 25 * MS, ANON + 4 * PAGE);
    expect(tl, 40 * MS, ANON + 5 * PAGE, 0, VMV_CERT_EXACT);
    expect_unknown(tl, 40 * MS + 1000, ANON + 5 * PAGE);
    timeline_close(tl);
}

// --- files

static int file_of(const char *text, size_t length) {
    char path[] = "/tmp/vmvis-file-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    unlink(path);
    assert_int_equal(write(fd, text, length), (ssize_t)length);
    return fd;
}

static void files_stand_behind_their_pages(void **state) {
    (void)state;
    struct made made = made_begin("records");
    char text[PAGE + 100];
    memset(text, 'a', sizeof text);
    struct vmv_object_identity identity = {
        .path = "/lib/x.so", .inode = 7, .size = sizeof text, .dev_major = 8, .dev_minor = 1};
    uint32_t object = vmv_writer_object(made.writer, &identity, file_of(text, sizeof text));
    made.t = MS;
    made_space(&made, 1, 100, 0);
    made_map_file(&made, HEAP, 4, MAP_PRIVATE, object, "/lib/x.so");
    made_map_file(&made, HEAP + 16 * PAGE, 1, MAP_SHARED, object, "/lib/x.so");
    made.t = 20 * MS;
    made_frame(&made, 0);
    made_pages(&made, HEAP, 1, VMV_PAGE_RESIDENT, VMV_PAGEF_FILE);
    write_at(&made, 40, HEAP, 'b');
    frame_at(&made, 60);
    struct timeline *tl = end(&made);
    expect(tl, 10 * MS, HEAP, 'a', VMV_CERT_EXACT);
    expect(tl, 20 * MS, HEAP, 'a', VMV_CERT_EXACT);
    expect(tl, 30 * MS, HEAP, 'a', VMV_CERT_STALE);
    expect(tl, 40 * MS, HEAP, 'b', VMV_CERT_EXACT);
    expect(tl, 50 * MS, HEAP + PAGE, 'a', VMV_CERT_EXACT);
    expect(tl, 50 * MS, HEAP + PAGE + 99, 'a', VMV_CERT_EXACT);
    expect(tl, 50 * MS, HEAP + PAGE + 100, 0, VMV_CERT_EXACT); // past the end, in its last page
    expect_unknown(tl, 50 * MS, HEAP + 2 * PAGE);
    expect(tl, 50 * MS, HEAP + 16 * PAGE, 'a', VMV_CERT_STALE);
    timeline_close(tl);
}

static void runs_tell_provenance(void **state) {
    (void)state;
    struct made made = begin();
    write_at(&made, 20, ANON + PAGE, 1);
    write_at(&made, 40, ANON + 3 * PAGE, 2);
    frame_at(&made, 60);
    struct timeline *tl = end(&made);
    uint8_t bytes[20 * PAGE];
    struct timeline_run runs[8];
    timeline_seek(tl, 50 * MS);
    size_t count = timeline_read(tl, 1, ANON - 100, bytes, sizeof bytes, runs, 8);
    assert_int_equal(count, 7); // hole, zeros, 1, zeros, 2, zeros, hole
    assert_false(runs[0].mapped);
    assert_int_equal(runs[0].length, 100);
    assert_int_equal(runs[1].from, TIMELINE_FROM_ZERO);
    assert_int_equal(runs[2].captured, 20 * MS);
    assert_int_equal(runs[2].addr, ANON + PAGE);
    assert_int_equal(runs[4].captured, 40 * MS);
    assert_int_equal(bytes[100 + 3 * PAGE], 2);
    assert_false(runs[6].mapped);
    assert_int_equal(timeline_read(tl, 1, ANON - 100, bytes, sizeof bytes, runs, 2), 2);
    assert_int_equal(timeline_read(tl, 1, UINT64_MAX - 9, bytes, 100, runs, 8), 1);
    assert_int_equal(timeline_read(tl, 77, ANON, bytes, 100, runs, 8), 1);
    assert_false(timeline_page(tl, 1, 0).mapped);
    timeline_close(tl);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_until_the_next_write),          cmocka_unit_test(a_fault_record_tells_when),
        cmocka_unit_test(torn_until_the_next_capture),         cmocka_unit_test(skipped_and_huge_are_at_most_stale),
        cmocka_unit_test(shared_pages_are_at_most_stale),      cmocka_unit_test(gaps_end_certainty),
        cmocka_unit_test(dropped_pages_cannot_be_vouched_for), cmocka_unit_test(untouched_memory_is_zero),
        cmocka_unit_test(files_stand_behind_their_pages),      cmocka_unit_test(runs_tell_provenance),
    };
    return cmocka_run_group_tests_name("timeline/bytes", tests, NULL, NULL);
}
