#include "inspect_runs.h"

enum { STRETCH_PAGES = 512 };

bool inspect_page_resident(const struct vmv_page *page) {
    return page->state == VMV_PAGE_RESIDENT || page->state == VMV_PAGE_ZERO;
}

struct inspect_runs inspect_runs_begin(const struct vmv_space *space, uint64_t start, uint64_t end) {
    return (struct inspect_runs){.space = space, .addr = start, .end = end};
}

static bool page_known(const struct vmv_page *page) { return page->state != VMV_PAGE_UNKNOWN || page->content != 0; }

static bool pages_equal(const struct vmv_page *a, const struct vmv_page *b) {
    return a->content == b->content && a->captured == b->captured && a->written == b->written && a->state == b->state &&
           a->flags == b->flags && a->certainty == b->certainty && a->armed == b->armed && a->writes == b->writes;
}

// The stretch of the next known page. One page short of a whole one, as sums would be made for that, and take memory.
static bool runs_fetch(struct inspect_runs *runs) {
    uint64_t size = runs->space->page_size, whole = STRETCH_PAGES * size;
    uint64_t addr = runs->addr;
    if (addr >= runs->end || vmv_space_page_next(runs->space, &addr, runs->end) == NULL) return false;
    uint64_t border = addr - addr % whole + whole, end = border < runs->end ? border : runs->end;
    if (addr % whole == 0 && end == border) end -= size;
    runs->at = 0;
    if (!vmv_space_stretch(runs->space, addr, end, &runs->stretch)) return false;
    uint64_t next = runs->stretch.addr + runs->stretch.count * size;
    if (runs->stretch.alike && next < runs->end && vmv_space_page_peek(runs->space, next) == runs->stretch.pages) {
        runs->stretch.count++; // the one that was left out
        next += size;
    }
    runs->addr = next;
    return true;
}

// What comes next: one page, or all that is left of a stretch of pages that are alike. NULL at the end.
static const struct vmv_page *runs_peek(struct inspect_runs *runs, uint64_t *addr, uint64_t *count) {
    while (true) {
        const struct vmv_page_stretch *stretch = &runs->stretch;
        for (; runs->at < stretch->count; runs->at += *count) {
            const struct vmv_page *page = stretch->alike ? stretch->pages : &stretch->pages[runs->at];
            *addr = stretch->addr + runs->at * runs->space->page_size;
            *count = stretch->alike ? stretch->count - runs->at : 1;
            if (page_known(page)) return page;
        }
        if (!runs_fetch(runs)) return NULL;
    }
}

bool inspect_runs_next(struct inspect_runs *runs, struct inspect_run *run) {
    uint64_t addr, count;
    const struct vmv_page *page = runs_peek(runs, &addr, &count);
    if (page == NULL) return false;
    *run = (struct inspect_run){.addr = addr, .page = *page};
    do {
        run->pages += count;
        runs->at += count;
        page = runs_peek(runs, &addr, &count);
    } while (page != NULL && addr == run->addr + run->pages * runs->space->page_size && pages_equal(page, &run->page));
    return true;
}
