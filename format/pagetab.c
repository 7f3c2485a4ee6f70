#include "pagetab.h"

#include <stdlib.h>
#include <string.h>

// Six levels of 64 children over 36 bits of leaf key. A node or leaf with more than one holder is never written:
// whoever wants to, copies the way down to it first.
enum { LEVELS = 6, FAN_SHIFT = 6, FAN = 1 << FAN_SHIFT, HOT = 8 };
enum { MOST_IN_A_RUN = 1 << 28 }; // pages; no machine has more: a run that claims to is cut
enum { LEAF_BYTES = VMV_LEAF_PAGES * sizeof(struct vmv_page) };
#define KEY_END (UINT64_C(1) << (LEVELS * FAN_SHIFT))

struct leaf_sums {
    struct vmv_page_sums sums;
    uint64_t written[VMV_LEAF_PAGES]; // of each page, side by side
};
struct leaf {
    unsigned references;
    uint16_t known, resident, swapped; // pages
    struct vmv_page same;              // stands for all 512 while `pages` is NULL
    struct vmv_page *pages;
    struct leaf_sums *sums; // NULL: not asked for
};
struct node {
    unsigned references;
    uint64_t present; // bit i: children[i] is not NULL
    void *children[FAN];
};
struct vmv_page_table {
    struct vmv_page_pool *pool;
    struct node *root;
    struct vmv_page_counts counts;
    struct vmv_page scratch;
    struct { // leaves that belong to this table alone, all the way down
        uint64_t key;
        struct leaf *leaf;
    } hot[HOT];
};
enum { MOST_FOR_ONE_PAGE = LEVELS * sizeof(struct node) + sizeof(struct leaf) + sizeof(struct leaf_sums) + LEAF_BYTES };

// --- memory

struct vmv_page_pool *vmv_page_pool_create(size_t limit) {
    struct vmv_page_pool *pool = calloc(1, sizeof *pool);
    if (!pool) abort();
    pool->references = 1;
    pool->limit = limit;
    return pool;
}

struct vmv_page_pool *vmv_page_pool_hold(struct vmv_page_pool *pool) {
    pool->references++;
    return pool;
}

void vmv_page_pool_release(struct vmv_page_pool *pool) {
    if (pool && !--pool->references) free(pool);
}

static void *pool_alloc(struct vmv_page_pool *pool, size_t bytes) {
    void *piece = calloc(1, bytes);
    if (!piece) abort();
    pool->bytes += bytes;
    return piece;
}

static void pool_free(struct vmv_page_pool *pool, void *piece, size_t bytes) {
    if (!piece) return;
    free(piece);
    pool->bytes -= bytes;
}

static bool room_for_one(struct vmv_page_pool *pool) {
    if (pool->bytes + MOST_FOR_ONE_PAGE <= pool->limit) return true;
    pool->refused = true;
    return false;
}

static void leaf_forget_sums(struct vmv_page_pool *pool, struct leaf *leaf) {
    pool_free(pool, leaf->sums, sizeof *leaf->sums);
    leaf->sums = NULL;
}

static void leaf_release(struct vmv_page_pool *pool, struct leaf *leaf) {
    if (--leaf->references) return;
    leaf_forget_sums(pool, leaf);
    pool_free(pool, leaf->pages, LEAF_BYTES);
    pool_free(pool, leaf, sizeof *leaf);
}

static void release(struct vmv_page_pool *pool, void *child, unsigned level) {
    if (level == LEVELS) return leaf_release(pool, child);
    struct node *node = child;
    if (--node->references) return;
    for (uint64_t left = node->present; left; left &= left - 1)
        release(pool, node->children[__builtin_ctzll(left)], level + 1);
    pool_free(pool, node, sizeof *node);
}

static struct node *node_copy(struct vmv_page_pool *pool, struct node *from, unsigned level) {
    struct node *node = pool_alloc(pool, sizeof *node);
    *node = *from;
    node->references = 1;
    for (uint64_t left = node->present; left; left &= left - 1) {
        void *child = node->children[__builtin_ctzll(left)];
        if (level + 1 == LEVELS)
            ((struct leaf *)child)->references++;
        else
            ((struct node *)child)->references++;
    }
    from->references--;
    return node;
}

