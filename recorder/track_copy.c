// Copies page contents out of the process.
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include "track_private.h"

enum {
    VECTORS = 64, // more gains nothing
    SMALLEST = 64,
    HUGE_FROM = 1024, // pages
};

void track_copy_room(struct track_copy *copy, size_t pages) {
    if (pages <= copy->room) return;
    size_t room = copy->room ? copy->room : SMALLEST;
    while (room < pages) room *= 2;
    uint8_t *bytes = mmap(NULL, room * TRACK_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED) abort();
    // The program waits while this memory is used for the first time: in small pages that takes longer than copying
    // much, in huge ones much longer than copying little.
    madvise(bytes, room * TRACK_PAGE_BYTES, room >= HUGE_FROM ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    if (copy->bytes) munmap(copy->bytes, copy->room * TRACK_PAGE_BYTES);
    copy->bytes = bytes; // what was in it has been used: a call begins anew
    copy->addrs = realloc(copy->addrs, room * sizeof *copy->addrs);
    copy->good = realloc(copy->good, room * sizeof *copy->good);
    if (!copy->addrs || !copy->good) abort();
    copy->room = room;
}

void track_copy_free(struct track_copy *copy) {
    if (copy->bytes) munmap(copy->bytes, copy->room * TRACK_PAGE_BYTES);
    free(copy->addrs);
    free(copy->good);
    *copy = (struct track_copy){0};
}

// Chooses the pages. Returns the run to go on with.
static size_t choose(const struct track_runs *runs, size_t first, uint64_t *offset, size_t max_pages,
                     struct track_copy *out) {
    for (; first < runs->count; first++, *offset = 0) {
        const struct track_run *run = &runs->runs[first];
        if (!(run->pages & TRACK_PAGE_PRESENT)) continue;
        for (uint64_t addr = run->start + *offset; addr < run->end; addr += TRACK_PAGE_BYTES) {
            if (out->pages == max_pages) {
                *offset = addr - run->start;
                return first;
            }
            out->addrs[out->pages++] = addr;
        }
    }
    return first;
}

// Vectors for pages from `from` on; returns how many, and how many pages they cover.
static int vectors(const struct track_copy *copy, size_t from, struct iovec *remote, size_t *pages) {
    int count = 0;
    size_t at = from;
    while (at < copy->pages && count < VECTORS) {
        size_t run = 1;
        while (at + run < copy->pages && copy->addrs[at + run] == copy->addrs[at] + run * TRACK_PAGE_BYTES) run++;
        remote[count++] = (struct iovec){(void *)(uintptr_t)copy->addrs[at], run * TRACK_PAGE_BYTES};
        at += run;
    }
    *pages = at - from;
    return count;
}

// One page that process_vm_readv will not give: PROT_NONE, device memory. ptrace's way reads some of these.
static bool read_alone(const struct track *track, struct track_copy *copy, size_t page) {
    return track->memory >= 0 && pread(track->memory, copy->bytes + page * TRACK_PAGE_BYTES, TRACK_PAGE_BYTES,
                                       (off_t)copy->addrs[page]) == TRACK_PAGE_BYTES;
}

static void read_all(const struct track *track, struct track_copy *copy) {
    struct iovec remote[VECTORS];
    for (size_t at = 0; at < copy->pages;) {
        size_t pages;
        int count = vectors(copy, at, remote, &pages);
        struct iovec local = {copy->bytes + at * TRACK_PAGE_BYTES, pages * TRACK_PAGE_BYTES};
        ssize_t got = process_vm_readv(track->pid, &local, 1, remote, (unsigned long)count, 0);
        size_t whole = got > 0 ? (size_t)got / TRACK_PAGE_BYTES : 0;
        for (size_t i = 0; i < whole; i++) copy->good[at + i] = true;
        at += whole;
        if (whole == pages) continue;
        copy->good[at] = read_alone(track, copy, at);
        copy->failed += !copy->good[at];
        at++;
    }
}

size_t track_copy(struct track *track, const struct track_runs *runs, size_t first, uint64_t *offset, size_t max_pages,
                  struct track_copy *out) {
    uint64_t left = track_runs_pages(runs); // an upper bound, so that a small frame needs little memory
    track_copy_room(out, left < max_pages ? (size_t)left : max_pages);
    out->pages = out->failed = 0;
    first = choose(runs, first, offset, max_pages, out);
    read_all(track, out);
    return first;
}
