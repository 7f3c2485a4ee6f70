// Worlds: processes, threads and spaces over events; states as bytes; replay from a state equals replay from the start.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec.h"
#include "random_events.h"

// --- comparing two worlds

static void same_pages(const struct vmv_space *a, const struct vmv_space *b) {
    uint64_t x = 0, y = 0;
    for (;; x += a->page_size, y += b->page_size) {
        const struct vmv_page *p = vmv_space_page_next(a, &x, UINT64_MAX), *q = vmv_space_page_next(b, &y, UINT64_MAX);
        assert_int_equal(p != NULL, q != NULL);
        if (!p) return;
        assert_int_equal(x, y);
        assert_memory_equal(p, q, sizeof *p);
    }
}

static void same_space(const struct vmv_space *a, const struct vmv_space *b) {
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->pid, b->pid);
    assert_int_equal(a->brk, b->brk);
    assert_int_equal(a->changes, b->changes);
    assert_int_equal(a->users, b->users);
    assert_int_equal(a->last_frame, b->last_frame);
    assert_int_equal(a->last_frame_t, b->last_frame_t);
    assert_int_equal(a->copied_from, b->copied_from);
    assert_int_equal(a->virtual_bytes, b->virtual_bytes);
    assert_int_equal(a->resident_pages, b->resident_pages);
    assert_int_equal(a->swapped_pages, b->swapped_pages);
    assert_int_equal(a->map_count, b->map_count);
    for (size_t i = 0; i < a->map_count; i++) {
        struct vmv_mapping m = a->maps[i], n = b->maps[i];
        assert_string_equal(m.name, n.name);
        m.name = n.name = NULL;
        assert_memory_equal(&m, &n, sizeof m);
    }
    same_pages(a, b);
}

static void same_thread(const struct vmv_thread *a, const struct vmv_thread *b) {
    assert_int_equal(a->pid, b->pid);
    assert_int_equal(a->tid, b->tid);
    assert_int_equal(a->space, b->space);
    assert_int_equal(a->state, b->state);
    assert_int_equal(a->certainty, b->certainty);
    assert_int_equal(a->syscall, b->syscall);
    assert_int_equal(a->pc, b->pc);
    assert_int_equal(a->sp, b->sp);
    assert_int_equal(a->fp, b->fp);
    assert_int_equal(a->regs, b->regs);
    assert_int_equal(a->captured, b->captured);
    assert_int_equal(a->started, b->started);
    assert_int_equal(a->ended, b->ended);
    assert_int_equal(a->run_ns, b->run_ns);
    assert_int_equal(a->exit_code, b->exit_code);
    assert_string_equal(a->name, b->name);
}

static void same_process(const struct vmv_process *a, const struct vmv_process *b) {
    assert_int_equal(a->pid, b->pid);
    assert_int_equal(a->parent, b->parent);
    assert_int_equal(a->space, b->space);
    assert_int_equal(a->last_space, b->last_space);
    assert_int_equal(a->started, b->started);
    assert_int_equal(a->ended, b->ended);
    assert_int_equal(a->killed, b->killed);
    assert_int_equal(a->exit_code, b->exit_code);
    assert_string_equal(a->path, b->path);
}

static void same_world(const struct vmv_world *a, const struct vmv_world *b) {
    assert_int_equal(a->t, b->t);
    assert_int_equal(a->seq, b->seq);
    assert_int_equal(a->frames, b->frames);
    assert_memory_equal(a->events, b->events, sizeof a->events);
    assert_int_equal(a->space_count, b->space_count);
    for (size_t i = 0; i < a->space_count; i++) same_space(a->spaces[i], b->spaces[i]);
    assert_int_equal(a->thread_count, b->thread_count);
    for (size_t i = 0; i < a->thread_count; i++) same_thread(&a->threads[i], &b->threads[i]);
    assert_int_equal(a->process_count, b->process_count);
    for (size_t i = 0; i < a->process_count; i++) same_process(&a->processes[i], &b->processes[i]);
}

