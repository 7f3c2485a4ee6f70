// Seeking: the world at any moment, by any way, is the one that replaying from the beginning gives.
#include "timeline_fixture.h"

struct truth { // all events, and worlds made by replaying all of them
    struct vmv_event *events;
    size_t count;
    struct vmv_arena arena;
};

static struct truth read_all(struct vmv_reader *reader) {
    struct truth truth = {0};
    size_t chunk_count;
    const struct vmv_chunk *chunks = vmv_reader_chunks(reader, &chunk_count);
    for (size_t i = 0; i < chunk_count; i++) {
        if (chunks[i].header.type != VMV_CHUNK_EVENTS) continue;
        size_t count;
        struct vmv_event *events = vmv_reader_events(reader, &chunks[i], &truth.arena, &count);
        assert_non_null(events);
        truth.events = realloc(truth.events, (truth.count + count) * sizeof *events);
        memcpy(truth.events + truth.count, events, count * sizeof *events);
        truth.count += count;
    }
    return truth;
}

static void free_truth(struct truth *truth) {
    free(truth->events);
    vmv_arena_free(&truth->arena);
}

static struct vmv_out encoded(const struct vmv_world *world) {
    struct vmv_out out = {0};
    vmv_world_encode(&out, world);
    return out;
}

static void assert_same_world(const struct vmv_world *a, const struct vmv_world *b) {
    struct vmv_out x = encoded(a), y = encoded(b);
    assert_int_equal(x.length, y.length);
    assert_memory_equal(x.data, y.data, x.length);
    vmv_out_free(&x);
    vmv_out_free(&y);
}

static void check_moment(struct timeline *tl, const struct truth *truth, uint64_t t) {
    struct vmv_world *world = vmv_world_create(PAGE);
    for (size_t i = 0; i < truth->count && truth->events[i].t <= t; i++) vmv_world_apply(world, &truth->events[i]);
    assert_same_world(timeline_seek(tl, t), world);
    assert_int_equal(timeline_now(tl), t);
    assert_null(timeline_trouble(tl));
    vmv_world_destroy(world);
}

static void seeks_to_random_moments(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made_busy(&made, 60000, 1);
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    struct truth truth = read_all(timeline_reader(tl));
    assert_int_equal(truth.count, timeline_event_count(tl));
    uint64_t random = 99, duration = timeline_duration(tl);
    assert_true(duration >= truth.events[truth.count - 1].t);
    for (int i = 0; i < 12; i++) check_moment(tl, &truth, made_random(&random) % (duration + 1));
    check_moment(tl, &truth, 0);
    check_moment(tl, &truth, duration);
    free_truth(&truth);
    timeline_close(tl);
    made_remove(&made);
}

static void small_steps_both_ways(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made_busy(&made, 30000, 2);
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    struct truth truth = read_all(timeline_reader(tl));
    uint64_t t = timeline_duration(tl) / 2;
    for (int i = 0; i < 6; i++) check_moment(tl, &truth, t += 3 * MS);
    for (int i = 0; i < 12; i++) check_moment(tl, &truth, t -= 3 * MS);
    free_truth(&truth);
    timeline_close(tl);
    made_remove(&made);
}

// Frames and faults only, over several STATEs: each step back is taken back event by event, or from what was made
// ready.
static void long_way_back(void **state) {
    (void)state;
    enum { STEPS = 300 };
    struct made made = made_begin("records");
    struct vmv_out forward[STEPS] = {0};
    made_quiet(&made, 3000, 31);
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    uint64_t duration = timeline_duration(tl);
    for (int i = 0; i < STEPS; i++) forward[i] = encoded(timeline_seek(tl, duration * (uint64_t)i / STEPS));
    for (int i = STEPS; i-- > 0;) {
        struct vmv_out back = encoded(timeline_seek(tl, duration * (uint64_t)i / STEPS));
        assert_int_equal(back.length, forward[i].length);
        assert_memory_equal(back.data, forward[i].data, back.length);
        vmv_out_free(&back);
        vmv_out_free(&forward[i]);
    }
    timeline_close(tl);
    made_remove(&made);
}

