// Residency and written pages where the kernel lacks PAGEMAP_SCAN or asynchronous write-protection: the pagemap file,
// soft-dirty bits, page hashes.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "event.h"
#include "kernel.h"
#include "track_private.h"

// A page of pagemap takes 8 bytes and about 10 ns to read whether it is there or not: reservations of many GiB would
// take seconds. So a scan reads the first 16 GiB of those only.
enum { WORDS = 4096, LARGE_BYTES = 256 << 20 };
static const uint64_t LARGE_BUDGET = 16ULL << 30;

static uint64_t bits_of(uint64_t word) {
    return (word & PAGEMAP_PRESENT ? TRACK_PAGE_PRESENT : 0u) | (word & PAGEMAP_FILE ? TRACK_PAGE_FILE : 0u) |
           (word & PAGEMAP_SWAPPED ? TRACK_PAGE_SWAPPED : 0u) | (word & PAGEMAP_SOFT_DIRTY ? TRACK_PAGE_WRITTEN : 0u);
}

// Pages of [start, end) that are here or swapped out; at most `limit` of them (all there are, as the kernel counts).
static int read_range(int pagemap, uint64_t start, uint64_t end, uint64_t limit, struct track_runs *out) {
    uint64_t words[WORDS];
    uint64_t found = 0;
    while (start < end && found < limit) {
        uint64_t want = (end - start) / TRACK_PAGE_BYTES;
        size_t bytes = want < WORDS ? (size_t)want * 8 : sizeof words;
        ssize_t got = pread(pagemap, words, bytes, (off_t)(start / TRACK_PAGE_BYTES * 8));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -errno;
        if (got < 8) return 0; // beyond what has page tables, or the address space has gone
        for (ssize_t i = 0; i < got / 8; i++, start += TRACK_PAGE_BYTES) {
            if (!(words[i] & (PAGEMAP_PRESENT | PAGEMAP_SWAPPED))) continue;
            track_runs_add(out, start, start + TRACK_PAGE_BYTES, bits_of(words[i]));
            found++;
        }
    }
    return 0;
}

struct size_of { // how much of a mapping is here or swapped out, from smaps
    uint64_t start, pages;
};

static uint64_t kilobytes(const char *line, const char *key) {
    size_t length = strlen(key);
    return strncmp(line, key, length) == 0 ? strtoull(line + length, NULL, 10) : 0;
}

// The pagemap of a huge reservation takes seconds to read; smaps tells quickly how many pages there are to be found.
static struct size_of *read_sizes(pid_t pid, size_t *count) {
    char path[64], line[512];
    struct size_of *sizes = NULL;
    size_t room = 0;
    *count = 0;
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file)) {
        char *rest;
        uint64_t start = strtoull(line, &rest, 16);
        if (rest > line && *rest == '-') {
            if (*count == room) sizes = realloc(sizes, (room = room ? room * 2 : 64) * sizeof *sizes);
            if (!sizes) abort();
            sizes[(*count)++] = (struct size_of){start, 0};
        } else if (*count)
            sizes[*count - 1].pages += (kilobytes(line, "Rss:") + kilobytes(line, "Swap:")) / 4;
    }
    if (file) fclose(file);
    return sizes;
}

// Sum over the mapping's parts, which the kernel may keep apart.
static uint64_t pages_in(const struct size_of *sizes, size_t count, const struct vmv_mapping *mapping) {
    uint64_t pages = 0;
    for (size_t i = 0; i < count; i++) {
        if (sizes[i].start >= mapping->start && sizes[i].start < mapping->end) pages += sizes[i].pages;
    }
    return pages;
}

// A mapping so large that its pagemap is not simply read: up to where all its pages have been found, or the budget is
// used up.
static int read_large(struct track *track, const struct vmv_mapping *mapping, struct size_of *sizes, size_t count,
                      uint64_t *budget, struct track_runs *out) {
    uint64_t length = mapping->end - mapping->start, limit = sizes ? pages_in(sizes, count, mapping) : UINT64_MAX;
    if (limit == 0) return 0;
    uint64_t part = length < *budget ? length : *budget;
    uint64_t before = track_runs_pages(out);
    int error = read_range(track->pagemap, mapping->start, mapping->start + part, limit, out);
    *budget -= part;
    if (part < length && track_runs_pages(out) - before < limit) track->incomplete = true;
    return error;
}

int track_fallback_resident(struct track *track, struct track_maps maps, struct track_runs *out) {
    struct size_of *sizes = NULL;
    size_t count = 0;
    uint64_t budget = LARGE_BUDGET;
    bool asked = false;
    int error = 0;
    out->count = 0;
    track->incomplete = false;
    for (size_t i = 0; i < maps.count && error == 0; i++) {
        const struct vmv_mapping *mapping = &maps.maps[i];
        bool large = mapping->end - mapping->start > LARGE_BYTES;
        if (mapping->start >= UINT64_MAX / 2) continue; // [vsyscall]
        if (large && !asked) sizes = read_sizes(track->pid, &count);
        asked |= large;
        error = large ? read_large(track, mapping, sizes, count, &budget, out)
                      : read_range(track->pagemap, mapping->start, mapping->end, UINT64_MAX, out);
    }
    free(sizes);
    return error;
}

