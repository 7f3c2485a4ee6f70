// Waits in every kind of call that a stop of the tracer could break off, each in a thread of its own, while the main
// thread keeps a processor busy. Prints for each call its result, errno, and whether it took as long as it had to.
//
//   case_12_waits plain     nothing happens: each call ends by its timeout, or by what a feeder does after WAIT_MS
//   case_12_waits ignored   meanwhile signals come that the program ignores, by default or by choice
//   case_12_waits stopped   meanwhile the program is stopped and continued once
//   case_12_waits handled   meanwhile each thread gets one signal with a handler, without SA_RESTART
//   case_12_waits restarted the same with SA_RESTART
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 300, LATE_MS = 1500, CALLS_MAX = 64 };
static const struct timespec wait_time = {0, WAIT_MS * 1000000};

struct wait { // one call
    const char *name;
    void (*prepare)(struct wait *wait);
    long (*call)(struct wait *wait); // -1 and errno, or a result
    void (*feed)(struct wait *wait); // what ends it after WAIT_MS, NULL: its timeout
    int fd[2];
    uint32_t word;
    pthread_t thread;
    atomic_bool done;
    long result;
    int error;
    double ms;
};

static double now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static struct timespec deadline(clockid_t clock) {
    struct timespec at;
    clock_gettime(clock, &at);
    at.tv_nsec += wait_time.tv_nsec;
    if (at.tv_nsec >= 1000000000) at.tv_sec++, at.tv_nsec -= 1000000000;
    return at;
}

static void must(long result, const char *what) {
    if (result >= 0) return;
    perror(what);
    exit(2);
}

// ---------------------------------------------------------------------------------------------- with a timeout

