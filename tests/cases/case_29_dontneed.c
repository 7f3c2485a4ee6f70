// Write, give back, write again, many times; and MADV_FREE. Prints the addresses and what was read after each step.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { P = 4096, PAGES = 8 };
int main(int argc, char **argv) {
    long rounds = argc > 1 ? atol(argv[1]) : 2000, zero = 0, kept = 0;
    char *memory = mmap(NULL, PAGES * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (long i = 0; i < rounds; i++) {
        memory[(i % PAGES) * P] = (char)(i | 1);
        madvise(memory + (i % PAGES) * P, P, MADV_DONTNEED);
        zero += memory[(i % PAGES) * P] == 0;
        memory[(i % PAGES) * P] = 'w';
        kept += memory[(i % PAGES) * P] == 'w';
    }
    printf("{\"what\":\"rounds\",\"zero\":%ld,\"kept\":%ld}\n", zero, kept);
    char *gone = mmap(NULL, 4 * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(gone, 'g', 4 * P);
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    for (volatile int i = 0; i < 30000000; i++) {
    }
    madvise(gone, 4 * P, MADV_DONTNEED);
    char *again = mmap(NULL, 4 * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(again, 'a', 4 * P);
    madvise(again, 4 * P, MADV_FREE);
    again[0] = 'b';
    printf("{\"what\":\"end\",\"gone\":\"%p\",\"again\":\"%p\",\"first\":\"%c\"}\n", (void *)gone, (void *)again, again[0]);
    fflush(stdout);
    nanosleep(&(struct timespec){0, 50000000}, NULL);
    for (volatile int i = 0; i < 30000000; i++) {
    }
    return 0;
}
