// Thousands of threads made and joined while one stays busy, then many short children.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_bool stop;
static void *busy(void *argument) {
    unsigned long count = 0;
    while (!stop) free(malloc(1000 + count++ % 100000));
    return argument;
}
static void *brief(void *argument) {
    char *memory = malloc(150000);
    memory[0] = 1;
    free(memory);
    return argument;
}
int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 500, children = argc > 2 ? atoi(argv[2]) : 100;
    pthread_t other, *many = calloc((size_t)threads, sizeof *many);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    pthread_create(&other, NULL, busy, NULL);
    long joined = 0;
    for (int at = 0; at < threads; at += 250) {
        int group = threads - at < 250 ? threads - at : 250;
        for (long i = 0; i < group; i++)
            if (pthread_create(&many[i], &small, brief, (void *)1) != 0) many[i] = 0;
        for (int i = 0; i < group; i++) {
            void *result = NULL;
            if (many[i]) pthread_join(many[i], &result);
            joined += (long)result;
        }
    }
    stop = 1;
    pthread_join(other, NULL);
    int right = 0;
    for (int i = 0; i < children; i++) {
        int status = -1;
        pid_t pid = fork();
        if (pid == 0) _exit(i % 100);
        waitpid(pid, &status, 0);
        right += WIFEXITED(status) && WEXITSTATUS(status) == i % 100;
    }
    printf("joined %ld, children %d\n", joined, right);
    return 0;
}
