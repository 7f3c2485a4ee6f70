#include "fault_server.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "fault_resolve.h"
#include "peek.h"
#include "procmaps.h"
#include "procstat.h"

enum { ROUND_TIMES = 200 };
enum { ADVANCE_MS = 40, MESSAGES = 16, STUCK_NS = 10000000, THREADS = 256 };

struct served {  // one address space
    uint64_t id; // what epoll answers with: never used again
    int uffd, pagemap;
    pid_t pid;
    uint32_t space;
    int users; // threads of ours that serve it just now
    struct served *next;
};

struct known_thread {
    pid_t pid; // process; 0: free
    struct procstat_thread stat;
};

// What a thread of ours needs to serve; each has its own.
struct worker {
    struct fault_server *server;
    bool rescue; // steps in while the other one waits
    uint8_t *stack;
    struct known_thread threads[THREADS]; // by tid modulo THREADS
    struct procmaps maps;
    uint64_t raced_at; // the last fault that someone else had resolved, and how often it came back
    unsigned raced;
};

struct fault_server {
    struct sink *sink;
    struct sink_producer *producer;
    uint32_t stack_bytes;
    const void *zeros;
    int epoll, wake;
    pthread_t thread, rescuer;
    struct worker worker, rescue;

    pthread_mutex_t lock; // of the list
    pthread_cond_t released;
    struct served *list;
    uint64_t next_id;

    pthread_mutex_t emitting; // of the producer
    uint64_t last_t;

    pthread_mutex_t watching; // the rescuer sleeps under it while nothing happens
    pthread_cond_t busy_again;
    _Atomic bool busy, stop;
    _Atomic uint64_t reading_since; // ns; the worker reads a stack since then, 0: it does not

    _Atomic uint64_t faults, reads, writes, stacks, races, given_up, held_ns;
};

static uint64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// ------------------------------------------------------------------------------------------------------ emitting

static void emit(struct fault_server *s, struct vmv_event *event, const struct sink_stack *stack) {
    pthread_mutex_lock(&s->emitting);
    if (event->t < s->last_t) event->t = s->last_t; // the rescuer overtook a worker that had to wait
    s->last_t = event->t;
    sink_event(s->producer, event, stack);
    pthread_mutex_unlock(&s->emitting);
}

static void advance(struct fault_server *s) {
    pthread_mutex_lock(&s->emitting);
    uint64_t now = sink_now(s->sink);
    if (now > s->last_t) s->last_t = now;
    sink_advance(s->producer, s->last_t);
    pthread_mutex_unlock(&s->emitting);
}

// ------------------------------------------------------------------------------------------------------- serving

static pid_t process_of(pid_t tid) {
    char path[64], line[128];
    pid_t pid = 0;
    snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
    FILE *file = fopen(path, "re");
    while (file && !pid && fgets(line, sizeof line, file)) {
        if (strncmp(line, "Tgid:", 5) == 0) pid = (pid_t)strtol(line + 5, NULL, 10);
    }
    if (file) fclose(file);
    return pid;
}

static struct known_thread *know_thread(struct worker *worker, pid_t tid, bool anew) {
    struct known_thread *known = &worker->threads[(unsigned)tid % THREADS];
    if (known->pid && known->stat.tid == tid && !anew) return known;
    if (known->pid) procstat_thread_close(&known->stat);
    known->pid = process_of(tid);
    procstat_thread_init(&known->stat, known->pid, tid);
    return known;
}

// Where the thread stands, which waits in the fault. False if it cannot be told.
static bool locate(struct worker *worker, pid_t tid, pid_t *pid, struct procstat_syscall *where) {
    struct known_thread *known = know_thread(worker, tid, false);
    int error = procstat_syscall(&known->stat, where);
    if (error == -ESRCH) { // the number belongs to another thread now
        known = know_thread(worker, tid, true);
        error = procstat_syscall(&known->stat, where);
    }
    // It has said that it waits, and is about to leave its processor.
    for (int tries = 0; error == 0 && where->where == PROCSTAT_RUNNING && tries < 20; tries++) {
        sched_yield();
        error = procstat_syscall(&known->stat, where);
    }
    *pid = known->pid;
    return error == 0 && where->where != PROCSTAT_RUNNING;
}

