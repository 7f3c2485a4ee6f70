// Stops children in every way a shell or a parent does, and prints what the parent sees and whether they really stood.
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 4 };

static _Atomic unsigned *beats; // of each thread of the child
static _Atomic unsigned *continued;

static void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static void on_continue(int number) { ++*continued; }

static void *beat(void *at) {
    while (beats) { // for ever
        ++*(_Atomic unsigned *)at;
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        *(volatile char *)page = 1;
        munmap(page, 4096);
    }
    return at;
}

static void *sleep_on(void *unused) {
    for (;;) pause();
    return unused;
}

static pid_t start(void) {
    pid_t child = fork();
    if (child) return child;
    signal(SIGCONT, on_continue);
    setpgid(0, 0); // not that of an orphan, in which SIGTSTP does nothing
    pthread_t thread;
    pthread_create(&thread, NULL, sleep_on, NULL);
    for (int i = 1; i < THREADS; i++) pthread_create(&thread, NULL, beat, (void *)&beats[i]);
    beat((void *)&beats[0]);
    return 0;
}

static unsigned all(void) {
    unsigned sum = 0;
    for (int i = 0; i < THREADS; i++) sum += beats[i];
    return sum;
}

static void await_beats(unsigned more) {
    unsigned before = all();
    while (all() - before < more) pause_ms(1);
}

static void show(const char *what, int status) {
    if (WIFSTOPPED(status)) printf("%s: stopped by %d", what, WSTOPSIG(status));
    if (WIFCONTINUED(status)) printf("%s: continued", what);
    if (WIFSIGNALED(status)) printf("%s: killed by %d", what, WTERMSIG(status));
    if (WIFEXITED(status)) printf("%s: exited with %d", what, WEXITSTATUS(status));
}

static void stop_and_continue(pid_t child, int number) {
    char what[32];
    int status = 0;
    snprintf(what, sizeof what, "signal %d", number);
    unsigned conts = *continued;
    await_beats(10);
    kill(child, number);
    waitpid(child, &status, WUNTRACED);
    show(what, status);
    pause_ms(20); // the last thread may still be on its way
    unsigned before = all();
    pause_ms(120);
    printf(", %s\n", all() == before ? "all stood" : "SOMETHING RAN");
    kill(child, SIGCONT);
    waitpid(child, &status, WCONTINUED);
    show(what, status);
    await_beats(10);
    for (int i = 0; i < 2000 && *continued == conts; i++) pause_ms(1); // the handler may be the last to run
    printf(", runs again, %u SIGCONT\n", *continued - conts);
}

static void quick_rounds(pid_t child, int rounds) {
    int stops = 0, continues = 0, status;
    for (int i = 0; i < rounds; i++) {
        kill(child, SIGSTOP);
        waitpid(child, &status, WUNTRACED);
        stops += WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP;
        kill(child, SIGCONT);
        waitpid(child, &status, WCONTINUED);
        continues += WIFCONTINUED(status);
    }
    await_beats(10);
    printf("%d stops, %d continues\n", stops, continues);
}

// The child stops itself, its only thread.
static void raises(int number) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        setpgid(0, 0);
        raise(number);
        _exit(9);
    }
    waitpid(child, &status, WUNTRACED);
    show("raised", status);
    kill(child, SIGCONT);
    waitpid(child, &status, 0);
    show("; then", status);
    printf("\n");
}

static void killed_while_stopped(pid_t child) {
    int status = 0;
    kill(child, SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    kill(child, SIGTERM); // waits until it is continued
    pause_ms(50);
    printf("SIGTERM while it stands: %s", waitpid(child, &status, WNOHANG) == 0 ? "waits" : "ACTED");
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    show("; SIGKILL", status);
    printf("\n");
}

int main(int argc, char **argv) {
    beats = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    continued = beats + THREADS;
    setvbuf(stdout, NULL, _IONBF, 0);
    static const int stops[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
    pid_t child = start();
    for (int i = 0; i < 4; i++) stop_and_continue(child, stops[i]);
    quick_rounds(child, argc > 1 ? atoi(argv[1]) : 50);
    killed_while_stopped(child);
    for (int i = 0; i < 4; i++) raises(stops[i]);
    return 0;
}