static struct leaf *leaf_copy(struct vmv_page_pool *pool, struct leaf *from) {
    struct leaf *leaf = pool_alloc(pool, sizeof *leaf);
    *leaf = *from;
    leaf->references = 1;
    if (from->pages) {
        leaf->pages = pool_alloc(pool, LEAF_BYTES);
        memcpy(leaf->pages, from->pages, LEAF_BYTES);
    }
    if (from->sums) {
        leaf->sums = pool_alloc(pool, sizeof *leaf->sums);
        memcpy(leaf->sums, from->sums, sizeof *leaf->sums);
    }
    from->references--;
    return leaf;
}

static void leaf_spread(struct vmv_page_pool *pool, struct leaf *leaf) {
    if (leaf->pages) return;
    leaf->pages = pool_alloc(pool, LEAF_BYTES);
    for (unsigned i = 0; leaf->known && i < VMV_LEAF_PAGES; i++) leaf->pages[i] = leaf->same;
    leaf_forget_sums(pool, leaf); // they lack the times of each page
}

// --- tables

static void forget_hot(struct vmv_page_table *table) {
    for (unsigned i = 0; i < HOT; i++) table->hot[i].leaf = NULL;
}

struct vmv_page_table *vmv_page_table_create(struct vmv_page_pool *pool) {
    struct vmv_page_table *table = calloc(1, sizeof *table);
    if (!table) abort();
    table->pool = vmv_page_pool_hold(pool);
    return table;
}

struct vmv_page_table *vmv_page_table_copy(struct vmv_page_table *from) {
    struct vmv_page_table *table = vmv_page_table_create(from->pool);
    forget_hot(from); // what it held alone is now shared
    table->root = from->root;
    if (table->root) table->root->references++;
    table->counts = from->counts;
    return table;
}

void vmv_page_table_destroy(struct vmv_page_table *table) {
    if (!table) return;
    if (table->root) release(table->pool, table->root, 0);
    vmv_page_pool_release(table->pool);
    free(table);
}

const struct vmv_page_counts *vmv_page_table_counts(const struct vmv_page_table *table) { return &table->counts; }
struct vmv_page_pool *vmv_page_table_pool(const struct vmv_page_table *table) {
    return table->pool;
}

// --- finding

static unsigned child_index(uint64_t key, unsigned level) {
    return (unsigned)(key >> (FAN_SHIFT * (LEVELS - 1 - level))) & (FAN - 1);
}

static struct leaf *leaf_find(const struct vmv_page_table *table, uint64_t key) {
    void *at = table->root;
    for (unsigned level = 0; at && level < LEVELS; level++) at = ((struct node *)at)->children[child_index(key, level)];
    return key < KEY_END ? at : NULL;
}

// Where the leaf hangs or would hang. The way down to it belongs to this table alone afterwards.
static void **leaf_slot(struct vmv_page_table *table, uint64_t key) {
    void **slot = (void **)&table->root;
    for (unsigned level = 0; level < LEVELS; level++) {
        struct node *node = *slot;
        if (!node) {
            node = pool_alloc(table->pool, sizeof *node);
            node->references = 1;
        } else if (node->references > 1) {
            node = node_copy(table->pool, node, level);
        }
        *slot = node;
        node->present |= UINT64_C(1) << child_index(key, level);
        slot = &node->children[child_index(key, level)];
    }
    return slot;
}

// A leaf that may be written. NULL: there is none and none may be made, or memory is refused.
static struct leaf *leaf_own_slowly(struct vmv_page_table *table, uint64_t key, bool create) {
    if (key >= KEY_END || (!create && !leaf_find(table, key)) || !room_for_one(table->pool)) return NULL;
    struct leaf **slot = (struct leaf **)leaf_slot(table, key);
    if (!*slot) {
        *slot = pool_alloc(table->pool, sizeof **slot);
        (*slot)->references = 1;
    } else if ((*slot)->references > 1) {
        *slot = leaf_copy(table->pool, *slot);
    }
    table->hot[key % HOT].key = key;
    table->hot[key % HOT].leaf = *slot;
    return *slot;
}

