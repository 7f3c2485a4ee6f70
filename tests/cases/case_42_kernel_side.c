// The kernel touches the program's memory on its behalf: reads into fresh pages, signal frames on an alternate stack,
// names and results on fresh stack pages, futexes, rseq. Prints results and what was there.
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { BYTES = 1 << 20, ROUNDS = 40 };

static unsigned char *fresh(size_t bytes) {
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static int read_into_fresh(void) {
    int good = 0, pair[2];
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    for (int i = 0; i < ROUNDS; i++) {
        unsigned char *from = fresh(BYTES / 16), *to = fresh(BYTES / 16);
        memset(from, i + 1, BYTES / 16);
        ssize_t sent = send(pair[0], from, 65536, 0), got = 0;
        while (got < sent) {
            ssize_t part = recv(pair[1], to + got, (size_t)(sent - got), 0);
            if (part <= 0) break;
            got += part;
        }
        good += got == sent && to[got - 1] == (unsigned char)(i + 1);
        int zero = open("/dev/zero", O_RDONLY);
        unsigned char *more = fresh(BYTES);
        good += read(zero, more, BYTES) == BYTES;
        struct iovec parts[2] = {{fresh(8192), 8192}, {fresh(8192), 8192}};
        good += readv(zero, parts, 2) == 16384;
        close(zero);
        munmap(more, BYTES), munmap(from, BYTES / 16), munmap(to, BYTES / 16);
        munmap(parts[0].iov_base, 8192), munmap(parts[1].iov_base, 8192);
    }
    close(pair[0]), close(pair[1]);
    return good;
}

static volatile sig_atomic_t handled;
static void handler(int number, siginfo_t *info, void *context) {
    volatile char room[4096];
    memset((void *)room, number, sizeof room);
    handled += room[17] == (char)number;
}

static void on_fresh_stack(void) {
    for (int i = 0; i < ROUNDS; i++) {
        stack_t stack = {.ss_sp = fresh(65536), .ss_size = 65536};
        sigaltstack(&stack, NULL);
        raise(SIGUSR1);
        memset(stack.ss_sp, 0, 65536); // armed again by the next frame, then a frame of the kernel's on it
        usleep(500);
        raise(SIGUSR1);
        stack_t off = {.ss_flags = SS_DISABLE};
        sigaltstack(&off, NULL);
        munmap(stack.ss_sp, 65536);
    }
}

static int results_on_fresh_pages(void) {
    int good = 0;
    for (int i = 0; i < ROUNDS; i++) {
        unsigned char *page = fresh(3 * 4096);
        char *name = (char *)page + 4096 - 3; // across two pages
        strcpy(name, "/dev/null");
        struct stat *status = (struct stat *)(page + 2 * 4096 - 32);
        good += stat(name, status) == 0 && S_ISCHR(status->st_mode);
        struct timespec *time = (struct timespec *)(page + 3 * 4096 - sizeof *time);
        good += clock_gettime(CLOCK_MONOTONIC, time) == 0 && time->tv_sec > 0;
        munmap(page, 3 * 4096);
    }
    return good;
}

static unsigned char *shared_page;
static void *wait_on_fresh(void *unused) {
    pthread_mutex_t *mutex = (pthread_mutex_t *)shared_page;
    for (int i = 0; i < 2000; i++) {
        pthread_mutex_lock(mutex);
        ++*(uint64_t *)(shared_page + 512);
        pthread_mutex_unlock(mutex);
        if (i % 100 == 0) sched_yield(); // rseq's area is written on the way back
    }
    return unused;
}

int main(void) {
    struct sigaction action = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    printf("reads: %d of %d\n", read_into_fresh(), 3 * ROUNDS);
    on_fresh_stack();
    printf("handlers: %d of %d\n", (int)handled, 2 * ROUNDS);
    printf("results: %d of %d\n", results_on_fresh_pages(), 2 * ROUNDS);
    shared_page = fresh(4096);
    pthread_mutex_init((pthread_mutex_t *)shared_page, NULL);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, wait_on_fresh, NULL);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    printf("counted: %llu\n", (unsigned long long)*(uint64_t *)(shared_page + 512));
    unsigned char *readonly = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int zero = open("/dev/zero", O_RDONLY);
    ssize_t refused = read(zero, readonly, 10);
    printf("into a page that cannot be written: %zd %d\n", refused, refused < 0 ? errno : 0);
    return 0;
}
