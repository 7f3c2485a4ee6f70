// A bucket while it is being filled: private to summary*.c.
#ifndef VMV_SUMMARY_BUCKET_H
#define VMV_SUMMARY_BUCKET_H

#include "summary.h"

// Pages of one space that were touched and written in the bucket: exact, so that no page counts twice. When the budget
// of leaves (512 pages) is used up it only counts.
struct leaf_bits {
    uint64_t key; // page number >> 9, plus 1; 0: free slot
    uint64_t touched[8], written[8];
};
struct page_set {
    struct leaf_bits *slots; // open addressing
    size_t room, count;
    size_t recent;
    uint64_t uncounted; // pages written that found no place
};
void page_set_add(struct page_set *set, uint64_t first, uint64_t count, bool written, size_t *budget);
uint64_t page_set_written(const struct page_set *set);
struct leaf_bits **page_set_sorted(const struct page_set *set); // by key, set->count of them; free()
void page_set_clear(struct page_set *set);

struct address_range {
    uint64_t start, end;
};

struct open_bucket {
    struct vmv_bucket bucket;
    size_t thread_room;
    struct page_set pages;
    struct address_range *marks; // ranges whose mappings changed
    size_t mark_count, mark_room;
};
void open_bucket_mark(struct open_bucket *open, uint64_t start, uint64_t end);
void open_bucket_clear(struct open_bucket *open); // for the next use; the bucket's arrays were given away
void open_bucket_free(struct open_bucket *open);
// Levels and regions from the space (NULL: it is gone). Afterwards open->bucket is complete.
void open_bucket_close(struct open_bucket *open, const struct vmv_space *space);

// One thread's time in a bucket; `room` of its array.
void bucket_add_thread(struct vmv_bucket *bucket, size_t *room, int32_t tid, uint64_t run_us);

void vmv_buckets_encode(struct vmv_out *out, const struct vmv_bucket *buckets, size_t count);

#endif
