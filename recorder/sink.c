#include "sink.h"

#include "fault_kind.h"
#include "sink_frame.h"
#include "sink_pace.h"
#include "sink_queue.h"
#include "sink_ring.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    PRODUCERS = 8,
    POOL = 32,
    PREPARED_PAGES = 1024,
    PREPARED_LATER = 2048, // once the program runs for longer:
    LATER_NS = 40000000,
    PREPARE_STEP = 64, // pages
    PAGE = 4096,
    EXECUTING = 64,
    EARLY = 256,
    QUEUE_BYTES = 32 << 20
};

struct sink_producer {
    struct sink *sink;
    const char *name;
    struct sink_queue queue; // guarded by the sink's lock
    uint64_t promise;        // ns; guarded by the sink's lock
    bool done;
};

struct preparing {
    struct sink_frame *frame; // NULL: none now
    size_t done;              // pages
    unsigned frames;          // begun
};

struct sink {
    struct vmv_writer *writer; // the older one of a ring
    struct vmv_writer *young;  // of a ring; NULL: none now
    struct ring ring;
    bool has_ring;
    _Atomic bool keep_ring;
    uint64_t start;
    pthread_t thread;
    struct sink_pace pace;      // the writer thread's alone, as is the next
    struct preparing preparing; // memory for contents to come
    pthread_mutex_t lock;
    pthread_cond_t work; // something to write, or a promise moved
    pthread_cond_t room; // contents were written
    struct sink_producer producers[PRODUCERS];
    size_t producer_count;
    bool finishing;
    size_t content_held, content_room; // bytes of frames on their way
    struct sink_frame *pool[POOL];
    size_t pool_count, pool_bytes; // of contents
    struct vmv_event early[EARLY]; // fault records of processes whose FORK has not come; the writer thread's alone
    size_t early_count;
    uint64_t homeless;            // records whose process never came
    int32_t executing[EXECUTING]; // processes inside an exec call, 0: free; the writer thread's alone
    uint64_t size_limit;          // bytes, 0: none
    _Atomic int fill;             // enum sink_fill
    uint32_t *objects;            // producer's number -> trace's number; the writer thread's alone
    size_t object_room;
};

uint64_t sink_time(const struct sink *sink, uint64_t monotonic_ns) {
    return monotonic_ns > sink->start ? monotonic_ns - sink->start : 0;
}

uint64_t sink_now(const struct sink *sink) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return sink_time(sink, (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec);
}

// ---------------------------------------------------------------------------------------------- producers' side

struct sink_producer *sink_producer_create(struct sink *sink, const char *name) {
    pthread_mutex_lock(&sink->lock);
    if (sink->producer_count == PRODUCERS) abort();
    struct sink_producer *producer = &sink->producers[sink->producer_count++];
    *producer = (struct sink_producer){.sink = sink, .name = name};
    sink_queue_init(&producer->queue);
    pthread_mutex_unlock(&sink->lock);
    return producer;
}

void sink_event(struct sink_producer *producer, const struct vmv_event *event, const struct sink_stack *stack) {
    struct sink *sink = producer->sink;
    pthread_mutex_lock(&sink->lock);
    sink_queue_event(&producer->queue, event, stack);
    if (event->t > producer->promise) producer->promise = event->t;
    pthread_mutex_unlock(&sink->lock);
}

void sink_wait_room(struct sink_producer *producer) {
    struct sink *sink = producer->sink;
    pthread_mutex_lock(&sink->lock);
    while (producer->queue.held > QUEUE_BYTES && !sink->finishing) {
        pthread_cond_signal(&sink->work);
        pthread_cond_wait(&sink->room, &sink->lock);
    }
    pthread_mutex_unlock(&sink->lock);
}

void sink_object(struct sink_producer *producer, uint32_t object, const struct vmv_object_identity *identity, int fd) {
    struct sink *sink = producer->sink;
    pthread_mutex_lock(&sink->lock);
    sink_queue_object(&producer->queue, producer->promise, object, identity, fd);
    pthread_mutex_unlock(&sink->lock);
}

