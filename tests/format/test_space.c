// The address space against a plain model, page by page, over random events; and the cases that have rules of their
// own.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random_events.h"
#include "summary.h"

// --- comparing

static void compare_page(const struct naive_page *p, const struct vmv_space *space, uint64_t addr) {
    const struct vmv_mapping *map = vmv_space_find(space, addr);
    assert_int_equal(map != NULL, p->mapped);
    if (map) {
        assert_int_equal(map->flags & 15, p->flags & 15);
        assert_int_equal(map->inode, p->inode);
        assert_int_equal(map->dev_minor, p->dev_minor);
        assert_string_equal(map->name, p->name);
        if (naive_file(p)) {
            assert_int_equal(map->object, p->object);
            assert_int_equal(map->offset + (addr - map->start), p->offset);
        }
    }
    const struct vmv_page *page = vmv_space_page_peek(space, addr);
    assert_int_equal(page != NULL, naive_known(&p->page));
    if (page) assert_memory_equal(page, &p->page, sizeof *page);
}

static void compare_walk(const struct naive *naive, const struct vmv_space *space, unsigned area) {
    uint64_t addr = area_base[area], end = addr + AREA_PAGES * PAGE;
    for (unsigned i = area * AREA_PAGES; i < (area + 1) * AREA_PAGES; i++) {
        if (!naive_known(&naive->pages[i].page)) continue;
        const struct vmv_page *page = vmv_space_page_next(space, &addr, end);
        assert_non_null(page);
        assert_int_equal(addr, naive_addr(i));
        addr += PAGE;
    }
    assert_null(vmv_space_page_next(space, &addr, end));
}

static void compare_counts(const struct naive *naive, const struct vmv_space *space) {
    uint64_t bytes = 0, resident = 0, swapped = 0, known = 0;
    for (int i = 0; i < NAIVE_PAGES; i++) {
        const struct naive_page *p = &naive->pages[i];
        bytes += p->mapped ? PAGE : 0;
        resident += p->page.state == VMV_PAGE_RESIDENT;
        swapped += p->page.state == VMV_PAGE_SWAPPED;
        known += naive_known(&p->page);
    }
    struct vmv_space_counts counts = vmv_space_count(space, 0, UINT64_MAX);
    assert_int_equal(space->virtual_bytes, bytes);
    assert_int_equal(space->resident_pages, resident);
    assert_int_equal(space->swapped_pages, swapped);
    assert_int_equal(counts.resident, resident);
    assert_int_equal(counts.known, known);
}

static void compare(const struct naive *naive, const struct vmv_space *space) {
    for (size_t i = 0; i < space->map_count; i++) {
        const struct vmv_mapping *map = &space->maps[i];
        assert_true(map->start < map->end);
        if (i + 1 < space->map_count) assert_true(map->end <= map[1].start);
        if (i + 1 < space->map_count) assert_false(vmv_mapping_continues(map, map + 1));
    }
    for (unsigned i = 0; i < NAIVE_PAGES; i++) compare_page(&naive->pages[i], space, naive_addr(i));
    for (unsigned area = 0; area < AREAS; area++) compare_walk(naive, space, area);
    compare_counts(naive, space);
}

static void run_random(uint64_t seed, unsigned steps) {
    struct dice dice = {seed * 0x9e3779b97f4a7c15 + 1};
    struct vmv_space *space = vmv_space_create(1, 100, PAGE);
    struct naive naive = {0};
    struct random_maps maps;
    uint64_t brk = area_base[0];
    for (unsigned i = 0; i < steps; i++) {
        struct vmv_event event = random_event(&dice, i + 1, &maps, &naive, &brk);
        vmv_space_apply(space, &event);
        naive_apply(&naive, &event);
        compare(&naive, space);
        if (i % 50 != 49) continue;
        struct vmv_space *child = vmv_space_copy(space, 1, 101); // both go on; here the child is followed
        naive_fork(&naive, child->maps, child->map_count);
        if (roll(&dice, 2)) compare(&naive, child);
        vmv_space_destroy(space);
        space = child;
    }
    vmv_space_destroy(space);
}

static void test_random(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) run_random(seed, 400);
}