static void watch_over_reading(struct fault_server *s) {
    s->reading_since = monotonic_ns();
    if (s->busy) return;
    pthread_mutex_lock(&s->watching);
    s->busy = true;
    pthread_cond_signal(&s->busy_again);
    pthread_mutex_unlock(&s->watching);
}

// Only present pages are read. Should one go between asking and reading, this thread waits in a fault that it should
// serve itself: the rescuer then does.
static size_t read_stack(struct worker *worker, const struct served *served, pid_t tid, uint64_t sp) {
    struct fault_server *s = worker->server;
    if (worker->rescue || !s->stack_bytes || served->pagemap < 0) return 0;
    watch_over_reading(s);
    size_t length = peek_present(tid, served->pagemap, sp, worker->stack, s->stack_bytes);
    s->reading_since = 0;
    return length;
}

struct seen {
    struct vmv_event event;
    struct sink_stack piece;
};

// What is to be told of the fault, while its thread waits. False: nothing.
static bool look(struct worker *worker, const struct served *served, const struct uffd_msg *message, bool write,
                 struct seen *seen) {
    *seen = (struct seen){.event = {
                              .type = VMV_EV_FAULT,
                              .t = sink_now(worker->server->sink),
                              .space = served->space,
                              .pid = served->pid,
                              .tid = (int32_t)message->arg.pagefault.feat.ptid,
                              .addr = message->arg.pagefault.address,
                              .kind = VMV_FAULT_FIRST_TOUCH,
                              .access = write ? VMV_ACCESS_WRITE : VMV_ACCESS_READ,
                              .source = VMV_SOURCE_UFFD,
                          }};
    struct vmv_event *event = &seen->event;
    struct procstat_syscall where;
    if (!event->tid || !locate(worker, event->tid, &event->pid, &where)) return true;
    event->kernel = where.where == PROCSTAT_IN_SYSCALL;
    event->pc = where.pc;
    if (event->pid == getpid()) return false; // a read of our own
    seen->piece.sp = where.sp;
    seen->piece.length = read_stack(worker, served, event->tid, where.sp);
    seen->piece.bytes = worker->stack;
    return true;
}

static void tell(struct fault_server *s, struct seen *seen) {
    bool has_stack = seen->piece.length > 0, write = seen->event.access == VMV_ACCESS_WRITE;
    emit(s, &seen->event, has_stack ? &seen->piece : NULL);
    s->faults++;
    *(write ? &s->writes : &s->reads) += 1;
    s->stacks += has_stack;
}

// The program must go on: the mapping is left to the kernel from now on.
static void give_up(struct worker *worker, const struct served *served, uint64_t addr, int failure) {
    struct fault_server *s = worker->server;
    struct vmv_mapping mapping;
    char text[160];
    struct uffdio_range range = {addr & ~(uint64_t)4095, 4096};
    if (procmaps_at(&worker->maps, served->pid, addr, &mapping, NULL) == 0)
        range = (struct uffdio_range){mapping.start, mapping.end - mapping.start};
    ioctl(served->uffd, UFFDIO_UNREGISTER, &range); // wakes those who wait
    snprintf(text, sizeof text, "0x%llx-0x%llx: a fault could not be served (%s): not tracked any more",
             (unsigned long long)range.start, (unsigned long long)(range.start + range.len), strerror(failure));
    struct vmv_event event = {.type = VMV_EV_GAP, .t = sink_now(s->sink), .space = served->space, .pid = served->pid};
    event.to = event.t;
    event.name = text;
    emit(s, &event, NULL);
    s->given_up++;
}

// A fault that someone else resolved does not come back. One that does, again and again, the kernel will not let us
// resolve (private hugetlb pages under write-protection, 6.18: EEXIST for ever).
static bool goes_round(struct worker *worker, uint64_t addr) {
    worker->raced = addr == worker->raced_at ? worker->raced + 1 : 0;
    worker->raced_at = addr;
    return worker->raced >= ROUND_TIMES;
}

