// Columns: no event and no touched page may vanish at any zoom, no curve may cross a gap.
#include "timeline_fixture.h"

enum { MOST = 2000 };
static struct timeline_column columns[MOST];

struct sums {
    uint64_t ticks[VMV_TICK_COUNT], faults;
};

static struct sums add_up(struct timeline *tl, uint32_t space, uint64_t from, uint64_t to, size_t count) {
    struct sums sums = {0};
    timeline_columns(tl, space, from, to, columns, count);
    for (size_t i = 0; i < count; i++) {
        for (int k = 0; k < VMV_TICK_COUNT; k++) sums.ticks[k] += columns[i].ticks[k];
        for (int k = 0; k < VMV_KIND_COUNT; k++) sums.faults += columns[i].faults[k];
    }
    return sums;
}

static uint64_t count_events(struct timeline *tl, uint32_t space, enum vmv_event_type type, uint64_t from,
                             uint64_t to) {
    struct timeline_filter filter = {.space = space, .from = from, .to = to};
    timeline_filter_type(&filter, type);
    struct timeline_cursor *cursor = timeline_cursor_create(tl, &filter);
    uint64_t count = 0;
    while (timeline_cursor_next(cursor)) count++;
    timeline_cursor_destroy(cursor);
    return count;
}

static void check_sums(struct timeline *tl, uint32_t space, size_t count) {
    uint64_t end = timeline_duration(tl) + 1;
    struct sums sums = add_up(tl, space, 0, end, count);
    assert_int_equal(sums.ticks[VMV_TICK_MMAP], count_events(tl, space, VMV_EV_MMAP, 0, 0));
    assert_int_equal(sums.ticks[VMV_TICK_MUNMAP], count_events(tl, space, VMV_EV_MUNMAP, 0, 0));
    assert_int_equal(sums.ticks[VMV_TICK_MREMAP], count_events(tl, space, VMV_EV_MREMAP, 0, 0));
    assert_int_equal(sums.ticks[VMV_TICK_MPROTECT], count_events(tl, space, VMV_EV_MPROTECT, 0, 0));
    assert_int_equal(sums.ticks[VMV_TICK_MADVISE], count_events(tl, space, VMV_EV_MADVISE, 0, 0));
    assert_int_equal(sums.faults, count_events(tl, space, VMV_EV_FAULT, 0, 0));
}

static void nothing_vanishes(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made_busy(&made, 60000, 21);
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    made_remove(&made);
    const size_t counts[] = {1, 2, 7, 60, 250, 1152, 2000};
    for (uint32_t space = 1; space <= 4; space++)
        for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) check_sums(tl, space, counts[i]);
    timeline_close(tl);
}

static void near_columns_stand_at_their_times(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made_busy(&made, 60000, 22);
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    made_remove(&made);
    uint64_t random = 9;
    for (int round = 0; round < 6; round++) {
        uint64_t from = made_random(&random) % timeline_duration(tl),
                 to = from + 20 * MS + made_random(&random) % (50 * MS);
        size_t count = 40;
        timeline_columns(tl, 1, from, to, columns, count);
        uint64_t sum = 0;
        for (size_t i = 0; i < count; i++) sum += columns[i].ticks[VMV_TICK_MMAP];
        uint64_t inner = count_events(tl, 1, VMV_EV_MMAP, from + 2 * MS, to - 2 * MS);
        uint64_t outer = count_events(tl, 1, VMV_EV_MMAP, from > 2 * MS ? from - 2 * MS : 0, to + 2 * MS);
        assert_true(sum >= inner && sum <= outer);
    }
    timeline_close(tl);
}

static void curves_follow_the_world(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made_busy(&made, 60000, 23);
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    made_remove(&made);
    const size_t counts[] = {10, 100, 1000};
    for (size_t k = 0; k < 3; k++) {
        size_t count = counts[k];
        uint64_t duration = timeline_duration(tl);
        timeline_columns(tl, 1, 0, duration, columns, count);
        for (size_t i = 0; i < count; i += count / 10) {
            uint64_t low = duration * i / count, high = duration * (i + 1) / count;
            const struct vmv_space *space = vmv_world_space(timeline_seek(tl, (low + high) / 2), 1);
            uint64_t slack = 64; // pages that come and go within a span
            if (!space) continue;
            assert_true(space->resident_pages + slack >= columns[i].resident_low);
            assert_true(space->resident_pages <= columns[i].resident_high + slack);
        }
        const struct vmv_space *space = vmv_world_space(timeline_seek(tl, duration), 1);
        assert_int_equal(columns[count - 1].virtual_bytes, space->virtual_bytes);
        assert_int_equal(columns[count - 1].resident_high >= space->resident_pages, 1);
    }
    timeline_close(tl);
}

static void gaps_are_not_known(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made.t = MS;
    made_space(&made, 1, 100, 0);
    made_mmap(&made, ANON, 16, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS);
    made.t = 400 * MS;
    made_event(&made, (struct vmv_event){.type = VMV_EV_GAP, .to = 600 * MS, .name = "lost"});
    made.t = 1000 * MS;
    made_event(&made, (struct vmv_event){.type = VMV_EV_MARK, .name = "end"});
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    made_remove(&made);
    timeline_columns(tl, 1, 0, 1200 * MS, columns, 12);
    for (int i = 0; i < 12; i++) assert_int_equal(columns[i].known, i < 4 || (i >= 6 && i < 10));
    assert_int_equal(columns[5].virtual_bytes, 16 * PAGE);
    timeline_columns(tl, 1, 390 * MS, 410 * MS, columns, 20);
    assert_true(columns[9].known);
    assert_false(columns[10].known);
    timeline_close(tl);
}

