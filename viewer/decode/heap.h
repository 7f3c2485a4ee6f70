// The heap of glibc's malloc (2.31 to 2.41, 64-bit), from the bytes of the moment alone: arenas, chunks, and the lists
// of free ones. Nothing in these bytes is believed without a check, and every walk ends.
#ifndef HEAP_H
#define HEAP_H

#include "decode.h"

enum heap_state { HEAP_IN_USE, HEAP_FREE, HEAP_TCACHE, HEAP_FASTBIN, HEAP_TOP, HEAP_MMAPPED, HEAP_STATES };
const char *heap_state_word(uint8_t state); // the contract's

struct heap_chunk {
    uint64_t addr, size; // of the chunk with its header of 16 bytes; the program has addr + 16
    uint32_t arena;      // index; UINT32_MAX: mmapped, of none
    uint8_t state;       // enum heap_state
    char bin[12];        // "unsorted", "small 3", "large 64", "tcache 5", "fast 0"; "" if it is in none
};

struct heap_arena {
    uint64_t addr;
    bool main;
    bool locked; // its lock is held at the moment
    uint64_t top, system_bytes;
    uint64_t walked; // bytes of chunks, the top with them
};

enum heap_trouble_kind { HEAP_CORRUPT, HEAP_UNKNOWN }; // what cannot be; what is not known, or in motion
struct heap_trouble {
    uint64_t addr;
    uint8_t kind; // enum heap_trouble_kind
    char text[96];
};

struct heap {
    char version[16]; // "2.36"
    struct heap_arena *arenas;
    size_t arena_count;
    struct heap_chunk *chunks; // by address
    size_t chunk_count;
    struct heap_trouble *troubles;
    size_t trouble_count;
    uint64_t walked, unknown; // bytes of heaps that are chunks, and that could not be walked
    bool busy;                // a thread is inside malloc or free: what does not fit together is in motion
    struct heap_hidden *hidden;
};

// NULL: `error` says why (no glibc, a version that is not known, nothing allocated yet).
struct heap *decode_heap(struct decode *d, uint32_t space, char *error, size_t error_size);
void heap_destroy(struct heap *heap); // accepts NULL
// The chunk around an address, NULL if there is none.
const struct heap_chunk *heap_chunk_at(const struct heap *heap, uint64_t addr);
uint64_t heap_corruptions(const struct heap *heap);

// The first fault on the page of an address up to the moment: who touched it first. False: it was not seen.
struct heap_touch {
    uint64_t t, pc; // ns; 0: not known
    int32_t tid;
};
bool heap_first_touch(struct decode *d, uint32_t space, uint64_t addr, struct heap_touch *touch);

#endif