// A child and its parent go separate ways without disturbing each other.
static void test_copies_are_apart(void **state) {
    (void)state;
    enum { FAMILY = 6 };
    static struct naive naive[FAMILY];
    struct vmv_space *spaces[FAMILY];
    struct random_maps maps;
    struct dice dice = {12345};
    memset(naive, 0, sizeof naive);
    uint64_t brk[FAMILY];
    for (int i = 0; i < FAMILY; i++) brk[i] = area_base[0], spaces[i] = vmv_space_create(1, 100, PAGE);
    for (unsigned step = 1; step < 8000; step++) {
        unsigned i = roll(&dice, FAMILY), from = roll(&dice, FAMILY);
        struct vmv_event event = random_event(&dice, step, &maps, &naive[i], &brk[i]);
        vmv_space_apply(spaces[i], &event);
        naive_apply(&naive[i], &event);
        if (step % 20 == 0 && from != i) {
            vmv_space_destroy(spaces[i]);
            spaces[i] = vmv_space_copy(spaces[from], 1, 100);
            naive[i] = naive[from];
            naive_fork(&naive[i], spaces[i]->maps, spaces[i]->map_count);
            brk[i] = brk[from];
        }
        if (step % 10 == 0)
            for (int j = 0; j < FAMILY; j++) compare(&naive[j], spaces[j]);
    }
    for (int i = 0; i < FAMILY; i++) vmv_space_destroy(spaces[i]);
}

// --- one rule at a time

static struct vmv_space *fresh(void) { return vmv_space_create(1, 100, PAGE); }

static void apply(struct vmv_space *space, struct vmv_event event) {
    event.space = 1;
    vmv_space_apply(space, &event);
}

static void map_at(struct vmv_space *space, uint64_t at, uint64_t len, uint32_t prot, uint32_t flags) {
    apply(space, (struct vmv_event){.type = VMV_EV_MMAP, .ret = (int64_t)at, .len = len, .prot = prot, .flags = flags});
}

static void fault_at(struct vmv_space *space, uint64_t addr, uint8_t kind) {
    apply(space, (struct vmv_event){.type = VMV_EV_FAULT, .t = 5, .addr = addr, .kind = kind});
}

static const uint64_t STACK = 0x7ffc00000000;

static struct vmv_space *with_stack(void) {
    struct vmv_space *space = fresh();
    struct vmv_mapping stack = {.start = STACK, .end = STACK + 32 * PAGE, .flags = 3, .name = "[stack]"};
    apply(space, (struct vmv_event){.type = VMV_EV_MAPS, .len = UINT64_MAX, .maps = &stack, .map_count = 1});
    return space;
}

static void test_stack_grows_to_the_faulting_page(void **state) {
    (void)state;
    struct vmv_space *space = with_stack();
    fault_at(space, STACK - 5 * PAGE + 8, VMV_FAULT_FIRST_TOUCH);
    assert_int_equal(space->map_count, 1);
    assert_int_equal(space->maps[0].start, STACK - 5 * PAGE);
    assert_int_equal(vmv_space_page_peek(space, STACK - 5 * PAGE)->state, VMV_PAGE_RESIDENT);
    assert_null(vmv_space_page_peek(space, STACK - 4 * PAGE));
    vmv_space_destroy(space);
}

static void test_stack_keeps_the_guard_gap(void **state) {
    (void)state;
    struct vmv_space *space = with_stack();
    map_at(space, STACK - 300 * PAGE, 10 * PAGE, 3, 0x22);
    fault_at(space, STACK - 40 * PAGE, VMV_FAULT_FIRST_TOUCH); // 250 pages above the mapping: too near
    assert_int_equal(space->maps[1].start, STACK);
    fault_at(space, STACK - 34 * PAGE, VMV_FAULT_FIRST_TOUCH); // 256 pages
    assert_int_equal(space->maps[1].start, STACK - 34 * PAGE);
    // What no one may touch needs no gap.
    apply(space, (struct vmv_event){.type = VMV_EV_MPROTECT, .addr = STACK - 300 * PAGE, .len = 10 * PAGE, .prot = 0});
    fault_at(space, STACK - 289 * PAGE, VMV_FAULT_FIRST_TOUCH);
    assert_int_equal(space->maps[1].start, STACK - 289 * PAGE);
    vmv_space_destroy(space);
}

static void test_unsure_faults_respect_the_usual_limit(void **state) {
    (void)state;
    struct vmv_space *space = with_stack();
    fault_at(space, STACK - (16 << 20), VMV_FAULT_UNKNOWN);
    assert_int_equal(space->maps[0].start, STACK);
    fault_at(space, STACK - (4 << 20), VMV_FAULT_UNKNOWN);
    assert_int_equal(space->maps[0].start, STACK - (4 << 20));
    vmv_space_destroy(space);
}