static inline struct leaf *leaf_own(struct vmv_page_table *table, uint64_t key, bool create) {
    if (table->hot[key % HOT].leaf && table->hot[key % HOT].key == key) return table->hot[key % HOT].leaf;
    return leaf_own_slowly(table, key, create);
}

static struct leaf *leaf_next_in(const struct node *node, unsigned level, uint64_t key, uint64_t *found) {
    unsigned shift = FAN_SHIFT * (LEVELS - 1 - level), first = child_index(key, level);
    uint64_t above = key >> shift >> FAN_SHIFT << FAN_SHIFT << shift;
    for (uint64_t left = node->present & (~UINT64_C(0) << first); left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        uint64_t from = i == first ? key : above | (uint64_t)i << shift;
        *found = from;
        if (level == LEVELS - 1) return node->children[i];
        struct leaf *leaf = leaf_next_in(node->children[i], level + 1, from, found);
        if (leaf) return leaf;
    }
    return NULL;
}

// The first leaf at or after *key, which is set to its key.
static struct leaf *leaf_next(const struct vmv_page_table *table, uint64_t *key) {
    if (!table->root || *key >= KEY_END) return NULL;
    return leaf_next_in(table->root, 0, *key, key);
}

static inline bool page_known(const struct vmv_page *page) {
    return page->state != VMV_PAGE_UNKNOWN || page->content != VMV_CONTENT_NONE;
}

static inline struct vmv_page *leaf_page(struct leaf *leaf, uint64_t page) {
    return leaf->pages ? &leaf->pages[page % VMV_LEAF_PAGES] : &leaf->same;
}

const struct vmv_page *vmv_page_table_peek(const struct vmv_page_table *table, uint64_t page) {
    struct leaf *leaf = leaf_find(table, page >> VMV_LEAF_SHIFT);
    struct vmv_page *entry = leaf ? leaf_page(leaf, page) : NULL;
    return entry && page_known(entry) ? entry : NULL;
}

void vmv_page_table_prefetch(const struct vmv_page_table *table, uint64_t page) {
    struct leaf *leaf = leaf_find(table, page >> VMV_LEAF_SHIFT);
    if (leaf && leaf->pages) __builtin_prefetch(&leaf->pages[page % VMV_LEAF_PAGES], 1);
}

const struct vmv_page *vmv_page_table_next(const struct vmv_page_table *table, uint64_t *page, uint64_t end) {
    for (uint64_t at = *page; at < end;) {
        uint64_t key = at >> VMV_LEAF_SHIFT, found = key;
        struct leaf *leaf = leaf_next(table, &found);
        if (!leaf) return NULL;
        if (found != key) at = found << VMV_LEAF_SHIFT;
        uint64_t stop = (found + 1) << VMV_LEAF_SHIFT;
        for (; leaf->known && at < stop && at < end; at++) {
            struct vmv_page *entry = leaf_page(leaf, at);
            if (!page_known(entry)) continue;
            *page = at;
            return entry;
        }
        at = stop;
    }
    return NULL;
}

// --- counting

static void counts_add(struct vmv_page_counts *counts, const struct leaf *leaf) {
    counts->known += leaf->known;
    counts->resident += leaf->resident;
    counts->swapped += leaf->swapped;
}

static void count_page(struct vmv_page_counts *counts, const struct vmv_page *page) {
    counts->known += page_known(page);
    counts->resident += page->state == VMV_PAGE_RESIDENT;
    counts->swapped += page->state == VMV_PAGE_SWAPPED;
}

static void leaf_count(struct vmv_page_counts *counts, struct leaf *leaf, uint64_t from, uint64_t to) {
    if (to - from == VMV_LEAF_PAGES) return counts_add(counts, leaf);
    for (uint64_t page = from; page < to; page++) count_page(counts, leaf_page(leaf, page));
}

