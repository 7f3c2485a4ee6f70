// Threads that end on pages that frames protect: joins must return, robust mutexes must say that their owner died.
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t robust;
static sem_t held;

static void *brief(void *argument) {
    volatile char stack[8192];
    memset((void *)stack, 1, sizeof stack);
    for (volatile int i = 0; i < 20000; i++) {
    }
    return argument;
}
static void *owner(void *argument) {
    pthread_mutex_lock(&robust);
    sem_post(&held);
    nanosleep(&(struct timespec){0, 12000000}, NULL);
    return argument;
}
int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 300, joined = 0, died = 0;
    for (int i = 0; i < count; i += 4) {
        pthread_t threads[4];
        for (long k = 0; k < 4; k++) pthread_create(&threads[k], NULL, brief, (void *)(k + 1));
        for (long k = 0; k < 4; k++) {
            void *result = NULL;
            pthread_join(threads[k], &result);
            joined += result == (void *)(k + 1);
        }
    }
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(&robust, &attributes);
    sem_init(&held, 0, 0);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, owner, NULL);
        while (sem_wait(&held) != 0) {
        }
        int result = pthread_mutex_lock(&robust); // waits for the owner's end
        if (result == EOWNERDEAD) {
            died++;
            pthread_mutex_consistent(&robust);
        }
        pthread_mutex_unlock(&robust);
        pthread_join(thread, NULL);
    }
    printf("joined %d, owners died %d\n", joined, died);
    return 0;
}
