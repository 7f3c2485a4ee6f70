// The budget: what recording costs the program is measured and bounded. The governor stretches the frame interval when
// the cost of the last while was above the budget, and takes it back when there is calm.
#include "tracer.h"

#include "perf_records.h"

#include <stdio.h>

enum { PERIOD_NS = 100000000, FREE_NS = 50000000, INTERVAL_MAX_NS = 2000000000, FAULT_NS = 500, FAULT_STACK_NS = 1300 };

// Faults at the price measured for a record (0.4-0.6 us) and for one with registers and 2 KiB of stack (1.2-1.3 us).
static uint64_t fault_cost(struct tracer *tracer) {
    if (!tracer->records) return 0;
    struct perf_records_counts counts;
    perf_records_counts(tracer->records, &counts);
    return counts.faults * FAULT_NS + counts.stacks * FAULT_STACK_NS;
}

static void set_interval(struct tracer *tracer, uint64_t interval) {
    if (interval < tracer->options->interval_ns) interval = tracer->options->interval_ns;
    if (interval > INTERVAL_MAX_NS) interval = INTERVAL_MAX_NS;
    if (interval == tracer->interval_ns) return;
    tracer->interval_ns = interval;
    tracer_note(tracer, VMV_EV_GOVERNOR, NULL, "frame interval %.0f ms", (double)interval / 1e6);
}

void governor_tick(struct tracer *tracer, uint64_t now) {
    tracer->cost.faults = fault_cost(tracer);
    if (now - tracer->governed < PERIOD_NS) return;
    uint64_t cost = tracer->cost.held + tracer->cost.faults;
    uint64_t span = now - tracer->governed, spent = cost - tracer->governed_cost;
    tracer->governed = now;
    tracer->governed_cost = cost;
    double budget = tracer->options->budget_percent / 100;
    if (budget < 0 || cost < FREE_NS || !tracer->options->interval_auto) return;
    double share = (double)spent / (double)span;
    // What frames cost falls about as fast as their number: aim at the budget, without leaping.
    double factor = share / budget < 4 ? share / budget : 4;
    if (share > budget) set_interval(tracer, (uint64_t)((double)tracer->interval_ns * factor));
    if (share < budget / 2) set_interval(tracer, tracer->interval_ns - tracer->interval_ns / 4);
}
