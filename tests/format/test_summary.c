// Summaries against a plain count over the same events, and as bytes.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "random_events.h"
#include "summary.h"

enum { SPACES = 3, BUCKETS = 400 };
#define BUCKET_NS (UINT64_C(1) << VMV_BUCKET_SHIFT)

struct expected { // of one space in one bucket
    bool any;
    uint64_t virtual_bytes, resident;
    uint32_t ticks[VMV_TICK_COUNT], faults;
    bool written[SPACES * NAIVE_PAGES];
};
static struct expected expected[BUCKETS][SPACES + 1];

static void note_written(struct expected *e, const struct vmv_event *event) {
    bool fault = event->type == VMV_EV_FAULT && (event->kind == VMV_FAULT_WRITE || event->access == VMV_ACCESS_WRITE);
    bool run = event->type == VMV_EV_PAGES && (event->page_flags & VMV_PAGEF_WRITTEN);
    uint64_t addr = event->addr & ~(uint64_t)(PAGE - 1), end = addr + (run ? event->len : PAGE);
    for (; (fault || run) && addr < end; addr += PAGE) e->written[naive_index(addr)] = true;
}

static void note(const struct vmv_world *world, const struct vmv_event *event) {
    struct expected *e = &expected[event->t >> VMV_BUCKET_SHIFT][event->space];
    const struct vmv_space *space = vmv_world_space(world, event->space);
    if (event->type == VMV_EV_NONE || event->type == VMV_EV_CONTENT) return;
    e->any = true;
    e->virtual_bytes = space->virtual_bytes;
    e->resident = space->resident_pages;
    e->faults += event->type == VMV_EV_FAULT;
    if (vmv_event_tick(event->type) < VMV_TICK_COUNT) e->ticks[vmv_event_tick(event->type)]++;
    note_written(e, event);
}

static void check_bucket(const struct vmv_bucket *bucket) {
    const struct expected *e = &expected[bucket->index][bucket->space];
    uint64_t written = 0, faults = 0, in_regions = 0, end = 0;
    assert_true(e->any);
    for (int i = 0; i < NAIVE_PAGES; i++) written += e->written[i];
    for (int kind = 0; kind < VMV_KIND_COUNT; kind++) faults += bucket->faults[kind];
    assert_int_equal(bucket->virtual_bytes, e->virtual_bytes);
    assert_int_equal(bucket->resident, e->resident);
    assert_int_equal(bucket->written, written);
    assert_int_equal(faults, e->faults);
    assert_memory_equal(bucket->ticks, e->ticks, sizeof e->ticks);
    for (size_t i = 0; i < bucket->region_count; i++) {
        const struct vmv_bucket_region *region = &bucket->regions[i];
        assert_true(region->start >= end && region->end > region->start);
        assert_true(region->resident <= (region->end - region->start) / PAGE);
        assert_true(region->written <= (region->end - region->start) / PAGE);
        in_regions += region->written;
        end = region->end;
    }
    assert_true(in_regions <= written); // what was unmapped since is in none
}

static size_t check_summary(struct vmv_summary_builder *builder, uint64_t *index, uint32_t *space) {
    struct vmv_out out = {0};
    struct vmv_arena arena = {0};
    struct vmv_summary summary;
    size_t estimate = vmv_summary_builder_size(builder);
    vmv_summary_builder_flush(builder, &out);
    assert_true(estimate * 4 + 4096 > out.length);
    struct vmv_in in = {.data = out.data, .length = out.length};
    assert_true(vmv_summary_decode(&in, &arena, &summary));
    assert_int_equal(vmv_in_left(&in), 0);
    for (size_t i = 0; i < summary.bucket_count; i++) {
        const struct vmv_bucket *bucket = &summary.buckets[i];
        assert_true(bucket->index > *index || (bucket->index == *index && bucket->space > *space));
        *index = bucket->index;
        *space = bucket->space;
        check_bucket(bucket);
    }
    size_t count = summary.bucket_count;
    vmv_arena_free(&arena);
    vmv_out_free(&out);
    return count;
}

