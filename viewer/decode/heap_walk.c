// Chunk after chunk: of the main arena from the beginning of the break, of thread arenas heap by heap, and mappings
// that are one chunk.
#include "heap_private.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNKS_MAX = 64 << 20, HEAPS_MAX = 65536 };

static bool add_chunk(struct heap *heap, uint64_t addr, uint64_t size, uint32_t arena, uint8_t state) {
    struct heap_hidden *h = heap->hidden;
    if (heap->chunk_count == CHUNKS_MAX) return false;
    if (heap->chunk_count == h->chunk_room) {
        size_t room = h->chunk_room * 2 + 1024;
        struct heap_chunk *chunks = realloc(heap->chunks, room * sizeof *chunks);
        if (!chunks) return false;
        heap->chunks = chunks;
        h->chunk_room = room;
    }
    heap->chunks[heap->chunk_count++] = (struct heap_chunk){.addr = addr, .size = size, .arena = arena, .state = state};
    heap->walked += size;
    if (arena < heap->arena_count) heap->arenas[arena].walked += size;
    return true;
}

struct stretch { // of memory that is chunks throughout
    uint64_t start, end;
    uint32_t arena;
};

static void stop_walk(struct heap *heap, const struct stretch *stretch, uint64_t at, uint8_t kind, const char *why) {
    heap->unknown += stretch->end - at;
    heap_say(heap, kind, at, "%s", why);
}

// Why a chunk of this size cannot be there; NULL: it can.
static const char *impossible(const struct stretch *stretch, uint64_t at, uint64_t word, bool top) {
    uint64_t size = word & ~(uint64_t)FLAGS;
    if (!top && size % CHUNK_ALIGN) return "the size of this chunk is no multiple of 16";
    if (size < CHUNK_LEAST) return "the size of this chunk is smaller than the smallest one";
    if (size > stretch->end - at) return "this chunk would reach beyond the end of its heap";
    if (word & IS_MMAPPED) return "a chunk within a heap claims to be a mapping of its own";
    return NULL;
}

static bool is_fence(uint64_t word) { return (word & ~(uint64_t)FLAGS) <= FENCE_BYTES; }

// Where PREV_IN_USE of the next chunk is not set, this one is free and the next one repeats its size.
static bool follows_free(struct heap *heap, uint64_t at, uint64_t size, uint64_t next_word) {
    uint64_t repeated;
    if (next_word & PREV_IN_USE) return false;
    if (heap_word(heap, at + size, &repeated) && repeated != size)
        heap_say(heap, HEAP_CORRUPT, at, "this free chunk has %llu bytes, the one behind it says %llu",
                 (unsigned long long)size, (unsigned long long)repeated);
    return true;
}

static void walk_stretch(struct heap *heap, const struct stretch *stretch) {
    uint64_t at = stretch->start, top = heap->arenas[stretch->arena].top, word, next;
    while (at < stretch->end) {
        if (!heap_word(heap, at + 8, &word)) {
            stop_walk(heap, stretch, at, HEAP_UNKNOWN, "the bytes of this chunk's header are not known");
            return;
        }
        uint64_t size = word & ~(uint64_t)FLAGS;
        if (at != top && is_fence(word) && stretch->end - at <= 4096) return; // the heap goes on elsewhere
        const char *why = impossible(stretch, at, word, at == top);
        if (why) {
            stop_walk(heap, stretch, at, HEAP_CORRUPT, why);
            return;
        }
        if (at == top) {
            add_chunk(heap, at, size, stretch->arena, HEAP_TOP);
            return;
        }
        bool known = at + size + 16 <= stretch->end && heap_word(heap, at + size + 8, &next);
        bool is_free = known && follows_free(heap, at, size, next);
        if (!add_chunk(heap, at, size, stretch->arena, is_free ? HEAP_FREE : HEAP_IN_USE)) return;
        at += size;
    }
}

// ------------------------------------------------------------------------------------------------- arenas

static void walk_main(struct heap *heap, uint32_t arena) {
    const struct vmv_space *space = heap->hidden->space;
    for (size_t i = 0; i < space->map_count; i++) {
        const struct vmv_mapping *map = &space->maps[i];
        if (strcmp(map->name, "[heap]") != 0) continue;
        uint64_t end = map->end;
        struct stretch stretch = {map->start, end, arena};
        // Before malloc is first used, the break may have been moved by the program or the linker (static programs).
        if (heap->arenas[arena].top < map->start || heap->arenas[arena].top >= end) return;
        if (heap->arenas[arena].system_bytes < end - map->start) stretch.start = end - heap->arenas[arena].system_bytes;
        if (stretch.start % CHUNK_ALIGN) stretch.start += CHUNK_ALIGN - stretch.start % CHUNK_ALIGN;
        walk_stretch(heap, &stretch);
        return;
    }
}

