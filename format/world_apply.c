// What events do to processes, threads and address spaces as a whole.
#include "world_private.h"

#include <stdio.h>
#include <string.h>

#include "linux_abi.h"

enum { GONE_KEPT_NS = 1000000000 };

// --- spaces and who uses them

static struct vmv_space *space_get(struct vmv_world *world, uint32_t id, int32_t pid) {
    struct vmv_space *space = vmv_world_space(world, id);
    if (space || !id) return space;
    space = vmv_space_create_in(id, pid, world->page_size, world->strings, world->hidden->pool);
    return vmv_world_add_space(world, space);
}

static void space_leave(struct vmv_world *world, struct vmv_process *process) {
    struct vmv_space *space = vmv_world_space(world, process->space);
    process->space = 0;
    if (space && space->users && !--space->users) vmv_space_clear(space);
}

static void space_enter(struct vmv_world *world, struct vmv_process *process, uint32_t id) {
    if (!id || process->space == id) return;
    space_leave(world, process);
    struct vmv_space *space = space_get(world, id, process->pid);
    if (!space) return;
    space->users++;
    process->space = process->last_space = id;
}

static struct vmv_space *space_copied(struct vmv_world *world, uint32_t from, uint32_t id, int32_t pid) {
    struct vmv_space *space = vmv_world_space(world, id), *origin = vmv_world_space(world, from);
    if (space || !id) return space;
    if (!origin) return space_get(world, id, pid);
    return vmv_world_add_space(world, vmv_space_copy(origin, id, pid));
}

// --- processes and threads

static struct vmv_process *live_process(struct vmv_world *world, int32_t pid, uint64_t t) {
    struct vmv_process *process = vmv_world_process(world, pid);
    if (process && !process->ended) return process;
    process = vmv_world_add_process(world, pid);
    if (process) process->started = t;
    return process;
}

static void thread_name(struct vmv_thread *thread, const char *name) {
    if (name) snprintf(thread->name, sizeof thread->name, "%s", name);
}

static void thread_gone(struct vmv_world *world, struct vmv_thread *thread, uint64_t t, int32_t code) {
    if (thread->state == VMV_THREAD_GONE) return;
    thread->state = VMV_THREAD_GONE;
    thread->ended = t ? t : 1;
    thread->exit_code = code;
    if (!world->hidden->oldest_gone) world->hidden->oldest_gone = thread->ended;
}

static struct vmv_thread *live_thread(struct vmv_world *world, const struct vmv_event *event, int32_t pid,
                                      int32_t tid) {
    struct vmv_thread *thread = vmv_world_thread(world, tid);
    if (thread && thread->state != VMV_THREAD_GONE && thread->pid == pid) return thread;
    if (thread) thread_gone(world, thread, event->t, 0); // its number is another's now: its end was not seen
    thread = vmv_world_add_thread(world, tid);
    if (!thread) return NULL;
    thread->pid = pid;
    thread->space = event->space;
    thread->state = VMV_THREAD_RUNNING;
    thread->started = event->t;
    return thread;
}

static bool long_gone(const struct vmv_thread *thread, uint64_t t) {
    return thread->state == VMV_THREAD_GONE && thread->ended + GONE_KEPT_NS <= t;
}

// Threads that are gone for long leave the list, many at a time.
static void forget_gone(struct vmv_world *world, uint64_t t) {
    struct vmv_world_private *hidden = world->hidden;
    if (!hidden->oldest_gone || hidden->oldest_gone + 2 * (uint64_t)GONE_KEPT_NS > t) return;
    size_t kept = 0;
    hidden->oldest_gone = 0;
    vmv_places_clear(&hidden->threads);
    for (size_t i = 0; i < world->thread_count; i++) {
        struct vmv_thread *thread = &world->threads[i];
        if (long_gone(thread, t)) continue;
        bool older = thread->ended && (!hidden->oldest_gone || thread->ended < hidden->oldest_gone);
        if (thread->state == VMV_THREAD_GONE && older) hidden->oldest_gone = thread->ended;
        vmv_places_put(&hidden->threads, (uint32_t)thread->tid, kept);
        world->threads[kept++] = *thread;
    }
    world->thread_count = kept;
}

