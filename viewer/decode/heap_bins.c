// Lists of free chunks: each thread's cache, fastbins, and the doubly linked bins.
#include "heap_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LISTED_MAX = 64 << 20, CACHE_MOST = 65535 };

static void list(struct heap *heap, uint64_t addr, uint8_t state, uint8_t bin) {
    struct heap_hidden *h = heap->hidden;
    if (h->listed_count == LISTED_MAX) return;
    if (h->listed_count == h->listed_room) {
        size_t room = h->listed_room * 2 + 256;
        struct heap_listed *listed = realloc(h->listed, room * sizeof *listed);
        if (!listed) return;
        h->listed = listed;
        h->listed_room = room;
    }
    h->listed[h->listed_count++] = (struct heap_listed){addr, state, bin};
}

// Links of tcaches and fastbins are hidden by their own place since 2.32 (PROTECT_PTR).
static uint64_t reveal(const struct heap *heap, uint64_t place, uint64_t link) {
    return heap->hidden->version >= 232 ? link ^ place >> 12 : link;
}

static uint64_t size_at(const struct heap *heap, uint64_t chunk) {
    const struct heap_chunk *found = heap_chunk_at(heap, chunk);
    return found && found->addr == chunk ? found->size : 0;
}

// ------------------------------------------------------------------------------------------------- tcache

// False: it does not have `count` chunks of the size, so that this is no tcache.
static bool follow_cache(struct heap *heap, uint64_t entry, unsigned count, unsigned bin, bool take) {
    uint64_t wanted = CHUNK_LEAST + bin * CHUNK_ALIGN, link;
    for (unsigned i = 0; i < count; i++) {
        uint64_t chunk = entry - CHUNK_HEADER;
        if (entry % CHUNK_ALIGN || size_at(heap, chunk) != wanted || !heap_word(heap, entry, &link)) return false;
        if (take) list(heap, chunk, HEAP_TCACHE, (uint8_t)bin);
        entry = reveal(heap, entry, link);
    }
    return entry == 0;
}

// A chunk of the right size is a thread's cache if all that it says is so.
static bool read_cache(struct heap *heap, uint64_t chunk, bool take) {
    uint8_t bytes[TCACHE_BYTES];
    unsigned total = 0;
    if (!heap_read(heap, chunk + CHUNK_HEADER, bytes, sizeof bytes)) return false;
    for (unsigned bin = 0; bin < TCACHE_BINS; bin++) {
        uint16_t count;
        uint64_t entry;
        memcpy(&count, bytes + 2 * bin, sizeof count);
        memcpy(&entry, bytes + 2 * TCACHE_BINS + 8 * bin, sizeof entry);
        if (!count != !entry || !follow_cache(heap, entry, count, bin, take)) return false;
        total += count;
    }
    return total > 0;
}

static void read_caches(struct heap *heap) {
    for (size_t i = 0; i < heap->chunk_count; i++) {
        const struct heap_chunk *chunk = &heap->chunks[i];
        if (chunk->size != TCACHE_CHUNK || chunk->state != HEAP_IN_USE) continue;
        if (read_cache(heap, chunk->addr, false)) read_cache(heap, chunk->addr, true);
    }
}

// ------------------------------------------------------------------------------------------------- fastbins

static void read_fastbin(struct heap *heap, const struct heap_arena *arena, unsigned bin) {
    uint64_t chunk, link, wanted = CHUNK_LEAST + bin * CHUNK_ALIGN;
    if (!heap_word(heap, arena->addr + ARENA_FASTBINS + 8 * bin, &chunk)) return;
    for (size_t left = heap->chunk_count; chunk; left--) {
        if (left == 0 || size_at(heap, chunk) != wanted) {
            heap_say(heap, HEAP_CORRUPT, chunk, "fastbin %u leads to 0x%llx, which is no chunk of %llu bytes", bin,
                     (unsigned long long)chunk, (unsigned long long)wanted);
            return;
        }
        list(heap, chunk, HEAP_FASTBIN, (uint8_t)bin);
        if (!heap_word(heap, chunk + CHUNK_HEADER, &link)) return;
        chunk = reveal(heap, chunk + CHUNK_HEADER, link);
    }
}

