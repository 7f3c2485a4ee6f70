// Traces that were cut, changed or forged: they open or say why, nothing crashes, and what is sound stays readable.
#include "blocks.h"
#include "index.h"
#include "trace_kit.h"

#include <zstd.h>

// Everything a viewer would ask of a trace. The answers do not matter here, only that they come.
static void use(struct vmv_reader *reader) {
    struct kit_events events = kit_events_of(reader);
    kit_events_free(&events);
    uint8_t page[1 << 20], bytes[300];
    struct vmv_stack stack;
    struct vmv_regs regs;
    for (uint64_t n = 0; n < 24; n++) {
        if (vmv_reader_meta(reader)->page_size <= sizeof page) vmv_reader_page(reader, n, page);
        vmv_reader_stack(reader, n, &stack);
        vmv_reader_regs(reader, n, &regs);
    }
    for (uint32_t n = 0; n <= vmv_reader_object_count(reader) && n < 10; n++) {
        vmv_reader_object(reader, n);
        vmv_reader_object_bytes(reader, n, 0, bytes, sizeof bytes);
    }
}

static struct vmv_verify verify(struct vmv_reader *reader) { return vmv_reader_verify(reader, NULL, NULL); }

struct whole { // a sound trace, and all its events
    char *name;
    struct kit_file file;
    struct kit_events events;
    uint64_t meta_end; // from here on a cut trace opens
};

static struct whole whole_small(void) {
    struct whole whole = {.name = kit_name()};
    kit_small(whole.name);
    struct vmv_reader *reader = kit_reader(whole.name);
    size_t count;
    whole.meta_end = vmv_chunk_end(&vmv_reader_chunks(reader, &count)[0]);
    whole.events = kit_events_of(reader);
    whole.file = kit_load(whole.name);
    vmv_reader_close(reader);
    return whole;
}

static struct whole whole_long(void) {
    struct whole whole = {.name = kit_name()};
    kit_long(whole.name, 12);
    struct vmv_reader *reader = kit_reader(whole.name);
    size_t count;
    whole.meta_end = vmv_chunk_end(&vmv_reader_chunks(reader, &count)[0]);
    whole.events = kit_events_of(reader);
    whole.file = kit_load(whole.name);
    vmv_reader_close(reader);
    return whole;
}

static void whole_free(struct whole *whole) {
    kit_events_free(&whole->events);
    free(whole->file.data);
    kit_remove(whole->name);
}

// The trace up to `length`: it opens if META is whole, shows a prefix of the events, and verifies.
static size_t check_cut(const struct whole *whole, const char *name, size_t length) {
    char error[512] = "";
    struct vmv_reader *reader = vmv_reader_open(name, error, sizeof error);
    assert_true((reader != NULL) == (length >= whole->meta_end));
    if (!reader) {
        assert_true(strstr(error, "empty") || strstr(error, "cut within its header"));
        return 0;
    }
    struct kit_events part = kit_events_of(reader);
    assert_false(part.damaged);
    assert_true(kit_is_prefix(&part, &whole->events));
    bool ended = vmv_reader_end(reader)->complete;
    assert_true(ended == (length == whole->file.length));
    if (!ended) assert_non_null(strstr(vmv_reader_warning(reader), "interrupted"));
    struct vmv_verify result = vmv_reader_verify(reader, kit_print_error, NULL);
    assert_true(result.ok);
    assert_true(result.complete == ended);
    size_t count = part.count;
    kit_events_free(&part);
    vmv_reader_close(reader);
    return count;
}

static void cut_at_every_byte(void **state) {
    struct whole whole = whole_small();
    char *name = kit_name();
    kit_save(name, whole.file.data, whole.file.length);
    for (size_t length = whole.file.length + 1; length-- > 0;) {
        assert_int_equal(truncate(name, (off_t)length), 0);
        check_cut(&whole, name, length);
    }
    kit_remove(name);
    whole_free(&whole);
}

static void cut_at_a_thousand_places(void **state) {
    struct whole whole = whole_long();
    char *name = kit_name();
    size_t before = SIZE_MAX;
    kit_save(name, whole.file.data, whole.file.length);
    for (size_t i = 1000; i > 0; i--) {
        size_t length = whole.file.length / 1000 * i + i % 7;
        if (length > whole.file.length) length = whole.file.length;
        assert_int_equal(truncate(name, (off_t)length), 0);
        size_t count = check_cut(&whole, name, length);
        assert_true(count <= before);
        before = count;
    }
    kit_remove(name);
    whole_free(&whole);
}

