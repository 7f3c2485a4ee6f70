// System calls run in a stopped process leave nothing behind in it, whatever arrives meanwhile.
#include "child.h"

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "arch.h"
#include "inject.h"

enum { SIGNALS = 500 };

static const uint64_t no_args[6];

// Passes signals on until the thread stands at a system call's stop.
static int to_syscall_stop(pid_t pid, int signal) {
    for (;;) {
        assert_int_equal(ptrace(PTRACE_SYSCALL, pid, NULL, (void *)(long)signal), 0);
        int status = wait_status(pid);
        assert_true(WIFSTOPPED(status));
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) return status;
        signal = status >> 16 ? 0 : WSTOPSIG(status);
    }
}

static void to_exit_stop(pid_t pid) {
    struct __ptrace_syscall_info info = {0};
    do {
        to_syscall_stop(pid, 0);
        ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof info, &info);
    } while (info.op != PTRACE_SYSCALL_INFO_EXIT);
}

// A processor may or may not mark a part of the extended state that is all zero as in use: it says nothing.
enum { XSTATE_IN_USE = 512 };

struct everything {
    struct arch_regs regs;
    uint8_t extended[ARCH_EXTENDED_MAX];
    size_t extended_length;
    uint64_t mask;
};

static void read_everything(pid_t pid, struct everything *all) {
    memset(all, 0, sizeof *all);
    assert_int_equal(arch_get_regs(pid, &all->regs), 0);
    all->extended_length = arch_get_extended(pid, all->extended, sizeof all->extended);
    memset(all->extended + XSTATE_IN_USE, 0, 8);
    assert_int_equal(ptrace(PTRACE_GETSIGMASK, pid, sizeof all->mask, &all->mask), 0);
}

static void assert_untouched(pid_t pid, const struct everything *before) {
    struct everything after;
    read_everything(pid, &after);
    assert_memory_equal(&after, before, sizeof after);
}

// ------------------------------------------------------------------------------------------- under a rain of signals

static struct child *self;
static void on_alarm(int number) { self->shared[0]++; }
static void on_queued(int number, siginfo_t *info, void *context) {
    uint64_t n = self->shared[1]++;
    self->shared[16 + n] = (uint64_t)info->si_value.sival_int;
}

static void call_and_count(struct child *child) {
    struct sigaction alarm_action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
    struct sigaction queued_action = {.sa_sigaction = on_queued, .sa_flags = SA_RESTART | SA_SIGINFO};
    struct itimerval timer = {{0, 1000}, {0, 1000}};
    self = child;
    sigaction(SIGALRM, &alarm_action, NULL);
    sigaction(SIGRTMIN, &queued_action, NULL);
    alarm(0);
    setitimer(ITIMER_REAL, &timer, NULL);
    child_answer(child);
    while (!child->shared[2]) {
        if (syscall(SYS_getpid) != getpid()) child->shared[3]++;
    }
}

static void leaves_registers(void **state) {
    struct child child = child_start(call_and_count);
    struct inject_result result;
    uint64_t random = 12345, alarms = 0;
    child_hear(&child);
    child_seize(child.pid);
    child_interrupt(child.pid);
    for (int i = 0; i < SIGNALS * 4; i++) {
        struct everything before;
        long ret = 0;
        to_exit_stop(child.pid);
        read_everything(child.pid, &before);
        if (i % 4 == 0) assert_int_equal(sigqueue(child.pid, SIGRTMIN, (union sigval){.sival_int = i / 4}), 0);
        if (test_random(&random) % 8 == 0) usleep(1000);
        uint64_t alarms_before = child.shared[0];
        assert_int_equal(inject_syscall(child.pid, SYS_getppid, no_args, &ret, &result), 0);
        assert_int_equal(ret, getpid());
        assert_int_equal(result.signal_count, 0);
        assert_int_equal(child.shared[0], alarms_before);
        assert_untouched(child.pid, &before);
        alarms = alarms_before;
    }
    child.shared[2] = 1;
    assert_int_equal(ptrace(PTRACE_DETACH, child.pid, NULL, NULL), 0);
    uint64_t errors = child.shared[3], arrived;
    for (int tries = 0; (arrived = child.shared[1]) < SIGNALS && tries < 100; tries++) usleep(1000);
    for (int i = 0; i < SIGNALS; i++) assert_int_equal(child.shared[16 + i], i);
    assert_int_equal(errors, 0);
    assert_int_equal(arrived, SIGNALS);
    print_message("%d calls injected, %d queued signals and %d alarms arrived\n", SIGNALS * 4, SIGNALS, (int)alarms);
    assert_true(alarms > 10);
    assert_int_equal(child_end(&child), 0);
}