// To and fro by steps of any size.
static void wanders(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made_quiet(&made, 1200, 32);
    made_busy(&made, 20000, 33);
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    struct truth truth = read_all(timeline_reader(tl));
    uint64_t random = 17, t = timeline_duration(tl) / 3;
    for (int i = 0; i < 40; i++) {
        uint64_t step = made_random(&random) % (1 + (timeline_duration(tl) >> made_random(&random) % 12));
        if (made_random(&random) % 3)
            t = t > step ? t - step : 0;
        else
            t = t + step < timeline_duration(tl) ? t + step : timeline_duration(tl);
        check_moment(tl, &truth, t);
    }
    free_truth(&truth);
    timeline_close(tl);
    made_remove(&made);
}

static void seeks_by_number(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made_busy(&made, 20000, 3);
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    uint64_t random = 7, count = timeline_event_count(tl);
    for (int i = 0; i < 20; i++) {
        uint64_t seq = made_random(&random) % count;
        assert_int_equal(timeline_seek_seq(tl, seq)->seq, seq + 1);
    }
    assert_int_equal(timeline_seek_seq(tl, count + 5)->seq, count);
    timeline_close(tl);
    made_remove(&made);
}

static void keeps_within_its_memory(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made_busy(&made, 100000, 4);
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    timeline_set_memory(tl, 64 << 20);
    uint64_t random = 5;
    for (int i = 0; i < 60; i++) {
        timeline_seek(tl, made_random(&random) % timeline_duration(tl));
        assert_true(timeline_memory(tl) < 64 << 20);
    }
    timeline_close(tl);
    made_remove(&made);
}

// One byte of each chunk of events is turned over: what remains is shown, and the trouble told.
static void goes_on_over_damage(void **state) {
    (void)state;
    struct made made = made_begin("records");
    made_busy(&made, 60000, 5);
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    size_t count, damaged = 0;
    const struct vmv_chunk *chunks = vmv_reader_chunks(timeline_reader(tl), &count);
    int fd = open(made.path, O_RDWR);
    for (size_t i = 0; i < count; i++) {
        if (chunks[i].header.type != VMV_CHUNK_EVENTS || ++damaged != 2) continue;
        off_t at = (off_t)(chunks[i].offset + VMV_CHUNK_HEADER_BYTES + chunks[i].header.stored / 2);
        uint8_t byte;
        assert_int_equal(pread(fd, &byte, 1, at), 1);
        byte ^= 0x55;
        assert_int_equal(pwrite(fd, &byte, 1, at), 1);
    }
    close(fd);
    timeline_close(tl);
    tl = made_open(&made);
    for (uint64_t t = 0; t <= timeline_duration(tl); t += timeline_duration(tl) / 10)
        assert_non_null(timeline_seek(tl, t));
    bool told = false;
    for (uint64_t t = timeline_duration(tl); t > MS; t /= 2) {
        timeline_seek(tl, t);
        told |= timeline_trouble(tl) != NULL;
    }
    assert_true(told);
    timeline_close(tl);
    made_remove(&made);
}

static void an_empty_recording(void **state) {
    (void)state;
    struct made made = made_begin("frames");
    made_finish(&made);
    struct timeline *tl = made_open(&made);
    assert_int_equal(timeline_event_count(tl), 0);
    assert_non_null(timeline_seek(tl, 1000));
    assert_non_null(timeline_seek_seq(tl, 10));
    size_t count;
    timeline_frames(tl, &count);
    assert_int_equal(count, 0);
    struct timeline_filter filter = {0};
    struct timeline_cursor *cursor = timeline_cursor_create(tl, &filter);
    assert_null(timeline_cursor_next(cursor));
    assert_null(timeline_cursor_previous(cursor));
    timeline_cursor_destroy(cursor);
    timeline_close(tl);
    made_remove(&made);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeks_to_random_moments), cmocka_unit_test(small_steps_both_ways),
        cmocka_unit_test(long_way_back),           cmocka_unit_test(wanders),
        cmocka_unit_test(seeks_by_number),         cmocka_unit_test(keeps_within_its_memory),
        cmocka_unit_test(goes_on_over_damage),     cmocka_unit_test(an_empty_recording),
    };
    return cmocka_run_group_tests_name("timeline/seek", tests, NULL, NULL);
}
