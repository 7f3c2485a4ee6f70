// A recording like that of a real program, for the tests of the views: a program and a library with several mappings,
// heap, main stack, a thread with stack and guard, anonymous and reserved memory, a data file, vdso; frames with pages
// in every state, marks, a gap, faults, an exec'd child.
#ifndef VIEWS_FIXTURE_H
#define VIEWS_FIXTURE_H

#include "timeline_fixture.h"

#include "app.h"
#include "views.h"

#define PROG UINT64_C(0x555555554000)
#define LIBC UINT64_C(0x7ffff7c00000)
#define DATA UINT64_C(0x7ffff7800000)
#define THREAD_STACK UINT64_C(0x7ffff6000000) // a guard page, then 16 pages
#define RESERVED UINT64_C(0x7fff00000000)
#define MAIN_STACK UINT64_C(0x7ffffffde000)
#define VDSO UINT64_C(0x7ffff7fc1000)
enum { HEAP_PAGES = 64, WORKER = 101, CHILD = 200 };

static inline struct vmv_mapping fixture_map(uint64_t start, uint64_t pages, uint32_t flags, const char *name,
                                             uint64_t offset) {
    return (struct vmv_mapping){.start = start,
                                .end = start + pages * PAGE,
                                .flags = flags,
                                .name = name,
                                .offset = offset,
                                .inode = name[0] == '/' ? strlen(name) + 100 : 0,
                                .dev_major = 8,
                                .dev_minor = 1};
}

static inline void fixture_maps(struct made *made) {
    struct vmv_mapping maps[] = {
        fixture_map(PROG, 1, VMV_MAP_R | VMV_MAP_PROGRAM, "/bin/prog", 0),
        fixture_map(PROG + PAGE, 4, VMV_MAP_R | VMV_MAP_X | VMV_MAP_PROGRAM, "/bin/prog", PAGE),
        fixture_map(PROG + 5 * PAGE, 1, VMV_MAP_R | VMV_MAP_W | VMV_MAP_PROGRAM, "/bin/prog", 5 * PAGE),
        fixture_map(LIBC, 8, VMV_MAP_R, "/lib/libc.so.6", 0),
        fixture_map(LIBC + 8 * PAGE, 32, VMV_MAP_R | VMV_MAP_X, "/lib/libc.so.6", 8 * PAGE),
        fixture_map(VDSO, 2, VMV_MAP_R | VMV_MAP_X, "[vdso]", 0),
        fixture_map(MAIN_STACK, 33, VMV_MAP_R | VMV_MAP_W | VMV_MAP_GROWSDOWN, "[stack]", 0),
    };
    made_event(made, (struct vmv_event){.type = VMV_EV_MAPS,
                                        .addr = 0,
                                        .len = UINT64_C(1) << 47,
                                        .maps = maps,
                                        .map_count = sizeof maps / sizeof *maps});
}

static inline void fixture_calls(struct made *made) {
    uint32_t prot = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;
    made_event(made, (struct vmv_event){.type = VMV_EV_BRK, .addr = HEAP, .ret = (int64_t)HEAP});
    made->t += MS;
    made_event(made, (struct vmv_event){.type = VMV_EV_BRK,
                                        .addr = HEAP + HEAP_PAGES * PAGE,
                                        .old_addr = HEAP,
                                        .ret = (int64_t)(HEAP + HEAP_PAGES * PAGE)});
    made_mmap(made, ANON, 32, prot, flags);
    made_mmap(made, RESERVED, 1024, PROT_NONE, flags | MAP_NORESERVE);
    made_mmap(made, THREAD_STACK, 17, PROT_NONE, flags | MAP_STACK);
    made_event(
        made, (struct vmv_event){.type = VMV_EV_MPROTECT, .addr = THREAD_STACK + PAGE, .len = 16 * PAGE, .prot = prot});
    made_map_file(made, DATA, 16, MAP_SHARED, 0, "/var/payments.log");
    made->t += MS;
    made_event(made, (struct vmv_event){.type = VMV_EV_THREAD_START, .tid = WORKER, .name = "worker"});
}

