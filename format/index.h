// The payload of an INDEX chunk: the chunks of a stretch of the file, and totals up to it (docs/FORMAT.md, INDEX).
#ifndef VMV_INDEX_H
#define VMV_INDEX_H

#include "bytes.h"
#include "chunk.h"
#include "meta.h"

// Entries are written as differences to the ones before; zeroed at the start of a list.
struct vmv_index_codec {
    uint64_t t;                          // t_last of the entry before, ns
    uint64_t next[VMV_CHUNK_TYPE_COUNT]; // the `first` that the next chunk of a type is expected to have
};
void vmv_index_entry_encode(struct vmv_index_codec *codec, struct vmv_out *out, const struct vmv_chunk_header *header);
// Fills the header but for tag and back. False: malformed.
bool vmv_index_entry_decode(struct vmv_index_codec *codec, struct vmv_in *in, struct vmv_chunk_header *header);

// A list that grows while the file does.
struct vmv_index_list {
    uint64_t base; // offset of its first chunk
    size_t count;
    struct vmv_index_codec codec;
    struct vmv_out entries;
};
void vmv_index_list_add(struct vmv_index_list *list, const struct vmv_chunk_header *header);
void vmv_index_list_restart(struct vmv_index_list *list, uint64_t base);

// What stands before the entries. Of `totals`, pages_captured, raw_bytes and events are used.
void vmv_index_encode(struct vmv_out *out, const struct vmv_index_list *list, const struct vmv_end *totals);
struct vmv_index_head {
    uint64_t base;
    size_t count;
};
bool vmv_index_decode(struct vmv_in *in, struct vmv_index_head *head, struct vmv_end *totals);

#endif
