// What --exclude names: memory whose contents are never captured. Pure.
#ifndef REC_EXCLUDE_H
#define REC_EXCLUDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EXCLUDE_MAX = 32 };

struct vmv_mapping;

struct exclude {
    struct exclude_item {
        const char *name; // of a region: "[heap]", a path or its last part; NULL: a range
        uint64_t start, end;
    } items[EXCLUDE_MAX];
    unsigned count;
};

// "0xADDR,LEN", "0xADDR-0xADDR" or the name of a region; keeps the text. False: no such form, or too many.
bool exclude_parse(struct exclude *exclude, const char *text);
// Whether the mapping as a whole is excluded by its name. NULL: no.
bool exclude_names(const struct exclude *exclude, const struct vmv_mapping *mapping);
// Whether the page at addr is excluded by an address range; *end is lowered to where the answer ends. page: its bytes.
bool exclude_covers(const struct exclude *exclude, uint64_t addr, uint64_t page, uint64_t *end);
// Whether pieces of stacks may belong to what is excluded.
bool exclude_touches_stacks(const struct exclude *exclude);
// As given, one after the other; "" if there are none.
void exclude_text(const struct exclude *exclude, char *text, size_t size);

#endif
