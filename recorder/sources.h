// What can be known of pages here: probes the kernel's interfaces by using them, and decides what is used and why.
#ifndef REC_SOURCES_H
#define REC_SOURCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"

enum sources_changed {          // how pages written since the last frame are found
    SOURCES_CHANGED_NONE,       // not at all
    SOURCES_CHANGED_WP_ASYNC,   // asynchronous write-protection and PAGEMAP_SCAN
    SOURCES_CHANGED_SOFT_DIRTY, // soft-dirty bits (clear_refs): shared by all who use them on the process
    SOURCES_CHANGED_HASH,       // comparing page hashes
};

struct sources {
    // what works here (after VMVIS_HIDE)
    bool perf;        // page-fault records
    bool perf_kernel; // with faults inside system calls
    bool pagemap, wp_async, pagemap_scan;
    bool uffd_full, uffd_user; // userfaultfd for all faults; UFFD_USER_MODE_ONLY
    bool soft_dirty, vm_readv;
    uint64_t uffd_features;     // as UFFDIO_API offers them
    int perf_errno, uffd_errno; // why not, 0 if it works
    int perf_paranoid;          // kernel.perf_event_paranoid, -100 unknown
    // what is used
    enum vmv_source faults; // RECORDS, UFFD, FRAMES; NONE: pages are not tracked
    enum sources_changed changed;
    char why[400]; // one readable sentence: what is used, and why not better
};

// Probes. `program_drops_privileges`: the program will run without the recorder's capabilities (--user).
// records: whether page-fault records are wanted; looking for them takes 10 to 30 ms, once in a second.
void sources_probe(struct sources *sources, bool program_drops_privileges, bool records);
// Decides. `asked`: "auto", "records", "uffd", "frames", "none". 0; -EINVAL: no such word; -ENOTSUP: it was asked for
// and cannot work here: `error` says why and what would help.
int sources_resolve(struct sources *sources, const char *asked, char *error, size_t error_size);
const char *sources_faults_name(const struct sources *sources); // "records", "uffd", "frames", "none"
#endif
