// A program that confines itself, in the way its argument names, and then goes on using memory. Prints what worked.
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef PR_SET_SYSCALL_USER_DISPATCH
#define PR_SET_SYSCALL_USER_DISPATCH 59
#endif
#define LOAD_NUMBER BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, (what))
#define IS(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1)

static unsigned rounds = 200;

static void use_memory(const char *when) {
    unsigned good = 0;
    for (unsigned i = 0; i < rounds; i++) {
        unsigned char *memory = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) continue;
        memset(memory, (int)i, 16384);
        bool right = memory[16383] == (unsigned char)i && mprotect(memory, 4096, PROT_READ) == 0;
        good += right && munmap(memory, 16384) == 0;
    }
    printf("%s: %u of %u\n", when, good, rounds);
}

static long install(struct sock_filter *code, size_t count, unsigned flags) {
    struct sock_fprog program = {(unsigned short)count, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
}
#define INSTALL(flags, ...)                                                                                            \
    do {                                                                                                               \
        struct sock_filter code[] = {LOAD_NUMBER, __VA_ARGS__};                                                        \
        if (install(code, sizeof code / sizeof *code, (flags)) < 0) printf("no filter: %s\n", strerror(errno));        \
    } while (0)

// Death for all that a recorder might inject.
static void confine_to_own_list(void) {
    INSTALL(0, IS(SYS_userfaultfd), RETURN(SECCOMP_RET_KILL_PROCESS), IS(SYS_ioctl), RETURN(SECCOMP_RET_KILL_PROCESS),
            IS(SYS_sendmsg), RETURN(SECCOMP_RET_KILL_PROCESS), IS(SYS_socket), RETURN(SECCOMP_RET_KILL_PROCESS),
            RETURN(SECCOMP_RET_ALLOW));
}

static void child_and_exec(char **argv) {
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        use_memory("child");
        fflush(stdout);
        _exit(3);
    }
    waitpid(child, &status, 0);
    printf("child ended with %#x\n", status);
    fflush(stdout);
    execv("/proc/self/exe", (char *[]){argv[0], "after", NULL});
}

static void strict(bool then_forbidden) {
    int result = prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
    char line[64];
    int length = snprintf(line, sizeof line, "strict: %d\n", result);
    for (unsigned i = 0; i < 50; i++)
        if (write(1, line, (size_t)length) < 0) syscall(SYS_exit, 9);
    if (then_forbidden) syscall(SYS_getpid);
    syscall(SYS_exit, 4);
}

static volatile sig_atomic_t dispatched;
static char selector; // SYSCALL_DISPATCH_FILTER_ALLOW

static void on_sigsys(int number, siginfo_t *info, void *context) {
    selector = 0;
    dispatched++;
    ucontext_t *at = context;
#ifdef __x86_64__
    greg_t *regs = at->uc_mcontext.gregs;
    long result =
        syscall(regs[REG_RAX], regs[REG_RDI], regs[REG_RSI], regs[REG_RDX], regs[REG_R10], regs[REG_R8], regs[REG_R9]);
    regs[REG_RAX] = result < 0 ? -errno : result;
#endif
}

static void user_dispatch(char **argv) {
    struct sigaction action = {.sa_sigaction = on_sigsys, .sa_flags = SA_SIGINFO | SA_NODEFER};
    sigaction(SIGSYS, &action, NULL);
    if (prctl(PR_SET_SYSCALL_USER_DISPATCH, 1, 0, 0, &selector) != 0) printf("no dispatch: %s\n", strerror(errno));
    for (unsigned i = 0; i < 100; i++) {
        selector = 1;
        void *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        selector = 1;
        munmap(memory, 8192);
    }
    selector = 0;
    printf("dispatched: %d\n", (int)dispatched);
    child_and_exec(argv);
}

// A thread that lets all calls pass that the others are held for.
static int listener;
static void *listen_and_pass(void *unused) {
    struct seccomp_notif asked;
    struct pollfd waiting = {.fd = listener, .events = POLLIN};
    while (poll(&waiting, 1, 10000) == 1) {
        memset(&asked, 0, sizeof asked);
        if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &asked) != 0) break;
        struct seccomp_notif_resp answer = {.id = asked.id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};
        ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
    }
    return unused;
}

static void notified(void) {
    pid_t child;
    int status;
    struct sock_filter code[] = {LOAD_NUMBER,
                                 IS(SYS_mmap),
                                 RETURN(SECCOMP_RET_USER_NOTIF),
                                 IS(SYS_munmap),
                                 RETURN(SECCOMP_RET_USER_NOTIF),
                                 RETURN(SECCOMP_RET_ALLOW)};
    pthread_t thread;
    int ready[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ready) != 0) exit(9);
    fflush(stdout);
    if ((child = fork()) == 0) { // confined; its listener is passed on by number, through pidfd_getfd
        char byte;
        long fd = install(code, sizeof code / sizeof *code, SECCOMP_FILTER_FLAG_NEW_LISTENER);
        int number = (int)fd;
        if (write(ready[1], &number, sizeof number) < 0) _exit(9);
        while (read(ready[1], &byte, 1) != 1) {
        }
        use_memory("under a listener");
        char *kept =
            mmap((void *)0x30000000, 0x3000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        kept[0] = 1;
        usleep(100000); // for a frame
        for (volatile unsigned i = 0; i < 20000000; i++) {
        }
        fflush(stdout);
        _exit(kept == MAP_FAILED);
    }
    int number = -1;
    if (read(ready[0], &number, sizeof number) < 0) exit(9);
    int pidfd = (int)syscall(SYS_pidfd_open, child, 0);
    listener = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
    pthread_create(&thread, NULL, listen_and_pass, NULL);
    if (write(ready[0], "", 1) < 0) exit(9);
    usleep(1000);
    waitpid(child, &status, 0);
    printf("ended with %#x\n", status);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    setvbuf(stdout, NULL, _IOFBF, 4096);
    use_memory(how);
    fflush(stdout);
    if (strcmp(how, "kill") == 0) {
        confine_to_own_list();
        use_memory("confined");
        child_and_exec(argv);
    }
    if (strcmp(how, "errno") == 0) {
        INSTALL(0, IS(SYS_munmap), RETURN(SECCOMP_RET_ERRNO | EPERM), RETURN(SECCOMP_RET_ALLOW));
        use_memory("munmap is refused");
    }
    if (strcmp(how, "trace") == 0) { // nobody traces it: these calls do not exist
        INSTALL(0, IS(SYS_munmap), RETURN(SECCOMP_RET_TRACE | 7), IS(SYS_getpriority), RETURN(SECCOMP_RET_TRACE),
                RETURN(SECCOMP_RET_ALLOW));
        use_memory("munmap is traced by nobody");
        long priority = syscall(SYS_getpriority, 0, 0);
        printf("getpriority: %ld %d\n", priority, errno == ENOSYS);
    }
    if (strcmp(how, "strict") == 0) strict(false);
    if (strcmp(how, "forbidden") == 0) strict(true);
    if (strcmp(how, "dispatch") == 0) user_dispatch(argv);
    if (strcmp(how, "listener") == 0) notified();
    fflush(stdout);
    return 5;
}
