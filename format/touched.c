#include "touched.h"
#include "reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 1024, RANGE_BYTES_LEAST = 3 };

static int compare(const void *left, const void *right) {
    const struct vmv_touched *a = left, *b = right;
    if (a->space != b->space) return a->space < b->space ? -1 : 1;
    return a->block < b->block ? -1 : a->block > b->block;
}

// Sorts, and joins ranges that overlap or follow each other.
static void compact(struct vmv_touched_set *set) {
    if (set->count == 0) return;
    qsort(set->ranges, set->count, sizeof *set->ranges, compare);
    size_t kept = 0;
    for (size_t i = 1; i < set->count; i++) {
        struct vmv_touched *last = &set->ranges[kept], next = set->ranges[i];
        if (next.space != last->space || next.block > last->last + 1)
            set->ranges[++kept] = next;
        else if (next.last > last->last)
            last->last = next.last;
    }
    set->count = kept + 1;
}

static void make_room(struct vmv_touched_set *set) {
    if (set->count >= set->compact_at && set->count > 0) {
        compact(set);
        set->compact_at = 2 * set->count < FIRST_ROOM ? FIRST_ROOM : 2 * set->count;
    }
    if (set->count < set->room) return;
    set->room = set->room ? 2 * set->room : FIRST_ROOM;
    set->ranges = realloc(set->ranges, set->room * sizeof *set->ranges);
    if (set->ranges) return;
    fputs("vmvis: out of memory\n", stderr);
    abort();
}

static void add_blocks(struct vmv_touched_set *set, uint32_t space, uint64_t block, uint64_t last) {
    size_t slot = (size_t)((block ^ space * 0x9e3779b1u) % VMV_TOUCHED_RECENT);
    if (block == last) {
        if (set->recent[slot].space == space && set->recent[slot].block == block) return;
        set->recent[slot].space = space;
        set->recent[slot].block = block;
    }
    make_room(set);
    set->ranges[set->count++] = (struct vmv_touched){.space = space, .block = block, .last = last};
}

static void add_range(struct vmv_touched_set *set, uint32_t space, uint64_t addr, uint64_t length) {
    uint64_t end = addr + (length ? length - 1 : 0);
    if (space == 0) return;
    if (end < addr) end = UINT64_MAX;
    add_blocks(set, space, addr >> VMV_TOUCHED_SHIFT, end >> VMV_TOUCHED_SHIFT);
}

// A file was punched or cut from `event->addr` on: every mapping of it, in every space.
static void add_file(struct vmv_touched_set *set, const struct vmv_world *world, const struct vmv_event *event) {
    for (size_t s = 0; s < world->space_count; s++) {
        const struct vmv_space *space = world->spaces[s];
        for (size_t m = 0; m < space->map_count; m++) {
            const struct vmv_mapping *map = &space->maps[m];
            if (map->inode == 0 || map->inode != event->inode || map->dev_major != event->dev_major ||
                map->dev_minor != event->dev_minor)
                continue;
            if (map->offset + (map->end - map->start) > event->addr)
                add_range(set, space->id, map->start, map->end - map->start);
        }
    }
}

static void add_brk(struct vmv_touched_set *set, const struct vmv_event *event) {
    uint64_t now = (uint64_t)event->ret, low = event->old_addr < now ? event->old_addr : now;
    uint64_t high = event->old_addr < now ? now : event->old_addr;
    if (event->ret > 0 && event->old_addr != 0)
        add_range(set, event->space, low, high - low);
    else
        add_range(set, event->space, event->addr, 1);
}

