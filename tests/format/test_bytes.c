// Numbers and strings as bytes, arenas, interned strings.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "arena.h"
#include "bytes.h"
#include "event.h"
#include "string_store.h"

static struct vmv_in input(const struct vmv_out *out) {
    return (struct vmv_in){.data = out->data, .length = out->length};
}

static void test_varints(void **state) {
    (void)state;
    struct vmv_out out = {0};
    uint64_t values[65 * 3];
    size_t count = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        for (int off = -1; off <= 1; off++) values[count++] = (UINT64_C(1) << bit) + (uint64_t)(int64_t)off;
    values[count++] = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        vmv_out_varint(&out, values[i]);
        vmv_out_zigzag(&out, (int64_t)values[i]);
    }
    struct vmv_in in = input(&out);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(vmv_in_varint(&in), values[i]);
        assert_int_equal(vmv_in_zigzag(&in), (int64_t)values[i]);
    }
    assert_false(in.bad);
    assert_int_equal(vmv_in_left(&in), 0);
    vmv_out_free(&out);
}

static void test_varint_sizes(void **state) {
    (void)state;
    struct vmv_out out = {0};
    vmv_out_varint(&out, 127);
    assert_int_equal(out.length, 1);
    vmv_out_varint(&out, 128);
    assert_int_equal(out.length, 3);
    vmv_out_varint(&out, UINT64_MAX);
    assert_int_equal(out.length, 13);
    vmv_out_zigzag(&out, -64);
    assert_int_equal(out.length, 14);
    vmv_out_free(&out);
}

static void test_little_endian(void **state) {
    (void)state;
    struct vmv_out out = {0};
    vmv_out_u8(&out, 0x11);
    vmv_out_u16(&out, 0x2233);
    vmv_out_u32(&out, 0x44556677);
    vmv_out_u64(&out, 0x8899aabbccddeeff);
    static const uint8_t expected[] = {0x11, 0x33, 0x22, 0x77, 0x66, 0x55, 0x44, 0xff,
                                       0xee, 0xdd, 0xcc, 0xbb, 0xaa, 0x99, 0x88};
    assert_int_equal(out.length, sizeof expected);
    assert_memory_equal(out.data, expected, sizeof expected);
    struct vmv_in in = input(&out);
    assert_int_equal(vmv_in_u8(&in), 0x11);
    assert_int_equal(vmv_in_u16(&in), 0x2233);
    assert_int_equal(vmv_in_u32(&in), 0x44556677);
    assert_int_equal(vmv_in_u64(&in), 0x8899aabbccddeeff);
    assert_false(in.bad);
    vmv_out_free(&out);
}