static void threads_of_process_gone(struct vmv_world *world, int32_t pid, int32_t but_tid, uint64_t t, int32_t code) {
    for (size_t i = 0; i < world->thread_count; i++) {
        struct vmv_thread *thread = &world->threads[i];
        if (thread->pid == pid && thread->tid != but_tid) thread_gone(world, thread, t, code);
    }
}

// --- events

static void apply_fork(struct vmv_world *world, const struct vmv_event *event) {
    struct vmv_process *child = live_process(world, event->child, event->t);
    struct vmv_process *parent = vmv_world_process(world, event->pid);
    const struct vmv_thread *forking = vmv_world_thread(world, event->tid);
    char name[sizeof forking->name] = "";
    if (forking) memcpy(name, forking->name, sizeof name);
    if (!child) return;
    child->parent = event->pid;
    if (parent && !child->path[0]) child->path = parent->path;
    space_copied(world, event->space, event->child_space, event->child);
    space_enter(world, child, event->child_space);
    struct vmv_thread *thread = live_thread(world, event, event->child, event->child);
    if (!thread) return;
    thread->space = event->child_space;
    if (!thread->name[0]) thread_name(thread, name);
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// The thread that calls exec becomes the process's first; the others end.
static void apply_exec(struct vmv_world *world, const struct vmv_event *event) {
    struct vmv_process *process = live_process(world, event->pid, event->t);
    if (!process) return;
    threads_of_process_gone(world, event->pid, event->pid, event->t, 0);
    struct vmv_space *space = vmv_world_space(world, event->space);
    if (space) vmv_space_clear(space);
    space_enter(world, process, event->space);
    if (event->name) process->path = vmv_strings_intern(world->strings, event->name);
    struct vmv_thread *thread = live_thread(world, event, event->pid, event->pid);
    if (!thread) return;
    uint64_t started = thread->started, run_ns = thread->run_ns;
    *thread = (struct vmv_thread){.pid = event->pid,
                                  .tid = event->pid,
                                  .space = event->space,
                                  .syscall = -1,
                                  .state = VMV_THREAD_RUNNING,
                                  .started = started,
                                  .run_ns = run_ns};
    thread_name(thread, last_part(process->path));
}

static void apply_space(struct vmv_world *world, const struct vmv_event *event) {
    struct vmv_process *process = live_process(world, event->pid, event->t);
    if (!process) return;
    if (event->name) process->path = vmv_strings_intern(world->strings, event->name);
    space_copied(world, event->child_space, event->space, event->pid);
    space_enter(world, process, event->space);
    struct vmv_thread *thread = event->tid ? live_thread(world, event, event->pid, event->tid) : NULL;
    if (!thread) return;
    thread->space = event->space;
    if (!thread->name[0]) thread_name(thread, last_part(process->path));
}

static void apply_thread_start(struct vmv_world *world, const struct vmv_event *event) {
    struct vmv_thread *thread = live_thread(world, event, event->pid, event->tid);
    if (!thread) return;
    if (event->space) thread->space = event->space;
    const struct vmv_thread *first = vmv_world_thread(world, event->pid);
    thread_name(thread, event->name ? event->name : !thread->name[0] && first && first != thread ? first->name : NULL);
}

static void apply_thread_exit(struct vmv_world *world, const struct vmv_event *event) {
    struct vmv_thread *thread = vmv_world_thread(world, event->tid);
    if (thread) thread_gone(world, thread, event->t, event->code);
}

static void apply_exit(struct vmv_world *world, const struct vmv_event *event) {
    struct vmv_process *process = vmv_world_process(world, event->pid);
    if (!process || process->ended) return;
    threads_of_process_gone(world, event->pid, 0, event->t, event->code);
    process->ended = event->t ? event->t : 1;
    process->killed = event->flag;
    process->exit_code = event->code;
    space_leave(world, process);
}

static void apply_thread(struct vmv_world *world, const struct vmv_event *event) {
    if (event->state == VMV_THREAD_GONE) return apply_thread_exit(world, event);
    struct vmv_thread *thread = live_thread(world, event, event->pid, event->tid);
    if (!thread) return;
    if (event->space) thread->space = event->space;
    thread->state = event->state <= VMV_THREAD_STOPPED ? event->state : VMV_THREAD_RUNNING;
    thread_name(thread, event->name);
    thread->syscall = event->syscall;
    thread->pc = event->pc;
    thread->sp = event->sp;
    thread->fp = event->fp;
    thread->regs = event->regs;
    thread->captured = event->t;
    thread->certainty = event->certainty <= VMV_CERT_PARTIAL ? event->certainty : VMV_CERT_UNKNOWN;
    thread->run_ns += event->run_ns;
}

// A file's pages go in every space that maps it.
static void apply_everywhere(struct vmv_world *world, const struct vmv_event *event) {
    struct vmv_event here = *event;
    for (size_t i = 0; i < world->space_count; i++) {
        here.space = world->spaces[i]->id;
        vmv_space_apply(world->spaces[i], &here);
    }
}

static void apply_remove(struct vmv_world *world, struct vmv_space *space, const struct vmv_event *event) {
    uint64_t start, end;
    if (event->ret < 0 || !vmv_space_clip(space, event->addr, event->len, &start, &end)) return;
    for (size_t i = vmv_space_lower_bound(space, start); i < space->map_count && space->maps[i].start < end; i++) {
        struct vmv_mapping part = vmv_mapping_cut(&space->maps[i], start, end);
        if (!(part.flags & VMV_MAP_SHARED)) continue;
        apply_everywhere(world, &(struct vmv_event){.t = event->t,
                                                    .type = VMV_EV_PUNCH,
                                                    .addr = part.offset,
                                                    .len = part.end - part.start,
                                                    .inode = part.inode,
                                                    .dev_major = part.dev_major,
                                                    .dev_minor = part.dev_minor});
    }
}

static void apply_to_space(struct vmv_world *world, const struct vmv_event *event) {
    if (event->type == VMV_EV_PUNCH || event->type == VMV_EV_TRUNCATE) return apply_everywhere(world, event);
    struct vmv_space *space = vmv_world_space(world, event->space);
    // Where the chunk that told of a space was damaged, its mappings tell of it again.
    if (!space && event->type == VMV_EV_MAPS) space = space_get(world, event->space, event->pid);
    if (!space) return;
    if (event->type == VMV_EV_MADVISE && event->prot == ABI_MADV_REMOVE) return apply_remove(world, space, event);
    vmv_space_apply(space, event);
}

void vmv_world_apply(struct vmv_world *world, const struct vmv_event *event) {
    if (event->t > world->t) world->t = event->t;
    world->seq = (event->seq > world->seq ? event->seq : world->seq) + 1;
    if ((unsigned)event->type < VMV_EV_TYPE_COUNT) world->events[event->type]++;
    switch (event->type) {
    case VMV_EV_FORK:
        apply_fork(world, event);
        break;
    case VMV_EV_EXEC:
        apply_exec(world, event);
        break;
    case VMV_EV_SPACE:
        apply_space(world, event);
        break;
    case VMV_EV_THREAD_START:
        apply_thread_start(world, event);
        break;
    case VMV_EV_THREAD_EXIT:
        apply_thread_exit(world, event);
        break;
    case VMV_EV_EXIT:
        apply_exit(world, event);
        break;
    case VMV_EV_THREAD:
        apply_thread(world, event);
        break;
    case VMV_EV_FRAME:
        world->frames++;
        apply_to_space(world, event);
        break;
    default:
        return apply_to_space(world, event);
    }
    forget_gone(world, event->t);
}
