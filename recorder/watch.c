#include "watch.h"

#include "arch.h"
#include "kernel.h"
#include "objects.h"
#include "peek.h"
#include "perf_ring.h"
#include "watch_value.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    ROUND_MS = 20,
    SLACK_NS = 1000000,   // a record may be written this long after its stamp
    RING_BYTES = 4 << 20, // 1,600 writes with 2 KiB of stack: 10 ms of nothing else
    RING_LEAST = 64 << 10,
    SCRATCH = 1 << 16,
    PIECES = WATCH_MAX, // aligned parts of what is watched, one debug register each
};

// ---------------------------------------------------------------------------------------------- the state

struct set { // of breakpoints, in the threads of one program
    int *fds;
    size_t count, room;
    struct piece {
        uint64_t addr;
        uint32_t length;
        int program; // BPF, -1: none
    } pieces[PIECES];
    size_t piece_count;
};

struct belongs { // from `since` on the process is watched by this set; 0: by none
    pid_t pid;
    size_t set;
    uint64_t since;
    bool lacks;
};

struct known_value {
    size_t set;
    pid_t pid;
    uint64_t addr;
    uint8_t bytes[8];
};

struct forked { // the child's values are the parent's of that moment
    pid_t parent, child;
    uint64_t t;
};

struct hit {
    uint64_t t; // CLOCK_MONOTONIC
    uint64_t id, addr;
    pid_t pid, tid;
    struct arch_regs regs;
    bool has_value;
    uint8_t value[8];
    size_t stack_length;
    uint8_t *stack;
    uint64_t lost; // no hit: so many were lost
};

struct owner { // of an event's number
    uint64_t id;
    size_t set;
};

struct watcher {
    struct watch_options options;
    struct sink_producer *producer;
    int processors, map;     // BPF map, -1: no values
    struct perf_ring *rings; // one a processor, made with its first event
    bool *silent;            // the ring has no thread any more
    uint64_t *output_ids;    // of the events that take the values
    struct set *sets;        // [0] unused
    size_t set_count;
    struct owner *owners;
    size_t owner_count, owner_room;
    struct belongs *belongs;
    size_t belongs_count, belongs_room;
    struct known_value *values;
    size_t value_count, value_room;
    struct forked *forks; // whose moment has not been reached
    size_t fork_count, fork_room;
    struct hit *hits;
    size_t hit_count, hit_room;
    struct awaiting { // by processor: the value whose hit follows, perhaps at the next reading
        struct watch_value value;
        bool any;
    } * awaiting;
    uint8_t *scratch;
    uint64_t last_t;
    _Atomic uint64_t found;
    pthread_mutex_t lock;
    pthread_t thread;
    _Atomic bool stop;
};

// Room for one more.
#define GROW(array, count, room)                                                                                       \
    do {                                                                                                               \
        if ((count) == (room)) {                                                                                       \
            (room) = (room) ? (room)*2 : 16;                                                                           \
            (array) = realloc((array), (room) * sizeof *(array));                                                      \
            if (!(array)) abort();                                                                                     \
        }                                                                                                              \
    } while (0)

static uint64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// ---------------------------------------------------------------------------------------------- reading the rings

static size_t set_of(const struct watcher *w, uint64_t id) {
    for (size_t i = 0; i < w->owner_count; i++)
        if (w->owners[i].id == id) return w->owners[i].set;
    return 0;
}

static const struct belongs *belongs_at(const struct watcher *w, pid_t pid, uint64_t t) {
    const struct belongs *found = NULL;
    for (size_t i = 0; i < w->belongs_count; i++)
        if (w->belongs[i].pid == pid && w->belongs[i].since <= t) found = &w->belongs[i];
    return found;
}

struct reader {
    struct watcher *watcher;
    int processor;
};