static long call_nanosleep(struct wait *w) { return nanosleep(&wait_time, NULL); }
static long call_clock_relative(struct wait *w) {
    return syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &wait_time, NULL);
}
static long call_clock_absolute(struct wait *w) {
    struct timespec at = deadline(CLOCK_MONOTONIC);
    return syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
}
static void make_pipe(struct wait *w) { must(pipe(w->fd), "pipe"); }
static void make_pair(struct wait *w) { must(socketpair(AF_UNIX, SOCK_STREAM, 0, w->fd), "socketpair"); }
static long call_poll(struct wait *w) {
    struct pollfd fd = {w->fd[0], POLLIN, 0};
    return poll(&fd, 1, WAIT_MS);
}
static long call_ppoll(struct wait *w) {
    struct pollfd fd = {w->fd[0], POLLIN, 0};
    return ppoll(&fd, 1, &wait_time, NULL);
}
static long call_select(struct wait *w) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(w->fd[0], &set);
    struct timeval timeout = {0, WAIT_MS * 1000};
    return select(w->fd[0] + 1, &set, NULL, NULL, &timeout);
}
static long call_pselect(struct wait *w) {
    fd_set set;
    FD_ZERO(&set);
    FD_SET(w->fd[0], &set);
    return pselect(w->fd[0] + 1, &set, NULL, NULL, &wait_time, NULL);
}
static void make_epoll(struct wait *w) {
    make_pipe(w);
    int epoll = epoll_create1(0);
    struct epoll_event event = {.events = EPOLLIN};
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, w->fd[0], &event), "epoll_ctl");
    w->fd[0] = epoll;
}
static long call_epoll_wait(struct wait *w) {
    struct epoll_event event;
    return syscall(SYS_epoll_wait, w->fd[0], &event, 1, WAIT_MS);
}
static long call_epoll_pwait(struct wait *w) {
    struct epoll_event event;
    return epoll_pwait(w->fd[0], &event, 1, WAIT_MS, NULL);
}
static long call_epoll_pwait2(struct wait *w) {
    struct epoll_event event;
    return syscall(SYS_epoll_pwait2, w->fd[0], &event, 1, &wait_time, NULL, 0);
}
static long call_epoll_forever(struct wait *w) {
    struct epoll_event event;
    return epoll_wait(w->fd[0], &event, 1, -1);
}
static long call_futex(struct wait *w) {
    return syscall(SYS_futex, &w->word, FUTEX_WAIT_PRIVATE, 0, &wait_time, NULL, 0);
}
static long call_futex_absolute(struct wait *w) {
    struct timespec at = deadline(CLOCK_MONOTONIC);
    return syscall(SYS_futex, &w->word, FUTEX_WAIT_BITSET, 0, &at, NULL, FUTEX_BITSET_MATCH_ANY);
}
static long call_futex_forever(struct wait *w) {
    return syscall(SYS_futex, &w->word, FUTEX_WAIT_PRIVATE, 0, NULL, NULL, 0);
}
static void feed_futex(struct wait *w) {
    atomic_store((_Atomic uint32_t *)&w->word, 1);
    syscall(SYS_futex, &w->word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
}
static sigset_t one_signal(int signal_number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, signal_number);
    return set;
}
static long call_sigtimedwait(struct wait *w) {
    sigset_t set = one_signal(SIGRTMIN + 5);
    return sigtimedwait(&set, NULL, &wait_time);
}
static long call_sigwaitinfo(struct wait *w) {
    sigset_t set = one_signal(SIGRTMIN + 6);
    return sigwaitinfo(&set, NULL) == SIGRTMIN + 6 ? 0 : -1;
}
static void feed_sigwaitinfo(struct wait *w) { pthread_kill(w->thread, SIGRTMIN + 6); }
static void make_semaphore(struct wait *w) {
    w->fd[0] = semget(IPC_PRIVATE, 1, 0600);
    must(w->fd[0], "semget");
}
static long call_semtimedop(struct wait *w) {
    struct sembuf down = {0, -1, 0};
    return semtimedop(w->fd[0], &down, 1, &wait_time);
}
static long call_semop(struct wait *w) {
    struct sembuf down = {0, -1, 0};
    return semop(w->fd[0], &down, 1);
}
static void feed_semop(struct wait *w) {
    struct sembuf up = {0, 1, 0};
    must(semop(w->fd[0], &up, 1), "semop");
}
static void make_timed_pair(struct wait *w) {
    make_pair(w);
    struct timeval timeout = {0, WAIT_MS * 1000};
    must(setsockopt(w->fd[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), "SO_RCVTIMEO");
}
static long call_recv(struct wait *w) {
    char bytes[8];
    return recv(w->fd[0], bytes, sizeof bytes, 0);
}
static long call_recvmsg(struct wait *w) {
    char bytes[8];
    struct iovec part = {bytes, sizeof bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    return recvmsg(w->fd[0], &message, 0);
}
static void make_timed_listener(struct wait *w) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    w->fd[0] = socket(AF_UNIX, SOCK_STREAM, 0);
    must(bind(w->fd[0], (struct sockaddr *)&name, sizeof name.sun_family), "bind"); // a name of the kernel's choice
    must(listen(w->fd[0], 1), "listen");
    struct timeval timeout = {0, WAIT_MS * 1000};
    must(setsockopt(w->fd[0], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout), "SO_RCVTIMEO");
}
static long call_accept(struct wait *w) { return accept(w->fd[0], NULL, NULL); }
static void make_aio(struct wait *w) {
    unsigned long context = 0;
    w->fd[0] = -1;
    if (syscall(SYS_io_setup, 1, &context) == 0) memcpy(w->fd, &context, sizeof context);
}
static long call_aio(struct wait *w) {
    unsigned long context;
    char event[32];
    memcpy(&context, w->fd, sizeof context);
    struct timespec timeout = wait_time;
    return syscall(SYS_io_getevents, context, 1, 1, event, &timeout);
}

// A ring with one timeout in it: entering waits for its completion.
struct ring {
    int fd;
    unsigned *sq_tail, *sq_array, *cq_head, *cq_tail;
    struct io_uring_sqe *entries;
};
static struct ring ring;
static struct timespec ring_time = {0, WAIT_MS * 1000000};
static void make_ring(struct wait *w) {
    struct io_uring_params parameters = {0};
    ring.fd = (int)syscall(SYS_io_uring_setup, 4, &parameters);
    if (ring.fd < 0) return; // refused here, alone and recorded
    size_t size = parameters.cq_off.cqes + parameters.cq_entries * 16 + 4096;
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
    ring.entries = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, ring.fd, IORING_OFF_SQES);
    ring.sq_tail = (unsigned *)(map + parameters.sq_off.tail);
    ring.sq_array = (unsigned *)(map + parameters.sq_off.array);
    ring.cq_head = (unsigned *)(map + parameters.cq_off.head);
    ring.cq_tail = (unsigned *)(map + parameters.cq_off.tail);
}
static long call_ring(struct wait *w) {
    if (ring.fd < 0) return -2;
    memset(ring.entries, 0, sizeof *ring.entries);
    ring.entries->opcode = IORING_OP_TIMEOUT;
    ring.entries->fd = -1;
    ring.entries->addr = (uint64_t)(uintptr_t)&ring_time;
    ring.entries->len = 1;
    ring.sq_array[0] = 0;
    atomic_store((_Atomic unsigned *)ring.sq_tail, 1);
    long submitted = syscall(SYS_io_uring_enter, ring.fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
    long completed = (long)(*ring.cq_tail - *ring.cq_head);
    return submitted == 1 ? completed : -1; // one was handed in; is it done?
}

// ---------------------------------------------------------------------------------------------- until it is fed

static long call_read(struct wait *w) {
    char bytes[8];
    return read(w->fd[0], bytes, sizeof bytes);
}
static void feed_byte(struct wait *w) { must(write(w->fd[1], "x", 1), "write"); }
static void make_eventfd(struct wait *w) { w->fd[0] = w->fd[1] = eventfd(0, 0); }
static void feed_eventfd(struct wait *w) {
    uint64_t one = 1;
    must(write(w->fd[0], &one, sizeof one), "write");
}
static void make_timerfd(struct wait *w) { w->fd[0] = timerfd_create(CLOCK_MONOTONIC, 0); }
static long call_timerfd(struct wait *w) {
    struct itimerspec time = {{0, 0}, wait_time};
    timerfd_settime(w->fd[0], 0, &time, NULL);
    return call_read(w);
}
static void make_queue(struct wait *w) {
    w->fd[0] = msgget(IPC_PRIVATE, 0600);
    must(w->fd[0], "msgget");
}
static long call_msgrcv(struct wait *w) {
    struct {
        long type;
        char text[8];
    } message;
    return msgrcv(w->fd[0], &message, sizeof message.text, 0, 0);
}
static void feed_msgrcv(struct wait *w) {
    struct {
        long type;
        char text[8];
    } message = {1, "hello"};
    must(msgsnd(w->fd[0], &message, 5, 0), "msgsnd");
}
static void make_child(struct wait *w) {
    make_pipe(w);
    w->fd[0] = fork();
    if (w->fd[0]) return;
    char byte;
    signal(SIGUSR1, SIG_IGN);
    struct pollfd ready = {.fd = -1};
    poll(&ready, 1, 0);
    close(w->fd[1]);
    struct timespec rest = {0, (WAIT_MS + 200) * 1000000};
    while (nanosleep(&rest, &rest) != 0) {
    }
    byte = 7;
    _exit(byte);
}
static long call_wait4(struct wait *w) {
    int status = 0;
    pid_t pid = wait4(w->fd[0], &status, 0, NULL);
    return pid == w->fd[0] ? WEXITSTATUS(status) : -1;
}
static long call_waitid(struct wait *w) {
    siginfo_t info = {0};
    long result = waitid(P_PID, (id_t)w->fd[0], &info, WEXITED);
    return result == 0 ? info.si_status : result;
}
static void make_lock(struct wait *w) {
    char name[] = "/tmp/vmvis-case-12-XXXXXX";
    w->fd[0] = mkstemp(name);
    w->fd[1] = open(name, O_RDWR);
    unlink(name);
    must(flock(w->fd[1], LOCK_EX), "flock");
}
static long call_flock(struct wait *w) { return flock(w->fd[0], LOCK_EX); }
static void feed_flock(struct wait *w) { flock(w->fd[1], LOCK_UN); }
static void make_record_lock(struct wait *w) {
    make_lock(w);
    struct flock lock = {.l_type = F_WRLCK};
    must(fcntl(w->fd[1], F_OFD_SETLK, &lock), "F_OFD_SETLK");
}
static long call_record_lock(struct wait *w) {
    struct flock lock = {.l_type = F_WRLCK};
    return fcntl(w->fd[0], F_OFD_SETLKW, &lock);
}
static void feed_record_lock(struct wait *w) {
    struct flock lock = {.l_type = F_UNLCK};
    fcntl(w->fd[1], F_OFD_SETLK, &lock);
}

// ---------------------------------------------------------------------------------------------- all of them

#define TIMED(name, prepare, call)                                                                                     \
    { name, prepare, call, NULL, {-1, -1}, 0, 0, false, 0, 0, 0 }
#define FED(name, prepare, call, feed)                                                                                 \
    { name, prepare, call, feed, {-1, -1}, 0, 0, false, 0, 0, 0 }
static struct wait waits[] = {
    TIMED("nanosleep", NULL, call_nanosleep),
    TIMED("clock_nanosleep", NULL, call_clock_relative),
    TIMED("clock_nanosleep until", NULL, call_clock_absolute),
    TIMED("poll", make_pipe, call_poll),
    TIMED("ppoll", make_pipe, call_ppoll),
    TIMED("select", make_pipe, call_select),
    TIMED("pselect", make_pipe, call_pselect),
    TIMED("epoll_wait", make_epoll, call_epoll_wait),
    TIMED("epoll_pwait", make_epoll, call_epoll_pwait),
    TIMED("epoll_pwait2", make_epoll, call_epoll_pwait2),
    FED("epoll_wait fed", make_epoll, call_epoll_forever, feed_byte),
    TIMED("futex", NULL, call_futex),
    TIMED("futex until", NULL, call_futex_absolute),
    FED("futex fed", NULL, call_futex_forever, feed_futex),
    TIMED("sigtimedwait", NULL, call_sigtimedwait),
    FED("sigwaitinfo", NULL, call_sigwaitinfo, feed_sigwaitinfo),
    TIMED("semtimedop", make_semaphore, call_semtimedop),
    FED("semop", make_semaphore, call_semop, feed_semop),
    TIMED("recv", make_timed_pair, call_recv),
    TIMED("recvmsg", make_timed_pair, call_recvmsg),
    FED("recv fed", make_pair, call_recv, feed_byte),
    TIMED("accept", make_timed_listener, call_accept),
    TIMED("io_getevents", make_aio, call_aio),
    TIMED("io_uring_enter", make_ring, call_ring),
    FED("read pipe", make_pipe, call_read, feed_byte),
    FED("read eventfd", make_eventfd, call_read, feed_eventfd),
    TIMED("read timerfd", make_timerfd, call_timerfd),
    FED("msgrcv", make_queue, call_msgrcv, feed_msgrcv),
    FED("wait4", make_child, call_wait4, NULL),
    FED("waitid", make_child, call_waitid, NULL),
    FED("flock", make_lock, call_flock, feed_flock),
    FED("fcntl lock", make_record_lock, call_record_lock, feed_record_lock),
};
enum { WAITS = sizeof waits / sizeof *waits };

static atomic_size_t waiting; // threads that have begun

static void *run(void *argument) {
    struct wait *wait = argument;
    double begun = now_ms();
    atomic_fetch_add(&waiting, 1);
    errno = 0;
    wait->result = wait->call(wait);
    wait->error = errno;
    wait->ms = now_ms() - begun;
    atomic_store(&wait->done, true);
    return NULL;
}

static void on_signal(int signal_number) { (void)signal_number; }

static void handle(int signal_number, int flags) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = flags};
    sigaction(signal_number, &action, NULL);
}

