// Numbered contents on their way into PAGES, STACKS and REGS chunks: collected in a block, the block compressed when it
// is full, the chunk written when it is full or when an EVENTS chunk that refers to it is about to be.
#ifndef VMV_WRITER_BLOBS_H
#define VMV_WRITER_BLOBS_H

#include "blocks.h"
#include "writer_dedup.h"
#include "writer_output.h"

struct vmv_blobs {
    struct vmv_output *output;
    uint32_t type;
    int level;            // of zstd
    size_t block_bytes;   // raw bytes at which a block is closed
    size_t chunk_bytes;   // raw bytes at which a chunk is written
    uint64_t first, next; // number of the first item of the open chunk; of the next item
    uint64_t t_first;     // ns, when the first item of the open chunk came
    struct vmv_dedup dedup;
    struct vmv_out block;           // raw, open
    uint32_t items;                 // in the open block
    struct vmv_out entries, packed; // of the closed blocks of the open chunk
    size_t blocks;
    uint64_t raw; // bytes in the closed blocks
    struct vmv_out lead;
};

struct vmv_blobs_setup {
    uint32_t type;
    int level;
    size_t block_bytes, chunk_bytes, dedup_bytes;
    uint64_t first; // number of the first item
};
void vmv_blobs_init(struct vmv_blobs *blobs, struct vmv_output *output, const struct vmv_blobs_setup *setup);
void vmv_blobs_free(struct vmv_blobs *blobs);
uint64_t vmv_blobs_page(struct vmv_blobs *blobs, const void *bytes, size_t length, uint64_t t); // content number
uint64_t vmv_blobs_stack(struct vmv_blobs *blobs, struct vmv_part regs, uint64_t sp, struct vmv_part bytes, uint64_t t);
uint64_t vmv_blobs_regs(struct vmv_blobs *blobs, struct vmv_part general, struct vmv_part extended, uint64_t t);
void vmv_blobs_flush(struct vmv_blobs *blobs, uint64_t t); // writes the open chunk, if anything is in it
bool vmv_bytes_are_zero(const void *bytes, size_t length); // length: a multiple of 64

#endif