// PERF_RECORD_SAMPLE as the sample types below lay it out (perf_event_open(2)).
static void on_sample(struct reader *reader, const uint64_t *at, const uint64_t *end) {
    struct watcher *w = reader->watcher;
    struct awaiting *awaiting = &w->awaiting[reader->processor];
    uint64_t id = *at++;
    if (w->map >= 0 && id == w->output_ids[reader->processor]) { // identifier, size of the raw part, the raw part
        uint32_t size;
        memcpy(&size, at, sizeof size);
        awaiting->any = size >= sizeof awaiting->value && (const uint8_t *)end - (const uint8_t *)at >= 4 + (long)size;
        if (awaiting->any) memcpy(&awaiting->value, (const uint8_t *)at + 4, sizeof awaiting->value);
        return;
    }
    const size_t registers = arch_perf_count();
    if ((size_t)(end - at) < 4 + registers) return;
    GROW(w->hits, w->hit_count, w->hit_room);
    struct hit *hit = &w->hits[w->hit_count];
    *hit = (struct hit){
        .id = id, .pid = (pid_t)(at[0] & 0xffffffff), .tid = (pid_t)(at[0] >> 32), .t = at[1], .addr = at[2]};
    at += 3;
    uint64_t abi = *at++;
    if (abi == PERF_SAMPLE_REGS_ABI_NONE) return;
    arch_perf_to_regs(at, &hit->regs);
    at += registers;
    if (w->options.stack_bytes && at < end) {
        uint64_t size = *at++;
        const uint8_t *stack = (const uint8_t *)at;
        if (size && size + 8 <= (uint64_t)((const uint8_t *)end - stack)) {
            memcpy(&hit->stack_length, stack + size, 8);
            if (hit->stack_length > size) hit->stack_length = 0;
            hit->stack = malloc(hit->stack_length + 1);
            if (!hit->stack) abort();
            memcpy(hit->stack, stack, hit->stack_length);
        }
    }
    hit->has_value = awaiting->any && awaiting->value.good && awaiting->value.addr == hit->addr;
    memcpy(hit->value, awaiting->value.bytes, 8);
    awaiting->any = false;
    w->hit_count++;
}

static void on_record(void *user, const struct perf_event_header *record) {
    struct reader *reader = user;
    struct watcher *w = reader->watcher;
    const uint64_t *body = (const uint64_t *)(record + 1);
    const uint64_t *end = (const uint64_t *)((const uint8_t *)record + record->size);
    if (record->type == PERF_RECORD_SAMPLE && end - body > 1) on_sample(reader, body, end);
    if (record->type != PERF_RECORD_LOST && record->type != PERF_RECORD_THROTTLE) return;
    GROW(w->hits, w->hit_count, w->hit_room);
    uint64_t lost = record->type == PERF_RECORD_LOST ? body[1] : 1;
    w->hits[w->hit_count++] = (struct hit){.t = monotonic_ns(), .lost = lost};
}

static int by_time(const void *a, const void *b) {
    const struct hit *x = a, *y = b;
    return x->t < y->t ? -1 : x->t > y->t;
}

static struct known_value *value_of(struct watcher *w, size_t set, pid_t pid, uint64_t addr) {
    for (size_t i = 0; i < w->value_count; i++) {
        struct known_value *value = &w->values[i];
        if (value->set == set && value->pid == pid && value->addr == addr) return value;
    }
    return NULL;
}

static void remember_value(struct watcher *w, size_t set, pid_t pid, uint64_t addr, const uint8_t bytes[8]) {
    struct known_value *value = value_of(w, set, pid, addr);
    if (!value) {
        GROW(w->values, w->value_count, w->value_room);
        value = &w->values[w->value_count++];
        *value = (struct known_value){.set = set, .pid = pid, .addr = addr};
    }
    memcpy(value->bytes, bytes, 8);
}

static uint64_t trace_time(struct watcher *w, uint64_t t) {
    uint64_t at = sink_time(w->options.sink, t);
    if (at < w->last_t) at = w->last_t;
    return w->last_t = at;
}