struct vmv_page_counts vmv_page_table_count(const struct vmv_page_table *table, uint64_t first, uint64_t end) {
    struct vmv_page_counts counts = {0};
    struct leaf *leaf;
    for (uint64_t key = first >> VMV_LEAF_SHIFT; first < end && (leaf = leaf_next(table, &key)); key++) {
        uint64_t from = key << VMV_LEAF_SHIFT, to = from + VMV_LEAF_PAGES;
        if (from >= end) break;
        leaf_count(&counts, leaf, from < first ? first : from, to > end ? end : to);
    }
    return counts;
}

static void leaf_sum(struct vmv_page_pool *pool, struct leaf *leaf) {
    if (leaf->sums && !leaf->sums->sums.loose) return;
    if (!leaf->sums) leaf->sums = pool_alloc(pool, sizeof *leaf->sums);
    leaf->sums->sums = (struct vmv_page_sums){0};
    if (!leaf->pages) vmv_page_sums_add(&leaf->sums->sums, &leaf->same, VMV_LEAF_PAGES);
    for (unsigned i = 0; leaf->pages && i < VMV_LEAF_PAGES; i++) {
        vmv_page_sums_add(&leaf->sums->sums, &leaf->pages[i], 1);
        leaf->sums->written[i] = leaf->pages[i].written;
    }
}

bool vmv_page_table_stretch(const struct vmv_page_table *table, uint64_t first, uint64_t end,
                            struct vmv_page_stretch *stretch) {
    struct leaf *leaf;
    uint64_t key = first >> VMV_LEAF_SHIFT;
    while ((leaf = leaf_next(table, &key)) && !leaf->known) key++;
    uint64_t from = key << VMV_LEAF_SHIFT, to = from + VMV_LEAF_PAGES;
    if (!leaf || from >= end || first >= end) return false;
    if (from < first) from = first;
    if (to > end) to = end;
    const struct vmv_page *pages = leaf->pages ? &leaf->pages[from % VMV_LEAF_PAGES] : &leaf->same;
    *stretch = (struct vmv_page_stretch){from, pages, !leaf->pages, to - from, NULL, NULL};
    if (to - from < VMV_LEAF_PAGES) return true;
    leaf_sum(table->pool, leaf);
    stretch->sums = &leaf->sums->sums;
    stretch->written = leaf->pages ? leaf->sums->written : NULL;
    return true;
}

static size_t memory_of(const void *child, unsigned level) {
    const struct leaf *leaf = child;
    if (level == LEVELS) return sizeof *leaf + (leaf->pages ? LEAF_BYTES : 0) + (leaf->sums ? sizeof *leaf->sums : 0);
    const struct node *node = child;
    size_t bytes = sizeof *node;
    for (uint64_t left = node->present; left; left &= left - 1)
        bytes += memory_of(node->children[__builtin_ctzll(left)], level + 1);
    return bytes;
}

size_t vmv_page_table_memory(const struct vmv_page_table *table) {
    return sizeof *table + (table->root ? memory_of(table->root, 0) : 0);
}

// --- leaves that go

static void counts_of(const void *child, unsigned level, struct vmv_page_counts *counts) {
    if (level == LEVELS) return counts_add(counts, child);
    const struct node *node = child;
    for (uint64_t left = node->present; left; left &= left - 1)
        counts_of(node->children[__builtin_ctzll(left)], level + 1, counts);
}

static void drop_subtree(struct vmv_page_table *table, void *child, unsigned level) {
    struct vmv_page_counts gone = {0};
    counts_of(child, level, &gone);
    table->counts.known -= gone.known;
    table->counts.resident -= gone.resident;
    table->counts.swapped -= gone.swapped;
    release(table->pool, child, level);
}

// Drops the leaves with first <= key < end below `slot`, which covers the keys from `base` on.
static void drop_leaves(struct vmv_page_table *table, void **slot, unsigned level, uint64_t base, uint64_t first,
                        uint64_t end) {
    uint64_t span = UINT64_C(1) << (FAN_SHIFT * (LEVELS - level));
    if (base >= first && base + span <= end) {
        drop_subtree(table, *slot, level);
        *slot = NULL;
        return;
    }
    struct node *node = *slot;
    if (node->references > 1) *slot = node = node_copy(table->pool, node, level);
    span >>= FAN_SHIFT;
    for (uint64_t left = node->present; left; left &= left - 1) {
        unsigned i = (unsigned)__builtin_ctzll(left);
        uint64_t low = base + i * span;
        if (low >= end || low + span <= first) continue;
        drop_leaves(table, &node->children[i], level + 1, low, first, end);
        if (!node->children[i]) node->present &= ~(UINT64_C(1) << i);
    }
    if (node->present) return;
    pool_free(table->pool, node, sizeof *node);
    *slot = NULL;
}

