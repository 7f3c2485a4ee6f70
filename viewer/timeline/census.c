// How certain the pages of a stretch of memory are: those alike are judged once.
#include "timeline_internal.h"

#include <string.h>

struct counting {
    struct timeline *tl;
    const struct vmv_space *space;
    const struct vmv_mapping *map;
    struct vmv_page_stretch stretch;
    uint64_t spoken[AHEAD_STRETCH / 64]; // pages of which events up to the next frame speak
    struct ahead_answer rest;            // what holds of the others
    bool kept_judged, kept_together;     // `kept` holds for kept pages of which nothing is said
    enum vmv_certainty kept;
    const struct vmv_page *before; // the last that was judged by itself, of the others
    enum vmv_certainty before_is;
};

static void count(struct timeline_census *census, enum vmv_certainty certainty, uint64_t pages) {
    switch (certainty) {
    case VMV_CERT_EXACT:
        census->exact += pages;
        break;
    case VMV_CERT_TORN:
        census->torn += pages;
        break;
    case VMV_CERT_STALE:
    case VMV_CERT_PARTIAL:
        census->stale += pages;
        break;
    default:
        census->unknown += pages;
        break;
    }
}

static bool counts(const struct vmv_page *page) {
    return page->state == VMV_PAGE_RESIDENT || page->state == VMV_PAGE_ZERO || page->state == VMV_PAGE_SWAPPED;
}

static bool is_spoken_of(const struct counting *c, size_t i) { return c->spoken[i / 64] >> i % 64 & 1; }

// The same in all that a verdict depends on, where no event speaks of either.
static bool alike(const struct vmv_page *a, const struct vmv_page *b) {
    bool content = a->content == b->content || (a->content >= VMV_CONTENT_FIRST && b->content >= VMV_CONTENT_FIRST);
    return content && a->captured == b->captured && a->written == b->written && a->state == b->state &&
           a->flags == b->flags && a->certainty == b->certainty && a->armed == b->armed;
}

static enum vmv_certainty judge(struct counting *c, const struct vmv_page *page, size_t i) {
    uint64_t addr = c->stretch.addr + ((uint64_t)i << c->space->page_shift);
    bool spoken = is_spoken_of(c, i);
    if (!spoken && c->kept_together && vmv_page_kept(page)) return c->kept;
    if (!spoken && c->before && alike(c->before, page)) return c->before_is;
    enum vmv_certainty certainty = judge_page(c->tl, c->space, c->map, addr).certainty;
    if (!spoken) c->before = page, c->before_is = certainty;
    return certainty;
}

static const struct vmv_page *page_at(const struct counting *c, size_t i) {
    return &c->stretch.pages[c->stretch.alike ? 0 : i];
}

static void count_each(struct counting *c, struct timeline_census *census) {
    for (size_t i = 0; i < c->stretch.count; i++)
        if (counts(page_at(c, i))) count(census, judge(c, page_at(c, i), i), 1);
}

// All pages that count are kept: only those spoken of are looked at.
static void count_kept(struct counting *c, struct timeline_census *census) {
    uint64_t others = c->stretch.sums->kept;
    for (size_t word = 0; word < AHEAD_STRETCH / 64; word++)
        for (uint64_t left = c->spoken[word]; left; left &= left - 1) {
            size_t i = word * 64 + (size_t)__builtin_ctzll(left);
            if (i >= c->stretch.count || !counts(page_at(c, i))) continue;
            count(census, judge(c, page_at(c, i), i), 1);
            others--;
        }
    count(census, c->kept, others);
}

static void count_stretch(struct counting *c, struct timeline_census *census) {
    const struct vmv_page_sums *sums = c->stretch.sums;
    if (sums && !sums->resident && !sums->swapped) return;
    c->rest = ahead_ask_rest(c->tl, c->space, c->stretch.addr, c->spoken);
    if (sums && sums->kept)
        c->kept_together =
            judge_kept(c->tl, c->space, c->map, sums->captured_low, sums->captured_high, &c->rest, &c->kept);
    if (c->kept_together && sums->kept == sums->resident + sums->swapped)
        count_kept(c, census);
    else
        count_each(c, census);
}

bool timeline_census(struct timeline *tl, uint32_t space_id, uint64_t *addr, uint64_t end,
                     struct timeline_census *census) {
    struct counting c = {.tl = tl, .space = tl->at.world ? vmv_world_space(tl->at.world, space_id) : NULL};
    if (!c.space || !vmv_space_stretch(c.space, *addr, end, &c.stretch)) return false;
    c.map = vmv_space_find(c.space, c.stretch.addr);
    *addr = c.stretch.addr + ((uint64_t)c.stretch.count << c.space->page_shift);
    if (c.map) count_stretch(&c, census);
    return true;
}
