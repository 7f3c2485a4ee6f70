// First touches that a userfaultfd holds: each is recorded once, truly, and no thread is left waiting.
#include "child.h"

#include "fake_sink.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "arch.h"
#include "fault_server.h"
#include "procmaps.h"
#include "track.h"

enum { PAGE = 4096, PAGES = 16384, TOUCHES = 8000 };

struct served_child {
    struct child child;
    struct track *track;
    struct fault_server *server;
};

static bool have_uffd(void) {
    struct sources sources;
    sources_probe(&sources, false, true);
    if (!sources.uffd_full) print_message("skipped: userfaultfd for all faults is refused here\n");
    return sources.uffd_full;
}

static void register_all(struct track *track, pid_t pid) {
    struct procmaps maps = {0};
    assert_int_equal(procmaps_read(&maps, pid, 0), 0);
    for (size_t i = 0; i < maps.count; i++) track_register(track, maps.maps[i].start, maps.maps[i].end);
    procmaps_free(&maps);
}

// Starts the child, which has answered when all is mapped, and serves its faults from then on.
static struct served_child serve(child_body *body, uint32_t stack_bytes, const char *hide) {
    struct served_child s = {.child = child_start(body)};
    struct sources sources;
    struct inject_result injected;
    char text[400];
    child_hear(&s.child);
    fake_sink_reset(false);
    setenv("VMVIS_HIDE", hide, 1);
    sources_probe(&sources, false, true);
    unsetenv("VMVIS_HIDE");
    assert_int_equal(sources_resolve(&sources, "uffd", text, sizeof text), 0);
    usleep(5000);
    child_seize(s.child.pid);
    child_interrupt(s.child.pid);
    struct track_options options = {.pid = s.child.pid, .tid = s.child.pid, .own_filters = -1};
    assert_int_equal(track_open(&sources, &options, &s.track, &injected, text, sizeof text), 0);
    if (!track_missing(s.track)) fail_msg("%s", text);
    s.server = fault_server_create(&fake_sink, stack_bytes);
    assert_non_null(s.server);
    assert_int_equal(fault_server_add(s.server, track_uffd(s.track), track_pagemap(s.track), s.child.pid, 7), 0);
    register_all(s.track, s.child.pid);
    assert_int_equal(ptrace(PTRACE_DETACH, s.child.pid, NULL, NULL), 0);
    return s;
}

// A fault is told when its thread has been let go: all that were are told when nobody serves the space any more.
static void serve_no_more(struct served_child *s) { fault_server_remove(s->server, track_uffd(s->track)); }

static struct fault_server_counts end(struct served_child *s) {
    struct fault_server_counts counts;
    assert_int_equal(child_end(&s->child), 0);
    serve_no_more(s);
    fault_server_counts(s->server, &counts);
    track_close(s->track);
    fault_server_destroy(s->server);
    assert_true(fake_sink.done);
    assert_int_equal(fake_sink.out_of_order, 0);
    print_message("%llu faults (%llu reads, %llu writes), %llu with stacks, %llu races, %.1f us each\n",
                  (unsigned long long)counts.faults, (unsigned long long)counts.reads,
                  (unsigned long long)counts.writes, (unsigned long long)counts.stacks,
                  (unsigned long long)counts.races,
                  counts.faults ? (double)counts.held_ns / 1e3 / (double)counts.faults : 0);
    assert_int_equal(counts.given_up, 0);
    return counts;
}

static const struct kept_event *fault_at(uint64_t start, uint64_t length, size_t *from) {
    for (; *from < fake_sink.count; ++*from) {
        const struct vmv_event *e = &fake_sink.events[*from].event;
        if (e->type == VMV_EV_FAULT && e->addr >= start && e->addr < start + length)
            return &fake_sink.events[(*from)++];
    }
    return NULL;
}

// ------------------------------------------------------------------------------------------- order, access, contents

