#include "writer_blobs.h"

#include <string.h>

enum { PIECE_LIMIT = 1 << 20 }; // bytes of registers or stack in one item

void vmv_blobs_init(struct vmv_blobs *blobs, struct vmv_output *output, const struct vmv_blobs_setup *setup) {
    *blobs = (struct vmv_blobs){.output = output,
                                .type = setup->type,
                                .level = setup->level,
                                .block_bytes = setup->block_bytes,
                                .chunk_bytes = setup->chunk_bytes,
                                .first = setup->first,
                                .next = setup->first};
    vmv_dedup_init(&blobs->dedup, setup->dedup_bytes);
}

void vmv_blobs_free(struct vmv_blobs *blobs) {
    vmv_dedup_free(&blobs->dedup);
    vmv_out_free(&blobs->block);
    vmv_out_free(&blobs->entries);
    vmv_out_free(&blobs->packed);
    vmv_out_free(&blobs->lead);
}

static void close_block(struct vmv_blobs *blobs) {
    if (blobs->items == 0) return;
    struct vmv_part raw = {blobs->block.data, blobs->block.length};
    size_t stored = vmv_output_compress(blobs->output, &blobs->packed, raw, blobs->level);
    const uint8_t *bytes = blobs->packed.data + blobs->packed.length - stored;
    struct vmv_block block = {.items = blobs->items,
                              .raw = (uint32_t)raw.length,
                              .stored = (uint32_t)stored,
                              .check = (uint32_t)vmv_chunk_hash(bytes, stored)};
    vmv_block_entry_encode(&blobs->entries, &block);
    blobs->blocks++;
    blobs->raw += raw.length;
    blobs->block.length = 0;
    blobs->items = 0;
}

void vmv_blobs_flush(struct vmv_blobs *blobs, uint64_t t) {
    close_block(blobs);
    if (blobs->blocks == 0) return;
    blobs->lead.length = 0;
    vmv_block_table_encode(&blobs->lead, &blobs->entries, blobs->blocks);
    struct vmv_chunk_header header = {.type = blobs->type,
                                      .flags = VMV_CHUNKF_BLOCKS,
                                      .raw = blobs->raw,
                                      .t_first = blobs->t_first,
                                      .t_last = t < blobs->t_first ? blobs->t_first : t,
                                      .first = blobs->first,
                                      .count = blobs->next - blobs->first};
    vmv_output_chunk(blobs->output, &header, (struct vmv_part){blobs->lead.data, blobs->lead.length},
                     (struct vmv_part){blobs->packed.data, blobs->packed.length});
    blobs->entries.length = blobs->packed.length = 0;
    blobs->blocks = 0;
    blobs->raw = 0;
    blobs->first = blobs->next;
}

// Numbers the item that lies at the end of the open block from `begin` on, or takes it back if it is there already.
static uint64_t number_item(struct vmv_blobs *blobs, size_t begin, uint64_t t) {
    size_t length = blobs->block.length - begin;
    uint64_t number = vmv_dedup_find_or_add(&blobs->dedup, blobs->block.data + begin, length, blobs->next);
    if (number != blobs->next) {
        blobs->block.length = begin;
        return number;
    }
    if (blobs->next == blobs->first) blobs->t_first = t;
    blobs->next++;
    blobs->items++;
    if (blobs->block.length >= blobs->block_bytes) close_block(blobs);
    if (blobs->raw >= blobs->chunk_bytes) vmv_blobs_flush(blobs, t);
    return number;
}

uint64_t vmv_blobs_page(struct vmv_blobs *blobs, const void *bytes, size_t length, uint64_t t) {
    size_t begin = blobs->block.length;
    vmv_out_bytes(&blobs->block, bytes, length);
    return number_item(blobs, begin, t);
}

static void piece(struct vmv_out *out, struct vmv_part part) {
    size_t length = part.length < PIECE_LIMIT ? part.length : PIECE_LIMIT;
    vmv_out_varint(out, length);
    vmv_out_bytes(out, part.data, length);
}

uint64_t vmv_blobs_stack(struct vmv_blobs *blobs, struct vmv_part regs, uint64_t sp, struct vmv_part bytes,
                         uint64_t t) {
    size_t begin = blobs->block.length;
    piece(&blobs->block, regs);
    vmv_out_u64(&blobs->block, sp);
    piece(&blobs->block, bytes);
    return number_item(blobs, begin, t);
}

uint64_t vmv_blobs_regs(struct vmv_blobs *blobs, struct vmv_part general, struct vmv_part extended, uint64_t t) {
    size_t begin = blobs->block.length;
    piece(&blobs->block, general);
    piece(&blobs->block, extended);
    return number_item(blobs, begin, t);
}

bool vmv_bytes_are_zero(const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    for (size_t done = 0; done < length; done += 64) {
        uint64_t words[8], any = 0;
        memcpy(words, at + done, sizeof words);
        for (int i = 0; i < 8; i++) any |= words[i];
        if (any) return false;
    }
    return true;
}
