// Contents, stacks and registers: what goes in under a number comes out under it, repeats cost nothing.
#include "trace_kit.h"

static struct vmv_writer *writer_with(const char *name, uint32_t page_size, size_t dedup_bytes) {
    char error[200];
    struct vmv_meta meta = kit_meta();
    meta.page_size = page_size;
    int fd = open(name, O_WRONLY | O_TRUNC);
    struct vmv_writer *writer = vmv_writer_create_with(
        fd, &meta, &(struct vmv_writer_options){.dedup_bytes = dedup_bytes}, error, sizeof error);
    assert_non_null(writer);
    return writer;
}

// Page `i`: every third is random, every third text, every third sparse.
static void fill(uint64_t i, uint8_t *page, size_t size) {
    uint64_t seed = i * 0x9e3779b97f4a7c15u + 1;
    memset(page, 0, size);
    if (i % 3 == 0)
        kit_random_bytes(&seed, page, size);
    else if (i % 3 == 1)
        for (size_t at = 0; at < size; at++) page[at] = (uint8_t) "the words of a page "[(at + i / 3 + at / 97) % 20];
    else
        page[kit_random(&seed) % (size - 8) + 8] = (uint8_t)(1 + i % 255);
    if (i % 3) memcpy(page, &i, sizeof i); // so that no two are alike
}

static void pages_of(uint32_t size, unsigned count, size_t cache) {
    char *name = kit_name();
    uint8_t *page = malloc(size), *got = malloc(size);
    uint64_t *numbers = malloc(count * sizeof *numbers), seed = 9;
    struct vmv_writer *writer = writer_with(name, size, 0);
    for (unsigned i = 0; i < count; i++) {
        fill(i, page, size);
        numbers[i] = vmv_writer_page(writer, page);
        assert_int_equal(numbers[i], VMV_CONTENT_FIRST + i);
        if (i % 100 == 0) kit_fault(writer, i * 100000000ull, i, 0);
    }
    kit_finish(writer);
    struct vmv_reader *reader = kit_reader(name);
    vmv_reader_set_cache(reader, cache);
    for (unsigned n = 0; n < 2 * count; n++) {
        unsigned i = n < count ? n : (unsigned)(kit_random(&seed) % count);
        fill(i, page, size);
        assert_true(vmv_reader_page(reader, numbers[i], got));
        assert_memory_equal(got, page, size);
    }
    assert_false(vmv_reader_page(reader, VMV_CONTENT_FIRST + count, got));
    assert_false(vmv_reader_page(reader, VMV_CONTENT_NONE, got));
    assert_false(vmv_reader_page(reader, VMV_CONTENT_FILE, got));
    assert_true(vmv_reader_page(reader, VMV_CONTENT_ZERO, got));
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    free(page);
    free(got);
    free(numbers);
    kit_remove(name);
}

static void pages(void **state) { pages_of(4096, 3000, 64 << 20); }
static void pages_with_a_small_cache(void **state) { pages_of(4096, 2000, 200 << 10); }
static void pages_without_a_cache(void **state) { pages_of(4096, 200, 0); }
static void large_pages(void **state) { pages_of(65536, 200, 8 << 20); }
static void middle_pages(void **state) { pages_of(16384, 300, 8 << 20); }

static void repeats_cost_nothing(void **state) {
    char *name = kit_name();
    uint8_t page[KIT_PAGE] = {0};
    struct vmv_writer *writer = writer_with(name, KIT_PAGE, 0);
    assert_int_equal(vmv_writer_page(writer, page), VMV_CONTENT_ZERO);
    page[KIT_PAGE - 1] = 1;
    assert_int_equal(vmv_writer_page(writer, page), VMV_CONTENT_FIRST);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < 1000; i++) {
            fill(i, page, sizeof page);
            assert_int_equal(vmv_writer_page(writer, page), VMV_CONTENT_FIRST + 1 + i);
        }
    assert_int_equal(vmv_writer_pages(writer), 3002);
    kit_finish(writer);
    struct vmv_reader *reader = kit_reader(name);
    assert_true(vmv_reader_bytes(reader) < 2u << 20);
    assert_int_equal(vmv_reader_end(reader)->pages_captured, 3002);
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    kit_remove(name);
}

