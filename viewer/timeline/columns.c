// What a window draws for one space: a column of values per pixel.
#include "timeline_internal.h"

#include <string.h>

uint64_t timeline_border(uint64_t from, uint64_t to, size_t i, size_t count) {
    return from + (uint64_t)((unsigned __int128)(to - from) * i / count);
}

// A gap shows where it fills half of the column, or where its middle lies if it is half a column long.
static bool in_gap(const struct landmarks *marks, uint32_t space, uint64_t from, uint64_t to) {
    uint64_t half = (to - from + 1) / 2;
    const struct space_gap *gap = NULL;
    while ((gap = landmarks_gap(marks, space, from, to, gap))) {
        uint64_t low = gap->from > from ? gap->from : from, high = gap->to < to ? gap->to : to;
        uint64_t middle = gap->from + (gap->to - gap->from) / 2;
        if (high - low >= half || (gap->to - gap->from >= half && middle >= from && middle < to)) return true;
    }
    return false;
}

struct carry {
    uint64_t virtual_bytes;
    uint32_t resident;
};

static struct carry carry_before(const struct space_curve *curve, uint64_t span) {
    const struct curve_node *node = curve ? pyramid_before(curve, span) : NULL;
    return node ? (struct carry){node->virtual_bytes, node->last} : (struct carry){0, 0};
}

static void fill(const struct space_curve *curve, uint64_t first, uint64_t end, struct timeline_column *column) {
    struct carry before = carry_before(curve, first), after = carry_before(curve, end);
    struct curve_node sum = {.low = before.resident, .high = before.resident};
    if (curve && first < end) pyramid_sum(curve, first, end, &sum);
    column->virtual_bytes = after.virtual_bytes;
    column->resident_low = sum.low;
    column->resident_high = sum.high;
    column->written = sum.written;
    memcpy(column->ticks, sum.ticks, sizeof column->ticks);
    memcpy(column->tick_kinds, sum.tick_kinds, sizeof column->tick_kinds);
    memcpy(column->faults, sum.faults, sizeof column->faults);
}

static const struct curves *choose(struct timeline *tl, uint64_t from, uint64_t to, size_t count) {
    const struct overview *overview = overview_get(tl);
    uint64_t width = (to - from) / count;
    if (width >> VMV_BUCKET_SHIFT) return &overview->curves;
    const struct curves *fine = detail_get(tl, from, to, width ? width : 1);
    return fine ? fine : &overview->curves;
}

void timeline_columns(struct timeline *tl, uint32_t space, uint64_t from, uint64_t to, struct timeline_column *columns,
                      size_t count) {
    memset(columns, 0, count * sizeof *columns);
    if (from >= to || !count) return;
    const struct curves *curves = choose(tl, from, to, count);
    struct space_curve *curve = curves_space(curves, space);
    if (curve) pyramid_build(curve);
    for (size_t i = 0; i < count; i++) {
        uint64_t low = timeline_border(from, to, i, count), high = timeline_border(from, to, i + 1, count);
        uint64_t first = i ? curves_span_up(curves, low) : curves_span(curves, low);
        fill(curve, first, curves_span_up(curves, high), &columns[i]);
        columns[i].known = low < tl->duration && !in_gap(&tl->overview.marks, space, low, high > low ? high : low + 1);
    }
}
