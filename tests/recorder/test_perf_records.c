// Page-fault records compared with what the child did: every fault, by whom, where, when.
#include "child.h"

#include "fake_sink.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "arch.h"
#include "perf_records.h"
#include "sources.h"

enum { PAGE = 4096, FAULTS = 65536, THREADS = 4 };

static bool with_kernel; // faults inside system calls are recorded too

static bool have_perf(void) {
    struct sources sources;
    sources_probe(&sources, false, true);
    if (!sources.perf) print_message("skipped: no page-fault records here\n");
    with_kernel = sources.perf_kernel;
    return sources.perf;
}

static struct perf_records *record(struct child *child, struct perf_records_options options) {
    struct perf_records *records;
    char error[200];
    fake_sink_reset(false);
    options.pid = child->pid;
    options.kernel = with_kernel;
    options.sink = &fake_sink;
    if (perf_records_open(&options, &records, error, sizeof error) != 0) fail_msg("%s", error);
    return records;
}

// Faults inside [start, end), and whether their times and order hold.
static size_t faults_in(uint64_t start, uint64_t end) {
    size_t count = 0;
    for (size_t i = 0; i < fake_sink.count; i++) {
        const struct vmv_event *e = &fake_sink.events[i].event;
        count += e->type == VMV_EV_FAULT && e->addr >= start && e->addr < end;
    }
    return count;
}

static size_t gaps(void) {
    size_t count = 0;
    for (size_t i = 0; i < fake_sink.count; i++) count += fake_sink.events[i].event.type == VMV_EV_GAP;
    return count;
}

static char *new_area(size_t pages) {
    prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);
    return mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

// ------------------------------------------------------------------------------------------- one thread

static void touch_one(struct child *child) {
    char *area = new_area(FAULTS);
    child->shared[0] = (uint64_t)(uintptr_t)area;
    child_answer(child);
    child_wait(child);
    child->shared[1] = test_now();
    for (size_t i = 0; i < FAULTS; i++) area[i * PAGE + i % PAGE] = 1;
    child->shared[2] = test_now();
    child_answer(child);
    child_wait(child);
}

static bool check_every_fault(void) {
    struct child child = child_start(touch_one);
    child_hear(&child);
    struct perf_records *records = record(&child, (struct perf_records_options){.stack_bytes = 2048});
    child_do(&child, 1);
    perf_records_flush(records);
    uint64_t area = child.shared[0], before = child.shared[1];
    if (gaps()) { // a machine busy with other things: once more
        perf_records_close(records);
        child_end(&child);
        return false;
    }
    assert_int_equal(faults_in(area, area + FAULTS * (uint64_t)PAGE), FAULTS);
    size_t next = 0, stacks = 0;
    for (size_t i = 0; i < fake_sink.count; i++) {
        const struct kept_event *kept = &fake_sink.events[i];
        const struct vmv_event *e = &kept->event;
        if (e->type != VMV_EV_FAULT || e->addr < area || e->addr >= area + FAULTS * (uint64_t)PAGE) continue;
        assert_int_equal(e->addr, area + next * PAGE + next % PAGE); // to the byte
        assert_int_equal(e->pid, child.pid);
        assert_int_equal(e->tid, child.pid);
        assert_false(e->kernel);
        assert_int_equal(e->source, VMV_SOURCE_RECORDS);
        assert_true(e->pc > 0x1000 && e->pc < ARCH_SPACE_END);
        assert_true(e->t >= before && e->t <= child.shared[2]);
        before = e->t;
        next++;
        if (!kept->has_stack) continue;
        struct arch_regs regs;
        stacks++;
        assert_int_equal(kept->regs_length, sizeof regs);
        memcpy(&regs, kept->regs, sizeof regs);
        assert_int_equal(arch_pc(&regs), e->pc);
        assert_int_equal(arch_sp(&regs), kept->sp);
        assert_true(kept->length > 0 && kept->length <= 2048);
    }
    perf_records_close(records);
    assert_int_equal(fake_sink.out_of_order, 0);
    assert_true(fake_sink.done);
    print_message("%d faults at %.0f ns, %zu with stacks\n", FAULTS,
                  (double)(child.shared[2] - child.shared[1]) / FAULTS, stacks);
    assert_true(stacks > 100);
    assert_int_equal(child_end(&child), 0);
    return true;
}

