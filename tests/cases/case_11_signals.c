// Every signal that can be handled, sent in every way, with its siginfo; prints what the handler sees, in order.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEPT = 4096, QUEUED = 20, CHILDREN = 300 };

static struct kept {
    int number, code, value;
    pid_t self; // 1: sent by this process
} kept[KEPT];
static volatile sig_atomic_t count;

static void on_signal(int number, siginfo_t *info, void *context) {
    if (count == KEPT) return;
    int value = info->si_code == SI_QUEUE ? info->si_value.sival_int : 0;
    int self = info->si_code <= 0 ? info->si_pid == getpid() : 0;
    kept[count++] = (struct kept){number, info->si_code, value, self};
}

static void show(const char *what) {
    printf("%s: %d", what, (int)count);
    for (int i = 0; i < count; i++) printf(" %d/%d/%d/%d", kept[i].number, kept[i].code, kept[i].value, kept[i].self);
    printf("\n");
    count = 0;
}

static int can_be_handled(int number) {
    return number != SIGKILL && number != SIGSTOP && (number < 32 || number >= SIGRTMIN);
}

static void send_each(void) {
    for (int number = 1; number <= 64; number++)
        if (can_be_handled(number)) sigqueue(getpid(), number, (union sigval){.sival_int = 1000 + number});
    show("queued");
    for (int number = 1; number <= 64; number++)
        if (can_be_handled(number)) kill(getpid(), number);
    show("killed");
    for (int number = 1; number <= 64; number++)
        if (can_be_handled(number)) syscall(SYS_tgkill, getpid(), getpid(), number);
    show("tgkilled");
}

// Ordinary signals are kept once, real-time signals all, in their order, the lowest number first.
static void send_blocked(void) {
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    for (int i = 0; i < QUEUED; i++) {
        sigqueue(getpid(), SIGRTMIN + 3, (union sigval){.sival_int = i});
        sigqueue(getpid(), SIGRTMIN, (union sigval){.sival_int = i});
        sigqueue(getpid(), SIGUSR2, (union sigval){.sival_int = i});
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    show("kept while blocked");
}

static void trap(void) { __builtin_trap(); }

static void on_trap(int number, siginfo_t *info, void *context) { on_signal(number, info, context); }

static void breakpoints(void) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO};
    sigaction(SIGTRAP, &action, NULL);
    for (int i = 0; i < 3; i++) {
#if defined __x86_64__ || defined __i386__
        __asm__ volatile("int3");
#else
        raise(SIGTRAP);
#endif
        raise(SIGTRAP);
    }
    show("breakpoints");
}

static void children(void) {
    int ended = 0;
    for (int i = 0; i < CHILDREN; i++) {
        pid_t child = fork();
        if (child == 0) _exit(i);
        int status;
        ended += waitpid(child, &status, 0) == child && WEXITSTATUS(status) == i;
    }
    int signals = count;
    count = 0;
    printf("children: %d ended, SIGCHLD %s\n", ended, signals == CHILDREN ? "each time" : "NOT EACH TIME");
}

static void deaths(void) {
    static const int numbers[] = {SIGTRAP, SIGSEGV, SIGALRM, SIGUSR1, SIGPIPE, SIGSYS, 64};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        pid_t child = fork();
        int status;
        if (child == 0) {
            signal(numbers[i], SIG_DFL);
            raise(numbers[i]);
            _exit(1);
        }
        waitpid(child, &status, 0);
        printf("death by %d: %#x\n", numbers[i], status & 0x7f);
    }
    pid_t child = fork();
    int status;
    if (child == 0) {
        signal(SIGILL, SIG_DFL);
        trap();
    }
    waitpid(child, &status, 0);
    printf("an undefined instruction: %#x\n", status & 0x7f);
}

int main(void) {
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO};
    setvbuf(stdout, NULL, _IONBF, 0);
    for (int number = 1; number <= 64; number++)
        if (can_be_handled(number)) sigaction(number, &action, NULL);
    send_each();
    send_blocked();
    breakpoints();
    children();
    count = 0;
    deaths();
    return 0;
}
