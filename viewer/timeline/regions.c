// What is known of single mappings over time: points where they changed, and where they ended. SUMMARY tells of the
// mappings that are there; one has ended when another lies over it, or its space has.
#include "timeline_internal.h"

#include <stdlib.h>
#include <string.h>

static struct region_point *add_point(struct space_curve *curve, struct region_point point) {
    curve->regions = timeline_grow(curve->regions, curve->region_count, &curve->region_room, sizeof *curve->regions);
    curve->regions[curve->region_count] = point;
    return &curve->regions[curve->region_count++];
}

void regions_add(struct space_curve *curve, const struct vmv_bucket *bucket) {
    for (size_t i = 0; i < bucket->region_count; i++) {
        const struct vmv_bucket_region *region = &bucket->regions[i];
        add_point(curve,
                  (struct region_point){region->start, region->end, bucket->index, region->resident, region->written});
    }
}

// --- ends

struct live { // mappings that are there, disjoint, by start; as places of their last points
    size_t *places;
    size_t count, room;
};

static size_t live_from(const struct live *live, const struct region_point *points, uint64_t addr) {
    size_t low = 0, high = live->count;
    while (low < high) { // the first that ends after addr
        size_t middle = low + (high - low) / 2;
        if (points[live->places[middle]].end <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void end_region(struct space_curve *curve, size_t place, uint64_t index) {
    uint64_t start = curve->regions[place].start;
    if (index > curve->regions[place].index) add_point(curve, (struct region_point){start, start, index, 0, 0});
}

static void replace(struct live *live, size_t first, size_t gone, size_t place) {
    live->places = timeline_grow(live->places, live->count, &live->room, sizeof *live->places);
    memmove(&live->places[first + 1], &live->places[first + gone], (live->count - first - gone) * sizeof *live->places);
    live->places[first] = place;
    live->count += 1 - gone;
}

// The point takes the place of what it overlaps. Two summaries may each have a point of one span: they become one.
static void arrives(struct space_curve *curve, struct live *live, size_t place) {
    struct region_point point = curve->regions[place];
    size_t first = live_from(live, curve->regions, point.start), gone = 0;
    for (; first + gone < live->count; gone++) {
        struct region_point *old = &curve->regions[live->places[first + gone]];
        if (old->start >= point.end) break;
        if (old->start != point.start) {
            end_region(curve, live->places[first + gone], point.index);
        } else if (old->index == point.index) {
            curve->regions[place].written += old->written;
            old->start = UINT64_MAX; // left out below
        }
    }
    replace(live, first, gone, place);
}

static void find_ends(struct space_curve *curve) {
    const struct curve_level *level = &curve->levels[0];
    struct live live = {0};
    size_t count = curve->region_count;
    for (size_t place = 0; place < count; place++)
        if (curve->regions[place].start < curve->regions[place].end) arrives(curve, &live, place);
    const struct curve_node *last = level->count ? &level->nodes[level->count - 1] : NULL;
    for (size_t i = 0; last && !last->virtual_bytes && i < live.count; i++)
        end_region(curve, live.places[i], last->index);
    free(live.places);
}

// --- order

static int by_start_then_index(const void *a, const void *b) {
    const struct region_point *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static void find_peaks(struct space_curve *curve) {
    size_t blocks = (curve->region_count + REGION_BLOCK - 1) / REGION_BLOCK;
    curve->region_peak = calloc(blocks ? blocks * 2 : 1, sizeof *curve->region_peak);
    if (!curve->region_peak) abort();
    for (size_t i = 0; i < curve->region_count; i++) {
        uint32_t *peak = &curve->region_peak[i / REGION_BLOCK * 2];
        if (curve->regions[i].resident > peak[0]) peak[0] = curve->regions[i].resident;
        if (curve->regions[i].written > peak[1]) peak[1] = curve->regions[i].written;
    }
}

void regions_finish(struct space_curve *curve) {
    find_ends(curve);
    if (curve->region_count) qsort(curve->regions, curve->region_count, sizeof *curve->regions, by_start_then_index);
    while (curve->region_count && curve->regions[curve->region_count - 1].start == UINT64_MAX) curve->region_count--;
    find_peaks(curve);
}

// --- columns

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

static bool maps(const struct region_point *point) { return point->end > point->start; }

// What the points [at, next) of a mapping add to a column; `before` is the last one before them, or NULL.
static void add_points(const struct space_curve *curve, const struct region_point *before, size_t at, size_t next,
                       struct timeline_region_column *column) {
    struct peak peak = peak_of(curve, at, next);
    bool was = before && maps(before);
    if (was && before->resident > peak.resident) peak.resident = before->resident;
    column->resident += peak.resident;
    column->written += peak.written;
    column->mapped |= was || (next > at && (next - at > 1 || maps(&curve->regions[at])));
}

// Adds the mapping whose points are [first, end).
static void add_mapping(const struct curves *curves, const struct space_curve *curve, size_t first, size_t end,
                        uint64_t from, uint64_t to, struct timeline_region_column *columns, size_t count) {
    uint64_t start = curve->regions[first].start;
    size_t at = first_region(curve, start, curves_span(curves, from));
    for (size_t i = 0; i < count; i++) {
        size_t next = first_region(curve, start, curves_span_up(curves, timeline_border(from, to, i + 1, count)));
        if (next > end) next = end;
        if (next < at) next = at;
        add_points(curve, at > first ? &curve->regions[at - 1] : NULL, at, next, &columns[i]);
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
        size_t next = first_region(curve, curve->regions[i].start + 1, 0);
        add_mapping(&overview->curves, curve, i, next, from, to, columns, count);
        i = next;
    }
}
