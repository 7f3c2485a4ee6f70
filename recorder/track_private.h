// Inside of the track module: shared by its files only.
#ifndef REC_TRACK_PRIVATE_H
#define REC_TRACK_PRIVATE_H

#include "track.h"

enum { TRACK_PAGE_BYTES = 4096 };

struct track_hashes; // page contents as of the last scan, where nothing better tells what was written

struct track {
    pid_t pid;
    int uffd, pagemap, memory; // -1: none
    bool scan_works;           // PAGEMAP_SCAN
    bool knows_guard;          // it tells guard pages (6.15)
    bool missing, split_huge;
    bool incomplete; // the last scan left out part of a large reservation
    enum sources_changed changed;
    struct track_hashes *hashes;
    struct track_runs found, candidates, files, marked; // kept memory of the scans
};

// Adds pages at the end; joins with the run before if they continue it.
void track_runs_add(struct track_runs *runs, uint64_t start, uint64_t end, uint64_t pages);
// Sorts by start.
void track_runs_sort(struct track_runs *runs);

// Whether this kernel's PAGEMAP_SCAN tells guard pages.
bool track_scan_knows_guard(int pagemap);

// Adds FILE where it belongs, splitting runs.
int track_tell_files(struct track *track, struct track_maps maps, struct track_runs *runs);

// Kernels without PAGEMAP_SCAN.
int track_fallback_resident(struct track *track, struct track_maps maps, struct track_runs *out);
int track_fallback_scan(struct track *track, struct track_maps maps, struct track_runs *out);
int track_fallback_torn(struct track *track, const struct track_runs *copied, struct track_runs *torn);
// Clears the soft-dirty bits of the whole process. 0 or negative errno.
int track_soft_dirty_clear(pid_t pid);

struct track_hashes *track_hashes_create(void);
void track_hashes_destroy(struct track_hashes *hashes); // accepts NULL
// Begins a scan. Pages that are not named before track_hashes_end() are forgotten there.
void track_hashes_begin(struct track_hashes *hashes);
void track_hashes_end(struct track_hashes *hashes);
// True if the page is new or had another hash at the last scan. Remembers this one.
bool track_hashes_changed(struct track_hashes *hashes, uint64_t addr, uint64_t hash);

#endif
