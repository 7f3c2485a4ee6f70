// What a place in memory is, in words for someone who learns.
#ifndef EXPLAIN_H
#define EXPLAIN_H

#include "decode.h"
#include "explain_topics.h"

struct explanation {
    const struct explain_topic *topic;
    const char *title, *text; // with values in place
};

enum { EXPLAIN_MOST = 12 };
struct explanations {
    struct explanation items[EXPLAIN_MOST]; // the most particular first
    size_t count;
    struct vmv_arena arena;
};

// All that is known of an address at the moment. `heap`: also of which block of the heap it is part, which takes a walk
// over the heap. Free with explain_free().
void decode_explain(struct decode *d, uint32_t space, uint64_t addr, bool heap, struct explanations *out);
void explain_free(struct explanations *explanations);

const struct explain_topic *explain_topic(const char *name); // NULL: there is none of that name
// The topic of a section by its name.
const char *explain_section_topic(const char *name);

#endif
