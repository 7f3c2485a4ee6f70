// A STATE stands between two events, and says which: also where the chunk before it is closed by time, not by size.
#include "reader.h"
#include "writer.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static void no_errors(void *user, uint64_t offset, const char *chunk, const char *what) {
    (void)user;
    fail_msg("at %lu, %s: %s", offset, chunk, what);
}

static void write_events(const char *path, uint64_t events) {
    static const char *const program[] = {"program"};
    struct vmv_meta meta = {.program = program, .program_count = 1, .arch = "x86_64", .page_size = 4096};
    char error[256];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    struct vmv_writer *writer = vmv_writer_create(fd, &meta, error, sizeof error);
    assert_non_null(writer);
    struct vmv_event space = {.type = VMV_EV_SPACE, .space = 1, .pid = 10, .tid = 10, .name = "/program"};
    vmv_writer_event(writer, &space);
    for (uint64_t i = 0; i < events; i++) {
        // every thousandth event comes 300 ms later: it closes the chunk before it, and with it a STATE may be due
        struct vmv_event fault = {.t = i / 1000 * 300000000 + i % 1000,
                                  .type = VMV_EV_FAULT,
                                  .space = 1,
                                  .pid = 10,
                                  .tid = 10,
                                  .addr = 0x10000000 + i * 4096};
        vmv_writer_event(writer, &fault);
    }
    struct vmv_end end = {.complete = true};
    assert_true(vmv_writer_finish(writer, &end));
}

static void states_are_where_they_say(void **state) {
    (void)state;
    char path[] = "/tmp/vmvis-state-XXXXXX", error[256];
    close(mkstemp(path));
    write_events(path, 400000);
    struct vmv_reader *reader = vmv_reader_open(path, error, sizeof error);
    unlink(path);
    assert_non_null(reader);
    size_t count, states = 0;
    const struct vmv_chunk *chunks = vmv_reader_chunks(reader, &count);
    for (size_t i = 0; i < count; i++) states += chunks[i].header.type == VMV_CHUNK_STATE;
    assert_true(states >= 2);
    assert_true(vmv_reader_verify(reader, no_errors, NULL).ok);
    vmv_reader_close(reader);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(states_are_where_they_say)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
