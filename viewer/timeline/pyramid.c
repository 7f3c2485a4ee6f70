// A space's curve on levels, each half as fine as the one below, so that a column of any width is the sum of a few
// nodes.
#include "timeline_internal.h"

#include <stdlib.h>

static uint32_t add_capped(uint32_t a, uint32_t b) { return a > UINT32_MAX - b ? UINT32_MAX : a + b; }

void curve_node_merge(struct curve_node *into, const struct curve_node *later) {
    into->virtual_bytes = later->virtual_bytes;
    into->last = later->last;
    if (later->low < into->low) into->low = later->low;
    if (later->high > into->high) into->high = later->high;
    if (later->written > into->written) into->written = later->written;
    for (int i = 0; i < VMV_TICK_COUNT; i++) {
        into->ticks[i] = add_capped(into->ticks[i], later->ticks[i]);
        into->tick_kinds[i] |= later->tick_kinds[i];
    }
    for (int i = 0; i < VMV_KIND_COUNT; i++) into->faults[i] = add_capped(into->faults[i], later->faults[i]);
}

static void build_level(const struct curve_level *below, struct curve_level *level) {
    level->nodes = calloc(below->count, sizeof *level->nodes);
    if (!level->nodes) abort();
    level->room = below->count;
    for (size_t i = 0; i < below->count; i++) {
        struct curve_node node = below->nodes[i];
        node.index >>= 1;
        if (level->count && level->nodes[level->count - 1].index == node.index) {
            curve_node_merge(&level->nodes[level->count - 1], &node);
        } else {
            level->nodes[level->count++] = node;
        }
    }
    struct curve_node *fitted = realloc(level->nodes, level->count * sizeof *level->nodes);
    if (fitted) level->nodes = fitted;
}

// Up to the level where all is one node with number 0.
void pyramid_build(struct space_curve *curve) {
    if (!curve->levels[0].count) return;
    while (curve->level_count < CURVE_LEVELS) {
        const struct curve_level *below = &curve->levels[curve->level_count - 1];
        if (below->count == 1 && below->nodes[0].index == 0) return;
        build_level(below, &curve->levels[curve->level_count++]);
    }
}

static size_t first_not_before(const struct curve_level *level, uint64_t index) {
    size_t low = 0, high = level->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (level->nodes[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct curve_node *pyramid_before(const struct space_curve *curve, uint64_t index) {
    size_t i = first_not_before(&curve->levels[0], index);
    return i ? &curve->levels[0].nodes[i - 1] : NULL;
}

static void take(const struct curve_level *level, uint64_t index, struct curve_node *sum) {
    size_t i = first_not_before(level, index);
    if (i < level->count && level->nodes[i].index == index) curve_node_merge(sum, &level->nodes[i]);
}

void pyramid_sum(const struct space_curve *curve, uint64_t from, uint64_t to, struct curve_node *sum) {
    const struct curve_level *base = &curve->levels[0];
    if (!base->count) return;
    uint64_t end = base->nodes[base->count - 1].index + 1;
    if (to > end) to = end;
    for (unsigned level = 0; from < to && level < curve->level_count; level++) {
        if (from & 1) take(&curve->levels[level], from++, sum);
        if (from < to && (to & 1)) take(&curve->levels[level], --to, sum);
        if (level + 1 == curve->level_count) {
            for (; from < to; from++) take(&curve->levels[level], from, sum);
        }
        from >>= 1, to >>= 1;
    }
}