static int outside[2]; // a byte: the child sends the whole program a signal that it ignores

// A child disturbs the program from outside, so that no thread of it runs for that.
static pid_t disturb(const char *mode) {
    must(pipe(outside), "pipe");
    pid_t program = getpid(), child = fork();
    if (child) return child;
    struct timespec pause = {0, 20000000}, half = {0, WAIT_MS * 500000L};
    close(outside[1]);
    char byte;
    for (int i = 0; strcmp(mode, "ignored") == 0 && read(outside[0], &byte, 1) == 1; i++) {
        static const int ignored[] = {SIGWINCH, SIGURG, SIGCHLD, SIGUSR1, SIGCONT};
        kill(program, ignored[i % 5]);
    }
    if (strcmp(mode, "stopped") == 0) {
        nanosleep(&half, NULL);
        kill(program, SIGSTOP);
        nanosleep(&pause, NULL);
        kill(program, SIGCONT);
    }
    _exit(0);
}

static void free_ipc(void) {
    for (size_t i = 0; i < WAITS; i++) {
        if (waits[i].prepare == make_semaphore) semctl(waits[i].fd[0], 0, IPC_RMID);
        if (waits[i].prepare == make_queue) msgctl(waits[i].fd[0], IPC_RMID, NULL);
    }
}

