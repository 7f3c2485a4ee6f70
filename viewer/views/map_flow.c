#include "map_flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct builder {
    struct map_flow *flow;
    const struct map_grid *grid;
    const struct map_source *source;
    int64_t limit;
};

static struct map_item *push(struct map_flow *flow, struct map_item item) {
    if (flow->count == flow->room) {
        size_t room = flow->room ? flow->room * 2 : 64;
        struct map_item *grown = realloc(flow->item, room * sizeof *grown);
        if (!grown) return NULL;
        flow->item = grown;
        flow->room = room;
    }
    flow->item[flow->count] = item;
    return &flow->item[flow->count++];
}

static uint64_t low_end(int64_t address) { return address < 0 ? 0 : (uint64_t)address; }

static bool seen(const struct builder *b, int64_t start, int64_t end) {
    uint64_t found;
    if (!b->source->folding) return true;
    return b->source->next(b->source->user, low_end(start), low_end(end), &found);
}

static struct map_item band(const struct builder *b, int64_t start) {
    int64_t bytes = (int64_t)map_grid_band_bytes(b->grid);
    return (struct map_item){.start = start, .end = start + bytes, .h = map_grid_band_height(b->grid)};
}

/* Start of the first band from `start` on that is seen, or the end of all bands. */
static int64_t fold_down(const struct builder *b, int64_t start) {
    uint64_t found;
    if (b->source->next(b->source->user, low_end(start), (uint64_t)b->limit, &found))
        return map_grid_band_start(b->grid, found);
    return map_grid_band_start(b->grid, (uint64_t)b->limit - 1) + (int64_t)map_grid_band_bytes(b->grid);
}

/* End of the last band before `end` that is seen, or the start of the first band. */
static int64_t fold_up(const struct builder *b, int64_t end) {
    uint64_t found;
    if (end > 0 && b->source->last(b->source->user, 0, (uint64_t)end, &found))
        return map_grid_band_start(b->grid, found) + (int64_t)map_grid_band_bytes(b->grid);
    return map_grid_band_start(b->grid, 0);
}

static struct map_item item_down(const struct builder *b, int64_t start) {
    struct map_item item = band(b, start);
    if (seen(b, item.start, item.end)) return item;
    item.note = true;
    item.h = MAP_NOTE;
    item.end = fold_down(b, item.end);
    return item;
}

static struct map_item item_up(const struct builder *b, int64_t end) {
    struct map_item item = band(b, end - (int64_t)map_grid_band_bytes(b->grid));
    if (seen(b, item.start, item.end)) return item;
    item.note = true;
    item.h = MAP_NOTE;
    item.start = fold_up(b, item.start);
    return item;
}

static struct map_item item_of(const struct builder *b, uint64_t at) {
    int64_t start = map_grid_band_start(b->grid, at);
    struct map_item item = item_down(b, start);
    if (item.note) item.start = fold_up(b, start);
    return item;
}

static void reverse(struct map_flow *flow) {
    for (size_t i = 0; i < flow->count / 2; i++) {
        struct map_item swap = flow->item[i];
        flow->item[i] = flow->item[flow->count - 1 - i];
        flow->item[flow->count - 1 - i] = swap;
    }
}

/* From the first item's top upwards to 0, then turned around. */
static bool build_up(const struct builder *b, struct map_item first) {
    struct map_flow *flow = b->flow;
    int64_t lowest = map_grid_band_start(b->grid, 0);
    if (!push(flow, first)) return false;
    while (first.y > 0 && first.start > lowest) {
        struct map_item above = item_up(b, first.start);
        above.y = first.y - above.h;
        if (!push(flow, above)) return false;
        first = above;
    }
    reverse(flow);
    return true;
}

static bool build_down(const struct builder *b, int height) {
    struct map_item last = b->flow->item[b->flow->count - 1];
    while (last.y + last.h < height && last.end < b->limit) {
        struct map_item below = item_down(b, last.end);
        below.y = last.y + last.h;
        if (!push(b->flow, below)) return false;
        last = below;
    }
    return true;
}

/* Keeps what reaches into the area. */
static void trim(struct map_flow *flow, int height) {
    size_t first = 0, last = flow->count;
    while (first + 1 < last && flow->item[first].y + flow->item[first].h <= 0) first++;
    while (last > first + 1 && flow->item[last - 1].y >= height) last--;
    flow->count = last - first;
    memmove(flow->item, flow->item + first, flow->count * sizeof *flow->item);
}

bool map_flow_build(struct map_flow *flow, const struct map_grid *grid, const struct map_source *source, uint64_t at,
                    double y, double share, int height) {
    struct builder b = {flow, grid, source, (int64_t)source->limit};
    flow->count = 0;
    if (at >= source->limit) at = source->limit - 1;
    struct map_item item = item_of(&b, at);
    /* A share below 1 leaves the point within the item, whatever its height. */
    item.y = (int)lround(fmin(fmax(y, -1e6), 1e6)) - (int)(share * item.h);
    if (!build_up(&b, item) || !build_down(&b, height)) return false;
    trim(flow, height);
    return true;
}

void map_flow_free(struct map_flow *flow) {
    free(flow->item);
    *flow = (struct map_flow){0};
}

const struct map_item *map_flow_at(const struct map_flow *flow, int y) {
    for (size_t i = 0; i < flow->count; i++)
        if (y >= flow->item[i].y && y < flow->item[i].y + flow->item[i].h) return &flow->item[i];
    return NULL;
}

const struct map_item *map_flow_find(const struct map_flow *flow, uint64_t addr) {
    for (size_t i = 0; i < flow->count; i++)
        if ((int64_t)addr >= flow->item[i].start && (int64_t)addr < flow->item[i].end) return &flow->item[i];
    return NULL;
}