// Contents that a cut trace speaks of are in it: the chunk with them stands before.
static void no_dangling_references(void **state) {
    struct whole whole = whole_long();
    char *name = kit_name();
    kit_save(name, whole.file.data, whole.file.length / 2);
    struct vmv_reader *reader = kit_reader(name);
    struct vmv_arena arena = {0};
    size_t chunks, count, seen = 0;
    uint8_t page[KIT_PAGE];
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &chunks);
    for (size_t i = 0; i < chunks; i++) {
        if (chunk[i].header.type != VMV_CHUNK_EVENTS) continue;
        const struct vmv_event *events = vmv_reader_events(reader, &chunk[i], &arena, &count);
        for (size_t e = 0; e < count; e++) {
            struct vmv_stack stack;
            if (events[e].stack) assert_true(vmv_reader_stack(reader, events[e].stack, &stack));
            if (events[e].type == VMV_EV_CONTENT) assert_true(vmv_reader_page(reader, events[e].content, page));
            seen += events[e].type == VMV_EV_CONTENT;
        }
    }
    assert_true(seen > 100);
    vmv_arena_free(&arena);
    vmv_reader_close(reader);
    kit_remove(name);
    whole_free(&whole);
}

// A file system that lost the last blocks often leaves zeros in their place.
static void zeros_at_the_end(void **state) {
    struct whole whole = whole_long();
    char *name = kit_name();
    size_t half = whole.file.length / 2;
    memset(whole.file.data + half, 0, whole.file.length - half);
    kit_save(name, whole.file.data, whole.file.length);
    struct vmv_reader *reader = kit_reader(name);
    struct kit_events part = kit_events_of(reader);
    assert_true(part.count > whole.events.count / 3);
    assert_true(kit_is_prefix(&part, &whole.events));
    assert_non_null(strstr(vmv_reader_warning(reader), "cut at byte"));
    assert_true(verify(reader).ok);
    kit_events_free(&part);
    vmv_reader_close(reader);
    kit_remove(name);
    whole_free(&whole);
}

// Without INDEX and END, and with a hole in the middle: what lies behind the hole is found again.
static void hole_without_index(void **state) {
    struct whole whole = whole_long();
    char *name = kit_name();
    struct vmv_reader *reader = kit_reader(whole.name);
    size_t count, rest;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    size_t first_index = 0;
    while (chunk[first_index].header.type != VMV_CHUNK_INDEX) first_index++;
    assert_true(first_index > 8);
    memset(whole.file.data + chunk[3].offset + 10, 0x5a, 100);
    kit_save(name, whole.file.data, chunk[first_index].offset);
    struct vmv_reader *damaged = kit_reader(name);
    vmv_reader_chunks(damaged, &rest);
    assert_int_equal(rest, first_index - 1);
    assert_non_null(strstr(vmv_reader_warning(damaged), "damaged between bytes"));
    assert_false(verify(damaged).ok);
    use(damaged);
    vmv_reader_close(damaged);
    vmv_reader_close(reader);
    kit_remove(name);
    whole_free(&whole);
}

// A trace whose pages hold another trace: the search for headers does not take the inner ones for its own.
static void trace_inside_a_trace(void **state) {
    struct whole inner = whole_small();
    char *name = kit_name(), error[200];
    struct vmv_meta meta = kit_meta();
    int fd = open(name, O_WRONLY | O_TRUNC);
    struct vmv_writer_options options = {.id = {0xee, 0xee, 0xee, 0xee}, .store = true};
    struct vmv_writer *writer = vmv_writer_create_with(fd, &meta, &options, error, sizeof error);
    uint8_t page[KIT_PAGE] = {0};
    memcpy(page, inner.file.data, inner.file.length < sizeof page ? inner.file.length : sizeof page);
    kit_begin(writer);
    vmv_writer_page(writer, page);
    kit_fault(writer, 5000, 1, 0);
    kit_finish(writer);
    struct kit_file file = kit_load(name);
    struct vmv_reader *reader = kit_reader(name);
    size_t count, rest;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    assert_int_equal(chunk[1].header.type, VMV_CHUNK_PAGES);
    file.data[chunk[1].offset + 5] ^= 1; // so that its header has to be passed over
    kit_save(name, file.data, chunk[3].offset);
    struct vmv_reader *damaged = kit_reader(name);
    vmv_reader_chunks(damaged, &rest);
    assert_int_equal(rest, 2);
    vmv_reader_close(damaged);
    vmv_reader_close(reader);
    free(file.data);
    kit_remove(name);
    whole_free(&inner);
}