static void every_fault(void **state) {
    if (!have_perf()) skip();
    for (int attempt = 0; attempt < 5; attempt++) {
        if (check_every_fault()) return;
    }
    if (!with_kernel) skip(); // plain users get small rings: losses are told, but happen
    fail_msg("records were lost five times");
}

// ------------------------------------------------------------------------------------------- several threads

struct toucher {
    char *area;
    uint64_t *tid;
};

static void *touch_thread(void *user) {
    struct toucher *toucher = user;
    *toucher->tid = (uint64_t)syscall(SYS_gettid);
    for (size_t i = 0; i < FAULTS; i++) toucher->area[i * PAGE] = 1;
    return NULL;
}

static void touch_threads(struct child *child) {
    pthread_t threads[THREADS];
    struct toucher touchers[THREADS];
    child_answer(child);
    child_wait(child);
    for (int i = 0; i < THREADS; i++) {
        touchers[i] = (struct toucher){new_area(FAULTS), &child->shared[2 * i + 1]};
        child->shared[2 * i] = (uint64_t)(uintptr_t)touchers[i].area;
        pthread_create(&threads[i], NULL, touch_thread, &touchers[i]);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    child_answer(child);
    child_wait(child);
}

// Every fault of every thread in its order, but for those that are told as lost. Returns how many were lost.
static uint64_t check_threads(void) {
    struct child child = child_start(touch_threads);
    child_hear(&child);
    struct perf_records *records = record(&child, (struct perf_records_options){.stack_bytes = 2048});
    struct perf_records_counts counts;
    child_do(&child, 1);
    perf_records_flush(records);
    perf_records_counts(records, &counts);
    perf_records_close(records);
    print_message("%d threads: %llu faults, %llu with stacks, %llu lost\n", THREADS, (unsigned long long)counts.faults,
                  (unsigned long long)counts.stacks, (unsigned long long)counts.lost);
    size_t missing = 0;
    for (int t = 0; t < THREADS; t++) {
        uint64_t area = child.shared[2 * t], next = area;
        for (size_t i = 0; i < fake_sink.count; i++) {
            const struct vmv_event *e = &fake_sink.events[i].event;
            if (e->type != VMV_EV_FAULT || e->addr < area || e->addr >= area + FAULTS * (uint64_t)PAGE) continue;
            assert_true(e->addr >= next);
            assert_int_equal(e->tid, child.shared[2 * t + 1]);
            assert_int_equal(e->pid, child.pid);
            missing += (e->addr - next) / PAGE;
            next = e->addr + PAGE;
        }
        missing += (area + FAULTS * (uint64_t)PAGE - next) / PAGE;
    }
    assert_true(missing <= counts.lost);
    assert_int_equal(fake_sink.out_of_order, 0);
    assert_int_equal(child_end(&child), 0);
    return counts.lost;
}

// On a machine that is busy with other things the reader may come too late, but not every time.
static void every_thread(void **state) {
    if (!have_perf()) skip();
    for (int attempt = 0; attempt < 5; attempt++) {
        if (check_threads() == 0) return;
    }
    if (!with_kernel) skip();
    fail_msg("records were lost five times");
}

// ------------------------------------------------------------------------------------------- losses are told

static void tells_losses(void **state) {
    if (!have_perf()) skip();
    struct child child = child_start(touch_threads);
    child_hear(&child);
    struct perf_records *records = record(&child, (struct perf_records_options){.ring_bytes = 16384});
    child_do(&child, 1);
    perf_records_flush(records);
    struct perf_records_counts counts;
    perf_records_counts(records, &counts);
    size_t told = 0, arrived = 0;
    for (int t = 0; t < THREADS; t++)
        arrived += faults_in(child.shared[2 * t], child.shared[2 * t] + FAULTS * (uint64_t)PAGE);
    for (size_t i = 0; i < fake_sink.count; i++) {
        const struct kept_event *kept = &fake_sink.events[i];
        if (kept->event.type != VMV_EV_GAP) continue;
        told += strtoul(kept->text, NULL, 10);
        assert_true(kept->event.to >= kept->event.t);
    }
    perf_records_close(records);
    print_message("%zu arrived, %zu in %zu gaps\n", arrived, told, gaps());
    assert_int_equal(told, counts.lost);
    // Some faults lie outside of the areas: thread stacks, libraries, the shadow of sanitizers.
    assert_true(arrived + told >= THREADS * FAULTS && arrived + told < THREADS * FAULTS * 5 / 4);
    assert_int_equal(fake_sink.out_of_order, 0);
    assert_int_equal(child_end(&child), 0);
}

// ------------------------------------------------------------------------------------------- inside system calls

static void read_into_pages(struct child *child) {
    char *area = new_area(16);
    int zero = open("/dev/zero", O_RDONLY);
    child->shared[0] = (uint64_t)(uintptr_t)area;
    child_answer(child);
    child_wait(child);
    if (syscall(SYS_read, zero, area, 16 * PAGE) != 16 * PAGE) _exit(3);
    child_answer(child);
    child_wait(child);
}

static void faults_in_the_kernel(void **state) {
    if (!have_perf()) skip();
    if (!with_kernel) {
        print_message("skipped: faults inside system calls are not for plain users here\n");
        skip();
    }
    struct child child = child_start(read_into_pages);
    child_hear(&child);
    struct perf_records *records = record(&child, (struct perf_records_options){.stack_bytes = 1024});
    child_do(&child, 1);
    perf_records_flush(records);
    size_t count = 0;
    for (size_t i = 0; i < fake_sink.count; i++) {
        const struct kept_event *kept = &fake_sink.events[i];
        const struct vmv_event *e = &kept->event;
        if (e->addr < child.shared[0] || e->addr >= child.shared[0] + 16 * PAGE) continue;
        assert_true(e->kernel);
        assert_true(e->pc > 0x1000 && e->pc < ARCH_SPACE_END); // where the program made the call
        assert_true(kept->has_stack);                          // in calm, all have one
        count++;
    }
    assert_int_equal(count, 16);
    perf_records_close(records);
    assert_int_equal(child_end(&child), 0);
}

// ------------------------------------------------------------------------------------------- exec, fork, many threads

static void exec_true(struct child *child) {
    child_answer(child);
    child_wait(child);
    *(volatile char *)new_area(1) = 1; // before the exec: not recorded
    execl("/bin/sh", "sh", "-c", "/bin/true; /bin/true; exec /bin/true", (char *)NULL);
    _exit(9);
}

static void follows_exec(void **state) {
    if (!have_perf()) skip();
    struct child child = child_start(exec_true);
    child_hear(&child);
    struct perf_records *records = record(&child, (struct perf_records_options){.stack_bytes = 2048, .on_exec = true});
    child_tell(&child, 1);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child.pid, &info, WEXITED | WNOWAIT), 0);
    perf_records_flush(records);
    int pids[16] = {0};
    size_t known = 0, stacks = 0;
    for (size_t i = 0; i < fake_sink.count; i++) {
        const struct kept_event *kept = &fake_sink.events[i];
        size_t p = 0;
        stacks += kept->has_stack;
        while (p < known && pids[p] != kept->event.pid) p++;
        if (p == known && known < 16) pids[known++] = kept->event.pid;
    }
    print_message("%zu processes, %zu faults, %zu stacks\n", known, fake_sink.count, stacks);
    assert_true(known == 3);
    assert_true(fake_sink.count > 150);
    assert_true(stacks > fake_sink.count * 9 / 10); // short bursts keep nearly all
    perf_records_close(records);
    assert_int_equal(fake_sink.out_of_order, 0);
    assert_int_equal(child_end(&child), 0);
}

