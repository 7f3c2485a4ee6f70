// Columns of one thread and of one range of mappings.
#include "timeline_internal.h"

#include <string.h>

static uint64_t border(uint64_t from, uint64_t to, size_t i, size_t count) {
    return from + (uint64_t)((unsigned __int128)(to - from) * i / count);
}

// --- threads

static size_t points_before(const struct thread_curve *curve, uint64_t index) {
    size_t low = 0, high = curve->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (curve->points[middle].index < index)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Time the thread has run until t; inside a span it grows evenly.
static double run_until(const struct curves *curves, const struct thread_curve *curve, uint64_t t) {
    uint64_t span = curves_span(curves, t), size = UINT64_C(1) << curves->shift;
    size_t i = points_before(curve, span);
    double run = i ? (double)curve->points[i - 1].run_ns : 0;
    if (i >= curve->count || curve->points[i].index != span) return run;
    double here = (double)curve->points[i].run_ns - run;
    return run + here * (double)(t - (curves->origin + (span << curves->shift))) / (double)size;
}

void timeline_thread_columns(struct timeline *tl, int32_t tid, uint64_t from, uint64_t to, float *shares,
                             size_t count) {
    const struct overview *overview = overview_get(tl);
    const struct thread_curve *curve = curves_thread(&overview->curves, tid);
    struct thread_life life = landmarks_life(&overview->marks, tid);
    if (life.to > tl->duration) life.to = tl->duration;
    for (size_t i = 0; i < count; i++) {
        shares[i] = -1;
        if (from >= to) continue;
        uint64_t low = border(from, to, i, count), high = border(from, to, i + 1, count);
        if (low < life.from) low = life.from;
        if (high > life.to) high = life.to;
        if (high < low ||
            (high == low && (border(from, to, i, count) >= life.to || border(from, to, i + 1, count) <= life.from)))
            continue;
        double run = curve ? run_until(&overview->curves, curve, high) - run_until(&overview->curves, curve, low) : 0;
        double share = high > low ? run / (double)(high - low) : 0;
        shares[i] = share < 0 ? 0 : share > 1 ? 1 : (float)share;
    }
}

// --- regions

static size_t first_region(const struct space_curve *curve, uint64_t start, uint64_t index) {
    size_t low = 0, high = curve->region_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct region_point *point = &curve->regions[middle];
        if (point->start < start || (point->start == start && point->index < index))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct peak {
    uint32_t resident, written;
};

// The largest values of points [from, to), whole blocks at once.
static struct peak peak_of(const struct space_curve *curve, size_t from, size_t to) {
    struct peak peak = {0, 0};
    while (from < to) {
        bool block = from % REGION_BLOCK == 0 && from + REGION_BLOCK <= to;
        uint32_t resident = block ? curve->region_peak[from / REGION_BLOCK * 2] : curve->regions[from].resident;
        uint32_t written = block ? curve->region_peak[from / REGION_BLOCK * 2 + 1] : curve->regions[from].written;
        if (resident > peak.resident) peak.resident = resident;
        if (written > peak.written) peak.written = written;
        from += block ? REGION_BLOCK : 1;
    }
    return peak;
}

// Adds the mapping whose points are [first, end) to the columns.
static void add_mapping(const struct curves *curves, const struct space_curve *curve, size_t first, size_t end,
                        uint64_t from, uint64_t to, struct timeline_region_column *columns, size_t count) {
    uint64_t start = curve->regions[first].start;
    size_t at = first_region(curve, start, curves_span(curves, from));
    for (size_t i = 0; i < count; i++) {
        uint64_t limit = curves_span_up(curves, border(from, to, i + 1, count));
        size_t next = limit > curves_span(curves, from) ? first_region(curve, start, limit) : at;
        const struct region_point *before = at > first ? &curve->regions[at - 1] : NULL;
        struct peak peak = peak_of(curve, at, next < end ? next : end);
        bool mapped = at < next || (before && before->end > before->start);
        if (before && before->end > before->start && before->resident > peak.resident) peak.resident = before->resident;
        columns[i].resident += peak.resident;
        columns[i].written += peak.written;
        columns[i].mapped |= mapped;
        at = next;
    }
}

void timeline_region_columns(struct timeline *tl, uint32_t space, uint64_t start, uint64_t end, uint64_t from,
                             uint64_t to, struct timeline_region_column *columns, size_t count) {
    memset(columns, 0, count * sizeof *columns);
    const struct overview *overview = overview_get(tl);
    const struct space_curve *curve = curves_space(&overview->curves, space);
    if (!curve || from >= to || !count) return;
    size_t i = first_region(curve, start, 0);
    while (i < curve->region_count && curve->regions[i].start < end) {
        size_t next = first_region(curve, curve->regions[i].start, UINT64_MAX);
        if (next == i) next++;
        add_mapping(&overview->curves, curve, i, next, from, to, columns, count);
        i = next;
    }
}