// --- changing

static void adjust(struct vmv_page_table *table, struct leaf *leaf, const struct vmv_page_counts *before,
                   const struct vmv_page_counts *after, unsigned times) {
    leaf->known = (uint16_t)(leaf->known + (after->known - before->known) * times);
    leaf->resident = (uint16_t)(leaf->resident + (after->resident - before->resident) * times);
    leaf->swapped = (uint16_t)(leaf->swapped + (after->swapped - before->swapped) * times);
    table->counts.known += (after->known - before->known) * times;
    table->counts.resident += (after->resident - before->resident) * times;
    table->counts.swapped += (after->swapped - before->swapped) * times;
}

// Around a change of one page of a leaf that is spread out.
static inline void leaf_sums_leave(struct leaf *leaf, const struct vmv_page *page) {
    if (leaf->sums) vmv_page_sums_remove(&leaf->sums->sums, page);
}

static inline void leaf_sums_take(struct leaf *leaf, const struct vmv_page *page) {
    if (!leaf->sums) return;
    vmv_page_sums_add(&leaf->sums->sums, page, 1);
    leaf->sums->written[page - leaf->pages] = page->written;
}

struct change {
    vmv_page_change *change;
    const void *how;
    unsigned flags;
    uint64_t first; // page that has place 0
};

static inline void change_page(const struct change *c, struct vmv_page *page, uint64_t place,
                               struct vmv_page_counts *before, struct vmv_page_counts *after) {
    count_page(before, page);
    c->change(page, c->how, place);
    if (!page_known(page)) *page = (struct vmv_page){0};
    count_page(after, page);
}

// What may not be noted is not known: leaves that the change would have touched go as a whole.
static void forget_leaves(struct vmv_page_table *table, uint64_t page, uint64_t end) {
    uint64_t key = page >> VMV_LEAF_SHIFT, found = key, end_key = (end - 1) / VMV_LEAF_PAGES + 1;
    if (leaf_next(table, &found) && found < end_key) drop_leaves(table, (void **)&table->root, 0, 0, key, end_key);
    forget_hot(table);
}

// False: memory for it is refused.
static bool change_leaf(struct vmv_page_table *table, struct leaf *leaf, const struct change *c, uint64_t from,
                        uint64_t to) {
    struct vmv_page_counts before = {0}, after = {0};
    bool whole = to - from == VMV_LEAF_PAGES;
    if (whole) leaf_forget_sums(table->pool, leaf);
    if (whole && !leaf->pages && (c->flags & VMV_PAGES_ALIKE)) {
        if (!(c->flags & VMV_PAGES_CREATE) && !page_known(&leaf->same)) return true;
        change_page(c, &leaf->same, 0, &before, &after);
        adjust(table, leaf, &before, &after, VMV_LEAF_PAGES);
        return true;
    }
    if (!leaf->pages && !room_for_one(table->pool)) return false;
    leaf_spread(table->pool, leaf);
    for (uint64_t page = from; page < to; page++) {
        struct vmv_page *entry = &leaf->pages[page % VMV_LEAF_PAGES];
        if (!(c->flags & VMV_PAGES_CREATE) && !page_known(entry)) continue;
        leaf_sums_leave(leaf, entry);
        change_page(c, entry, page - c->first, &before, &after);
        leaf_sums_take(leaf, entry);
    }
    adjust(table, leaf, &before, &after, 1);
    return true;
}

