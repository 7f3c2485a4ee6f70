#include "summary_bucket.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF_SHIFT = 9, LEAF_PAGES = 512, WORDS = 8, MOST_MARKS = 1024, MOST_REGIONS = 4096 };

static void *grow(void *array, size_t *room, size_t count, size_t size) {
    if (count < *room) return array;
    *room = *room ? *room * 2 : 8;
    array = realloc(array, *room * size);
    if (!array) abort();
    return array;
}

// --- sets of pages

static struct leaf_bits *slot_of(const struct page_set *set, uint64_t key) {
    size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (set->room - 1);
    while (set->slots[at].key && set->slots[at].key != key) at = (at + 1) & (set->room - 1);
    return &set->slots[at];
}

static void set_grow(struct page_set *set) {
    struct page_set old = *set;
    set->room = old.room ? old.room * 2 : 16;
    set->slots = calloc(set->room, sizeof *set->slots);
    if (!set->slots) abort();
    for (size_t i = 0; i < old.room; i++)
        if (old.slots[i].key) *slot_of(set, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

static struct leaf_bits *set_leaf(struct page_set *set, uint64_t leaf, size_t *budget) {
    uint64_t key = leaf + 1;
    if (set->room && set->slots[set->recent].key == key) return &set->slots[set->recent];
    if (set->count * 2 >= set->room) set_grow(set);
    struct leaf_bits *bits = slot_of(set, key);
    if (!bits->key) {
        if (!*budget) return NULL;
        --*budget;
        set->count++;
    }
    bits->key = key;
    set->recent = (size_t)(bits - set->slots);
    return bits;
}

static void set_bits(uint64_t *words, unsigned first, unsigned count) {
    for (unsigned i = first / 64; count; i++) {
        unsigned from = first % 64, here = count < 64 - from ? count : 64 - from;
        words[i] |= (here == 64 ? ~UINT64_C(0) : (UINT64_C(1) << here) - 1) << from;
        first += here;
        count -= here;
    }
}

void page_set_add(struct page_set *set, uint64_t first, uint64_t count, bool written, size_t *budget) {
    while (count) {
        unsigned place = (unsigned)(first % LEAF_PAGES);
        uint64_t here = count < LEAF_PAGES - place ? count : LEAF_PAGES - place;
        struct leaf_bits *bits = set_leaf(set, first >> LEAF_SHIFT, budget);
        if (!bits) {
            set->uncounted += written ? count : 0;
            return;
        }
        set_bits(bits->touched, place, (unsigned)here);
        if (written) set_bits(bits->written, place, (unsigned)here);
        first += here;
        count -= here;
    }
}

uint64_t page_set_written(const struct page_set *set) {
    uint64_t pages = set->uncounted;
    for (size_t i = 0; i < set->room; i++)
        for (unsigned w = 0; set->slots[i].key && w < WORDS; w++)
            pages += (unsigned)__builtin_popcountll(set->slots[i].written[w]);
    return pages;
}

static int by_key(const void *a, const void *b) {
    const struct leaf_bits *const *x = a, *const *y = b;
    return (*x)->key < (*y)->key ? -1 : (*x)->key > (*y)->key;
}

struct leaf_bits **page_set_sorted(const struct page_set *set) {
    struct leaf_bits **sorted = malloc((set->count + 1) * sizeof *sorted);
    if (!sorted) abort();
    size_t count = 0;
    for (size_t i = 0; i < set->room; i++)
        if (set->slots[i].key) sorted[count++] = &set->slots[i];
    qsort(sorted, count, sizeof *sorted, by_key);
    return sorted;
}

void page_set_clear(struct page_set *set) {
    if (set->room > 256) { // a storm is over: give the memory back
        free(set->slots);
        *set = (struct page_set){0};
        return;
    }
    if (set->count) memset(set->slots, 0, set->room * sizeof *set->slots);
    set->count = set->recent = 0;
    set->uncounted = 0;
}

// --- open buckets

void open_bucket_mark(struct open_bucket *open, uint64_t start, uint64_t end) {
    if (start >= end || open->mark_count >= MOST_MARKS) return;
    open->marks = grow(open->marks, &open->mark_room, open->mark_count, sizeof *open->marks);
    open->marks[open->mark_count++] = (struct address_range){start, end};
}

void open_bucket_clear(struct open_bucket *open) {
    page_set_clear(&open->pages);
    open->bucket = (struct vmv_bucket){0};
    open->thread_room = open->mark_count = 0;
}

void open_bucket_free(struct open_bucket *open) {
    free(open->pages.slots);
    free(open->marks);
    free(open->bucket.regions);
    free(open->bucket.threads);
}

void bucket_add_thread(struct vmv_bucket *bucket, size_t *room, int32_t tid, uint64_t run_us) {
    const uint64_t most = (UINT64_C(1) << VMV_BUCKET_SHIFT) / 1000; // there is no more time in a bucket
    if (!run_us) return;
    for (size_t i = 0; i < bucket->thread_count; i++) {
        struct vmv_bucket_thread *thread = &bucket->threads[i];
        if (thread->tid != tid) continue;
        thread->run_us = (uint32_t)(thread->run_us + run_us < most ? thread->run_us + run_us : most);
        return;
    }
    bucket->threads = grow(bucket->threads, room, bucket->thread_count, sizeof *bucket->threads);
    bucket->threads[bucket->thread_count++] =
        (struct vmv_bucket_thread){tid, (uint32_t)(run_us < most ? run_us : most)};
}

// --- the regions that changed

struct touched { // a mapping of the space, by place
    size_t place;
    uint64_t written;
};
struct touched_list {
    struct touched *list;
    size_t count, room;
};

static void touch(struct touched_list *to, size_t place, uint64_t written) {
    if (to->count && to->list[to->count - 1].place == place) {
        to->list[to->count - 1].written += written;
        return;
    }
    if (to->count >= 2 * MOST_REGIONS) return;
    to->list = grow(to->list, &to->room, to->count, sizeof *to->list);
    to->list[to->count++] = (struct touched){place, written};
}

static unsigned bits_in(const uint64_t *words, unsigned first, unsigned end) {
    unsigned bits = 0;
    for (unsigned w = first / 64; w < WORDS && w * 64 < end; w++) {
        uint64_t mask = ~UINT64_C(0);
        if (first > w * 64) mask &= ~UINT64_C(0) << (first - w * 64);
        if (end < w * 64 + 64) mask &= (UINT64_C(1) << (end - w * 64)) - 1;
        bits += (unsigned)__builtin_popcountll(words[w] & mask);
    }
    return bits;
}

static void touch_leaf(struct touched_list *to, const struct vmv_space *space, const struct leaf_bits *bits) {
    uint64_t first = (bits->key - 1) << LEAF_SHIFT;
    uint64_t start = first << space->page_shift, end = (first + LEAF_PAGES) << space->page_shift;
    for (size_t i = vmv_space_lower_bound(space, start); i < space->map_count && space->maps[i].start < end; i++) {
        const struct vmv_mapping *map = &space->maps[i];
        uint64_t low = map->start > start ? (map->start - start) >> space->page_shift : 0;
        uint64_t high = map->end < end ? (map->end - start) >> space->page_shift : LEAF_PAGES;
        if (bits_in(bits->touched, (unsigned)low, (unsigned)high))
            touch(to, i, bits_in(bits->written, (unsigned)low, (unsigned)high));
    }
}

static void touch_range(struct touched_list *to, const struct vmv_space *space, struct address_range mark) {
    for (size_t i = vmv_space_lower_bound(space, mark.start); i < space->map_count && space->maps[i].start < mark.end;
         i++)
        touch(to, i, 0);
}

static int by_place(const void *a, const void *b) {
    const struct touched *x = a, *y = b;
    return x->place < y->place ? -1 : x->place > y->place;
}

static uint32_t clamp(uint64_t value) { return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX; }

static void fill_regions(struct vmv_bucket *bucket, const struct vmv_space *space, struct touched_list *touched) {
    size_t room = 0;
    if (touched->count) qsort(touched->list, touched->count, sizeof *touched->list, by_place);
    for (size_t i = 0; i < touched->count && bucket->region_count < MOST_REGIONS;) {
        const struct vmv_mapping *map = &space->maps[touched->list[i].place];
        uint64_t written = 0;
        size_t place = touched->list[i].place;
        for (; i < touched->count && touched->list[i].place == place; i++) written += touched->list[i].written;
        bucket->regions = grow(bucket->regions, &room, bucket->region_count, sizeof *bucket->regions);
        uint64_t resident = vmv_space_count(space, map->start, map->end).resident;
        bucket->regions[bucket->region_count++] =
            (struct vmv_bucket_region){map->start, map->end, clamp(resident), clamp(written)};
    }
}

void open_bucket_close(struct open_bucket *open, const struct vmv_space *space) {
    struct vmv_bucket *bucket = &open->bucket;
    struct touched_list touched = {0};
    bucket->written = clamp(page_set_written(&open->pages));
    if (!space) return;
    bucket->virtual_bytes = space->virtual_bytes;
    bucket->resident = clamp(space->resident_pages);
    struct leaf_bits **sorted = page_set_sorted(&open->pages);
    for (size_t i = 0; i < open->pages.count; i++) touch_leaf(&touched, space, sorted[i]);
    for (size_t i = 0; i < open->mark_count; i++) touch_range(&touched, space, open->marks[i]);
    fill_regions(bucket, space, &touched);
    free(sorted);
    free(touched.list);
}
