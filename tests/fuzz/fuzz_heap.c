// glibc's heap: a main arena and the memory of the break, at the addresses that the first bytes give.
//   u64 address of the arena, u64 start of the break (little-endian), the arena's 2200 bytes, the rest: the break's
//   bytes
#include <stdlib.h>
#include <string.h>

#include "heap_private.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEAD = 16 };
struct image {
    uint64_t arena, start;
    const uint8_t *bytes; // of the arena, then of the break
    size_t length;        // of the break's
};

static void read_image(void *user, uint64_t addr, void *out, size_t length, size_t *known) {
    const struct image *image = user;
    uint64_t at = addr - image->arena, room = ARENA_BYTES;
    const uint8_t *from = image->bytes;
    if (at >= room) at = addr - image->start, room = image->length, from = image->bytes + ARENA_BYTES;
    *known = at < room ? (size_t)(room - at < length ? room - at : length) : 0;
    if (*known) memcpy(out, from + at, *known);
}

static void must(bool holds) {
    if (!holds) abort();
}

// Chunks do not overlap, and lie within what there is.
static void check(const struct heap *heap, const struct image *image) {
    uint64_t end = 0, sum = 0;
    for (size_t i = 0; i < heap->chunk_count; i++) {
        const struct heap_chunk *chunk = &heap->chunks[i];
        must(chunk->addr >= end && chunk->size && chunk->state < HEAP_STATES && strlen(chunk->bin) < sizeof chunk->bin);
        must(chunk->addr >= image->start && chunk->size <= (image->length + 4096) - (chunk->addr - image->start));
        must(heap_chunk_at(heap, chunk->addr + chunk->size - 1) == chunk);
        end = chunk->addr + chunk->size;
        sum += chunk->size;
    }
    must(sum == heap->walked);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEAD + ARENA_BYTES + 64) return 0;
    struct image image = {.bytes = data + HEAD, .length = size - HEAD - ARENA_BYTES};
    memcpy(&image.arena, data, sizeof image.arena);
    memcpy(&image.start, data + 8, sizeof image.start);
    image.start &= 0x7ffffffff000;
    if (image.arena - image.start < image.length + ARENA_BYTES) return 0;
    uint64_t end = image.start + ((image.length + 4095) & ~(size_t)4095);
    struct vmv_mapping mapping = {.start = image.start, .end = end, .flags = VMV_MAP_R | VMV_MAP_W, .name = "[heap]"};
    struct vmv_space space = {.id = 1, .page_size = 4096, .maps = &mapping, .map_count = 1};
    for (unsigned version = 231; version <= 236; version += 5) {
        struct heap *heap = heap_create(read_image, &image, &space, version);
        if (!heap) return 0;
        if (heap_find_arenas(heap, image.arena)) {
            heap_walk(heap);
            check(heap, &image);
            heap_mark_free(heap);
        }
        heap_destroy(heap);
    }
    return 0;
}