static size_t expected_buckets(void) {
    size_t count = 0;
    for (int i = 0; i < BUCKETS; i++)
        for (int space = 1; space <= SPACES; space++) count += expected[i][space].any;
    return count;
}

static void give(struct vmv_world *world, struct vmv_summary_builder *builder, const struct vmv_event *event) {
    vmv_summary_builder_before(builder, world, event);
    vmv_world_apply(world, event);
    vmv_summary_builder_add(builder, world, event);
}

static void test_against_counting(void **state) {
    (void)state;
    struct dice dice = {31};
    struct random_maps maps;
    static struct naive nothing;
    struct vmv_world *world = vmv_world_create(PAGE);
    struct vmv_summary_builder *builder = vmv_summary_builder_create();
    uint64_t t = 0, index = 0, brk = area_base[0], last = 0;
    uint32_t space = 0;
    size_t seen = 0;
    memset(expected, 0, sizeof expected);
    for (uint32_t id = 1; id <= SPACES; id++) {
        struct vmv_event event = {.type = VMV_EV_SPACE, .space = id, .pid = (int32_t)id, .tid = (int32_t)id};
        give(world, builder, &event);
        note(world, &event);
    }
    for (int i = 0; i < 20000; i++) {
        t += roll(&dice, 100) ? roll(&dice, 100000) : roll(&dice, 50000000);
        if (t >> VMV_BUCKET_SHIFT >= BUCKETS - 1) break;
        struct vmv_event event = random_event(&dice, t, &maps, &nothing, &brk);
        event.space = 1 + roll(&dice, SPACES);
        // Holes reach all spaces but are one event of one.
        if (event.type == VMV_EV_PUNCH || event.type == VMV_EV_TRUNCATE || event.prot == 9) continue;
        if (t >> VMV_BUCKET_SHIFT != last >> VMV_BUCKET_SHIFT && !roll(&dice, 20)) {
            struct vmv_event mark = {.type = VMV_EV_MARK, .t = t, .name = "flush"};
            give(world, builder, &mark);
            seen += check_summary(builder, &index, &space);
        }
        last = t;
        give(world, builder, &event);
        note(world, &event);
    }
    seen += check_summary(builder, &index, &space);
    assert_int_equal(seen, expected_buckets());
    assert_true(seen > 100);
    vmv_summary_builder_destroy(builder);
    vmv_world_destroy(world);
}

static struct vmv_summary decoded(struct vmv_summary_builder *builder, struct vmv_arena *arena, struct vmv_out *out) {
    struct vmv_summary summary;
    vmv_summary_builder_flush(builder, out);
    struct vmv_in in = {.data = out->data, .length = out->length};
    assert_true(vmv_summary_decode(&in, arena, &summary));
    return summary;
}

static void test_thread_time_is_spread(void **state) {
    (void)state;
    struct vmv_world *world = vmv_world_create(PAGE);
    struct vmv_summary_builder *builder = vmv_summary_builder_create();
    struct vmv_arena arena = {0};
    struct vmv_out out = {0};
    struct vmv_event space = {.type = VMV_EV_SPACE, .space = 1, .pid = 5, .tid = 5};
    give(world, builder, &space);
    struct vmv_event thread = {.type = VMV_EV_THREAD,
                               .t = 10 * BUCKET_NS,
                               .space = 1,
                               .pid = 5,
                               .tid = 5,
                               .state = 1,
                               .run_ns = 5 * BUCKET_NS};
    give(world, builder, &thread);
    thread.t = 30 * BUCKET_NS; // all but asleep
    thread.run_ns = 20000;
    give(world, builder, &thread);
    struct vmv_summary summary = decoded(builder, &arena, &out);
    uint64_t total = 0;
    unsigned with_time = 0;
    for (size_t i = 0; i < summary.bucket_count; i++)
        for (size_t j = 0; j < summary.buckets[i].thread_count; j++) {
            total += summary.buckets[i].threads[j].run_us;
            with_time++;
            if (summary.buckets[i].index < 10)
                assert_in_range(summary.buckets[i].threads[j].run_us, BUCKET_NS / 2100, BUCKET_NS / 1900);
        }
    assert_in_range(total, 5 * BUCKET_NS / 1000 - 2, 5 * BUCKET_NS / 1000 + 21);
    assert_int_equal(with_time, 11); // ten, and one for the time asleep
    vmv_arena_free(&arena);
    vmv_out_free(&out);
    vmv_summary_builder_destroy(builder);
    vmv_world_destroy(world);
}