static void serve_fault(struct worker *worker, const struct served *served, const struct uffd_msg *message) {
    struct fault_server *s = worker->server;
    uint64_t flags = message->arg.pagefault.flags, addr = message->arg.pagefault.address, begin = monotonic_ns();
    bool write = flags & UFFD_PAGEFAULT_FLAG_WRITE;
    enum fault_resolved resolved;
    int failure = 0;
    if (flags & (UFFD_PAGEFAULT_FLAG_WP | UFFD_PAGEFAULT_FLAG_MINOR))
        resolved = fault_resolve_other(served->uffd, addr, flags);
    else {
        struct seen seen;
        bool ours = !look(worker, served, message, write, &seen);
        resolved = fault_resolve_missing(served->uffd, addr, write, s->zeros, &failure);
        if (!ours && failure != ENOENT) tell(s, &seen); // ENOENT: unmapped meanwhile, nothing was touched
    }
    if (resolved == FAULT_RACED) s->races++;
    if (resolved == FAULT_RACED && goes_round(worker, addr)) resolved = FAULT_FAILED, failure = EEXIST;
    if (resolved == FAULT_FAILED) give_up(worker, served, addr, failure);
    s->held_ns += monotonic_ns() - begin;
}

// One handful: what is left keeps the descriptor readable.
static void serve_space(struct worker *worker, const struct served *served) {
    struct uffd_msg messages[MESSAGES];
    ssize_t got = read(served->uffd, messages, sizeof messages);
    for (ssize_t i = 0; i < got / (ssize_t)sizeof messages[0]; i++) {
        const struct uffd_msg *message = &messages[i];
        if (message->event == UFFD_EVENT_PAGEFAULT) serve_fault(worker, served, message);
        // Others are not asked for. Reading one lets its cause go on; a fork's brings a descriptor.
        else if (message->event == UFFD_EVENT_FORK)
            close((int)message->arg.fork.ufd);
    }
}

// ------------------------------------------------------------------------------------------------------- threads

static struct served *acquire(struct fault_server *s, uint64_t id) {
    pthread_mutex_lock(&s->lock);
    struct served *served = s->list;
    while (served && served->id != id) served = served->next;
    if (served) served->users++;
    pthread_mutex_unlock(&s->lock);
    return served;
}

static void release(struct fault_server *s, struct served *served) {
    pthread_mutex_lock(&s->lock);
    if (--served->users == 0) pthread_cond_broadcast(&s->released);
    pthread_mutex_unlock(&s->lock);
}

static void serve_once(struct worker *worker, int timeout_ms) {
    struct fault_server *s = worker->server;
    struct epoll_event ready[16];
    uint64_t woken;
    int count = epoll_wait(s->epoll, ready, 16, timeout_ms);
    for (int i = 0; i < count; i++) {
        if (ready[i].data.u64 == 0 && read(s->wake, &woken, sizeof woken) < 0) continue;
        struct served *served = ready[i].data.u64 ? acquire(s, ready[i].data.u64) : NULL;
        if (!served) continue;
        serve_space(worker, served);
        release(s, served);
    }
    advance(s);
}

static void *run_worker(void *user) {
    struct worker *worker = user;
    while (!worker->server->stop) serve_once(worker, ADVANCE_MS);
    return NULL;
}

static bool worker_is_stuck(struct fault_server *s) {
    uint64_t since = s->reading_since;
    return since && monotonic_ns() - since > STUCK_NS;
}

// Sleeps until the worker becomes busy; looks at it every few milliseconds until it has done nothing for a while.
static void *run_rescuer(void *user) {
    struct worker *worker = user;
    struct fault_server *s = worker->server;
    uint64_t seen = 0;
    while (!s->stop) {
        struct timespec pause = {.tv_nsec = STUCK_NS};
        nanosleep(&pause, NULL);
        while (worker_is_stuck(s)) serve_once(worker, 1);
        uint64_t faults = s->faults;
        bool quiet = faults == seen;
        seen = faults;
        if (!quiet) continue;
        pthread_mutex_lock(&s->watching);
        s->busy = false;
        // The worker sets reading_since before it looks at busy: one of us sees the other.
        while (!s->busy && !s->stop && !s->reading_since) pthread_cond_wait(&s->busy_again, &s->watching);
        s->busy = true;
        pthread_mutex_unlock(&s->watching);
    }
    return NULL;
}

static void wake(struct fault_server *s) {
    uint64_t one = 1;
    if (write(s->wake, &one, sizeof one) < 0) return; // awake already
}

