// Columns of one thread: how much of the time it ran.
#include "timeline_internal.h"

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
        uint64_t low = timeline_border(from, to, i, count), high = timeline_border(from, to, i + 1, count);
        if (low < life.from) low = life.from;
        if (high > life.to) high = life.to;
        if (high < low || (high == low && (timeline_border(from, to, i, count) >= life.to ||
                                           timeline_border(from, to, i + 1, count) <= life.from)))
            continue;
        double run = curve ? run_until(&overview->curves, curve, high) - run_until(&overview->curves, curve, low) : 0;
        double share = high > low ? run / (double)(high - low) : 0;
        shares[i] = share < 0 ? 0 : share > 1 ? 1 : (float)share;
    }
}
