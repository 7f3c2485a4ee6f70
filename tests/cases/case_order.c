// Eight threads that map, unmap, protect and move ranges that overlap, all the time.   case_order SECONDS SEED
// In the end says what /proc/self/maps has in the arena.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 8, PAGES = 256, PAGE = 4096 };
#define ARENA ((char *)0x20000000000)

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

static _Atomic bool done;
static uint64_t seed;
static int zero; // /dev/zero: reading from it touches a page, or fails where there is none

static uint64_t next(uint64_t *state) { // xorshift
    *state ^= *state << 13, *state ^= *state >> 7, *state ^= *state << 17;
    return *state;
}

static void step(uint64_t *state) {
    static const int protections[] = {PROT_READ | PROT_WRITE, PROT_READ, PROT_NONE, PROT_READ | PROT_WRITE};
    size_t first = next(state) % PAGES, count = 1 + next(state) % 16;
    if (first + count > PAGES) count = PAGES - first;
    char *at = ARENA + first * PAGE, *other = ARENA + next(state) % (PAGES - 16) * PAGE;
    size_t length = count * PAGE;
    int protection = protections[next(state) % 4], anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
    switch (next(state) % 12) {
    case 0:
    case 1:
    case 2:
        mmap(at, length, PROT_READ | PROT_WRITE, anonymous | MAP_FIXED, -1, 0);
        break;
    case 3:
        mmap(at, length, protection, anonymous | MAP_FIXED_NOREPLACE, -1, 0);
        break;
    case 4:
        munmap(at, length);
        break;
    case 5:
        mprotect(at, length, protection);
        break;
    case 6:
        mremap(at, length, length, MREMAP_MAYMOVE | MREMAP_FIXED, other);
        break;
    case 7:
        mremap(at, length, length, MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, other);
        break;
    case 8:
        madvise(at, length, next(state) % 2 ? MADV_DONTNEED : MADV_FREE);
        break;
    case 9:
    case 10:
        for (size_t i = 0; i < count && read(zero, at + i * PAGE, 1) <= 1; i++) {
        }
        break;
    default: {
        char *free_choice = mmap(NULL, length, PROT_READ | PROT_WRITE, anonymous, -1, 0);
        free_choice[0] = 1;
        munmap(free_choice, length);
    }
    }
}

static void *run(void *number) {
    uint64_t state = seed * 2654435761u + (uint64_t)(uintptr_t)number + 1;
    while (!done) step(&state);
    return number;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? atof(argv[1]) : 2;
    pthread_t threads[THREADS];
    zero = open("/dev/zero", O_RDONLY);
    seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    for (uintptr_t i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, run, (void *)i);
    nanosleep(&(struct timespec){(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)}, NULL);
    done = true;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) {
        unsigned long start = strtoul(line, NULL, 16);
        if (start >= (unsigned long)ARENA && start < (unsigned long)ARENA + PAGES * PAGE) printf("%s", line);
    }
    fclose(maps);
    return 0;
}
