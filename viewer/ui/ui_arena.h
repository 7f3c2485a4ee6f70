/* Memory for one lifetime: many small pieces, freed together. Blocks are kept over a reset, and joined into one, so
 * that a steady state allocates nothing. */
#ifndef UI_ARENA_H
#define UI_ARENA_H

#include <stddef.h>

struct ui_arena_block;

struct ui_arena {
    struct ui_arena_block *block; /* the newest; older ones behind it */
    size_t used;                  /* bytes of the newest */
    size_t total;                 /* bytes of all blocks */
};

/* A zeroed struct is an empty arena. */
void ui_arena_free(struct ui_arena *arena);
/* Give everything back to the arena. */
void ui_arena_reset(struct ui_arena *arena);
/* 8-byte aligned, not cleared; stays where it is until reset. NULL when out of memory. */
void *ui_arena_alloc(struct ui_arena *arena, size_t bytes);

#endif
