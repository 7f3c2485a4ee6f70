// A program that confines itself, in the way its argument names, says so, and uses memory until its input ends; with
// "later", when it has read a byte. With "signals" it only gets one each 20 microseconds.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif

static volatile sig_atomic_t dispatched;
static volatile char selector; // SYSCALL_DISPATCH_FILTER_ALLOW

static void say(const char *text) {
    if (write(1, text, strlen(text)) < 0) syscall(SYS_exit, 9);
}

static void on_sigsys(int number, siginfo_t *info, void *context) {
    selector = 0;
    dispatched++;
#ifdef __x86_64__
    greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
    long result =
        syscall(regs[REG_RAX], regs[REG_RDI], regs[REG_RSI], regs[REG_RDX], regs[REG_R10], regs[REG_R8], regs[REG_R9]);
    regs[REG_RAX] = result < 0 ? -errno : result;
#endif
}

static int dispatch(void) {
    struct sigaction action = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO | SA_NODEFER};
    return sigaction(SIGSYS, &action, NULL) || prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector);
}

// The first call that a recorder might inject is death.
static int kill_for_userfaultfd(void) {
    struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                 BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_userfaultfd, 0, 1),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                                 BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof code / sizeof *code, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void on_alarm(int number) {}

static int rain(void) {
    signal(SIGALRM, on_alarm);
    return setitimer(ITIMER_REAL, &(struct itimerval){{0, 20}, {0, 20}}, NULL);
}

static void be_strict(void) {
    char byte;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) say("not strict\n");
    say("strict\n");
    while (read(0, &byte, 1) == 1) say("byte\n");
    say("end\n");
}

static bool input_ended(void) {
    struct pollfd input = {.fd = 0, .events = POLLIN};
    return poll(&input, 1, 0) == 1;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    char byte;
    unsigned wrong = 0;
    if (strcmp(how, "kill") == 0) wrong += kill_for_userfaultfd() != 0;
    if (strcmp(how, "dispatch") == 0) wrong += dispatch() != 0;
    if (strcmp(how, "signals") == 0) wrong += rain() != 0;
    if (strcmp(how, "later") == 0) say("ready\n"), wrong += read(0, &byte, 1) != 1;
    if (strcmp(how, "strict") == 0 || strcmp(how, "later") == 0) {
        be_strict();
        if (strcmp(how, "later") == 0) syscall(SYS_getpid); // is death in strict mode
        syscall(SYS_exit, 4);
    }
    say("ready\n");
    do {
        selector = strcmp(how, "dispatch") == 0;
        for (volatile unsigned i = 0; i < 3000000; i++) { // is stopped here mostly
        }
        char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        wrong += memory == MAP_FAILED;
        memory[4096] = 1;
        wrong += munmap(memory, 8192) != 0;
    } while (!input_ended());
    say(wrong == 0 && (dispatched > 0) == (strcmp(how, "dispatch") == 0) ? "all good\n" : "not good\n");
    return 4;
}