static uint64_t align_chunk(uint64_t at) { return (at + CHUNK_ALIGN - 1) & ~(uint64_t)(CHUNK_ALIGN - 1); }

// The heaps of a thread arena, from the one that holds the top back to the first, which holds the arena itself.
static void walk_thread_arena(struct heap *heap, uint32_t arena) {
    uint64_t at = heap->arenas[arena].top & ~(HEAP_ALIGN - 1), info[3];
    for (int left = HEAPS_MAX; at && left; left--) {
        if (!heap_read(heap, at, info, sizeof info)) {
            heap_say(heap, HEAP_UNKNOWN, at, "the beginning of this heap is not known");
            return;
        }
        bool first = info[0] == at + heap_info_bytes(heap);
        if (info[0] != heap->arenas[arena].addr || info[2] > HEAP_ALIGN || info[2] % 4096 || info[1] % HEAP_ALIGN) {
            heap_say(heap, HEAP_CORRUPT, at, "this should be the beginning of a heap of arena 0x%llx, and is not",
                     (unsigned long long)heap->arenas[arena].addr);
            return;
        }
        struct stretch stretch = {at + heap_info_bytes(heap), at + info[2], arena};
        if (first) stretch.start += ARENA_BYTES;
        stretch.start = align_chunk(stretch.start);
        walk_stretch(heap, &stretch);
        at = info[1];
    }
}

// ------------------------------------------------------------------------------------------------- mappings

// A mapping for one chunk: PREV_SIZE 0 or what was left out to align it, and its own length.
static bool is_mapped_chunk(struct heap *heap, uint64_t at, uint64_t end, uint64_t *size) {
    uint64_t header[2];
    if (!heap_read(heap, at, header, sizeof header)) return false;
    *size = header[1] & ~(uint64_t)FLAGS;
    return (header[1] & FLAGS) == IS_MMAPPED && header[0] == 0 && *size && *size % 4096 == 0 && *size <= end - at;
}

static bool holds_arena_heap(const struct heap *heap, const struct vmv_mapping *map) {
    for (size_t i = 0; i < heap->arena_count; i++) {
        uint64_t heap_start = heap->arenas[i].top & ~(HEAP_ALIGN - 1);
        if (!heap->arenas[i].main && map->start >= heap_start && map->start < heap_start + HEAP_ALIGN) return true;
    }
    return false;
}

static void walk_mappings(struct heap *heap) {
    const struct vmv_space *space = heap->hidden->space;
    for (size_t i = 0; i < space->map_count; i++) {
        const struct vmv_mapping *map = &space->maps[i];
        bool plain = !map->name[0] && !map->inode && map->flags & VMV_MAP_W && !(map->flags & VMV_MAP_SHARED);
        uint64_t at = map->start, size;
        if (!plain || holds_arena_heap(heap, map)) continue;
        while (at < map->end && is_mapped_chunk(heap, at, map->end, &size)) { // neighbours are one mapping
            if (!add_chunk(heap, at, size, UINT32_MAX, HEAP_MMAPPED)) return;
            at += size;
        }
    }
}

static int by_address(const void *left, const void *right) {
    const struct heap_chunk *a = left, *b = right;
    return a->addr < b->addr ? -1 : a->addr > b->addr;
}

// Where two arenas claim the same memory, one of them is not what it says.
static void drop_overlaps(struct heap *heap) {
    size_t kept = 0;
    uint64_t end = 0;
    for (size_t i = 0; i < heap->chunk_count; i++) {
        const struct heap_chunk chunk = heap->chunks[i];
        if (chunk.addr < end) {
            heap_say(heap, HEAP_CORRUPT, chunk.addr, "this chunk lies within another one");
            heap->walked -= chunk.size;
            if (chunk.arena < heap->arena_count) heap->arenas[chunk.arena].walked -= chunk.size;
            continue;
        }
        heap->chunks[kept++] = chunk;
        end = chunk.addr + chunk.size;
    }
    heap->chunk_count = kept;
}

void heap_walk(struct heap *heap) {
    for (uint32_t i = 0; i < heap->arena_count; i++) {
        if (heap->arenas[i].main) {
            walk_main(heap, i);
        } else {
            walk_thread_arena(heap, i);
        }
    }
    walk_mappings(heap);
    if (heap->chunk_count) qsort(heap->chunks, heap->chunk_count, sizeof *heap->chunks, by_address);
    drop_overlaps(heap);
}
