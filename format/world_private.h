// What a world keeps to find things fast: private to world*.c and the state codec.
#ifndef VMV_WORLD_PRIVATE_H
#define VMV_WORLD_PRIVATE_H

#include "space_private.h"
#include "world.h"

// Numbers (pids, tids, space ids) to places in an array.
struct vmv_places {
    struct vmv_place {
        uint64_t number; // 0: free slot
        size_t place;
    } *slots;
    size_t room, count; // room is a power of two
};
void vmv_places_put(struct vmv_places *places, uint32_t number, size_t place); // replaces
size_t vmv_places_get(const struct vmv_places *places, uint32_t number);       // SIZE_MAX: none
void vmv_places_clear(struct vmv_places *places);
void vmv_places_copy(struct vmv_places *to, const struct vmv_places *from); // `to` is empty
void vmv_places_free(struct vmv_places *places);

struct vmv_world_private {
    struct vmv_page_pool *pool;
    struct vmv_places spaces, threads, processes; // the newest of each number
    uint64_t oldest_gone; // ns, end of the thread that has been gone the longest; 0: none is
};

// Appends zeroed entries and notes their places. A world never holds more than VMV_WORLD_MOST of each: NULL.
enum { VMV_WORLD_MOST = 1 << 20 };
struct vmv_space *vmv_world_add_space(struct vmv_world *world, struct vmv_space *space); // takes it; NULL: destroyed it
struct vmv_thread *vmv_world_add_thread(struct vmv_world *world, int32_t tid);
struct vmv_process *vmv_world_add_process(struct vmv_world *world, int32_t pid);

#endif
