// A program to attach to: one thread waits in epoll_wait, one in semtimedop, one computes, the main one maps, writes
// and unmaps. Says what it is, runs until its standard input ends, and then says what went wrong.
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 1 << 16, WAIT_MS = 150 };

static _Atomic bool done;
static _Atomic unsigned errors, broken, waits, computed;
static volatile uint64_t counter;

// A wait that came to its time: 0, or -1 with `error`. SIGCONT breaks it off.
static void count(int result, int error) {
    bool is_broken = result < 0 && errno == EINTR;
    broken += is_broken;
    errors += !is_broken && (error ? result != -1 || errno != error : result != 0);
}

static void *wait_epoll(void *unused) {
    int epoll = epoll_create1(0);
    struct epoll_event event;
    while (!done) {
        count(epoll_wait(epoll, &event, 1, WAIT_MS), 0);
        waits++;
    }
    return unused;
}

static void *wait_semaphore(void *unused) {
    int semaphore = semget(IPC_PRIVATE, 1, 0600);
    struct sembuf down = {0, -1, 0};
    struct timespec limit = {0, WAIT_MS * 1000000l};
    while (!done) {
        count(semtimedop(semaphore, &down, 1, &limit), EAGAIN);
        waits++;
    }
    semctl(semaphore, 0, IPC_RMID);
    return unused;
}

static void *compute(void *unused) {
    double x = 0.5;
    while (!done) {
        for (int i = 0; i < 100000; i++) x = 3.9 * x * (1 - x);
        errors += !(x > 0 && x < 1);
        computed++;
    }
    return unused;
}

static void use_memory(void) {
    unsigned char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        errors++;
        return;
    }
    memset(memory, (int)(counter & 0xff), BYTES);
    errors += memory[BYTES - 1] != (counter & 0xff);
    errors += munmap(memory, BYTES) != 0;
}

int main(void) {
    void *(*const jobs[])(void *) = {wait_epoll, wait_semaphore, compute};
    pthread_t threads[3];
    uint64_t *old = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    for (int i = 0; i < BYTES / 8; i++) old[i] = 0x1122334455667788u;
    for (int i = 0; i < 3; i++) pthread_create(&threads[i], NULL, jobs[i], NULL);
    printf("attach counter=%p old=%p pid=%d\n", (void *)&counter, (void *)old, (int)getpid());
    fflush(stdout);
    struct pollfd input = {.fd = 0, .events = POLLIN};
    while (poll(&input, 1, 2) == 0) {
        use_memory();
        counter++;
    }
    done = true;
    for (int i = 0; i < 3; i++) pthread_join(threads[i], NULL);
    printf("errors=%u broken=%u alive=%d\n", errors, broken, waits > 0 && computed > 0 && counter > 0);
    return 7;
}