static void test_malformed_varints(void **state) {
    (void)state;
    static const uint8_t too_long[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
    static const uint8_t too_large[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02};
    static const uint8_t cut[] = {0x80};
    struct vmv_in ins[] = {{.data = too_long, .length = sizeof too_long},
                           {.data = too_large, .length = sizeof too_large},
                           {.data = cut, .length = sizeof cut},
                           {.data = cut, .length = 0}};
    for (int i = 0; i < 4; i++) {
        assert_int_equal(vmv_in_varint(&ins[i]), 0);
        assert_true(ins[i].bad);
        assert_int_equal(vmv_in_left(&ins[i]), 0);
        assert_int_equal(vmv_in_u64(&ins[i]), 0); // stays bad
    }
}

static void test_strings_stay_inside(void **state) {
    (void)state;
    struct vmv_out out = {0};
    size_t length;
    vmv_out_string(&out, "hello");
    vmv_out_string(&out, NULL);
    struct vmv_in in = input(&out);
    assert_memory_equal(vmv_in_string(&in, &length), "hello", 5);
    assert_int_equal(length, 5);
    assert_non_null(vmv_in_string(&in, &length));
    assert_int_equal(length, 0);
    for (size_t cut = 0; cut < 6; cut++) {
        in = (struct vmv_in){.data = out.data, .length = cut};
        assert_null(vmv_in_string(&in, &length));
        assert_true(in.bad);
        assert_int_equal(length, 0);
    }
    static const uint8_t huge[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 'x'};
    in = (struct vmv_in){.data = huge, .length = sizeof huge};
    assert_null(vmv_in_string(&in, &length));
    vmv_out_free(&out);
}

static void test_reading_past_the_end(void **state) {
    (void)state;
    static const uint8_t bytes[] = {1, 2, 3};
    struct vmv_in in = {.data = bytes, .length = 3};
    assert_int_equal(vmv_in_u16(&in), 0x201);
    assert_int_equal(vmv_in_u16(&in), 0);
    assert_true(in.bad);
    in = (struct vmv_in){.data = bytes, .length = 3};
    assert_null(vmv_in_bytes(&in, SIZE_MAX));
    assert_true(in.bad);
}

static void test_reserve_is_not_counted(void **state) {
    (void)state;
    struct vmv_out out = {0};
    memset(vmv_out_reserve(&out, 1000), 7, 1000);
    assert_int_equal(out.length, 0);
    vmv_out_u8(&out, 1);
    assert_int_equal(out.length, 1);
    vmv_out_bytes(&out, NULL, 0);
    vmv_out_free(&out);
    vmv_out_free(&out);
}

static void test_arena(void **state) {
    (void)state;
    struct vmv_arena arena = {0};
    for (int round = 0; round < 3; round++) {
        for (size_t bytes = 0; bytes < 3000; bytes += 7) {
            uint8_t *piece = vmv_arena_alloc(&arena, bytes);
            assert_int_equal((uintptr_t)piece % 16, 0);
            for (size_t i = 0; i < bytes; i++) assert_int_equal(piece[i], 0);
            if (bytes) memset(piece, 0xa5, bytes);
        }
        uint8_t *large = vmv_arena_alloc(&arena, 5 << 20);
        assert_int_equal(large[(5 << 20) - 1], 0);
        memset(large, 0xa5, 5 << 20);
        assert_true(arena.total >= 5 << 20);
        vmv_arena_reset(&arena);
    }
    assert_string_equal(vmv_arena_strdup(&arena, "abcdef", 3), "abc");
    vmv_arena_free(&arena);
    assert_int_equal(arena.total, 0);
    vmv_arena_reset(&arena);
    vmv_arena_free(&arena);
}

static void test_interned_strings(void **state) {
    (void)state;
    struct vmv_string_store *store = vmv_strings_create();
    char text[32];
    const char *kept[500];
    for (int i = 0; i < 500; i++) {
        snprintf(text, sizeof text, "/lib/%d", i);
        kept[i] = vmv_strings_intern(store, text);
    }
    for (int i = 0; i < 500; i++) {
        snprintf(text, sizeof text, "/lib/%d", i);
        assert_ptr_equal(vmv_strings_intern(store, text), kept[i]);
        assert_string_equal(kept[i], text);
    }
    assert_string_equal(vmv_strings_intern(store, NULL), "");
    assert_ptr_equal(vmv_strings_intern_bytes(store, "/lib/7\0more", 11), kept[7]);
    assert_true(vmv_strings_memory(store) > 500 * 5);
    vmv_strings_release(vmv_strings_hold(store));
    assert_string_equal(kept[3], "/lib/3");
    vmv_strings_release(store);
    vmv_strings_release(NULL);
}

static void test_event_names(void **state) {
    (void)state;
    int named = 0;
    for (int type = -1; type < VMV_EV_TYPE_COUNT + 2; type++) {
        const char *name = vmv_event_name((enum vmv_event_type)type);
        if (!name) continue;
        named++;
        assert_int_equal(vmv_event_type_of(name), type);
    }
    assert_int_equal(named, 31);
    assert_int_equal(vmv_event_type_of("no such thing"), VMV_EV_NONE);
    assert_string_equal(vmv_event_name(VMV_EV_THREAD_EXIT), "thread-exit");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_varints),
        cmocka_unit_test(test_varint_sizes),
        cmocka_unit_test(test_little_endian),
        cmocka_unit_test(test_malformed_varints),
        cmocka_unit_test(test_strings_stay_inside),
        cmocka_unit_test(test_reading_past_the_end),
        cmocka_unit_test(test_reserve_is_not_counted),
        cmocka_unit_test(test_arena),
        cmocka_unit_test(test_interned_strings),
        cmocka_unit_test(test_event_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
