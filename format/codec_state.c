// A world as bytes (docs/FORMAT-encodings.md, STATE).
#include "codec.h"

#include <string.h>

#include "codec_private.h"
#include "world_private.h"

enum { STATE_VERSION = 1 };
#define PAGE_NUMBER_LIMIT(space) ((UINT64_C(1) << 56) >> (space)->page_shift)

// --- mappings and pages of a space

static const struct vmv_space *base_of(const struct vmv_world *world, const struct vmv_space *space) {
    if (!space->copied_from || space->copied_from >= space->id) return NULL; // bases are written before
    return vmv_world_space(world, space->copied_from);
}

static void out_space(struct vmv_out *out, const struct vmv_world *world, const struct vmv_space *space) {
    const struct vmv_ranges *advice = &space->hidden->fork_advice;
    const struct vmv_space *base = base_of(world, space);
    vmv_out_varint(out, space->id);
    vmv_out_zigzag(out, space->pid);
    vmv_out_varint(out, space->copied_from);
    vmv_out_varint(out, space->brk);
    vmv_out_varint(out, space->last_frame);
    vmv_out_varint(out, space->last_frame_t);
    vmv_out_varint(out, space->changes);
    vmv_out_mappings(out, space->maps, space->map_count, 0);
    vmv_out_varint(out, advice->count);
    for (size_t i = 0; i < advice->count; i++) {
        vmv_out_varint(out, advice->list[i].start);
        vmv_out_varint(out, advice->list[i].end - advice->list[i].start);
        vmv_out_varint(out, advice->list[i].bits);
    }
    vmv_out_pages(out, space->pages, base ? base->pages : NULL);
}

static bool mapping_sound(const struct vmv_space *space, const struct vmv_mapping *map, uint64_t above) {
    uint64_t mask = space->page_size - 1;
    return map->start >= above && map->start < map->end && map->end <= ~mask && !((map->start | map->end) & mask);
}

static bool in_maps(struct vmv_in *in, struct vmv_arena *arena, struct vmv_space *space) {
    size_t count;
    struct vmv_mapping *maps = vmv_in_mappings(in, arena, &count, 0);
    if (in->bad) return false;
    for (size_t i = 0; i < count; i++) {
        if (!mapping_sound(space, &maps[i], i ? maps[i - 1].end : 0)) return false;
        maps[i].name = vmv_space_intern(space, maps[i].name);
    }
    struct vmv_edit edit = vmv_edit_begin(space, 0, 0);
    for (size_t i = 0; i < count; i++) vmv_edit_push(&edit, maps[i]);
    vmv_edit_done(&edit);
    return true;
}

static bool in_advice(struct vmv_in *in, struct vmv_space *space) {
    uint64_t count = vmv_in_varint(in), above = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t start = vmv_in_varint(in), length = vmv_in_varint(in), bits = vmv_in_varint(in);
        if (in->bad || start < above || !length || length > UINT64_MAX - start || bits > 3) return false;
        above = start + length;
        vmv_ranges_append(&space->hidden->fork_advice, start, above, (unsigned)bits);
    }
    return !in->bad;
}

static bool in_space(struct vmv_in *in, struct vmv_arena *arena, struct vmv_world *world) {
    uint64_t id = vmv_in_varint(in);
    int64_t pid = vmv_in_zigzag(in);
    uint64_t before = world->space_count ? world->spaces[world->space_count - 1]->id : 0;
    if (in->bad || id <= before || id > UINT32_MAX) return false;
    struct vmv_space *space =
        vmv_space_create_in((uint32_t)id, (int32_t)pid, world->page_size, world->strings, world->hidden->pool);
    space = vmv_world_add_space(world, space);
    if (!space) return false;
    space->copied_from = (uint32_t)vmv_in_varint(in);
    space->brk = vmv_in_varint(in);
    space->last_frame = vmv_in_varint(in);
    space->last_frame_t = vmv_in_varint(in);
    uint64_t changes = vmv_in_varint(in);
    const struct vmv_space *base = base_of(world, space);
    bool sound = in_maps(in, arena, space) && in_advice(in, space) &&
                 vmv_in_pages(in, space->pages, base ? base->pages : NULL, PAGE_NUMBER_LIMIT(space));
    space->changes = changes;
    vmv_space_recount(space);
    return sound;
}