static inline void fixture_threads(struct made *made) {
    made_event(made, (struct vmv_event){.type = VMV_EV_THREAD,
                                        .tid = 100,
                                        .state = VMV_THREAD_SLEEPING,
                                        .syscall = 230,
                                        .name = "prog",
                                        .pc = LIBC + 9 * PAGE,
                                        .sp = MAIN_STACK + 32 * PAGE,
                                        .certainty = VMV_CERT_PARTIAL});
    made_event(made, (struct vmv_event){.type = VMV_EV_THREAD,
                                        .tid = WORKER,
                                        .state = VMV_THREAD_RUNNING,
                                        .syscall = -1,
                                        .name = "worker",
                                        .pc = PROG + PAGE + 16,
                                        .sp = THREAD_STACK + 16 * PAGE,
                                        .fp = THREAD_STACK + 16 * PAGE + 32,
                                        .run_ns = 15 * MS,
                                        .certainty = VMV_CERT_EXACT});
}

// Frames every 20 ms: page i of the heap is written in frame i.
static inline void fixture_frames(struct made *made, int count) {
    for (int i = 0; i < count; i++) {
        made->t += 20 * MS;
        made_fault(made, HEAP + (uint64_t)i * PAGE, VMV_FAULT_FIRST_TOUCH);
        made->t += MS;
        made_write_frame(made, HEAP + (uint64_t)i * PAGE, (uint8_t)(i + 1));
        if (i == 0) {
            made_pages(made, PROG, 4, VMV_PAGE_RESIDENT, VMV_PAGEF_FILE);
            made_pages(made, ANON, 2, VMV_PAGE_ZERO, 0);
            made_pages(made, ANON + 2 * PAGE, 1, VMV_PAGE_SWAPPED, 0);
            made_pages(made, DATA, 8, VMV_PAGE_RESIDENT, VMV_PAGEF_FILE);
            made_content(made, MAIN_STACK + 32 * PAGE, 0x5a, VMV_CERT_TORN);
            made_pages(made, MAIN_STACK + 32 * PAGE, 1, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN);
        }
        fixture_threads(made);
    }
}

// 12 frames, a mark at 24 ms, a gap of 10 ms after the sixth, a child that lives from 150 ms on. About 270 ms.
static inline struct made fixture_make(void) {
    struct made made = made_begin("records");
    made_space(&made, 1, 100, 0);
    fixture_maps(&made);
    made.t += MS;
    fixture_calls(&made);
    made_event(&made, (struct vmv_event){.type = VMV_EV_MARK, .name = "loaded"});
    fixture_frames(&made, 6);
    made_event(&made, (struct vmv_event){.type = VMV_EV_GAP, .to = made.t + 10 * MS, .name = "writer behind"});
    made.t += 10 * MS;
    made_event(&made, (struct vmv_event){.type = VMV_EV_FORK, .child = CHILD, .child_space = 2});
    made_space(&made, 2, CHILD, 1);
    made.space = 1, made.pid = made.tid = 100;
    for (int i = 6; i < 12; i++) {
        made.t += 21 * MS;
        made_write_frame(&made, HEAP + (uint64_t)i * PAGE, (uint8_t)(i + 1));
        fixture_threads(&made);
    }
    made.t += 5 * MS;
    made_event(&made, (struct vmv_event){.type = VMV_EV_MUNMAP, .addr = ANON, .len = 32 * PAGE});
    made_finish(&made);
    return made;
}

struct fixture {
    struct made made;
    struct timeline *tl;
    struct app app;
    struct ui_draw *draw;
};

static inline int fixture_setup(void **state) {
    struct fixture *fixture = calloc(1, sizeof *fixture);
    assert_non_null(fixture);
    fixture->made = fixture_make();
    fixture->tl = made_open(&fixture->made);
    assert_true(app_init(&fixture->app, fixture->tl));
    fixture->app.patient = true;
    fixture->app.motion = false;
    fixture->draw = ui_draw_create();
    *state = fixture;
    return 0;
}

static inline int fixture_teardown(void **state) {
    struct fixture *fixture = *state;
    app_free(&fixture->app);
    ui_draw_destroy(fixture->draw);
    timeline_close(fixture->tl);
    made_remove(&fixture->made);
    free(fixture);
    return 0;
}

// Draws until nothing changes any more, and returns the dump; the caller frees it.
static inline char *fixture_dump(struct fixture *fixture) {
    char *text = NULL;
    size_t size = 0;
    for (int i = 0; i < 8; i++) {
        app_draw(&fixture->app, fixture->draw, fixture->app.now_ms);
        if (!fixture->app.redraw) break;
    }
    assert_false(ui_draw_failed(fixture->draw));
    FILE *file = open_memstream(&text, &size);
    assert_non_null(file);
    assert_true(ui_draw_dump(fixture->draw, file));
    fclose(file);
    return text;
}

#endif
