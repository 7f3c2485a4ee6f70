// posix_spawn in a loop from two threads, and a child of vfork that takes its time before it executes.
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int spawned(char *const arguments[]) {
    pid_t pid;
    int status = -1;
    if (posix_spawn(&pid, arguments[0], NULL, NULL, arguments, environ) != 0) return -1;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -status;
}

static void *spawner(void *argument) {
    long sum = 0;
    for (int i = 0; i < 25; i++) sum += spawned((char *const[]){"/bin/sh", "-c", "exit 3", NULL});
    return (void *)sum;
}

static volatile unsigned written;

int main(void) {
    pthread_t other;
    void *sum;
    pthread_create(&other, NULL, spawner, NULL);
    long mine = (long)spawner(NULL);
    pthread_join(other, &sum);
    printf("spawned %ld %ld\n", mine, (long)sum);
    fflush(stdout);
    int status = -1;
    pid_t pid = vfork();
    if (pid == 0) {
        // the parent is asleep in vfork, and the memory is its own
        mmap(NULL, 12345, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct timespec begun, now;
        clock_gettime(CLOCK_MONOTONIC, &begun);
        do {
            written++; // so that frames are taken
            clock_gettime(CLOCK_MONOTONIC, &now);
        } while ((now.tv_sec - begun.tv_sec) * 1000 + (now.tv_nsec - begun.tv_nsec) / 1000000 < 400);
        execl("/bin/sh", "sh", "-c", "exit 9", NULL);
        _exit(1);
    }
    waitpid(pid, &status, 0);
    printf("after vfork %d\n", WEXITSTATUS(status));
    return 0;
}
