// Texts with values in place.
#ifndef EXPLAIN_TEXT_H
#define EXPLAIN_TEXT_H

#include "arena.h"

#include <stdint.h>

enum { EXPLAIN_VALUES = 32, EXPLAIN_VALUE_LONGEST = 200 };
struct explain_values {
    struct {
        const char *name;
        char text[EXPLAIN_VALUE_LONGEST];
    } items[EXPLAIN_VALUES];
    size_t count;
};
__attribute__((format(printf, 3, 4))) void explain_set(struct explain_values *values, const char *name,
                                                       const char *format, ...);
void explain_set_size(struct explain_values *values, const char *name, uint64_t bytes); // "12.5 KiB"
void explain_set_time(struct explain_values *values, const char *name, uint64_t ns);    // "1.250 000 s"

// The text with its values, without the parts in [[ ]] of which a value is not known; elsewhere it is "unknown".
const char *explain_fill(struct vmv_arena *arena, const char *text, const struct explain_values *values);

#endif
