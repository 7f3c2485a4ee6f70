// Traces made through the writer, for the timeline's tests: one address space or several, with events in short form.
#ifndef TIMELINE_FIXTURE_H
#define TIMELINE_FIXTURE_H

#include "timeline.h"
#include "writer.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

enum { PAGE = 4096 };
#define MS UINT64_C(1000000)
#define HEAP UINT64_C(0x555555600000)
#define ANON UINT64_C(0x7ffff0000000)

struct made {
    struct vmv_writer *writer;
    uint64_t t; // ns, of the next event
    uint32_t space;
    int32_t pid, tid;
    uint64_t frame;
    char path[64];
};

static inline struct made made_begin_with(const char *source_faults, const struct vmv_writer_options *options) {
    static const char *const argv[] = {"prog", NULL};
    struct made made = {.space = 1, .pid = 100, .tid = 100, .frame = 0};
    char error[200] = "";
    struct vmv_meta meta = {.program = argv,
                            .program_count = 1,
                            .directory = "/",
                            .pid = 100,
                            .started = 1,
                            .arch = "x86_64",
                            .page_size = PAGE,
                            .machine = "m",
                            .kernel = "k",
                            .recorder = "r",
                            .source_faults = source_faults,
                            .source_maps = "stops",
                            .source_why = "",
                            .content = "changed",
                            .register_set = "x86_64-user-regs",
                            .interval_ns = 20 * MS};
    strcpy(made.path, "/tmp/vmvis-test-XXXXXX");
    int fd = mkstemp(made.path);
    assert_true(fd >= 0);
    made.writer = vmv_writer_create_with(fd, &meta, options, error, sizeof error);
    if (!made.writer) fail_msg("%s", error);
    return made;
}

static inline struct made made_begin(const char *source_faults) {
    return made_begin_with(source_faults, &(struct vmv_writer_options){0});
}

static inline uint64_t made_event(struct made *made, struct vmv_event event) {
    event.t = made->t;
    if (!event.space) event.space = made->space;
    if (!event.pid) event.pid = made->pid;
    if (!event.tid) event.tid = made->tid;
    return vmv_writer_event(made->writer, &event);
}

static inline void made_space(struct made *made, uint32_t space, int32_t pid, uint32_t from) {
    made->space = space, made->pid = made->tid = pid;
    made_event(made, (struct vmv_event){.type = VMV_EV_SPACE, .name = "/bin/prog", .child_space = from});
}

static inline uint64_t made_mmap(struct made *made, uint64_t addr, uint64_t pages, uint32_t prot, uint32_t flags) {
    return made_event(
        made,
        (struct vmv_event){
            .type = VMV_EV_MMAP, .len = pages * PAGE, .prot = prot, .flags = flags, .ret = (int64_t)addr, .name = ""});
}

static inline uint64_t made_map_file(struct made *made, uint64_t addr, uint64_t pages, uint32_t flags, uint32_t object,
                                     const char *name) {
    return made_event(made, (struct vmv_event){.type = VMV_EV_MMAP,
                                               .len = pages * PAGE,
                                               .prot = PROT_READ | PROT_WRITE,
                                               .flags = flags,
                                               .ret = (int64_t)addr,
                                               .name = name,
                                               .inode = 7,
                                               .dev_major = 8,
                                               .dev_minor = 1,
                                               .object = object});
}

static inline uint64_t made_munmap(struct made *made, uint64_t addr, uint64_t pages) {
    return made_event(made, (struct vmv_event){.type = VMV_EV_MUNMAP, .addr = addr, .len = pages * PAGE});
}

static inline uint64_t made_frame(struct made *made, uint64_t pages_written) {
    return made_event(
        made, (struct vmv_event){
                  .type = VMV_EV_FRAME, .frame = made->frame++, .pause_ns = 50000, .pages_written = pages_written});
}

static inline uint64_t made_pages(struct made *made, uint64_t addr, uint64_t pages, uint8_t state, uint8_t flags) {
    return made_event(
        made, (struct vmv_event){
                  .type = VMV_EV_PAGES, .addr = addr, .len = pages * PAGE, .state = state, .page_flags = flags});
}

// Captures one page filled with `byte`.
static inline uint64_t made_content(struct made *made, uint64_t addr, uint8_t byte, uint8_t certainty) {
    uint8_t bytes[PAGE];
    memset(bytes, byte, sizeof bytes);
    uint64_t content = vmv_writer_page(made->writer, bytes);
    return made_event(made, (struct vmv_event){.type = VMV_EV_CONTENT,
                                               .addr = addr,
                                               .len = PAGE,
                                               .content = content,
                                               .content_step = 1,
                                               .certainty = certainty});
}

static inline uint64_t made_fault(struct made *made, uint64_t addr, uint8_t kind) {
    return made_event(made, (struct vmv_event){.type = VMV_EV_FAULT,
                                               .addr = addr,
                                               .pc = 0x401000,
                                               .kind = kind,
                                               .access = VMV_ACCESS_WRITE,
                                               .source = VMV_SOURCE_RECORDS});
}

