// The page table of a space as bytes: leaves shared with the space it was copied from, then runs of pages that differ
// in nothing but the counting up of their content numbers (docs/FORMAT-encodings.md, STATE).
#include "codec_private.h"

#include <string.h>

enum {
    RUN_GAP = 1,
    RUN_COUNT = 2,
    RUN_ATTRIBUTES = 4,
    RUN_CAPTURED = 8,
    RUN_WRITTEN = 16,
    RUN_WRITES = 32,
    RUN_CONTENT_SHIFT = 6,
};
enum { CONTENT_NEXT = 0, CONTENT_SAME = 1, CONTENT_COUNTING = 2, CONTENT_EQUAL = 3 };

#define CONTENT_LIMIT (UINT64_C(1) << 62) // numbers stay below

struct runs {      // what the next run is written as a difference to
    uint64_t page; // where the last one ended
    struct vmv_page last;
    uint64_t last_number; // of the contents in the file (VMV_CONTENT_FIRST and on)
};

struct run {
    uint64_t first, count;
    struct vmv_page page; // the first of them
    bool step;
};

// --- contents

static uint64_t zigzag(uint64_t distance) { return (distance << 1) ^ (0 - (distance >> 63)); }
static uint64_t unzigzag(uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }

static unsigned content_mode(const struct runs *runs, const struct run *run) {
    bool numbered = run->page.content >= VMV_CONTENT_FIRST, counts = run->step || run->count == 1;
    if (numbered && counts && run->page.content == runs->last_number + 1) return CONTENT_NEXT;
    if (!run->step && run->page.content == runs->last.content) return CONTENT_SAME;
    return run->step ? CONTENT_COUNTING : CONTENT_EQUAL;
}

static void out_content(struct vmv_out *out, const struct runs *runs, uint64_t content) {
    vmv_out_varint(out,
                   content < VMV_CONTENT_FIRST ? content : zigzag(content - runs->last_number) + VMV_CONTENT_FIRST);
}

static uint64_t in_content(struct vmv_in *in, const struct runs *runs) {
    uint64_t coded = vmv_in_varint(in);
    return coded < VMV_CONTENT_FIRST ? coded : runs->last_number + unzigzag(coded - VMV_CONTENT_FIRST);
}

static void runs_advance(struct runs *runs, const struct run *run) {
    runs->page = run->first + run->count;
    runs->last = run->page;
    if (run->step) runs->last.content += run->count - 1;
    if (runs->last.content >= VMV_CONTENT_FIRST) runs->last_number = runs->last.content;
}

// --- one run

static bool same_attributes(const struct vmv_page *a, const struct vmv_page *b) {
    return a->state == b->state && a->flags == b->flags && a->certainty == b->certainty && a->armed == b->armed;
}

static void out_run(struct vmv_out *out, struct runs *runs, const struct run *run) {
    const struct vmv_page *page = &run->page, *last = &runs->last;
    unsigned mode = content_mode(runs, run);
    unsigned tag = mode << RUN_CONTENT_SHIFT | (run->first != runs->page ? RUN_GAP : 0) |
                   (run->count > 1 ? RUN_COUNT : 0) | (same_attributes(page, last) ? 0 : RUN_ATTRIBUTES) |
                   (page->captured != last->captured ? RUN_CAPTURED : 0) |
                   (page->written != last->written ? RUN_WRITTEN : 0) | (page->writes != last->writes ? RUN_WRITES : 0);
    vmv_out_u8(out, (uint8_t)tag);
    if (tag & RUN_GAP) vmv_out_varint(out, run->first - runs->page);
    if (tag & RUN_COUNT) vmv_out_varint(out, run->count - 2);
    if (tag & RUN_ATTRIBUTES) {
        vmv_out_u8(out, (uint8_t)(page->state | (page->armed ? 8 : 0) | page->certainty << 4));
        vmv_out_u8(out, page->flags);
    }
    if (tag & RUN_CAPTURED) vmv_out_zigzag(out, (int64_t)(page->captured - last->captured));
    if (tag & RUN_WRITTEN) vmv_out_zigzag(out, (int64_t)(page->written - last->written));
    if (tag & RUN_WRITES) vmv_out_varint(out, page->writes);
    if (mode >= CONTENT_COUNTING) out_content(out, runs, page->content);
    runs_advance(runs, run);
}

static void in_attributes(struct vmv_in *in, struct vmv_page *page) {
    uint8_t bits = vmv_in_u8(in);
    page->state = bits & 7;
    page->armed = bits >> 3 & 1;
    page->certainty = bits >> 4 & 7;
    page->flags = vmv_in_u8(in);
    if (page->state > VMV_PAGE_GUARD || page->certainty > VMV_CERT_PARTIAL || bits >> 7) in->bad = true;
}

// Reads a run over the one before, whose last page it differs from.
static void in_run(struct vmv_in *in, struct runs *runs, struct run *run) {
    unsigned tag = vmv_in_u8(in), mode = tag >> RUN_CONTENT_SHIFT;
    struct vmv_page *page = &run->page;
    run->first = runs->page + (tag & RUN_GAP ? vmv_in_varint(in) : 0);
    run->count = tag & RUN_COUNT ? vmv_in_varint(in) + 2 : 1;
    if (tag & RUN_ATTRIBUTES) in_attributes(in, page);
    if (tag & RUN_CAPTURED) page->captured += (uint64_t)vmv_in_zigzag(in);
    if (tag & RUN_WRITTEN) page->written += (uint64_t)vmv_in_zigzag(in);
    if (tag & RUN_WRITES) page->writes = (uint32_t)vmv_in_varint(in);
    if (mode == CONTENT_NEXT) page->content = runs->last_number + 1;
    if (mode >= CONTENT_COUNTING) page->content = in_content(in, runs);
    run->step = mode == CONTENT_NEXT || mode == CONTENT_COUNTING;
}

