// Cursors: the same events as a plain walk over all of them with the same filter, in both directions.
#include "timeline_fixture.h"

static struct made made;
static struct timeline *tl;
static struct vmv_event *events;
static size_t event_count;
static struct vmv_arena arena;

static int set_up(void **state) {
    (void)state;
    made = made_begin("records");
    made_busy(&made, 60000, 11);
    made_finish(&made);
    tl = made_open(&made);
    size_t chunk_count, count;
    const struct vmv_chunk *chunks = vmv_reader_chunks(timeline_reader(tl), &chunk_count);
    for (size_t i = 0; i < chunk_count; i++) {
        if (chunks[i].header.type != VMV_CHUNK_EVENTS) continue;
        struct vmv_event *some = vmv_reader_events(timeline_reader(tl), &chunks[i], &arena, &count);
        events = realloc(events, (event_count + count) * sizeof *events);
        memcpy(events + event_count, some, count * sizeof *events);
        event_count += count;
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    timeline_close(tl);
    made_remove(&made);
    free(events);
    vmv_arena_free(&arena);
    return 0;
}

static bool overlaps(uint64_t start, uint64_t length, const struct timeline_filter *filter) {
    return start < filter->end && start + length > filter->addr;
}

// Written anew, for the types in the busy recording.
static bool wanted(const struct timeline_filter *filter, const struct vmv_event *event) {
    bool any = !filter->types[0] && !filter->types[1];
    if (any && event->type >= VMV_EV_SPACE) return false;
    if (!any && !(filter->types[event->type / 64] >> event->type % 64 & 1)) return false;
    if (filter->space && event->space != filter->space) return false;
    if (filter->pid && event->pid != filter->pid) return false;
    if (event->t < filter->from || (filter->to && event->t >= filter->to)) return false;
    if (!filter->end) return true;
    switch (event->type) {
    case VMV_EV_MMAP:
        return overlaps((uint64_t)event->ret, event->len, filter);
    case VMV_EV_MREMAP:
        return overlaps(event->old_addr, event->old_len, filter) || overlaps((uint64_t)event->ret, event->len, filter);
    case VMV_EV_FAULT:
        return overlaps(event->addr & ~UINT64_C(4095), PAGE, filter);
    case VMV_EV_MUNMAP:
    case VMV_EV_MPROTECT:
    case VMV_EV_MADVISE:
    case VMV_EV_PAGES:
    case VMV_EV_CONTENT:
        return overlaps(event->addr, event->len, filter);
    default:
        return false;
    }
}

static void check(const struct timeline_filter *filter, bool some) {
    struct timeline_cursor *cursor = timeline_cursor_create(tl, filter);
    size_t found = 0;
    for (size_t i = 0; i < event_count; i++) {
        if (!wanted(filter, &events[i])) continue;
        const struct vmv_event *event = timeline_cursor_next(cursor);
        assert_non_null(event);
        assert_int_equal(event->seq, events[i].seq);
        found++;
    }
    assert_null(timeline_cursor_next(cursor));
    assert_null(timeline_cursor_next(cursor));
    for (size_t i = event_count; i-- > 0;) {
        if (!wanted(filter, &events[i])) continue;
        const struct vmv_event *event = timeline_cursor_previous(cursor);
        assert_non_null(event);
        assert_int_equal(event->seq, events[i].seq);
    }
    assert_null(timeline_cursor_previous(cursor));
    timeline_cursor_destroy(cursor);
    if (some) assert_true(found > 0);
}

static void everything_visible(void **state) {
    (void)state;
    check(&(struct timeline_filter){0}, true);
}

static void by_type(void **state) {
    (void)state;
    for (int type = 1; type < VMV_EV_TYPE_COUNT; type++) {
        struct timeline_filter filter = {0};
        timeline_filter_type(&filter, (enum vmv_event_type)type);
        check(&filter, type == VMV_EV_PAGES || type == VMV_EV_MARK || type == VMV_EV_MMAP);
    }
}

static void by_place_and_space(void **state) {
    (void)state;
    check(&(struct timeline_filter){.addr = HEAP + 100 * PAGE, .end = HEAP + 100 * PAGE + 8}, true);
    check(&(struct timeline_filter){.addr = HEAP + 100 * PAGE, .end = HEAP + 120 * PAGE, .space = 2}, true);
    check(&(struct timeline_filter){.addr = ANON,
                                    .end = ANON + 64 * PAGE,
                                    .types = {1 << VMV_EV_MREMAP | 1 << VMV_EV_MMAP}},
          true);
    check(&(struct timeline_filter){.addr = 0x1000, .end = 0x2000}, false);
    check(&(struct timeline_filter){.pid = 101}, true);
    check(&(struct timeline_filter){.space = 99}, false);
}

static void by_time(void **state) {
    (void)state;
    uint64_t middle = timeline_duration(tl) / 2;
    check(&(struct timeline_filter){.from = middle, .to = middle + 50 * MS}, true);
    check(&(struct timeline_filter){.from = middle}, true);
    check(&(struct timeline_filter){.to = 30 * MS}, true);
    check(&(struct timeline_filter){.from = timeline_duration(tl) + 1}, false);
}

static void stands_between_events(void **state) {
    (void)state;
    struct timeline_filter filter = {0};
    struct timeline_cursor *cursor = timeline_cursor_create(tl, &filter);
    uint64_t random = 3;
    for (int i = 0; i < 100; i++) {
        uint64_t t = made_random(&random) % timeline_duration(tl);
        timeline_cursor_seek(cursor, t);
        const struct vmv_event *event = timeline_cursor_next(cursor);
        if (event) assert_true(event->t > t);
        timeline_cursor_seek(cursor, t);
        event = timeline_cursor_previous(cursor);
        if (event) assert_true(event->t <= t);
        uint64_t seq = event ? event->seq : 0;
        if (event) assert_int_equal(timeline_cursor_next(cursor)->seq, seq);
    }
    timeline_cursor_destroy(cursor);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(everything_visible),    cmocka_unit_test(by_type),
        cmocka_unit_test(by_place_and_space),    cmocka_unit_test(by_time),
        cmocka_unit_test(stands_between_events),
    };
    return cmocka_run_group_tests_name("timeline/cursor", tests, set_up, tear_down);
}
