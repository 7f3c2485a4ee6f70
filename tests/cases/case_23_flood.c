// A flood of signals, as runtimes that preempt their threads send them, while threads compute: all are counted.
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4, SIGNALS = 300 };
static _Thread_local volatile long seen_here;
static atomic_long seen, profiled;
static atomic_int tids[THREADS], ready, stop;

static void on_urgent(int number) {
    (void)number;
    seen_here++;
    seen++;
}
static void on_profile(int number) {
    (void)number;
    profiled++;
}
static void *loop(void *argument) {
    long me = (long)argument;
    tids[me] = (int)syscall(SYS_gettid);
    ready++;
    unsigned long sum = 0;
    while (!stop) sum = sum * 31 + 7;
    return (void *)(sum & 1);
}
int main(void) {
    signal(SIGURG, on_urgent);
    signal(SIGPROF, on_profile);
    struct itimerval each = {{0, 1000}, {0, 1000}};
    setitimer(ITIMER_PROF, &each, NULL);
    pthread_t threads[THREADS];
    for (long i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, loop, (void *)i);
    while (ready < THREADS) usleep(100);
    for (int i = 0; i < SIGNALS; i++) { // one after the other, so that none falls together with another
        long before = seen;
        syscall(SYS_tgkill, getpid(), tids[i % THREADS], SIGURG);
        while (seen == before) usleep(10);
    }
    stop = 1;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("sent %d, seen %ld, profiled %s\n", SIGNALS, seen, profiled > 20 ? "yes" : "no");
    return 0;
}
