// What writing and reading costs: contents of several kinds, a long stream of faults, stacks. With a file name, the
// pages of that file (a memory image) are written as well. Output goes to /dev/shm or TMPDIR.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "reader.h"
#include "writer.h"

enum { PAGE = 4096, PAGES = 65536 };

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static const char *output_name(void) {
    static char name[300];
    const char *folder = getenv("TMPDIR");
    snprintf(name, sizeof name, "%s/bench_format.vmv", folder ? folder : "/dev/shm");
    return name;
}

static struct vmv_writer *open_writer(void) {
    static const char *const program[] = {"bench"};
    struct vmv_meta meta = {.program = program, .program_count = 1, .page_size = PAGE, .arch = "x86_64"};
    char error[300] = "";
    int fd = open(output_name(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    struct vmv_writer *writer = fd < 0 ? NULL : vmv_writer_create(fd, &meta, error, sizeof error);
    if (writer) return writer;
    fprintf(stderr, "%s: %s\n", output_name(), error);
    exit(1);
}

static uint64_t finish(struct vmv_writer *writer) {
    struct vmv_end end = {0};
    struct stat status;
    vmv_writer_finish(writer, &end);
    return stat(output_name(), &status) == 0 ? (uint64_t)status.st_size : 0;
}

// --- contents

typedef void make_page(uint64_t *seed, uint64_t i, uint8_t *page);

static void make_random(uint64_t *seed, uint64_t i, uint8_t *page) {
    for (size_t at = 0; at < PAGE; at += 8) {
        uint64_t word = next_random(seed);
        memcpy(page + at, &word, 8);
    }
}

static void make_text(uint64_t *seed, uint64_t i, uint8_t *page) { // words of three to nine letters out of 4096
    for (size_t at = 0; at < PAGE;) {
        uint64_t word = next_random(seed) % 4096 * 0x9e3779b97f4a7c15u;
        for (size_t n = 3 + word % 7; n > 0 && at < PAGE; n--, word /= 13) page[at++] = (uint8_t)('a' + word % 26);
        if (at < PAGE) page[at++] = ' ';
    }
}

static void make_heap(uint64_t *seed, uint64_t i, uint8_t *page) { // pointers, small numbers, zeros
    for (size_t at = 0; at < PAGE; at += 8) {
        uint64_t random = next_random(seed), word = 0;
        if (random % 4 == 0)
            word = 0x7f3a10000000u + (random >> 8) % (1 << 22) * 16;
        else if (random % 4 == 1)
            word = (random >> 8) % 300;
        memcpy(page + at, &word, 8);
    }
}

static void make_zero(uint64_t *seed, uint64_t i, uint8_t *page) {
    memset(page, 0, PAGE);
}

static void report(const char *what, uint64_t pages, double seconds, uint64_t bytes) {
    double raw = (double)pages * PAGE;
    printf("pages %-8s %8.0f MB/s %6.2f us/page, file %.3f of raw\n", what, raw / seconds / 1e6,
           seconds / (double)pages * 1e6, (double)bytes / raw);
}

// Random pages of the trace written last: each from the file, and then all from the cache.
static void bench_reading(uint64_t pages) {
    char error[300];
    uint8_t page[PAGE];
    uint64_t seed = 88172645463325252u, reads = 4000;
    struct vmv_reader *reader = vmv_reader_open(output_name(), error, sizeof error);
    for (int warm = 0; reader && warm < 2; warm++) {
        vmv_reader_set_cache(reader, warm ? (size_t)1 << 30 : 0);
        for (uint64_t i = 0; warm && i < pages; i++) vmv_reader_page(reader, VMV_CONTENT_FIRST + i, page);
        double start = now();
        for (uint64_t i = 0; i < reads; i++)
            vmv_reader_page(reader, VMV_CONTENT_FIRST + next_random(&seed) % pages, page);
        printf("page read %s %.2f us\n", warm ? "from the cache" : "from the file",
               (now() - start) / (double)reads * 1e6);
    }
    vmv_reader_close(reader);
}

static void bench_pages(const char *what, make_page *make) {
    uint64_t seed = 88172645463325252u;
    uint8_t *pages = malloc((size_t)PAGES / 8 * PAGE); // made beforehand, an eighth at a time
    struct vmv_writer *writer = open_writer();
    double spent = 0;
    for (int part = 0; part < 8; part++) {
        for (uint64_t i = 0; i < PAGES / 8; i++) make(&seed, i, pages + i * PAGE);
        double start = now();
        for (uint64_t i = 0; i < PAGES / 8; i++) vmv_writer_page(writer, pages + i * PAGE);
        spent += now() - start;
    }
    double start = now();
    uint64_t bytes = finish(writer);
    double spent_all = spent + now() - start;
    report(what, PAGES, spent_all, bytes);
    if (make != make_zero) bench_reading(PAGES);
    free(pages);
}

static void bench_image(const char *name) {
    struct stat status;
    int fd = open(name, O_RDONLY);
    if (fd < 0 || fstat(fd, &status) != 0) return;
    size_t length = (size_t)status.st_size / PAGE * PAGE;
    const uint8_t *bytes = mmap(NULL, length, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
    close(fd);
    if (length == 0 || bytes == MAP_FAILED) return;
    struct vmv_writer *writer = open_writer();
    double start = now();
    for (size_t at = 0; at < length; at += PAGE) vmv_writer_page(writer, bytes + at);
    uint64_t written = finish(writer);
    report("image", length / PAGE, now() - start, written);
    munmap((void *)bytes, length);
}

// --- events

static void begin(struct vmv_writer *writer) {
    const struct vmv_mapping map = {
        .start = 1ull << 32, .end = (1ull << 32) + (1ull << 34), .flags = VMV_MAP_R | VMV_MAP_W, .name = ""};
    vmv_writer_event(
        writer, &(struct vmv_event){.type = VMV_EV_SPACE, .t = 1, .space = 1, .pid = 9, .tid = 9, .name = "bench"});
    vmv_writer_event(
        writer,
        &(struct vmv_event){
            .type = VMV_EV_MAPS, .t = 2, .space = 1, .pid = 9, .len = 1ull << 47, .maps = &map, .map_count = 1});
}

static void bench_faults(const char *what, bool sequential, uint64_t count, uint64_t span) {
    uint64_t seed = 88172645463325252u, t = 10;
    struct vmv_writer *writer = open_writer();
    begin(writer);
    double start = now();
    for (uint64_t i = 0; i < count; i++) {
        uint64_t random = next_random(&seed), page = sequential ? i % span : random % span;
        t += 800 + random % 400;
        vmv_writer_event(writer, &(struct vmv_event){.type = VMV_EV_FAULT,
                                                     .t = t,
                                                     .space = 1,
                                                     .pid = 9,
                                                     .tid = 9,
                                                     .addr = (1ull << 32) + page * PAGE +
                                                             (sequential ? 0 : (random >> 40) % PAGE / 8 * 8),
                                                     .pc = 0x401000,
                                                     .kind = i < span ? VMV_FAULT_FIRST_TOUCH : VMV_FAULT_WRITE,
                                                     .source = VMV_SOURCE_RECORDS});
    }
    double seconds = now() - start;
    uint64_t bytes = finish(writer);
    printf("faults %-20s %6.0f ns/event, %.2f bytes/event in the file\n", what, seconds / (double)count * 1e9,
           (double)bytes / (double)count);
}

int main(int argc, char **argv) {
    bench_pages("random", make_random);
    bench_pages("text", make_text);
    bench_pages("heap", make_heap);
    bench_pages("zero", make_zero);
    for (int i = 1; i < argc; i++) bench_image(argv[i]);
    bench_faults("sequential", true, 4000000, 1 << 20);
    bench_faults("random in 256 MiB", false, 4000000, 1 << 16);
    bench_faults("random in 16 GiB", false, 2000000, 1 << 22);
    unlink(output_name());
    return 0;
}
