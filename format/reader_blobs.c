// Contents, stacks and registers by number.
#include "reader_private.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- blocks

static struct vmv_block_table *load_table(struct vmv_reader *reader, const struct vmv_chunk *chunk) {
    uint64_t length;
    if (!(chunk->header.flags & VMV_CHUNKF_BLOCKS)) {
        vmv_reader_corrupt_chunk(reader, chunk, "is not made of blocks");
        return NULL;
    }
    uint8_t *lead = vmv_reader_lead(reader, chunk, &length);
    if (!lead) return NULL;
    struct vmv_block_table *table = vmv_block_table_decode(lead, length, &chunk->header);
    free(lead);
    if (!table) vmv_reader_corrupt_chunk(reader, chunk, "its table of blocks is damaged");
    return table;
}

static const struct vmv_block_table *table_of(struct vmv_reader *reader, const struct vmv_chunk *chunk) {
    struct vmv_block_table *table = vmv_cache_find(&reader->cache, chunk->offset, VMV_CACHE_TABLE);
    if (table) return table;
    table = load_table(reader, chunk);
    if (!table) return NULL;
    size_t bytes = sizeof *table + table->count * sizeof table->blocks[0];
    vmv_cache_put(&reader->cache, chunk->offset, VMV_CACHE_TABLE, table, bytes);
    return table;
}

// The block's raw bytes in memory of their own, NULL if damaged.
static uint8_t *inflate_block(struct vmv_reader *reader, const struct vmv_block *block, uint8_t *stored) {
    if ((uint32_t)vmv_chunk_hash(stored, block->stored) != block->check) return NULL;
    uint8_t *raw = malloc(block->raw);
    if (!raw) abort();
    if (block->stored == block->raw)
        memcpy(raw, stored, block->raw);
    else if (!vmv_reader_inflate(reader, stored, block->stored, raw, block->raw)) {
        free(raw);
        return NULL;
    }
    return raw;
}

static bool load_block(struct vmv_reader *reader, const struct vmv_chunk *chunk, struct vmv_block_view *view) {
    view->data = vmv_cache_find(&reader->cache, chunk->offset, view->block.offset);
    if (view->data) return true;
    uint8_t *stored = malloc(view->block.stored), *raw = NULL;
    if (!stored) abort();
    if (vmv_reader_pread(reader, vmv_chunk_payload(chunk) + view->block.offset, stored, view->block.stored))
        raw = inflate_block(reader, &view->block, stored);
    free(stored);
    if (!raw) return vmv_reader_corrupt(reader, vmv_chunk_payload(chunk) + view->block.offset, "block", "damaged");
    vmv_cache_put(&reader->cache, chunk->offset, view->block.offset, raw, view->block.raw);
    view->data = raw;
    return true;
}

bool vmv_reader_block_of_item(struct vmv_reader *reader, const struct vmv_chunk *chunk, uint64_t item,
                              struct vmv_block_view *view) {
    const struct vmv_block_table *table = table_of(reader, chunk);
    if (!table) return false;
    const struct vmv_block *block = vmv_block_of_item(table, item);
    if (!block) return vmv_reader_corrupt_chunk(reader, chunk, "has no such item");
    view->block = *block;
    return load_block(reader, chunk, view);
}

bool vmv_reader_block_of_byte(struct vmv_reader *reader, const struct vmv_chunk *chunk, uint64_t at,
                              struct vmv_block_view *view) {
    const struct vmv_block_table *table = table_of(reader, chunk);
    if (!table) return false;
    const struct vmv_block *block = vmv_block_of_byte(table, at);
    if (!block) return vmv_reader_corrupt_chunk(reader, chunk, "has no such byte");
    view->block = *block;
    return load_block(reader, chunk, view);
}

// --- by number

static const struct vmv_chunk *chunk_of(struct vmv_reader *reader, const struct vmv_number_list *list,
                                        uint64_t number) {
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct vmv_chunk *chunk = &reader->chunks[list->chunks[middle]];
        if (number < chunk->header.first)
            high = middle;
        else if (number - chunk->header.first >= chunk->header.count)
            low = middle + 1;
        else
            return chunk;
    }
    return NULL;
}

