// What the writer writes, the reader reads: round trips, outputs that fail, files that are not traces.
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "trace_kit.h"

static void small_trace(void **state) {
    char *name = kit_name();
    kit_small(name);
    struct vmv_reader *reader = kit_reader(name);
    assert_null(vmv_reader_warning(reader));
    assert_int_equal(vmv_reader_header(reader)->major, 1);
    assert_string_equal(vmv_reader_meta(reader)->program[1], "argument");
    assert_int_equal(vmv_reader_meta(reader)->page_size, KIT_PAGE);
    const struct vmv_end *end = vmv_reader_end(reader);
    assert_true(end->complete && end->exited);
    assert_int_equal(end->exit_code, 3);
    assert_int_equal(end->duration_ns, 40000000);
    assert_int_equal(end->events[VMV_EV_FAULT], 5);
    assert_int_equal(end->pages_captured, 1);
    struct kit_events events = kit_events_of(reader);
    assert_false(events.damaged);
    assert_int_equal(events.count, 12);
    kit_events_free(&events);
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    kit_remove(name);
}

static void counts_and_touched(void **state) {
    char *name = kit_name();
    struct vmv_writer *writer = kit_writer(name);
    kit_begin(writer);
    for (unsigned i = 0; i < 1000; i++) kit_fault(writer, 300000000 + i, i * 512 * 3, 0); // every third block
    vmv_writer_event(
        writer,
        &(struct vmv_event){.type = VMV_EV_MUNMAP, .t = 300002000, .space = 2, .addr = 1ull << 30, .len = 1ull << 40});
    kit_finish(writer);
    struct vmv_reader *reader = kit_reader(name);
    size_t chunks, count;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &chunks), *last = NULL;
    for (size_t i = 0; i < chunks; i++)
        if (chunk[i].header.type == VMV_CHUNK_EVENTS) last = &chunk[i];
    uint64_t counts[VMV_EV_TYPE_COUNT];
    assert_true(vmv_reader_counts(reader, last, counts));
    assert_int_equal(counts[VMV_EV_FAULT], 1000);
    assert_int_equal(counts[VMV_EV_MUNMAP], 1);
    struct vmv_touched *touched = vmv_reader_touched(reader, last, &count);
    assert_int_equal(count, 1001);
    for (size_t i = 0; i < 1000; i++) {
        assert_int_equal(touched[i].space, 1);
        assert_int_equal(touched[i].block, (KIT_BASE >> 21) + 3 * i);
        assert_int_equal(touched[i].last, touched[i].block);
    }
    assert_int_equal(touched[1000].space, 2);
    assert_int_equal(touched[1000].block, 1 << 9);
    assert_int_equal(touched[1000].last, (1 << 9) + (1 << 19) - 1);
    free(touched);
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    kit_remove(name);
}

static void times_never_fall(void **state) {
    char *name = kit_name();
    struct vmv_writer *writer = kit_writer(name);
    kit_begin(writer);
    kit_fault(writer, 9000, 1, 0);
    kit_fault(writer, 8000, 2, 0);
    assert_int_equal(vmv_writer_world(writer)->seq, 4);
    kit_finish(writer);
    struct vmv_reader *reader = kit_reader(name);
    kit_assert_clean(reader);
    assert_int_equal(vmv_reader_end(reader)->duration_ns, 9000);
    vmv_reader_close(reader);
    kit_remove(name);
}

// A world as bytes, to compare two.
static struct vmv_out world_bytes(const struct vmv_world *world) {
    struct vmv_out out = {0};
    vmv_world_encode(&out, world);
    return out;
}

// Each STATE is what replaying the events up to it gives.
static void check_states(struct vmv_reader *reader, size_t at_least) {
    struct vmv_world *world = vmv_world_create(KIT_PAGE);
    struct vmv_arena arena = {0};
    size_t chunks, count, states = 0;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &chunks);
    for (size_t i = 0; i < chunks; i++) {
        if (chunk[i].header.type == VMV_CHUNK_EVENTS) {
            const struct vmv_event *events = vmv_reader_events(reader, &chunk[i], &arena, &count);
            assert_non_null(events);
            for (size_t e = 0; e < count; e++) vmv_world_apply(world, &events[e]);
            vmv_arena_reset(&arena);
        }
        if (chunk[i].header.type != VMV_CHUNK_STATE) continue;
        struct vmv_world *stored = vmv_reader_state(reader, &chunk[i]);
        assert_non_null(stored);
        struct vmv_out a = world_bytes(world), b = world_bytes(stored);
        assert_int_equal(a.length, b.length);
        assert_memory_equal(a.data, b.data, a.length);
        vmv_out_free(&a);
        vmv_out_free(&b);
        vmv_world_destroy(stored);
        states++;
    }
    assert_true(states >= at_least);
    vmv_arena_free(&arena);
    vmv_world_destroy(world);
}