void sink_frame_submit(struct sink_producer *producer, struct sink_frame *frame) {
    struct sink *sink = producer->sink;
    pthread_mutex_lock(&sink->lock);
    sink_queue_frame(&producer->queue, frame);
    if (frame->event.t > producer->promise) producer->promise = frame->event.t;
    pthread_mutex_unlock(&sink->lock);
}

void sink_advance(struct sink_producer *producer, uint64_t t) {
    struct sink *sink = producer->sink;
    pthread_mutex_lock(&sink->lock);
    if (t > producer->promise) producer->promise = t;
    pthread_cond_signal(&sink->work);
    pthread_mutex_unlock(&sink->lock);
}

void sink_producer_done(struct sink_producer *producer) {
    pthread_mutex_lock(&producer->sink->lock);
    producer->done = true;
    pthread_cond_signal(&producer->sink->work);
    pthread_mutex_unlock(&producer->sink->lock);
}

// ---------------------------------------------------------------------------------------------- frames

struct sink_frame *sink_frame_create(struct sink *sink) {
    pthread_mutex_lock(&sink->lock);
    struct sink_frame *frame = sink->pool_count ? sink->pool[--sink->pool_count] : NULL;
    if (frame) sink->pool_bytes -= frame->copy.room * 4096;
    pthread_mutex_unlock(&sink->lock);
    if (!frame) frame = calloc(1, sizeof *frame);
    if (!frame) abort();
    frame->thread_count = frame->run_count = frame->reserved = 0;
    frame->copy.pages = frame->copy.failed = frame->torn.count = frame->resident.count = 0;
    frame->has_resident = false;
    vmv_arena_reset(&frame->arena);
    return frame;
}

static void *grow(void *array, size_t count, size_t *room, size_t size) {
    if (count < *room) return array;
    *room = *room * 2 + 32;
    array = realloc(array, *room * size);
    if (!array) abort();
    return array;
}

void sink_frame_add_run(struct sink_frame *frame, const struct vmv_event *run) {
    frame->runs = grow(frame->runs, frame->run_count, &frame->run_room, sizeof *frame->runs);
    frame->runs[frame->run_count++] = *run;
}

struct sink_thread *sink_frame_add_thread(struct sink_frame *frame) {
    frame->threads = grow(frame->threads, frame->thread_count, &frame->thread_room, sizeof *frame->threads);
    struct sink_thread *thread = &frame->threads[frame->thread_count++];
    memset(thread, 0, sizeof *thread);
    return thread;
}

// Memory that was used before costs the waiting program nothing: the smallest in the pool that is large enough.
static void take_room(struct sink *sink, struct sink_frame *frame, size_t pages) {
    struct sink_frame *best = NULL;
    for (size_t i = 0; i < sink->pool_count && frame->copy.room < pages; i++) {
        struct sink_frame *other = sink->pool[i];
        if (other->copy.room >= pages && (!best || other->copy.room < best->copy.room)) best = other;
    }
    if (!best) return;
    struct track_copy copy = frame->copy;
    sink->pool_bytes -= (best->copy.room - copy.room) * 4096;
    frame->copy = best->copy;
    best->copy = copy;
}

size_t sink_frame_reserve(struct sink *sink, struct sink_frame *frame, size_t bytes, bool wait) {
    // Who waits anyway waits early: what is on its way is lost should the recorder be killed.
    size_t room = wait ? sink->content_room / 4 : sink->content_room;
    pthread_mutex_lock(&sink->lock);
    while (wait && sink->content_held && sink->content_held + bytes > room && !vmv_writer_trouble(sink->writer)) {
        pthread_cond_signal(&sink->work);
        pthread_cond_wait(&sink->room, &sink->lock);
    }
    size_t left = room > sink->content_held ? room - sink->content_held : 0;
    if (!wait && bytes > left) bytes = left;
    sink->content_held += bytes;
    frame->reserved += bytes;
    take_room(sink, frame, bytes / 4096);
    pthread_mutex_unlock(&sink->lock);
    return bytes;
}

static void frame_free(struct sink_frame *frame) {
    if (!frame) return;
    free(frame->threads);
    free(frame->runs);
    track_copy_free(&frame->copy);
    track_runs_free(&frame->torn);
    track_runs_free(&frame->resident);
    vmv_arena_free(&frame->arena);
    free(frame);
}