static void costs(void **state) {
    struct child child = child_start(call_and_count);
    struct inject_result result;
    long ret;
    child_hear(&child);
    child_seize(child.pid);
    child_interrupt(child.pid);
    to_exit_stop(child.pid);
    uint64_t begin = test_now();
    for (int i = 0; i < 1000; i++) assert_int_equal(inject_syscall(child.pid, SYS_getppid, no_args, &ret, &result), 0);
    print_message("one injected call takes %.1f us\n", (double)(test_now() - begin) / 1e6);
    child.shared[2] = 1;
    assert_int_equal(ptrace(PTRACE_DETACH, child.pid, NULL, NULL), 0);
    assert_int_equal(child_end(&child), 0);
}

// ------------------------------------------------------------------------------------------- at exec and at fork

static void run_true(struct child *child) {
    child_wait(child);
    execl("/bin/true", "true", (char *)NULL);
    _exit(9);
}

static void at_exec(void **state) {
    struct child child = child_start(run_true);
    struct inject_result result;
    long ret, fd;
    uint64_t args[6] = {AT_FDCWD, 0, O_RDONLY};
    child_seize(child.pid);
    child_tell(&child, 'x');
    int status = wait_status(child.pid);
    assert_int_equal(status >> 16, PTRACE_EVENT_EXEC);
    assert_int_equal(inject_syscall(child.pid, SYS_getppid, no_args, &ret, &result), 0);
    assert_int_equal(ret, getpid());
    struct everything before;
    read_everything(child.pid, &before);
    assert_int_equal(arch_ret(&before.regs), 0); // of its execve
    assert_int_equal(inject_syscall(child.pid, SYS_dup, (uint64_t[6]){0}, &fd, &result), 0);
    assert_true(fd > 2);
    assert_int_equal(inject_syscall(child.pid, SYS_close, (uint64_t[6]){(uint64_t)fd}, &ret, &result), 0);
    assert_int_equal(ret, 0);
    assert_int_equal(inject_syscall(child.pid, SYS_openat, args, &ret, &result), 0);
    assert_int_equal(ret, -EFAULT);
    assert_untouched(child.pid, &before);
    assert_int_equal(ptrace(PTRACE_DETACH, child.pid, NULL, NULL), 0);
    assert_int_equal(child_end(&child), 0);
}

static void fork_once(struct child *child) {
    child_wait(child);
    int status = -1;
    pid_t grandchild = fork();
    if (grandchild == 0) _exit(7);
    waitpid(grandchild, &status, 0);
    child->shared[0] = (uint64_t)status;
}

static void at_fork(void **state) {
    struct child child = child_start(fork_once);
    struct inject_result result;
    unsigned long grandchild;
    long ret;
    child_seize(child.pid);
    child_tell(&child, 'x');
    int status = wait_status(child.pid);
    assert_int_equal(status >> 16, PTRACE_EVENT_FORK);
    assert_int_equal(ptrace(PTRACE_GETEVENTMSG, child.pid, NULL, &grandchild), 0);
    status = wait_status((pid_t)grandchild);
    assert_int_equal(status >> 16, PTRACE_EVENT_STOP);
    struct everything before;
    read_everything((pid_t)grandchild, &before);
    assert_int_equal(inject_syscall((pid_t)grandchild, SYS_getpid, no_args, &ret, &result), 0);
    assert_int_equal(ret, (long)grandchild);
    assert_untouched((pid_t)grandchild, &before);
    assert_int_equal(ptrace(PTRACE_DETACH, (pid_t)grandchild, NULL, NULL), 0);
    assert_int_equal(ptrace(PTRACE_DETACH, child.pid, NULL, NULL), 0);
    while (!child.shared[0]) usleep(1000);
    assert_int_equal(child.shared[0], 7 << 8);
    assert_int_equal(child_end(&child), 0);
}

