// The example of docs/FORMAT.md, written anew: every byte of its dump is what the writer writes. --print prints it.
#include "trace_kit.h"

static void write_example(const char *name) {
    static const char *const program[] = {"./touch"};
    const struct vmv_meta meta = {.program = program,
                                  .program_count = 1,
                                  .directory = "/tmp",
                                  .pid = 100,
                                  .started = 1700000000000000000u,
                                  .start_monotonic_ns = 1000,
                                  .arch = "x86_64",
                                  .page_size = 4096,
                                  .recorder = "0.1.0"};
    const struct vmv_writer_options options = {.id = "vmvis' example", .store = true};
    const struct vmv_mapping map = {.start = 0x10000, .end = 0x12000, .flags = VMV_MAP_R | VMV_MAP_W, .name = ""};
    const struct vmv_event space = {
        .type = VMV_EV_SPACE, .t = 0, .space = 1, .pid = 100, .tid = 100, .name = "./touch"};
    const struct vmv_event maps = {.type = VMV_EV_MAPS,
                                   .t = 1000,
                                   .space = 1,
                                   .pid = 100,
                                   .tid = 100,
                                   .len = 1ull << 47,
                                   .maps = &map,
                                   .map_count = 1};
    struct vmv_event fault = {.type = VMV_EV_FAULT,
                              .t = 250000,
                              .space = 1,
                              .pid = 100,
                              .tid = 100,
                              .addr = 0x11008,
                              .pc = 0x401136,
                              .kind = VMV_FAULT_FIRST_TOUCH,
                              .access = VMV_ACCESS_WRITE,
                              .source = VMV_SOURCE_RECORDS};
    char error[200];
    int fd = open(name, O_WRONLY | O_TRUNC);
    struct vmv_writer *writer = vmv_writer_create_with(fd, &meta, &options, error, sizeof error);
    assert_non_null(writer);
    vmv_writer_event(writer, &space);
    vmv_writer_event(writer, &maps);
    fault.stack = vmv_writer_stack(writer, "\x36\x11\x40\0\0\0\0\0", 8, 0x7ffffff0, "return to main: ", 16);
    vmv_writer_event(writer, &fault);
    vmv_writer_finish(writer, &(struct vmv_end){.duration_ns = 300000, .exited = true});
}

static void print_line(const uint8_t *data, size_t at, size_t length) {
    printf("%08zx ", at);
    for (size_t i = 0; i < 16; i++) i < length ? printf(" %02x", data[at + i]) : printf("   ");
    printf("  ");
    for (size_t i = 0; i < length; i++) putchar(data[at + i] >= 32 && data[at + i] < 127 ? data[at + i] : '.');
    putchar('\n');
}

// A block for each chunk, with its name and what its header says.
static void print_example(const char *name) {
    struct kit_file file = kit_load(name);
    struct vmv_reader *reader = kit_reader(name);
    size_t count;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    for (size_t i = 0, at = 0; i <= count; i++) {
        size_t end = i ? (size_t)vmv_chunk_end(&chunk[i - 1]) : VMV_FILE_HEADER_BYTES;
        if (i) {
            const struct vmv_chunk_header *header = &chunk[i - 1].header;
            printf("%s at %zu, %llu bytes of payload, t %llu to %llu, first %llu, count %llu, back %llu:\n\n",
                   vmv_chunk_name(header->type), at, (unsigned long long)header->stored,
                   (unsigned long long)header->t_first, (unsigned long long)header->t_last,
                   (unsigned long long)header->first, (unsigned long long)header->count,
                   (unsigned long long)header->back);
        } else {
            printf("The file header:\n\n");
        }
        printf("```hexdump\n");
        for (; at < end; at += end - at < 16 ? end - at : 16) print_line(file.data, at, end - at < 16 ? end - at : 16);
        printf("```\n\n");
    }
    vmv_reader_close(reader);
    free(file.data);
}

// The bytes of all dumps in the document, in order; each line must stand at its offset.
static struct vmv_out read_document(const char *name) {
    FILE *stream = fopen(name, "r");
    struct vmv_out out = {0};
    char line[400];
    bool inside = false;
    if (!stream) fail_msg("%s: cannot be opened; run the test in the source folder", name);
    while (fgets(line, sizeof line, stream)) {
        if (strncmp(line, "```", 3) == 0)
            inside = strncmp(line, "```hexdump", 10) == 0;
        else if (inside) {
            char *at = line;
            if (strtoul(at, &at, 16) != out.length)
                fail_msg("%s: the dump does not go on at byte %zu", name, out.length);
            at++;
            for (int i = 0; i < 16 && at[1] != ' '; i++) vmv_out_u8(&out, (uint8_t)strtoul(at, &at, 16));
        }
    }
    fclose(stream);
    return out;
}

static void the_document_is_right(void **state) {
    char *name = kit_name();
    write_example(name);
    struct kit_file file = kit_load(name);
    struct vmv_out document = read_document("docs/FORMAT.md");
    for (size_t i = 0; i < file.length && i < document.length; i++)
        if (file.data[i] != document.data[i])
            fail_msg("byte %zu is %02x, and %02x in docs/FORMAT.md", i, file.data[i], document.data[i]);
    assert_int_equal(file.length, document.length);
    struct vmv_reader *reader = kit_reader(name);
    kit_assert_clean(reader);
    vmv_reader_close(reader);
    vmv_out_free(&document);
    free(file.data);
    kit_remove(name);
}

int main(int argc, char **argv) {
    if (argc > 1 && strcmp(argv[1], "--print") == 0) {
        char *name = kit_name();
        write_example(name);
        print_example(name);
        kit_remove(name);
        return 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_document_is_right)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
