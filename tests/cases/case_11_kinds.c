// Signals at awkward moments and of every origin; prints what arrives.
//
//   case_11_kinds          all of it
//   case_11_kinds taken    the second half of the exec test: takes what was queued before and during exec
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { QUEUED = 10, BORN = 30, ROUNDS = 20, PATIENCE_MS = 10000 };
#define QUEUE_SIGNAL (SIGRTMIN + 2)

static _Atomic int *arrived, *in_order; // shared: of the current child or thread

static void pause_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static int await(_Atomic int *count, int wanted) {
    for (int i = 0; i < PATIENCE_MS && *count < wanted; i++) pause_ms(1);
    return *count;
}

static void handle(int number, void (*how)(int, siginfo_t *, void *), int flags) {
    struct sigaction action = {.sa_sigaction = how, .sa_flags = SA_SIGINFO | flags};
    sigaction(number, &action, NULL);
}

// ---------------------------------------------------------------------------------------------- at birth

static void on_queued(int number, siginfo_t *info, void *context) {
    if (info->si_code == SI_QUEUE && info->si_value.sival_int == *arrived + 1) ++*in_order;
    ++*arrived;
}

static void born_processes(void) {
    int whole = 0;
    for (int i = 0; i < BORN; i++) {
        *arrived = *in_order = 0;
        pid_t child = fork();
        if (child == 0) {
            await(arrived, QUEUED);
            _exit(0);
        }
        for (int value = 1; value <= QUEUED; value++) sigqueue(child, QUEUE_SIGNAL, (union sigval){.sival_int = value});
        waitpid(child, NULL, 0);
        whole += *arrived == QUEUED && *in_order == QUEUED;
    }
    printf("processes born under signals: %d of %d had all\n", whole, BORN);
}

static void *await_queued(void *unused) {
    await(arrived, QUEUED);
    return unused;
}

static void born_threads(void) {
    int whole = 0;
    for (int i = 0; i < BORN; i++) {
        pthread_t thread;
        *arrived = *in_order = 0;
        pthread_create(&thread, NULL, await_queued, NULL);
        for (int value = 1; value <= QUEUED; value++)
            pthread_sigqueue(thread, QUEUE_SIGNAL, (union sigval){.sival_int = value});
        pthread_join(thread, NULL);
        whole += *arrived == QUEUED && *in_order == QUEUED;
    }
    printf("threads born under signals: %d of %d had all\n", whole, BORN);
}

static int take_queued(void) {
    sigset_t set;
    siginfo_t info;
    struct timespec patience = {10, 0};
    sigemptyset(&set);
    sigaddset(&set, QUEUE_SIGNAL);
    for (int value = 1; value <= QUEUED; value++)
        if (sigtimedwait(&set, &info, &patience) < 0 || info.si_value.sival_int != value) return 1;
    return 0;
}

static void over_exec(const char *self) {
    int whole = 0;
    for (int i = 0; i < ROUNDS; i++) {
        int status = -1;
        sigset_t set, old;
        sigemptyset(&set);
        sigaddset(&set, QUEUE_SIGNAL);
        sigprocmask(SIG_BLOCK, &set, &old);
        pid_t child = fork();
        if (child == 0) {
            execl(self, self, "taken", NULL);
            _exit(9);
        }
        for (int value = 1; value <= QUEUED; value++) {
            sigqueue(child, QUEUE_SIGNAL, (union sigval){.sival_int = value});
            for (volatile int spin = 0; spin < 20000; spin++) {
            }
        }
        waitpid(child, &status, 0);
        sigprocmask(SIG_SETMASK, &old, NULL);
        whole += status == 0;
    }
    printf("execs under signals: %d of %d had all\n", whole, ROUNDS);
}

// ---------------------------------------------------------------------------------------------- of the kernel

static sigjmp_buf back;
static siginfo_t last;

static void on_fault(int number, siginfo_t *info, void *context) {
    last = *info;
    siglongjmp(back, 1);
}

