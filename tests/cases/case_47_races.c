// Many threads touch the same pages while others unmap, map over, move and discard them, and fork. Every access is
// guarded: memory may be gone. Ends by itself.
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TOUCHERS_MAX = 50, P = 4096, PAGES = 32 };
static int touchers = 12;
static char *area;
static atomic_bool stop;
static atomic_long touched;
static _Thread_local sigjmp_buf back;
static _Thread_local volatile int inside;
static void on_fault(int number) {
    if (!inside) _exit(90 + (number == SIGBUS));
    siglongjmp(back, 1);
}
static void *toucher(void *argument) {
    unsigned seed = (unsigned)(long)argument;
    while (!stop) {
        if (sigsetjmp(back, 1) == 0) {
            inside = 1;
            area[(rand_r(&seed) % PAGES) * P] = 1;
            touched++;
        }
        inside = 0;
    }
    return NULL;
}
static void *changer(void *argument) {
    unsigned seed = 77 + (unsigned)(long)argument;
    while (!stop) {
        long page = rand_r(&seed) % PAGES, pages = 1 + rand_r(&seed) % 8;
        if (page + pages > PAGES) pages = PAGES - page;
        char *at = area + page * P;
        switch (rand_r(&seed) % 5) {
        case 0:
            munmap(at, (size_t)pages * P);
            break;
        case 1:
            madvise(at, (size_t)pages * P, MADV_DONTNEED);
            break;
        case 2:
            mprotect(at, (size_t)pages * P, PROT_READ);
            break;
        default:
            mmap(at, (size_t)pages * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        }
    }
    return NULL;
}
static void *forker(void *argument) {
    while (!stop) {
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) _exit(7);
        waitpid(pid, &status, 0);
        if (WEXITSTATUS(status) != 7) _exit(50);
    }
    return argument;
}
int main(int argc, char **argv) {
    int ms = argc > 1 ? atoi(argv[1]) : 700;
    if (argc > 2) touchers = atoi(argv[2]);
    struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};
    sigaction(SIGSEGV, &action, NULL);
    sigaction(SIGBUS, &action, NULL);
    area = mmap(NULL, PAGES * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_t threads[TOUCHERS_MAX + 3];
    for (long i = 0; i < touchers; i++) pthread_create(&threads[i], NULL, toucher, (void *)i);
    for (long i = 0; i < 2; i++) pthread_create(&threads[touchers + i], NULL, changer, (void *)i);
    pthread_create(&threads[touchers + 2], NULL, forker, NULL);
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    stop = 1;
    for (int i = 0; i < touchers + 3; i++) pthread_join(threads[i], NULL);
    printf("touched %s\n", touched > 0 ? "some" : "none");
    return 0;
}
