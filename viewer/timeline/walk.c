// Walks the events of a chunk one by one. The inflated payloads are kept, twenty times denser than decoded events.
#include "timeline_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void throw_out(struct payload_cache *cache, size_t i) {
    cache->bytes -= cache->entries[i]->length;
    free(cache->entries[i]->data);
    free(cache->entries[i]);
    cache->entries[i] = cache->entries[--cache->count];
}

void payload_cache_trim(struct payload_cache *cache, size_t bytes) {
    while (cache->bytes > bytes) {
        size_t oldest = SIZE_MAX;
        for (size_t i = 0; i < cache->count; i++) {
            if (cache->entries[i]->pins) continue;
            if (oldest == SIZE_MAX || cache->entries[i]->used < cache->entries[oldest]->used) oldest = i;
        }
        if (oldest == SIZE_MAX) return;
        throw_out(cache, oldest);
    }
}

void payload_cache_free(struct payload_cache *cache) {
    while (cache->count) throw_out(cache, cache->count - 1);
    free(cache->entries);
    *cache = (struct payload_cache){0};
}

static struct payload *inflate(struct timeline *tl, size_t index) {
    size_t length;
    uint8_t *data = vmv_reader_payload(tl->reader, tl->chunks.events[index].chunk, &length);
    if (!data) {
        timeline_note_trouble(tl, vmv_reader_error(tl->reader));
        return NULL;
    }
    struct payload *payload = malloc(sizeof *payload);
    if (!payload) abort();
    *payload = (struct payload){.index = index, .data = data, .length = length};
    return payload;
}

static struct payload *payload_get(struct timeline *tl, size_t index) {
    struct payload_cache *cache = &tl->payloads;
    struct payload *payload = NULL;
    for (size_t i = 0; i < cache->count && !payload; i++)
        if (cache->entries[i]->index == index) payload = cache->entries[i];
    if (!payload) {
        payload = inflate(tl, index);
        if (!payload) return NULL;
        cache->entries = timeline_grow(cache->entries, cache->count, &cache->room, sizeof(void *));
        cache->entries[cache->count++] = payload;
        cache->bytes += payload->length;
    }
    payload->used = ++cache->clock;
    payload->pins++;
    payload_cache_trim(cache, tl->budget / 16);
    return payload;
}

bool walk_begin(struct timeline *tl, struct event_walk *walk, size_t index) {
    memset(&walk->codec, 0, sizeof walk->codec);
    walk->arena = (struct vmv_arena){0};
    walk->tl = tl;
    walk->chunk = tl->chunks.events[index].chunk;
    walk->payload = payload_get(tl, index);
    if (!walk->payload) return false;
    walk->in = (struct vmv_in){.data = walk->payload->data, .length = walk->payload->length};
    walk->seq = walk->chunk->header.first;
    walk->left = walk->chunk->header.count;
    return true;
}

static bool decode(struct event_walk *walk, struct vmv_event *event) {
    walk->left--;
    if (vmv_event_decode(&walk->codec, &walk->in, &walk->arena, event)) {
        event->seq = walk->seq++;
        return true;
    }
    char text[96];
    snprintf(text, sizeof text, "offset %llu: EVENTS: its events are malformed",
             (unsigned long long)walk->chunk->offset);
    timeline_note_trouble(walk->tl, text);
    walk->left = 0;
    return false;
}

const struct vmv_event *walk_batch(struct event_walk *walk, size_t *count) {
    if (walk->arena.total) vmv_arena_reset(&walk->arena);
    for (*count = 0; *count < WALK_BATCH && walk->left; ++*count)
        if (!decode(walk, &walk->events[*count])) break;
    return *count ? walk->events : NULL;
}

const struct vmv_event *walk_next(struct event_walk *walk) {
    if (!walk->left) return NULL;
    if (walk->arena.total) vmv_arena_reset(&walk->arena);
    return decode(walk, &walk->events[0]) ? &walk->events[0] : NULL;
}

void walk_end(struct event_walk *walk) {
    if (walk->payload) walk->payload->pins--;
    walk->payload = NULL;
    vmv_arena_free(&walk->arena);
}
