// The texts of docs/explain/, compiled in. In a text {name} stands for a value, and what stands in [[ ]] goes where one
// of its values is not known.
#ifndef EXPLAIN_TOPICS_H
#define EXPLAIN_TOPICS_H

#include <stddef.h>

struct explain_topic {
    const char *name, *title, *links, *text; // links: names, separated by ", "
};
extern const struct explain_topic explain_topics[]; // by name
extern const size_t explain_topic_count;

#endif
