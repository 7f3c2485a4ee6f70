// The pages of one address space: which are resident, which were written since the last scan, and their contents.
// All times the program's threads should stand still; the functions work without, with results that may be torn.
#ifndef REC_TRACK_H
#define REC_TRACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "inject.h"
#include "sources.h"

struct track;

struct track_options {
    pid_t pid, tid;  // tid: the tracee that makes the injected calls, in a stop as inject.h wants it
    bool split_huge; // --split-huge: arm huge pages too, which splits them for good
    int own_filters; // seccomp filters that are known to let the injected calls pass (the recorder's own); with more
                     // on the thread nothing is injected: a program's filter might kill it. -1: do not look
};
// Binds to the address space that `tid` has now (after an exec: close, open anew; a fork's child: open for it).
// With SOURCES_CHANGED_WP_ASYNC or faults UFFD a userfaultfd is made in the tracee by injection and brought here;
// nothing stays open there. 0, or a negative errno with `why` filled; -ESRCH: see `injected`. Where only the
// userfaultfd could not be made, returns 0 and track_uffd() is -1 and `why` says why: pages are then found as on
// kernels without it.
int track_open(const struct sources *sources, const struct track_options *options, struct track **track,
               struct inject_result *injected, char *why, size_t why_size);
void track_close(struct track *track); // accepts NULL; not while a fault server still serves its descriptor

int track_uffd(const struct track *track);                     // -1: none
int track_pagemap(const struct track *track);                  // /proc/PID/pagemap of this address space
enum sources_changed track_changed(const struct track *track); // how it finds written pages
bool track_missing(
    const struct track *track); // first touches come as messages on the uffd: serve them before registering

enum track_registered {
    TRACK_REGISTERED = 0,
    TRACK_UNNEEDED,   // this track has no userfaultfd: nothing to do
    TRACK_REFUSED,    // no memory to be tracked: vdso, vvar, device memory
    TRACK_READ_ONLY,  // a shared mapping that can never be written through: nothing to arm, nothing lost
    TRACK_OF_PROGRAM, // the program's own userfaultfd has it: note a gap
    TRACK_UNMAPPED,   // not (wholly) mapped any more
    TRACK_FAILED,     // another error: note a gap
};
// Registers [start, end), whole VMAs. Repeating it does no harm.
enum track_registered track_register(struct track *track, uint64_t start, uint64_t end);
// Gives a range up (before the program registers it itself).
bool track_unregister(struct track *track, uint64_t start, uint64_t end);
// Takes write protection off (MADV_COLLAPSE, which fails on armed pages). The pages count as written.
bool track_disarm(struct track *track, uint64_t start, uint64_t end);

enum track_page {           // what is known of a run's pages
    TRACK_PAGE_WRITTEN = 2, // since the last scan, or never armed
    TRACK_PAGE_FILE = 4,    // still a page of the mapped file (or of shared memory)
    TRACK_PAGE_PRESENT = 8,
    TRACK_PAGE_SWAPPED = 16,
    TRACK_PAGE_ZERO = 32, // the kernel's zero page
    TRACK_PAGE_HUGE = 64, // part of a huge page: not armed, may have been written
    TRACK_PAGE_GUARD = 256,
    TRACK_PAGE_UNARMED = 1 << 16, // in a mapping that is not registered: may have been written
};
struct track_run {
    uint64_t start, end;
    uint64_t pages; // enum track_page
};
struct track_runs { // sorted by start, disjoint; owned by the caller, grows; zero it before first use
    struct track_run *runs;
    size_t count, room;
};
void track_runs_free(struct track_runs *runs);
uint64_t track_runs_pages(const struct track_runs *runs); // sum of 4096-byte pages

struct vmv_mapping;
// The space's mappings, as read or as kept, sorted. They tell where no file can be, which makes scans faster; required
// where the kernel lacks PAGEMAP_SCAN.
struct track_maps {
    const struct vmv_mapping *maps;
    size_t count;
};
// One frame: what was written since the last scan, re-armed in the same step; then huge pages and pages in mappings
// that are not registered, which are listed every time they are resident (HUGE, UNARMED). 0 or a negative errno.
int track_scan(struct track *track, struct track_maps maps, struct track_runs *out);
// After copying: which pages of `copied` were written meanwhile. They stay due for the next scan. Empty where hashes
// are compared: nothing is known then.
int track_rescan_torn(struct track *track, const struct track_runs *copied, struct track_runs *torn);
// Everything that is resident or swapped out, without arming anything. Does not tell FILE (it would cost ten times as
// much).
int track_scan_resident(struct track *track, struct track_maps maps, struct track_runs *out);
// The last scan could not look at all pages: without PAGEMAP_SCAN, reservations of many GiB are read in part only.
bool track_incomplete(const struct track *track);

// Contents. Kept memory, zero it before first use.
struct track_copy {
    uint8_t *bytes;  // page after page, in the order of the runs, only the pages of runs that are PRESENT
    uint64_t *addrs; // address of each page
    bool *good;      // false: could not be read
    size_t pages, failed;
    size_t room; // pages; private
};
// Copies the present pages of `runs` from run `first`, `*offset` bytes into it, on: at most `max_pages`. Returns the
// run to go on with (== runs->count: all done) and sets *offset, which is 0 at first and passed on unchanged.
size_t track_copy(struct track *track, const struct track_runs *runs, size_t first, uint64_t *offset, size_t max_pages,
                  struct track_copy *out);
void track_copy_room(struct track_copy *copy, size_t pages); // for at least so many; what was in it goes
void track_copy_free(struct track_copy *copy);

#endif
