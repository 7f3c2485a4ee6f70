#include "perf_records.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "perf_faults.h"

enum {
    ROUND_MS = 40,         // between readings when nothing presses
    SLACK_NS = 1000000,    // a record may be written this long after its stamp
    RINGS_BYTES = 8 << 20, // over all processors; making them takes 1 us a page, before the program starts
    RING_MAX = 2 << 20,    // 50 ms of nothing but faults; the reader is woken at an eighth, and comes first
    RING_MIN = 256 << 10,
    SMALLEST_RING = 16 << 10,
    STACK_RINGS_BYTES = 4 << 20,
    STACK_RING_MAX = 1 << 20,
    STACKS_A_SECOND = 2000,
    REST_NS = 200000, // switching stacks off may take this long
    SCRATCH = 1 << 16,
    HANDED_AT_ONCE = 4096, // before the rings are looked at again
    PENDING_MAX = 1 << 20, // records read but not handed on, of one processor
};

struct withheld {
    pid_t pid;
    uint64_t addr;
};

struct perf_records {
    struct sink *sink;
    struct sink_producer *producer;
    struct perf_keeper *keepers; // one a processor
    int count;
    struct perf_event_attr fault_attr, stack_attr;
    struct extra_event {
        int fd;
        bool stacks;
    } * extra; // of threads attached to, writing into the keepers' rings
    size_t extra_count, extra_room;
    bool stacks; // there are stack rings
    struct pollfd *polls;
    uint8_t *scratch;
    pthread_t thread;
    int wake;        // eventfd
    uint64_t last_t; // trace time of the last event handed on

    bool slow_to_rest; // too many threads to switch stacks off and on
    double tokens;     // stacks that may be taken now
    double rate;       // a second
    uint64_t filled;   // ns, when tokens were last added

    pthread_mutex_t lock; // of what follows
    pthread_cond_t flushed;
    uint64_t flush_wanted, flush_done;
    struct withheld *withheld;
    size_t withheld_count, withheld_room;
    bool stop;
    bool stacks_off; // by request, or with the records

    _Atomic uint64_t faults, kernel_faults, with_stack, lost;
};

static uint64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// ---------------------------------------------------------------------------------------------------- handing on

static uint64_t trace_time(struct perf_records *r, uint64_t t) {
    uint64_t at = sink_time(r->sink, t);
    if (at < r->last_t) at = r->last_t; // a late record
    r->last_t = at;
    return at;
}

static void hand_on_loss(struct perf_records *r, const struct perf_fault *loss) {
    char text[96];
    snprintf(text, sizeof text, "%llu page-fault records lost", (unsigned long long)loss->lost);
    struct vmv_event event = {.type = VMV_EV_GAP, .name = text};
    event.t = trace_time(r, loss->t);
    event.to = sink_time(r->sink, loss->lost_until);
    if (event.to < event.t) event.to = event.t;
    sink_event(r->producer, &event, NULL);
    r->lost += loss->lost;
}

// Bytes of a piece of stack that may go into the trace.
static size_t allowed_length(struct perf_records *r, pid_t pid, uint64_t sp, size_t length) {
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->withheld_count; i++) {
        const struct withheld *withheld = &r->withheld[i];
        if (withheld->pid != pid || sp + length <= withheld->addr) continue;
        length = sp < withheld->addr ? withheld->addr - sp : 0;
    }
    pthread_mutex_unlock(&r->lock);
    return length;
}

static void hand_on_fault(struct perf_records *r, const struct perf_fault *fault, const struct perf_stack *stack) {
    struct vmv_event event = {
        .type = VMV_EV_FAULT,
        .t = trace_time(r, fault->t),
        .pid = fault->pid,
        .tid = fault->tid,
        .addr = fault->addr,
        .pc = fault->pc,
        .kernel = fault->kernel,
        .kind = VMV_FAULT_UNKNOWN,
        .source = VMV_SOURCE_RECORDS,
    };
    struct sink_stack piece;
    bool has_stack = stack && stack->has_regs;
    if (has_stack) {
        piece = (struct sink_stack){.regs = &stack->regs,
                                    .regs_length = sizeof stack->regs,
                                    .sp = arch_sp(&stack->regs),
                                    .bytes = stack->bytes,
                                    .length = allowed_length(r, fault->pid, arch_sp(&stack->regs), stack->length)};
    }
    sink_event(r->producer, &event, has_stack ? &piece : NULL);
    r->faults++;
    r->kernel_faults += fault->kernel;
    r->with_stack += has_stack;
}

