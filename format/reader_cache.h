// Inflated blocks and block tables, kept within a budget; the ones not used for longest go first.
#ifndef VMV_READER_CACHE_H
#define VMV_READER_CACHE_H

#include <stddef.h>
#include <stdint.h>

enum { VMV_CACHE_BUCKETS = 4096 };
#define VMV_CACHE_TABLE UINT64_MAX // in place of a block's offset: the chunk's block table

struct vmv_cache_entry {
    uint64_t chunk, block; // offsets: of the chunk in the file, of the block in its payload
    struct vmv_cache_entry *chain, *newer, *older;
    size_t length;
    void *data; // from malloc
};
struct vmv_cache {
    struct vmv_cache_entry *buckets[VMV_CACHE_BUCKETS];
    struct vmv_cache_entry *newest, *oldest;
    size_t budget, held; // bytes
};

void *vmv_cache_find(struct vmv_cache *cache, uint64_t chunk, uint64_t block); // NULL: not there
// Takes `data` over and makes room for it first; what was found before may be gone afterwards. `data` itself stays
// until the next put, however large it is.
void vmv_cache_put(struct vmv_cache *cache, uint64_t chunk, uint64_t block, void *data, size_t length);
void vmv_cache_set_budget(struct vmv_cache *cache, size_t bytes);
void vmv_cache_free(struct vmv_cache *cache);

#endif