static struct vmv_world *through_bytes(const struct vmv_world *world, size_t *length) {
    struct vmv_out out = {0};
    vmv_world_encode(&out, world);
    struct vmv_in in = {.data = out.data, .length = out.length};
    struct vmv_world *copy = vmv_world_decode(&in, 256 << 20);
    assert_non_null(copy);
    assert_int_equal(vmv_in_left(&in), 0);
    if (length) *length = out.length;
    vmv_out_free(&out);
    return copy;
}

// --- random lives of a family of processes

struct life {
    struct dice dice;
    uint64_t t;
    uint32_t spaces;
    int32_t tids;
    struct random_maps maps;
    struct naive nothing;
};

static const struct vmv_process *random_process(struct life *life, const struct vmv_world *world) {
    for (int i = 0; i < 50; i++) {
        const struct vmv_process *process = &world->processes[roll(&life->dice, (uint32_t)world->process_count)];
        if (!process->ended) return process;
    }
    return NULL;
}

static struct vmv_event process_event(struct life *life, const struct vmv_process *process) {
    struct vmv_event e = {.t = life->t, .space = process->space, .pid = process->pid, .tid = process->pid};
    switch (roll(&life->dice, 8)) {
    case 0:
        e.type = VMV_EV_FORK;
        e.child = ++life->tids;
        e.flag = !roll(&life->dice, 4);
        e.child_space = e.flag ? e.space : ++life->spaces;
        break;
    case 1:
        if (roll(&life->dice, 3)) break;
        e.type = VMV_EV_EXEC;
        e.child_space = e.space;
        e.space = ++life->spaces;
        e.name = "/bin/other";
        break;
    case 2:
        if (roll(&life->dice, 3) || process->pid == 100) break;
        e.type = VMV_EV_EXIT;
        e.code = 3;
        break;
    case 3:
        e.type = VMV_EV_THREAD_START;
        e.tid = ++life->tids;
        break;
    case 4:
        e.type = VMV_EV_THREAD_EXIT;
        e.tid = life->tids - (int32_t)roll(&life->dice, 5);
        e.code = 1;
        break;
    case 5:
        e.type = VMV_EV_FRAME;
        e.frame = life->t;
        break;
    default:
        e.type = VMV_EV_THREAD;
        e.state = (uint8_t)(1 + roll(&life->dice, 3));
        e.pc = 0x401000 + roll(&life->dice, 100);
        e.syscall = -1;
        e.run_ns = 1000;
        e.certainty = 1;
        e.name = roll(&life->dice, 2) ? "worker" : NULL;
    }
    return e;
}

static struct vmv_event life_event(struct life *life, const struct vmv_world *world) {
    life->t += roll(&life->dice, 4) ? 1000 : roll(&life->dice, 100000000);
    if (!world->process_count)
        return (struct vmv_event){.type = VMV_EV_SPACE,
                                  .t = life->t,
                                  .space = life->spaces = 1,
                                  .pid = 100,
                                  .tid = life->tids = 100,
                                  .name = "/bin/first"};
    const struct vmv_process *process = random_process(life, world);
    if (!process) return (struct vmv_event){.type = VMV_EV_MARK, .t = life->t, .name = "alone"};
    if (!roll(&life->dice, 10)) return process_event(life, process);
    uint64_t brk = area_base[0] + roll(&life->dice, AREA_PAGES * PAGE);
    struct vmv_event e = random_event(&life->dice, life->t, &life->maps, &life->nothing, &brk);
    e.space = process->space;
    e.pid = e.tid = process->pid;
    return e;
}

static void live(uint64_t seed, unsigned steps) {
    struct life *life = calloc(1, sizeof *life);
    life->dice.state = seed * 0x9e3779b97f4a7c15 + 7;
    struct vmv_world *world = vmv_world_create(PAGE), *other = NULL, *snapshot = NULL;
    for (unsigned i = 0; i < steps; i++) {
        struct vmv_event event = life_event(life, world);
        event.seq = i;
        vmv_world_apply(world, &event);
        if (other) vmv_world_apply(other, &event);
        if (i % 97 == 96) {
            struct vmv_world *again = through_bytes(world, NULL);
            same_world(world, again);
            if (other) same_world(world, other); // from the state before on
            vmv_world_destroy(other);
            other = again;
            if (snapshot) vmv_world_destroy(snapshot);
            snapshot = vmv_world_copy(world);
            same_world(world, snapshot);
        }
        if (i % 97 == 20 && snapshot) { // its origin went on without it
            struct vmv_world *copy = through_bytes(snapshot, NULL);
            same_world(snapshot, copy);
            vmv_world_destroy(copy);
        }
    }
    vmv_world_destroy(world);
    vmv_world_destroy(other);
    vmv_world_destroy(snapshot);
    free(life);
}

