// mremap in all its forms, each with contents that are checked afterwards. Prints what each call gave, and with a
// second argument where what was moved lies and when it was last written.
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
enum { P = 4096 };
static void *make(size_t pages, int flags) {
    return mmap(NULL, pages * P, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);
}
static int all(const char *memory, size_t length, char wanted) {
    for (size_t i = 0; i < length; i++)
        if (memory[i] != wanted) return 0;
    return 1;
}
static void pause_a_moment(void) { nanosleep(&(struct timespec){0, 15000000}, NULL); }

int main(int argc, char **argv) {
    size_t most = argc > 1 ? (size_t)atol(argv[1]) : 64; // MiB
    char *grown = malloc(4096);
    size_t length = 4096;
    memset(grown, 7, length);
    for (; length < most << 20; length *= 2) {
        grown = realloc(grown, length * 2);
        if (!all(grown, 4096, 7) || (length > 8192 && !all(grown + length - 4096, 4096, 7))) return 3;
        memset(grown + length, 7, length);
    }
    printf("realloc to %zu MiB\n", length >> 20);
    free(grown);
    char *old = make(16, MAP_PRIVATE);
    memset(old, 3, 16 * P);
    pause_a_moment();
    char *moved = mremap(old, 16 * P, 16 * P, MREMAP_MAYMOVE | MREMAP_DONTUNMAP, NULL);
    printf("dontunmap %s\n", moved == MAP_FAILED ? "failed" : moved != old ? "moved" : "stayed");
    printf("new %d old %d\n", all(moved, 16 * P, 3), all(old, 16 * P, 0));
    memset(old, 4, 16 * P);
    memset(moved, 5, P);
    pause_a_moment();
    printf("written %d %d %d\n", all(old, 16 * P, 4), all(moved, P, 5), all(moved + P, 15 * P, 3));
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    memset(moved, 6, P);
    if (argc > 2)
        printf("{\"what\":\"moved\",\"addr\":\"%p\",\"t\":%ld}\n", (void *)moved,
               now.tv_sec * 1000000000 + now.tv_nsec);
    pause_a_moment();
    char *shared = make(8, MAP_SHARED);
    memset(shared, 6, 8 * P);
    char *twin = mremap(shared, 0, 8 * P, MREMAP_MAYMOVE);
    twin[0] = 9;
    printf("duplicate %d %d\n", shared[0], all(twin + 1, 8 * P - 1, 6));
    char *target = make(32, MAP_PRIVATE), *source = make(8, MAP_PRIVATE);
    memset(target, 1, 32 * P);
    memset(source, 2, 8 * P);
    pause_a_moment();
    char *fixed = mremap(source, 8 * P, 12 * P, MREMAP_MAYMOVE | MREMAP_FIXED, target + 10 * P);
    printf("fixed %ld: %d %d %d\n", (long)(fixed - target) / P, all(target, 10 * P, 1), all(fixed, 8 * P, 2),
           all(target + 22 * P, 10 * P, 1));
    printf("shrink %d\n", mremap(fixed, 12 * P, 2 * P, 0) == fixed);
    void *no = mremap(target, 10 * P, 300 * P, 0);
    printf("in place %s\n", no == MAP_FAILED && errno == ENOMEM ? "no room" : "grown");
    no = mremap((char *)1, P, P, 0);
    printf("not aligned errno %d\n", errno);
    // moves across two mappings with the same attributes, which may be one or two for the kernel
    char *pair = make(8, MAP_PRIVATE);
    mprotect(pair, 4 * P, PROT_READ);
    pair[4 * P] = 1;
    mprotect(pair, 4 * P, PROT_READ | PROT_WRITE);
    char *both = mremap(pair, 8 * P, 16 * P, MREMAP_MAYMOVE);
    printf("joined again %d\n", both != MAP_FAILED && both[4 * P] == 1);
    pause_a_moment();
    return 0;
}
