#include "governor.h"

#include "fault_server.h"
#include "perf_records.h"
#include "tracer.h"

#include <stdio.h>

enum {
    FREE_NS = 8000000,          // what a short program may cost at once, and what calm may save up
    STACKS_DEBT_NS = 5000000,   // owed before stacks are given up,
    RECORDS_DEBT_NS = 15000000, // and records
    // A record takes 0.7 us, with registers and 2 KiB of stack 1.3 us more; a write to an armed page 1.1 us; a first
    // touch that is served 15 to 22 us (measured, docs/DESIGN.md). What they do to the caches and the TLB comes on top:
    // whole runs cost about twice that.
    RECORD_NS = 1000,
    STACK_NS = 2000,
    ARMED_NS = 2200,
    SHADOW_NS = 300000, // of a frame: the program starts again with a cold TLB
    FAULT_SERVED_NS = 18000,
    INTERVAL_MAX_NS = 2000000000,
    CALM_NS = 500000000,
    FRAME_COPY_BYTES = 16 << 20, // about 5 ms
    LEAST_COPY_BYTES = 512 << 10,
    FRAME_NS = 150000,  // of a frame that finds nothing
    PAGE_NS = 500,      // to find, arm and copy one, until it was measured
    LAST_NS = 6000000,  // the end of a run may take this long even without credit
    TICK_NS = 10000000, // the tracer looks this often at least
};
// Of the budget, what may be spent on what is counted: whole runs cost half as much again (caches, the writer beside
// the program, processors that must be woken).
static const double counted_part = 0.65;
static const double copy_bytes_per_ns = 2.5, pack_bytes_per_ns = 0.4;

static bool bounded(const struct tracer *tracer) { return tracer->options->budget_percent >= 0; }

static double minimum(double a, double b) { return a < b ? a : b; }

// ---------------------------------------------------------------------------------------------- steps

static const char *const step_texts[GOVERNOR_STEPS][2] = {
    {"within budget again: frames come at their interval", "over budget: frames are put off"},
    {"within budget again: stacks with fault records", "over budget: fault records without stacks"},
    {"within budget again: all contents", "over budget: contents of a part of the pages written"},
    {"within budget again: fault records", "over budget: fault records are left out"},
};

static void take_step(struct tracer *tracer, enum governor_step step, bool give, uint64_t now) {
    struct governor_given *given = &tracer->governor.given[step];
    if (given->given == give) return;
    given->given = give;
    given->since = now;
    given->times += give;
    tracer_note(tracer, VMV_EV_GOVERNOR, NULL, "%s", step_texts[step][give]);
}

// ---------------------------------------------------------------------------------------------- what it costs

static uint64_t served_cost(struct tracer *tracer) {
    struct fault_server_counts counts;
    fault_server_counts(tracer->fault_server, &counts);
    return counts.faults * FAULT_SERVED_NS;
}

uint64_t governor_fault_cost(struct tracer *tracer) {
    uint64_t cost = tracer->governor.armed_ns;
    if (tracer->fault_server) cost += served_cost(tracer);
    if (!tracer->records) return cost;
    struct perf_records_counts counts;
    perf_records_counts(tracer->records, &counts);
    return cost + perf_records_written(tracer->records) * RECORD_NS + counts.stacks * STACK_NS;
}

static void count_credit(struct tracer *tracer, uint64_t now) {
    struct governor *governor = &tracer->governor;
    tracer->cost.faults = governor_fault_cost(tracer);
    uint64_t cost = tracer->cost.held + tracer->cost.stops + tracer->cost.faults - governor->armed_ns;
    double earned = (double)(now - governor->looked) * tracer->options->budget_percent / 100 * counted_part;
    governor->credit_ns += earned - (double)(cost - governor->cost_seen);
    double debt_most = INTERVAL_MAX_NS * tracer->options->budget_percent / 100;
    if (governor->credit_ns > FREE_NS) governor->credit_ns = FREE_NS;
    if (governor->credit_ns < -debt_most) governor->credit_ns = -debt_most;
    governor->looked = now;
    governor->cost_seen = cost;
}