static void hand_on_loss(struct watcher *w, const struct hit *hit) {
    struct vmv_event gap = {.type = VMV_EV_GAP, .name = "writes to what is watched were lost"};
    gap.t = gap.to = trace_time(w, hit->t);
    sink_event(w->producer, &gap, NULL);
    w->value_count = 0; // what was before is not known any more
}

static const struct piece *piece_at(const struct set *set, uint64_t addr) {
    for (size_t i = 0; i < set->piece_count; i++)
        if (set->pieces[i].addr == addr) return &set->pieces[i];
    return NULL;
}

static void inherit_values(struct watcher *w, const struct forked *forked) {
    for (size_t i = 0, count = w->value_count; i < count; i++) {
        struct known_value value = w->values[i];
        if (value.pid == forked->parent) remember_value(w, value.set, forked->child, value.addr, value.bytes);
    }
}

static void catch_up_with_forks(struct watcher *w, uint64_t t) {
    size_t done = 0;
    while (done < w->fork_count && w->forks[done].t <= t) inherit_values(w, &w->forks[done++]);
    w->fork_count -= done;
    if (done) memmove(w->forks, w->forks + done, w->fork_count * sizeof *w->forks);
}

static void hand_on(struct watcher *w, const struct hit *hit) {
    if (hit->lost) {
        hand_on_loss(w, hit);
        return;
    }
    catch_up_with_forks(w, sink_time(w->options.sink, hit->t));
    size_t number = set_of(w, hit->id);
    const struct belongs *belongs = belongs_at(w, hit->pid, sink_time(w->options.sink, hit->t));
    const struct piece *piece = number ? piece_at(&w->sets[number], hit->addr) : NULL;
    if (!piece || !belongs || belongs->set != number) return; // of another program, at the same address
    struct vmv_event event = {
        .type = VMV_EV_WATCH, .pid = hit->pid, .tid = hit->tid, .addr = hit->addr, .len = piece->length};
    event.t = trace_time(w, hit->t);
    event.pc = arch_pc(&hit->regs);
    struct known_value *before = value_of(w, number, hit->pid, hit->addr);
    if (before) {
        memcpy(event.before, before->bytes, 8);
        event.known |= VMV_WATCH_BEFORE;
    }
    if (hit->has_value) {
        memcpy(event.after, hit->value, 8);
        event.known |= VMV_WATCH_AFTER;
        remember_value(w, number, hit->pid, hit->addr, hit->value);
    } else if (before) {
        *before = w->values[--w->value_count];
    }
    struct sink_stack stack = {&hit->regs, sizeof hit->regs, arch_sp(&hit->regs), hit->stack, hit->stack_length};
    sink_event(w->producer, &event, &stack);
}

static void one_round(struct watcher *w, bool all) {
    uint64_t now = monotonic_ns(), until = all ? now : now - SLACK_NS;
    pthread_mutex_lock(&w->lock);
    for (int cpu = 0; cpu < w->processors; cpu++) {
        struct reader reader = {w, cpu};
        if (w->rings[cpu].fd >= 0) perf_ring_read(&w->rings[cpu], w->scratch, on_record, &reader);
    }
    qsort(w->hits, w->hit_count, sizeof *w->hits, by_time);
    size_t done = 0;
    for (; done < w->hit_count && w->hits[done].t <= until; done++) {
        hand_on(w, &w->hits[done]);
        free(w->hits[done].stack);
    }
    w->hit_count -= done;
    if (done) memmove(w->hits, w->hits + done, w->hit_count * sizeof *w->hits);
    pthread_mutex_unlock(&w->lock);
    sink_advance(w->producer, trace_time(w, until));
}

static int ready_fd(struct watcher *w, int cpu) {
    pthread_mutex_lock(&w->lock);
    int fd = w->silent[cpu] ? -1 : w->rings[cpu].fd;
    pthread_mutex_unlock(&w->lock);
    return fd;
}

