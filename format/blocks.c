#include "blocks.h"

#include <stdlib.h>
#include <string.h>

enum { LEAD_LENGTH_BYTES = 4, LEAD_CHECK_BYTES = 4, ENTRY_BYTES_LEAST = 7 };

static void put_u32(uint8_t *at, uint32_t value) {
    for (unsigned i = 0; i < 4; i++) at[i] = (uint8_t)(value >> 8 * i);
}

static uint32_t get_u32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

size_t vmv_lead_begin(struct vmv_out *out) {
    size_t begin = out->length;
    vmv_out_u32(out, 0);
    return begin;
}

void vmv_lead_end(struct vmv_out *out, size_t begin) {
    size_t length = out->length - begin + LEAD_CHECK_BYTES;
    put_u32(out->data + begin, (uint32_t)length);
    vmv_out_u32(out, (uint32_t)vmv_chunk_hash(out->data + begin, length - LEAD_CHECK_BYTES));
}

uint64_t vmv_lead_length(const uint8_t in[4], uint64_t stored) {
    uint64_t length = get_u32(in);
    if (length < LEAD_LENGTH_BYTES + LEAD_CHECK_BYTES || length > stored || length > VMV_TABLE_LIMIT) return 0;
    return length;
}

bool vmv_lead_open(const uint8_t *lead, uint64_t length, struct vmv_in *in) {
    if (length < LEAD_LENGTH_BYTES + LEAD_CHECK_BYTES || get_u32(lead) != length) return false;
    const uint8_t *check = lead + length - LEAD_CHECK_BYTES;
    if (get_u32(check) != (uint32_t)vmv_chunk_hash(lead, length - LEAD_CHECK_BYTES)) return false;
    *in = (struct vmv_in){.data = lead + LEAD_LENGTH_BYTES, .length = length - LEAD_LENGTH_BYTES - LEAD_CHECK_BYTES};
    return true;
}

void vmv_block_entry_encode(struct vmv_out *out, const struct vmv_block *block) {
    vmv_out_varint(out, block->items);
    vmv_out_varint(out, block->raw);
    vmv_out_varint(out, block->stored);
    vmv_out_u32(out, block->check);
}

void vmv_block_table_encode(struct vmv_out *out, const struct vmv_out *entries, size_t count) {
    size_t begin = vmv_lead_begin(out);
    vmv_out_varint(out, count);
    vmv_out_bytes(out, entries->data, entries->length);
    vmv_lead_end(out, begin);
}

static bool entry_decode(struct vmv_in *in, struct vmv_block *block) {
    uint64_t items = vmv_in_varint(in), raw = vmv_in_varint(in), stored = vmv_in_varint(in);
    block->check = vmv_in_u32(in);
    if (in->bad || raw == 0 || raw > VMV_BLOCK_LIMIT || stored == 0 || stored > raw || items > raw) return false;
    block->items = (uint32_t)items;
    block->raw = (uint32_t)raw;
    block->stored = (uint32_t)stored;
    return true;
}

// Fills the table; true if its blocks fill the payload exactly and hold what the header promises.
static bool table_fill(struct vmv_block_table *table, struct vmv_in *in, uint64_t lead,
                       const struct vmv_chunk_header *header) {
    uint64_t offset = lead, at = 0, item = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct vmv_block *block = &table->blocks[i];
        if (!entry_decode(in, block)) return false;
        block->offset = offset;
        block->at = at;
        block->item = item;
        offset += block->stored;
        at += block->raw;
        item += block->items;
    }
    bool counted =
        header->type == VMV_CHUNK_PAGES || header->type == VMV_CHUNK_STACKS || header->type == VMV_CHUNK_REGS;
    return vmv_in_left(in) == 0 && offset == header->stored && at == header->raw && (!counted || item == header->count);
}

struct vmv_block_table *vmv_block_table_decode(const uint8_t *lead, uint64_t length,
                                               const struct vmv_chunk_header *header) {
    struct vmv_in in;
    if (!vmv_lead_open(lead, length, &in)) return NULL;
    uint64_t count = vmv_in_varint(&in);
    if (in.bad || count > vmv_in_left(&in) / ENTRY_BYTES_LEAST) return NULL;
    struct vmv_block_table *table = malloc(sizeof *table + (size_t)count * sizeof table->blocks[0]);
    if (!table) return NULL;
    table->count = (size_t)count;
    if (table_fill(table, &in, length, header)) return table;
    free(table);
    return NULL;
}

const struct vmv_block *vmv_block_of_item(const struct vmv_block_table *table, uint64_t item) {
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct vmv_block *block = &table->blocks[middle];
        if (item < block->item)
            high = middle;
        else if (item - block->item >= block->items)
            low = middle + 1;
        else
            return block;
    }
    return NULL;
}

const struct vmv_block *vmv_block_of_byte(const struct vmv_block_table *table, uint64_t at) {
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct vmv_block *block = &table->blocks[middle];
        if (at < block->at)
            high = middle;
        else if (at - block->at >= block->raw)
            low = middle + 1;
        else
            return block;
    }
    return NULL;
}
