// Events as bytes: every field comes back, sizes, unknown types, and bytes that no one wrote.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "all_events.h"
#include "codec.h"
#include "meta.h"

static void same_text(const char *a, const char *b) {
    if (!a || !b)
        assert_ptr_equal(a, b);
    else
        assert_string_equal(a, b);
}

static void same_event(const struct vmv_event *a, const struct vmv_event *b) {
    struct vmv_event x = *a, y = *b;
    same_text(a->name, b->name);
    assert_int_equal(a->map_count, b->map_count);
    assert_int_equal(a->argc, b->argc);
    for (size_t i = 0; i < a->argc; i++) assert_string_equal(a->argv[i], b->argv[i]);
    for (size_t i = 0; i < a->map_count; i++) {
        struct vmv_mapping m = a->maps[i], n = b->maps[i];
        assert_string_equal(m.name, n.name);
        m.name = n.name = NULL;
        assert_memory_equal(&m, &n, sizeof m);
    }
    x.name = y.name = NULL;
    x.maps = y.maps = NULL;
    x.argv = y.argv = NULL;
    static struct vmv_event p, q; // no stray padding
    memset(&p, 0, sizeof p);
    memset(&q, 0, sizeof q);
    p = x;
    q = y;
#define SAME(member) assert_int_equal(p.member, q.member)
    SAME(t);
    SAME(type);
    SAME(space);
    SAME(pid);
    SAME(tid);
    SAME(stack);
    SAME(addr);
    SAME(len);
    SAME(old_addr);
    SAME(old_len);
    SAME(offset);
    SAME(inode);
    SAME(ret);
    SAME(prot);
    SAME(flags);
    SAME(dev_major);
    SAME(dev_minor);
    SAME(object);
    SAME(pc);
    SAME(kind);
    SAME(access);
    SAME(kernel);
    SAME(source);
    SAME(state);
    SAME(page_flags);
    SAME(content);
    SAME(content_step);
    SAME(certainty);
    SAME(child);
    SAME(child_space);
    SAME(flag);
    SAME(code);
    SAME(number);
    SAME(to);
    SAME(frame);
    SAME(pause_ns);
    SAME(pages_written);
    SAME(torn);
    SAME(why);
    SAME(syscall);
    SAME(sp);
    SAME(fp);
    SAME(regs);
    SAME(run_ns);
    assert_memory_equal(p.before, q.before, 8);
    assert_memory_equal(p.after, q.after, 8);
}

static void test_every_field_comes_back(void **state) {
    (void)state;
    enum { COUNT = 400 };
    struct dice dice = {77};
    struct event_room *rooms = calloc(COUNT, sizeof *rooms);
    struct vmv_event *events = calloc(COUNT, sizeof *events), decoded;
    for (int round = 0; round < 200; round++) {
        struct vmv_codec writing = {0}, reading = {0};
        struct vmv_out out = {0};
        struct vmv_arena arena = {0};
        for (int i = 0; i < COUNT; i++) {
            events[i] = any_event(&dice, &rooms[i]);
            vmv_event_encode(&writing, &out, &events[i]);
        }
        struct vmv_in in = {.data = out.data, .length = out.length};
        for (int i = 0; i < COUNT; i++) {
            assert_true(vmv_event_decode(&reading, &in, &arena, &decoded));
            same_event(&events[i], &decoded);
        }
        assert_false(vmv_event_decode(&reading, &in, &arena, &decoded));
        assert_false(in.bad);
        vmv_arena_free(&arena);
        vmv_out_free(&out);
    }
    free(rooms);
    free(events);
}

static size_t encoded_size(uint64_t t_step, uint64_t addr_step, bool random, uint64_t stack_step) {
    enum { COUNT = 1000 };
    struct vmv_codec codec = {0};
    struct vmv_out out = {0};
    struct dice dice = {5};
    for (uint64_t i = 0; i < COUNT; i++) {
        uint64_t addr =
            random ? UINT64_C(0x7f0000000000) + roll(&dice, 256 << 20) : UINT64_C(0x7f0000000008) + i * addr_step;
        struct vmv_event fault = {.type = VMV_EV_FAULT,
                                  .t = 1000000 + i * t_step,
                                  .space = 1,
                                  .pid = 9,
                                  .tid = 9,
                                  .addr = addr,
                                  .pc = 0x401234,
                                  .kind = VMV_FAULT_FIRST_TOUCH,
                                  .source = VMV_SOURCE_RECORDS,
                                  .stack = i * stack_step};
        vmv_event_encode(&codec, &out, &fault);
    }
    size_t bytes = out.length;
    vmv_out_free(&out);
    return bytes;
}