// ------------------------------------------------------------------------------------------- broken-off calls

static void sleep_calls(struct child *child) {
    struct timespec pause = {.tv_nsec = 100000000};
    struct pollfd none = {.fd = -1};
    child_answer(child);
    errno = 0;
    int result = nanosleep(&pause, NULL);
    child->shared[0] = (uint64_t)(result ? errno : 1000);
    result = poll(&none, 1, 100);
    child->shared[1] = (uint64_t)(result ? errno : 1000);
    child_answer(child);
    result = child_wait(child); // a read that is to be restarted
    child->shared[2] = (uint64_t)result;
}

// A sleep that was interrupted sleeps on to its end.
static void restarts(void **state) {
    struct child child = child_start(sleep_calls);
    struct inject_result result;
    long ret;
    uint64_t begin = test_now();
    child_hear(&child);
    child_seize(child.pid);
    usleep(20000);
    for (int i = 0; i < 6; i++) {
        struct everything before;
        child_interrupt(child.pid);
        read_everything(child.pid, &before);
        assert_true(arch_restart_pending(&before.regs));
        assert_int_equal(inject_syscall(child.pid, SYS_getppid, no_args, &ret, &result), 0);
        assert_int_equal(ret, getpid());
        assert_int_equal(result.status >> 16, PTRACE_EVENT_STOP);
        assert_untouched(child.pid, &before);
        assert_int_equal(ptrace(PTRACE_CONT, child.pid, NULL, NULL), 0);
        usleep(20000);
    }
    child_hear(&child);
    double took = (double)(test_now() - begin) / 1e6;
    usleep(10000);
    child_interrupt(child.pid);
    assert_int_equal(inject_syscall(child.pid, SYS_getppid, no_args, &ret, &result), 0);
    assert_int_equal(ptrace(PTRACE_DETACH, child.pid, NULL, NULL), 0);
    child_tell(&child, 'y');
    while (!child.shared[2]) usleep(1000);
    assert_int_equal(child.shared[0], 1000);
    assert_int_equal(child.shared[1], 1000);
    assert_int_equal(child.shared[2], 'y');
    assert_true(took > 195 && took < 5000);
    assert_int_equal(child_end(&child), 0);
}

// ------------------------------------------------------------------------------------------- refusals, death, stops

static void compute(struct child *child) {
    child_answer(child);
    while (!*(volatile uint64_t *)child->shared) {
    }
}

static void leaves_user_code_as_it_was(void **state) {
    struct child child = child_start(compute);
    struct inject_result result;
    struct everything before;
    long ret;
    child_hear(&child);
    usleep(20000);
    child_seize(child.pid);
    child_interrupt(child.pid);
    read_everything(child.pid, &before);
    assert_int_equal(inject_syscall(child.pid, SYS_getppid, no_args, &ret, &result), 0);
    assert_int_equal(ret, getpid());
    assert_untouched(child.pid, &before);
    child.shared[0] = 1;
    assert_int_equal(ptrace(PTRACE_DETACH, child.pid, NULL, NULL), 0);
    assert_int_equal(child_end(&child), 0);
}

#ifdef __x86_64__
// In a restartable sequence, without end; its abort handler begins it again (rseq(2): the signature precedes it).
static void run_sequence(struct child *child) {
    struct rseq *rseq = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
    child_answer(child);
    __asm__ volatile(".pushsection .data\n"
                     ".balign 32\n"
                     "9: .long 0, 0\n .quad 1f, 2f - 1f, 3f\n"
                     ".popsection\n"
                     "4: lea 9b(%%rip), %%rax\n"
                     "movq %%rax, %[slot]\n"
                     "1: cmpq $0, %[go]\n"
                     "je 1b\n"
                     "2: jmp 5f\n"
                     ".byte 0x0f, 0xb9, 0x3d\n"
                     ".long 0x53053053\n"
                     "3: jmp 4b\n"
                     "5:"
                     : [slot] "=m"(rseq->rseq_cs)
                     : [go] "m"(child->shared[0])
                     : "rax", "memory");
}

