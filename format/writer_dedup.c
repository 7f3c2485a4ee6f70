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

// Each hash has two buckets, by its two halves: with a choice, buckets fill evenly.
static struct vmv_dedup_entry *bucket_of(const struct vmv_dedup *table, uint64_t half) {
    return table->entries + (half & (table->room / WAYS - 1)) * WAYS;
}

// An empty place of the bucket, or the one with the oldest number. *used: how many of its places were not empty.
static struct vmv_dedup_entry *victim(struct vmv_dedup_entry *bucket, unsigned *used) {
    struct vmv_dedup_entry *oldest = bucket;
    *used = bucket->number != 0;
    for (int i = 1; i < WAYS; i++) {
        *used += bucket[i].number != 0;
        if (bucket[i].number < oldest->number) oldest = &bucket[i];
    }
    return oldest;
}

static void place(struct vmv_dedup *table, const struct vmv_dedup_entry *entry) {
    unsigned used_one, used_other;
    struct vmv_dedup_entry *one = victim(bucket_of(table, entry->low), &used_one);
    struct vmv_dedup_entry *other = victim(bucket_of(table, entry->high), &used_other);
    bool first = used_one != used_other ? used_one < used_other : one->number <= other->number;
    struct vmv_dedup_entry *chosen = first ? one : other;
    table->count += chosen->number == 0;
    *chosen = *entry;
}

static uint64_t find_in(const struct vmv_dedup_entry *bucket, XXH128_hash_t hash) {
    for (int i = 0; i < WAYS; i++)
        if (bucket[i].low == hash.low64 && bucket[i].high == hash.high64) return bucket[i].number;
    return 0;
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
    for (size_t i = 0; i < old.room; i++)
        if (old.entries[i].number != 0) place(table, &old.entries[i]);
    free(old.entries);
}

uint64_t vmv_dedup_find_or_add(struct vmv_dedup *table, const void *bytes, size_t length, uint64_t number) {
    if (table->count >= table->room / 4 * 3 && table->room < table->limit) grow(table);
    if (table->room == 0) return number;
    XXH128_hash_t hash = XXH3_128bits(bytes, length);
    uint64_t known = find_in(bucket_of(table, hash.low64), hash);
    if (known == 0) known = find_in(bucket_of(table, hash.high64), hash);
    if (known != 0) return known;
    place(table, &(struct vmv_dedup_entry){.low = hash.low64, .high = hash.high64, .number = number});
    return number;
}
