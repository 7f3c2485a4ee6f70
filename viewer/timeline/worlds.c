// Worlds kept for coming back: copies share their pages with the world they came from until one of them changes, so
// that going backwards starts from the nearest copy instead of a STATE.
#include "timeline_internal.h"

#include <stdlib.h>
#include <string.h>

// Rough prices in events replayed: a copy with the pages it makes others copy, and a byte of a STATE.
enum { COPY_EVENTS = 3000, STATE_BYTES_AN_EVENT = 24 };

static void drop(struct kept_worlds *kept, size_t i) {
    vmv_world_destroy(kept->list[i].world);
    memmove(&kept->list[i], &kept->list[i + 1], (--kept->count - i) * sizeof *kept->list);
}

void worlds_free(struct kept_worlds *kept) {
    while (kept->count) drop(kept, kept->count - 1);
    free(kept->list);
    *kept = (struct kept_worlds){0};
}

// Takes the world. The list is in order of seq.
static void insert(struct kept_worlds *kept, struct standing standing) {
    size_t at = kept->count;
    while (at && kept->list[at - 1].seq >= standing.seq) at--;
    if (at < kept->count && kept->list[at].seq == standing.seq) {
        vmv_world_destroy(kept->list[at].world);
    } else {
        kept->list = timeline_grow(kept->list, kept->count, &kept->room, sizeof *kept->list);
        memmove(&kept->list[at + 1], &kept->list[at], (kept->count++ - at) * sizeof *kept->list);
    }
    kept->list[at] = standing;
    kept->list[at].used = ++kept->clock;
}

// Worlds from one STATE share their pages: they are counted once.
static size_t memory(const struct timeline *tl) {
    const struct kept_worlds *kept = &tl->kept;
    size_t bytes = tl->at.world ? vmv_world_memory(tl->at.world) : 0;
    for (size_t i = 0; i < kept->count; i++) {
        bool counted = tl->at.world && kept->list[i].base == tl->at.base;
        for (size_t k = 0; k < i && !counted; k++) counted = kept->list[k].base == kept->list[i].base;
        bytes += counted ? 1 << 16 : vmv_world_memory(kept->list[i].world);
    }
    const struct preparing *preparing = &tl->preparing;
    if (preparing->standing.world) bytes += vmv_world_memory(preparing->standing.world);
    if (preparing->payload) bytes += preparing->length;
    return bytes + undo_memory(&tl->undo) + undo_memory(&preparing->undo);
}

size_t worlds_memory(const struct timeline *tl) { return memory(tl); }

static bool wanted_soon(const struct timeline *tl, const struct standing *standing) {
    bool prepared = tl->preparing.until != UINT64_MAX && standing->base == tl->preparing.base;
    return standing->base == tl->at.base || prepared;
}

static size_t oldest_of_others(const struct timeline *tl) {
    const struct kept_worlds *kept = &tl->kept;
    size_t oldest = SIZE_MAX;
    for (size_t i = 0; i < kept->count; i++) {
        if (wanted_soon(tl, &kept->list[i])) continue;
        if (oldest == SIZE_MAX || kept->list[i].used < kept->list[oldest].used) oldest = i;
    }
    return oldest;
}

// Of the others: one that lies ahead, else the one that stands closest behind another.
static size_t least_useful(const struct timeline *tl) {
    const struct kept_worlds *kept = &tl->kept;
    size_t least = 0;
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < kept->count; i++) {
        uint64_t before = i ? kept->list[i - 1].seq : 0, gap = kept->list[i].seq - before;
        if (kept->list[i].seq > tl->at.seq) return kept->count - 1;
        if (i && gap < best) least = i, best = gap;
    }
    return least;
}

void worlds_trim(struct timeline *tl) {
    while (tl->kept.count && memory(tl) > tl->budget / 4) {
        size_t victim = oldest_of_others(tl);
        drop(&tl->kept, victim != SIZE_MAX ? victim : least_useful(tl));
    }
}

static struct standing copy_of(const struct standing *from) {
    struct standing copy = *from;
    copy.world = vmv_world_copy(from->world);
    return copy;
}

void worlds_keep(struct timeline *tl, const struct standing *standing) {
    insert(&tl->kept, copy_of(standing));
    worlds_trim(tl);
}

static uint64_t price(uint64_t start, uint64_t goal, uint64_t begin) {
    return start > goal ? UINT64_MAX : goal - start + begin;
}

static uint64_t price_of_state(const struct timeline *tl, uint64_t goal) {
    size_t count = state_before(tl, goal);
    if (!count) return goal;
    const struct vmv_chunk_header *header = &tl->chunks.states[count - 1]->header;
    return price(header->first, goal, header->raw / STATE_BYTES_AN_EVENT);
}

static size_t nearest_kept(const struct timeline *tl, uint64_t goal) {
    size_t i = tl->kept.count;
    while (i && tl->kept.list[i - 1].seq > goal) i--;
    return i ? i - 1 : SIZE_MAX;
}

static struct standing from_state(struct timeline *tl, uint64_t goal) {
    char trouble[TROUBLE_SIZE];
    struct standing standing = {0};
    memcpy(trouble, tl->trouble, sizeof trouble);
    tl->trouble[0] = 0;
    standing.world = world_before(tl, goal, &standing.seq);
    standing.base = standing.seq;
    memcpy(standing.trouble, tl->trouble, sizeof standing.trouble);
    memcpy(tl->trouble, trouble, sizeof trouble);
    return standing;
}

enum start { FROM_AT, FROM_KEPT, FROM_STATE };

static enum start choose(struct timeline *tl, uint64_t goal, uint64_t price_of_at, size_t *kept) {
    uint64_t going_on = tl->at.world ? price(tl->at.seq, goal, price_of_at) : UINT64_MAX;
    uint64_t state = price_of_state(tl, goal);
    *kept = nearest_kept(tl, goal);
    uint64_t coming_back = *kept == SIZE_MAX ? UINT64_MAX : price(tl->kept.list[*kept].seq, goal, COPY_EVENTS);
    if (going_on <= state && going_on <= coming_back && going_on != UINT64_MAX) return FROM_AT;
    return coming_back <= state && coming_back != UINT64_MAX ? FROM_KEPT : FROM_STATE;
}

static struct standing from_kept(struct timeline *tl, size_t i) {
    tl->kept.list[i].used = ++tl->kept.clock;
    return copy_of(&tl->kept.list[i]);
}

struct standing worlds_borrow(struct timeline *tl, uint64_t goal) {
    size_t kept;
    switch (choose(tl, goal, COPY_EVENTS, &kept)) {
    case FROM_AT:
        return copy_of(&tl->at);
    case FROM_KEPT:
        return from_kept(tl, kept);
    default:
        return from_state(tl, goal);
    }
}

// The world at hand is put by where it may be wanted again, which costs nothing.
static void leave(struct timeline *tl, uint64_t goal) {
    size_t count = state_before(tl, goal);
    uint64_t base = count ? tl->chunks.states[count - 1]->header.first : 0;
    if (!tl->at.world) return;
    if (tl->at.base == base)
        vmv_world_destroy(tl->at.world);
    else
        insert(&tl->kept, tl->at);
    tl->at.world = NULL;
}

bool worlds_approach(struct timeline *tl, uint64_t goal) {
    size_t kept;
    enum start start = choose(tl, goal, 0, &kept);
    if (start == FROM_AT) return false;
    struct standing standing = {0};
    if (start == FROM_KEPT) standing = from_kept(tl, kept);
    leave(tl, goal);
    tl->at = start == FROM_KEPT ? standing : from_state(tl, goal);
    return start == FROM_STATE;
}