static void frame_release(struct sink *sink, struct sink_frame *frame) {
    pthread_mutex_lock(&sink->lock);
    sink->content_held -= frame->reserved;
    size_t bytes = frame->copy.room * 4096;
    // What is kept for reuse and what is on its way take no more together than what may be on its way.
    bool keep = sink->pool_count < POOL && sink->content_held + sink->pool_bytes + bytes <= sink->content_room;
    if (keep) sink->pool[sink->pool_count++] = frame, sink->pool_bytes += bytes;
    pthread_cond_broadcast(&sink->room);
    pthread_mutex_unlock(&sink->lock);
    if (!keep) frame_free(frame);
}

// ---------------------------------------------------------------------------------------------- writer's side

static void emit(struct sink *sink, const struct vmv_event *event) {
    vmv_writer_event(sink->writer, event);
    if (sink->young) vmv_writer_event(sink->young, event);
}

static void emit_with_stack(struct vmv_writer *writer, struct vmv_event *event, const struct sink_stack *stack) {
    event->stack = vmv_writer_stack(writer, stack->regs, stack->regs_length, stack->sp, stack->bytes, stack->length);
    vmv_writer_event(writer, event);
}

static void map_objects(struct sink *sink, struct vmv_event *event) {
    if (event->object && event->object < sink->object_room) event->object = sink->objects[event->object];
    struct vmv_mapping *maps = (struct vmv_mapping *)event->maps; // the queue's own copy
    for (size_t i = 0; i < event->map_count; i++)
        if (maps[i].object && maps[i].object < sink->object_room) maps[i].object = sink->objects[maps[i].object];
}

static int32_t *find_executing(struct sink *sink, int32_t pid) {
    for (size_t i = 0; i < EXECUTING; i++)
        if (sink->executing[i] == pid) return &sink->executing[i];
    return NULL;
}

// Between the entry of an exec call and the stop that tells of its success the kernel already fills the new address
// space: its faults are not those of the old one. What they brought in is in the frame taken at that stop. A fault of
// user code says that the call has failed.
static bool belongs_to_new_program(struct sink *sink, const struct vmv_event *fault) {
    int32_t *executing = find_executing(sink, fault->pid);
    if (!executing) return false;
    if (!fault->kernel) *executing = 0;
    return fault->kernel;
}

static void note_executing(struct sink *sink, const struct vmv_event *event) {
    int32_t *executing = find_executing(sink, event->pid);
    if (event->type == VMV_EV_NONE && !executing && (executing = find_executing(sink, 0))) *executing = event->pid;
    bool over = event->type == VMV_EV_EXEC || event->type == VMV_EV_EXIT;
    if (over && executing) *executing = 0;
}

// A child may fault before its parent's stop tells of it.
static void keep_early(struct sink *sink, const struct vmv_event *fault) {
    if (sink->early_count == EARLY) {
        memmove(sink->early, sink->early + 1, (EARLY - 1) * sizeof *sink->early);
        sink->early_count--;
        sink->homeless++;
    }
    sink->early[sink->early_count++] = *fault;
}

// A fault record knows process and thread; the space is the one the process had at that moment.
static bool settle_fault(struct sink *sink, struct vmv_event *event) {
    const struct vmv_world *world = vmv_writer_world(sink->writer);
    if (belongs_to_new_program(sink, event)) return false;
    if (!event->space) {
        const struct vmv_process *process = vmv_world_process(world, event->pid);
        if (!process || !process->space) {
            keep_early(sink, event);
            return false;
        }
        event->space = process->space;
    }
    const struct vmv_space *space = vmv_world_space(world, event->space);
    if (!space) return false;
    fault_kind_settle(space, event);
    return true;
}

static bool settle_watch(struct sink *sink, struct vmv_event *event) {
    const struct vmv_process *process = vmv_world_process(vmv_writer_world(sink->writer), event->pid);
    if (process) event->space = process->space;
    return process && process->space;
}