// ------------------------------------------------------------------------------------------------------- life

static bool watch(struct fault_server *s, int fd, uint64_t id) {
    struct epoll_event event = {.events = EPOLLIN, .data.u64 = id};
    return epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void free_worker(struct worker *worker) {
    for (int i = 0; i < THREADS; i++) {
        if (worker->threads[i].pid) procstat_thread_close(&worker->threads[i].stat);
    }
    procmaps_free(&worker->maps);
    free(worker->stack);
}

static void destroy(struct fault_server *s) {
    if (s->producer) sink_producer_done(s->producer);
    if (s->epoll >= 0) close(s->epoll);
    if (s->wake >= 0) close(s->wake);
    fault_zeros_destroy(s->zeros);
    free_worker(&s->worker);
    free_worker(&s->rescue);
    free(s);
}

static bool prepare(struct fault_server *s) {
    s->worker.server = s->rescue.server = s;
    s->rescue.rescue = true;
    s->epoll = epoll_create1(EPOLL_CLOEXEC);
    s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    s->zeros = fault_zeros_create();
    s->worker.stack = malloc(s->stack_bytes ? s->stack_bytes : 1);
    pthread_mutex_init(&s->lock, NULL);
    pthread_mutex_init(&s->emitting, NULL);
    pthread_mutex_init(&s->watching, NULL);
    pthread_cond_init(&s->released, NULL);
    pthread_cond_init(&s->busy_again, NULL);
    return s->epoll >= 0 && s->wake >= 0 && s->zeros && s->worker.stack && watch(s, s->wake, 0);
}

static void stop_worker(struct fault_server *s) {
    s->stop = true;
    wake(s);
    pthread_join(s->thread, NULL);
}

struct fault_server *fault_server_create(struct sink *sink, uint32_t stack_bytes) {
    struct fault_server *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->sink = sink;
    s->stack_bytes = stack_bytes;
    s->epoll = s->wake = -1;
    bool good = prepare(s);
    if (good) s->producer = sink_producer_create(sink, "uffd");
    good = good && pthread_create(&s->thread, NULL, run_worker, &s->worker) == 0;
    if (good && pthread_create(&s->rescuer, NULL, run_rescuer, &s->rescue) != 0) {
        stop_worker(s);
        good = false;
    }
    if (good) return s;
    destroy(s);
    return NULL;
}

void fault_server_destroy(struct fault_server *s) {
    if (!s) return;
    stop_worker(s);
    pthread_mutex_lock(&s->watching);
    pthread_cond_signal(&s->busy_again);
    pthread_mutex_unlock(&s->watching);
    pthread_join(s->rescuer, NULL);
    destroy(s);
}

int fault_server_add(struct fault_server *s, int uffd, int pagemap, pid_t pid, uint32_t space) {
    struct served *served = calloc(1, sizeof *served);
    if (!served) return -ENOMEM;
    pthread_mutex_lock(&s->lock);
    *served = (struct served){
        .id = ++s->next_id, .uffd = uffd, .pagemap = pagemap, .pid = pid, .space = space, .next = s->list};
    s->list = served;
    pthread_mutex_unlock(&s->lock);
    if (watch(s, uffd, served->id)) return 0;
    int error = -errno;
    fault_server_remove(s, uffd);
    return error;
}

void fault_server_remove(struct fault_server *s, int uffd) {
    epoll_ctl(s->epoll, EPOLL_CTL_DEL, uffd, NULL);
    pthread_mutex_lock(&s->lock);
    struct served **link = &s->list;
    while (*link && (*link)->uffd != uffd) link = &(*link)->next;
    struct served *served = *link;
    if (served) *link = served->next;
    while (served && served->users) pthread_cond_wait(&s->released, &s->lock);
    pthread_mutex_unlock(&s->lock);
    free(served);
}

void fault_server_counts(struct fault_server *s, struct fault_server_counts *counts) {
    *counts = (struct fault_server_counts){.faults = s->faults,
                                           .reads = s->reads,
                                           .writes = s->writes,
                                           .stacks = s->stacks,
                                           .races = s->races,
                                           .given_up = s->given_up,
                                           .held_ns = s->held_ns};
}