static void test_random_lives(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) live(seed, 1000);
}

// --- hostile states

static void decode(const uint8_t *data, size_t length, size_t limit) {
    uint8_t *exact = malloc(length ? length : 1);
    if (length) memcpy(exact, data, length);
    struct vmv_in in = {.data = exact, .length = length};
    struct vmv_world *world = vmv_world_decode(&in, limit);
    if (world) {
        assert_true(vmv_world_memory(world) <= limit);
        struct vmv_world *again = through_bytes(world, NULL); // whatever was accepted can be written
        same_world(world, again);
        vmv_world_destroy(again);
    } else {
        assert_true(in.bad);
    }
    vmv_world_destroy(world);
    free(exact);
}

static void test_damaged_states(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct life *life = calloc(1, sizeof *life);
        struct dice dice = {seed};
        life->dice.state = seed;
        struct vmv_world *world = vmv_world_create(PAGE);
        for (int i = 0; i < 600; i++) {
            struct vmv_event event = life_event(life, world);
            vmv_world_apply(world, &event);
        }
        struct vmv_out out = {0};
        vmv_world_encode(&out, world);
        for (size_t cut = 0; cut < out.length; cut += 1 + out.length / 150) decode(out.data, cut, 64 << 20);
        for (int i = 0; i < 400; i++) {
            uint8_t *at = &out.data[roll(&dice, (uint32_t)out.length)], before = *at;
            *at = (uint8_t)roll(&dice, 256);
            decode(out.data, out.length, 64 << 20);
            *at = before;
        }
        decode(out.data, out.length, 4096);
        vmv_out_free(&out);
        vmv_world_destroy(world);
        free(life);
    }
}

static void test_random_bytes_are_no_state(void **state) {
    (void)state;
    struct dice dice = {4711};
    uint8_t bytes[400];
    for (int round = 0; round < 20000; round++) {
        size_t length = roll(&dice, sizeof bytes);
        for (size_t i = 0; i < length; i++) bytes[i] = (uint8_t)roll(&dice, roll(&dice, 2) ? 256 : 8);
        static const uint8_t start[] = {1, 0x80, 0x20, 1, 1, 1, 0};
        if (length > sizeof start && roll(&dice, 2)) memcpy(bytes, start, sizeof start);
        decode(bytes, length, 8 << 20);
    }
}

static void test_states_within_their_limit(void **state) {
    (void)state;
    struct vmv_world *world = vmv_world_create(PAGE);
    struct vmv_event events[] = {
        {.type = VMV_EV_SPACE, .space = 1, .pid = 100, .tid = 100},
        {.type = VMV_EV_MMAP, .space = 1, .ret = 1 << 30, .len = 1 << 30, .prot = 3, .flags = 0x22},
        {.type = VMV_EV_CONTENT, .space = 1, .addr = 1 << 30, .len = 1 << 30, .content = 100, .content_step = 1},
    };
    for (int i = 0; i < 3; i++) vmv_world_apply(world, &events[i]);
    struct vmv_out out = {0};
    vmv_world_encode(&out, world);
    assert_true(out.length < 200); // one run
    decode(out.data, out.length, 1 << 20);
    struct vmv_in in = {.data = out.data, .length = out.length};
    assert_null(vmv_world_decode(&in, 1 << 20));
    vmv_out_free(&out);
    vmv_world_destroy(world);
}

// --- one rule at a time