// shared[0]: the area; shared[1]: errors; from shared[16] on: page << 1 | write, in the order of the first touches.
static void touch_in_order(struct child *child) {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    bool shared = child->shared[2];
    volatile char *area = mmap(NULL, PAGES * (size_t)PAGE, PROT_READ | PROT_WRITE,
                               MAP_ANONYMOUS | (shared ? MAP_SHARED : MAP_PRIVATE), -1, 0);
    uint8_t *seen = calloc(1, PAGES);
    memset(seen, 0, PAGES);
    uint64_t random = 99, *order = child->shared + 16, count = 0;
    child->shared[0] = (uint64_t)(uintptr_t)area;
    child_answer(child);
    child_wait(child);
    for (int i = 0; i < TOUCHES; i++) {
        size_t page = test_random(&random) % PAGES;
        bool write = test_random(&random) & 1;
        if (!seen[page]) order[count++] = page << 1 | write;
        if (area[page * PAGE] != (seen[page] == 2)) child->shared[1]++;
        if (write && seen[page] != 2) {
            area[page * PAGE] = 1;
            seen[page] = 2;
        } else if (!seen[page])
            seen[page] = 1;
    }
    child->shared[3] = count;
    child_answer(child);
    child_wait(child);
}

// A child that first reads each page sees only reads: the write follows as a write to a resident page.
static void exact_order(void **state) {
    if (!have_uffd()) skip();
    struct served_child s = serve(touch_in_order, 0, "");
    child_do(&s.child, 1);
    serve_no_more(&s);
    uint64_t before = 0;
    size_t at = 0;
    for (size_t i = 0; i < s.child.shared[3]; i++) {
        const struct kept_event *kept = fault_at(s.child.shared[0], PAGES * (uint64_t)PAGE, &at);
        assert_non_null(kept);
        const struct vmv_event *e = &kept->event;
        assert_int_equal((e->addr - s.child.shared[0]) / PAGE, s.child.shared[16 + i] >> 1);
        assert_int_equal(e->access, VMV_ACCESS_READ);
        assert_int_equal(e->kind, VMV_FAULT_FIRST_TOUCH);
        assert_int_equal(e->source, VMV_SOURCE_UFFD);
        assert_int_equal(e->pid, s.child.pid);
        assert_int_equal(e->tid, s.child.pid);
        assert_int_equal(e->space, 7);
        assert_false(e->kernel);
        assert_true(e->pc > 0x1000 && e->pc < ARCH_SPACE_END);
        assert_true(e->t >= before);
        before = e->t;
    }
    assert_null(fault_at(s.child.shared[0], PAGES * (uint64_t)PAGE, &at));
    assert_int_equal(s.child.shared[1], 0);
    end(&s);
}

static void write_in_order(struct child *child) {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    int memfd = memfd_create("test", 0);
    if (ftruncate(memfd, 64 * PAGE)) _exit(3);
    volatile char *areas[3] = {
        mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
        mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0),
    };
    for (int a = 0; a < 3; a++) child->shared[a] = (uint64_t)(uintptr_t)areas[a];
    child_answer(child);
    child_wait(child);
    for (int i = 0; i < 64; i++) {
        for (int a = 0; a < 3; a++) {
            if (i % 2)
                areas[a][i * PAGE + i] = 1;
            else
                child->shared[4] += (uint64_t)areas[a][i * PAGE + i];
        }
    }
    child_answer(child);
    child_wait(child);
}

static void check_access(const char *hide) {
    struct served_child s = serve(write_in_order, 0, hide);
    child_do(&s.child, 1);
    serve_no_more(&s);
    for (int a = 0; a < 3; a++) {
        size_t at = 0;
        for (int i = 0; i < 64; i++) {
            const struct kept_event *kept = fault_at(s.child.shared[a], 64 * PAGE, &at);
            assert_non_null(kept);
            assert_int_equal((kept->event.addr - s.child.shared[a]) / PAGE, i);
            assert_int_equal(kept->event.access, i % 2 ? VMV_ACCESS_WRITE : VMV_ACCESS_READ);
        }
        assert_null(fault_at(s.child.shared[a], 64 * PAGE, &at));
    }
    assert_int_equal(s.child.shared[4], 0);
    end(&s);
}