static struct perf_keeper *oldest_of(struct perf_records *r, uint64_t until) {
    struct perf_keeper *oldest = NULL;
    for (int i = 0; i < r->count; i++) {
        const struct perf_fault *fault = perf_keeper_peek(&r->keepers[i], until);
        if (!fault || (oldest && fault->t == until)) continue;
        oldest = &r->keepers[i];
        until = fault->t;
    }
    return oldest;
}

// Hands on what is stamped up to `until`, in the order of time over all processors; at most `limit` entries. False:
// there is more.
static bool hand_on(struct perf_records *r, uint64_t until, size_t limit) {
    sink_wait_room(r->producer);
    for (; limit; limit--) {
        struct perf_keeper *oldest = oldest_of(r, until);
        if (!oldest) break;
        const struct perf_stack *stack;
        const struct perf_fault *fault = perf_keeper_take(oldest, &stack);
        if (fault->lost)
            hand_on_loss(r, fault);
        else
            hand_on_fault(r, fault, stack);
    }
    // Also in between: the sink must be able to write these while we wait for room in it.
    sink_advance(r->producer, limit ? trace_time(r, until) : r->last_t);
    return limit > 0;
}

// ------------------------------------------------------------------------------------------------------- reading

static void fill_tokens(struct perf_records *r, uint64_t now) {
    r->tokens += (double)(now - r->filled) * 1e-9 * r->rate;
    if (r->tokens > r->rate) r->tokens = r->rate; // as much at once as in a second
    r->filled = now;
}