// A table for some 340 pages: more pages than that are stored again when they come back, and still read right.
static void beyond_the_bound(void **state) {
    char *name = kit_name();
    enum { PAGES = 3000 };
    uint8_t page[KIT_PAGE], got[KIT_PAGE];
    uint64_t numbers[2][PAGES], again = 0;
    struct vmv_writer *writer = writer_with(name, KIT_PAGE, 8192);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned i = 0; i < PAGES; i++) {
            fill(i, page, sizeof page);
            numbers[round][i] = vmv_writer_page(writer, page);
            uint64_t at_once = vmv_writer_page(writer, page);
            assert_int_equal(at_once, numbers[round][i]);
        }
    kit_finish(writer);
    struct vmv_reader *reader = kit_reader(name);
    for (unsigned i = 0; i < PAGES; i++) {
        fill(i, page, sizeof page);
        for (unsigned round = 0; round < 2; round++) {
            assert_true(vmv_reader_page(reader, numbers[round][i], got));
            assert_memory_equal(page, got, sizeof page);
        }
        again += numbers[0][i] != numbers[1][i];
    }
    assert_true(again > PAGES / 2);
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    kit_remove(name);
}

static void stacks_and_registers(void **state) {
    char *name = kit_name();
    enum { COUNT = 4000 };
    uint8_t regs[216] = {0}, bytes[2048] = {0};
    struct vmv_writer *writer = writer_with(name, KIT_PAGE, 0);
    for (unsigned i = 0; i < COUNT; i++) {
        memcpy(regs + 8 * (i % 27), &i, sizeof i);
        memcpy(bytes + 8 * (i % 250), &i, sizeof i);
        assert_int_equal(vmv_writer_stack(writer, regs, sizeof regs, 0x7ffc0000 + i, bytes, i % 2048), i + 1);
        assert_int_equal(vmv_writer_stack(writer, regs, sizeof regs, 0x7ffc0000 + i, bytes, i % 2048), i + 1);
        assert_int_equal(vmv_writer_regs(writer, regs, sizeof regs, bytes, i % 1000), i + 1);
        if (i % 50 == 0) kit_fault(writer, i * 10000000ull, i % 4096, i + 1);
    }
    kit_finish(writer);
    struct vmv_reader *reader = kit_reader(name);
    memset(regs, 0, sizeof regs);
    memset(bytes, 0, sizeof bytes);
    for (unsigned i = 0; i < COUNT; i++) {
        struct vmv_stack stack;
        struct vmv_regs registers;
        memcpy(regs + 8 * (i % 27), &i, sizeof i);
        memcpy(bytes + 8 * (i % 250), &i, sizeof i);
        assert_true(vmv_reader_stack(reader, i + 1, &stack));
        assert_int_equal(stack.sp, 0x7ffc0000 + i);
        assert_int_equal(stack.regs_length, sizeof regs);
        assert_memory_equal(stack.regs, regs, sizeof regs);
        assert_int_equal(stack.length, i % 2048);
        if (stack.length) assert_memory_equal(stack.bytes, bytes, stack.length);
        assert_true(vmv_reader_regs(reader, i + 1, &registers));
        assert_int_equal(registers.general_length, sizeof regs);
        assert_int_equal(registers.extended_length, i % 1000);
        if (i % 1000) assert_memory_equal(registers.extended, bytes, i % 1000);
    }
    struct vmv_stack none;
    assert_false(vmv_reader_stack(reader, 0, &none));
    assert_false(vmv_reader_stack(reader, COUNT + 1, &none));
    assert_non_null(strstr(vmv_reader_error(reader), "nothing is stored"));
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    kit_remove(name);
}

static void empty_pieces(void **state) {
    char *name = kit_name();
    struct vmv_writer *writer = writer_with(name, KIT_PAGE, 0);
    assert_int_equal(vmv_writer_stack(writer, NULL, 0, 0, NULL, 0), 1);
    assert_int_equal(vmv_writer_regs(writer, NULL, 0, NULL, 0), 1);
    kit_finish(writer);
    struct vmv_reader *reader = kit_reader(name);
    struct vmv_stack stack;
    struct vmv_regs regs;
    assert_true(vmv_reader_stack(reader, 1, &stack));
    assert_int_equal(stack.length + stack.regs_length, 0);
    assert_true(vmv_reader_regs(reader, 1, &regs));
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    kit_remove(name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pages),
        cmocka_unit_test(pages_with_a_small_cache),
        cmocka_unit_test(pages_without_a_cache),
        cmocka_unit_test(large_pages),
        cmocka_unit_test(middle_pages),
        cmocka_unit_test(repeats_cost_nothing),
        cmocka_unit_test(beyond_the_bound),
        cmocka_unit_test(stacks_and_registers),
        cmocka_unit_test(empty_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