static void *run(void *user) {
    struct watcher *w = user;
    struct sched_param first = {.sched_priority = 1}; // kept waiting, it would lose records
    pthread_setschedparam(pthread_self(), SCHED_FIFO, &first);
    struct pollfd *polls = calloc((size_t)w->processors, sizeof *polls);
    if (!polls) abort();
    while (!w->stop) {
        for (int i = 0; i < w->processors; i++) polls[i] = (struct pollfd){.fd = ready_fd(w, i), .events = POLLIN};
        poll(polls, (nfds_t)w->processors, ROUND_MS);
        for (int i = 0; i < w->processors; i++)
            if (polls[i].revents & (POLLHUP | POLLERR))
                w->silent[i] = true; // its threads are gone: it would answer at once
        one_round(w, false);
    }
    free(polls);
    one_round(w, true);
    return NULL;
}

// ---------------------------------------------------------------------------------------------- opening

static struct perf_event_attr breakpoint_attr(const struct watch_options *options, const struct piece *piece) {
    return (struct perf_event_attr){
        .type = PERF_TYPE_BREAKPOINT,
        .size = sizeof(struct perf_event_attr),
        .bp_type = HW_BREAKPOINT_W,
        .bp_addr = piece->addr,
        .bp_len = piece->length,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR |
                       PERF_SAMPLE_REGS_USER | (options->stack_bytes ? PERF_SAMPLE_STACK_USER : 0),
        .disabled = 1,
        .inherit = 1,
        .inherit_thread = options->threads_only,
        .exclude_kernel = !options->kernel,
        .exclude_hv = 1,
        .watermark = 1,
        .wakeup_watermark = RING_LEAST / 2,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .sample_regs_user = arch_perf_mask(),
        .sample_stack_user = options->stack_bytes & ~7u,
    };
}

// The event that takes the values on one processor, writing into the breakpoints' ring. -errno or its descriptor.
static int open_output(struct watcher *w, int cpu) {
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_BPF_OUTPUT,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_RAW,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    long fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return -errno;
    bool good = ioctl((int)fd, PERF_EVENT_IOC_SET_OUTPUT, w->rings[cpu].fd) == 0 &&
                ioctl((int)fd, PERF_EVENT_IOC_ID, &w->output_ids[cpu]) == 0 &&
                watch_value_set_output(w->map, cpu, (int)fd) == 0;
    if (good) return (int)fd;
    close((int)fd);
    return -EPERM;
}

static void keep_fd(struct watcher *w, struct set *set, int fd) {
    GROW(set->fds, set->count, set->room);
    set->fds[set->count++] = fd;
    GROW(w->owners, w->owner_count, w->owner_room);
    struct owner *owner = &w->owners[w->owner_count++];
    *owner = (struct owner){0, (size_t)(set - w->sets)};
    ioctl(fd, PERF_EVENT_IOC_ID, &owner->id);
}

// Plain users may lock little memory (kernel.perf_event_mlock_kb).
static int open_ring(struct perf_ring *ring, struct perf_event_attr *attr, pid_t tid, int cpu) {
    for (size_t size = RING_BYTES;; size /= 2) {
        int error = perf_ring_open(ring, attr, tid, cpu, size);
        if ((error != -EPERM && error != -ENOMEM) || size / 2 < RING_LEAST) return error;
    }
}

static int open_breakpoint(struct watcher *w, struct set *set, struct piece *piece, pid_t tid, int cpu) {
    struct perf_event_attr attr = breakpoint_attr(&w->options, piece);
    struct perf_ring *ring = &w->rings[cpu];
    int fd;
    if (ring->fd < 0) {
        int error = open_ring(ring, &attr, tid, cpu);
        if (error) return error;
        fd = fcntl(ring->fd, F_DUPFD_CLOEXEC, 0);
        int output = w->map >= 0 ? open_output(w, cpu) : -1;
        if (output >= 0) keep_fd(w, set, output);
    } else {
        fd = (int)syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
        if (fd >= 0 && ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, ring->fd) != 0) {
            close(fd);
            return -errno;
        }
    }
    if (fd < 0) return -errno;
    if (piece->program >= 0) ioctl(fd, PERF_EVENT_IOC_SET_BPF, piece->program);
    keep_fd(w, set, fd);
    return ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) == 0 ? 0 : -errno;
}

