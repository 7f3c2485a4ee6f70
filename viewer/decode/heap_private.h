// What the files that read glibc's heap share; and its layouts (glibc, malloc/malloc.c and malloc/arena.c).
#ifndef HEAP_PRIVATE_H
#define HEAP_PRIVATE_H

#include "heap.h"

enum {
    CHUNK_HEADER = 16,
    CHUNK_LEAST = 32,
    CHUNK_ALIGN = 16,
    PREV_IN_USE = 1,
    IS_MMAPPED = 2,
    NOT_MAIN = 4,
    FLAGS = 7,
    FENCE_BYTES = 16, // where a heap ends below memory that is not its own

    ARENA_BYTES = 2200, // struct malloc_state, 2.27 to 2.41
    ARENA_FASTBINS = 16,
    ARENA_TOP = 96,
    ARENA_BINS = 112,
    ARENA_NEXT = 2160,
    ARENA_SYSTEM = 2184,
    FASTBINS = 10,
    BINS = 127, // number 1 is unsorted, 2 to 63 small, 64 to 127 large
    SMALL_BINS = 64,

    TCACHE_BINS = 64,
    TCACHE_BYTES = 128 + 512, // counts of 16 bits, then heads (since 2.30)
    TCACHE_CHUNK = 656,
};
static const uint64_t HEAP_ALIGN = 64ull << 20; // of a thread arena's heaps (HEAP_MAX_SIZE)

struct heap_listed { // a chunk in a list
    uint64_t addr;
    uint8_t state;
    uint8_t bin;
};

// Where the bytes come from: copies what is known of them from the beginning on.
typedef void heap_reader(void *user, uint64_t addr, void *out, size_t length, size_t *known);

struct heap_hidden {
    heap_reader *read;
    void *user;
    const struct vmv_space *space; // its mappings
    unsigned version;              // 236
    size_t arena_room, chunk_room, trouble_room;
    struct heap_listed *listed; // by address once all are gathered
    size_t listed_count, listed_room;
    struct { // bytes read last
        uint64_t addr;
        size_t length;
        uint8_t bytes[65536];
    } window;
};

// A heap of which nothing is read yet. NULL: out of memory.
struct heap *heap_create(heap_reader *read, void *user, const struct vmv_space *space, unsigned version);
// The arenas, from the address of the main one on. False: it is none.
bool heap_find_arenas(struct heap *heap, uint64_t main_arena);
bool heap_is_arena(struct heap *heap, uint64_t addr);

bool heap_read(struct heap *heap, uint64_t addr, void *out, size_t length); // false: not known
bool heap_word(struct heap *heap, uint64_t addr, uint64_t *value);
__attribute__((format(printf, 4, 5))) void heap_say(struct heap *heap, uint8_t kind, uint64_t addr, const char *format,
                                                    ...);
bool heap_is_in_chunks(const struct heap *heap, uint64_t addr); // begins a chunk that was walked

// Walks all chunks of all arenas, and the mmapped ones.
void heap_walk(struct heap *heap);
// Follows tcaches, fastbins and bins, and marks the chunks that are in them.
void heap_mark_free(struct heap *heap);
// size of heap_info, by version
uint64_t heap_info_bytes(const struct heap *heap);

#endif
