// Crashes at a place of a random call tree: recursion, function pointers, qsort's callback, alloca, a thread, and from
// within signal handlers, on an alternate stack too.
//   crash_tree SEED
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define APART __attribute__((noinline, noclone))

static unsigned seed;
static int depth;
static volatile int sink;
static volatile int *volatile nowhere;

static unsigned next(void) { return seed = seed * 1103515245u + 12345u, seed >> 16; }

static int go_on(int value);

APART static int crash_here(int value) {
    *nowhere = value; // the crash
    return value + sink;
}

APART static int plain(int value) { return go_on(value + 1) * 3 + sink; }

APART static int recursive(int value, int times) {
    if (times == 0) return go_on(value) + 1;
    return recursive(value * 2, times - 1) + sink;
}

APART static int with_alloca(int value) {
    size_t size = 16 + next() % 4000;
    char *room = alloca(size);
    memset(room, value, size);
    int result = go_on(room[size / 2]);
    return result + room[0];
}

APART static int many_arguments(int a, int b, int c, int d, int e, int f, long g, long h, double x, double y) {
    double z = x * a + y * b;
    int result = go_on(a + b + c + d + e + f + (int)g + (int)h);
    return result + (int)(z * x) + a * b * c * d * e * f;
}

static int compared;
APART static int compare(const void *left, const void *right) {
    if (++compared == 5) return go_on(compared) + *(const int *)left;
    return *(const int *)left - *(const int *)right;
}

APART static int sorted(int value) {
    int items[12];
    for (int i = 0; i < 12; i++) items[i] = (int)next() % 100 + value;
    compared = 0;
    qsort(items, 12, sizeof *items, compare);
    return items[3] + sink;
}

APART static void *in_thread(void *argument) { return (void *)(intptr_t)(go_on((int)(intptr_t)argument) + sink); }

APART static int threaded(int value) {
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, in_thread, (void *)(intptr_t)value) != 0) return 0;
    pthread_join(thread, &result);
    return (int)(intptr_t)result + sink;
}

static void on_signal(int number) { sink += go_on(number) + sink; }

APART static int signalled(int value) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_NODEFER | (value & 1 ? SA_ONSTACK : 0)};
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    return sink + value;
}

APART static int at_exit_of(int value) {
    int (*volatile call)(int) = next() & 1 ? plain : with_alloca;
    return call(value) - sink;
}

static int go_on(int value) {
    if (++depth > 4 + (int)(next() % 6)) return crash_here(value) + 1;
    switch (next() % 8) {
    case 0:
        return plain(value) + 1;
    case 1:
        return recursive(value, (int)(next() % 5)) + 1;
    case 2:
        return with_alloca(value) + 1;
    case 3:
        return many_arguments(value, 2, 3, 4, 5, 6, 7, 8, 1.5, 2.5) + 1;
    case 4:
        return sorted(value) + 1;
    case 5:
        return threaded(value) + 1;
    case 6:
        return signalled((int)next()) + 1;
    default:
        return at_exit_of(value) + 1;
    }
}

int main(int argc, char **argv) {
    seed = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    stack_t other = {.ss_sp = malloc(1 << 17), .ss_size = 1 << 17};
    sigaltstack(&other, NULL);
    for (int i = 0; i < 10; i++) next();
    return go_on(1);
}