static void exact_access(void **state) {
    if (!have_uffd()) skip();
    check_access("");
    check_access("wp_async,pagemap_scan"); // as on kernels that know MISSING only
}

// Written pages that were scanned and dropped come back through the fault server.
static void drop_and_touch(struct child *child) {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    int memfd = memfd_create("test", 0);
    if (ftruncate(memfd, 64 * PAGE)) _exit(3);
    char *areas[2] = {mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                      mmap(NULL, 64 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0)};
    child->shared[0] = (uint64_t)(uintptr_t)areas[0];
    child->shared[1] = (uint64_t)(uintptr_t)areas[1];
    child_answer(child);
    for (int step; (step = child_wait(child)); child_answer(child)) {
        for (int a = 0; a < 2; a++) {
            if (step % 2)
                memset(areas[a], step, 64 * PAGE);
            else {
                madvise(areas[a], 64 * PAGE, a ? MADV_REMOVE : MADV_DONTNEED);
                for (int i = 0; i < 64; i++) child->shared[4] += (uint64_t)((volatile char *)areas[a])[i * PAGE];
            }
        }
    }
}

static void serves_under_markers(void **state) {
    if (!have_uffd()) skip();
    struct served_child s = serve(drop_and_touch, 0, "");
    struct track_runs runs = {0};
    struct procmaps maps = {0};
    for (char step = 1; step < 7; step++) {
        child_do(&s.child, step);
        assert_int_equal(procmaps_read(&maps, s.child.pid, 0), 0);
        assert_int_equal(track_scan(s.track, (struct track_maps){maps.maps, maps.count}, &runs), 0);
    }
    serve_no_more(&s);
    assert_int_equal(s.child.shared[4], 0);
    size_t at = 0, faults = 0;
    while (fault_at(s.child.shared[0], 64 * PAGE, &at)) faults++;
    assert_int_equal(faults, 64 + 3 * 64); // written first, then read anew after each of three drops
    track_runs_free(&runs);
    procmaps_free(&maps);
    end(&s);
}

// ------------------------------------------------------------------------------------------- kernel, stacks

static void read_into_pages(struct child *child) {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    char *area = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int zero = open("/dev/zero", O_RDONLY);
    child->shared[0] = (uint64_t)(uintptr_t)area;
    child_answer(child);
    child_wait(child);
    uint64_t on_stack = 0x1122334455667788;
    child->shared[1] = (uint64_t)(uintptr_t)&on_stack;
    if (syscall(SYS_read, zero, area, 16 * PAGE) != 16 * PAGE) _exit(3);
    child->shared[2] = on_stack;
    child_answer(child);
    child_wait(child);
}

static void faults_in_the_kernel(void **state) {
    if (!have_uffd()) skip();
    struct served_child s = serve(read_into_pages, 1024, "");
    child_do(&s.child, 1);
    serve_no_more(&s);
    size_t at = 0;
    for (int i = 0; i < 16; i++) {
        const struct kept_event *kept = fault_at(s.child.shared[0], 16 * PAGE, &at);
        assert_non_null(kept);
        assert_true(kept->event.kernel);
        assert_int_equal(kept->event.access, VMV_ACCESS_WRITE);
        assert_true(kept->event.pc > 0x1000 && kept->event.pc < ARCH_SPACE_END);
        assert_true(kept->has_stack);
        assert_true(kept->sp <= s.child.shared[1] && s.child.shared[1] < kept->sp + kept->length);
    }
    end(&s);
}

// ------------------------------------------------------------------------------------------- threads that disturb

static volatile bool over;
static struct child *self;

