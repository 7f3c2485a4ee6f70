#include "reader_cache.h"

#include <stdlib.h>

static struct vmv_cache_entry **bucket_of(struct vmv_cache *cache, uint64_t chunk, uint64_t block) {
    uint64_t key = (chunk * 0x9e3779b97f4a7c15u) ^ (block * 0xc2b2ae3d27d4eb4fu);
    return &cache->buckets[(key ^ key >> 32) % VMV_CACHE_BUCKETS];
}

static void unlink_entry(struct vmv_cache *cache, struct vmv_cache_entry *entry) {
    *(entry->newer ? &entry->newer->older : &cache->newest) = entry->older;
    *(entry->older ? &entry->older->newer : &cache->oldest) = entry->newer;
}

static void link_newest(struct vmv_cache *cache, struct vmv_cache_entry *entry) {
    entry->newer = NULL;
    entry->older = cache->newest;
    *(entry->older ? &entry->older->newer : &cache->oldest) = entry;
    cache->newest = entry;
}

void *vmv_cache_find(struct vmv_cache *cache, uint64_t chunk, uint64_t block) {
    for (struct vmv_cache_entry *entry = *bucket_of(cache, chunk, block); entry; entry = entry->chain) {
        if (entry->chunk != chunk || entry->block != block) continue;
        unlink_entry(cache, entry);
        link_newest(cache, entry);
        return entry->data;
    }
    return NULL;
}

static void drop_oldest(struct vmv_cache *cache) {
    struct vmv_cache_entry *entry = cache->oldest;
    struct vmv_cache_entry **link = bucket_of(cache, entry->chunk, entry->block);
    while (*link != entry) link = &(*link)->chain;
    *link = entry->chain;
    unlink_entry(cache, entry);
    cache->held -= entry->length;
    free(entry->data);
    free(entry);
}

void vmv_cache_put(struct vmv_cache *cache, uint64_t chunk, uint64_t block, void *data, size_t length) {
    struct vmv_cache_entry *entry = malloc(sizeof *entry);
    if (!entry) abort();
    while (cache->oldest && cache->held + length > cache->budget) drop_oldest(cache);
    struct vmv_cache_entry **bucket = bucket_of(cache, chunk, block);
    *entry = (struct vmv_cache_entry){.chunk = chunk, .block = block, .chain = *bucket, .length = length, .data = data};
    *bucket = entry;
    link_newest(cache, entry);
    cache->held += length;
}

void vmv_cache_set_budget(struct vmv_cache *cache, size_t bytes) {
    cache->budget = bytes;
    while (cache->oldest && cache->held > cache->budget) drop_oldest(cache);
}

void vmv_cache_free(struct vmv_cache *cache) { vmv_cache_set_budget(cache, 0); }