static void test_stack_name_follows_protection(void **state) {
    (void)state;
    struct vmv_space *space = with_stack();
    struct vmv_event protect = {.type = VMV_EV_MPROTECT, .addr = STACK + 4 * PAGE, .len = PAGE, .prot = 0};
    apply(space, protect);
    assert_int_equal(space->map_count, 3);
    assert_string_equal(space->maps[0].name, "");
    assert_string_equal(space->maps[1].name, "");
    assert_string_equal(space->maps[2].name, "[stack]");
    protect.prot = 3;
    apply(space, protect);
    assert_int_equal(space->map_count, 1);
    assert_string_equal(space->maps[0].name, "[stack]");
    vmv_space_destroy(space);
}

static void test_huge_fault_covers_its_pages(void **state) {
    (void)state;
    struct vmv_space *space = fresh();
    map_at(space, 0x40000000, 4 << 20, 3, 0x22);
    apply(space, (struct vmv_event){.type = VMV_EV_FAULT,
                                    .t = 7,
                                    .addr = 0x40000000 + 0x212345,
                                    .len = 2 << 20,
                                    .page_flags = VMV_PAGEF_HUGE,
                                    .kind = VMV_FAULT_FIRST_TOUCH,
                                    .access = VMV_ACCESS_WRITE});
    assert_int_equal(space->resident_pages, 512);
    assert_null(vmv_space_page_peek(space, 0x40000000));
    assert_int_equal(vmv_space_page_peek(space, 0x403ff000)->flags, VMV_PAGEF_HUGE | VMV_PAGEF_WRITTEN);
    size_t before = vmv_space_memory(space);
    assert_true(before < 16384); // one leaf that stands for all
    fault_at(space, 0x40200000, VMV_FAULT_WRITE);
    assert_int_equal(vmv_space_page_peek(space, 0x40200000)->written, 5);
    assert_int_equal(vmv_space_page_peek(space, 0x40201000)->written, 7);
    vmv_space_destroy(space);
}

static void test_failed_calls_change_nothing(void **state) {
    (void)state;
    struct vmv_space *space = fresh();
    map_at(space, 0x10000, 8 * PAGE, 3, 0x22);
    uint64_t changes = space->changes;
    for (int type = VMV_EV_MMAP; type <= VMV_EV_SETNAME; type++)
        apply(space, (struct vmv_event){.type = (enum vmv_event_type)type,
                                        .addr = 0x10000,
                                        .len = 2 * PAGE,
                                        .old_addr = 0x10000,
                                        .old_len = PAGE,
                                        .ret = -22,
                                        .prot = 4,
                                        .name = "x"});
    assert_int_equal(space->changes, changes);
    assert_int_equal(space->virtual_bytes, 8 * PAGE);
    vmv_space_destroy(space);
}

static void test_hugetlb_rounds_up(void **state) {
    (void)state;
    struct vmv_space *space = fresh();
    map_at(space, 0x40000000, 1, 3, 0x40022);
    assert_int_equal(space->virtual_bytes, 2 << 20);
    map_at(space, 0x80000000, 1, 3, 0x40022 | 30u << 26);
    assert_int_equal(space->virtual_bytes, (2 << 20) + (1 << 30));
    vmv_space_destroy(space);
}

static void test_mappings_reach_the_top(void **state) {
    (void)state;
    struct vmv_space *space = fresh();
    struct vmv_mapping maps[] = {
        {.start = 0x1000, .end = 0x2000, .flags = 1, .name = ""},
        {.start = 0xffffffffff600000, .end = 0xffffffffff601000, .flags = 4, .name = "[vsyscall]"}};
    apply(space, (struct vmv_event){.type = VMV_EV_MAPS, .len = UINT64_MAX, .maps = maps, .map_count = 2});
    assert_int_equal(space->map_count, 2);
    assert_int_equal(space->maps[1].start, 0xffffffffff600000);
    assert_int_equal(vmv_mapping_kind(space, &space->maps[1]), VMV_KIND_KERNEL);
    map_at(space, 0x1000, UINT64_MAX, 3, 0x22); // cannot be: clipped
    assert_int_equal(space->map_count, 1);
    assert_int_equal(space->maps[0].end, 0 - (uint64_t)PAGE);
    vmv_space_destroy(space);
}

