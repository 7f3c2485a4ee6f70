// exec from a thread that is not the leader, while three others sleep in different ways and hold memory of their own.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *program;

static void *sleeper(void *kind) {
    char *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 1, 1 << 20);
    if (kind == (void *)0)
        for (;;) sleep(100);
    if (kind == (void *)1)
        for (;;) pause();
    for (volatile unsigned i = 0;; i++) {
    }
    return NULL;
}

static void *executer(void *argument) {
    (void)argument;
    usleep(20000);
    char *const arguments[] = {program, "after", NULL};
    execv(program, arguments);
    _exit(99);
}

static int threads_now(void) {
    char line[256];
    int threads = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, "Threads: %d", &threads);
    if (status) fclose(status);
    return threads;
}

int main(int argc, char **argv) {
    if (argc > 1) {
        char *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memory[0] = 1;
        printf("leader %d, threads %d\n", getpid() == syscall(SYS_gettid), threads_now());
        return 7;
    }
    program = argv[0];
    pthread_t thread;
    for (long i = 0; i < 3; i++) pthread_create(&thread, NULL, sleeper, (void *)i);
    pthread_create(&thread, NULL, executer, NULL);
    for (;;) pause();
}
