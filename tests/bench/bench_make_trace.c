// Makes a large trace through the writer, for bench_model: one program that fills PAGES pages with pseudo-random words
// in random order and then goes on writing to them, a frame every 20 ms.
//   bench_make_trace FILE PAGES SECONDS [WRITES_PER_FRAME]
#include "writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PAGE = 4096, FRAME_NS = 20000000, POOL = 256 };
#define BASE UINT64_C(0x7f0000000000)

struct maker {
    struct vmv_writer *writer;
    uint64_t t, frame, random, pages;
    uint64_t *order;     // a permutation of the pages
    uint64_t pool[POOL]; // contents that are used again
};

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static void put(struct maker *maker, struct vmv_event event) {
    event.t = maker->t;
    event.space = 1;
    event.pid = event.tid = 100;
    vmv_writer_event(maker->writer, &event);
}

static uint64_t random_page(struct maker *maker) {
    uint64_t words[PAGE / 8];
    for (size_t i = 0; i < PAGE / 8; i++) words[i] = next_random(&maker->random);
    return vmv_writer_page(maker->writer, words);
}

static void shuffle(struct maker *maker) {
    maker->order = malloc(maker->pages * sizeof *maker->order);
    if (!maker->order) abort();
    for (uint64_t i = 0; i < maker->pages; i++) {
        uint64_t j = next_random(&maker->random) % (i + 1);
        maker->order[i] = maker->order[j];
        maker->order[j] = i;
    }
}

static void begin(struct maker *maker) {
    put(maker, (struct vmv_event){.type = VMV_EV_SPACE, .name = "/bin/fill"});
    put(maker, (struct vmv_event){.type = VMV_EV_THREAD_START, .name = "fill"});
    put(maker, (struct vmv_event){.type = VMV_EV_MMAP,
                                  .len = maker->pages * PAGE,
                                  .prot = PROT_READ | PROT_WRITE,
                                  .flags = MAP_PRIVATE | MAP_ANONYMOUS,
                                  .ret = (int64_t)BASE,
                                  .name = ""});
}

static int by_value(const void *a, const void *b) {
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

// The faults of an interval, and the frame at its end with the pages' contents.
static void interval(struct maker *maker, uint64_t *pages, size_t count, bool first) {
    for (size_t i = 0; i < count; i++) {
        maker->t += FRAME_NS / (count + 1);
        put(maker, (struct vmv_event){.type = VMV_EV_FAULT,
                                      .addr = BASE + pages[i] * PAGE + next_random(&maker->random) % PAGE,
                                      .pc = 0x401000 + next_random(&maker->random) % 64,
                                      .source = VMV_SOURCE_RECORDS,
                                      .kind = first ? VMV_FAULT_FIRST_TOUCH : VMV_FAULT_WRITE,
                                      .access = VMV_ACCESS_WRITE});
    }
    qsort(pages, count, sizeof *pages, by_value);
    maker->t = (maker->t / FRAME_NS + 1) * FRAME_NS;
    put(maker,
        (struct vmv_event){.type = VMV_EV_FRAME, .frame = maker->frame++, .pause_ns = 1500000, .pages_written = count});
    put(maker, (struct vmv_event){.type = VMV_EV_THREAD,
                                  .state = VMV_THREAD_RUNNING,
                                  .syscall = -1,
                                  .pc = 0x401234,
                                  .sp = 0x7ffffff0,
                                  .run_ns = FRAME_NS,
                                  .certainty = VMV_CERT_EXACT});
    for (size_t i = 0, next; i < count; i = next) {
        for (next = i + 1; next < count && pages[next] <= pages[next - 1] + 1;) next++;
        uint64_t length = (pages[next - 1] - pages[i] + 1) * PAGE, addr = BASE + pages[i] * PAGE;
        put(maker, (struct vmv_event){.type = VMV_EV_PAGES,
                                      .addr = addr,
                                      .len = length,
                                      .state = VMV_PAGE_RESIDENT,
                                      .page_flags = VMV_PAGEF_WRITTEN});
    }
    for (size_t i = 0; i < count; i++) {
        if (i && pages[i] == pages[i - 1]) continue;
        uint64_t content = first ? random_page(maker) : maker->pool[next_random(&maker->random) % POOL];
        put(maker, (struct vmv_event){.type = VMV_EV_CONTENT,
                                      .addr = BASE + pages[i] * PAGE,
                                      .len = PAGE,
                                      .content = content,
                                      .content_step = 1,
                                      .certainty = VMV_CERT_EXACT});
    }
}

static void fill(struct maker *maker, uint64_t per_frame) {
    uint64_t *pages = malloc(per_frame * sizeof *pages);
    for (uint64_t done = 0; done < maker->pages; done += per_frame) {
        size_t count = maker->pages - done < per_frame ? maker->pages - done : per_frame;
        memcpy(pages, maker->order + done, count * sizeof *pages);
        interval(maker, pages, count, true);
    }
    free(pages);
}

static void rewrite(struct maker *maker, uint64_t until, uint64_t per_frame) {
    uint64_t *pages = malloc(per_frame * sizeof *pages);
    for (size_t i = 0; i < POOL; i++) maker->pool[i] = random_page(maker);
    while (maker->t < until) {
        for (size_t i = 0; i < per_frame; i++) pages[i] = next_random(&maker->random) % maker->pages;
        interval(maker, pages, per_frame, false);
    }
    free(pages);
}

int main(int argc, char **argv) {
    static const char *const program[] = {"fill", NULL};
    struct vmv_meta meta = {.program = program,
                            .program_count = 1,
                            .directory = "/",
                            .pid = 100,
                            .arch = "x86_64",
                            .page_size = PAGE,
                            .machine = "synthetic",
                            .kernel = "synthetic",
                            .recorder = "bench",
                            .source_faults = "records",
                            .source_maps = "stops",
                            .source_why = "",
                            .interval_ns = FRAME_NS,
                            .content = "changed",
                            .register_set = "x86_64-user-regs"};
    char error[200] = "";
    if (argc < 4) {
        fprintf(stderr, "usage: %s FILE PAGES SECONDS [WRITES_PER_FRAME]\n", argv[0]);
        return 2;
    }
    struct maker maker = {.random = 88172645463325252u, .pages = strtoull(argv[2], NULL, 0), .t = 1000000};
    uint64_t per_frame = argc > 4 ? strtoull(argv[4], NULL, 0) : 1000;
    int fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    maker.writer = fd < 0 ? NULL : vmv_writer_create(fd, &meta, error, sizeof error);
    if (!maker.writer || !maker.pages || !per_frame) {
        fprintf(stderr, "%s: %s\n", argv[1], error);
        return 1;
    }
    shuffle(&maker);
    begin(&maker);
    fill(&maker, 2500);
    rewrite(&maker, strtoull(argv[3], NULL, 0) * 1000000000, per_frame);
    struct vmv_end end = {.duration_ns = maker.t, .exited = true};
    bool complete = vmv_writer_finish(maker.writer, &end);
    free(maker.order);
    return complete ? 0 : 1;
}
