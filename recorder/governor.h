// The budget: what recording costs the program is counted, bounded and told. Time earns credit at the rate of the
// budget; frames, faults, stops and the contents packed at the end spend it. Private to the tracer's files.
#ifndef REC_GOVERNOR_H
#define REC_GOVERNOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tracer;
struct rec_space;

enum governor_step { // what may be given up, in this order; each is told in the trace when it goes and when it is back
    GOVERNOR_FRAMES, // put off, up to 2 s
    GOVERNOR_STACKS, // of fault records
    GOVERNOR_CONTENTS, // of frames: a part of the pages written
    GOVERNOR_RECORDS,  // of faults
    GOVERNOR_STEPS
};

struct governor {
    uint64_t looked, cost_seen; // ns: when last, and the cost then
    double credit_ns;           // what may still be spent; below 0: owed
    struct governor_given {
        bool given;
        uint64_t since; // ns
        uint64_t times;
    } given[GOVERNOR_STEPS];
    uint64_t calm_since;               // ns, since when frames need not be put off; 0: they must
    uint64_t records_seen, records_at; // fault records, and when they were counted
    uint64_t records_back;             // ns, until when they are left out
    uint64_t faults_before;            // of the program's processes, when records were switched off
    uint64_t armed_ns;                 // write faults that armed pages caused, at their price
    uint64_t frames_put_off, records_left_out;
};

// Of one address space: what its next frame will cost.
struct governor_space {
    uint64_t faults;   // minor faults of its processes at the last frame
    uint64_t resident; // pages at the last frame
    uint64_t armed;    // pages armed by the last frame
    double rewritten;  // the part of them that is written again before the next, 0 to 1
    double page_ns;    // of a frame, per page written
    double charged;    // ns, for faults on what is armed now
};

void governor_start(struct tracer *tracer);
bool governor_allows(struct tracer *tracer, struct rec_space *space, uint64_t now); // a frame, at this moment
// A frame has found (and armed) so many pages and held the space for so long.
void governor_frame_done(struct tracer *tracer, struct rec_space *space, uint64_t pages, uint64_t held_ns);
// Bytes of contents that a frame may copy; last: the memory goes after it.
uint64_t governor_copies(const struct tracer *tracer, bool last);
void governor_contents_short(struct tracer *tracer, bool is_short); // not all that was due was copied
void governor_tick(struct tracer *tracer, uint64_t now);
void governor_end(struct tracer *tracer, uint64_t now); // closes what is open
uint64_t governor_fault_cost(struct tracer *tracer);    // ns so far
// "; 12 frames put off; ..." or "".
void governor_summary(const struct governor *governor, char *text, size_t size);

#endif