// A frame in which one page was seen written, and copied.
static inline void made_write_frame(struct made *made, uint64_t addr, uint8_t byte) {
    made_frame(made, 1);
    made_pages(made, addr, 1, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN);
    made_content(made, addr, byte, VMV_CERT_EXACT);
}

static inline void made_finish(struct made *made) {
    struct vmv_end end = {.duration_ns = made->t, .complete = true, .exited = true};
    assert_true(vmv_writer_finish(made->writer, &end));
    made->writer = NULL;
}

static inline struct timeline *made_open(const struct made *made) {
    char error[300] = "";
    struct timeline *tl = timeline_open(made->path, error, sizeof error);
    if (!tl) fail_msg("%s", error);
    return tl;
}

static inline void made_remove(const struct made *made) { unlink(made->path); }

// A small generator, so that the tests are the same everywhere.
static inline uint64_t made_random(uint64_t *state) {
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

// A busy recording: several spaces, forks, calls, faults, frames every 20 ms with contents.
static inline void made_busy(struct made *made, uint64_t steps, uint64_t seed) {
    uint64_t state = seed * 2654435761u + 1;
    made->t = MS;
    made_space(made, 1, 100, 0);
    made_mmap(made, HEAP, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    uint32_t spaces = 1;
    for (uint64_t i = 0; i < steps; i++) {
        uint64_t r = made_random(&state);
        made->t += r % 50000;
        made->space = 1 + (uint32_t)(r >> 20) % spaces;
        made->pid = made->tid = 100 + (int32_t)made->space - 1;
        uint64_t page = HEAP + (r >> 32) % 4096 * PAGE, area = ANON + (r >> 40) % 512 * 16 * PAGE;
        switch (r % 37) {
        case 0:
            made_mmap(made, area, 1 + (r >> 50) % 16, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED);
            break;
        case 1:
            made_munmap(made, area, 1 + (r >> 50) % 16);
            break;
        case 2:
            made_event(made,
                       (struct vmv_event){.type = VMV_EV_MPROTECT, .addr = page, .len = PAGE, .prot = r >> 60 & 3});
            break;
        case 3:
            made_event(
                made, (struct vmv_event){.type = VMV_EV_MADVISE, .addr = page, .len = 8 * PAGE, .prot = MADV_DONTNEED});
            break;
        case 4:
            made_event(made, (struct vmv_event){.type = VMV_EV_MARK, .name = "here"});
            break;
        case 5:
            if (spaces < 4 && i > steps / 5 * spaces) {
                uint32_t from = made->space;
                int32_t child = 100 + (int32_t)spaces++;
                made_event(made, (struct vmv_event){.type = VMV_EV_FORK, .child = child, .child_space = spaces});
                made_space(made, spaces, child, from);
            }
            break;
        case 6:
            made_event(made, (struct vmv_event){.type = VMV_EV_MREMAP,
                                                .old_addr = area,
                                                .old_len = PAGE,
                                                .len = PAGE,
                                                .flags = MREMAP_MAYMOVE,
                                                .ret = (int64_t)(ANON - (r >> 44) % 1024 * PAGE)});
            break;
        case 7:
        case 8:
            made_frame(made, 3);
            for (uint64_t k = 0; k < 3; k++) {
                uint64_t written = HEAP + made_random(&state) % 4096 * PAGE;
                made_pages(made, written, 1, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN);
                made_content(made, written, (uint8_t)(r >> 8), k == 2 ? VMV_CERT_TORN : VMV_CERT_EXACT);
            }
            made_event(made, (struct vmv_event){.type = VMV_EV_THREAD,
                                                .state = VMV_THREAD_RUNNING,
                                                .syscall = -1,
                                                .pc = r,
                                                .run_ns = 20000,
                                                .certainty = VMV_CERT_EXACT});
            break;
        default:
            made_fault(made, page + r % PAGE, r & 64 ? VMV_FAULT_FIRST_TOUCH : VMV_FAULT_WRITE);
            break;
        }
    }
    made->t += 5 * MS;
}

// A recording in which nothing but pages and a thread's registers change: 200 faults and a frame every 20 ms.
static inline void made_quiet(struct made *made, uint64_t frames, uint64_t seed) {
    uint64_t state = seed * 2654435761u + 1;
    made->t += MS;
    made_space(made, 1, 100, 0);
    made_mmap(made, HEAP, 2048, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    for (uint64_t i = 0; i < frames; i++) {
        for (int k = 0; k < 200; k++) {
            uint64_t r = made_random(&state);
            made->t += 90000;
            made_fault(made, HEAP + r % 2048 * PAGE + (r >> 32) % PAGE,
                       r >> 60 ? VMV_FAULT_WRITE : VMV_FAULT_FIRST_TOUCH);
        }
        made->t += 2 * MS;
        made_write_frame(made, HEAP + made_random(&state) % 2048 * PAGE, (uint8_t)state);
        made_event(made, (struct vmv_event){.type = VMV_EV_THREAD,
                                            .state = VMV_THREAD_RUNNING,
                                            .syscall = -1,
                                            .pc = state,
                                            .run_ns = 20 * MS,
                                            .certainty = VMV_CERT_EXACT});
    }
}

#endif