static void *touch_first_page(void *user) {
    *(volatile char *)user = 1;
    return NULL;
}

enum { MANY = 1000 };

static void make_threads(struct child *child) {
    char *area = new_area(MANY);
    child->shared[0] = (uint64_t)(uintptr_t)area;
    child_answer(child);
    child_wait(child);
    for (size_t i = 0; i < MANY; i++) {
        pthread_t thread;
        if (i % 10 == 0) { // and processes now and then
            pid_t pid = fork();
            if (pid == 0) {
                area[i * PAGE] = 1;
                _exit(0);
            }
            waitpid(pid, NULL, 0);
            continue;
        }
        pthread_create(&thread, NULL, touch_first_page, area + i * PAGE);
        pthread_join(thread, NULL);
    }
    child_answer(child);
    child_wait(child);
}

static void follows_threads_and_forks(void **state) {
    if (!have_perf()) skip();
    struct child child = child_start(make_threads);
    child_hear(&child);
    struct perf_records *records = record(&child, (struct perf_records_options){.stack_bytes = 2048});
    child_do(&child, 1);
    perf_records_flush(records);
    assert_int_equal(faults_in(child.shared[0], child.shared[0] + MANY * (uint64_t)PAGE), MANY);
    perf_records_close(records);
    assert_int_equal(fake_sink.out_of_order, 0);
    assert_int_equal(child_end(&child), 0);
}