// Switches the stacks of one processor off or on, in every thread that is followed. Where that takes long (thousands of
// threads) it is not done again: a full ring is nearly as cheap.
static void rest(struct perf_records *r, struct perf_keeper *keeper, bool on) {
    uint64_t begin = monotonic_ns();
    pthread_mutex_lock(&r->lock);
    if (!r->stacks_off && (on || !r->slow_to_rest))
        ioctl(keeper->stacks.fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
    pthread_mutex_unlock(&r->lock);
    if (monotonic_ns() - begin > REST_NS) r->slow_to_rest = true;
}

// Stacks are many times larger than faults. In a storm they are taken for a while and then not, so that they cost the
// program little; what came before the pause is discarded after it, for its faults have been handed on.
static void read_stacks(struct perf_records *r, struct perf_keeper *keeper) {
    if (keeper->choked) {
        if (r->tokens < r->rate / 16) return;
        keeper->choked = false;
        perf_ring_discard(&keeper->stacks);
        rest(r, keeper, true);
        return;
    }
    size_t allowed = (size_t)r->tokens;
    size_t taken = perf_keeper_read_stacks(keeper, r->scratch, allowed);
    r->tokens -= (double)taken;
    keeper->choked = taken == allowed;
    if (keeper->choked) rest(r, keeper, false);
}

// A sink that falls behind must not make us collect without end: the ring then fills, and the loss is told.
static void read_faults(struct perf_records *r, uint64_t now) {
    for (int i = 0; i < r->count; i++) {
        if (perf_keeper_waiting(&r->keepers[i]) < PENDING_MAX) perf_keeper_read_faults(&r->keepers[i], r->scratch, now);
    }
}

static void read_rings(struct perf_records *r) {
    uint64_t now = monotonic_ns();
    read_faults(r, now);
    if (!r->stacks) return;
    fill_tokens(r, now);
    // After the faults, so that the stack of each fault just read is there.
    for (int i = 0; i < r->count; i++) read_stacks(r, &r->keepers[i]);
}

static void one_round(struct perf_records *r, bool all) {
    uint64_t now = monotonic_ns();
    read_rings(r);
    while (!hand_on(r, all ? now : now - SLACK_NS, HANDED_AT_ONCE)) read_rings(r);
}

static void wait_round(struct perf_records *r) {
    nfds_t count = (nfds_t)(r->count * (r->stacks ? 2 : 1) + 1);
    uint64_t woken;
    poll(r->polls, count, ROUND_MS);
    for (nfds_t i = 0; i < count; i++) {
        // The last thread of an event is gone: it would answer at once from now on.
        if (r->polls[i].revents & (POLLHUP | POLLERR)) r->polls[i].fd = -1;
    }
    if (read(r->wake, &woken, sizeof woken) < 0) return; // nobody woke us
}

// A reader that is kept waiting loses records. Where this is refused, it may.
static void prefer_this_thread(void) {
    struct sched_param first = {.sched_priority = 1};
    if (pthread_setschedparam(pthread_self(), SCHED_FIFO, &first) != 0) setpriority(PRIO_PROCESS, 0, -10);
}

static void *run(void *user) {
    struct perf_records *r = user;
    prefer_this_thread();
    for (bool stop = false; !stop;) {
        wait_round(r);
        pthread_mutex_lock(&r->lock);
        uint64_t wanted = r->flush_wanted;
        bool flush = wanted > r->flush_done;
        stop = r->stop;
        pthread_mutex_unlock(&r->lock);
        one_round(r, flush || stop);
        if (!flush) continue;
        pthread_mutex_lock(&r->lock);
        r->flush_done = wanted;
        pthread_cond_broadcast(&r->flushed);
        pthread_mutex_unlock(&r->lock);
    }
    return NULL;
}

// ------------------------------------------------------------------------------------------------------- opening

static struct perf_event_attr make_attr(const struct perf_records_options *o, bool stacks, size_t ring) {
    return (struct perf_event_attr){
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof(struct perf_event_attr),
        .config = PERF_COUNT_SW_PAGE_FAULTS,
        .sample_period = 1,
        .sample_type = perf_keeper_sample_type(stacks),
        .read_format = stacks ? 0 : PERF_FORMAT_LOST,
        .disabled = 1,
        .inherit = 1,
        .inherit_thread = o->threads_only,
        .exclude_kernel = !o->kernel,
        .exclude_hv = 1,
        .enable_on_exec = o->on_exec,
        .watermark = 1,
        .wakeup_watermark = (uint32_t)(ring / 8),
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
        .sample_regs_user = arch_perf_mask(),
        .sample_stack_user = stacks ? o->stack_bytes & ~7u : 0,
    };
}

static size_t ring_size(size_t total, size_t largest, int processors) {
    size_t size = largest;
    while (size > RING_MIN && size * (size_t)processors > total) size /= 2;
    return size;
}

struct ring_sizes {
    size_t faults, stacks; // bytes
};

// The event opened last is served first. The kernel hands what it has gathered for one event on to the next
// (since 6.2), and with it the length: served second, a fault's record would be as long as a stack's. For the same
// reason both ask for the same registers: the second record would else be written beyond its end.
static int open_keeper(struct perf_records *r, const struct perf_records_options *o, int cpu, struct ring_sizes sizes) {
    struct perf_keeper *keeper = &r->keepers[cpu];
    r->fault_attr = make_attr(o, false, sizes.faults);
    r->stack_attr = make_attr(o, true, sizes.stacks);
    if (r->stacks) {
        keeper->slot_bytes = r->stack_attr.sample_stack_user;
        int error = perf_ring_open(&keeper->stacks, &r->stack_attr, o->pid, cpu, sizes.stacks);
        if (error) return error;
    }
    return perf_ring_open(&keeper->faults, &r->fault_attr, o->pid, cpu, sizes.faults);
}

// A processor that is offline has no events and no faults.
static int open_all(struct perf_records *r, const struct perf_records_options *o, struct ring_sizes sizes) {
    int opened = 0, error = 0;
    for (int cpu = 0; cpu < r->count && error == 0; cpu++) {
        error = open_keeper(r, o, cpu, sizes);
        if (error == -ENODEV)
            error = 0;
        else
            opened += error == 0;
    }
    if (error == 0 && !opened) error = -ENODEV;
    for (int cpu = 0; cpu < r->count && error; cpu++) {
        perf_ring_close(&r->keepers[cpu].faults);
        perf_ring_close(&r->keepers[cpu].stacks);
    }
    return error;
}

// Plain users may lock little memory (kernel.perf_event_mlock_kb): as large as is allowed.
static int open_keepers(struct perf_records *r, const struct perf_records_options *o) {
    struct ring_sizes sizes = {.faults = o->ring_bytes,
                               .stacks = ring_size(STACK_RINGS_BYTES, STACK_RING_MAX, r->count)};
    if (!sizes.faults) sizes.faults = ring_size(RINGS_BYTES, RING_MAX, r->count);
    for (;;) {
        int error = open_all(r, o, sizes);
        if ((error != -EPERM && error != -ENOMEM) || sizes.faults / 2 < SMALLEST_RING) return error;
        sizes.faults /= 2;
        if (sizes.stacks / 2 >= SMALLEST_RING) sizes.stacks /= 2;
    }
}

static void control(struct perf_records *r, bool faults, bool stacks, unsigned long request) {
    for (int i = 0; i < r->count; i++) {
        if (faults && r->keepers[i].faults.fd >= 0) ioctl(r->keepers[i].faults.fd, request, 0);
        if (stacks && r->keepers[i].stacks.fd >= 0) ioctl(r->keepers[i].stacks.fd, request, 0);
    }
    for (size_t i = 0; i < r->extra_count; i++) {
        if (r->extra[i].stacks ? stacks : faults) ioctl(r->extra[i].fd, request, 0);
    }
}

static void prepare_polls(struct perf_records *r) {
    for (int i = 0; i < r->count; i++) {
        r->polls[i] = (struct pollfd){.fd = r->keepers[i].faults.fd, .events = POLLIN};
        r->polls[r->count + i] = (struct pollfd){.fd = r->keepers[i].stacks.fd, .events = POLLIN};
    }
    r->polls[r->count * (r->stacks ? 2 : 1)] = (struct pollfd){.fd = r->wake, .events = POLLIN};
}

static void destroy(struct perf_records *r) {
    for (int i = 0; r->keepers && i < r->count; i++) perf_keeper_close(&r->keepers[i]);
    for (size_t i = 0; i < r->extra_count; i++) close(r->extra[i].fd);
    if (r->wake >= 0) close(r->wake);
    pthread_mutex_destroy(&r->lock);
    pthread_cond_destroy(&r->flushed);
    free(r->extra);
    free(r->withheld);
    free(r->keepers);
    free(r->polls);
    free(r->scratch);
    free(r);
}

static struct perf_records *allocate(const struct perf_records_options *o) {
    struct perf_records *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->sink = o->sink;
    r->count = (int)sysconf(_SC_NPROCESSORS_CONF);
    r->stacks = o->stack_bytes >= 8;
    r->rate = o->stacks_per_second ? o->stacks_per_second : STACKS_A_SECOND;
    r->tokens = r->rate;
    r->filled = monotonic_ns();
    r->keepers = calloc((size_t)r->count, sizeof *r->keepers);
    for (int i = 0; r->keepers && i < r->count; i++) r->keepers[i].faults.fd = r->keepers[i].stacks.fd = -1;
    r->polls = calloc((size_t)r->count * 2 + 1, sizeof *r->polls);
    r->scratch = malloc(SCRATCH);
    r->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->flushed, NULL);
    if (r->keepers && r->polls && r->scratch && r->wake >= 0) return r;
    destroy(r);
    return NULL;
}