static void show_fault(const char *what, const void *at) {
    bool here = last.si_addr == at;
    printf("%s: signal %d code %d%s\n", what, last.si_signo, last.si_code, !at ? "" : here ? ", there" : ", ELSEWHERE");
}

static volatile int zero;

static void faults(void) {
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (unsigned i = 0; i < 4; i++) handle(numbers[i], on_fault, 0);
    char *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *gone = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int fd = memfd_create("empty", 0);
    char *beyond = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    munmap(gone, 4096); // after the other, which would take its place
    if (!sigsetjmp(back, 1)) *(volatile char *)(page + 8) = 1;
    show_fault("a page that is read only", page + 8);
    if (!sigsetjmp(back, 1)) *(volatile char *)(gone + 16) = 1;
    show_fault("no page", gone + 16);
    if (!sigsetjmp(back, 1)) *(volatile char *)(beyond + 24) = 1;
    show_fault("beyond the file", beyond + 24);
    if (!sigsetjmp(back, 1)) zero = 5 / zero;
    show_fault("a division", NULL);
    if (!sigsetjmp(back, 1)) __builtin_trap();
    show_fault("no instruction", NULL);
}

static _Atomic int steps;

static void on_step(int number, siginfo_t *info, void *context) { steps += info->si_code == TRAP_TRACE; }

// The program steps through its own code, as a debugger within it would.
static void single_steps(void) {
#if defined __x86_64__
    handle(SIGTRAP, on_step, 0);
    __asm__ volatile("sub $128, %%rsp\npushfq\norq $0x100, (%%rsp)\npopfq\n"
                     "nop\nnop\nnop\nnop\nnop\nnop\n"
                     "pushfq\nandq $~0x100, (%%rsp)\npopfq\nadd $128, %%rsp" ::
                         : "memory", "cc");
    printf("single steps: %d\n", steps);
    steps = 0;
    __asm__ volatile("sub $128, %%rsp\npushfq\norq $0x100, (%%rsp)\npopfq\n"
                     "mov %0, %%eax\nsyscall\nnop\n" // a call that is let through
                     "pushfq\nandq $~0x100, (%%rsp)\npopfq\nadd $128, %%rsp" ::"i"(SYS_getppid)
                     : "rax", "rcx", "r11", "memory", "cc");
    printf("single steps over a call: %d\n", steps);
    steps = 0;
    __asm__ volatile("sub $128, %%rsp\npushfq\norq $0x100, (%%rsp)\npopfq\n"
                     "mov %0, %%eax\nmov $0, %%edi\nsyscall\nnop\n" // one that the recorder stops
                     "pushfq\nandq $~0x100, (%%rsp)\npopfq\nadd $128, %%rsp" ::"i"(SYS_brk)
                     : "rax", "rcx", "rdi", "r11", "memory", "cc");
    printf("single steps over a memory call: %d\n", steps);
#endif
}

static _Atomic int times, codes, values, bands;

static void on_news(int number, siginfo_t *info, void *context) {
    times++;
    codes += info->si_code;
    if (info->si_code != SI_KERNEL) values += info->si_value.sival_int;
}

static void on_io(int number, siginfo_t *info, void *context) {
    times++;
    codes += info->si_code;
    bands += info->si_fd;
}

static void timers(void) {
    timer_t timer;
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGRTMIN + 4, .sigev_value.sival_int = 77};
    struct itimerspec soon = {{0, 0}, {0, 2000000}};
    handle(SIGRTMIN + 4, on_news, SA_RESTART);
    times = codes = values = 0;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    for (int i = 0; i < ROUNDS; i++) {
        timer_settime(timer, 0, &soon, NULL);
        await(&times, i + 1);
    }
    printf("timers: %d, codes %d, values %d\n", times, codes, values);
    timer_delete(timer);
    handle(SIGALRM, on_news, SA_RESTART);
    times = codes = 0;
    for (int i = 0; i < ROUNDS; i++) {
        setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 2000}}, NULL);
        await(&times, i + 1);
    }
    printf("alarms: %d, codes %d\n", times, codes);
}

