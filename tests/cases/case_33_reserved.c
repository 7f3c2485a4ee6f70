// 64 TiB reserved in pieces, of which a thousand pages are touched.
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

int main(void) {
    size_t piece = 8ull << 40;
    char *pieces[8];
    int made = 0, wrong = 0;
    for (int i = 0; i < 8; i++) {
        pieces[i] = mmap(NULL, piece, i ? PROT_READ | PROT_WRITE : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (pieces[i] != MAP_FAILED) made++;
    }
    for (int i = 0; i < 1000; i++) pieces[1 + i % 7][(size_t)i * (piece / 1001)] = (char)i;
    nanosleep(&(struct timespec){0, 60000000}, NULL);
    for (volatile int i = 0; i < 60000000; i++) {
    }
    for (int i = 0; i < 1000; i++) wrong += pieces[1 + i % 7][(size_t)i * (piece / 1001)] != (char)i;
    printf("made %d wrong %d\n", made, wrong);
    return 0;
}