static bool missing(struct vmv_reader *reader, const char *kind, uint64_t number) {
    snprintf(reader->error, sizeof reader->error, "%s: %s %llu: nothing is stored under this number", reader->path,
             kind, (unsigned long long)number);
    return false;
}

static bool view_number(struct vmv_reader *reader, const struct vmv_number_list *list, const char *kind,
                        uint64_t number, struct vmv_block_view *view) {
    const struct vmv_chunk *chunk = chunk_of(reader, list, number);
    if (!chunk) return missing(reader, kind, number);
    if (!vmv_reader_block_of_item(reader, chunk, number - chunk->header.first, view)) return false;
    view->block.item += chunk->header.first; // from here on the number of its first item
    return true;
}

bool vmv_reader_page(struct vmv_reader *reader, uint64_t content, uint8_t *out) {
    size_t page = reader->meta.page_size;
    struct vmv_block_view view;
    if (content == VMV_CONTENT_ZERO) {
        memset(out, 0, page);
        return true;
    }
    if (content < VMV_CONTENT_FIRST) return missing(reader, "content", content);
    if (!view_number(reader, &reader->pages, "content", content, &view)) return false;
    if (view.block.raw != view.block.items * page)
        return vmv_reader_corrupt(reader, view.block.offset, "block", "does not hold whole pages");
    memcpy(out, view.data + (content - view.block.item) * page, page);
    return true;
}

static bool piece_next(struct vmv_in *in, const uint8_t **data, size_t *length) {
    uint64_t announced = vmv_in_varint(in);
    if (announced > vmv_in_left(in)) in->bad = true;
    *length = in->bad ? 0 : (size_t)announced;
    *data = vmv_in_bytes(in, *length);
    return !in->bad;
}

bool vmv_stack_next(struct vmv_in *in, struct vmv_stack *stack) {
    if (!piece_next(in, &stack->regs, &stack->regs_length)) return false;
    stack->sp = vmv_in_u64(in);
    return piece_next(in, &stack->bytes, &stack->length);
}

bool vmv_regs_next(struct vmv_in *in, struct vmv_regs *regs) {
    return piece_next(in, &regs->general, &regs->general_length) &&
           piece_next(in, &regs->extended, &regs->extended_length);
}

bool vmv_reader_stack(struct vmv_reader *reader, uint64_t number, struct vmv_stack *stack) {
    struct vmv_block_view view;
    memset(stack, 0, sizeof *stack);
    if (!view_number(reader, &reader->stacks, "stack", number, &view)) return false;
    struct vmv_in in = {.data = view.data, .length = view.block.raw};
    for (uint64_t i = view.block.item; i <= number; i++)
        if (!vmv_stack_next(&in, stack)) return vmv_reader_corrupt(reader, view.block.offset, "stack", "malformed");
    struct vmv_out *copy = &reader->stack_scratch;
    copy->length = 0;
    vmv_out_reserve(copy, 1);
    vmv_out_bytes(copy, stack->regs, stack->regs_length);
    vmv_out_bytes(copy, stack->bytes, stack->length);
    stack->regs = copy->data;
    stack->bytes = copy->data + stack->regs_length;
    return true;
}

bool vmv_reader_regs(struct vmv_reader *reader, uint64_t number, struct vmv_regs *regs) {
    struct vmv_block_view view;
    memset(regs, 0, sizeof *regs);
    if (!view_number(reader, &reader->regs, "register blob", number, &view)) return false;
    struct vmv_in in = {.data = view.data, .length = view.block.raw};
    for (uint64_t i = view.block.item; i <= number; i++)
        if (!vmv_regs_next(&in, regs)) return vmv_reader_corrupt(reader, view.block.offset, "registers", "malformed");
    struct vmv_out *copy = &reader->regs_scratch;
    copy->length = 0;
    vmv_out_reserve(copy, 1);
    vmv_out_bytes(copy, regs->general, regs->general_length);
    vmv_out_bytes(copy, regs->extended, regs->extended_length);
    regs->general = copy->data;
    regs->extended = copy->data + regs->general_length;
    return true;
}
