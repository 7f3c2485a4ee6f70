// An arena: memory for one lifetime, freed in one go. Never returns NULL (it aborts when the machine is out of memory).
#ifndef VMV_ARENA_H
#define VMV_ARENA_H

#include <stddef.h>

struct vmv_arena {
    struct vmv_arena_block *blocks;
    size_t total; // bytes held
};

void *vmv_arena_alloc(struct vmv_arena *arena, size_t bytes); // zeroed, 16-byte aligned
char *vmv_arena_strdup(struct vmv_arena *arena, const char *text, size_t length);
void vmv_arena_reset(struct vmv_arena *arena); // keeps the first block for reuse
void vmv_arena_free(struct vmv_arena *arena);

#endif
