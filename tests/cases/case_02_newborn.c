// Eight threads, each of which forks many children that map memory and leave with a status of their own; then a pool of
// threads that start at once. Prints what came back.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static int rounds;
static atomic_int right, wrong;

static void *forker(void *argument) {
    long me = (long)argument;
    for (int i = 0; i < rounds; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            char *memory = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
            memory[0] = 1;
            _exit((int)(me * 16 + i % 16));
        }
        int status = -1;
        if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status) != me * 16 + i % 16)
            wrong++;
        else
            right++;
    }
    return NULL;
}

static void *worker(void *argument) {
    free(malloc(200000 + (size_t)argument));
    return argument;
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : 40;
    pthread_t threads[8];
    for (long i = 0; i < 8; i++) pthread_create(&threads[i], NULL, forker, (void *)i);
    for (int i = 0; i < 8; i++) pthread_join(threads[i], NULL);
    printf("right %d wrong %d\n", right, wrong);
    for (int round = 0; round < rounds; round++) {
        for (long i = 0; i < 4; i++) pthread_create(&threads[i], NULL, worker, (void *)i);
        for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    }
    printf("pools %d\n", rounds);
    return 0;
}
