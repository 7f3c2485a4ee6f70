// A bounded table from the hash of some bytes to the number they were stored under. Full, it forgets the oldest
// number of a bucket: then a repeat is stored again, which costs space and never correctness.
#ifndef VMV_WRITER_DEDUP_H
#define VMV_WRITER_DEDUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vmv_dedup_entry {
    uint64_t low, high; // XXH3-128
    uint64_t number;    // 0: empty
};
struct vmv_dedup {
    struct vmv_dedup_entry *entries;
    size_t room; // entries, a power of two
    size_t count;
    size_t limit; // most entries, a power of two
};

void vmv_dedup_init(struct vmv_dedup *table, size_t limit_bytes);
void vmv_dedup_free(struct vmv_dedup *table);
// The number stored for these bytes, or `number` (not 0), under which they are then kept.
uint64_t vmv_dedup_find_or_add(struct vmv_dedup *table, const void *bytes, size_t length, uint64_t number);

#endif
