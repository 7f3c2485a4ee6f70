// Traces for the tests of writer and reader, made through the writer and all alike each time, and tools to cut them
// up. Every test program that includes it must also use it.
#ifndef TRACE_KIT_H
#define TRACE_KIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "reader.h"
#include "writer.h"

#define KIT_UNUSED __attribute__((unused)) static

enum { KIT_PAGE = 4096 };
#define KIT_BASE 0x7f0000000000u // where the traced program's pages lie

struct kit_file { // bytes of a file
    uint8_t *data;
    size_t length;
};

KIT_UNUSED struct vmv_meta kit_meta(void) {
    static const char *const program[] = {"./prog", "argument"};
    return (struct vmv_meta){.program = program,
                             .program_count = 2,
                             .directory = "/",
                             .pid = 100,
                             .arch = "x86_64",
                             .started = 1700000000000000000u,
                             .start_monotonic_ns = 5000,
                             .page_size = KIT_PAGE,
                             .machine = "machine",
                             .kernel = "6.18",
                             .recorder = "0.1",
                             .source_faults = "records",
                             .source_maps = "stops",
                             .source_why = "",
                             .budget_percent = 10,
                             .stack_bytes = 2048,
                             .content = "changed",
                             .register_set = "x86_64-user-regs"};
}

KIT_UNUSED uint64_t kit_random(uint64_t *state) { // xorshift64*
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 0x2545f4914f6cdd1du;
}

KIT_UNUSED void kit_random_bytes(uint64_t *state, void *out, size_t length) {
    uint8_t *to = out;
    for (size_t i = 0; i < length; i++) to[i] = (uint8_t)(kit_random(state) >> 56);
}

// A new name in the temporary folder, removed by kit_remove.
KIT_UNUSED char *kit_name(void) {
    const char *folder = getenv("TMPDIR");
    char *name = NULL;
    assert_true(asprintf(&name, "%s/vmvis-test-XXXXXX", folder ? folder : "/tmp") > 0);
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    close(fd);
    return name;
}

KIT_UNUSED void kit_remove(char *name) {
    unlink(name);
    free(name);
}

KIT_UNUSED struct kit_file kit_load(const char *name) {
    struct kit_file file = {0};
    FILE *stream = fopen(name, "rb");
    assert_non_null(stream);
    fseek(stream, 0, SEEK_END);
    file.length = (size_t)ftell(stream);
    rewind(stream);
    file.data = malloc(file.length + 1);
    assert_int_equal(fread(file.data, 1, file.length, stream), file.length);
    fclose(stream);
    return file;
}

KIT_UNUSED void kit_save(const char *name, const uint8_t *data, size_t length) {
    FILE *stream = fopen(name, "wb");
    assert_non_null(stream);
    if (length) assert_int_equal(fwrite(data, 1, length, stream), length);
    fclose(stream);
}

KIT_UNUSED struct vmv_writer *kit_writer(const char *name) {
    char error[256] = "";
    struct vmv_meta meta = kit_meta();
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    struct vmv_writer *writer = vmv_writer_create_with(
        fd, &meta, &(struct vmv_writer_options){.id = {1, 2, 3, 4, 5, 6, 7, 8}}, error, sizeof error);
    if (!writer) fail_msg("%s", error);
    return writer;
}

KIT_UNUSED struct vmv_reader *kit_reader(const char *name) {
    char error[512] = "";
    struct vmv_reader *reader = vmv_reader_open(name, error, sizeof error);
    if (!reader) fail_msg("%s", error);
    return reader;
}

KIT_UNUSED void kit_finish(struct vmv_writer *writer) {
    struct vmv_end end = {.exited = true, .exit_code = 3};
    assert_true(vmv_writer_finish(writer, &end));
}

// --- events

