// Hash of every page as of the last scan: open addressing, linear probing, 24 bytes an entry.
#include <stdlib.h>

#include "track_private.h"

struct entry {
    uint64_t addr; // 0: free (page 0 is never mapped)
    uint64_t hash;
    uint64_t seen; // number of the last scan that named it
};

struct track_hashes {
    struct entry *entries;
    size_t room; // a power of two
    size_t count;
    uint64_t scan;
};

static struct entry *slot(const struct track_hashes *h, uint64_t addr) {
    size_t at = (size_t)((addr / TRACK_PAGE_BYTES) * 0x9e3779b97f4a7c15ULL >> 20) & (h->room - 1);
    while (h->entries[at].addr && h->entries[at].addr != addr) at = (at + 1) & (h->room - 1);
    return &h->entries[at];
}

// Moves the entries seen since scan number `since` into a table with space for `count`.
static void rebuild(struct track_hashes *h, size_t count, uint64_t since) {
    struct track_hashes old = *h;
    for (h->room = 1024; h->room < count * 2;) h->room *= 2;
    h->entries = calloc(h->room, sizeof *h->entries);
    if (!h->entries) abort();
    h->count = 0;
    for (size_t i = 0; i < old.room; i++) {
        if (!old.entries[i].addr || old.entries[i].seen < since) continue;
        *slot(h, old.entries[i].addr) = old.entries[i];
        h->count++;
    }
    free(old.entries);
}

struct track_hashes *track_hashes_create(void) {
    struct track_hashes *h = calloc(1, sizeof *h);
    if (!h) abort();
    rebuild(h, 0, 0);
    return h;
}

void track_hashes_destroy(struct track_hashes *h) {
    if (!h) return;
    free(h->entries);
    free(h);
}

void track_hashes_begin(struct track_hashes *h) { h->scan++; }

bool track_hashes_changed(struct track_hashes *h, uint64_t addr, uint64_t hash) {
    if (h->count * 4 >= h->room * 3) rebuild(h, h->room, 0);
    struct entry *entry = slot(h, addr);
    bool changed = !entry->addr || entry->hash != hash || entry->seen + 1 < h->scan;
    if (!entry->addr) h->count++;
    *entry = (struct entry){addr, hash, h->scan};
    return changed;
}

void track_hashes_end(struct track_hashes *h) {
    size_t stale = 0;
    for (size_t i = 0; i < h->room; i++) stale += h->entries[i].addr && h->entries[i].seen < h->scan;
    // A page that was away for a scan counts as new, so that stale entries cost only memory.
    if (stale * 4 > h->room) rebuild(h, h->count - stale, h->scan);
}