static void long_trace(void **state) {
    char *name = kit_name();
    struct vmv_writer *writer = kit_writer(name);
    uint64_t seed = 5;
    kit_begin(writer);
    for (unsigned i = 0; i < 1200000; i++) kit_fault(writer, 10000 + i * 1000ull, kit_random(&seed) % 4096, 0);
    kit_finish(writer);
    struct vmv_reader *reader = kit_reader(name);
    assert_int_equal(vmv_reader_end(reader)->events[VMV_EV_FAULT], 1200000);
    check_states(reader, 1);
    kit_assert_clean(reader);
    assert_true(kit_count_chunks(reader, VMV_CHUNK_SUMMARY) >= 1);
    vmv_reader_close(reader);
    kit_remove(name);
}

// While it runs, INDEX chunks list what came since the one before; at the end one lists all.
static void index_chain(void **state) {
    char *name = kit_name();
    kit_long(name, 30);
    struct vmv_reader *reader = kit_reader(name);
    size_t count;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    assert_true(kit_count_chunks(reader, VMV_CHUNK_INDEX) >= 4);
    kit_assert_clean(reader);
    struct kit_events all = kit_events_of(reader);
    size_t last = count;
    while (chunk[last - 1].header.type != VMV_CHUNK_INDEX) last--;
    struct kit_file file = kit_load(name);
    char *cut = kit_name();
    kit_save(cut, file.data, chunk[last - 1].offset); // without the last INDEX and END: only the chain is left
    struct vmv_reader *other = kit_reader(cut);
    size_t others;
    const struct vmv_chunk *theirs = vmv_reader_chunks(other, &others);
    assert_int_equal(others, last - 1);
    for (size_t i = 0; i < others; i++) assert_memory_equal(&chunk[i], &theirs[i], sizeof *chunk);
    assert_non_null(strstr(vmv_reader_warning(other), "interrupted"));
    assert_false(vmv_reader_end(other)->complete);
    assert_memory_equal(vmv_reader_end(other)->events, vmv_reader_end(reader)->events,
                        sizeof vmv_reader_end(reader)->events);
    assert_int_equal(vmv_reader_end(other)->duration_ns, vmv_reader_end(reader)->duration_ns);
    assert_int_equal(vmv_reader_end(other)->pages_captured, vmv_reader_end(reader)->pages_captured);
    struct kit_events same = kit_events_of(other);
    assert_int_equal(same.count, all.count);
    assert_true(kit_is_prefix(&same, &all));
    kit_assert_clean(other);
    kit_events_free(&same);
    kit_events_free(&all);
    vmv_reader_close(other);
    vmv_reader_close(reader);
    free(file.data);
    kit_remove(cut);
    kit_remove(name);
}

// With an INDEX of the chain damaged, headers are hopped over, and the totals come from the events.
static void broken_chain(void **state) {
    char *name = kit_name(), *cut = kit_name();
    kit_long(name, 15);
    struct vmv_reader *reader = kit_reader(name);
    struct kit_file file = kit_load(name);
    size_t count, others, first = 0, last;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    while (chunk[first].header.type != VMV_CHUNK_INDEX) first++;
    for (last = count; chunk[last - 1].header.type != VMV_CHUNK_INDEX;) last--;
    assert_true(last - 1 > first);
    file.data[chunk[first].offset + VMV_CHUNK_HEADER_BYTES] ^= 0x10;
    kit_save(cut, file.data, chunk[last - 1].offset);
    struct vmv_reader *other = kit_reader(cut);
    vmv_reader_chunks(other, &others);
    assert_int_equal(others, last - 1);
    assert_memory_equal(vmv_reader_end(other)->events, vmv_reader_end(reader)->events,
                        sizeof vmv_reader_end(reader)->events);
    assert_false(vmv_reader_verify(other, NULL, NULL).ok);
    vmv_reader_close(other);
    vmv_reader_close(reader);
    free(file.data);
    kit_remove(cut);
    kit_remove(name);
}

// --- outputs

