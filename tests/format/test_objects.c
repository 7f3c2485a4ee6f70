// Embedded files: once each, in slices, read from anywhere, and honest about files that change meanwhile.
#include <sys/stat.h>

#include "trace_kit.h"

enum { LARGE = 5 * (1 << 20) + 12345 };

static uint8_t *contents(size_t length) {
    uint64_t seed = 11;
    uint8_t *bytes = malloc(length);
    for (size_t i = 0; i < length; i++) bytes[i] = (uint8_t)(i % 7 ? i >> 8 : kit_random(&seed));
    return bytes;
}

static uint32_t add(struct vmv_writer *writer, const char *name, uint64_t size, uint64_t inode) {
    return vmv_writer_object(writer,
                             &(struct vmv_object_identity){.path = name,
                                                           .inode = inode,
                                                           .size = size,
                                                           .mtime_ns = -5,
                                                           .dev_major = 8,
                                                           .dev_minor = 1,
                                                           .build_id = {0xab, 0xcd},
                                                           .build_id_length = 20},
                             open(name, O_RDONLY));
}

static void expect_bytes(struct vmv_reader *reader, uint32_t number, const uint8_t *bytes, size_t length) {
    uint8_t *got = malloc(length + 1);
    uint64_t seed = 3;
    assert_int_equal(vmv_reader_object(reader, number)->embedded, length);
    assert_int_equal(vmv_reader_object_bytes(reader, number, 0, got, length + 1), length);
    assert_memory_equal(got, bytes, length);
    for (int i = 0; i < 200 && length > 0; i++) {
        size_t at = kit_random(&seed) % length, wanted = kit_random(&seed) % 300000;
        size_t expected = wanted < length - at ? wanted : length - at;
        assert_int_equal(vmv_reader_object_bytes(reader, number, at, got, wanted), expected);
        if (expected) assert_memory_equal(got, bytes + at, expected);
    }
    assert_int_equal(vmv_reader_object_bytes(reader, number, length, got, 1), 0);
    assert_int_equal(vmv_reader_object_bytes(reader, number, UINT64_MAX, got, 1), 0);
    free(got);
}

static void identity_and_bytes(void **state) {
    char *name = kit_name(), *file = kit_name();
    uint8_t *bytes = contents(LARGE);
    kit_save(file, bytes, LARGE);
    struct vmv_writer *writer = kit_writer(name);
    assert_int_equal(add(writer, file, LARGE, 1), 1);
    assert_int_equal(add(writer, file, LARGE, 1), 1);
    assert_int_equal(add(writer, file, LARGE, 2), 2);
    assert_int_equal(vmv_writer_object(writer, &(struct vmv_object_identity){.path = "/gone", .size = 10}, -1), 3);
    kit_begin(writer);
    uint64_t before = vmv_writer_bytes(writer);
    unsigned slices = 1;
    while (vmv_writer_idle(writer)) {
        assert_true(vmv_writer_bytes(writer) - before <= (1 << 20) + 4096);
        before = vmv_writer_bytes(writer);
        slices++;
    }
    assert_int_equal(slices, 12);
    assert_false(vmv_writer_idle(writer));
    kit_finish(writer);
    struct vmv_reader *reader = kit_reader(name);
    assert_int_equal(vmv_reader_object_count(reader), 3);
    const struct vmv_object *object = vmv_reader_object(reader, 1);
    assert_string_equal(object->path, file);
    assert_int_equal(object->inode, 1);
    assert_int_equal(object->size, LARGE);
    assert_int_equal(object->mtime_ns, -5);
    assert_int_equal(object->dev_major, 8);
    assert_int_equal(object->build_id_length, 20);
    assert_int_equal(object->build_id[1], 0xcd);
    expect_bytes(reader, 1, bytes, LARGE);
    expect_bytes(reader, 2, bytes, LARGE);
    assert_int_equal(vmv_reader_object(reader, 3)->embedded, 0);
    assert_null(vmv_reader_object(reader, 0));
    assert_null(vmv_reader_object(reader, 4));
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    free(bytes);
    kit_remove(file);
    kit_remove(name);
}

// Bytes that are not embedded yet when the recording ends are embedded then; two files take turns by order.
static void at_the_end(void **state) {
    char *name = kit_name(), *file = kit_name();
    uint8_t *bytes = contents(LARGE);
    kit_save(file, bytes, LARGE);
    struct vmv_writer *writer = kit_writer(name);
    add(writer, file, LARGE, 1);
    kit_finish(writer);
    struct vmv_reader *reader = kit_reader(name);
    expect_bytes(reader, 1, bytes, LARGE);
    vmv_reader_close(reader);
    free(bytes);
    kit_remove(file);
    kit_remove(name);
}

// The size before compression is that of all that is stored, whether the end of the trace says it or not.
static void count_before_compression(void **state) {
    char *name = kit_name(), *file = kit_name();
    uint8_t *bytes = contents(LARGE);
    kit_save(file, bytes, LARGE);
    struct vmv_writer *writer = kit_writer(name);
    add(writer, file, LARGE, 1);
    kit_finish(writer);
    struct vmv_reader *reader = kit_reader(name);
    off_t size = (off_t)vmv_reader_bytes(reader);
    for (int cut = 0; cut < 2; cut++) {
        const struct vmv_end *end = vmv_reader_end(reader);
        assert_int_equal(end->complete, !cut);
        assert_in_range(end->raw_bytes, LARGE, LARGE + 100000);
        vmv_reader_close(reader);
        assert_int_equal(truncate(name, size - 20), 0);
        reader = kit_reader(name);
    }
    vmv_reader_close(reader);
    free(bytes);
    kit_remove(file);
    kit_remove(name);
}

static void changes_while_read(void **state) {
    char *name = kit_name(), *shrinks = kit_name(), *grows = kit_name(), *empty = kit_name();
    uint8_t *bytes = contents(LARGE);
    kit_save(shrinks, bytes, LARGE);
    kit_save(grows, bytes, 1000);
    struct vmv_writer *writer = kit_writer(name);
    add(writer, shrinks, LARGE, 1);
    add(writer, grows, 1000, 2);
    add(writer, empty, 500, 3);
    assert_true(vmv_writer_idle(writer));
    assert_int_equal(truncate(shrinks, (1 << 20) + 77), 0);
    kit_save(grows, bytes, 5000);
    kit_finish(writer);
    struct vmv_reader *reader = kit_reader(name);
    expect_bytes(reader, 1, bytes, (1 << 20) + 77);
    expect_bytes(reader, 2, bytes, 1000);
    expect_bytes(reader, 3, bytes, 0);
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    free(bytes);
    kit_remove(shrinks);
    kit_remove(grows);
    kit_remove(empty);
    kit_remove(name);
}

// A pipe or a folder in place of a file: the identity stays, bytes there are none.
static void not_readable(void **state) {
    char *name = kit_name();
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    struct vmv_writer *writer = kit_writer(name);
    vmv_writer_object(writer, &(struct vmv_object_identity){.path = "pipe", .size = 100}, ends[0]);
    add(writer, "/", 4096, 2);
    kit_finish(writer);
    close(ends[1]);
    struct vmv_reader *reader = kit_reader(name);
    assert_int_equal(vmv_reader_object_count(reader), 2);
    assert_int_equal(vmv_reader_object(reader, 1)->embedded, 0);
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    kit_remove(name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity_and_bytes),
        cmocka_unit_test(at_the_end),
        cmocka_unit_test(count_before_compression),
        cmocka_unit_test(changes_while_read),
        cmocka_unit_test(not_readable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
