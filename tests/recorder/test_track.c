// Pages of a process: what the scans say is compared with what the process did.
#include "child.h"

#include <fcntl.h>
#include <sys/prctl.h>

#include "procmaps.h"
#include "track.h"

#ifndef MADV_GUARD_INSTALL
#define MADV_GUARD_INSTALL 102
#endif

enum { PAGE = 4096, AREA_PAGES = 65536, TOUCHED = 10000 };

// ------------------------------------------------------------------------------------------- following a child

struct followed {
    struct child child;
    struct sources sources;
    struct track *track;
    struct procmaps maps;
};

static struct sources sources_of(const char *faults, const char *hide) {
    struct sources sources;
    char error[400];
    setenv("VMVIS_HIDE", hide, 1);
    sources_probe(&sources, false, true);
    unsetenv("VMVIS_HIDE");
    assert_int_equal(sources_resolve(&sources, faults, error, sizeof error), 0);
    return sources;
}

static struct track_maps maps_of(struct followed *f) {
    assert_int_equal(procmaps_read(&f->maps, f->child.pid, 0), 0);
    return (struct track_maps){f->maps.maps, f->maps.count};
}

static void register_all(struct followed *f) {
    maps_of(f);
    for (size_t i = 0; i < f->maps.count; i++) {
        const struct vmv_mapping *m = &f->maps.maps[i];
        if (strcmp(m->name, "[vsyscall]") == 0) continue;
        enum track_registered result = track_register(f->track, m->start, m->end);
        enum track_registered wanted =
            strcmp(m->name, "[vdso]") == 0 || strncmp(m->name, "[vvar", 5) == 0 ? TRACK_REFUSED : TRACK_REGISTERED;
        // A shared mapping of a file that was opened for reading only.
        if (m->flags & VMV_MAP_SHARED && !(m->flags & VMV_MAP_W) && result == TRACK_READ_ONLY) continue;
        if (track_uffd(f->track) < 0) wanted = TRACK_UNNEEDED;
        if (result != wanted) fail_msg("%s at %llx: %d", m->name, (unsigned long long)m->start, result);
    }
}

static struct followed follow(child_body *body, const char *faults, const char *hide) {
    struct followed f = {.sources = sources_of(faults, hide), .child = child_start(body)};
    struct inject_result injected;
    char why[400];
    child_hear(&f.child); // it is about to wait for its next step
    usleep(5000);
    child_seize(f.child.pid);
    child_interrupt(f.child.pid);
    struct track_options options = {.pid = f.child.pid, .tid = f.child.pid, .own_filters = -1};
    uint64_t begin = test_now();
    int error = track_open(&f.sources, &options, &f.track, &injected, why, sizeof why);
    if (error || *why) fail_msg("track_open: %d %s", error, why);
    print_message("opening took %.0f us\n", (double)(test_now() - begin) / 1e3);
    register_all(&f);
    assert_int_equal(ptrace(PTRACE_DETACH, f.child.pid, NULL, NULL), 0);
    return f;
}

static void unfollow(struct followed *f) {
    track_close(f->track);
    procmaps_free(&f->maps);
    assert_int_equal(child_end(&f->child), 0);
}

static bool have_wp_async(void) {
    struct sources sources;
    sources_probe(&sources, false, true);
    if (!sources.wp_async) print_message("skipped: no asynchronous write-protection here\n");
    return sources.wp_async;
}

// ------------------------------------------------------------------------------------------- what a run says

