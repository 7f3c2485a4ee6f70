// Writes one page of an area after the other at random, also pages never touched and pages only read before, and keeps
// the times before and after each write. Prints the log at the end.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { P = 4096, PAGES = 256 };
static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}
int main(int argc, char **argv) {
    int writes = argc > 1 ? atoi(argv[1]) : 6000;
    struct log {
        uint64_t before, after;
        int page;
    } *log = calloc((size_t)writes, sizeof *log);
    memset(log, 1, (size_t)writes * sizeof *log);
    volatile char *area = mmap(NULL, PAGES * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    volatile char sum = 0;
    for (int i = 0; i < PAGES / 2; i++) sum += area[i * P]; // zero pages
    unsigned seed = 9;
    for (int i = 0; i < writes; i++) {
        int page = rand_r(&seed) % PAGES;
        uint64_t before = now_ns();
        area[page * P + i % P] = (char)(i | 1);
        log[i] = (struct log){before, now_ns(), page};
        for (volatile int k = 0; k < 60000; k++) {
        }
    }
    printf("{\"what\":\"area\",\"addr\":\"%p\"}\n", (void *)(uintptr_t)area);
    for (int i = 0; i < writes; i++)
        printf("{\"what\":\"write\",\"before\":%lu,\"after\":%lu,\"page\":%d}\n", log[i].before, log[i].after,
               log[i].page);
    return sum;
}
