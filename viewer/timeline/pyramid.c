// A space's curve on levels, each with half the nodes of the one below or fewer, so that a column of any width is the
// sum of a few nodes.
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

static size_t nodes_after_merging(const struct curve_level *below, unsigned shift) {
    size_t count = 0;
    for (size_t i = 0; i < below->count; i++)
        count += !i || below->nodes[i].index >> shift != below->nodes[i - 1].index >> shift;
    return count;
}

// How much coarser the next level is: so much that it has half the nodes or fewer. Spans may lie far apart.
static unsigned next_shift(const struct curve_level *below, size_t *count) {
    unsigned shift = 1;
    while ((*count = nodes_after_merging(below, shift)) > below->count / 2 && shift < 63) shift++;
    return shift;
}

static void build_level(const struct curve_level *below, struct curve_level *level) {
    size_t room;
    level->shift = next_shift(below, &room);
    level->nodes = malloc(room * sizeof *level->nodes);
    if (!level->nodes) abort();
    level->room = room;
    for (size_t i = 0; i < below->count; i++) {
        struct curve_node node = below->nodes[i];
        node.index >>= level->shift;
        bool same = level->count && level->nodes[level->count - 1].index == node.index;
        if (same)
            curve_node_merge(&level->nodes[level->count - 1], &node);
        else
            level->nodes[level->count++] = node;
    }
}

void pyramid_build(struct space_curve *curve) {
    while (curve->level_count < CURVE_LEVELS) {
        const struct curve_level *below = &curve->levels[curve->level_count - 1];
        if (below->count <= 4) return;
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

static void take(const struct curve_level *level, uint64_t from, uint64_t to, struct curve_node *sum) {
    if (from >= to) return;
    for (size_t i = first_not_before(level, from); i < level->count && level->nodes[i].index < to; i++)
        curve_node_merge(sum, &level->nodes[i]);
}

// On each level what does not fill nodes of the next one, and all of the rest on the last.
void pyramid_sum(const struct space_curve *curve, uint64_t from, uint64_t to, struct curve_node *sum) {
    for (unsigned i = 0; i < curve->level_count; i++) {
        const struct curve_level *level = &curve->levels[i];
        unsigned shift = i + 1 < curve->level_count ? curve->levels[i + 1].shift : 0;
        uint64_t above = shift ? (from >> shift) + ((from & ((UINT64_C(1) << shift) - 1)) != 0) : 0;
        if (!shift || above >= to >> shift) {
            take(level, from, to, sum);
            return;
        }
        take(level, from, above << shift, sum);
        take(level, to >> shift << shift, to, sum);
        from = above, to >>= shift;
    }
}
