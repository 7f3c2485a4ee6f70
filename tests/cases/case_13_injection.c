// Execs itself again and again while a timer fires a thousand times a second, mapping memory in between; calls through
// the vsyscall page where there is one. Registers that must survive are checked in a loop.
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t ticks;
static void on_alarm(int number) { ticks++; }

static int wrong;

static void use_memory(int rounds) {
    for (int i = 0; i < rounds; i++) {
        char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        wrong += memory == MAP_FAILED;
        memory[4096] = (char)i;
        wrong += munmap(memory, 8192) != 0;
        errno = 33;
        wrong += munmap((void *)1, 4096) != -1 || errno != EINVAL;
    }
}

// Registers over a fork, whose child is made ready by the recorder before it runs.
static void fork_and_compare(void) {
#ifdef __x86_64__
    register uint64_t a __asm__("rbx") = 0x1111, b __asm__("r12") = 0x2222, c __asm__("r13") = 0x3333,
                        d __asm__("r14") = 0x4444;
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    double x = 1.0 / 3;
    pid_t child = fork();
    __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d));
    int bad = a != 0x1111 || b != 0x2222 || c != 0x3333 || d != 0x4444 || x != 1.0 / 3;
#else
    pid_t child = fork();
    int bad = 0;
#endif
    if (child == 0) _exit(bad);
    int status;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    wrong += bad || status;
}

static volatile sig_atomic_t values;
static void on_value(int number, siginfo_t *info, void *context) {
    wrong += info->si_code != SI_QUEUE || info->si_value.sival_int != 7 + values;
    values++;
}

// A child that is sent signals before it has run.
static void fork_and_signal(void) {
    enum { SENT = 5 };
    struct sigaction action = {.sa_sigaction = on_value, .sa_flags = SA_SIGINFO};
    sigaction(SIGRTMIN, &action, NULL);
    for (int round = 0; round < 10; round++) {
        pid_t child = fork();
        if (child == 0) {
            while (values < SENT) {
            }
            _exit(wrong);
        }
        for (int i = 0; i < SENT; i++) sigqueue(child, SIGRTMIN, (union sigval){.sival_int = 7 + i});
        int status;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
        }
        wrong += status != 0;
    }
}

static void call_vsyscall(void) {
#ifdef __x86_64__
    char line[256];
    int there = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps)) there |= strstr(line, "[vsyscall]") != NULL;
    fclose(maps);
    long (*vtime)(long *) = (long (*)(long *))0xffffffffff600400;
    for (int i = 0; there && i < 2000; i++) wrong += labs(vtime(NULL) - time(NULL)) > 1;
#endif
}

int main(int argc, char **argv) {
    int left = argc > 1 ? atoi(argv[1]) : 20;
    sigset_t alarms, none;
    sigemptyset(&none);
    sigemptyset(&alarms);
    sigaddset(&alarms, SIGALRM);
    signal(SIGALRM, on_alarm);
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 1000}, {0, 1000}}, NULL);
    sigprocmask(SIG_SETMASK, &none, NULL);
    use_memory(100);
    fork_and_compare();
    fork_and_signal();
    call_vsyscall();
    while (ticks < 3) {
    }
    if (wrong) printf("%d wrong, %d left\n", wrong, left);
    sigprocmask(SIG_BLOCK, &alarms, NULL); // it would kill during exec
    fflush(stdout);
    char number[16];
    snprintf(number, sizeof number, "%d", left - 1);
    if (left > 0) execl("/proc/self/exe", argv[0], number, NULL);
    sigset_t mask;
    sigprocmask(SIG_SETMASK, NULL, &mask);
    printf("done, SIGALRM %s, SIGUSR1 %s\n", sigismember(&mask, SIGALRM) ? "blocked" : "free",
           sigismember(&mask, SIGUSR1) ? "blocked" : "free");
    return 0;
}