static void test_faults_are_short(void **state) {
    (void)state;
    assert_true(encoded_size(1900, PAGE, false, 0) < 3100); // one after the other: 3 bytes
    assert_true(encoded_size(1900, PAGE, false, 1) < 3100); // each with its own stack: 3 bytes
    assert_true(encoded_size(1900, 2 * PAGE, false, 0) < 4100);
    assert_true(encoded_size(1900, 0, true, 0) < 8200); // anywhere in 256 MiB, at any byte
}

static void test_unknown_types_are_skipped(void **state) {
    (void)state;
    struct vmv_codec writing = {0}, reading = {0};
    struct vmv_out out = {0};
    struct vmv_arena arena = {0};
    struct vmv_event mark = {.type = VMV_EV_MARK, .t = 1000, .space = 3, .pid = 4, .tid = 5, .name = "one"}, got;
    vmv_event_encode(&writing, &out, &mark);
    size_t at = out.length;
    mark.t = 2000;
    vmv_event_encode(&writing, &out, &mark);
    out.data[at] = 0x7e; // of a later version
    mark.t = 3000;
    vmv_event_encode(&writing, &out, &mark);
    struct vmv_in in = {.data = out.data, .length = out.length};
    assert_true(vmv_event_decode(&reading, &in, &arena, &got));
    assert_true(vmv_event_decode(&reading, &in, &arena, &got));
    assert_int_equal(got.type, VMV_EV_NONE);
    assert_int_equal(got.t, 2000);
    assert_true(vmv_event_decode(&reading, &in, &arena, &got));
    assert_int_equal(got.type, VMV_EV_MARK);
    assert_int_equal(got.t, 3000);
    assert_int_equal(got.tid, 5);
    vmv_arena_free(&arena);
    vmv_out_free(&out);
}

// A later minor version may add fields at the end of a type.
static void test_unknown_fields_are_skipped(void **state) {
    (void)state;
    static const uint8_t bytes[] = {VMV_EV_MUNMAP, 7, 0, 2, 0x0b, 4, 2, 0x99, 0x99}; // bit 3 and its 2 bytes are new
    struct vmv_codec codec = {0};
    struct vmv_arena arena = {0};
    struct vmv_event got;
    struct vmv_in in = {.data = bytes, .length = sizeof bytes};
    assert_true(vmv_event_decode(&codec, &in, &arena, &got));
    assert_int_equal(got.type, VMV_EV_MUNMAP);
    assert_int_equal(got.addr, PAGE);
    assert_int_equal(got.len, PAGE);
    assert_int_equal(vmv_in_left(&in), 0);
    vmv_arena_free(&arena);
}

static void decode_all(const uint8_t *data, size_t length) {
    uint8_t *exact = malloc(length ? length : 1); // so that the sanitizer sees the end
    if (length) memcpy(exact, data, length);
    struct vmv_in in = {.data = exact, .length = length};
    struct vmv_codec codec = {0};
    struct vmv_arena arena = {0};
    struct vmv_event event;
    while (vmv_event_decode(&codec, &in, &arena, &event)) assert_true(in.at <= length);
    assert_true(arena.total < 200 * length + (1 << 20));
    vmv_arena_free(&arena);
    free(exact);
}

static void test_hostile_bytes(void **state) {
    (void)state;
    struct dice dice = {99};
    uint8_t bytes[600];
    for (int round = 0; round < 20000; round++) {
        size_t length = roll(&dice, sizeof bytes);
        for (size_t i = 0; i < length; i++) bytes[i] = (uint8_t)roll(&dice, roll(&dice, 3) ? 256 : 70);
        decode_all(bytes, length);
    }
}

