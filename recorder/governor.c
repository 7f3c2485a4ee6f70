// The budget: what recording costs the program is measured and bounded. Time earns credit at the rate of the budget, up
// to what is free; frames and faults spend it. Without credit a frame is put off, for 2 s at most.
#include "tracer.h"

#include "fault_server.h"
#include "perf_records.h"

#include <stdio.h>

// The first 50 ms are free. A fault on an armed page costs 1.0 to 1.2 us and its record 0.4 to 0.6 us; registers and
// 2 KiB of stack in a record another 1.3 us (measured, docs/DESIGN.md).
// A first touch that is served costs 15 to 22 us.
enum {
    FREE_NS = 50000000,
    FAULT_NS = 1600,
    FAULT_STACK_NS = 1300,
    FAULT_SERVED_NS = 18000,
    INTERVAL_MAX_NS = 2000000000,
    CALM_NS = 500000000,
    FRAME_COPY_BYTES = 16 << 20, // about 5 ms
};

static uint64_t served_cost(struct tracer *tracer) {
    struct fault_server_counts counts;
    fault_server_counts(tracer->fault_server, &counts);
    return counts.faults * FAULT_SERVED_NS;
}

static uint64_t fault_cost(struct tracer *tracer) {
    if (tracer->fault_server) return served_cost(tracer);
    if (!tracer->records) return 0;
    struct perf_records_counts counts;
    perf_records_counts(tracer->records, &counts);
    return counts.faults * FAULT_NS + counts.stacks * FAULT_STACK_NS;
}

void governor_tick(struct tracer *tracer, uint64_t now) {
    tracer->cost.faults = fault_cost(tracer);
    uint64_t cost = tracer->cost.held + tracer->cost.stops + tracer->cost.faults;
    double earned = (double)(now - tracer->governed) * tracer->options->budget_percent / 100;
    tracer->credit_ns += earned - (double)(cost - tracer->governed_cost);
    if (tracer->credit_ns > FREE_NS) tracer->credit_ns = FREE_NS;
    tracer->governed = now;
    tracer->governed_cost = cost;
}

static bool bounded(const struct tracer *tracer) { return tracer->options->budget_percent >= 0; }

bool governor_allows(struct tracer *tracer, const struct rec_space *space, uint64_t now) {
    if (!bounded(tracer)) return true;
    governor_tick(tracer, now);
    bool allowed = tracer->credit_ns > 0 || now - space->last_frame >= INTERVAL_MAX_NS;
    if (!allowed && !tracer->put_off) {
        tracer->put_off = now;
        tracer_note(tracer, VMV_EV_GOVERNOR, NULL, "over budget: frames are put off");
    }
    if (allowed) tracer->calm_since = tracer->calm_since ? tracer->calm_since : now;
    if (!allowed) tracer->calm_since = 0;
    if (!allowed) tracer->frames_put_off++;
    if (tracer->put_off && tracer->calm_since && now - tracer->calm_since >= CALM_NS) {
        tracer->put_off = 0;
        tracer_note(tracer, VMV_EV_GOVERNOR, NULL, "within budget again: frames every %.0f ms",
                    (double)tracer->interval_ns / 1e6);
    }
    return allowed;
}

// Contents of a frame, in bytes, so that no pause is long: the rest is owed to the next ones.
uint64_t governor_copies(const struct tracer *tracer) {
    return tracer->options->budget_percent < 0 ? UINT64_MAX : FRAME_COPY_BYTES;
}

void governor_start(struct tracer *tracer) { tracer->credit_ns = FREE_NS; }
