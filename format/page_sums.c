// Sums over pages that views ask for again and again while few of the pages change.
#include "pagetab.h"

bool vmv_page_kept(const struct vmv_page *page) {
    bool contents = page->content == VMV_CONTENT_ZERO || page->content >= VMV_CONTENT_FIRST;
    bool watched = page->armed || page->state == VMV_PAGE_ZERO;
    return contents && watched && page->certainty == VMV_CERT_EXACT && page->written <= page->captured &&
           !(page->flags & (VMV_PAGEF_HUGE | VMV_PAGEF_SKIPPED));
}

static void count(struct vmv_page_sums *sums, const struct vmv_page *page, uint32_t times) {
    bool resident = page->state == VMV_PAGE_RESIDENT || page->state == VMV_PAGE_ZERO;
    bool swapped = page->state == VMV_PAGE_SWAPPED;
    bool known = page->state != VMV_PAGE_UNKNOWN || page->content != VMV_CONTENT_NONE;
    if (known) sums->known += times;
    if (resident) sums->resident += times;
    if (swapped) sums->swapped += times;
    if ((resident || swapped) && vmv_page_kept(page)) sums->kept += times;
    if (page->written) sums->written += times;
}

static void widen(uint64_t *low, uint64_t *high, uint64_t value, bool first) {
    if (first || value < *low) *low = value;
    if (first || value > *high) *high = value;
}

void vmv_page_sums_add(struct vmv_page_sums *sums, const struct vmv_page *page, uint32_t times) {
    uint32_t kept = sums->kept, written = sums->written;
    count(sums, page, times);
    if (sums->written != written) widen(&sums->written_low, &sums->written_high, page->written, !written);
    if (sums->kept != kept) widen(&sums->captured_low, &sums->captured_high, page->captured, !kept);
}

static bool is_bound(uint64_t value, uint64_t low, uint64_t high) { return value == low || value == high; }

void vmv_page_sums_remove(struct vmv_page_sums *sums, const struct vmv_page *page) {
    uint32_t kept = sums->kept;
    count(sums, page, UINT32_MAX);
    if (page->written && is_bound(page->written, sums->written_low, sums->written_high)) sums->loose = true;
    if (sums->kept != kept && is_bound(page->captured, sums->captured_low, sums->captured_high)) sums->loose = true;
}