// --- processes and threads

static void out_process(struct vmv_out *out, const struct vmv_process *process) {
    vmv_out_zigzag(out, process->pid);
    vmv_out_zigzag(out, process->parent);
    vmv_out_varint(out, process->space);
    vmv_out_varint(out, process->last_space);
    vmv_out_varint(out, process->started);
    vmv_out_varint(out, process->ended);
    vmv_out_u8(out, process->killed);
    vmv_out_zigzag(out, process->exit_code);
    vmv_out_string(out, process->path);
}

static bool in_process(struct vmv_in *in, struct vmv_world *world) {
    struct vmv_process *process = vmv_world_add_process(world, (int32_t)vmv_in_zigzag(in));
    if (!process) return false;
    process->parent = (int32_t)vmv_in_zigzag(in);
    process->space = (uint32_t)vmv_in_varint(in);
    process->last_space = (uint32_t)vmv_in_varint(in);
    process->started = vmv_in_varint(in);
    process->ended = vmv_in_varint(in);
    process->killed = vmv_in_u8(in) != 0;
    process->exit_code = (int32_t)vmv_in_zigzag(in);
    size_t length;
    const char *path = vmv_in_string(in, &length);
    if (in->bad) return false;
    process->path = vmv_strings_intern_bytes(world->strings, path, length);
    struct vmv_space *space = vmv_world_space(world, process->space);
    if (process->space && !space) return false;
    if (space) space->users++;
    return true;
}

static void out_thread(struct vmv_out *out, const struct vmv_thread *thread) {
    vmv_out_zigzag(out, thread->pid);
    vmv_out_zigzag(out, thread->tid);
    vmv_out_varint(out, thread->space);
    vmv_out_u8(out, thread->state);
    vmv_out_u8(out, thread->certainty);
    vmv_out_zigzag(out, thread->syscall);
    vmv_out_varint(out, thread->pc);
    vmv_out_varint(out, thread->sp);
    vmv_out_varint(out, thread->fp);
    vmv_out_varint(out, thread->regs);
    vmv_out_varint(out, thread->captured);
    vmv_out_varint(out, thread->started);
    vmv_out_varint(out, thread->ended);
    vmv_out_varint(out, thread->run_ns);
    vmv_out_zigzag(out, thread->exit_code);
    vmv_out_string(out, thread->name);
}

static void note_gone(struct vmv_world *world, const struct vmv_thread *thread) {
    uint64_t *oldest = &world->hidden->oldest_gone;
    if (thread->state == VMV_THREAD_GONE && (!*oldest || thread->ended < *oldest)) *oldest = thread->ended;
}

static bool in_thread(struct vmv_in *in, struct vmv_world *world) {
    int32_t pid = (int32_t)vmv_in_zigzag(in);
    struct vmv_thread *thread = vmv_world_add_thread(world, (int32_t)vmv_in_zigzag(in));
    if (!thread) return false;
    thread->pid = pid;
    thread->space = (uint32_t)vmv_in_varint(in);
    thread->state = vmv_in_u8(in);
    thread->certainty = vmv_in_u8(in);
    thread->syscall = vmv_in_zigzag(in);
    thread->pc = vmv_in_varint(in);
    thread->sp = vmv_in_varint(in);
    thread->fp = vmv_in_varint(in);
    thread->regs = vmv_in_varint(in);
    thread->captured = vmv_in_varint(in);
    thread->started = vmv_in_varint(in);
    thread->ended = vmv_in_varint(in);
    thread->run_ns = vmv_in_varint(in);
    thread->exit_code = (int32_t)vmv_in_zigzag(in);
    size_t length;
    const char *name = vmv_in_string(in, &length);
    if (in->bad || length >= sizeof thread->name || thread->state > VMV_THREAD_STOPPED) return false;
    memcpy(thread->name, name, length);
    note_gone(world, thread);
    return thread->certainty <= VMV_CERT_PARTIAL;
}

