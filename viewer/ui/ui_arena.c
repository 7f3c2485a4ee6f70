#include "ui_arena.h"

#include <stdint.h>
#include <stdlib.h>

struct ui_arena_block {
    struct ui_arena_block *older;
    size_t size;
    uint64_t bytes[];
};

enum { FIRST_BLOCK = 64 * 1024 };

static struct ui_arena_block *block_create(size_t size, struct ui_arena_block *older) {
    if (size > SIZE_MAX - sizeof(struct ui_arena_block)) return NULL;
    struct ui_arena_block *block = malloc(sizeof *block + size);
    if (!block) return NULL;
    block->older = older;
    block->size = size;
    return block;
}

void ui_arena_free(struct ui_arena *arena) {
    for (struct ui_arena_block *block = arena->block, *older; block; block = older) {
        older = block->older;
        free(block);
    }
    *arena = (struct ui_arena){0};
}

void ui_arena_reset(struct ui_arena *arena) {
    arena->used = 0;
    if (!arena->block || !arena->block->older) return;
    size_t total = arena->total;
    ui_arena_free(arena);
    arena->block = block_create(total, NULL);
    arena->total = arena->block ? total : 0;
}

void *ui_arena_alloc(struct ui_arena *arena, size_t bytes) {
    if (bytes > SIZE_MAX / 4) return NULL;
    bytes = (bytes + 7) & ~(size_t)7;
    if (!arena->block || arena->block->size - arena->used < bytes) {
        size_t size = arena->total < FIRST_BLOCK ? FIRST_BLOCK : arena->total;
        struct ui_arena_block *block = block_create(size < bytes ? bytes : size, arena->block);
        if (!block) return NULL;
        arena->block = block;
        arena->total += block->size;
        arena->used = 0;
    }
    void *piece = (char *)arena->block->bytes + arena->used;
    arena->used += bytes;
    return piece;
}