KIT_UNUSED void kit_begin(struct vmv_writer *writer) { // a space with one anonymous mapping of 4096 pages
    const struct vmv_mapping map = {
        .start = KIT_BASE, .end = KIT_BASE + 4096u * KIT_PAGE, .flags = VMV_MAP_R | VMV_MAP_W, .name = ""};
    vmv_writer_event(
        writer,
        &(struct vmv_event){.type = VMV_EV_SPACE, .t = 1000, .space = 1, .pid = 100, .tid = 100, .name = "./prog"});
    vmv_writer_event(writer, &(struct vmv_event){.type = VMV_EV_MAPS,
                                                 .t = 1500,
                                                 .space = 1,
                                                 .pid = 100,
                                                 .tid = 100,
                                                 .addr = 0,
                                                 .len = 1ull << 47,
                                                 .maps = &map,
                                                 .map_count = 1});
}

KIT_UNUSED void kit_fault(struct vmv_writer *writer, uint64_t t, uint64_t page, uint64_t stack) {
    vmv_writer_event(writer, &(struct vmv_event){.type = VMV_EV_FAULT,
                                                 .t = t,
                                                 .space = 1,
                                                 .pid = 100,
                                                 .tid = 100,
                                                 .stack = stack,
                                                 .addr = KIT_BASE + page * KIT_PAGE,
                                                 .pc = 0x401000 + page % 7,
                                                 .kind = VMV_FAULT_FIRST_TOUCH,
                                                 .access = VMV_ACCESS_WRITE,
                                                 .source = VMV_SOURCE_RECORDS});
}

// A frame: registers of one thread and the contents of `pages` pages from `page` on, made from `seed`.
KIT_UNUSED void kit_frame(struct vmv_writer *writer, uint64_t t, uint64_t n, uint64_t page, unsigned pages,
                          uint64_t seed) {
    uint8_t bytes[KIT_PAGE], regs[216];
    memset(regs, (int)seed, sizeof regs);
    uint64_t number = vmv_writer_regs(writer, regs, sizeof regs, "xsave", 5);
    vmv_writer_event(
        writer,
        &(struct vmv_event){.type = VMV_EV_FRAME, .t = t, .space = 1, .pid = 100, .frame = n, .pages_written = pages});
    for (unsigned i = 0; i < pages; i++) {
        kit_random_bytes(&seed, bytes, sizeof bytes);
        uint64_t content = vmv_writer_page(writer, bytes), addr = KIT_BASE + (page + i) * KIT_PAGE;
        vmv_writer_event(writer, &(struct vmv_event){.type = VMV_EV_PAGES,
                                                     .t = t,
                                                     .space = 1,
                                                     .pid = 100,
                                                     .addr = addr,
                                                     .len = KIT_PAGE,
                                                     .state = VMV_PAGE_RESIDENT,
                                                     .page_flags = VMV_PAGEF_WRITTEN});
        vmv_writer_event(writer, &(struct vmv_event){.type = VMV_EV_CONTENT,
                                                     .t = t,
                                                     .space = 1,
                                                     .pid = 100,
                                                     .addr = addr,
                                                     .len = KIT_PAGE,
                                                     .content = content,
                                                     .content_step = 1,
                                                     .certainty = VMV_CERT_EXACT});
    }
    vmv_writer_event(writer, &(struct vmv_event){.type = VMV_EV_THREAD,
                                                 .t = t,
                                                 .space = 1,
                                                 .pid = 100,
                                                 .tid = 100,
                                                 .state = VMV_THREAD_RUNNING,
                                                 .name = "prog",
                                                 .syscall = -1,
                                                 .pc = 0x401000,
                                                 .sp = 0x7ffc0000,
                                                 .regs = number,
                                                 .certainty = VMV_CERT_EXACT});
}

// Everything in a few hundred bytes: an object, a stack, faults, a frame, a mark.
KIT_UNUSED void kit_small(const char *name) {
    struct vmv_writer *writer = kit_writer(name);
    kit_begin(writer);
    vmv_writer_object(writer,
                      &(struct vmv_object_identity){
                          .path = "/bin/prog", .inode = 7, .size = 100, .build_id = {9}, .build_id_length = 20},
                      -1);
    uint64_t stack = vmv_writer_stack(writer, "registers", 9, 0x7ffc0000, "bytes of the stack", 18);
    for (unsigned i = 0; i < 5; i++) kit_fault(writer, 2000 + i, i * 3, stack);
    kit_frame(writer, 30000000, 1, 2, 1, 42);
    vmv_writer_event(
        writer,
        &(struct vmv_event){.type = VMV_EV_MARK, .t = 40000000, .space = 1, .pid = 100, .tid = 100, .name = "here"});
    kit_finish(writer);
}

