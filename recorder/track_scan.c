// Scans with PAGEMAP_SCAN (6.7 and newer).
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

#include "arch.h"
#include "kernel.h"
#include "track_private.h"

_Static_assert((int)TRACK_PAGE_WRITTEN == (int)PAGE_IS_WRITTEN && (int)TRACK_PAGE_FILE == (int)PAGE_IS_FILE &&
                   (int)TRACK_PAGE_PRESENT == (int)PAGE_IS_PRESENT && (int)TRACK_PAGE_SWAPPED == (int)PAGE_IS_SWAPPED &&
                   (int)TRACK_PAGE_ZERO == (int)PAGE_IS_PFNZERO && (int)TRACK_PAGE_HUGE == (int)PAGE_IS_HUGE &&
                   (int)TRACK_PAGE_GUARD == (int)PAGE_IS_GUARD,
               "a run's bits are the kernel's");

// FILE is not among them: to tell it, the kernel looks into each page's own structure, which makes a scan ten times
// slower (7 ms instead of 0.65 ms per GiB). It is asked for afterwards, of the pages found.
enum { RETURNED = PAGE_IS_WRITTEN | PAGE_IS_PRESENT | PAGE_IS_SWAPPED | PAGE_IS_PFNZERO | PAGE_IS_HUGE };

// The kernel collects 512 regions at a time. Given room for more, a scan that needs several such rounds reports the end
// of the first but one round as walk_end, and the rest would be scanned twice.
enum { REGIONS = 512 };

void track_runs_free(struct track_runs *runs) {
    free(runs->runs);
    *runs = (struct track_runs){0};
}

uint64_t track_runs_pages(const struct track_runs *runs) {
    uint64_t pages = 0;
    for (size_t i = 0; i < runs->count; i++) pages += (runs->runs[i].end - runs->runs[i].start) / TRACK_PAGE_BYTES;
    return pages;
}

void track_runs_add(struct track_runs *runs, uint64_t start, uint64_t end, uint64_t pages) {
    struct track_run *last = runs->count ? &runs->runs[runs->count - 1] : NULL;
    if (last && last->end == start && last->pages == pages) {
        last->end = end;
        return;
    }
    if (runs->count == runs->room) {
        runs->room = runs->room ? runs->room * 2 : 256;
        runs->runs = realloc(runs->runs, runs->room * sizeof *runs->runs);
        if (!runs->runs) abort();
    }
    runs->runs[runs->count++] = (struct track_run){start, end, pages};
}