// --- the whole

static void out_counts(struct vmv_out *out, const uint64_t *events) {
    uint64_t count = 0;
    for (unsigned type = 0; type < VMV_EV_TYPE_COUNT; type++) count += events[type] != 0;
    vmv_out_varint(out, count);
    for (unsigned type = 0; type < VMV_EV_TYPE_COUNT; type++) {
        if (!events[type]) continue;
        vmv_out_varint(out, type);
        vmv_out_varint(out, events[type]);
    }
}

static void in_counts(struct vmv_in *in, uint64_t *events) {
    uint64_t count = vmv_in_varint(in);
    for (uint64_t i = 0; i < count && !in->bad; i++) {
        uint64_t type = vmv_in_varint(in), value = vmv_in_varint(in);
        if (type < VMV_EV_TYPE_COUNT) events[type] = value;
    }
}

void vmv_world_encode(struct vmv_out *out, const struct vmv_world *world) {
    vmv_out_u8(out, STATE_VERSION);
    vmv_out_varint(out, world->page_size);
    vmv_out_varint(out, world->t);
    vmv_out_varint(out, world->seq);
    vmv_out_varint(out, world->frames);
    out_counts(out, world->events);
    vmv_out_varint(out, world->space_count);
    for (size_t i = 0; i < world->space_count; i++) out_space(out, world, world->spaces[i]);
    vmv_out_varint(out, world->process_count);
    for (size_t i = 0; i < world->process_count; i++) out_process(out, &world->processes[i]);
    vmv_out_varint(out, world->thread_count);
    for (size_t i = 0; i < world->thread_count; i++) out_thread(out, &world->threads[i]);
}

// Each byte read justifies some 64 bytes of memory at most, pages aside, which have a limit of their own: so it is
// enough to look at what is held after each space and at the end.
static bool in_spaces(struct vmv_in *in, struct vmv_world *world, struct vmv_arena *arena, size_t memory_limit) {
    uint64_t count = vmv_in_varint(in);
    size_t held = 0;
    for (uint64_t i = 0; i < count; i++) {
        if (!in_space(in, arena, world)) return false;
        held += vmv_space_memory_of_maps(world->spaces[world->space_count - 1]);
        if (held > memory_limit || arena->total > memory_limit) return false;
        vmv_arena_reset(arena);
    }
    return !in->bad;
}

static bool in_world(struct vmv_in *in, struct vmv_world *world, struct vmv_arena *arena, size_t memory_limit) {
    world->t = vmv_in_varint(in);
    world->seq = vmv_in_varint(in);
    world->frames = vmv_in_varint(in);
    in_counts(in, world->events);
    if (!in_spaces(in, world, arena, memory_limit)) return false;
    uint64_t processes = vmv_in_varint(in);
    for (uint64_t i = 0; i < processes; i++)
        if (!in_process(in, world)) return false;
    uint64_t threads = vmv_in_varint(in);
    for (uint64_t i = 0; i < threads; i++)
        if (!in_thread(in, world)) return false;
    return !in->bad && vmv_world_memory(world) <= memory_limit;
}

struct vmv_world *vmv_world_decode(struct vmv_in *in, size_t memory_limit) {
    if (vmv_in_u8(in) != STATE_VERSION) in->bad = true;
    uint64_t page_size = vmv_in_varint(in);
    if (page_size > UINT32_MAX) in->bad = true;
    if (in->bad) return NULL;
    struct vmv_world *world = vmv_world_create((uint32_t)page_size);
    struct vmv_page_pool *pool = world->hidden->pool;
    size_t usual = pool->limit;
    struct vmv_arena arena = {0};
    pool->limit = memory_limit;
    bool sound = world->page_size == page_size && in_world(in, world, &arena, memory_limit);
    pool->limit = usual;
    vmv_arena_free(&arena);
    if (sound) return world;
    in->bad = true;
    vmv_world_destroy(world);
    return NULL;
}