static void spares_restartable_sequences(void **state) {
    struct inject_result result;
    long ret;
    if (!__rseq_size) skip();
    struct child child = child_start(run_sequence);
    child_hear(&child);
    usleep(20000);
    child_seize(child.pid);
    child_interrupt(child.pid);
    assert_int_equal(inject_syscall(child.pid, SYS_getppid, no_args, &ret, &result), -EAGAIN);
    child.shared[0] = 1;
    assert_int_equal(ptrace(PTRACE_DETACH, child.pid, NULL, NULL), 0);
    assert_int_equal(child_end(&child), 0);
}
#endif

static void call_forever(struct child *child) {
    child_answer(child);
    while (!*(volatile uint64_t *)child->shared) syscall(SYS_getpid);
}

static void tells_of_death(void **state) {
    struct child child = child_start(call_forever);
    struct inject_result result;
    long ret;
    child_hear(&child);
    child_seize(child.pid);
    child_interrupt(child.pid);
    to_exit_stop(child.pid);
    assert_int_equal(kill(child.pid, SIGKILL), 0);
    assert_int_equal(inject_syscall(child.pid, SYS_getppid, no_args, &ret, &result), -ESRCH);
    // Either its end was seen here, or the kill was faster than the first request.
    int status = result.gone ? result.status : wait_status(child.pid);
    assert_true(WIFSIGNALED(status));
    close(child.to[1]);
    close(child.from[0]);
}

static void keeps_group_stop(void **state) {
    struct child child = child_start(call_forever);
    struct inject_result result;
    struct everything before;
    long ret;
    child_hear(&child);
    child_seize(child.pid);
    child_interrupt(child.pid);
    to_exit_stop(child.pid);
    read_everything(child.pid, &before);
    assert_int_equal(kill(child.pid, SIGSTOP), 0);
    assert_int_equal(inject_syscall(child.pid, SYS_getppid, no_args, &ret, &result), 0);
    assert_int_equal(ret, getpid());
    assert_untouched(child.pid, &before);
    assert_int_equal(result.signal_count, 1); // cannot be blocked: handed over
    assert_int_equal(result.signals[0].si_signo, SIGSTOP);
    child.shared[0] = 1;
    assert_int_equal(ptrace(PTRACE_DETACH, child.pid, NULL, NULL), 0);
    assert_int_equal(child_end(&child), 0);
}

static void with_filter(struct child *child) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_getppid, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog filter = {sizeof code / sizeof code[0], code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter);
    call_forever(child);
}

static void passes_own_filter(void **state) {
    struct child child = child_start(with_filter);
    struct inject_result result;
    struct everything before;
    long ret;
    child_hear(&child);
    assert_int_equal(ptrace(PTRACE_SEIZE, child.pid, NULL, SEIZE_OPTIONS | PTRACE_O_TRACESECCOMP), 0);
    child_interrupt(child.pid);
    to_exit_stop(child.pid);
    read_everything(child.pid, &before);
    assert_int_equal(inject_syscall(child.pid, SYS_getppid, no_args, &ret, &result), 0);
    assert_int_equal(ret, getpid());
    assert_untouched(child.pid, &before);
    child.shared[0] = 1;
    assert_int_equal(ptrace(PTRACE_DETACH, child.pid, NULL, NULL), 0);
    assert_int_equal(child_end(&child), 0);
}

static void finds_gadget(void **state) {
    uint64_t at = inject_find_gadget(getpid());
    assert_true(at != 0);
    assert_true(arch_is_syscall_at((const uint8_t *)(uintptr_t)at));
}

int main(void) {
    alarm(100);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_gadget),
        cmocka_unit_test(leaves_registers),
        cmocka_unit_test(costs),
        cmocka_unit_test(at_exec),
        cmocka_unit_test(at_fork),
        cmocka_unit_test(restarts),
        cmocka_unit_test(leaves_user_code_as_it_was),
        cmocka_unit_test(spares_restartable_sequences),
        cmocka_unit_test(tells_of_death),
        cmocka_unit_test(keeps_group_stop),
        cmocka_unit_test(passes_own_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