// --- writing all of a space

struct collector {
    struct vmv_out *out;
    struct runs runs;
    struct run run; // count 0: none is open
    uint64_t written;
};

static bool equal_but_content(const struct vmv_page *a, const struct vmv_page *b) {
    return same_attributes(a, b) && a->captured == b->captured && a->written == b->written && a->writes == b->writes;
}

static void flush_run(struct collector *c) {
    if (!c->run.count) return;
    out_run(c->out, &c->runs, &c->run);
    c->written++;
    c->run.count = 0;
}

// Adds `count` pages that are all like `page`.
static void collect(struct collector *c, uint64_t first, uint64_t count, const struct vmv_page *page) {
    struct run *run = &c->run;
    if (run->count && first == run->first + run->count && equal_but_content(&run->page, page)) {
        bool counts = page->content >= VMV_CONTENT_FIRST && page->content == run->page.content + run->count;
        if (counts && count == 1 && (run->step || run->count == 1)) {
            run->step = true;
            run->count++;
            return;
        }
        if (!run->step && page->content == run->page.content) {
            run->count += count;
            return;
        }
    }
    flush_run(c);
    *run = (struct run){first, count, *page, false};
}

static bool page_known(const struct vmv_page *page) {
    return page->state != VMV_PAGE_UNKNOWN || page->content != VMV_CONTENT_NONE;
}

static void collect_leaf(struct collector *c, const struct vmv_page_leaf_view *leaf) {
    uint64_t first = leaf->key << VMV_LEAF_SHIFT;
    if (!leaf->known) return;
    if (leaf->alike) return collect(c, first, VMV_LEAF_PAGES, leaf->pages);
    for (unsigned i = 0; i < VMV_LEAF_PAGES; i++)
        if (page_known(&leaf->pages[i])) collect(c, first + i, 1, &leaf->pages[i]);
}

static bool is_shared(const struct vmv_page_table *base, const struct vmv_page_leaf_view *leaf) {
    return base && leaf->known && vmv_page_table_leaf_identity(base, leaf->key) == leaf->identity;
}

// Runs of leaf keys: the distance to the end of the run before, and the length.
static void out_shared(struct vmv_out *out, const struct vmv_page_table *table, const struct vmv_page_table *base) {
    struct vmv_out list = {0};
    uint64_t count = 0, first = 0, end = 0; // the open run
    struct vmv_page_leaf_view leaf;
    for (uint64_t key = 0; base && vmv_page_table_leaf(table, key, &leaf); key = leaf.key + 1) {
        if (!is_shared(base, &leaf)) continue;
        if (count && leaf.key != end) vmv_out_varint(&list, end - first);
        if (!count || leaf.key != end) {
            count++;
            vmv_out_varint(&list, leaf.key - end);
            first = leaf.key;
        }
        end = leaf.key + 1;
    }
    if (count) vmv_out_varint(&list, end - first);
    vmv_out_varint(out, count);
    vmv_out_bytes(out, list.data, list.length);
    vmv_out_free(&list);
}

void vmv_out_pages(struct vmv_out *out, const struct vmv_page_table *table, const struct vmv_page_table *base) {
    struct vmv_out list = {0};
    struct collector c = {.out = &list};
    struct vmv_page_leaf_view leaf;
    out_shared(out, table, base);
    for (uint64_t key = 0; vmv_page_table_leaf(table, key, &leaf); key = leaf.key + 1)
        if (!is_shared(base, &leaf)) collect_leaf(&c, &leaf);
    flush_run(&c);
    vmv_out_varint(out, c.written);
    vmv_out_bytes(out, list.data, list.length);
    vmv_out_free(&list);
}

// --- reading

static bool in_shared(struct vmv_in *in, struct vmv_page_table *table, const struct vmv_page_table *base) {
    uint64_t count = vmv_in_varint(in), key = 0;
    if (count && !base) return false;
    for (uint64_t i = 0; i < count && !in->bad; i++) {
        key += vmv_in_varint(in);
        for (uint64_t left = vmv_in_varint(in); left; left--)
            if (!vmv_page_table_adopt(table, base, key++)) return false;
    }
    return !in->bad;
}

bool vmv_in_pages(struct vmv_in *in, struct vmv_page_table *table, const struct vmv_page_table *base, uint64_t limit) {
    if (!in_shared(in, table, base)) return false;
    struct runs runs = {0};
    struct run run = {0};
    uint64_t count = vmv_in_varint(in);
    for (uint64_t i = 0; i < count; i++) {
        in_run(in, &runs, &run);
        if (in->bad || run.first < runs.page || run.first > limit || run.count > limit - run.first) return false;
        if (run.page.content >= CONTENT_LIMIT || run.count > CONTENT_LIMIT) return false;
        if (!page_known(&run.page) || !vmv_page_table_fill(table, run.first, run.count, &run.page, run.step))
            return false;
        runs.page = run.first + run.count;
        if (run.step) run.page.content += run.count - 1;
        if (run.page.content >= VMV_CONTENT_FIRST) runs.last_number = run.page.content;
    }
    return !in->bad;
}
