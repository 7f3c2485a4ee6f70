#include "arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The newest block comes first; it is the one that reset keeps, as blocks grow.
struct vmv_arena_block {
    struct vmv_arena_block *next;
    size_t size, used; // bytes after this header
};

enum { FIRST_BLOCK = 16 << 10, LARGEST_STEP = 1 << 20, ALIGN = 16 };
_Static_assert(sizeof(struct vmv_arena_block) <= 2 * ALIGN, "the header fits before the first piece");

static uint8_t *block_data(struct vmv_arena_block *block) { return (uint8_t *)block + 2 * ALIGN; }

static struct vmv_arena_block *block_add(struct vmv_arena *arena, size_t bytes) {
    size_t size = arena->blocks ? arena->blocks->size * 2 : FIRST_BLOCK;
    if (size > LARGEST_STEP) size = LARGEST_STEP;
    if (size < bytes) size = bytes;
    struct vmv_arena_block *block = malloc(size + 2 * ALIGN);
    if (!block) abort();
    *block = (struct vmv_arena_block){.next = arena->blocks, .size = size};
    arena->blocks = block;
    arena->total += size + 2 * ALIGN;
    return block;
}

void *vmv_arena_alloc(struct vmv_arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 4) abort();
    bytes = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    struct vmv_arena_block *block = arena->blocks;
    if (!block || block->size - block->used < bytes) block = block_add(arena, bytes);
    uint8_t *piece = block_data(block) + block->used;
    block->used += bytes;
    return memset(piece, 0, bytes);
}

char *vmv_arena_strdup(struct vmv_arena *arena, const char *text, size_t length) {
    char *copy = vmv_arena_alloc(arena, length + 1);
    if (length) memcpy(copy, text, length);
    return copy;
}

void vmv_arena_free(struct vmv_arena *arena) {
    for (struct vmv_arena_block *block = arena->blocks, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    *arena = (struct vmv_arena){0};
}

void vmv_arena_reset(struct vmv_arena *arena) {
    struct vmv_arena_block *keep = arena->blocks;
    if (!keep) return;
    struct vmv_arena rest = {.blocks = keep->next};
    vmv_arena_free(&rest);
    keep->next = NULL;
    keep->used = 0;
    arena->total = keep->size + 2 * ALIGN;
}