static int by_start(const void *left, const void *right) {
    const struct track_run *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

void track_runs_sort(struct track_runs *runs) {
    for (size_t i = 1; i < runs->count; i++) {
        if (runs->runs[i].start >= runs->runs[i - 1].start) continue;
        qsort(runs->runs, runs->count, sizeof *runs->runs, by_start);
        return;
    }
}

// A guard page is kept as a kind of swap entry.
static uint64_t bits_of(uint64_t categories) {
    return categories & PAGE_IS_GUARD ? categories & ~(uint64_t)PAGE_IS_SWAPPED : categories;
}

// Runs one scan over [scan.start, scan.end) to its end and adds what it finds.
static int scan_all(const struct track *track, struct pm_scan_arg scan, uint64_t extra, struct track_runs *out) {
    struct page_region regions[REGIONS];
    scan.size = sizeof scan;
    scan.vec = (uintptr_t)regions;
    scan.vec_len = REGIONS;
    scan.return_mask = RETURNED | (track->knows_guard ? PAGE_IS_GUARD : 0u);
    uint64_t end = scan.end;
    while (scan.start < end) {
        scan.walk_end = 0;
        int found = ioctl(track->pagemap, PAGEMAP_SCAN, &scan);
        if (found < 0 && errno == EINTR) continue;
        if (found < 0) return -errno;
        for (int i = 0; i < found; i++)
            track_runs_add(out, regions[i].start, regions[i].end, bits_of(regions[i].categories) | extra);
        if (scan.walk_end <= scan.start) break; // nothing behind it: the address space has gone
        scan.start = scan.walk_end;
    }
    return 0;
}

// Without swap space, "swapped" is only said of absent pages that carry a write-protect marker.
static uint64_t here_or_swapped(void) {
    struct sysinfo machine;
    bool swap = sysinfo(&machine) != 0 || machine.totalswap > 0;
    return PAGE_IS_PRESENT | (swap ? (uint64_t)PAGE_IS_SWAPPED : 0);
}

// Absent pages count as written for the kernel, so that presence must be asked for: without it the scan would also fill
// page tables for every reservation. Guard pages look swapped out.
static struct pm_scan_arg scan_written(const struct track *track, uint64_t start, uint64_t end) {
    uint64_t not = (track->split_huge ? 0u : PAGE_IS_HUGE) | (track->knows_guard ? PAGE_IS_GUARD : 0u);
    return (struct pm_scan_arg){
        .start = start,
        .end = end,
        .category_inverted = not,
        .category_mask = PAGE_IS_WRITTEN | not,
        .category_anyof_mask = here_or_swapped(),
    };
}

// Registered huge pages: arming would split them for good.
static int list_huge(const struct track *track, struct track_runs *out) {
    struct pm_scan_arg scan = {.end = ARCH_SPACE_END};
    scan.category_mask = PAGE_IS_WPALLOWED | PAGE_IS_HUGE | PAGE_IS_PRESENT;
    return track->split_huge ? 0 : scan_all(track, scan, 0, out);
}

// Present pages of mappings that could not be registered.
static int list_unarmed(const struct track *track, struct track_runs *out) {
    struct pm_scan_arg scan = {.end = ARCH_SPACE_END};
    scan.category_inverted = PAGE_IS_WPALLOWED;
    scan.category_mask = PAGE_IS_WPALLOWED | PAGE_IS_PRESENT;
    return scan_all(track, scan, TRACK_PAGE_UNARMED, out);
}

// The parts of found runs that lie in wanted->runs[first..last); both are sorted.
static void add_common(const struct track_runs *found, const struct track_runs *wanted, size_t first, size_t last,
                       struct track_runs *out) {
    size_t w = first;
    for (size_t i = 0; i < found->count; i++) {
        const struct track_run *run = &found->runs[i];
        while (w < last && wanted->runs[w].end <= run->start) w++;
        for (size_t k = w; k < last && wanted->runs[k].start < run->end; k++) {
            const struct track_run *want = &wanted->runs[k];
            uint64_t start = run->start > want->start ? run->start : want->start;
            uint64_t end = run->end < want->end ? run->end : want->end;
            track_runs_add(out, start, end, run->pages);
        }
    }
}

// Runs `scan` over `wanted`. What lies nearer together than `near` bytes is scanned in one go.
static int scan_parts(struct track *track, struct pm_scan_arg scan, const struct track_runs *wanted, uint64_t near,
                      struct track_runs *out) {
    struct track_runs *found = &track->found;
    int error = 0;
    for (size_t i = 0, next; i < wanted->count && error == 0; i = next) {
        uint64_t end = wanted->runs[i].end;
        for (next = i + 1; next < wanted->count && wanted->runs[next].start - end < near; next++)
            end = wanted->runs[next].end;
        scan.start = wanted->runs[i].start;
        scan.end = end;
        found->count = 0;
        error = scan_all(track, scan, 0, found);
        add_common(found, wanted, i, next, out);
    }
    return error;
}

// Whether pages of a file (or of shared memory) can lie at addr; *end: up to where the answer holds.
static bool may_be_of_file(struct track_maps maps, size_t *at, uint64_t addr, uint64_t *end) {
    while (*at < maps.count && maps.maps[*at].end <= addr) (*at)++;
    const struct vmv_mapping *mapping = *at < maps.count ? &maps.maps[*at] : NULL;
    bool inside = mapping && mapping->start <= addr;
    uint64_t border = !mapping ? UINT64_MAX : inside ? mapping->end : mapping->start;
    if (border < *end) *end = border;
    return !inside || mapping->inode || (mapping->flags & VMV_MAP_SHARED);
}

static void choose_candidates(const struct track_runs *runs, struct track_maps maps, struct track_runs *out) {
    size_t at = 0;
    out->count = 0;
    for (size_t i = 0; i < runs->count; i++) {
        for (uint64_t addr = runs->runs[i].start, end; addr < runs->runs[i].end; addr = end) {
            end = runs->runs[i].end;
            if (may_be_of_file(maps, &at, addr, &end)) track_runs_add(out, addr, end, 0);
        }
    }
}

// `runs` split so that FILE stands at those of its pages that lie in `files`.
static void mark_files(const struct track_runs *runs, const struct track_runs *files, struct track_runs *out) {
    size_t f = 0;
    out->count = 0;
    for (size_t i = 0; i < runs->count; i++) {
        struct track_run run = runs->runs[i];
        for (uint64_t end; run.start < run.end; run.start = end) {
            while (f < files->count && files->runs[f].end <= run.start) f++;
            uint64_t from = f < files->count ? files->runs[f].start : UINT64_MAX;
            bool file = from <= run.start;
            uint64_t border = file ? files->runs[f].end : from;
            end = border < run.end ? border : run.end;
            track_runs_add(out, run.start, end, run.pages | (file ? TRACK_PAGE_FILE : 0));
        }
    }
}

enum { NEAR_BYTES = 2 << 20, NEAR_FILE_BYTES = 128 << 10 };

int track_tell_files(struct track *track, struct track_maps maps, struct track_runs *runs) {
    struct track_runs *candidates = &track->candidates, *files = &track->files, *marked = &track->marked;
    struct pm_scan_arg scan = {.category_mask = PAGE_IS_FILE};
    files->count = 0;
    choose_candidates(runs, maps, candidates);
    int error = scan_parts(track, scan, candidates, NEAR_FILE_BYTES, files);
    if (error || !files->count) return error;
    mark_files(runs, files, marked);
    struct track_runs swap = *runs;
    *runs = *marked;
    *marked = swap;
    return 0;
}

int track_scan(struct track *track, struct track_maps maps, struct track_runs *out) {
    out->count = 0;
    if (track->changed != SOURCES_CHANGED_WP_ASYNC) return track_fallback_scan(track, maps, out);
    struct pm_scan_arg scan = scan_written(track, 0, ARCH_SPACE_END);
    scan.flags = PM_SCAN_WP_MATCHING;
    int error = scan_all(track, scan, 0, out);
    if (error == 0) error = list_huge(track, out);
    if (error == 0) error = list_unarmed(track, out);
    track_runs_sort(out);
    return error ? error : track_tell_files(track, maps, out);
}

int track_rescan_torn(struct track *track, const struct track_runs *copied, struct track_runs *torn) {
    torn->count = 0;
    if (track->changed != SOURCES_CHANGED_WP_ASYNC) return track_fallback_torn(track, copied, torn);
    struct pm_scan_arg scan = scan_written(track, 0, 0);
    scan.category_mask |= PAGE_IS_WPALLOWED;
    return scan_parts(track, scan, copied, NEAR_BYTES, torn);
}

int track_scan_resident(struct track *track, struct track_maps maps, struct track_runs *out) {
    out->count = 0;
    if (!track->scan_works) return track_fallback_resident(track, maps, out);
    struct pm_scan_arg scan = {.end = ARCH_SPACE_END};
    scan.category_anyof_mask = here_or_swapped() | (track->knows_guard ? PAGE_IS_GUARD : 0u);
    return scan_all(track, scan, 0, out);
}

bool track_scan_knows_guard(int pagemap) {
    struct pm_scan_arg none = {.size = sizeof none, .category_mask = PAGE_IS_GUARD, .return_mask = PAGE_IS_GUARD};
    return ioctl(pagemap, PAGEMAP_SCAN, &none) >= 0;
}
