// Address ranges with bits that no mapping prints (advice for fork). There are few of them, if any.
#include "space_private.h"

#include <stdlib.h>
#include <string.h>

void vmv_ranges_append(struct vmv_ranges *to, uint64_t start, uint64_t end, unsigned bits) {
    if (start >= end || !bits) return;
    struct vmv_range *last = to->count ? &to->list[to->count - 1] : NULL;
    if (last && last->end == start && last->bits == bits) {
        last->end = end;
        return;
    }
    if (to->count == to->room) {
        to->room = to->room ? to->room * 2 : 8;
        to->list = realloc(to->list, to->room * sizeof *to->list);
        if (!to->list) abort();
    }
    to->list[to->count++] = (struct vmv_range){start, end, bits};
}

// Walks the old list once, with the range that is set laid over it.
void vmv_ranges_set(struct vmv_ranges *ranges, uint64_t start, uint64_t end, unsigned on, unsigned off) {
    if (!ranges->count && !on) return;
    struct vmv_ranges fresh = {0};
    uint64_t at = start; // up to here the range set is written
    for (size_t i = 0; i < ranges->count; i++) {
        struct vmv_range r = ranges->list[i];
        uint64_t low = r.start > start ? r.start : start, high = r.end < end ? r.end : end;
        if (r.start >= end && at < end) {
            vmv_ranges_append(&fresh, at, end, on);
            at = end;
        }
        vmv_ranges_append(&fresh, r.start, r.end < start ? r.end : start, r.bits);
        if (low < high) {
            vmv_ranges_append(&fresh, at, low, on);
            vmv_ranges_append(&fresh, low, high, (r.bits & ~off) | on);
            at = high;
        }
        vmv_ranges_append(&fresh, r.start > end ? r.start : end, r.end, r.bits);
    }
    if (at < end) vmv_ranges_append(&fresh, at, end, on);
    free(ranges->list);
    *ranges = fresh;
}

unsigned vmv_ranges_get(const struct vmv_ranges *ranges, uint64_t addr) {
    for (size_t i = 0; i < ranges->count; i++)
        if (ranges->list[i].start <= addr && addr < ranges->list[i].end) return ranges->list[i].bits;
    return 0;
}

void vmv_ranges_copy(struct vmv_ranges *to, const struct vmv_ranges *from) {
    for (size_t i = 0; i < from->count; i++)
        vmv_ranges_append(to, from->list[i].start, from->list[i].end, from->list[i].bits);
}

void vmv_ranges_move(struct vmv_ranges *ranges, uint64_t from, uint64_t to, uint64_t length) {
    struct vmv_ranges old = {0};
    if (!ranges->count) return;
    vmv_ranges_copy(&old, ranges);
    vmv_ranges_set(ranges, from, from + length, 0, ~0u);
    vmv_ranges_set(ranges, to, to + length, 0, ~0u);
    for (size_t i = 0; i < old.count; i++) {
        uint64_t low = old.list[i].start > from ? old.list[i].start : from;
        uint64_t high = old.list[i].end < from + length ? old.list[i].end : from + length;
        if (low < high) vmv_ranges_set(ranges, low - from + to, high - from + to, old.list[i].bits, 0);
    }
    vmv_ranges_free(&old);
}

void vmv_ranges_free(struct vmv_ranges *ranges) {
    free(ranges->list);
    *ranges = (struct vmv_ranges){0};
}