static uint64_t faults_of(struct tracer *tracer, const struct rec_space *space) {
    uint64_t sum = 0;
    for (struct rec_process *process = tracer->table.processes; process; process = process->next) {
        uint64_t faults;
        bool of_space = !space || process->space == space;
        if (of_space && procstat_minor_faults(process->pid, &faults) == 0) sum += faults;
    }
    return sum;
}

// ---------------------------------------------------------------------------------------------- fault records

// The kernel cannot leave out the records of some addresses: all are switched off, for as long as it takes to earn what
// the next while will cost. The end is planned, so that the gap can be written with both its ends when it begins.
static void records_off(struct tracer *tracer, uint64_t now) {
    struct governor *governor = &tracer->governor;
    double pause = (FREE_NS / 2 - governor->credit_ns) * 100 / tracer->options->budget_percent / counted_part;
    if (pause > INTERVAL_MAX_NS) pause = INTERVAL_MAX_NS;
    perf_records_enable(tracer->records, false);
    governor->faults_before = faults_of(tracer, NULL);
    governor->records_back = now + (uint64_t)pause;
    take_step(tracer, GOVERNOR_RECORDS, true, now);
    struct vmv_event event = tracer_event(tracer, VMV_EV_GAP, NULL);
    event.to = governor->records_back;
    event.name = "fault records are left out to keep within the budget";
    tracer_emit(tracer, &event, NULL);
}

static void count_left_out(struct tracer *tracer) {
    struct governor *governor = &tracer->governor;
    uint64_t faults = faults_of(tracer, NULL);
    if (faults > governor->faults_before) governor->records_left_out += faults - governor->faults_before;
}

static void records_on(struct tracer *tracer, uint64_t now) {
    count_left_out(tracer);
    perf_records_enable(tracer->records, true);
    if (tracer->governor.given[GOVERNOR_STACKS].given) perf_records_stacks(tracer->records, false);
    take_step(tracer, GOVERNOR_RECORDS, false, now);
}

static void govern_records(struct tracer *tracer, uint64_t now) {
    struct governor *governor = &tracer->governor;
    if (!tracer->records) return;
    uint64_t written = perf_records_written(tracer->records);
    double spent = (double)(written - governor->records_seen) * RECORD_NS,
           passed = (double)(now - governor->records_at);
    bool off = governor->given[GOVERNOR_RECORDS].given;
    governor->records_seen = written;
    governor->records_at = now;
    bool costly = spent > passed * tracer->options->budget_percent / 100;
    if (!off && costly && governor->credit_ns < -RECORDS_DEBT_NS) records_off(tracer, now);
    if (off && now + TICK_NS >= governor->records_back) records_on(tracer, now);
}

static void govern_stacks(struct tracer *tracer, uint64_t now) {
    struct governor *governor = &tracer->governor;
    if (!tracer->records || !tracer->options->stack_bytes) return;
    bool off = governor->given[GOVERNOR_STACKS].given;
    if (!off && governor->credit_ns < -STACKS_DEBT_NS) {
        perf_records_stacks(tracer->records, false);
        take_step(tracer, GOVERNOR_STACKS, true, now);
    }
    if (off && governor->credit_ns > FREE_NS * 3 / 4 && !governor->given[GOVERNOR_RECORDS].given) {
        perf_records_stacks(tracer->records, true);
        take_step(tracer, GOVERNOR_STACKS, false, now);
    }
}

void governor_tick(struct tracer *tracer, uint64_t now) {
    if (!bounded(tracer)) {
        tracer->cost.faults = governor_fault_cost(tracer);
        return;
    }
    count_credit(tracer, now);
    govern_records(tracer, now);
    govern_stacks(tracer, now);
}

void governor_end(struct tracer *tracer, uint64_t now) {
    governor_tick(tracer, now);
    if (tracer->governor.given[GOVERNOR_RECORDS].given) count_left_out(tracer);
}

// ---------------------------------------------------------------------------------------------- frames