static void write_early(struct sink *sink, const struct vmv_event *fork) {
    size_t kept = 0, count = sink->early_count;
    for (size_t i = 0; i < count; i++) {
        struct vmv_event fault = sink->early[i];
        if (fault.pid != fork->child) {
            sink->early[kept++] = fault;
            continue;
        }
        fault.t = fork->t;
        if (settle_fault(sink, &fault)) emit(sink, &fault);
    }
    sink->early_count = kept;
}

static void write_event(struct sink *sink, struct sink_item *item) {
    struct vmv_event *event = &item->event;
    map_objects(sink, event);
    note_executing(sink, event);
    if (event->type == VMV_EV_NONE) return;
    if (event->type == VMV_EV_FAULT && !settle_fault(sink, event)) return;
    if (event->type == VMV_EV_WATCH && !settle_watch(sink, event)) return;
    if (item->has_stack) {
        emit_with_stack(sink->writer, event, &item->stack);
        if (sink->young) emit_with_stack(sink->young, event, &item->stack);
    } else {
        emit(sink, event);
    }
    if (event->type == VMV_EV_FORK && sink->early_count) write_early(sink, event);
}

static void write_object(struct sink *sink, struct sink_item *item) {
    uint32_t number = item->event.object;
    if (number >= sink->object_room) {
        size_t room = number + 64;
        sink->objects = realloc(sink->objects, room * sizeof *sink->objects);
        if (!sink->objects) abort();
        memset(sink->objects + sink->object_room, 0, (room - sink->object_room) * sizeof *sink->objects);
        sink->object_room = room;
    }
    int copy = sink->young && item->fd >= 0 ? fcntl(item->fd, F_DUPFD_CLOEXEC, 3) : -1;
    if (sink->has_ring) ring_keep_object(&sink->ring, &item->identity, item->fd);
    if (sink->young) vmv_writer_object(sink->young, &item->identity, copy); // in the same order: the same number
    sink->objects[number] = vmv_writer_object(sink->writer, &item->identity, item->fd);
}

// ---------------------------------------------------------------------------------------------- the size limit

enum sink_fill sink_fill(const struct sink *sink) { return (enum sink_fill)sink->fill; }

static void tell_fill(struct sink *sink, enum vmv_event_type type, uint64_t t, uint64_t to, const char *text) {
    struct vmv_event event = {.type = type, .t = t, .to = to, .name = text};
    vmv_writer_event(sink->writer, &event);
}

// The last tenth is kept for what closes the trace.
// coming: bytes that are about to be written, at most.
static void look_at_size(struct sink *sink, uint64_t t, uint64_t coming) {
    uint64_t bytes = vmv_writer_bytes_due(sink->writer), limit = sink->size_limit;
    if (sink->fill == SINK_TAKES_ALL && bytes + coming > limit / 10 * 7) {
        sink->fill = SINK_TAKES_NO_CONTENTS;
        vmv_writer_give_up_objects(sink->writer);
        tell_fill(sink, VMV_EV_GOVERNOR, t, 0, "the trace is near --max-size: contents are left out from here on");
    }
    if (sink->fill == SINK_TAKES_NO_CONTENTS && bytes > limit / 10 * 9) {
        sink->fill = SINK_FULL;
        tell_fill(sink, VMV_EV_GAP, t, INT64_MAX, "--max-size is reached: nothing is recorded from here on");
    }
}

static bool is_an_end(const struct sink_item *item) {
    return item->kind == SINK_ITEM_EVENT && (item->event.type == VMV_EV_EXIT || item->event.type == VMV_EV_THREAD_EXIT);
}

static uint64_t item_time(const struct sink_item *item) {
    return item->kind == SINK_ITEM_FRAME ? item->frame->event.t : item->event.t;
}

// False: the item is not to be written. What it holds is given back.
static bool keep_within_size(struct sink *sink, struct sink_item *item) {
    if (!sink->size_limit) return true;
    bool frame = item->kind == SINK_ITEM_FRAME, object = item->kind == SINK_ITEM_OBJECT;
    look_at_size(sink, item_time(item), frame ? item->frame->copy.pages * 4096 : 0);
    if (sink->fill != SINK_TAKES_ALL && frame) sink_frame_drop_contents(item->frame);
    if (sink->fill != SINK_TAKES_ALL && object && item->fd >= 0) {
        close(item->fd);
        item->fd = -1;
    }
    if (sink->fill != SINK_FULL || is_an_end(item)) return true;
    if (frame) frame_release(sink, item->frame);
    return false;
}