int perf_records_open(const struct perf_records_options *options, struct perf_records **records, char *error,
                      size_t error_size) {
    struct perf_records *r = allocate(options);
    int result = r ? open_keepers(r, options) : -ENOMEM;
    if (result == 0) {
        prepare_polls(r);
        r->producer = sink_producer_create(r->sink, "records");
        if (!options->on_exec) control(r, true, true, PERF_EVENT_IOC_ENABLE);
        result = -pthread_create(&r->thread, NULL, run, r);
        if (result) sink_producer_done(r->producer);
    }
    if (result) {
        snprintf(error, error_size, "page-fault records of process %d: %s", (int)options->pid, strerror(-result));
        if (r) destroy(r);
        return result;
    }
    *records = r;
    return 0;
}

// ------------------------------------------------------------------------------------------------------- control

// Opens an event for one more thread, which writes into a ring that is there.
static int add_event(struct perf_records *r, bool stacks, pid_t tid, int cpu, int output) {
    struct perf_event_attr attr = stacks ? r->stack_attr : r->fault_attr;
    attr.enable_on_exec = 0;
    long fd = syscall(SYS_perf_event_open, &attr, tid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return -errno;
    if (r->extra_count == r->extra_room) {
        r->extra_room = r->extra_room ? r->extra_room * 2 : 64;
        r->extra = realloc(r->extra, r->extra_room * sizeof *r->extra);
        if (!r->extra) abort();
    }
    r->extra[r->extra_count++] = (struct extra_event){(int)fd, stacks};
    if (ioctl((int)fd, PERF_EVENT_IOC_SET_OUTPUT, output) != 0) return -errno;
    return ioctl((int)fd, PERF_EVENT_IOC_ENABLE, 0) == 0 ? 0 : -errno;
}

int perf_records_add(struct perf_records *r, pid_t tid) {
    for (int cpu = 0; cpu < r->count; cpu++) {
        const struct perf_keeper *keeper = &r->keepers[cpu];
        if (keeper->faults.fd < 0) continue;
        int error = keeper->stacks.fd >= 0 ? add_event(r, true, tid, cpu, keeper->stacks.fd) : 0;
        if (error == 0) error = add_event(r, false, tid, cpu, keeper->faults.fd);
        if (error) return error;
    }
    return 0;
}

static void wake(struct perf_records *r) {
    uint64_t one = 1;
    if (write(r->wake, &one, sizeof one) < 0) return; // it is awake already
}

void perf_records_flush(struct perf_records *r) {
    pthread_mutex_lock(&r->lock);
    uint64_t mine = ++r->flush_wanted;
    wake(r);
    while (r->flush_done < mine) pthread_cond_wait(&r->flushed, &r->lock);
    pthread_mutex_unlock(&r->lock);
}

static void switch_events(struct perf_records *r, bool faults, bool on) {
    pthread_mutex_lock(&r->lock);
    r->stacks_off = !on;
    control(r, faults, true, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE);
    pthread_mutex_unlock(&r->lock);
}

void perf_records_withhold(struct perf_records *r, pid_t pid, uint64_t addr) {
    pthread_mutex_lock(&r->lock);
    struct withheld *of_pid = NULL;
    for (size_t i = 0; i < r->withheld_count; i++)
        if (r->withheld[i].pid == pid) of_pid = &r->withheld[i];
    if (!of_pid && r->withheld_count == r->withheld_room) {
        r->withheld_room = r->withheld_room * 2 + 16;
        r->withheld = realloc(r->withheld, r->withheld_room * sizeof *r->withheld);
        if (!r->withheld) abort();
    }
    if (!of_pid) of_pid = &r->withheld[r->withheld_count++];
    *of_pid = (struct withheld){pid, addr};
    pthread_mutex_unlock(&r->lock);
}

void perf_records_stacks(struct perf_records *r, bool on) { switch_events(r, false, on); }

void perf_records_enable(struct perf_records *r, bool on) { switch_events(r, true, on); }

uint64_t perf_records_written(const struct perf_records *r) {
    uint64_t bytes = 0;
    for (int i = 0; i < r->count; i++) bytes += perf_ring_head(&r->keepers[i].faults);
    return bytes / perf_keeper_fault_bytes();
}

void perf_records_counts(struct perf_records *r, struct perf_records_counts *counts) {
    *counts = (struct perf_records_counts){
        .faults = r->faults, .kernel_faults = r->kernel_faults, .stacks = r->with_stack, .lost = r->lost};
}

void perf_records_close(struct perf_records *r) {
    if (!r) return;
    perf_records_enable(r, false);
    pthread_mutex_lock(&r->lock);
    r->stop = true;
    wake(r);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    sink_producer_done(r->producer);
    destroy(r);
}