static int open_set(struct watcher *w, struct set *set, const pid_t *tids, size_t count) {
    for (size_t i = 0; i < set->piece_count; i++)
        set->pieces[i].program =
            w->map >= 0 ? watch_value_program(w->map, set->pieces[i].addr, set->pieces[i].length) : -1;
    for (size_t t = 0; t < count; t++)
        for (int cpu = 0; cpu < w->processors; cpu++)
            for (size_t i = 0; i < set->piece_count; i++) {
                int error = open_breakpoint(w, set, &set->pieces[i], tids[t], cpu);
                if (error && error != -ESRCH && error != -ENODEV) return error; // it ended; no such processor now
            }
    return 0;
}

// Debug registers want their range aligned: 1, 2, 4 or 8 bytes.
static bool add_pieces(struct set *set, uint64_t addr, uint64_t length) {
    while (length) {
        uint64_t part = WATCH_BYTES;
        while (part > length || addr % part) part /= 2;
        if (set->piece_count == PIECES) return false;
        set->pieces[set->piece_count++] = (struct piece){addr, (uint32_t)part, -1};
        addr += part;
        length -= part;
    }
    return true;
}

// 0, -ENOENT: not there yet; -E2BIG: too long for a debug register, or for all of them.
static int resolve(struct set *set, const struct watch_item *item, const struct watch_place *places, size_t count) {
    uint64_t addr = item->offset, length = item->length, offset, size = 0;
    bool found = !item->symbol[0];
    for (size_t i = 0; i < count && !found; i++) {
        found = objects_find_symbol(places[i].path, item->symbol, &offset, &size);
        if (found) addr += places[i].start + offset;
    }
    if (!found) return -ENOENT;
    if (!length) length = size && !item->offset ? size : WATCH_BYTES;
    if (length > WATCH_BYTES) return -E2BIG;
    return add_pieces(set, addr, length) ? 0 : -E2BIG;
}

static void set_belongs(struct watcher *w, pid_t pid, size_t set, uint64_t since, bool lacks) {
    GROW(w->belongs, w->belongs_count, w->belongs_room);
    w->belongs[w->belongs_count++] = (struct belongs){pid, set, since, lacks};
}

// Of pages that are there: looking must not bring others in.
static void note_values_before(struct watcher *w, size_t number, pid_t pid) {
    const struct set *set = &w->sets[number];
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/pagemap", pid);
    int pagemap = open(path, O_RDONLY | O_CLOEXEC);
    for (size_t i = 0; i < set->piece_count; i++) {
        uint8_t bytes[8] = {0};
        uint32_t length = set->pieces[i].length;
        if (pagemap >= 0 && peek_present(pid, pagemap, set->pieces[i].addr, bytes, length) == length)
            remember_value(w, number, pid, set->pieces[i].addr, bytes);
    }
    if (pagemap >= 0) close(pagemap);
}

int watcher_follow(struct watcher *w, pid_t pid, uint64_t t, const struct watch_place *places, size_t count,
                   const pid_t *tids, size_t tid_count, const char **missing) {
    int error = 0;
    *missing = NULL;
    pthread_mutex_lock(&w->lock);
    w->sets = realloc(w->sets, (w->set_count + 1) * sizeof *w->sets);
    if (!w->sets) abort();
    struct set *set = &w->sets[w->set_count];
    *set = (struct set){0};
    for (unsigned i = 0; i < w->options.list->count && !error; i++) {
        error = resolve(set, &w->options.list->items[i], places, count);
        if (error) *missing = w->options.list->items[i].text;
    }
    set_belongs(w, pid, error ? 0 : w->set_count, t, error == -ENOENT);
    if (!error) {
        size_t number = w->set_count++;
        note_values_before(w, number, pid);
        error = open_set(w, set, tids, tid_count);
        w->found++;
    }
    pthread_mutex_unlock(&w->lock);
    return error;
}