static void test_shared_pages_are_written_once(void **state) {
    (void)state;
    struct vmv_world *world = vmv_world_create(PAGE);
    struct vmv_event events[] = {
        {.type = VMV_EV_SPACE, .space = 1, .pid = 100, .tid = 100},
        {.type = VMV_EV_MMAP, .space = 1, .ret = 1 << 30, .len = 1 << 27, .prot = 3, .flags = 0x22},
    };
    struct dice dice = {8};
    size_t alone, together;
    for (int i = 0; i < 2; i++) vmv_world_apply(world, &events[i]);
    for (uint64_t i = 0; i < 1 << 15; i++) {
        struct vmv_event content = {.type = VMV_EV_CONTENT,
                                    .t = i,
                                    .space = 1,
                                    .addr = (1 << 30) + i * PAGE,
                                    .len = PAGE,
                                    .content = 16 + roll(&dice, 1 << 20),
                                    .certainty = 1};
        vmv_world_apply(world, &content);
    }
    size_t memory = vmv_world_memory(world);
    vmv_world_destroy(through_bytes(world, &alone));
    for (uint32_t child = 2; child < 40; child++) {
        struct vmv_event fork = {.type = VMV_EV_FORK,
                                 .space = 1,
                                 .pid = 100,
                                 .tid = 100,
                                 .child = 100 + (int32_t)child,
                                 .child_space = child};
        vmv_world_apply(world, &fork);
        struct vmv_event fault = {.type = VMV_EV_FAULT, .space = child, .addr = 1 << 30, .kind = VMV_FAULT_WRITE};
        vmv_world_apply(world, &fault);
    }
    assert_true(vmv_world_memory(world) < memory * 3);
    struct vmv_world *copy = through_bytes(world, &together);
    same_world(world, copy);
    assert_true(vmv_world_memory(copy) < memory * 3);
    assert_true(together < alone * 3);
    vmv_world_destroy(copy);
    vmv_world_destroy(world);
}

static void test_process_life(void **state) {
    (void)state;
    struct vmv_world *world = vmv_world_create(PAGE);
    struct vmv_event events[] = {
        {.type = VMV_EV_SPACE, .t = 1, .space = 1, .pid = 100, .tid = 100, .name = "/bin/sh"},
        {.type = VMV_EV_MMAP,
         .t = 2,
         .space = 1,
         .pid = 100,
         .tid = 100,
         .ret = 0x10000,
         .len = PAGE,
         .prot = 3,
         .flags = 0x22},
        {.type = VMV_EV_FAULT,
         .t = 3,
         .space = 1,
         .pid = 100,
         .tid = 100,
         .addr = 0x10000,
         .kind = VMV_FAULT_FIRST_TOUCH},
        {.type = VMV_EV_FORK, .t = 4, .space = 1, .pid = 100, .tid = 100, .child = 101, .child_space = 2},
        {.type = VMV_EV_THREAD_START, .t = 5, .space = 2, .pid = 101, .tid = 102},
        {.type = VMV_EV_EXEC, .t = 6, .space = 3, .child_space = 2, .pid = 101, .tid = 101, .name = "/bin/ls"},
    };
    for (int i = 0; i < 6; i++) vmv_world_apply(world, &events[i]);
    assert_int_equal(vmv_world_space(world, 1)->resident_pages, 1);
    assert_int_equal(vmv_world_space(world, 2)->resident_pages, 0); // no one has it any more
    assert_int_equal(vmv_world_space(world, 2)->map_count, 0);
    assert_int_equal(vmv_world_process(world, 101)->space, 3);
    assert_int_equal(vmv_world_process(world, 101)->parent, 100);
    assert_string_equal(vmv_world_process(world, 101)->path, "/bin/ls");
    assert_int_equal(vmv_world_thread(world, 102)->state, VMV_THREAD_GONE);
    assert_string_equal(vmv_world_thread(world, 101)->name, "ls");
    struct vmv_event end = {.type = VMV_EV_EXIT, .t = 7, .space = 3, .pid = 101, .tid = 101, .code = 9, .flag = true};
    vmv_world_apply(world, &end);
    assert_int_equal(vmv_world_process(world, 101)->space, 0);
    assert_int_equal(vmv_world_process(world, 101)->last_space, 3);
    assert_true(vmv_world_process(world, 101)->killed);
    assert_int_equal(vmv_world_thread(world, 101)->ended, 7);
    struct vmv_event later = {.type = VMV_EV_THREAD_START, .t = 3000000000, .space = 1, .pid = 100, .tid = 103};
    vmv_world_apply(world, &later);
    assert_null(vmv_world_thread(world, 102)); // forgotten
    assert_string_equal(vmv_world_thread(world, 103)->name, "sh");
    assert_int_equal(world->thread_count, 2);
    vmv_world_destroy(world);
}