static void threads_and_regions(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made.t = 0;
    made_space(&made, 1, 100, 0);
    made_event(&made, (struct vmv_event){.type = VMV_EV_THREAD_START, .tid = 100});
    made_mmap(&made, ANON, 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    for (uint64_t i = 0; i < 50; i++) {
        made.t += 20 * MS;
        made_frame(&made, 1);
        made_pages(&made, ANON + i % 16 * PAGE, 1, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN);
        made_event(&made, (struct vmv_event){.type = VMV_EV_THREAD,
                                             .state = VMV_THREAD_RUNNING,
                                             .syscall = -1,
                                             .run_ns = i < 25 ? 20 * MS : 0,
                                             .certainty = VMV_CERT_EXACT});
    }
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    made_remove(&made);
    float shares[10];
    timeline_thread_columns(tl, 100, 0, 1000 * MS, shares, 10);
    assert_true(shares[1] > 0.9f && shares[2] > 0.9f);
    assert_true(shares[7] < 0.1f && shares[7] >= 0);
    timeline_thread_columns(tl, 999, 0, 1000 * MS, shares, 10);
    struct timeline_region_column regions[10];
    timeline_region_columns(tl, 1, ANON, ANON + 16 * PAGE, 0, 1000 * MS, regions, 10);
    assert_true(regions[0].mapped && regions[9].mapped);
    assert_int_equal(regions[9].resident, 16);
    assert_true(regions[1].resident > 4 && regions[1].resident < 14);
    assert_true(regions[5].written >= 1);
    timeline_region_columns(tl, 1, HEAP, HEAP + PAGE, 0, 1000 * MS, regions, 10);
    assert_false(regions[5].mapped);
    timeline_close(tl);
}

// A mapping that grows downwards begins elsewhere afterwards; one that others replace has ended.
static void regions_that_move(void **state) {
    (void)state;
    struct made made = made_begin("records");
    struct timeline_region_column columns_of[10];
    made.t = MS;
    made_space(&made, 1, 100, 0);
    made_mmap(&made, ANON, 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    made_pages(&made, ANON, 8, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN);
    made.t = 300 * MS;
    made_mmap(&made, ANON - 16 * PAGE, 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS); // joins
    made_pages(&made, ANON - PAGE, 1, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN);
    made.t = 600 * MS;
    made_mmap(&made, ANON - 16 * PAGE, 32, PROT_READ, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED);
    made.t = 1000 * MS;
    made_event(&made, (struct vmv_event){.type = VMV_EV_MARK, .name = "end"});
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    made_remove(&made);
    timeline_region_columns(tl, 1, ANON - 16 * PAGE, ANON + 16 * PAGE, 0, 1000 * MS, columns_of, 10);
    assert_int_equal(columns_of[1].resident, 8);
    assert_int_equal(columns_of[4].resident, 9); // not 17
    assert_int_equal(columns_of[8].resident, 0);
    assert_true(columns_of[8].mapped);
    timeline_region_columns(tl, 1, ANON, ANON + PAGE, 0, 1000 * MS, columns_of, 10);
    assert_true(columns_of[1].mapped);
    assert_false(columns_of[5].mapped); // begins lower now
    timeline_close(tl);
}

static void landmarks_in_order(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made_busy(&made, 60000, 24);
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    made_remove(&made);
    size_t frames, marks, found = 0;
    const struct timeline_frame *frame = timeline_frames(tl, &frames);
    const struct vmv_event *mark = timeline_landmarks(tl, &marks);
    for (size_t i = 1; i < frames; i++) assert_true(frame[i].t >= frame[i - 1].t);
    for (size_t i = 1; i < marks; i++) assert_true(mark[i].t >= mark[i - 1].t);
    for (size_t i = 0; i < marks; i++) found += mark[i].type == VMV_EV_MARK && !strcmp(mark[i].name, "here");
    assert_int_equal(frames, count_events(tl, 0, VMV_EV_FRAME, 0, 0));
    assert_int_equal(found, count_events(tl, 0, VMV_EV_MARK, 0, 0));
    timeline_close(tl);
}

// A recorder that was killed: the file ends somewhere, without the last SUMMARY, INDEX and END.
static void a_cut_recording_has_its_tail(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made_busy(&made, 200000, 25);
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    uint64_t bytes = vmv_reader_bytes(timeline_reader(tl));
    timeline_close(tl);
    for (uint64_t part = 3; part <= 9; part += 3) {
        assert_int_equal(truncate(made.path, (off_t)(bytes * part / 10 + 77)), 0);
        tl = made_open(&made);
        assert_true(timeline_event_count(tl) > 0);
        for (uint32_t space = 1; space <= 2; space++) check_sums(tl, space, 300);
        size_t frames;
        timeline_frames(tl, &frames);
        assert_int_equal(frames, count_events(tl, 0, VMV_EV_FRAME, 0, 0));
        timeline_close(tl);
        made_remove(&made);
        made = made_begin("records");
        made_busy(&made, 200000, 25);
        made_finish(&made);
    }
    made_remove(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_vanishes),        cmocka_unit_test(near_columns_stand_at_their_times),
        cmocka_unit_test(curves_follow_the_world), cmocka_unit_test(gaps_are_not_known),
        cmocka_unit_test(threads_and_regions),     cmocka_unit_test(regions_that_move),
        cmocka_unit_test(landmarks_in_order),      cmocka_unit_test(a_cut_recording_has_its_tail),
    };
    return cmocka_run_group_tests_name("timeline/columns", tests, NULL, NULL);
}