static void through_a_pipe(void **state) {
    char *name = kit_name();
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) { // reads what comes into the file
        close(ends[1]);
        int fd = open(name, O_WRONLY | O_TRUNC);
        char buffer[1000];
        ssize_t got;
        while ((got = read(ends[0], buffer, sizeof buffer)) > 0)
            if (write(fd, buffer, (size_t)got) != got) _exit(1);
        _exit(0);
    }
    close(ends[0]);
    fcntl(ends[1], F_SETFL, O_NONBLOCK); // partial writes and EAGAIN
    char error[200];
    struct vmv_meta meta = kit_meta();
    struct vmv_writer *writer = vmv_writer_create(ends[1], &meta, error, sizeof error);
    assert_non_null(writer);
    kit_begin(writer);
    for (unsigned i = 0; i < 40; i++) kit_frame(writer, 10000000 + i * 50000000ull, i + 1, 0, 50, i + 1);
    kit_finish(writer);
    int status;
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    struct vmv_reader *reader = kit_reader(name);
    assert_int_equal(vmv_reader_end(reader)->pages_captured, 2000);
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    kit_remove(name);
}

static void from_standard_input(void **state) {
    char *name = kit_name();
    kit_small(name);
    int saved = dup(STDIN_FILENO), fd = open(name, O_RDONLY);
    dup2(fd, STDIN_FILENO);
    close(fd);
    struct vmv_reader *reader = kit_reader("-");
    dup2(saved, STDIN_FILENO);
    close(saved);
    assert_string_equal(vmv_reader_path(reader), "standard input");
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    kit_remove(name);
}

static void closed_pipe(void **state) {
    int ends[2];
    char error[200] = "";
    struct vmv_meta meta = kit_meta();
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    struct vmv_writer *writer = vmv_writer_create(ends[1], &meta, error, sizeof error);
    assert_non_null(writer);
    close(ends[0]);
    kit_begin(writer);
    for (unsigned i = 0; i < 40; i++) kit_frame(writer, 10000000 + i * 50000000ull, i + 1, 0, 5, i + 1);
    assert_non_null(vmv_writer_trouble(writer));
    assert_non_null(strstr(vmv_writer_trouble(writer), "closed the pipe"));
    assert_null(strchr(vmv_writer_trouble(writer), '\n'));
    uint64_t bytes = vmv_writer_bytes(writer);
    assert_int_equal(vmv_writer_stack(writer, "", 0, 0, "", 0), 0);
    assert_false(vmv_writer_idle(writer));
    struct vmv_end end = {0};
    assert_false(vmv_writer_complete(writer, &end));
    assert_int_equal(vmv_writer_bytes(writer), bytes);
    assert_false(end.complete);
    assert_false(vmv_writer_finish(writer, &end));
}

static void full_device(void **state) {
    char error[300] = "";
    struct vmv_meta meta = kit_meta();
    int fd = open("/dev/full", O_WRONLY);
    if (fd < 0) skip();
    assert_null(vmv_writer_create(fd, &meta, error, sizeof error));
    assert_non_null(strstr(error, "No space left"));
}

// The disk fills up in the middle (here: the largest file size allowed is reached, in the middle of a write): what was
// written before opens.
static void full_in_the_middle(void **state) {
    char *name = kit_name();
    struct rlimit before, small = {.rlim_cur = 300000};
    getrlimit(RLIMIT_FSIZE, &before);
    small.rlim_max = before.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    struct vmv_writer *writer = kit_writer(name);
    setrlimit(RLIMIT_FSIZE, &small);
    kit_begin(writer);
    for (unsigned i = 0; i < 40; i++) kit_frame(writer, 10000000 + i * 250000000ull, i + 1, 0, 5, i + 1);
    setrlimit(RLIMIT_FSIZE, &before);
    assert_non_null(vmv_writer_trouble(writer));
    assert_non_null(strstr(vmv_writer_trouble(writer), "failed at byte"));
    assert_false(vmv_writer_finish(writer, &(struct vmv_end){0}));
    struct vmv_reader *reader = kit_reader(name);
    assert_int_equal(vmv_reader_bytes(reader), 300000);
    assert_true(vmv_reader_end(reader)->events[VMV_EV_FRAME] >= 10);
    assert_non_null(strstr(vmv_reader_warning(reader), "cut at byte"));
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    kit_remove(name);
}