static void input(void) {
    int ends[2];
    times = codes = bands = 0;
    handle(SIGRTMIN + 5, on_io, SA_RESTART);
    if (pipe(ends) != 0) exit(2);
    fcntl(ends[0], F_SETOWN, getpid());
    fcntl(ends[0], F_SETSIG, SIGRTMIN + 5);
    fcntl(ends[0], F_SETFL, O_ASYNC);
    for (int i = 0; i < ROUNDS; i++)
        if (write(ends[1], "x", 1) == 1) await(&times, i + 1);
    printf("input: %d, codes %d, descriptors %s\n", times, codes, bands == times * ends[0] ? "right" : "WRONG");
    close(ends[0]);
    close(ends[1]);
}

static void own_codes(void) {
    siginfo_t info = {.si_signo = SIGRTMIN + 4, .si_code = -77};
    info.si_pid = 4711;
    info.si_value.sival_int = 99;
    times = codes = values = 0;
    syscall(SYS_rt_sigqueueinfo, getpid(), SIGRTMIN + 4, &info);
    syscall(SYS_rt_tgsigqueueinfo, getpid(), getpid(), SIGRTMIN + 4, &info);
    printf("codes of one's own: %d, codes %d, values %d\n", times, codes, values);
}

static void descriptor(void) {
    sigset_t set;
    int right = 0;
    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 6);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_CLOEXEC);
    for (int i = 0; i < QUEUED; i++) sigqueue(getpid(), SIGRTMIN + 6, (union sigval){.sival_int = i});
    for (int i = 0; i < QUEUED; i++) {
        struct signalfd_siginfo info;
        right += read(fd, &info, sizeof info) == sizeof info && info.ssi_int == i && info.ssi_code == SI_QUEUE;
    }
    printf("by signalfd: %d of %d\n", right, QUEUED);
    close(fd);
}

// ---------------------------------------------------------------------------------------------- of children

static struct child_news { int exited, killed, stopped, continued, other; } child_news;
static _Atomic int news;

static void on_child(int number, siginfo_t *info, void *context) {
    switch (info->si_code) {
    case CLD_EXITED:
        child_news.exited += info->si_status == 7;
        break;
    case CLD_KILLED:
        child_news.killed += info->si_status == SIGKILL;
        break;
    case CLD_STOPPED:
        child_news.stopped += info->si_status == SIGSTOP;
        break;
    case CLD_CONTINUED:
        child_news.continued += info->si_status == SIGCONT;
        break;
    default:
        child_news.other++;
    }
    news++;
}

static void on_end(int number, siginfo_t *info, void *context) { _exit(7); }

static void children(void) {
    handle(SIGCHLD, on_child, SA_RESTART);
    handle(SIGUSR1, on_end, 0);
    for (int i = 0; i < ROUNDS; i++) {
        int before = news;
        pid_t child = fork();
        if (child == 0) {
            raise(SIGSTOP);
            for (;;) pause();
        }
        await(&news, before + 1);
        kill(child, SIGCONT);
        await(&news, before + 2);
        kill(child, i % 2 ? SIGKILL : SIGUSR1);
        waitpid(child, NULL, 0);
        await(&news, before + 3);
    }
    printf("children: %d stopped, %d continued, %d exited, %d killed, %d other\n", child_news.stopped,
           child_news.continued, child_news.exited, child_news.killed, child_news.other);
}

int main(int argc, char **argv) {
    if (argc > 1) return take_queued();
    setvbuf(stdout, NULL, _IONBF, 0);
    arrived = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    in_order = arrived + 1;
    handle(QUEUE_SIGNAL, on_queued, SA_RESTART);
    born_processes();
    born_threads();
    over_exec(argv[0]);
    faults();
    single_steps();
    timers();
    input();
    own_codes();
    descriptor();
    children();
    return 0;
}
