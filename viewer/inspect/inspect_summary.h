// What the summary command tells, gathered from the trace.
#ifndef INSPECT_SUMMARY_H
#define INSPECT_SUMMARY_H

#include "inspect.h"

enum { SUMMARY_ROWS = 10, SUMMARY_NOTES = 32 };

struct grower {          // a mapping at the end that has more resident pages than at the beginning
    uint64_t start, end; // bytes
    uint64_t bytes;      // grown by
    const char *name;
    uint64_t pc;          // of the instruction that touched most of its pages, 0: not known
    uint64_t touches;     // by it
    uint64_t all_touches; // by any: fault records of the kinds first-touch and file
};
struct busy { // a page and how often it was seen written: once a frame or fault at most
    uint64_t addr, writes;
    const char *name; // of its mapping
};

struct summary {
    int32_t pid;
    uint64_t from, to;                                    // ns, of what is gathered
    uint64_t began;                                       // ns, what is shown as the beginning: as --at start
    uint64_t peak_resident, peak_virtual, final_resident; // bytes
    struct grower growers[SUMMARY_ROWS];                  // largest first
    size_t grower_count;
    struct busy busiest[SUMMARY_ROWS]; // most first
    size_t busy_count;
    const char *notes[SUMMARY_NOTES];
    size_t note_count;
    struct vmv_arena arena; // names and notes
};

bool summary_gather(struct inspect *in, struct summary *summary, int *status); // false: in->error
void summary_free(struct summary *summary);

// inspect_summary_touch.c: the instruction that touched most pages of each grower, by fault records in [from, to).
void summary_find_touchers(struct inspect *in, struct summary *summary, uint32_t space);
// inspect_summary_notes.c: what a reader of the numbers must know.
void summary_note_all(struct inspect *in, struct summary *summary, const struct vmv_space *space);

#endif
