// Payloads made of blocks: a table first, then blocks that inflate one by one (docs/FORMAT.md, Blocks).
#ifndef VMV_BLOCKS_H
#define VMV_BLOCKS_H

#include "bytes.h"
#include "chunk.h"

struct vmv_block {
    uint64_t offset;      // of its stored bytes in the payload
    uint32_t stored, raw; // bytes; equal: stored as it is, else one zstd frame
    uint32_t check;       // low 32 bits of the XXH3-64 of the stored bytes
    uint64_t item;        // items in the blocks before it
    uint32_t items;       // pages, stacks or register blobs in it; 0 in an OBJECT
    uint64_t at;          // raw bytes in the blocks before it
};

struct vmv_block_table {
    size_t count;
    struct vmv_block blocks[];
};

// Writing: entries one by one, then the head that stands before them.
void vmv_block_entry_encode(struct vmv_out *out, const struct vmv_block *block);
// The whole table with its length and check, from `count` encoded entries.
void vmv_block_table_encode(struct vmv_out *out, const struct vmv_out *entries, size_t count);

// Reading. The first four bytes of a payload with a table or a prefix tell how long that is, itself included;
// 0: more than the payload holds or the limit.
uint64_t vmv_lead_length(const uint8_t in[4], uint64_t stored);
// Checks and strips the length and the check of a table or prefix of `length` bytes.
bool vmv_lead_open(const uint8_t *lead, uint64_t length, struct vmv_in *in);
// The table in `lead` (as long as vmv_lead_length says), checked against the chunk's header. NULL: malformed. free().
struct vmv_block_table *vmv_block_table_decode(const uint8_t *lead, uint64_t length,
                                               const struct vmv_chunk_header *header);
// The block that holds an item / a raw byte, NULL if none.
const struct vmv_block *vmv_block_of_item(const struct vmv_block_table *table, uint64_t item);
const struct vmv_block *vmv_block_of_byte(const struct vmv_block_table *table, uint64_t at);

// A lead is written as length, contents, check: begin leaves room, end fills it in.
size_t vmv_lead_begin(struct vmv_out *out);
void vmv_lead_end(struct vmv_out *out, size_t begin);

#endif