// Should the recorder be killed while it packs many contents, the events before them are in the file.
static void close_before_long(struct sink *sink, const struct sink_frame *frame) {
    enum { LONG_PAGES = 2048 };
    if (frame->copy.pages < LONG_PAGES) return;
    vmv_writer_flush(sink->writer);
    if (sink->young) vmv_writer_flush(sink->young);
}

static void write_item(struct sink *sink, struct sink_item *item) {
    if (!keep_within_size(sink, item)) return;
    switch (item->kind) {
    case SINK_ITEM_EVENT:
        write_event(sink, item);
        break;
    case SINK_ITEM_OBJECT:
        write_object(sink, item);
        break;
    case SINK_ITEM_FRAME:
        close_before_long(sink, item->frame);
        sink_frame_write(sink->writer, item->frame);
        if (sink->young) sink_frame_write(sink->young, item->frame);
        frame_release(sink, item->frame);
        break;
    }
}

// Everything before this moment is known: no producer can still bring an earlier event.
static uint64_t known_until(const struct sink *sink) {
    uint64_t until = UINT64_MAX;
    for (size_t i = 0; i < sink->producer_count; i++)
        if (!sink->producers[i].done && sink->producers[i].promise < until) until = sink->producers[i].promise;
    return sink->producer_count || sink->finishing ? until : 0;
}

static bool all_done(const struct sink *sink) {
    for (size_t i = 0; i < sink->producer_count; i++)
        if (!sink->producers[i].done) return false;
    return sink->finishing;
}

// The producer with the earliest waiting item; NULL if that is not yet due.
static struct sink_producer *earliest(struct sink *sink, uint64_t until) {
    struct sink_producer *best = NULL;
    uint64_t best_t = 0;
    for (size_t i = 0; i < sink->producer_count; i++) {
        uint64_t t;
        if (!sink_queue_peek(&sink->producers[i].queue, &t) || (best && t >= best_t)) continue;
        best = &sink->producers[i];
        best_t = t;
    }
    return best && best_t <= until ? best : NULL;
}

static void turn_ring(struct sink *sink, uint64_t now) {
    struct vmv_writer *writers[2];
    if (sink->keep_ring) {
        ring_keep(&sink->ring, now, writers);
    } else {
        ring_turn(&sink->ring, now, writers);
    }
    sink->keep_ring = false;
    sink->writer = writers[0];
    sink->young = writers[1];
}

// waiting: ns, the time of the earliest event that waits, UINT64_MAX: none.
static void set_pace(struct sink *sink, uint64_t waiting) {
    uint64_t oldest = vmv_writer_open_since(sink->writer), now = sink_now(sink);
    if (waiting < oldest) oldest = waiting;
    pace_set(&sink->pace, oldest < now ? now - oldest : 0);
}

// Writes all that is due. Called with the lock held; gives it up while writing.
static void write_due(struct sink *sink) {
    for (struct sink_producer *producer; (producer = earliest(sink, known_until(sink)));) {
        struct sink_item item;
        sink_queue_take(&producer->queue, &item);
        pthread_mutex_unlock(&sink->lock);
        set_pace(sink, item_time(&item));
        write_item(sink, &item);
        if (sink->has_ring) turn_ring(sink, sink_now(sink)); // also while there is always more to write
        pthread_mutex_lock(&sink->lock);
        sink_queue_release(&producer->queue);
        pthread_cond_broadcast(&sink->room);
    }
}

static void wait_for_work(struct sink *sink) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 25000000; // a chunk is closed when it is due, also where nothing happens
    if (until.tv_nsec >= 1000000000) until.tv_nsec -= 1000000000, until.tv_sec++;
    pthread_cond_timedwait(&sink->work, &sink->lock, &until);
}

static bool embed_some(struct sink *sink, uint64_t now) {
    if (sink->size_limit) look_at_size(sink, now, 0);
    bool more = vmv_writer_idle(sink->writer);
    return (sink->young && vmv_writer_idle(sink->young)) || more;
}