// ------------------------------------------------------------------------------------------------- bins

static void read_bin(struct heap *heap, const struct heap_arena *arena, unsigned bin) {
    uint64_t head = arena->addr + ARENA_TOP + 16 * (bin - 1), chunk, links[2], before = head;
    if (!heap_word(heap, head + CHUNK_HEADER, &chunk)) return;
    for (size_t left = heap->chunk_count + 1; chunk != head; left--) {
        bool is_chunk = heap_is_in_chunks(heap, chunk);
        if (left == 0 || !is_chunk || !heap_read(heap, chunk + CHUNK_HEADER, links, sizeof links)) {
            heap_say(heap, HEAP_CORRUPT, chunk, "bin %u leads to 0x%llx, which is no free chunk", bin,
                     (unsigned long long)chunk);
            return;
        }
        if (links[1] != before) {
            heap_say(heap, HEAP_CORRUPT, chunk, "the chunk before this one in bin %u is 0x%llx, it says 0x%llx", bin,
                     (unsigned long long)before, (unsigned long long)links[1]);
            return;
        }
        list(heap, chunk, HEAP_FREE, (uint8_t)bin);
        before = chunk;
        chunk = links[0];
    }
}

// ------------------------------------------------------------------------------------------------- marking

static void name_bin(struct heap_chunk *chunk, const struct heap_listed *listed) {
    const char *kind = listed->state == HEAP_TCACHE    ? "tcache"
                       : listed->state == HEAP_FASTBIN ? "fast"
                       : listed->bin < SMALL_BINS      ? "small"
                                                       : "large";
    if (listed->state == HEAP_FREE && listed->bin == 1) {
        snprintf(chunk->bin, sizeof chunk->bin, "unsorted");
    } else {
        snprintf(chunk->bin, sizeof chunk->bin, "%s %u", kind, listed->bin);
    }
}

static int by_address(const void *left, const void *right) {
    const struct heap_listed *a = left, *b = right;
    return a->addr < b->addr ? -1 : a->addr > b->addr;
}

static void mark(struct heap *heap) {
    struct heap_hidden *h = heap->hidden;
    size_t at = 0;
    for (size_t i = 0; i < h->listed_count; i++) {
        const struct heap_listed *listed = &h->listed[i];
        if (i && h->listed[i - 1].addr == listed->addr)
            heap_say(heap, HEAP_CORRUPT, listed->addr, "this chunk is in two lists of free ones: freed twice?");
        while (at < heap->chunk_count && heap->chunks[at].addr < listed->addr) at++;
        if (at == heap->chunk_count || heap->chunks[at].addr != listed->addr) continue;
        struct heap_chunk *chunk = &heap->chunks[at];
        if (listed->state == HEAP_FREE && chunk->state == HEAP_IN_USE)
            heap_say(heap, HEAP_CORRUPT, chunk->addr,
                     "this chunk is in bin %u, and the one behind it says it is in use", listed->bin);
        if (chunk->state == HEAP_IN_USE || chunk->state == HEAP_FREE) chunk->state = listed->state;
        name_bin(chunk, listed);
    }
}

void heap_mark_free(struct heap *heap) {
    struct heap_hidden *h = heap->hidden;
    read_caches(heap);
    for (size_t i = 0; i < heap->arena_count; i++) {
        for (unsigned bin = 0; bin < FASTBINS; bin++) read_fastbin(heap, &heap->arenas[i], bin);
        for (unsigned bin = 1; bin <= BINS; bin++) read_bin(heap, &heap->arenas[i], bin);
    }
    if (h->listed_count) qsort(h->listed, h->listed_count, sizeof *h->listed, by_address);
    mark(heap);
}