static void test_landmarks_and_kinds(void **state) {
    (void)state;
    struct vmv_world *world = vmv_world_create(PAGE);
    struct vmv_summary_builder *builder = vmv_summary_builder_create();
    struct vmv_arena arena = {0};
    struct vmv_out out = {0};
    const char *argv[] = {"x", "y"};
    struct vmv_event events[] = {
        {.type = VMV_EV_SPACE, .space = 1, .pid = 5, .tid = 5, .name = "/bin/p"},
        {.type = VMV_EV_MMAP,
         .t = 1,
         .space = 1,
         .ret = 0x10000,
         .len = 4 * PAGE,
         .prot = 5,
         .flags = 2,
         .inode = 3,
         .name = "/lib/l.so"},
        {.type = VMV_EV_MMAP, .t = 2, .space = 1, .ret = 0x20000, .len = 4 * PAGE, .prot = 3, .flags = 0x22},
        {.type = VMV_EV_FAULT, .t = 3, .space = 1, .addr = 0x21000, .kind = 1, .access = VMV_ACCESS_WRITE},
        {.type = VMV_EV_PAGES,
         .t = 4,
         .space = 1,
         .addr = 0x21000,
         .len = 2 * PAGE,
         .state = VMV_PAGE_RESIDENT,
         .page_flags = VMV_PAGEF_WRITTEN},
        {.type = VMV_EV_MUNMAP, .t = 5, .space = 1, .addr = 0x10000, .len = PAGE},
        {.type = VMV_EV_MARK, .t = 6, .space = 1, .name = "here"},
        {.type = VMV_EV_SIGNAL, .t = 7, .space = 1, .number = 11},
        {.type = VMV_EV_EXEC,
         .t = BUCKET_NS + 8,
         .space = 2,
         .child_space = 1,
         .pid = 5,
         .tid = 5,
         .name = "/bin/q",
         .argv = argv,
         .argc = 2},
    };
    for (int i = 0; i < 9; i++) give(world, builder, &events[i]);
    struct vmv_summary summary = decoded(builder, &arena, &out);
    assert_int_equal(summary.bucket_count, 3);
    const struct vmv_bucket *bucket = &summary.buckets[0];
    assert_int_equal(bucket->tick_kinds[VMV_TICK_MMAP], 1 << VMV_KIND_LIBRARY | 1 << VMV_KIND_ANONYMOUS);
    assert_int_equal(bucket->tick_kinds[VMV_TICK_MUNMAP], 1 << VMV_KIND_LIBRARY);
    assert_int_equal(bucket->ticks[VMV_TICK_PROCESS], 1);
    assert_int_equal(bucket->faults[VMV_KIND_ANONYMOUS], 1);
    assert_int_equal(bucket->written, 2); // the page of the fault counts once
    assert_int_equal(bucket->resident, 2);
    assert_int_equal(bucket->region_count, 2);
    assert_int_equal(bucket->regions[0].start, 0x11000);
    assert_int_equal(bucket->regions[1].resident, 2);
    assert_int_equal(bucket->regions[1].written, 2);
    assert_int_equal(summary.buckets[1].space, 1); // left
    assert_int_equal(summary.buckets[1].virtual_bytes, 0);
    assert_int_equal(summary.buckets[2].space, 2);
    assert_int_equal(summary.landmark_count, 4);
    assert_string_equal(summary.landmarks[1].name, "here");
    assert_int_equal(summary.landmarks[2].number, 11);
    assert_int_equal(summary.landmarks[3].argc, 0);
    assert_string_equal(summary.landmarks[3].name, "/bin/q");
    vmv_arena_free(&arena);
    vmv_out_free(&out);
    vmv_summary_builder_destroy(builder);
    vmv_world_destroy(world);
}