static void *touch_fresh(void *user) {
    char *own = mmap(NULL, 256 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile char *area = (char *)(uintptr_t)self->shared[(uintptr_t)user];
    while (!over) {
        for (int i = 0; i < 256; i++) area[i * PAGE] = 1;
        madvise((void *)(uintptr_t)area, 256 * PAGE, MADV_DONTNEED);
    }
    munmap(own, 256 * PAGE);
    return NULL;
}

static void *drop_pages(void *user) {
    while (!over) {
        for (int t = 0; t < 2; t++) madvise((void *)(uintptr_t)self->shared[t], 256 * PAGE, MADV_DONTNEED);
        mmap((void *)(uintptr_t)self->shared[2], 16 * PAGE, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        ((volatile char *)(uintptr_t)self->shared[2])[0] = 1;
    }
    return NULL;
}

static void disturb(struct child *child) {
    pthread_t threads[3];
    self = child;
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    for (int t = 0; t < 3; t++)
        child->shared[t] =
            (uint64_t)(uintptr_t)mmap(NULL, 256 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    child_answer(child);
    child_wait(child);
    for (uintptr_t t = 0; t < 2; t++) pthread_create(&threads[t], NULL, touch_fresh, (void *)t);
    pthread_create(&threads[2], NULL, drop_pages, NULL);
    for (int i = 0; i < 20; i++) { // forks take a copy of all this, without the userfaultfd
        pid_t pid = fork();
        if (pid == 0) {
            ((volatile char *)(uintptr_t)child->shared[0])[0] = 1;
            _exit(0);
        }
        waitpid(pid, NULL, 0);
        usleep(50000);
    }
    over = true;
    for (int t = 0; t < 3; t++) pthread_join(threads[t], NULL);
    child_answer(child);
    child_wait(child);
}

static void survives_disturbance(void **state) {
    if (!have_uffd()) skip();
    struct served_child s = serve(disturb, 2048, "");
    fake_sink.count_only = true;
    child_do(&s.child, 1);
    assert_true(end(&s).faults > 100);
}

// One thread drops pages of the stack that is captured with another thread's faults. Should the reading of them wait in
// a fault of its own, the second server thread must step in.
enum { PAD = 4 * PAGE };

static void *fault_above_pad(void *user) {
    volatile char pad[PAD]; // begins close above SP
    volatile char *area = (char *)(uintptr_t)self->shared[0];
    self->shared[1] = ((uintptr_t)pad + PAGE - 1) & ~(uintptr_t)(PAGE - 1);
    while (!over) {
        for (int i = 0; i < 256; i++) area[i * PAGE] = 1;
        madvise((void *)(uintptr_t)area, 256 * PAGE, MADV_DONTNEED);
    }
    pad[0] = 0;
    return NULL;
}

static void *drop_pad(void *user) {
    while (!over) {
        volatile char *page = (char *)(uintptr_t)self->shared[1];
        if (!page) continue;
        *page = 1;
        for (volatile int i = 0; i < 300; i++) {
        }
        madvise((void *)(uintptr_t)page, PAGE, MADV_DONTNEED);
    }
    return NULL;
}

static void drop_stack(struct child *child) {
    pthread_t threads[2];
    pthread_attr_t attr;
    self = child;
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    char *area = mmap(NULL, 512 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    child->shared[0] = (uint64_t)(uintptr_t)area;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, area + 256 * PAGE, 128 * PAGE);
    child_answer(child);
    child_wait(child);
    pthread_create(&threads[0], &attr, fault_above_pad, NULL);
    pthread_create(&threads[1], NULL, drop_pad, NULL);
    usleep(2000000);
    over = true;
    for (int t = 0; t < 2; t++) pthread_join(threads[t], NULL);
    child_answer(child);
    child_wait(child);
}

static void never_waits_for_itself(void **state) {
    if (!have_uffd()) skip();
    struct served_child s = serve(drop_stack, 8192, "");
    fake_sink.count_only = true;
    child_do(&s.child, 1);
    assert_true(end(&s).stacks > 100);
}

// ------------------------------------------------------------------------------------------- end, hugetlb, cost

static void touch_forever(struct child *child) {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    char *area = mmap(NULL, 256 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    child_answer(child);
    child_wait(child);
    child_answer(child);
    while (!*(volatile uint64_t *)child->shared) {
        for (int i = 0; i < 256; i++) area[i * PAGE] = 1;
        madvise(area, 256 * PAGE, MADV_DONTNEED);
    }
    child->shared[1] = 1;
    child_wait(child);
}

// Serving can end while the program faults: closing lets it go on alone.
static void stops_at_any_time(void **state) {
    if (!have_uffd()) skip();
    struct served_child s = serve(touch_forever, 0, "");
    child_do(&s.child, 1);
    usleep(20000);
    fault_server_remove(s.server, track_uffd(s.track));
    track_close(s.track);
    s.child.shared[0] = 1;
    for (int tries = 0; !s.child.shared[1] && tries < 5000; tries++) usleep(1000);
    assert_int_equal(s.child.shared[1], 1);
    fault_server_destroy(s.server);
    assert_int_equal(child_end(&s.child), 0);
}

static void touch_hugetlb(struct child *child) {
    enum { HUGE = 2 << 20 };
    volatile char *area =
        mmap(NULL, 2 * HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
    child->shared[0] = area == MAP_FAILED ? 0 : (uint64_t)(uintptr_t)area;
    child_answer(child);
    child_wait(child);
    if (child->shared[0]) {
        child->shared[1] = (uint64_t)area[5000];
        area[HUGE + 70000] = 1;
    }
    child_answer(child);
    child_wait(child);
}

static void serves_hugetlb(void **state) {
    if (!have_uffd()) skip();
    struct served_child s = serve(touch_hugetlb, 0, "");
    bool have = s.child.shared[0];
    child_do(&s.child, 1);
    serve_no_more(&s);
    size_t at = 0;
    const struct kept_event *read = fault_at(s.child.shared[0], 2 << 20, &at), *write;
    at = 0;
    write = fault_at(s.child.shared[0] + (2 << 20), 2 << 20, &at);
    if (have) {
        assert_true(read && read->event.access == VMV_ACCESS_READ);
        assert_true(write && write->event.access == VMV_ACCESS_WRITE);
        assert_int_equal(s.child.shared[1], 0);
    } else
        print_message("skipped: no hugetlb pages on this machine\n");
    end(&s);
    if (!have) skip();
}

static void touch_timed(struct child *child) {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    char *area = mmap(NULL, PAGES * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    child_answer(child);
    while (child_wait(child)) {
        uint64_t begin = test_now();
        for (size_t i = 0; i < PAGES; i++) area[i * PAGE] = 1;
        child->shared[0] = test_now() - begin;
        madvise(area, PAGES * (size_t)PAGE, MADV_DONTNEED);
        child_answer(child);
    }
}

static void costs(void **state) {
    if (!have_uffd()) skip();
    for (uint32_t stack = 0; stack <= 2048; stack += 2048) {
        struct served_child s = serve(touch_timed, stack, "");
        fake_sink.count_only = true;
        child_do(&s.child, 1);
        print_message("stack of %u bytes: a first touch takes %.1f us\n", stack,
                      (double)s.child.shared[0] / PAGES / 1e3);
        end(&s);
    }
}

int main(void) {
    alarm(100);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_order),
        cmocka_unit_test(exact_access),
        cmocka_unit_test(serves_under_markers),
        cmocka_unit_test(faults_in_the_kernel),
        cmocka_unit_test(survives_disturbance),
        cmocka_unit_test(never_waits_for_itself),
        cmocka_unit_test(stops_at_any_time),
        cmocka_unit_test(serves_hugetlb),
        cmocka_unit_test(costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