bool watcher_lacks(const struct watcher *w, pid_t pid) {
    const struct belongs *belongs = belongs_at(w, pid, UINT64_MAX);
    return belongs && belongs->lacks;
}

void watcher_fork(struct watcher *w, pid_t parent, pid_t child, uint64_t t) {
    pthread_mutex_lock(&w->lock);
    const struct belongs *belongs = belongs_at(w, parent, UINT64_MAX);
    if (belongs) {
        struct belongs of_parent = *belongs;
        set_belongs(w, child, of_parent.set, 0, of_parent.lacks); // it may write before its parent's stop is seen
        GROW(w->forks, w->fork_count, w->fork_room);
        w->forks[w->fork_count++] = (struct forked){parent, child, t};
    }
    pthread_mutex_unlock(&w->lock);
}

bool watcher_knows_values(const struct watcher *w) { return w->map >= 0; }

uint64_t watcher_found(const struct watcher *w) { return w->found; }

// ---------------------------------------------------------------------------------------------- life

static int probe(const struct watch_options *options) {
    static uint64_t word;
    struct piece piece = {(uint64_t)(uintptr_t)&word, sizeof word, -1};
    struct perf_event_attr attr = breakpoint_attr(options, &piece);
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return -errno;
    close((int)fd);
    return 0;
}

int watcher_create(const struct watch_options *options, struct watcher **out) {
    int error = probe(options);
    if (error) return error;
    struct watcher *w = calloc(1, sizeof *w);
    if (!w) return -ENOMEM;
    w->options = *options;
    w->processors = (int)sysconf(_SC_NPROCESSORS_CONF);
    w->rings = calloc((size_t)w->processors, sizeof *w->rings);
    w->output_ids = calloc((size_t)w->processors, sizeof *w->output_ids);
    w->scratch = malloc(SCRATCH);
    w->silent = calloc((size_t)w->processors, sizeof *w->silent);
    w->awaiting = calloc((size_t)w->processors, sizeof *w->awaiting);
    if (!w->awaiting || !w->rings || !w->output_ids || !w->scratch || !w->silent) abort();
    for (int i = 0; i < w->processors; i++) w->rings[i].fd = -1;
    w->map = watch_value_map(w->processors);
    w->set_count = 1;
    w->sets = calloc(1, sizeof *w->sets);
    pthread_mutex_init(&w->lock, NULL);
    w->producer = sink_producer_create(w->options.sink, "watch");
    error = -pthread_create(&w->thread, NULL, run, w);
    if (error) abort();
    *out = w;
    return 0;
}

static void close_set(struct set *set) {
    for (size_t i = 0; i < set->count; i++) close(set->fds[i]);
    for (size_t i = 0; i < set->piece_count; i++)
        if (set->pieces[i].program >= 0) close(set->pieces[i].program);
    free(set->fds);
}

void watcher_close(struct watcher *w) {
    if (!w) return;
    w->stop = true;
    pthread_join(w->thread, NULL);
    sink_producer_done(w->producer);
    for (size_t i = 1; i < w->set_count; i++) close_set(&w->sets[i]);
    for (int i = 0; i < w->processors; i++) perf_ring_close(&w->rings[i]);
    if (w->map >= 0) close(w->map);
    pthread_mutex_destroy(&w->lock);
    free(w->rings), free(w->awaiting), free(w->silent), free(w->output_ids), free(w->sets), free(w->owners),
        free(w->belongs), free(w->values);
    free(w->hits), free(w->scratch), free(w);
}