void vmv_touched_add(struct vmv_touched_set *set, const struct vmv_world *world, const struct vmv_event *event) {
    switch (event->type) {
    case VMV_EV_FAULT:
    case VMV_EV_MUNMAP:
    case VMV_EV_MPROTECT:
    case VMV_EV_MADVISE:
    case VMV_EV_SHMDT:
    case VMV_EV_REMAP:
    case VMV_EV_MSEAL:
    case VMV_EV_SETNAME:
    case VMV_EV_MAPS:
    case VMV_EV_PAGES:
    case VMV_EV_CONTENT:
    case VMV_EV_WATCH:
    case VMV_EV_SIGNAL:
        add_range(set, event->space, event->addr, event->len);
        break;
    case VMV_EV_MMAP:
    case VMV_EV_SHMAT:
        add_range(set, event->space, event->ret > 0 ? (uint64_t)event->ret : event->addr, event->len);
        break;
    case VMV_EV_MREMAP:
        add_range(set, event->space, event->old_addr, event->old_len);
        if (event->ret > 0) add_range(set, event->space, (uint64_t)event->ret, event->len);
        break;
    case VMV_EV_BRK:
        add_brk(set, event);
        break;
    case VMV_EV_PUNCH:
    case VMV_EV_TRUNCATE:
        add_file(set, world, event);
        break;
    default:
        break;
    }
}

void vmv_touched_encode(struct vmv_touched_set *set, struct vmv_out *out) {
    compact(set);
    vmv_out_varint(out, set->count);
    uint32_t space = 0;
    uint64_t next = 0; // the lowest block the next range may begin with
    for (size_t i = 0; i < set->count; i++) {
        const struct vmv_touched *range = &set->ranges[i];
        if (range->space != space) next = 0;
        vmv_out_varint(out, range->space - space);
        vmv_out_varint(out, range->block - next);
        vmv_out_varint(out, range->last - range->block);
        space = range->space;
        next = range->last + 1;
    }
}

void vmv_touched_clear(struct vmv_touched_set *set) {
    set->count = 0;
    memset(set->recent, 0, sizeof set->recent);
}

void vmv_touched_free(struct vmv_touched_set *set) {
    free(set->ranges);
    set->ranges = NULL;
    set->count = set->room = 0;
}

// False: numbers that no address space has.
static bool range_decode(struct vmv_in *in, const struct vmv_touched *before, struct vmv_touched *range) {
    const uint64_t highest = UINT64_MAX >> VMV_TOUCHED_SHIFT;
    uint64_t space = vmv_in_varint(in), block = vmv_in_varint(in), more = vmv_in_varint(in);
    if (in->bad || space > UINT32_MAX - before->space || block > highest || more > highest) return false;
    range->space = before->space + (uint32_t)space;
    range->block = block + (space == 0 && before->space != 0 ? before->last + 1 : 0);
    range->last = range->block + more;
    return range->space != 0 && range->last <= highest;
}

struct vmv_touched *vmv_touched_decode(struct vmv_in *in, size_t *count) {
    struct vmv_touched before = {0};
    uint64_t announced = vmv_in_varint(in);
    *count = 0;
    if (announced > vmv_in_left(in) / RANGE_BYTES_LEAST) in->bad = true;
    if (in->bad || announced == 0) return NULL;
    struct vmv_touched *ranges = malloc((size_t)announced * sizeof *ranges);
    for (size_t i = 0; ranges && i < announced; i++) {
        if (!range_decode(in, &before, &ranges[i])) {
            free(ranges);
            in->bad = true;
            return NULL;
        }
        before = ranges[i];
    }
    *count = ranges ? (size_t)announced : 0;
    return ranges;
}

void vmv_counts_encode(struct vmv_out *out, const uint32_t counts[VMV_EV_TYPE_COUNT]) {
    unsigned types = 0;
    for (unsigned type = 0; type < VMV_EV_TYPE_COUNT; type++) types += counts[type] != 0;
    vmv_out_varint(out, types);
    for (unsigned type = 0; type < VMV_EV_TYPE_COUNT; type++) {
        if (counts[type] == 0) continue;
        vmv_out_varint(out, type);
        vmv_out_varint(out, counts[type]);
    }
}

bool vmv_counts_decode(struct vmv_in *in, uint64_t counts[VMV_EV_TYPE_COUNT]) {
    memset(counts, 0, VMV_EV_TYPE_COUNT * sizeof counts[0]);
    uint64_t types = vmv_in_varint(in);
    for (uint64_t i = 0; i < types && !in->bad; i++) {
        uint64_t type = vmv_in_varint(in), count = vmv_in_varint(in);
        if (type < VMV_EV_TYPE_COUNT) counts[type] += count;
    }
    return !in->bad;
}
