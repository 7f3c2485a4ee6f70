// Deep recursion, a large alloca, and a MAP_GROWSDOWN mapping that grows page by page.
#include <alloca.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { P = 4096 };
static uintptr_t lowest = UINTPTR_MAX;
static __attribute__((noinline)) int deep(int left) {
    volatile char frame[16384];
    frame[0] = (char)left;
    frame[sizeof frame - 1] = 1;
    if ((uintptr_t)frame < lowest) lowest = (uintptr_t)frame;
    return left ? deep(left - 1) + frame[sizeof frame - 1] : 1;
}
static __attribute__((noinline)) int leap(void) {
    volatile char *far = alloca(1 << 20);
    far[0] = 1;
    return far[0];
}
int main(void) {
    printf("deep %d leap %d\n", deep(7 << 20 >> 14), leap());
    char *area = mmap(NULL, 600 * P, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    munmap(area, 600 * P);
    char *down = mmap(area + 500 * P, 2 * P, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_GROWSDOWN | MAP_FIXED, -1, 0);
    int grown = 0;
    for (int i = 0; i < 100; i++, grown++) down[-(long)i * P] = (char)i;
    int same = 1;
    for (int i = 0; i < 100; i++) same &= down[-(long)i * P] == (char)i;
    printf("grown %d same %d\n", grown, same);
    mprotect(down - 50 * P, P, PROT_READ | PROT_GROWSDOWN);
    printf("{\"what\":\"lowest\",\"stack\":\"%p\",\"down\":\"%p\"}\n", (void *)lowest, (void *)(down - 99 * P));
    fflush(stdout);
    nanosleep(&(struct timespec){0, 40000000}, NULL);
    for (volatile int i = 0; i < 30000000; i++) {
    }
    return 0;
}