static void test_vfork_shares_the_space(void **state) {
    (void)state;
    struct vmv_world *world = vmv_world_create(PAGE);
    struct vmv_event events[] = {
        {.type = VMV_EV_SPACE, .space = 1, .pid = 100, .tid = 100},
        {.type = VMV_EV_MMAP, .space = 1, .ret = 0x10000, .len = PAGE, .prot = 3, .flags = 0x22},
        {.type = VMV_EV_FORK, .space = 1, .pid = 100, .tid = 100, .child = 101, .child_space = 1, .flag = true},
        {.type = VMV_EV_EXIT, .space = 1, .pid = 100, .tid = 100},
    };
    for (int i = 0; i < 4; i++) vmv_world_apply(world, &events[i]);
    assert_int_equal(vmv_world_space(world, 1)->map_count, 1); // the child lives in it
    struct vmv_event end = {.type = VMV_EV_EXIT, .space = 1, .pid = 101, .tid = 101};
    vmv_world_apply(world, &end);
    assert_int_equal(vmv_world_space(world, 1)->map_count, 0);
    vmv_world_destroy(world);
}

static void test_holes_reach_every_space(void **state) {
    (void)state;
    struct vmv_world *world = vmv_world_create(PAGE);
    for (uint32_t id = 1; id <= 2; id++) {
        struct vmv_event events[] = {
            {.type = VMV_EV_SPACE, .space = id, .pid = 99 + (int32_t)id, .tid = 99 + (int32_t)id},
            {.type = VMV_EV_MMAP,
             .space = id,
             .ret = 0x10000,
             .len = 4 * PAGE,
             .prot = 3,
             .flags = 1,
             .inode = 5,
             .name = "/shm"},
            {.type = VMV_EV_FAULT, .space = id, .addr = 0x11000, .kind = VMV_FAULT_FIRST_TOUCH},
        };
        for (int i = 0; i < 3; i++) vmv_world_apply(world, &events[i]);
    }
    struct vmv_event remove = {.type = VMV_EV_MADVISE, .t = 9, .space = 1, .addr = 0x11000, .len = PAGE, .prot = 9};
    vmv_world_apply(world, &remove);
    for (uint32_t id = 1; id <= 2; id++) {
        const struct vmv_page *page = vmv_space_page_peek(vmv_world_space(world, id), 0x11000);
        assert_int_equal(page->state, VMV_PAGE_ABSENT);
        assert_int_equal(page->content, VMV_CONTENT_ZERO);
    }
    vmv_world_destroy(world);
}

static void test_page_memory_has_a_limit(void **state) {
    (void)state;
    struct vmv_world *world = vmv_world_create(PAGE);
    struct vmv_event space = {.type = VMV_EV_SPACE, .space = 1, .pid = 100, .tid = 100};
    vmv_world_apply(world, &space);
    vmv_world_limit_pages(world, 4 << 20);
    for (uint64_t i = 0; i < 3000; i++) {
        struct vmv_event page = {
            .type = VMV_EV_PAGES, .space = 1, .addr = i << 21, .len = PAGE, .state = VMV_PAGE_RESIDENT};
        vmv_world_apply(world, &page);
    }
    struct vmv_event all = {.type = VMV_EV_PAGES, .space = 1, .len = UINT64_MAX, .state = VMV_PAGE_RESIDENT};
    vmv_world_apply(world, &all);
    assert_true(vmv_world_memory(world) < 5 << 20);
    struct vmv_space *only = vmv_world_space(world, 1);
    struct vmv_space_counts counts = vmv_space_count(only, 0, UINT64_MAX);
    assert_int_equal(counts.resident, only->resident_pages);
    vmv_world_destroy(world);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_process_life),
        cmocka_unit_test(test_vfork_shares_the_space),
        cmocka_unit_test(test_holes_reach_every_space),
        cmocka_unit_test(test_page_memory_has_a_limit),
        cmocka_unit_test(test_shared_pages_are_written_once),
        cmocka_unit_test(test_states_within_their_limit),
        cmocka_unit_test(test_random_lives),
        cmocka_unit_test(test_damaged_states),
        cmocka_unit_test(test_random_bytes_are_no_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