// ------------------------------------------------------------------------------------------- attaching, levers

static void touch_by_step(struct child *child) {
    char *area = new_area(64);
    child->shared[0] = (uint64_t)(uintptr_t)area;
    child_answer(child);
    for (int step; (step = child_wait(child)); child_answer(child)) area[(size_t)step * PAGE] = 1;
}

static void levers(void **state) {
    if (!have_perf()) skip();
    struct child child = child_start(touch_by_step), other = child_start(touch_by_step);
    child_hear(&child);
    child_hear(&other);
    struct perf_records *records = record(&child, (struct perf_records_options){.stack_bytes = 2048});
    uint64_t area = child.shared[0];
    child_do(&child, 1);
    perf_records_enable(records, false);
    child_do(&child, 2);
    perf_records_enable(records, true);
    child_do(&child, 3);
    perf_records_stacks(records, false);
    child_do(&child, 4);
    assert_int_equal(perf_records_add(records, other.pid), 0);
    child_do(&other, 5);
    perf_records_flush(records);
    bool seen[6] = {0}, stacks[6] = {0};
    for (size_t i = 0; i < fake_sink.count; i++) {
        const struct kept_event *kept = &fake_sink.events[i];
        uint64_t page = (kept->event.addr - (kept->event.pid == other.pid ? other.shared[0] : area)) / PAGE;
        if (page > 5) continue;
        assert_int_equal(page == 5, kept->event.pid == other.pid);
        seen[page] = true;
        stacks[page] = kept->has_stack;
    }
    assert_true(seen[1] && stacks[1] && !seen[2] && seen[3] && stacks[3] && seen[4] && !stacks[4] && seen[5]);
    perf_records_close(records);
    assert_int_equal(child_end(&other), 0); // it holds the other's pipes
    assert_int_equal(child_end(&child), 0);
}

// ------------------------------------------------------------------------------------------- what it costs

static void touch_rounds(struct child *child) {
    char *area = new_area(FAULTS);
    child_answer(child);
    while (child_wait(child)) {
        uint64_t best = UINT64_MAX;
        for (int round = 0; round < 6; round++) {
            uint64_t begin = test_now();
            for (size_t i = 0; i < FAULTS; i++) area[i * PAGE] = 1;
            uint64_t took = test_now() - begin;
            if (took < best) best = took;
            madvise(area, FAULTS * (size_t)PAGE, MADV_DONTNEED);
        }
        child->shared[0] = best;
        child_answer(child);
    }
}

static void costs(void **state) {
    if (!have_perf()) skip();
    struct child child = child_start(touch_rounds);
    child_hear(&child);
    child_do(&child, 1);
    double alone = (double)child.shared[0] / FAULTS;
    const struct {
        const char *what;
        uint32_t stack_bytes, per_second;
    } ways[] = {{"without stacks", 0, 0}, {"stacks in storms as usual", 2048, 0}, {"all stacks", 2048, 1 << 30}};
    print_message("a first touch alone: %.0f ns\n", alone);
    for (size_t i = 0; i < 3; i++) {
        struct perf_records *records =
            record(&child, (struct perf_records_options){.stack_bytes = ways[i].stack_bytes,
                                                         .stacks_per_second = ways[i].per_second});
        struct perf_records_counts counts;
        fake_sink.count_only = true;
        child_do(&child, 1);
        perf_records_flush(records);
        perf_records_counts(records, &counts);
        print_message("%s: %+.0f ns, %llu of %llu with stacks, %llu lost\n", ways[i].what,
                      (double)child.shared[0] / FAULTS - alone, (unsigned long long)counts.stacks,
                      (unsigned long long)counts.faults, (unsigned long long)counts.lost);
        perf_records_close(records);
    }
    assert_int_equal(child_end(&child), 0);
}

int main(void) {
    alarm(100);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault),  cmocka_unit_test(every_thread),
        cmocka_unit_test(tells_losses), cmocka_unit_test(faults_in_the_kernel),
        cmocka_unit_test(follows_exec), cmocka_unit_test(follows_threads_and_forks),
        cmocka_unit_test(levers),       cmocka_unit_test(costs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