static void every_flipped_bit_is_found(void **state) {
    struct whole whole = whole_small();
    char *name = kit_name();
    uint8_t *data = whole.file.data;
    for (size_t bit = 0; bit < 8 * whole.file.length; bit += 3) {
        char error[512] = "";
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
        kit_save(name, data, whole.file.length);
        struct vmv_reader *reader = vmv_reader_open(name, error, sizeof error);
        if (reader) {
            use(reader);
            struct vmv_verify result = verify(reader);
            if (result.ok && result.complete) fail_msg("a flipped bit in byte %zu was not found", bit / 8);
        }
        vmv_reader_close(reader);
        data[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    kit_remove(name);
    whole_free(&whole);
}

// --- forged: contents that make no sense under hashes that are right

// Writes the chunk's hash, header and trailer anew over changed contents. Prefixes and tables are closed again too.
static void reseal(uint8_t *data, const struct vmv_chunk *chunk) {
    struct vmv_chunk_header header = chunk->header;
    uint8_t *payload = data + chunk->offset + VMV_CHUNK_HEADER_BYTES;
    if (header.flags & (VMV_CHUNKF_PREFIX | VMV_CHUNKF_BLOCKS)) {
        uint64_t length = vmv_lead_length(payload, header.stored);
        if (length >= 8) {
            uint32_t check = (uint32_t)vmv_chunk_hash(payload, length - 4);
            for (int i = 0; i < 4; i++) payload[length - 4 + (unsigned)i] = (uint8_t)(check >> 8 * i);
        }
    }
    header.hash = vmv_chunk_hash(payload, header.stored);
    vmv_chunk_header_encode(data + chunk->offset, &header);
}

// The stored (not compressed) form of everything, so that a change reaches the decoders.
static struct kit_file stored_trace(const char *name) {
    char error[200];
    struct vmv_meta meta = kit_meta();
    int fd = open(name, O_WRONLY | O_TRUNC);
    struct vmv_writer_options options = {.id = {3}, .store = true};
    struct vmv_writer *writer = vmv_writer_create_with(fd, &meta, &options, error, sizeof error);
    kit_begin(writer);
    FILE *embedded = tmpfile();
    fputs("bytes of a file", embedded);
    fflush(embedded);
    vmv_writer_object(writer, &(struct vmv_object_identity){.path = "/bin/prog", .size = 15}, dup(fileno(embedded)));
    fclose(embedded);
    uint64_t stack = vmv_writer_stack(writer, "registers", 9, 0x7ffc0000, "bytes of the stack", 18);
    kit_fault(writer, 2000, 3, stack);
    kit_frame(writer, 5000, 1, 2, 1, 42);
    kit_finish(writer);
    return kit_load(name);
}

static void forged_payloads(void **state) {
    char *name = kit_name(), *other = kit_name();
    struct kit_file file = stored_trace(name);
    struct vmv_reader *reader = kit_reader(name);
    const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    size_t count;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    for (size_t c = 0; c < count; c++) {
        size_t limit = chunk[c].header.stored < 400 ? chunk[c].header.stored : 400;
        for (size_t i = 0; i < limit; i++) {
            uint8_t *at = file.data + chunk[c].offset + VMV_CHUNK_HEADER_BYTES + i;
            for (size_t v = 0; v < sizeof values; v++) {
                uint8_t saved[10];
                size_t room = (size_t)(file.data + vmv_chunk_end(&chunk[c]) - VMV_CHUNK_TRAILER_BYTES - at),
                       length = v == 4 ? 9 : 1;
                if (length > room) length = room;
                memcpy(saved, at, length);
                memset(at, values[v], length); // nine bytes 0xff make the largest numbers
                reseal(file.data, &chunk[c]);
                kit_save(other, file.data, file.length);
                char error[512] = "";
                struct vmv_reader *forged = vmv_reader_open(other, error, sizeof error);
                if (forged) {
                    use(forged);
                    verify(forged);
                }
                vmv_reader_close(forged);
                memcpy(at, saved, length);
                reseal(file.data, &chunk[c]);
            }
        }
    }
    vmv_reader_close(reader);
    free(file.data);
    kit_remove(other);
    kit_remove(name);
}

static void forge(const struct kit_file *file, const struct vmv_chunk *chunk, const char *name,
                  const struct vmv_chunk_header *header) {
    uint8_t *at = file->data + chunk->offset, saved[VMV_CHUNK_HEADER_BYTES];
    char error[512] = "";
    memcpy(saved, at, sizeof saved);
    vmv_chunk_header_encode(at, header);
    kit_save(name, file->data, file->length);
    struct vmv_reader *forged = vmv_reader_open(name, error, sizeof error);
    if (forged) {
        use(forged);
        struct vmv_verify result = verify(forged);
        assert_false(result.ok && result.complete);
    }
    vmv_reader_close(forged);
    memcpy(at, saved, sizeof saved);
}

static void forged_headers(void **state) {
    char *name = kit_name(), *other = kit_name();
    struct kit_file file = stored_trace(name);
    struct vmv_reader *reader = kit_reader(name);
    const uint64_t values[] = {0, 1, 0xffff, 1 << 28, (1 << 28) + 1, UINT32_MAX, 1ull << 40, INT64_MAX, UINT64_MAX};
    size_t count;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    for (size_t c = 0; c < count; c++) {
        const struct vmv_chunk_header *was = &chunk[c].header;
        for (size_t v = 0; v < sizeof values / sizeof *values; v++) {
            struct vmv_chunk_header h[] = {*was, *was, *was, *was, *was};
            h[0].stored = h[1].raw = h[2].first = h[3].count = h[4].back = values[v];
            for (size_t i = 0; i < 5; i++)
                if (memcmp(&h[i], was, sizeof *was) != 0) forge(&file, &chunk[c], other, &h[i]);
        }
        for (uint32_t type = 0; type < VMV_CHUNK_TYPE_COUNT; type++) {
            struct vmv_chunk_header h = *was;
            h.type = type;
            if (type != was->type) forge(&file, &chunk[c], other, &h);
        }
        for (uint32_t flags = 0; flags < 16; flags++) {
            struct vmv_chunk_header h = *was;
            h.flags = flags;
            if (flags != was->flags) forge(&file, &chunk[c], other, &h);
        }
    }
    vmv_reader_close(reader);
    free(file.data);
    kit_remove(other);
    kit_remove(name);
}

// A zstd frame that promises little and inflates to much, and one that promises much.
static void hostile_frames(void **state) {
    char *name = kit_name();
    struct whole whole = whole_small();
    struct vmv_reader *reader = kit_reader(whole.name);
    size_t count, length;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    struct vmv_out out = {0};
    vmv_out_bytes(&out, whole.file.data, chunk[1].offset);
    uint8_t *zeros = calloc(1, 64 << 20), *packed = malloc(1 << 20);
    size_t size = ZSTD_compress(packed, 1 << 20, zeros, 64 << 20, 1);
    assert_false(ZSTD_isError(size));
    for (int i = 0; i < 2; i++) {
        struct vmv_chunk_header header = {.type = VMV_CHUNK_NOTES,
                                          .flags = VMV_CHUNKF_ZSTD,
                                          .tag = chunk[0].header.tag,
                                          .stored = size,
                                          .raw = i ? 1 << 10 : VMV_RAW_LIMIT,
                                          .hash = vmv_chunk_hash(packed, size)};
        uint64_t at = out.length;
        vmv_chunk_header_encode(vmv_out_reserve(&out, VMV_CHUNK_HEADER_BYTES), &header);
        out.length += VMV_CHUNK_HEADER_BYTES;
        vmv_out_bytes(&out, packed, size);
        vmv_chunk_trailer_encode(vmv_out_reserve(&out, VMV_CHUNK_TRAILER_BYTES), at);
        out.length += VMV_CHUNK_TRAILER_BYTES;
    }
    kit_save(name, out.data, out.length);
    struct vmv_reader *hostile = kit_reader(name);
    const struct vmv_chunk *theirs = vmv_reader_chunks(hostile, &count);
    assert_int_equal(count, 3);
    assert_null(vmv_reader_payload(hostile, &theirs[1], &length));
    assert_null(vmv_reader_payload(hostile, &theirs[2], &length));
    vmv_reader_close(hostile);
    vmv_reader_close(reader);
    vmv_out_free(&out);
    free(zeros);
    free(packed);
    kit_remove(name);
    whole_free(&whole);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(cut_at_a_thousand_places),
        cmocka_unit_test(no_dangling_references),
        cmocka_unit_test(zeros_at_the_end),
        cmocka_unit_test(hole_without_index),
        cmocka_unit_test(trace_inside_a_trace),
        cmocka_unit_test(every_flipped_bit_is_found),
        cmocka_unit_test(forged_payloads),
        cmocka_unit_test(forged_headers),
        cmocka_unit_test(hostile_frames),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
