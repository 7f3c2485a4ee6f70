#include "world.h"

#include <stdlib.h>
#include <string.h>

#include "world_private.h"

#define PAGE_MEMORY_LIMIT ((size_t)4 << 30)

// --- making and ending

struct vmv_world *vmv_world_create(uint32_t page_size) {
    struct vmv_world *world = calloc(1, sizeof *world);
    if (!world || !(world->hidden = calloc(1, sizeof *world->hidden))) abort();
    bool sound = page_size >= 4096 && page_size <= 1 << 20 && !(page_size & (page_size - 1));
    world->page_size = sound ? page_size : 4096;
    world->strings = vmv_strings_create();
    world->hidden->pool = vmv_page_pool_create(PAGE_MEMORY_LIMIT);
    return world;
}

void vmv_world_destroy(struct vmv_world *world) {
    if (!world) return;
    for (size_t i = 0; i < world->space_count; i++) vmv_space_destroy(world->spaces[i]);
    free(world->spaces);
    free(world->threads);
    free(world->processes);
    vmv_strings_release(world->strings);
    vmv_page_pool_release(world->hidden->pool);
    vmv_places_free(&world->hidden->spaces);
    vmv_places_free(&world->hidden->threads);
    vmv_places_free(&world->hidden->processes);
    free(world->hidden);
    free(world);
}

static void *copy_array(const void *from, size_t count, size_t size) {
    if (!count) return NULL;
    void *copy = malloc(count * size);
    if (!copy) abort();
    return memcpy(copy, from, count * size);
}

// A space as it is: not as fork would leave it to a child.
struct vmv_world *vmv_world_copy(const struct vmv_world *world) {
    struct vmv_world *copy = calloc(1, sizeof *copy);
    if (!copy || !(copy->hidden = calloc(1, sizeof *copy->hidden))) abort();
    struct vmv_world_private *hidden = copy->hidden;
    *copy = *world;
    copy->hidden = hidden;
    vmv_strings_hold(copy->strings);
    hidden->pool = vmv_page_pool_hold(world->hidden->pool);
    hidden->oldest_gone = world->hidden->oldest_gone;
    vmv_places_copy(&hidden->spaces, &world->hidden->spaces);
    vmv_places_copy(&hidden->threads, &world->hidden->threads);
    vmv_places_copy(&hidden->processes, &world->hidden->processes);
    copy->spaces = copy_array(world->spaces, world->space_count, sizeof *world->spaces);
    copy->threads = copy_array(world->threads, world->thread_count, sizeof *world->threads);
    copy->processes = copy_array(world->processes, world->process_count, sizeof *world->processes);
    copy->space_room = copy->space_count;
    copy->thread_room = copy->thread_count;
    copy->process_room = copy->process_count;
    for (size_t i = 0; i < copy->space_count; i++) copy->spaces[i] = vmv_space_snapshot(world->spaces[i]);
    return copy;
}

void vmv_world_limit_pages(struct vmv_world *world, size_t bytes) { world->hidden->pool->limit = bytes; }

size_t vmv_world_memory(const struct vmv_world *world) {
    const struct vmv_world_private *hidden = world->hidden;
    size_t bytes = sizeof *world + sizeof *hidden + hidden->pool->bytes + vmv_strings_memory(world->strings) +
                   world->space_room * sizeof *world->spaces + world->thread_room * sizeof *world->threads +
                   world->process_room * sizeof *world->processes +
                   (hidden->spaces.room + hidden->threads.room + hidden->processes.room) * sizeof(struct vmv_place);
    for (size_t i = 0; i < world->space_count; i++) bytes += vmv_space_memory_of_maps(world->spaces[i]);
    return bytes;
}

// --- finding

struct vmv_space *vmv_world_space(const struct vmv_world *world, uint32_t id) {
    size_t place = vmv_places_get(&world->hidden->spaces, id);
    return place == SIZE_MAX ? NULL : world->spaces[place];
}

struct vmv_thread *vmv_world_thread(const struct vmv_world *world, int32_t tid) {
    size_t place = vmv_places_get(&world->hidden->threads, (uint32_t)tid);
    return place == SIZE_MAX ? NULL : &world->threads[place];
}

struct vmv_process *vmv_world_process(const struct vmv_world *world, int32_t pid) {
    size_t place = vmv_places_get(&world->hidden->processes, (uint32_t)pid);
    return place == SIZE_MAX ? NULL : &world->processes[place];
}

// --- adding

// Room for one more element; false: there are as many as a world may hold.
static bool make_room(void **array, size_t count, size_t *room, size_t size) {
    if (count >= VMV_WORLD_MOST) return false;
    if (count < *room) return true;
    *room = *room ? *room * 2 : 16;
    *array = realloc(*array, *room * size);
    if (!*array) abort();
    return true;
}

struct vmv_space *vmv_world_add_space(struct vmv_world *world, struct vmv_space *space) {
    if (!make_room((void **)&world->spaces, world->space_count, &world->space_room, sizeof *world->spaces)) {
        vmv_space_destroy(space);
        return NULL;
    }
    size_t at = world->space_count++;
    for (; at && world->spaces[at - 1]->id > space->id; at--) {
        world->spaces[at] = world->spaces[at - 1];
        vmv_places_put(&world->hidden->spaces, world->spaces[at]->id, at);
    }
    world->spaces[at] = space;
    vmv_places_put(&world->hidden->spaces, space->id, at);
    return space;
}

struct vmv_thread *vmv_world_add_thread(struct vmv_world *world, int32_t tid) {
    if (!make_room((void **)&world->threads, world->thread_count, &world->thread_room, sizeof *world->threads))
        return NULL;
    vmv_places_put(&world->hidden->threads, (uint32_t)tid, world->thread_count);
    struct vmv_thread *thread = &world->threads[world->thread_count++];
    *thread = (struct vmv_thread){.tid = tid, .syscall = -1};
    return thread;
}

struct vmv_process *vmv_world_add_process(struct vmv_world *world, int32_t pid) {
    if (!make_room((void **)&world->processes, world->process_count, &world->process_room, sizeof *world->processes))
        return NULL;
    vmv_places_put(&world->hidden->processes, (uint32_t)pid, world->process_count);
    struct vmv_process *process = &world->processes[world->process_count++];
    *process = (struct vmv_process){.pid = pid, .path = ""};
    return process;
}
