// The heap grows: by brk, by malloc from the heap, by malloc from a mapping of its own; each page is touched once, in a
// known order, by two threads.   heap_growth [--pages N] [--thp] [--checkpoints N]
//
// --thp: touches huge pages instead, in a region aligned to 2 MiB, and says how much of it really became huge.
#include "calls.h"
#include "vmvis_mark.h"
#include <pthread.h>

#define PAGE 4096
#define HUGE_PAGE (2L << 20)
#define BLOCK (100 << 10) // below malloc's threshold for a mapping of its own

struct part {
    char *start;
    size_t pages;
};

static void first_touch(char *page, const char *region) {
    int64_t before = truth_now();
    *(volatile char *)page = 1;
    int64_t after = truth_now();
    truth_line("\"what\":\"first_touch\",\"region\":\"%s\",\"addr\":\"%p\",\"tid\":%d,\"before\":%" PRId64
               ",\"after\":%" PRId64,
               region, (void *)page, gettid(), before, after);
}

static void *touch_descending(void *argument) {
    const struct part *part = argument;
    for (size_t i = part->pages; i-- > 0;) first_touch(part->start + i * PAGE, "brk");
    return NULL;
}

// The main thread touches the lower half upwards, then another thread the upper half downwards.
static void grow_by_brk(size_t pages) {
    char *start = (char *)(((uintptr_t)sbrk(0) + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
    if (call_brk(start + pages * PAGE) != 0) truth_fail("brk");
    for (size_t i = 0; i < pages / 2; i++) first_touch(start + i * PAGE, "brk");
    truth_checkpoint("half of brk touched");
    pthread_t thread;
    struct part upper = {start + pages / 2 * PAGE, pages - pages / 2};
    if (pthread_create(&thread, NULL, touch_descending, &upper) != 0) truth_fail("pthread_create");
    pthread_join(thread, NULL);
    truth_checkpoint("brk touched");
}

// malloc itself writes its headers, so only pages that lie wholly inside the block are new.
static void touch_inside(char *block, size_t size, const char *region) {
    char *page = (char *)(((uintptr_t)block + PAGE - 1) & ~(uintptr_t)(PAGE - 1));
    for (; page + PAGE <= block + size; page += PAGE) first_touch(page, region);
}

static void grow_by_malloc(size_t size, size_t count, const char *region) {
    for (size_t i = 0; i < count; i++) {
        char *block = malloc(size);
        if (block == NULL) truth_fail("malloc");
        truth_line("\"what\":\"malloc\",\"addr\":\"%p\",\"size\":%zu", (void *)block, size);
        touch_inside(block, size, region);
    }
    truth_checkpoint(region);
}

// AnonHugePages of the mapping that starts at START, in bytes; 0 if there is none.
static long huge_bytes(const char *start) {
    truth_read_proc("/proc/self/smaps");
    char head[32];
    snprintf(head, sizeof head, "%zx-", (size_t)start);
    char *mapping = strstr(truth.maps, head);
    char *field = mapping == NULL ? NULL : strstr(mapping, "AnonHugePages:");
    return field == NULL ? 0 : strtol(field + strlen("AnonHugePages:"), NULL, 10) * 1024;
}

static void grow_huge(size_t count) {
    prctl(PR_SET_THP_DISABLE, 0UL, 0UL, 0UL, 0UL);
    char *raw = call_anonymous((count + 1) * HUGE_PAGE);
    char *start = (char *)(((uintptr_t)raw + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
    if (call_madvise(start, count * HUGE_PAGE, MADV_HUGEPAGE) != 0) truth_fail("madvise");
    for (size_t i = 0; i < count; i++) {
        char *huge = start + i * HUGE_PAGE;
        first_touch(huge, "huge");
        for (size_t offset = 0; offset < HUGE_PAGE; offset += PAGE) *(volatile char *)(huge + offset) = 2;
    }
    truth_checkpoint("huge pages touched");
    truth_line("\"what\":\"huge\",\"addr\":\"%p\",\"len\":%zu,\"huge_bytes\":%ld,\"t\":%" PRId64, (void *)start,
               count * (size_t)HUGE_PAGE, huge_bytes(start), truth_now());
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    bool thp = truth_flag("--thp");
    size_t pages = (size_t)truth_number("--pages", thp ? 2048 : 256);
    truth_begin();
    truth_checkpoint("start");
    if (thp) {
        grow_huge(pages * PAGE / HUGE_PAGE);
    } else {
        VMVIS_MARK("malloc");
        grow_by_malloc(BLOCK, pages * PAGE / BLOCK + 1, "heap");
        grow_by_malloc(pages * PAGE + HUGE_PAGE, 1, "mapped");
        VMVIS_MARK("brk");
        grow_by_brk(pages);
    }
    return truth_end();
}