static void test_damaged_events(void **state) {
    (void)state;
    struct dice dice = {3};
    for (int round = 0; round < 300; round++) {
        struct vmv_codec codec = {0};
        struct vmv_out out = {0};
        struct event_room room;
        for (int i = 0; i < 20; i++) {
            struct vmv_event event = any_event(&dice, &room);
            vmv_event_encode(&codec, &out, &event);
        }
        for (size_t cut = 0; cut < out.length; cut += 1 + roll(&dice, 9)) decode_all(out.data, cut);
        for (int i = 0; i < 50; i++) {
            uint8_t *at = &out.data[roll(&dice, (uint32_t)out.length)], before = *at;
            *at = (uint8_t)roll(&dice, 256);
            decode_all(out.data, out.length);
            if (roll(&dice, 2)) *at = before;
        }
        vmv_out_free(&out);
    }
}

// --- META and END

static void test_meta(void **state) {
    (void)state;
    const char *program[] = {"/bin/p", "", "arg"}, *environment[] = {"A=1"};
    struct vmv_meta meta = {.program = program,
                            .program_count = 3,
                            .environment = environment,
                            .environment_count = 1,
                            .directory = "/tmp",
                            .pid = 7,
                            .started = 1700000000000000000,
                            .start_monotonic_ns = 12345,
                            .arch = "x86_64",
                            .page_size = 4096,
                            .machine = "m",
                            .kernel = "k",
                            .recorder = "0.1",
                            .source_faults = "records",
                            .source_maps = "stops",
                            .source_why = "w",
                            .interval_ns = 20000000,
                            .interval_auto = true,
                            .budget_percent = -1,
                            .stack_bytes = 2048,
                            .content = "changed",
                            .embed_limit = 64 << 20,
                            .register_set = "x86_64-user-regs"},
                    got;
    struct vmv_out out = {0};
    struct vmv_arena arena = {0};
    vmv_meta_encode(&out, &meta);
    struct vmv_in in = {.data = out.data, .length = out.length};
    assert_true(vmv_meta_decode(&in, &arena, &got));
    assert_int_equal(got.program_count, 3);
    assert_string_equal(got.program[2], "arg");
    assert_string_equal(got.environment[0], "A=1");
    assert_string_equal(got.directory, "/tmp");
    assert_int_equal(got.started, meta.started);
    assert_int_equal(got.page_size, 4096);
    assert_true(got.interval_auto);
    assert_true(got.budget_percent == -1);
    assert_string_equal(got.register_set, "x86_64-user-regs");
    for (size_t cut = 0; cut < out.length; cut++) {
        in = (struct vmv_in){.data = out.data, .length = cut};
        vmv_meta_decode(&in, &arena, &got);
        assert_non_null(got.arch); // texts are never NULL
    }
    vmv_arena_free(&arena);
    vmv_out_free(&out);
}

static void test_end(void **state) {
    (void)state;
    struct vmv_end end = {.complete = true,
                          .duration_ns = 5,
                          .exited = true,
                          .exit_code = -3,
                          .held_ns = 9,
                          .percent = 1.5,
                          .pages_captured = 77,
                          .raw_bytes = UINT64_MAX},
                   got;
    end.events[VMV_EV_FAULT] = 123456;
    end.events[VMV_EV_THREAD] = 1;
    struct vmv_out out = {0};
    vmv_end_encode(&out, &end);
    struct vmv_in in = {.data = out.data, .length = out.length};
    assert_true(vmv_end_decode(&in, &got));
    assert_true(got.complete && got.exited && !got.killed);
    assert_int_equal(got.exit_code, -3);
    assert_true(got.percent == 1.5);
    assert_int_equal(got.raw_bytes, UINT64_MAX);
    assert_memory_equal(got.events, end.events, sizeof end.events);
    for (size_t cut = 0; cut < out.length; cut++) {
        in = (struct vmv_in){.data = out.data, .length = cut};
        vmv_end_decode(&in, &got);
    }
    vmv_out_free(&out);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_field_comes_back),
        cmocka_unit_test(test_faults_are_short),
        cmocka_unit_test(test_unknown_types_are_skipped),
        cmocka_unit_test(test_unknown_fields_are_skipped),
        cmocka_unit_test(test_hostile_bytes),
        cmocka_unit_test(test_damaged_events),
        cmocka_unit_test(test_meta),
        cmocka_unit_test(test_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
