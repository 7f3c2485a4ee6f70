// Allocates and frees blocks of mixed sizes in two threads, and stands still again and again; prints all results at its
// end, when nothing is allocated any more.
//   heap_truth          5,000 blocks
//   heap_truth smash    writes over the header of a chunk, and says where and when
#include <malloc.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 2, BLOCKS = 2500, QUIETS = 50, SLOTS = 400 };

struct entry {
    uint64_t t;
    void *block;
    size_t size; // 0: freed
    int thread;
};
static struct entry entries[THREADS][2 * BLOCKS + 16];
static size_t counts[THREADS];
static struct quiet { uint64_t from, to; } quiets[QUIETS];
static pthread_barrier_t meet, part;
static volatile unsigned written[4096]; // so that frames are taken

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static unsigned next(unsigned *seed) { return *seed = *seed * 1103515245u + 12345u, *seed >> 12; }

static size_t any_size(unsigned *seed) {
    switch (next(seed) % 16) {
    case 0:
        return 140000 + next(seed) % 300000; // mapped
    case 1:
        return 1 + next(seed) % 60000;
    case 2:
    case 3:
        return 1 + next(seed) % 2000;
    default:
        return 1 + next(seed) % 200;
    }
}

static void say(int thread, void *block, size_t size) {
    entries[thread][counts[thread]++] = (struct entry){now_ns(), block, size, thread};
}

static void *work(void *argument) {
    int me = (int)(intptr_t)argument;
    unsigned seed = 17u + (unsigned)me;
    void *slots[SLOTS] = {0};
    for (int made = 0; made < BLOCKS;) {
        unsigned at = next(&seed) % SLOTS;
        if (slots[at]) {
            say(me, slots[at], 0); // before, as another thread may get it at once
            free(slots[at]);
            slots[at] = NULL;
            continue;
        }
        size_t size = any_size(&seed);
        slots[at] = malloc(size);
        memset(slots[at], (int)at, size < 64 ? size : 64);
        say(me, slots[at], size);
        if (++made % (BLOCKS / QUIETS)) continue;
        pthread_barrier_wait(&meet);
        pthread_barrier_wait(&part);
    }
    return NULL;
}

static void be_busy(unsigned ms) {
    for (uint64_t end = now_ns() + ms * 1000000u; now_ns() < end;)
        for (int i = 0; i < 4096; i++) written[i]++;
}

static void print_all(void) {
    for (int i = 0; i < QUIETS; i++)
        printf("{\"what\":\"quiet\",\"from\":%lu,\"to\":%lu}\n", quiets[i].from, quiets[i].to);
    for (int thread = 0; thread < THREADS; thread++)
        for (size_t i = 0; i < counts[thread]; i++)
            printf("{\"what\":\"%s\",\"t\":%lu,\"addr\":\"%p\",\"size\":%zu,\"thread\":%d}\n",
                   entries[thread][i].size ? "malloc" : "free", entries[thread][i].t, entries[thread][i].block,
                   entries[thread][i].size, thread);
}

static int smash(void) {
    char *blocks[20];
    for (int i = 0; i < 20; i++) blocks[i] = malloc(40);
    be_busy(40);
    uint64_t t = now_ns();
    memset(blocks[9], 'A', malloc_usable_size(blocks[9]) + 8);
    uint64_t after = now_ns();
    be_busy(40);
    char text[200];
    int length = snprintf(text, sizeof text, "{\"what\":\"smashed\",\"t\":%lu,\"after\":%lu,\"addr\":\"%p\"}\n", t,
                          after, (void *)blocks[10]);
    if (write(1, text, (size_t)length) != length) return 1;
    _exit(0);
}

int main(int argc, char **argv) {
    if (argc > 1) return smash();
    pthread_t threads[THREADS];
    pthread_barrier_init(&meet, NULL, THREADS + 1);
    pthread_barrier_init(&part, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, work, (void *)(intptr_t)i);
    for (int i = 0; i < QUIETS; i++) {
        pthread_barrier_wait(&meet);
        quiets[i].from = now_ns();
        be_busy(14);
        quiets[i].to = now_ns();
        pthread_barrier_wait(&part);
    }
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    print_all();
    return 0;
}