// One event each two seconds for an hour.
static void idle_hour(void **state) {
    char *name = kit_name();
    struct vmv_writer *writer = kit_writer(name);
    kit_begin(writer);
    for (unsigned i = 0; i < 1800; i++) {
        kit_fault(writer, i * 2000000000ull, i, 0);
        for (unsigned tick = 1; tick < 40; tick++) vmv_writer_tick(writer, i * 2000000000ull + tick * 50000000);
    }
    kit_finish(writer);
    struct vmv_reader *reader = kit_reader(name);
    assert_true(vmv_reader_bytes(reader) < 500000);
    assert_true(kit_count_chunks(reader, VMV_CHUNK_EVENTS) >= 1800);
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    kit_remove(name);
}

// --- files that are not traces, and ones that are newer

static void expect_refused(const char *name, const char *why) {
    char error[512] = "";
    assert_null(vmv_reader_open(name, error, sizeof error));
    if (!strstr(error, why)) fail_msg("%s: does not say \"%s\"", error, why);
    assert_memory_equal(error, name, strlen(name));
    assert_null(strchr(error, '\n'));
}

static void refused(void **state) {
    char *name = kit_name();
    kit_save(name, NULL, 0);
    expect_refused(name, "empty");
    kit_save(name,
             (const uint8_t *)"\x7f"
                              "ELF\2\1\1",
             7);
    expect_refused(name, "not a vmvis trace");
    kit_save(name, (const uint8_t *)"\x89VMV", 4);
    expect_refused(name, "cut within its header at byte 4");
    kit_small(name);
    struct kit_file file = kit_load(name);
    kit_save(name, file.data, 63);
    expect_refused(name, "cut within its header at byte 63");
    kit_save(name, file.data, 100);
    expect_refused(name, "cut within its header at byte 100");
    file.data[20] ^= 1;
    kit_save(name, file.data, file.length);
    expect_refused(name, "damaged");
    expect_refused("/", "directory");
    expect_refused("/nonexistent/trace.vmv", "No such file");
    free(file.data);
    kit_remove(name);
}

static void versions(void **state) {
    char *name = kit_name();
    kit_small(name);
    struct kit_file file = kit_load(name);
    struct vmv_file_header header;
    assert_int_equal(vmv_file_header_decode(file.data, &header), 0);
    header.minor = 9;
    vmv_file_header_encode(file.data, &header);
    kit_save(name, file.data, file.length);
    struct vmv_reader *reader = kit_reader(name);
    assert_int_equal(vmv_reader_header(reader)->minor, 9);
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    header.major = 2;
    vmv_file_header_encode(file.data, &header);
    kit_save(name, file.data, file.length);
    expect_refused(name, "format 2.9");
    free(file.data);
    kit_remove(name);
}

// --- chunks put in by hand

static size_t append_chunk(const char *name, struct vmv_chunk_header header, const void *payload, size_t length) {
    struct kit_file file = kit_load(name);
    struct vmv_out out = {0};
    struct vmv_file_header head;
    vmv_file_header_decode(file.data, &head);
    vmv_out_bytes(&out, file.data, file.length);
    header.tag = vmv_file_tag(&head);
    header.stored = length;
    header.hash = vmv_chunk_hash(payload, length);
    vmv_chunk_header_encode(vmv_out_reserve(&out, VMV_CHUNK_HEADER_BYTES), &header);
    out.length += VMV_CHUNK_HEADER_BYTES;
    vmv_out_bytes(&out, payload, length);
    vmv_chunk_trailer_encode(vmv_out_reserve(&out, VMV_CHUNK_TRAILER_BYTES), file.length);
    out.length += VMV_CHUNK_TRAILER_BYTES;
    kit_save(name, out.data, out.length);
    free(file.data);
    vmv_out_free(&out);
    return file.length;
}

static uint64_t newest_index(const char *name) {
    struct vmv_reader *reader = kit_reader(name);
    size_t count;
    uint64_t newest = 0;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    for (size_t i = 0; i < count; i++)
        if (chunk[i].header.type == VMV_CHUNK_INDEX) newest = chunk[i].offset;
    vmv_reader_close(reader);
    return newest;
}