void sink_set_ring(struct sink *sink, const struct sink_ring *options) {
    pthread_mutex_lock(&sink->lock);
    ring_init(&sink->ring, options, sink->writer);
    sink->has_ring = true;
    pthread_mutex_unlock(&sink->lock);
}

void sink_keep_ring(struct sink *sink) { sink->keep_ring = true; }

// The memory of the first large frames is made ready in small steps, so that no held program waits for that, and our
// own threads wait for their memory only shortly. False: nothing is left to do now.
static bool prepare_some(struct sink *sink, uint64_t now) {
    struct preparing *preparing = &sink->preparing;
    if (!preparing->frame) {
        static const size_t pages[] = {PREPARED_PAGES, PREPARED_LATER};
        if (preparing->frames == 2 || (preparing->frames && now < LATER_NS)) return false;
        preparing->frame = calloc(1, sizeof *preparing->frame);
        if (!preparing->frame) abort();
        track_copy_room(&preparing->frame->copy, pages[preparing->frames++]);
        preparing->done = 0;
    }
    struct track_copy *copy = &preparing->frame->copy;
    size_t left = copy->room - preparing->done, step = left < PREPARE_STEP ? left : PREPARE_STEP;
    uint8_t *at = copy->bytes + preparing->done * PAGE;
    if (madvise(at, step * PAGE, MADV_POPULATE_WRITE) != 0) memset(at, 0, step * PAGE);
    preparing->done += step;
    if (preparing->done < copy->room) return true;
    frame_release(sink, preparing->frame);
    preparing->frame = NULL;
    return true;
}

static void *writer_thread(void *argument) {
    struct sink *sink = argument;
    pace_begin(&sink->pace);
    pthread_mutex_lock(&sink->lock);
    while (!all_done(sink)) {
        write_due(sink);
        uint64_t now = sink_now(sink);
        pthread_mutex_unlock(&sink->lock);
        if (sink->has_ring) turn_ring(sink, now);
        vmv_writer_tick(sink->writer, now);
        if (sink->young) vmv_writer_tick(sink->young, now);
        bool preparing = prepare_some(sink, now), more = embed_some(sink, now) || preparing;
        set_pace(sink, UINT64_MAX);
        pthread_mutex_lock(&sink->lock);
        if (!more && !all_done(sink)) wait_for_work(sink);
    }
    write_due(sink);
    pthread_mutex_unlock(&sink->lock);
    if (sink->preparing.frame) frame_release(sink, sink->preparing.frame);
    return NULL;
}

struct sink *sink_create(struct vmv_writer *writer, uint64_t start_monotonic_ns, size_t content_room,
                         uint64_t size_limit) {
    struct sink *sink = calloc(1, sizeof *sink);
    if (!sink) abort();
    sink->writer = writer;
    sink->start = start_monotonic_ns;
    sink->content_room = content_room;
    sink->size_limit = size_limit;
    pthread_mutex_init(&sink->lock, NULL);
    pthread_cond_init(&sink->work, NULL);
    pthread_cond_init(&sink->room, NULL);
    if (pthread_create(&sink->thread, NULL, writer_thread, sink) != 0) abort();
    return sink;
}

bool sink_finish(struct sink *sink, struct vmv_end *end, char *trouble, size_t trouble_size) {
    pthread_mutex_lock(&sink->lock);
    sink->finishing = true;
    pthread_cond_signal(&sink->work);
    pthread_mutex_unlock(&sink->lock);
    pthread_join(sink->thread, NULL);
    while (sink->size_limit && embed_some(sink, end->duration_ns)) continue;
    vmv_writer_complete(sink->writer, end);
    if (vmv_writer_trouble(sink->writer)) snprintf(trouble, trouble_size, "%s", vmv_writer_trouble(sink->writer));
    bool complete = vmv_writer_finish(sink->writer, end);
    if (sink->has_ring) ring_free(&sink->ring);
    for (size_t i = 0; i < sink->producer_count; i++) sink_queue_free(&sink->producers[i].queue);
    for (size_t i = 0; i < sink->pool_count; i++) frame_free(sink->pool[i]);
    free(sink->objects);
    free(sink);
    return complete;
}