// One page in a leaf that was at hand a moment ago: what most events are.
static bool change_one(struct vmv_page_table *table, uint64_t page, const struct change *c) {
    uint64_t key = page >> VMV_LEAF_SHIFT;
    struct leaf *leaf = table->hot[key % HOT].leaf;
    if (!leaf || table->hot[key % HOT].key != key || !leaf->pages) return false;
    struct vmv_page *entry = &leaf->pages[page % VMV_LEAF_PAGES];
    bool known = page_known(entry);
    unsigned state = entry->state;
    if (!known && !(c->flags & VMV_PAGES_CREATE)) return true;
    leaf_sums_leave(leaf, entry);
    c->change(entry, c->how, 0);
    leaf_sums_take(leaf, entry);
    if (entry->state == state && known && page_known(entry)) return true;
    struct vmv_page_counts before = {known, state == VMV_PAGE_RESIDENT, state == VMV_PAGE_SWAPPED}, after = {0};
    if (!page_known(entry)) *entry = (struct vmv_page){0};
    count_page(&after, entry);
    adjust(table, leaf, &before, &after, 1);
    return true;
}

void vmv_page_table_change(struct vmv_page_table *table, uint64_t first, uint64_t end, unsigned flags,
                           vmv_page_change *change, const void *how) {
    struct change c = {.change = change, .how = how, .flags = flags, .first = first};
    if (end == first + 1 && change_one(table, first, &c)) return;
    if ((flags & VMV_PAGES_CREATE) && end - first > MOST_IN_A_RUN) end = first + MOST_IN_A_RUN;
    for (uint64_t page = first; page < end;) {
        uint64_t key = page >> VMV_LEAF_SHIFT;
        if (!(flags & VMV_PAGES_CREATE) && !leaf_next(table, &key)) return;
        if (key << VMV_LEAF_SHIFT > page) page = key << VMV_LEAF_SHIFT;
        if (page >= end) return;
        uint64_t stop = (key + 1) << VMV_LEAF_SHIFT;
        if (stop > end) stop = end;
        struct leaf *leaf = leaf_own(table, key, flags & VMV_PAGES_CREATE);
        if (!leaf || !change_leaf(table, leaf, &c, page, stop)) return forget_leaves(table, page, end);
        page = stop;
    }
}

struct fill {
    const struct vmv_page *like;
    bool step;
};

static void fill_page(struct vmv_page *page, const void *how, uint64_t place) {
    const struct fill *fill = how;
    *page = *fill->like;
    if (fill->step) page->content += place;
}

bool vmv_page_table_fill(struct vmv_page_table *table, uint64_t first, uint64_t count, const struct vmv_page *like,
                         bool step) {
    struct fill fill = {like, step};
    struct vmv_page_pool *pool = table->pool;
    bool refused = pool->refused;
    pool->refused = false;
    vmv_page_table_change(table, first, first + count, VMV_PAGES_CREATE | (step ? 0 : VMV_PAGES_ALIKE), fill_page,
                          &fill);
    bool done = !pool->refused;
    pool->refused |= refused;
    return done;
}

struct vmv_page *vmv_page_table_get(struct vmv_page_table *table, uint64_t page) {
    struct leaf *leaf = leaf_own(table, page >> VMV_LEAF_SHIFT, true);
    if (!leaf || (!leaf->pages && !room_for_one(table->pool))) {
        table->scratch = (struct vmv_page){0};
        return &table->scratch;
    }
    leaf_spread(table->pool, leaf);
    leaf_forget_sums(table->pool, leaf);
    return &leaf->pages[page % VMV_LEAF_PAGES];
}

// --- forgetting

static void forget_page(struct vmv_page *page, const void *how, uint64_t place) {
    (void)how, (void)place;
    *page = (struct vmv_page){0};
}

// A leaf of which a part was dropped goes too when nothing is left in it.
static void drop_if_empty(struct vmv_page_table *table, uint64_t key) {
    struct leaf *leaf = leaf_find(table, key);
    if (leaf && !leaf->known) drop_leaves(table, (void **)&table->root, 0, 0, key, key + 1);
}

static void drop_part(struct vmv_page_table *table, uint64_t first, uint64_t end) {
    uint64_t key = first >> VMV_LEAF_SHIFT;
    if (first >= end || !leaf_find(table, key)) return;
    vmv_page_table_change(table, first, end, VMV_PAGES_ALIKE, forget_page, NULL);
    drop_if_empty(table, key);
}