static void test_kinds(void **state) {
    (void)state;
    struct vmv_space *space = fresh();
    struct vmv_mapping maps[] = {
        {.start = 0x1000, .end = 0x2000, .flags = 1 | VMV_MAP_PROGRAM, .inode = 1, .name = "/bin/p"},
        {.start = 0x2000, .end = 0x3000, .flags = 3, .name = "[heap]"},
        {.start = 0x3000, .end = 0x4000, .flags = 1, .inode = 2, .name = "/lib/l.so"},
        {.start = 0x4000, .end = 0x5000, .flags = 5, .inode = 2, .offset = 0x1000, .name = "/lib/l.so"},
        {.start = 0x5000, .end = 0x6000, .flags = 1, .inode = 3, .name = "/data"},
        {.start = 0x6000, .end = 0x7000, .flags = 3 | VMV_MAP_STACK, .name = ""},
        {.start = 0x8000, .end = 0x9000, .flags = 3, .name = "[anon:x]"},
        {.start = 0x9000, .end = 0xa000, .flags = 11, .inode = 9, .name = "/dev/zero (deleted)"},
        {.start = 0xa000, .end = 0xb000, .flags = 5, .name = "[vdso]"},
    };
    static const enum vmv_kind kinds[] = {VMV_KIND_PROGRAM,   VMV_KIND_HEAP,      VMV_KIND_LIBRARY,
                                          VMV_KIND_LIBRARY,   VMV_KIND_FILE,      VMV_KIND_STACK,
                                          VMV_KIND_ANONYMOUS, VMV_KIND_ANONYMOUS, VMV_KIND_KERNEL};
    apply(space, (struct vmv_event){.type = VMV_EV_MAPS, .len = UINT64_MAX, .maps = maps, .map_count = 9});
    for (int i = 0; i < 9; i++) assert_int_equal(vmv_mapping_kind(space, &space->maps[i]), kinds[i]);
    apply(space, (struct vmv_event){.type = VMV_EV_MUNMAP, .addr = 0x4000, .len = 0x1000});
    assert_int_equal(vmv_mapping_kind(space, &space->maps[2]), VMV_KIND_FILE); // its code is gone
    vmv_space_destroy(space);
}

static void test_hostile_runs_stay_small(void **state) {
    (void)state;
    struct vmv_space *space = fresh();
    apply(space, (struct vmv_event){.type = VMV_EV_PAGES, .addr = 0, .len = UINT64_MAX, .state = VMV_PAGE_ABSENT});
    apply(space, (struct vmv_event){.type = VMV_EV_PAGES, .addr = 1 << 30, .len = 1 << 30, .state = VMV_PAGE_RESIDENT});
    assert_int_equal(space->resident_pages, 1 << 18);
    assert_true(vmv_space_memory(space) < 1 << 17);
    apply(space, (struct vmv_event){.type = VMV_EV_MUNMAP, .addr = 0, .len = UINT64_MAX}); // at once
    assert_int_equal(space->resident_pages, 0);
    vmv_space_destroy(space);
}

static void test_split_and_join(void **state) {
    (void)state;
    struct vmv_space *space = fresh();
    apply(space, (struct vmv_event){.type = VMV_EV_MMAP,
                                    .ret = 0x10000,
                                    .len = 10 * PAGE,
                                    .prot = 3,
                                    .flags = 2,
                                    .inode = 4,
                                    .offset = 2 * PAGE,
                                    .name = "/f"});
    struct vmv_event protect = {.type = VMV_EV_MPROTECT, .addr = 0x10000 + 3 * PAGE, .len = 2 * PAGE, .prot = 1};
    apply(space, protect);
    assert_int_equal(space->map_count, 3);
    assert_int_equal(space->maps[2].offset, 7 * PAGE);
    protect.prot = 3;
    apply(space, protect);
    assert_int_equal(space->map_count, 1);
    assert_int_equal(space->maps[0].offset, 2 * PAGE);
    vmv_space_destroy(space);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_split_and_join),
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_copies_are_apart),
        cmocka_unit_test(test_stack_grows_to_the_faulting_page),
        cmocka_unit_test(test_stack_keeps_the_guard_gap),
        cmocka_unit_test(test_unsure_faults_respect_the_usual_limit),
        cmocka_unit_test(test_stack_name_follows_protection),
        cmocka_unit_test(test_huge_fault_covers_its_pages),
        cmocka_unit_test(test_failed_calls_change_nothing),
        cmocka_unit_test(test_hugetlb_rounds_up),
        cmocka_unit_test(test_mappings_reach_the_top),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_hostile_runs_stay_small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
