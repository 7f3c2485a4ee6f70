// What is known of the pages of one address space: a sparse tree of leaves of 512 pages, private to space.c and the
// state codec. A copy shares all of its origin's memory until one of them writes (fork is cheap), and a leaf whose
// pages are all alike is stored once (huge pages, guard regions).
//
// Pages are named by number: address / page size, below 2^44.
#ifndef VMV_PAGETAB_H
#define VMV_PAGETAB_H

#include "space.h"

enum { VMV_LEAF_SHIFT = 9, VMV_LEAF_PAGES = 1 << VMV_LEAF_SHIFT };

// Memory of the page tables that were copied from each other or belong to one world. Where `limit` is reached, new
// knowledge is refused: pages stay unknown. Counted by holders.
struct vmv_page_pool {
    unsigned references;
    size_t bytes, limit;
    bool refused; // the limit was met since this was last cleared
};
struct vmv_page_pool *vmv_page_pool_create(size_t limit);
struct vmv_page_pool *vmv_page_pool_hold(struct vmv_page_pool *pool);
void vmv_page_pool_release(struct vmv_page_pool *pool); // accepts NULL

struct vmv_page_counts {
    uint64_t known, resident, swapped; // pages
};

struct vmv_page_table *vmv_page_table_create(struct vmv_page_pool *pool); // holds the pool
struct vmv_page_table *vmv_page_table_copy(struct vmv_page_table *from);
void vmv_page_table_destroy(struct vmv_page_table *table); // accepts NULL
const struct vmv_page_counts *vmv_page_table_counts(const struct vmv_page_table *table);
struct vmv_page_pool *vmv_page_table_pool(const struct vmv_page_table *table);

const struct vmv_page *vmv_page_table_peek(const struct vmv_page_table *table, uint64_t page); // NULL: nothing known
void vmv_page_table_prefetch(const struct vmv_page_table *table, uint64_t page); // it will be changed soon
// The next known page at or after *page and below end, which *page is set to; or NULL.
const struct vmv_page *vmv_page_table_next(const struct vmv_page_table *table, uint64_t *page, uint64_t end);
// Counts known pages in [first, end): whole leaves at once.
struct vmv_page_counts vmv_page_table_count(const struct vmv_page_table *table, uint64_t first, uint64_t end);
// As vmv_space_stretch(), by page numbers: stretch->addr is one.
bool vmv_page_table_stretch(const struct vmv_page_table *table, uint64_t first, uint64_t end,
                            struct vmv_page_stretch *stretch);
void vmv_page_sums_add(struct vmv_page_sums *sums, const struct vmv_page *page, uint32_t times);
void vmv_page_sums_remove(struct vmv_page_sums *sums, const struct vmv_page *page); // one that was added
size_t vmv_page_table_memory(const struct vmv_page_table *table); // bytes reachable, shared ones too

// Changes every page of [first, end); without `create` only known ones. `change` gets each page (zeroed if unknown),
// `how`, and the page's place in the range; a page that it leaves unknown is forgotten. With `alike`, the outcome
// does not depend on the place.
typedef void vmv_page_change(struct vmv_page *page, const void *how, uint64_t place);
enum { VMV_PAGES_CREATE = 1, VMV_PAGES_ALIKE = 2 };
void vmv_page_table_change(struct vmv_page_table *table, uint64_t first, uint64_t end, unsigned flags,
                           vmv_page_change *change, const void *how);
void vmv_page_table_drop(struct vmv_page_table *table, uint64_t first, uint64_t end);
// Pages [from, from+count) become [to, to+count), whose own are dropped. Overlapping ranges are both dropped.
void vmv_page_table_move(struct vmv_page_table *table, uint64_t from, uint64_t to, uint64_t count);
// Sets [first, first + count) to `like`; with `step` its content number counts up. False: memory for it is refused.
bool vmv_page_table_fill(struct vmv_page_table *table, uint64_t first, uint64_t count, const struct vmv_page *like,
                         bool step);
// The entry itself, made if need be. Never NULL (a scratch entry where memory is refused). Its state is not to
// be changed through it: counts would not follow. What else is changed has to be before sums are asked for.
struct vmv_page *vmv_page_table_get(struct vmv_page_table *table, uint64_t page);

// Leaves as they lie, for writing a state: page numbers are key << VMV_LEAF_SHIFT and on.
struct vmv_page_leaf_view {
    uint64_t key;
    const void *identity;         // equal: two tables share this leaf
    const struct vmv_page *pages; // 512, or one that stands for all
    bool alike;
    unsigned known;
};
bool vmv_page_table_leaf(const struct vmv_page_table *table, uint64_t key, struct vmv_page_leaf_view *view); // >= key
const void *vmv_page_table_leaf_identity(const struct vmv_page_table *table, uint64_t key); // NULL if there is none
// Shares the leaf of `from`. False if it has none or the table has one already.
bool vmv_page_table_adopt(struct vmv_page_table *table, const struct vmv_page_table *from, uint64_t key);

#endif
