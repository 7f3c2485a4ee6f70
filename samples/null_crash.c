// Three threads work; the main thread writes through a null pointer.   null_crash [--checkpoints N]
//
// Each thread says where its stack canary lies and what is in it, and keeps a value of its own in a register that calls
// preserve: r12 on x86-64, x20 on aarch64.
#include "calls.h"
#include <pthread.h>

#define WORKERS 3
#define CANARY 64
#define OFFSET 0x10 // as of a member of a structure at address 0

static pthread_barrier_t ready, go;
static volatile int never;

#if defined(__x86_64__)
#define HELD_NAME "r12"
#define HELD __asm__("r12")
#define COUNT __asm__("r13")
#define SPIN "1: add $1, %1\n\tcmpl $0, %2\n\tje 1b"
#define STORE "movq %0, (%1)"
#elif defined(__aarch64__)
#define HELD_NAME "x20"
#define HELD __asm__("x20")
#define COUNT __asm__("x21")
#define SPIN "1: add %1, %1, #1\n\tldr w9, %2\n\tcbz w9, 1b"
#define STORE "str %0, [%1]"
#else
#error "name a register that calls preserve"
#endif

static uint64_t held_value(size_t index) { return 0x1111222233330000u + 0x1001 * index; }

static void describe(size_t index, const char *name, char *canary, void *function) {
    char hex[2 * CANARY + 1];
    for (size_t i = 0; i < CANARY; i++) canary[i] = (char)(0x20 + (i * 7 + index * 31) % 0x5f);
    for (size_t i = 0; i < CANARY; i++) snprintf(hex + 2 * i, 3, "%02x", (unsigned char)canary[i]);
    truth_line("\"what\":\"thread\",\"index\":%zu,\"name\":\"%s\",\"tid\":%d,\"register\":\"" HELD_NAME
               "\",\"held\":\"0x%" PRIx64 "\",\"function\":\"%p\",\"canary\":\"%p\",\"hex\":\"%s\"",
               index, name, gettid(), held_value(index), function, (void *)canary, hex);
}

static __attribute__((noinline)) void spin(uint64_t value) {
    register uint64_t held HELD = value;
    register uint64_t count COUNT = 0;
    __asm__ volatile(SPIN : "+r"(held), "+r"(count) : "m"(never) : "memory", "cc", "r9");
}

static __attribute__((noinline)) void crash(uint64_t value) {
    register uint64_t held HELD = value;
    __asm__ volatile(STORE : "+r"(held) : "r"((uintptr_t)OFFSET) : "memory");
}

static void *be_worker(void *argument) {
    size_t index = (size_t)(uintptr_t)argument;
    char canary[CANARY], name[16];
    snprintf(name, sizeof name, "worker-%zu", index);
    pthread_setname_np(pthread_self(), name);
    describe(index, name, canary, (void *)(uintptr_t)spin);
    pthread_barrier_wait(&ready);
    pthread_barrier_wait(&go);
    spin(held_value(index));
    return (void *)(uintptr_t)canary[0];
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    truth_begin();
    truth_checkpoint("alone");
    char canary[CANARY];
    pthread_barrier_init(&go, NULL, WORKERS + 1);
    for (size_t i = 0; i < WORKERS; i++) {
        pthread_barrier_init(&ready, NULL, 2);
        pthread_t thread;
        if (pthread_create(&thread, NULL, be_worker, (void *)(uintptr_t)(i + 1)) != 0) truth_fail("pthread_create");
        pthread_barrier_wait(&ready);
        truth_checkpoint("one thread more");
    }
    describe(0, program_invocation_short_name, canary, (void *)(uintptr_t)crash);
    truth_checkpoint("about to crash");
    pthread_barrier_wait(&go);
    truth_sleep(20000000);
    truth_line("\"what\":\"crash\",\"addr\":\"0x%x\",\"tid\":%d,\"before\":%" PRId64, OFFSET, gettid(), truth_now());
    truth_flush();
    crash(held_value(0));
    return canary[0];
}