// Signals that the program ignores: to each waiting thread, and in turn, from outside, to the whole of it. Not both at
// once: of a traced program a thread can then take the signal that another one was woken for (docs/DESIGN.md).
static void nudge(unsigned number) {
    static const int ignored[] = {SIGWINCH, SIGURG, SIGCHLD, SIGUSR1};
    if (number % 2) must(write(outside[1], "x", 1), "write");
    for (size_t i = 0; i < WAITS && number % 2 == 0; i++)
        if (!atomic_load(&waits[i].done)) pthread_kill(waits[i].thread, ignored[number / 2 % 4]);
}

static char busy[1 << 20]; // written all the time, so that there is a frame at each interval

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "plain";
    sigset_t set = one_signal(SIGRTMIN + 5);
    sigaddset(&set, SIGRTMIN + 6);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGUSR1, SIG_IGN);
    handle(SIGUSR2, strcmp(mode, "restarted") == 0 ? SA_RESTART : 0);
    for (size_t i = 0; i < WAITS; i++)
        if (waits[i].prepare) waits[i].prepare(&waits[i]);
    pid_t child = disturb(mode);
    close(outside[0]);
    for (size_t i = 0; i < WAITS; i++) pthread_create(&waits[i].thread, NULL, run, &waits[i]);
    while (atomic_load(&waiting) < WAITS) sched_yield(); // one that begins late would be fed before its time
    bool fed = false, signalled = false;
    double begun = now_ms(), nudged = 0;
    unsigned nudges = 0;
    for (size_t left = 1; left;) {
        for (size_t i = 0; i < sizeof busy; i += 64) busy[i]++;
        double ms = now_ms() - begun;
        if (!signalled && ms > WAIT_MS / 2 && (strcmp(mode, "handled") == 0 || strcmp(mode, "restarted") == 0))
            for (size_t i = 0; i < WAITS; i++) pthread_kill(waits[i].thread, SIGUSR2), signalled = true;
        if (strcmp(mode, "ignored") == 0 && ms > nudged + 12 && ms < WAIT_MS - 100) {
            nudge(nudges++);
            nudged = now_ms() - begun;
        }
        if (!fed && ms > WAIT_MS) {
            fed = true;
            for (size_t i = 0; i < WAITS; i++)
                if (waits[i].feed && !atomic_load(&waits[i].done)) waits[i].feed(&waits[i]);
        }
        left = 0;
        for (size_t i = 0; i < WAITS; i++) left += !atomic_load(&waits[i].done);
    }
    close(outside[1]);
    waitpid(child, NULL, 0);
    for (size_t i = 0; i < WAITS; i++) {
        struct wait *w = &waits[i];
        pthread_join(w->thread, NULL);
        const char *when = w->ms < WAIT_MS - 20 ? "before its time" : w->ms > WAIT_MS + LATE_MS ? "late" : "in time";
        printf("%s: %ld %s, %s\n", w->name, w->result, w->result == -1 ? strerror(w->error) : "", when);
        if (argc > 2) printf("  %.0f ms\n", w->ms);
    }
    free_ipc();
    return 0;
}
