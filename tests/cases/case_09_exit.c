// Fifty threads that map and unmap; one of them ends the process with status 42 after a moment that the seed chooses.
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { THREADS = 50 };
static unsigned seed;
static pthread_barrier_t start;

static void *mapper(void *argument) {
    long me = (long)argument;
    pthread_barrier_wait(&start);
    for (unsigned i = 0;; i++) {
        size_t size = 4096 * (1 + (i + (unsigned)me) % 16);
        char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory != MAP_FAILED) memory[0] = 1;
        if (me == 7 && i >= 3 + seed % 60) syscall(SYS_exit_group, 42);
        munmap(memory, size);
    }
    return NULL;
}

int main(int argc, char **argv) {
    seed = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
    pthread_barrier_init(&start, NULL, THREADS);
    pthread_t thread;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (long i = 0; i < THREADS; i++) pthread_create(&thread, &small, mapper, (void *)i);
    for (;;) pause();
}