// Pages are found by their faults: each first touch and each first write after arming is one.
static double expected_cost(struct tracer *tracer, struct rec_space *space) {
    struct governor_space *of = &space->budget;
    uint64_t faults = faults_of(tracer, space);
    double pages = faults > of->faults ? (double)(faults - of->faults) : 0;
    double page_ns = of->page_ns > 0 ? of->page_ns : PAGE_NS;
    return FRAME_NS + SHADOW_NS + pages * (page_ns + ARMED_NS * of->rewritten);
}

bool governor_allows(struct tracer *tracer, struct rec_space *space, uint64_t now) {
    struct governor *governor = &tracer->governor;
    if (!bounded(tracer)) return true;
    count_credit(tracer, now);
    double need = minimum(expected_cost(tracer, space), FREE_NS * 0.9);
    bool allowed = governor->credit_ns >= need || now - space->last_frame >= INTERVAL_MAX_NS;
    if (!allowed) {
        take_step(tracer, GOVERNOR_FRAMES, true, now);
        governor->frames_put_off++;
        governor->calm_since = 0;
        return false;
    }
    if (!governor->calm_since) governor->calm_since = now;
    if (now - governor->calm_since >= CALM_NS) take_step(tracer, GOVERNOR_FRAMES, false, now);
    return true;
}

// What is armed will be paid by write faults later. It is charged now, by the experience of the frame before, and set
// right at the next frame.
void governor_frame_done(struct tracer *tracer, struct rec_space *space, uint64_t pages, uint64_t held_ns) {
    struct governor *governor = &tracer->governor;
    struct governor_space *of = &space->budget;
    uint64_t resident = 0;
    tracer->cost.held += held_ns;
    governor->credit_ns -= SHADOW_NS;
    if (!bounded(tracer) || !space->track) return;
    procstat_resident(space->pid, &resident);
    uint64_t fresh = resident > of->resident ? resident - of->resident : 0;
    uint64_t again = pages > fresh ? pages - fresh : 0;
    if (again > of->armed) again = of->armed;
    governor->armed_ns += again * ARMED_NS;
    governor->credit_ns += of->charged - (double)(again * ARMED_NS);
    if (of->armed) of->rewritten = (of->rewritten + (double)again / (double)of->armed) / 2;
    if (pages > 64) of->page_ns = ((of->page_ns > 0 ? of->page_ns : PAGE_NS) + (double)held_ns / (double)pages) / 2;
    of->armed = pages;
    of->resident = resident;
    of->faults = faults_of(tracer, space);
    of->charged = (double)pages * of->rewritten * ARMED_NS;
    governor->credit_ns -= of->charged;
}

// Contents of a frame, so that no pause is long: the rest is owed to the next ones. Of the last one, what can be packed
// soon, for whoever waits for the program's end waits for that too.
uint64_t governor_copies(const struct tracer *tracer, bool last) {
    if (!bounded(tracer)) return UINT64_MAX;
    double credit = tracer->governor.credit_ns;
    double bytes = last ? (credit > LAST_NS ? credit : LAST_NS) * pack_bytes_per_ns : credit * copy_bytes_per_ns;
    if (bytes < LEAST_COPY_BYTES) return LEAST_COPY_BYTES;
    return bytes < FRAME_COPY_BYTES ? (uint64_t)bytes : FRAME_COPY_BYTES;
}

void governor_contents_short(struct tracer *tracer, bool is_short) {
    if (bounded(tracer)) take_step(tracer, GOVERNOR_CONTENTS, is_short, tracer_now(tracer));
}

// ---------------------------------------------------------------------------------------------- beginning and end

void governor_start(struct tracer *tracer) {
    tracer->governor.credit_ns = FREE_NS;
    tracer->governor.looked = tracer->governor.records_at = tracer_now(tracer);
}

void governor_summary(const struct governor *governor, char *text, size_t size) {
    size_t length = 0;
    text[0] = 0;
    if (governor->frames_put_off)
        length = (size_t)snprintf(text, size, "; %lu frames put off", governor->frames_put_off);
    if (governor->given[GOVERNOR_CONTENTS].times && length < size)
        length += (size_t)snprintf(text + length, size - length, "; some contents left out");
    if (governor->records_left_out && length < size)
        snprintf(text + length, size - length, "; %lu fault records left out", governor->records_left_out);
}