void vmv_page_table_drop(struct vmv_page_table *table, uint64_t first, uint64_t end) {
    if (!table->root || first >= end) return;
    if (end > KEY_END << VMV_LEAF_SHIFT) end = KEY_END << VMV_LEAF_SHIFT;
    uint64_t first_key = (first + VMV_LEAF_PAGES - 1) >> VMV_LEAF_SHIFT, end_key = end >> VMV_LEAF_SHIFT;
    if (first_key > end_key) { // inside one leaf
        drop_part(table, first, end);
    } else {
        drop_part(table, first, first_key << VMV_LEAF_SHIFT);
        drop_part(table, end_key << VMV_LEAF_SHIFT, end);
        uint64_t key = first_key;
        if (first_key < end_key && leaf_next(table, &key) && key < end_key)
            drop_leaves(table, (void **)&table->root, 0, 0, first_key, end_key);
    }
    forget_hot(table);
}

// --- leaves as wholes, and moving

static bool leaf_put(struct vmv_page_table *table, struct leaf *leaf, uint64_t key) {
    if (key >= KEY_END || !room_for_one(table->pool) || leaf_find(table, key)) return false;
    leaf->references++;
    *leaf_slot(table, key) = leaf;
    counts_add(&table->counts, leaf);
    forget_hot(table);
    return true;
}

static void set_page(struct vmv_page *page, const void *how, uint64_t place) {
    (void)place;
    *page = *(const struct vmv_page *)how;
}

static void move_page_by_page(struct vmv_page_table *table, uint64_t from, uint64_t to, uint64_t count) {
    uint64_t page = from;
    for (const struct vmv_page *entry; (entry = vmv_page_table_next(table, &page, from + count)); page++) {
        struct vmv_page copy = *entry;
        vmv_page_table_change(table, page - from + to, page - from + to + 1, VMV_PAGES_CREATE, set_page, &copy);
    }
}

// Where source and target lie alike within their leaves, whole leaves go as they are.
static void move_by_leaves(struct vmv_page_table *table, uint64_t from, uint64_t to, uint64_t count) {
    uint64_t head = (0 - from) % VMV_LEAF_PAGES;
    if (head > count) head = count;
    move_page_by_page(table, from, to, head);
    uint64_t key = (from + head) >> VMV_LEAF_SHIFT, end = (from + count) >> VMV_LEAF_SHIFT;
    uint64_t shift = (to >> VMV_LEAF_SHIFT) - (from >> VMV_LEAF_SHIFT);
    struct leaf *leaf;
    for (; (leaf = leaf_next(table, &key)) && key < end; key++) leaf_put(table, leaf, key + shift);
    if (end << VMV_LEAF_SHIFT >= from + head)
        move_page_by_page(table, end << VMV_LEAF_SHIFT, (end + shift) << VMV_LEAF_SHIFT,
                          from + count - (end << VMV_LEAF_SHIFT));
}

void vmv_page_table_move(struct vmv_page_table *table, uint64_t from, uint64_t to, uint64_t count) {
    vmv_page_table_drop(table, to, to + count);
    bool apart = from + count <= to || to + count <= from;
    if (apart && (from - to) % VMV_LEAF_PAGES == 0)
        move_by_leaves(table, from, to, count);
    else if (apart)
        move_page_by_page(table, from, to, count);
    vmv_page_table_drop(table, from, from + count);
}

bool vmv_page_table_leaf(const struct vmv_page_table *table, uint64_t key, struct vmv_page_leaf_view *view) {
    struct leaf *leaf = leaf_next(table, &key);
    if (!leaf) return false;
    *view = (struct vmv_page_leaf_view){key, leaf, leaf->pages ? leaf->pages : &leaf->same, !leaf->pages, leaf->known};
    return true;
}

const void *vmv_page_table_leaf_identity(const struct vmv_page_table *table, uint64_t key) {
    return leaf_find(table, key);
}

bool vmv_page_table_adopt(struct vmv_page_table *table, const struct vmv_page_table *from, uint64_t key) {
    struct leaf *leaf = leaf_find(from, key);
    return leaf && leaf_put(table, leaf, key);
}
