// Where the chunks lie, and a cache of decoded EVENTS chunks.
#include "timeline_internal.h"

#include <stdlib.h>
#include <string.h>

static void *allocate(size_t count, size_t element) {
    void *memory = calloc(count ? count : 1, element);
    if (!memory) abort();
    return memory;
}

void chunk_table_build(struct timeline *tl) {
    struct chunk_table *table = &tl->chunks;
    size_t count, of_type[VMV_CHUNK_TYPE_COUNT] = {0};
    const struct vmv_chunk *chunks = vmv_reader_chunks(tl->reader, &count);
    for (size_t i = 0; i < count; i++)
        if (chunks[i].header.type < VMV_CHUNK_TYPE_COUNT) of_type[chunks[i].header.type]++;
    table->events = allocate(of_type[VMV_CHUNK_EVENTS], sizeof *table->events);
    table->states = allocate(of_type[VMV_CHUNK_STATE], sizeof(void *));
    table->summaries = allocate(of_type[VMV_CHUNK_SUMMARY], sizeof(void *));
    for (size_t i = 0; i < count; i++) {
        const struct vmv_chunk *chunk = &chunks[i];
        if (chunk->header.type == VMV_CHUNK_EVENTS) table->events[table->event_count++].chunk = chunk;
        if (chunk->header.type == VMV_CHUNK_STATE) table->states[table->state_count++] = chunk;
        if (chunk->header.type == VMV_CHUNK_SUMMARY) table->summaries[table->summary_count++] = chunk;
    }
}

void chunk_table_free(struct chunk_table *table) {
    free(table->events);
    free(table->states);
    free(table->summaries);
}

size_t chunk_at_time(const struct timeline *tl, uint64_t t) {
    size_t low = 0, high = tl->chunks.event_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tl->chunks.events[middle].chunk->header.t_first <= t)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : SIZE_MAX;
}

size_t chunk_at_seq(const struct timeline *tl, uint64_t seq) {
    size_t low = 0, high = tl->chunks.event_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tl->chunks.events[middle].chunk->header.first <= seq)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? low - 1 : SIZE_MAX;
}

uint64_t chunk_end_seq(const struct timeline *tl, size_t index) {
    const struct vmv_chunk_header *header = &tl->chunks.events[index].chunk->header;
    return header->count > UINT64_MAX - header->first ? UINT64_MAX : header->first + header->count;
}

const uint64_t *chunk_types(struct timeline *tl, size_t index) {
    struct events_chunk *entry = &tl->chunks.events[index];
    if (entry->types_known) return entry->types;
    uint64_t counts[VMV_EV_TYPE_COUNT] = {0};
    if (vmv_reader_counts(tl->reader, entry->chunk, counts)) {
        for (unsigned type = 0; type < VMV_EV_TYPE_COUNT; type++)
            if (counts[type]) entry->types[type / 64] |= UINT64_C(1) << (type % 64);
    } else {
        timeline_note_trouble(tl, vmv_reader_error(tl->reader));
        entry->types[0] = entry->types[1] = UINT64_MAX;
    }
    entry->types_known = true;
    return entry->types;
}

static void decoded_free(struct decoded *decoded) {
    vmv_arena_free(&decoded->arena);
    free(decoded);
}

static void throw_out(struct decoded_cache *cache, size_t i) {
    cache->bytes -= cache->entries[i]->bytes;
    decoded_free(cache->entries[i]);
    cache->entries[i] = cache->entries[--cache->count];
}

void decoded_cache_trim(struct timeline *tl, size_t bytes) {
    struct decoded_cache *cache = &tl->cache;
    while (cache->bytes > bytes) {
        size_t oldest = SIZE_MAX;
        for (size_t i = 0; i < cache->count; i++)
            if (!cache->entries[i]->pins &&
                (oldest == SIZE_MAX || cache->entries[i]->used < cache->entries[oldest]->used))
                oldest = i;
        if (oldest == SIZE_MAX) return;
        throw_out(cache, oldest);
    }
}

void decoded_cache_free(struct timeline *tl) {
    for (size_t i = 0; i < tl->cache.count; i++) decoded_free(tl->cache.entries[i]);
    free(tl->cache.entries);
    tl->cache = (struct decoded_cache){0};
}

static struct decoded *decode(struct timeline *tl, size_t index) {
    struct decoded *decoded = allocate(1, sizeof *decoded);
    decoded->index = index;
    decoded->events = vmv_reader_events(tl->reader, tl->chunks.events[index].chunk, &decoded->arena, &decoded->count);
    if (!decoded->events) {
        timeline_note_trouble(tl, vmv_reader_error(tl->reader));
        decoded_free(decoded);
        return NULL;
    }
    decoded->bytes = sizeof *decoded + decoded->arena.total;
    return decoded;
}

static struct decoded *look_up(struct decoded_cache *cache, size_t index) {
    for (size_t i = 0; i < cache->count; i++)
        if (cache->entries[i]->index == index) return cache->entries[i];
    return NULL;
}

struct decoded *decoded_get(struct timeline *tl, size_t index) {
    struct decoded_cache *cache = &tl->cache;
    struct decoded *decoded = look_up(cache, index);
    if (!decoded) {
        decoded = decode(tl, index);
        if (!decoded) return NULL;
        cache->entries = timeline_grow(cache->entries, cache->count, &cache->room, sizeof(void *));
        cache->entries[cache->count++] = decoded;
        cache->bytes += decoded->bytes;
    }
    decoded->pins++;
    decoded->used = ++cache->clock;
    decoded_cache_trim(tl, tl->budget / 16);
    return decoded;
}

void decoded_put(struct timeline *tl, struct decoded *decoded) {
    (void)tl;
    if (decoded) decoded->pins--;
}