// What cannot be must not cost more than its bytes are worth.
static void test_hostile_events_are_cheap(void **state) {
    (void)state;
    struct vmv_world *world = vmv_world_create(PAGE);
    struct vmv_summary_builder *builder = vmv_summary_builder_create();
    struct vmv_out out = {0};
    struct vmv_event space = {.type = VMV_EV_SPACE, .space = 1, .pid = 5, .tid = 5};
    give(world, builder, &space);
    vmv_world_limit_pages(world, 1 << 20);
    struct vmv_event thread = {
        .type = VMV_EV_THREAD, .t = UINT64_MAX, .space = 1, .pid = 5, .tid = 5, .run_ns = UINT64_MAX};
    give(world, builder, &thread);
    for (int i = 0; i < 100; i++) {
        struct vmv_event run = {.type = VMV_EV_PAGES,
                                .t = UINT64_MAX,
                                .space = 1,
                                .len = UINT64_MAX,
                                .state = 1,
                                .page_flags = VMV_PAGEF_WRITTEN};
        give(world, builder, &run);
        run.space = 1000 + (uint32_t)i; // no such
        give(world, builder, &run);
    }
    vmv_summary_builder_flush(builder, &out);
    assert_true(out.length < 1 << 16);
    vmv_out_free(&out);
    vmv_summary_builder_destroy(builder);
    vmv_world_destroy(world);
}

static void decode_bytes(const uint8_t *data, size_t length) {
    uint8_t *exact = malloc(length ? length : 1);
    if (length) memcpy(exact, data, length);
    struct vmv_in in = {.data = exact, .length = length};
    struct vmv_arena arena = {0};
    struct vmv_summary summary;
    vmv_summary_decode(&in, &arena, &summary);
    assert_true(arena.total < 200 * length + (1 << 20));
    vmv_arena_free(&arena);
    free(exact);
}

static void test_hostile_bytes(void **state) {
    (void)state;
    struct dice dice = {17};
    struct random_maps maps;
    static struct naive nothing;
    struct vmv_world *world = vmv_world_create(PAGE);
    struct vmv_summary_builder *builder = vmv_summary_builder_create();
    uint64_t brk = area_base[0];
    struct vmv_event space = {.type = VMV_EV_SPACE, .space = 1, .pid = 5, .tid = 5};
    give(world, builder, &space);
    for (int i = 0; i < 500; i++) {
        struct vmv_event event = random_event(&dice, (uint64_t)i * 1000000, &maps, &nothing, &brk);
        if (i % 10 == 0)
            event = (struct vmv_event){.type = VMV_EV_FRAME, .t = event.t, .space = 1, .frame = (uint64_t)i};
        give(world, builder, &event);
    }
    struct vmv_out out = {0};
    vmv_summary_builder_flush(builder, &out);
    for (size_t cut = 0; cut < out.length; cut += 1 + out.length / 500) decode_bytes(out.data, cut);
    for (int i = 0; i < 3000; i++) {
        uint8_t *at = &out.data[roll(&dice, (uint32_t)out.length)], before = *at;
        *at = (uint8_t)roll(&dice, 256);
        decode_bytes(out.data, out.length);
        if (i % 4) *at = before;
    }
    uint8_t bytes[300];
    for (int i = 0; i < 10000; i++) {
        for (size_t j = 0; j < sizeof bytes; j++) bytes[j] = (uint8_t)roll(&dice, roll(&dice, 2) ? 256 : 6);
        bytes[0] = 1;
        decode_bytes(bytes, roll(&dice, sizeof bytes));
    }
    vmv_out_free(&out);
    vmv_summary_builder_destroy(builder);
    vmv_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_counting),    cmocka_unit_test(test_thread_time_is_spread),
        cmocka_unit_test(test_landmarks_and_kinds), cmocka_unit_test(test_hostile_events_are_cheap),
        cmocka_unit_test(test_hostile_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
