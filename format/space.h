// One address space: its mappings and what is known of its pages. vmv_space_apply() alone says what an event does to
// it; the recorder, the viewer, the inspector and the tests all use it.
#ifndef VMV_SPACE_H
#define VMV_SPACE_H

#include "event.h"

// What is known of one page.
struct vmv_page {
    uint64_t content;  // number of its captured contents, VMV_CONTENT_NONE if never captured
    uint64_t captured; // ns, when those contents were in memory
    uint64_t written;  // ns, the end of the interval in which it was last seen written; 0 never seen
    uint8_t state;     // enum vmv_page_state
    uint8_t flags;     // enum vmv_page_flags, of the last frame that spoke of it
    uint8_t certainty; // VMV_CERT_EXACT or VMV_CERT_TORN as captured; VMV_CERT_UNKNOWN without contents
    uint8_t armed;     // 1: write-protected since the last frame, so the next write is seen
    uint32_t writes;   // frames and faults in which it was seen written
};

struct vmv_page_table; // sparse: leaves of 512 pages, made on demand

struct vmv_space {
    uint32_t id;
    int32_t pid; // the process that owns (or first owned) it
    uint32_t page_size;
    struct vmv_mapping *maps; // sorted by start, disjoint, canonical
    size_t map_count, map_room;
    struct vmv_page_table *pages;
    uint64_t brk;          // current break, 0 unknown
    uint64_t last_frame_t; // ns; 0: no frame yet
    uint64_t last_frame;
    uint64_t resident_pages, swapped_pages; // counts over the page table
    uint64_t virtual_bytes;
    uint64_t changes; // counts every change of the mappings, so that caches know when to renew
    struct vmv_string_store *strings;
    uint32_t copied_from; // id of the space it was copied from, 0: none
    uint32_t users;       // live processes of the world that have it
    unsigned page_shift;
    struct vmv_space_private *hidden;
};

struct vmv_space *vmv_space_create(uint32_t id, int32_t pid, uint32_t page_size);
struct vmv_space *vmv_space_copy(const struct vmv_space *from, uint32_t id, int32_t pid); // as fork does
void vmv_space_destroy(struct vmv_space *space);                                          // accepts NULL

// What `event` does to `space`. Events of other spaces and types without effect change nothing. Never fails: an event
// that cannot be (a hostile trace) is clipped to page borders and the address range, which ends one page before 2^64
// for mappings ([vsyscall] lies high) and at 2^56 for pages. A copy shares memory with its origin: one thread for both.
void vmv_space_apply(struct vmv_space *space, const struct vmv_event *event);

// The mapping that holds addr, or NULL; the first mapping that ends after addr (index map_count if none).
const struct vmv_mapping *vmv_space_find(const struct vmv_space *space, uint64_t addr);
size_t vmv_space_lower_bound(const struct vmv_space *space, uint64_t addr);

// Joins neighbours in a sorted array in place, as a canonical space does; returns the new count. Used for what
// /proc/PID/maps prints too, so that both sides of a comparison are canonical.
size_t vmv_mappings_join(struct vmv_mapping *maps, size_t count);
bool vmv_mapping_continues(const struct vmv_mapping *low, const struct vmv_mapping *high);

// Pages. `addr` is any address inside the page. peek: NULL if nothing is known of it. get: makes the entry; its state
// is to be changed by events only, as resident_pages and swapped_pages count it.
const struct vmv_page *vmv_space_page_peek(const struct vmv_space *space, uint64_t addr);
struct vmv_page *vmv_space_page_get(struct vmv_space *space, uint64_t addr);
// Lets the processor fetch what is known of the page, which is to change soon.
void vmv_space_page_prefetch(const struct vmv_space *space, uint64_t addr);
// Forgets pages in [start, end): as unmapped.
void vmv_space_pages_drop(struct vmv_space *space, uint64_t start, uint64_t end);
// Walks known pages (state != UNKNOWN or content) with start <= addr < end in rising order: returns the next known
// page at or after *addr and sets *addr to it, or NULL.
const struct vmv_page *vmv_space_page_next(const struct vmv_space *space, uint64_t *addr, uint64_t end);
// Known, resident and swapped pages in [start, end), at the price of a step per 512 of them.
struct vmv_space_counts {
    uint64_t known, resident, swapped;
};
struct vmv_space_counts vmv_space_count(const struct vmv_space *space, uint64_t start, uint64_t end);
// Sums over pages.
struct vmv_page_sums {
    uint32_t known, resident, swapped;    // resident: the shared page of zeros as well
    uint32_t kept;                        // in memory or swapped, and vmv_page_kept()
    uint32_t written;                     // ever seen written
    uint64_t written_low, written_high;   // ns, of the first and last of them
    uint64_t captured_low, captured_high; // ns, of the kept
    bool loose;                           // private: a page that may have been a bound is gone
};
// Its contents were captured whole, no event since says that they changed, and the next change would be seen.
bool vmv_page_kept(const struct vmv_page *page);
// Pages side by side: entry i is the page at addr + i * page_size; entries of which nothing is known are zero.
struct vmv_page_stretch {
    uint64_t addr;
    const struct vmv_page *pages; // `count`, or one that stands for all
    bool alike;
    size_t count;                     // at most 512
    const struct vmv_page_sums *sums; // over all of them; NULL where a border cuts them
    const uint64_t *written;          // ns, of each; NULL where a border cuts them, and where one stands for all
};
// The next stretch with known pages at or after addr and below end. False: there is none. It holds until the space
// changes. Sums are made when first asked for, and follow their pages from then on.
bool vmv_space_stretch(const struct vmv_space *space, uint64_t addr, uint64_t end, struct vmv_page_stretch *stretch);
// Bytes the space holds in memory, for cache budgets; what copies share is counted for each.
size_t vmv_space_memory(const struct vmv_space *space);

// A stable copy of `text` that lives as long as the space.
const char *vmv_space_intern(struct vmv_space *space, const char *text);

#endif
