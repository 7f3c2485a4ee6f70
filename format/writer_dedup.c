#include "writer_dedup.h"

#include <stdlib.h>
#include <xxhash.h>

enum { WAYS = 4, FIRST_ROOM = 4096 };

void vmv_dedup_init(struct vmv_dedup *table, size_t limit_bytes) {
    *table = (struct vmv_dedup){.limit = WAYS};
    while (2 * table->limit * sizeof *table->entries <= limit_bytes) table->limit *= 2;
}

void vmv_dedup_free(struct vmv_dedup *table) {
    free(table->entries);
    *table = (struct vmv_dedup){0};
}

static struct vmv_dedup_entry *bucket_of(const struct vmv_dedup *table, uint64_t low) {
    return table->entries + (low & (table->room / WAYS - 1)) * WAYS;
}

// An empty place of the bucket, or the one with the oldest number.
static struct vmv_dedup_entry *victim(struct vmv_dedup_entry *bucket) {
    struct vmv_dedup_entry *oldest = bucket;
    for (int i = 1; i < WAYS; i++)
        if (bucket[i].number < oldest->number) oldest = &bucket[i];
    return oldest;
}

static void grow(struct vmv_dedup *table) {
    struct vmv_dedup old = *table;
    size_t room = old.room ? 2 * old.room : FIRST_ROOM;
    if (room > old.limit) room = old.limit;
    struct vmv_dedup_entry *entries = calloc(room, sizeof *entries);
    if (!entries) {
        table->limit = old.room;
        return;
    }
    table->entries = entries;
    table->room = room;
    table->count = 0;
    for (size_t i = 0; i < old.room; i++) {
        if (old.entries[i].number == 0) continue;
        struct vmv_dedup_entry *place = victim(bucket_of(table, old.entries[i].low));
        table->count += place->number == 0;
        *place = old.entries[i];
    }
    free(old.entries);
}

uint64_t vmv_dedup_find_or_add(struct vmv_dedup *table, const void *bytes, size_t length, uint64_t number) {
    if (table->count >= table->room / 4 * 3 && table->room < table->limit) grow(table);
    if (table->room == 0) return number;
    XXH128_hash_t hash = XXH3_128bits(bytes, length);
    struct vmv_dedup_entry *bucket = bucket_of(table, hash.low64);
    for (int i = 0; i < WAYS; i++)
        if (bucket[i].low == hash.low64 && bucket[i].high == hash.high64 && bucket[i].number) return bucket[i].number;
    struct vmv_dedup_entry *place = victim(bucket);
    table->count += place->number == 0;
    *place = (struct vmv_dedup_entry){.low = hash.low64, .high = hash.high64, .number = number};
    return number;
}
