// Huge pages: one byte touched in each, collapsing by hand, and a program that moves its own text to huge memory.
#include <errno.h>
#include <stdio.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif
enum { HUGE = 2 << 20 };
static long huge_kb(const void *at) {
    char line[512];
    unsigned long start, end;
    long kb = -1, found = 0;
    FILE *smaps = fopen("/proc/self/smaps", "r");
    while (smaps && fgets(line, sizeof line, smaps)) {
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2) found = start <= (uintptr_t)at && (uintptr_t)at < end;
        if (found) sscanf(line, "AnonHugePages: %ld kB", &kb);
    }
    if (smaps) fclose(smaps);
    return kb;
}
static char *aligned(size_t size) {
    char *memory = mmap(NULL, size + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return (char *)(((uintptr_t)memory + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
}
static void work(void) {
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    for (volatile int i = 0; i < 20000000; i++) {
    }
}
static __attribute__((noinline, section("moved"))) int answer(int x) { return x * 2 + 1; }

int main(void) {
    char *memory = aligned(16 * HUGE);
    madvise(memory, 16 * (size_t)HUGE, MADV_HUGEPAGE);
    for (int i = 0; i < 16; i++) memory[(size_t)i * HUGE] = 1;
    long before = huge_kb(memory);
    for (int round = 0; round < 3; round++) {
        work();
        for (int i = 0; i < 16; i++) memory[(size_t)i * HUGE + 4096 * (size_t)round] = 2;
    }
    printf("huge %ld then %ld\n", before, huge_kb(memory));
    char *small = aligned(2 * HUGE);
    madvise(small, 2 * (size_t)HUGE, MADV_NOHUGEPAGE);
    memset(small, 3, 2 * (size_t)HUGE);
    work();
    madvise(small, 2 * (size_t)HUGE, MADV_HUGEPAGE);
    int result = madvise(small, 2 * (size_t)HUGE, MADV_COLLAPSE), error = errno;
    int same = 1;
    for (size_t i = 0; i < 2 * (size_t)HUGE; i++) same &= small[i] == 3;
    printf("collapse %d errno %d huge %ld same %d\n", result, result ? error : 0, huge_kb(small), same);
    char *code = aligned(HUGE);
    uintptr_t page = (uintptr_t)answer & ~4095ul;
    memcpy(code, (void *)page, 8192);
    mprotect(code, HUGE, PROT_READ | PROT_EXEC);
    void *moved = mremap(code, 8192, 8192, MREMAP_MAYMOVE | MREMAP_FIXED, (void *)page);
    printf("moved %d answer %d\n", moved == (void *)page, answer(20));
    work();
    return 0;
}
