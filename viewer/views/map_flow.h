/* The look of pages from top to bottom: bands in which something is to be seen, and notes that stand for folded bands
 * between them. Laid out from an address that stands at a given height, upwards and downwards, as far as the area
 * reaches; so the cost does not depend on the size of the space. */
#ifndef MAP_FLOW_H
#define MAP_FLOW_H

#include "map_grid.h"

#include <stddef.h>

enum { MAP_NOTE = 13 }; /* pixels */

/* Where there is something to be seen. Both: false when there is nothing. */
struct map_source {
    void *user;
    bool (*next)(void *user, uint64_t from, uint64_t end, uint64_t *found); /* the first address in [from, end) */
    bool (*last)(void *user, uint64_t from, uint64_t end, uint64_t *found); /* the last one */
    uint64_t limit;                                                         /* addresses end here */
    bool folding;                                                           /* false: every band is shown */
};

struct map_item {
    bool note;
    int64_t start, end; /* bytes: one band, or the bands folded */
    int y, h;           /* pixels, y from the top of the area */
};

struct map_flow {
    struct map_item *item; /* from top to bottom */
    size_t count, room;
};

/* Lay out so that the item that holds `at` has the point `share` (0 .. 1) of its height at y. Items end where the area
 * of `height` pixels does, or the addresses. false: out of memory. */
bool map_flow_build(struct map_flow *flow, const struct map_grid *grid, const struct map_source *source, uint64_t at,
                    double y, double share, int height);
void map_flow_free(struct map_flow *flow);

/* The item at height y, or that holds addr; NULL if none does. */
const struct map_item *map_flow_at(const struct map_flow *flow, int y);
const struct map_item *map_flow_find(const struct map_flow *flow, uint64_t addr);

#endif
