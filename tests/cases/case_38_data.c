// Writes nothing but global variables: .data, .bss, a large .bss, and data of a library.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t data[1024] = {1, 2, 3};
static volatile uint64_t small_bss[1024];
static volatile uint64_t large_bss[1 << 18];

int main(void) {
    for (uint64_t round = 1; round <= 6; round++) {
        struct timespec now;
        data[512] = round * 0x0101010101010101;
        small_bss[700] = round * 0x0202020202020202;
        large_bss[200000] = round * 0x0303030303030303;
        clock_gettime(CLOCK_MONOTONIC, &now);
        printf("{\"what\":\"round\",\"t\":%lld,\"data\":\"%p\",\"small\":\"%p\",\"large\":\"%p\",\"round\":%d}\n",
               (long long)now.tv_sec * 1000000000 + now.tv_nsec, (void *)&data[512], (void *)&small_bss[700],
               (void *)&large_bss[200000], (int)round);
        fflush(stdout);
        for (volatile long i = 0; i < 60000000; i++) {
        }
    }
    return 0;
}
