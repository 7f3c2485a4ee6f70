// Processes and threads that map, touch and unmap all the time, and short children: for being cut off at any moment.
//   case_17_busy [contents]     contents: one of them writes 128 MB over and over, too
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void *churn(void *unused) {
    for (unsigned long i = 0; getppid() != 1 || i < 1000; i++) {
        size_t length = 4096 * (1 + i % 16);
        char *memory = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) _exit(99);
        memset(memory, (int)i, length);
        if (mprotect(memory, 4096, PROT_READ) != 0 || munmap(memory, length) != 0) _exit(98);
    }
    return unused;
}

static void breed(void) {
    for (int i = 0; getppid() != 1 || i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            free(malloc(1 << 20));
            _exit(0);
        }
        int status;
        waitpid(child, &status, 0);
        if (status != 0) _exit(97);
    }
}

static void *write_over(void *unused) {
    enum { BYTES = 128 << 20, STEP = 64 };
    unsigned value = 1;
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    madvise(memory, BYTES, MADV_NOHUGEPAGE);
    for (size_t at = 0; getppid() != 1; at = (at + STEP) % BYTES) {
        value = value * 1664525 + 1013904223;
        memcpy(memory + at, &value, sizeof value);
    }
    return unused;
}

int main(int argc, char **argv) {
    bool contents = argc > 1 && strcmp(argv[1], "contents") == 0;
    pid_t last = 0;
    for (int i = 0; i < 3; i++) {
        last = fork();
        if (last) continue;
        pthread_t thread;
        if (i == 0) breed();
        pthread_create(&thread, NULL, contents && i == 1 ? write_over : churn, NULL);
        churn(NULL);
    }
    printf("busy\n");
    fflush(stdout);
    int status;
    waitpid(last, &status, 0);
    return 1;
}