int track_soft_dirty_clear(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/clear_refs", (int)pid);
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0) return -errno;
    int error = write(fd, "4", 1) == 1 ? 0 : -errno;
    close(fd);
    return error;
}

// Keeps only the runs with all of `bits`.
static void keep_runs(struct track_runs *runs, uint64_t bits) {
    size_t kept = 0;
    for (size_t i = 0; i < runs->count; i++) {
        if ((runs->runs[i].pages & bits) == bits) runs->runs[kept++] = runs->runs[i];
    }
    runs->count = kept;
}

static int scan_soft_dirty(struct track *track, struct track_maps maps, struct track_runs *out) {
    int error = track_fallback_resident(track, maps, out);
    if (error == 0) error = track_soft_dirty_clear(track->pid);
    keep_runs(out, TRACK_PAGE_WRITTEN);
    return error;
}

static bool is_private(struct track_maps maps, size_t *at, uint64_t addr) {
    while (*at < maps.count && maps.maps[*at].end <= addr) (*at)++;
    return *at < maps.count && maps.maps[*at].start <= addr && !(maps.maps[*at].flags & VMV_MAP_SHARED);
}

// Pages still shared with the file of a private mapping have the file's contents: only their coming is news. So it is
// with pages that cannot be read without bringing them in.
enum { HASH_UNREAD = 1, HASH_UNREADABLE = 2 };

static void note(struct track *track, uint64_t addr, uint64_t hash, uint64_t pages, struct track_runs *out) {
    if (track_hashes_changed(track->hashes, addr, hash))
        track_runs_add(out, addr, addr + TRACK_PAGE_BYTES, pages | TRACK_PAGE_WRITTEN);
}

static void note_unread(struct track *track, const struct track_run *run, struct track_runs *out) {
    for (uint64_t addr = run->start; addr < run->end; addr += TRACK_PAGE_BYTES)
        note(track, addr, HASH_UNREAD, run->pages, out);
}

static void note_contents(struct track *track, struct track_run *run, struct track_copy *copy, struct track_runs *out) {
    struct track_runs one = {.runs = run, .count = 1};
    uint64_t offset = 0;
    for (size_t at = 0; at < one.count;) {
        at = track_copy(track, &one, at, &offset, 256, copy);
        for (size_t i = 0; i < copy->pages; i++) {
            uint64_t hash = HASH_UNREADABLE;
            if (copy->good[i]) hash = XXH3_64bits(copy->bytes + i * TRACK_PAGE_BYTES, TRACK_PAGE_BYTES);
            note(track, copy->addrs[i], hash, run->pages, out);
        }
    }
}

static int scan_hashes(struct track *track, struct track_maps maps, struct track_runs *out) {
    struct track_runs resident = {0};
    struct track_copy copy = {0};
    size_t at = 0;
    int error = track_scan_resident(track, maps, &resident);
    if (error == 0 && track->scan_works) error = track_tell_files(track, maps, &resident);
    track_hashes_begin(track->hashes);
    for (size_t i = 0; i < resident.count && error == 0; i++) {
        struct track_run *run = &resident.runs[i];
        run->pages &= ~(uint64_t)TRACK_PAGE_WRITTEN;
        bool of_file = (run->pages & TRACK_PAGE_FILE) && is_private(maps, &at, run->start);
        if (of_file || !(run->pages & TRACK_PAGE_PRESENT))
            note_unread(track, run, out);
        else
            note_contents(track, run, &copy, out);
    }
    track_hashes_end(track->hashes);
    track_copy_free(&copy);
    track_runs_free(&resident);
    return error;
}

int track_fallback_scan(struct track *track, struct track_maps maps, struct track_runs *out) {
    out->count = 0;
    if (track->changed == SOURCES_CHANGED_SOFT_DIRTY) return scan_soft_dirty(track, maps, out);
    return track->changed == SOURCES_CHANGED_HASH ? scan_hashes(track, maps, out) : 0;
}

int track_fallback_torn(struct track *track, const struct track_runs *copied, struct track_runs *torn) {
    torn->count = 0;
    int error = 0;
    if (track->changed != SOURCES_CHANGED_SOFT_DIRTY) return 0;
    for (size_t i = 0; i < copied->count && error == 0; i++)
        error = read_range(track->pagemap, copied->runs[i].start, copied->runs[i].end, UINT64_MAX, torn);
    keep_runs(torn, TRACK_PAGE_WRITTEN);
    return error;
}