static uint64_t pages_at(const struct track_runs *runs, uint64_t addr) {
    size_t low = 0, high = runs->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (runs->runs[middle].end <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low < runs->count && runs->runs[low].start <= addr ? runs->runs[low].pages : 0;
}

static void assert_sorted(const struct track_runs *runs) {
    for (size_t i = 0; i < runs->count; i++) {
        assert_true(runs->runs[i].start < runs->runs[i].end);
        assert_true(runs->runs[i].start % PAGE == 0);
        if (i) assert_true(runs->runs[i].start >= runs->runs[i - 1].end);
    }
}

static size_t count_in(const struct track_runs *runs, uint64_t start, uint64_t end, uint64_t with) {
    size_t count = 0;
    for (uint64_t addr = start; addr < end; addr += PAGE) count += (pages_at(runs, addr) & with) == with;
    return count;
}

// ------------------------------------------------------------------------------------------- random pages

// shared[0]: the area; from shared[64] on: one byte a page, which steps it was written in.
static uint8_t *marks_of(struct child *child) { return (uint8_t *)(child->shared + 64); }

static void touch_random(struct child *child) {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    volatile char *area =
        mmap(NULL, AREA_PAGES * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint8_t *marks = marks_of(child);
    uint64_t random = 4711;
    child->shared[0] = (uint64_t)(uintptr_t)area;
    child_answer(child);
    for (int step; (step = child_wait(child)); child_answer(child)) {
        for (int i = 0; step < 8 && i < TOUCHED; i++) {
            size_t page = test_random(&random) % AREA_PAGES;
            area[page * PAGE + test_random(&random) % PAGE]++;
            marks[page] |= (uint8_t)step;
        }
    }
}

// Every page that was written in `step`, and no other, is said to be.
static void assert_written(const struct followed *f, const struct track_runs *runs, uint8_t step) {
    uint64_t area = f->child.shared[0];
    const uint8_t *marks = marks_of((struct child *)&f->child);
    size_t missing = 0, excess = 0, written = 0;
    for (size_t page = 0; page < AREA_PAGES; page++) {
        bool said = pages_at(runs, area + page * PAGE) & TRACK_PAGE_WRITTEN, did = marks[page] & step;
        written += did;
        missing += did && !said;
        excess += said && !did;
    }
    print_message("step %d: %zu pages written, %zu missing, %zu too many\n", step, written, missing, excess);
    assert_int_equal(missing, 0);
    assert_int_equal(excess, 0);
}

static void check_random(const char *faults, const char *hide) {
    struct followed f = follow(touch_random, faults, hide);
    struct track_runs runs = {0}, resident = {0}, torn = {0};
    for (uint8_t step = 1; step < 8; step = (uint8_t)(step * 2)) {
        child_do(&f.child, (char)step);
        uint64_t begin = test_now();
        assert_int_equal(track_scan(f.track, maps_of(&f), &runs), 0);
        print_message("%.2f ms for %zu runs, ", (double)(test_now() - begin) / 1e6, runs.count);
        assert_sorted(&runs);
        assert_written(&f, &runs, step);
    }
    assert_int_equal(track_scan_resident(f.track, maps_of(&f), &resident), 0);
    assert_sorted(&resident);
    uint64_t area = f.child.shared[0];
    for (size_t page = 0; page < AREA_PAGES; page++) {
        bool said = pages_at(&resident, area + page * PAGE) & TRACK_PAGE_PRESENT;
        assert_int_equal(said, marks_of(&f.child)[page] != 0);
    }
    // Nothing was written: nothing is said, nothing is torn.
    assert_int_equal(track_scan(f.track, maps_of(&f), &runs), 0);
    assert_int_equal(count_in(&runs, area, area + AREA_PAGES * (uint64_t)PAGE, TRACK_PAGE_WRITTEN), 0);
    assert_int_equal(track_rescan_torn(f.track, &resident, &torn), 0);
    assert_int_equal(count_in(&torn, area, area + AREA_PAGES * (uint64_t)PAGE, TRACK_PAGE_WRITTEN), 0);
    track_runs_free(&runs);
    track_runs_free(&resident);
    track_runs_free(&torn);
    unfollow(&f);
}

static void finds_random_writes(void **state) {
    if (!have_wp_async()) skip();
    check_random("frames", "");
}

static void finds_random_writes_by_hash(void **state) { check_random("frames", "wp_async,soft_dirty"); }

static void finds_random_writes_without_scan(void **state) {
    check_random("frames", "pagemap_scan,wp_async,soft_dirty");
}

static void finds_random_writes_without_anything(void **state) {
    check_random("frames", "pagemap_scan,uffd,soft_dirty");
}

static void finds_random_writes_by_soft_dirty(void **state) {
    if (sources_of("frames", "wp_async,pagemap_scan").changed != SOURCES_CHANGED_SOFT_DIRTY) {
        print_message("skipped: this kernel has no soft-dirty bits\n");
        skip();
    }
    check_random("frames", "wp_async,pagemap_scan");
}

// ------------------------------------------------------------------------------------------- torn pages and contents

static void finds_torn(void **state) {
    if (!have_wp_async()) skip();
    struct followed f = follow(touch_random, "frames", "");
    struct track_runs runs = {0}, torn = {0}, again = {0};
    child_do(&f.child, 1);
    assert_int_equal(track_scan(f.track, maps_of(&f), &runs), 0);
    child_do(&f.child, 2);
    uint64_t begin = test_now(), area = f.child.shared[0];
    assert_int_equal(track_rescan_torn(f.track, &runs, &torn), 0);
    print_message("%.2f ms for %zu runs\n", (double)(test_now() - begin) / 1e6, runs.count);
    assert_sorted(&torn);
    for (size_t page = 0; page < AREA_PAGES; page++) {
        bool said = pages_at(&torn, area + page * PAGE) & TRACK_PAGE_WRITTEN;
        assert_int_equal(said, marks_of(&f.child)[page] == 3); // copied in step 1 and written in step 2
    }
    assert_int_equal(track_scan(f.track, maps_of(&f), &again), 0);
    assert_written(&f, &again, 2); // they are due still
    track_runs_free(&runs);
    track_runs_free(&torn);
    track_runs_free(&again);
    unfollow(&f);
}

static void write_numbers(struct child *child) {
    enum { NONE = 100 };
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    char *area = mmap(NULL, AREA_PAGES * (size_t)PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    child->shared[0] = (uint64_t)(uintptr_t)area;
    child_answer(child);
    child_wait(child);
    for (size_t page = 0; page < AREA_PAGES; page += 1 + page % 3) {
        for (size_t i = 0; i < PAGE / 8; i++) ((uint64_t *)(area + page * PAGE))[i] = page << 20 | i;
    }
    mprotect(area + NONE * PAGE, PAGE, PROT_NONE);
    child_answer(child);
    child_wait(child);
}

static void copies_contents(void **state) {
    struct followed f = follow(write_numbers, "frames", "");
    struct track_runs runs = {0};
    struct track_copy copy = {0};
    uint64_t offset = 0, area = f.child.shared[0], end = area + AREA_PAGES * (uint64_t)PAGE;
    size_t checked = 0, failed = 0;
    child_do(&f.child, 1);
    assert_int_equal(track_scan(f.track, maps_of(&f), &runs), 0);
    for (size_t at = 0; at < runs.count;) {
        at = track_copy(f.track, &runs, at, &offset, 1000, &copy);
        assert_true(copy.pages <= 1000);
        failed += copy.failed;
        for (size_t i = 0; i < copy.pages; i++) {
            if (copy.addrs[i] < area || copy.addrs[i] >= end) continue;
            uint64_t page = (copy.addrs[i] - area) / PAGE;
            const uint64_t *words = (const uint64_t *)(copy.bytes + i * PAGE);
            assert_true(copy.good[i]);
            for (size_t w = 0; w < PAGE / 8; w++) assert_int_equal(words[w], page << 20 | w);
            checked++;
        }
    }
    size_t touched = 0;
    for (size_t page = 0; page < AREA_PAGES; page += 1 + page % 3) touched++;
    assert_int_equal(checked, touched);
    print_message("%zu pages right, %zu of others not readable\n", checked, failed);
    for (int round = 0; round < 3; round++) {
        uint64_t begin = test_now();
        offset = 0;
        track_copy(f.track, &runs, 0, &offset, 20000, &copy);
        double seconds = (double)(test_now() - begin) / 1e9;
        print_message("20000 pages in %.2f ms: %.2f GB/s\n", seconds * 1e3, 20000 * 4096e-9 / seconds);
    }
    track_copy_free(&copy);
    track_runs_free(&runs);
    unfollow(&f);
}

// ------------------------------------------------------------------------------------------- huge pages, kinds of
// memory

static uint64_t huge_bytes(pid_t pid, uint64_t start) {
    char path[64], line[512];
    unsigned long long from, kilobytes = 0;
    bool inside = false;
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
    FILE *file = fopen(path, "r");
    while (fgets(line, sizeof line, file)) {
        if (sscanf(line, "%llx-", &from) == 1 && strchr(line, '-')) inside = from == start;
        if (inside && sscanf(line, "AnonHugePages: %llu", &kilobytes) == 1) break;
    }
    fclose(file);
    return kilobytes << 10;
}

enum { HUGE = 2 << 20, HUGES = 16 };

static void touch_huge(struct child *child) {
    char *area = mmap(NULL, (HUGES + 2) * (size_t)HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *aligned = (char *)(((uintptr_t)area + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
    char *tail = aligned + HUGES * (size_t)HUGE; // small pages beside them
    munmap(area, (size_t)(aligned - area));
    madvise(aligned, HUGES * (size_t)HUGE, MADV_HUGEPAGE);
    madvise(tail, HUGE / 2, MADV_NOHUGEPAGE);
    child->shared[0] = (uint64_t)(uintptr_t)aligned;
    child_answer(child);
    for (int step; (step = child_wait(child)); child_answer(child)) {
        for (int i = 0; i < HUGES; i++) aligned[i * (size_t)HUGE + 4096 * (size_t)step] = (char)step;
        for (int i = 0; i < 16; i++) tail[(i * 8 + step % 8) * PAGE] = (char)step;
    }
}

static void leaves_huge_pages(void **state) {
    if (!have_wp_async()) skip();
    struct followed f = follow(touch_huge, "frames", "");
    struct track_runs runs = {0};
    child_do(&f.child, 1);
    uint64_t area = f.child.shared[0], tail = area + HUGES * (uint64_t)HUGE, huge = huge_bytes(f.child.pid, area);
    if (!huge) {
        print_message("skipped: no huge pages were given\n");
        unfollow(&f);
        skip();
    }
    for (char step = 2; step < 6; step++) {
        assert_int_equal(track_scan(f.track, maps_of(&f), &runs), 0);
        assert_sorted(&runs);
        assert_int_equal(count_in(&runs, area, tail, TRACK_PAGE_HUGE | TRACK_PAGE_PRESENT), huge / PAGE);
        assert_int_equal(count_in(&runs, tail, tail + HUGE / 2, TRACK_PAGE_WRITTEN), 16);
        assert_int_equal(count_in(&runs, tail, tail + HUGE / 2, TRACK_PAGE_HUGE), 0);
        assert_int_equal(huge_bytes(f.child.pid, area), huge);
        child_do(&f.child, step);
    }
    print_message("%llu MiB of huge pages stayed\n", (unsigned long long)(huge >> 20));
    track_runs_free(&runs);
    unfollow(&f);
}

enum { ANON, SHARED_ANON, MEMFD, FILE_PRIVATE, FILE_SHARED, STACK, DATA, KINDS };
static char some_data[4 * PAGE] = {1};

static void write_kinds(struct child *child) {
    char name[] = "/tmp/vmvis-test-XXXXXX", on_stack[3 * PAGE];
    int file = mkstemp(name), memfd = memfd_create("test", 0);
    unlink(name);
    if (ftruncate(file, 4 * PAGE) || ftruncate(memfd, 4 * PAGE)) _exit(3);
    int prot = PROT_READ | PROT_WRITE;
    char *areas[KINDS] = {
        [ANON] = mmap(NULL, 4 * PAGE, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
        [SHARED_ANON] = mmap(NULL, 4 * PAGE, prot, MAP_SHARED | MAP_ANONYMOUS, -1, 0),
        [MEMFD] = mmap(NULL, 4 * PAGE, prot, MAP_SHARED, memfd, 0),
        [FILE_PRIVATE] = mmap(NULL, 4 * PAGE, prot, MAP_PRIVATE, file, 0),
        [FILE_SHARED] = mmap(NULL, 4 * PAGE, prot, MAP_SHARED, file, 0),
        [STACK] = (char *)(((uintptr_t)on_stack + PAGE - 1) & ~(uintptr_t)(PAGE - 1)),
        [DATA] = (char *)(((uintptr_t)some_data + PAGE - 1) & ~(uintptr_t)(PAGE - 1)),
    };
    for (int k = 0; k < KINDS; k++) {
        child->shared[k] = (uint64_t)(uintptr_t)areas[k];
        *(volatile char *)areas[k] = 1;
    }
    child_answer(child);
    for (int step; (step = child_wait(child)); child_answer(child)) {
        if (step == 'n') continue;
        for (int k = 0; k < KINDS; k++) *(volatile char *)areas[k] = (char)step;
    }
}

static void tracks_every_kind(void **state) {
    if (!have_wp_async()) skip();
    struct followed f = follow(write_kinds, "frames", "");
    struct track_runs runs = {0};
    const char *names[KINDS] = {"anon", "shared anon", "memfd", "file private", "file shared", "stack", "data"};
    assert_int_equal(track_scan(f.track, maps_of(&f), &runs), 0);
    for (char step = 1; step < 4; step++) {
        for (int wrote = 0; wrote < 2; wrote++) {
            child_do(&f.child, wrote ? step : 'n');
            assert_int_equal(track_scan(f.track, maps_of(&f), &runs), 0);
            for (int k = 0; k < KINDS; k++) {
                uint64_t pages = pages_at(&runs, f.child.shared[k]);
                bool said = pages & TRACK_PAGE_WRITTEN;
                if (k == STACK && !wrote) continue; // the child's own calls write there
                if (said != wrote) fail_msg("%s, step %d: %d instead of %d", names[k], step, said, wrote);
                if (said && (k == FILE_SHARED || k == MEMFD)) assert_true(pages & TRACK_PAGE_FILE);
                if (said && k == FILE_PRIVATE) assert_false(pages & TRACK_PAGE_FILE);
            }
        }
    }
    track_runs_free(&runs);
    unfollow(&f);
}

// ------------------------------------------------------------------------------------------- reservations, guards

static void reserve(struct child *child) {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    size_t size = 1ULL << 40;
    char *area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    child->shared[0] = (uint64_t)(uintptr_t)area;
    child_answer(child);
    child_wait(child);
    for (size_t i = 0; i < 1000; i++) area[i * (size >> 10)] = 1;
    child_answer(child);
    child_wait(child);
}

static uint64_t page_tables(pid_t pid) {
    char path[64], line[256];
    unsigned long long kilobytes = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *file = fopen(path, "r");
    while (fgets(line, sizeof line, file) && sscanf(line, "VmPTE: %llu", &kilobytes) != 1) {
    }
    fclose(file);
    return kilobytes;
}

static void scans_reservations(void **state) {
    if (!have_wp_async()) skip();
    struct followed f = follow(reserve, "frames", "");
    struct track_runs runs = {0};
    child_do(&f.child, 1);
    uint64_t tables = page_tables(f.child.pid), begin = test_now(), area = f.child.shared[0], found = 0;
    assert_int_equal(track_scan(f.track, maps_of(&f), &runs), 0);
    double first = (double)(test_now() - begin) / 1e6;
    for (size_t i = 0; i < runs.count; i++) {
        if (runs.runs[i].start >= area && runs.runs[i].end <= area + (1ULL << 40))
            found += (runs.runs[i].end - runs.runs[i].start) / PAGE;
    }
    assert_int_equal(found, 1000);
    begin = test_now();
    assert_int_equal(track_scan_resident(f.track, maps_of(&f), &runs), 0);
    print_message("1 TiB with 1000 pages: scan %.2f ms, residency %.2f ms\n", first,
                  (double)(test_now() - begin) / 1e6);
    assert_true(page_tables(f.child.pid) <= tables + 64);
    track_runs_free(&runs);
    unfollow(&f);
}

static void install_guards(struct child *child) {
    char *area = mmap(NULL, 16 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < 16; i++) area[i * PAGE] = 1;
    child->shared[0] = (uint64_t)(uintptr_t)area;
    child->shared[1] = madvise(area + 4 * PAGE, 4 * PAGE, MADV_GUARD_INSTALL) == 0;
    child_answer(child);
    child_wait(child);
    child_answer(child);
    int pipes[2];
    // A guard page cannot be read by the kernel either.
    child->shared[2] = pipe(pipes) == 0 && write(pipes[1], area + 4 * PAGE, 1) < 0 && errno == EFAULT;
    child_answer(child);
    child_wait(child);
}

static void leaves_guards(void **state) {
    if (!have_wp_async()) skip();
    struct followed f = follow(install_guards, "frames", "");
    struct track_runs runs = {0};
    uint64_t area = f.child.shared[0];
    if (!f.child.shared[1]) {
        print_message("skipped: this kernel has no guard pages\n");
        unfollow(&f);
        skip();
    }
    for (int i = 0; i < 2; i++) {
        assert_int_equal(track_scan(f.track, maps_of(&f), &runs), 0);
        assert_int_equal(count_in(&runs, area, area + 16 * PAGE, TRACK_PAGE_WRITTEN), i ? 0 : 12);
        assert_int_equal(count_in(&runs, area, area + 16 * PAGE, TRACK_PAGE_GUARD), 0);
    }
    assert_int_equal(track_scan_resident(f.track, maps_of(&f), &runs), 0);
    size_t guards = count_in(&runs, area, area + 16 * PAGE, TRACK_PAGE_GUARD);
    print_message("%zu guard pages told\n", guards);
    assert_true(guards == 4 || guards == 0); // 0 before 6.15
    assert_int_equal(count_in(&runs, area, area + 16 * PAGE, TRACK_PAGE_PRESENT), 12);
    child_do(&f.child, 1);
    child_hear(&f.child);
    assert_true(f.child.shared[2]);
    track_runs_free(&runs);
    unfollow(&f);
}

static void disarms(void **state) {
    if (!have_wp_async()) skip();
    struct followed f = follow(touch_random, "frames", "");
    struct track_runs runs = {0};
    uint64_t area = f.child.shared[0], end = area + AREA_PAGES * (uint64_t)PAGE;
    child_do(&f.child, 1);
    assert_int_equal(track_scan(f.track, maps_of(&f), &runs), 0);
    size_t written = count_in(&runs, area, end, TRACK_PAGE_WRITTEN);
    assert_true(track_disarm(f.track, area, end));
    assert_int_equal(track_scan(f.track, maps_of(&f), &runs), 0);
    assert_int_equal(count_in(&runs, area, end, TRACK_PAGE_WRITTEN), written);
    assert_true(track_unregister(f.track, area, end));
    assert_int_equal(track_scan(f.track, maps_of(&f), &runs), 0);
    assert_int_equal(count_in(&runs, area, end, TRACK_PAGE_UNARMED), written);
    track_runs_free(&runs);
    unfollow(&f);
}

int main(void) {
    alarm(100);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_random_writes),
        cmocka_unit_test(finds_random_writes_by_hash),
        cmocka_unit_test(finds_random_writes_without_scan),
        cmocka_unit_test(finds_random_writes_without_anything),
        cmocka_unit_test(finds_random_writes_by_soft_dirty),
        cmocka_unit_test(finds_torn),
        cmocka_unit_test(copies_contents),
        cmocka_unit_test(leaves_huge_pages),
        cmocka_unit_test(tracks_every_kind),
        cmocka_unit_test(scans_reservations),
        cmocka_unit_test(leaves_guards),
        cmocka_unit_test(disarms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