// Many chunks: `seconds` of trace with a frame each 50 ms.
KIT_UNUSED void kit_long(const char *name, unsigned seconds) {
    struct vmv_writer *writer = kit_writer(name);
    uint64_t seed = 77;
    kit_begin(writer);
    for (unsigned i = 0; i < 20 * seconds; i++) {
        uint64_t t = 2000000u + i * 50000000ull, stack = kit_random(&seed);
        stack = vmv_writer_stack(writer, &stack, sizeof stack, 0x7ffc0000 + i, "the same stack bytes", 20);
        for (unsigned j = 0; j < 20; j++) kit_fault(writer, t + j, kit_random(&seed) % 4096, stack);
        kit_frame(writer, t + 1000, i + 1, i % 4000, 2, i + 1);
        vmv_writer_tick(writer, t + 2000);
    }
    kit_finish(writer);
}

// --- comparing

// Every event of a trace as bytes, each on its own, so that prefixes can be compared. offsets: where event i begins.
struct kit_events {
    struct vmv_out bytes;
    size_t *offsets, count, room;
    bool damaged; // some chunk did not decode
};

KIT_UNUSED void kit_events_add(struct kit_events *all, const struct vmv_event *event) {
    struct vmv_codec codec = {0};
    if (all->count == all->room) {
        all->room = all->room ? 2 * all->room : 256;
        all->offsets = realloc(all->offsets, (all->room + 1) * sizeof *all->offsets);
        assert_non_null(all->offsets);
    }
    all->offsets[all->count++] = all->bytes.length;
    vmv_out_u64(&all->bytes, event->seq);
    vmv_event_encode(&codec, &all->bytes, event);
    all->offsets[all->count] = all->bytes.length;
}

KIT_UNUSED struct kit_events kit_events_of(struct vmv_reader *reader) {
    struct kit_events all = {0};
    struct vmv_arena arena = {0};
    size_t count, chunks;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &chunks);
    for (size_t i = 0; i < chunks; i++) {
        if (chunk[i].header.type != VMV_CHUNK_EVENTS) continue;
        const struct vmv_event *events = vmv_reader_events(reader, &chunk[i], &arena, &count);
        all.damaged = all.damaged || !events;
        for (size_t e = 0; events && e < count; e++) kit_events_add(&all, &events[e]);
        vmv_arena_reset(&arena);
    }
    vmv_arena_free(&arena);
    return all;
}

KIT_UNUSED void kit_events_free(struct kit_events *all) {
    vmv_out_free(&all->bytes);
    free(all->offsets);
}

KIT_UNUSED bool kit_is_prefix(const struct kit_events *part, const struct kit_events *all) {
    return part->count <= all->count &&
           (part->count == 0 || (part->bytes.length == all->offsets[part->count] &&
                                 memcmp(part->bytes.data, all->bytes.data, part->bytes.length) == 0));
}

KIT_UNUSED size_t kit_count_chunks(const struct vmv_reader *reader, uint32_t type) {
    size_t count, found = 0;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    for (size_t i = 0; i < count; i++) found += chunk[i].header.type == type;
    return found;
}

KIT_UNUSED void kit_print_error(void *user, uint64_t offset, const char *chunk, const char *what) {
    (void)user;
    fprintf(stderr, "verify: %s at byte %llu: %s\n", chunk, (unsigned long long)offset, what);
}

KIT_UNUSED void kit_assert_clean(struct vmv_reader *reader) {
    struct vmv_verify result = vmv_reader_verify(reader, kit_print_error, NULL);
    assert_true(result.ok);
    assert_int_equal(result.errors, 0);
}

#endif