static void notes_behind_the_end(void **state) {
    char *name = kit_name();
    kit_small(name);
    append_chunk(name, (struct vmv_chunk_header){.type = VMV_CHUNK_NOTES, .raw = 5, .back = newest_index(name)},
                 "noted", 5);
    struct vmv_reader *reader = kit_reader(name);
    size_t count;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    assert_int_equal(chunk[count - 1].header.type, VMV_CHUNK_NOTES);
    assert_null(vmv_reader_warning(reader));
    assert_true(vmv_reader_end(reader)->complete);
    size_t length;
    uint8_t *payload = vmv_reader_payload(reader, &chunk[count - 1], &length);
    assert_int_equal(length, 5);
    assert_memory_equal(payload, "noted", 5);
    free(payload);
    struct vmv_verify result = vmv_reader_verify(reader, kit_print_error, NULL);
    assert_true(result.ok && result.complete);
    vmv_reader_close(reader);
    kit_remove(name);
}

static void unknown_chunks(void **state) {
    char *name = kit_name();
    kit_small(name);
    append_chunk(name, (struct vmv_chunk_header){.type = 999, .flags = 0x800, .raw = 12345, .back = newest_index(name)},
                 "future", 6);
    struct vmv_reader *reader = kit_reader(name);
    size_t count, length;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    assert_int_equal(chunk[count - 1].header.type, 999);
    assert_null(vmv_reader_payload(reader, &chunk[count - 1], &length));
    assert_non_null(strstr(vmv_reader_error(reader), "does not know"));
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    kit_remove(name);
}

// Chunks beyond 4 GiB: 24 holes of 256 MiB, each a chunk of a type unknown here, before the last events.
static void beyond_four_gigabytes(void **state) {
    char *name = kit_name();
    enum { HOLES = 24, HOLE = 256 << 20 };
    kit_small(name);
    struct vmv_reader *reader = kit_reader(name);
    struct kit_events all = kit_events_of(reader);
    size_t count, first = 1;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    struct kit_file file = kit_load(name);
    uint8_t bytes[VMV_CHUNK_HEADER_BYTES], tail[VMV_CHUNK_TRAILER_BYTES];
    int fd = open(name, O_RDWR | O_TRUNC);
    uint64_t at = chunk[first].offset;
    assert_int_equal(pwrite(fd, file.data, at, 0), at);
    for (int i = 0; i < HOLES; i++) {
        struct vmv_chunk_header header = {.type = 500, .tag = chunk[0].header.tag, .stored = HOLE};
        vmv_chunk_header_encode(bytes, &header);
        vmv_chunk_trailer_encode(tail, at);
        if (pwrite(fd, bytes, sizeof bytes, (off_t)at) != sizeof bytes) skip();
        at += sizeof bytes + HOLE;
        if (pwrite(fd, tail, sizeof tail, (off_t)at) != sizeof tail) skip(); // a file system without large files
        at += sizeof tail;
    }
    for (size_t i = first; i < count && chunk[i].header.type != VMV_CHUNK_INDEX; i++) {
        uint64_t length = vmv_chunk_end(&chunk[i]) - chunk[i].offset;
        vmv_chunk_trailer_encode(file.data + chunk[i].offset + length - VMV_CHUNK_TRAILER_BYTES, at);
        assert_int_equal(pwrite(fd, file.data + chunk[i].offset, length, (off_t)at), length);
        at += length;
    }
    close(fd);
    assert_true(at > 6ull << 30);
    struct vmv_reader *far = kit_reader(name);
    assert_int_equal(vmv_reader_bytes(far), at);
    struct kit_events same = kit_events_of(far);
    assert_int_equal(same.count, all.count);
    assert_true(kit_is_prefix(&same, &all));
    uint8_t page[KIT_PAGE], expected[KIT_PAGE];
    assert_true(vmv_reader_page(far, VMV_CONTENT_FIRST, page));
    assert_true(vmv_reader_page(reader, VMV_CONTENT_ZERO, expected));
    kit_events_free(&same);
    kit_events_free(&all);
    vmv_reader_close(far);
    vmv_reader_close(reader);
    free(file.data);
    kit_remove(name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_trace),
        cmocka_unit_test(counts_and_touched),
        cmocka_unit_test(times_never_fall),
        cmocka_unit_test(long_trace),
        cmocka_unit_test(index_chain),
        cmocka_unit_test(broken_chain),
        cmocka_unit_test(full_in_the_middle),
        cmocka_unit_test(idle_hour),
        cmocka_unit_test(through_a_pipe),
        cmocka_unit_test(from_standard_input),
        cmocka_unit_test(closed_pipe),
        cmocka_unit_test(full_device),
        cmocka_unit_test(refused),
        cmocka_unit_test(versions),
        cmocka_unit_test(notes_behind_the_end),
        cmocka_unit_test(unknown_chunks),
        cmocka_unit_test(beyond_four_gigabytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
