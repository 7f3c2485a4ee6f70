// Number and mapping encodings that events, states and summaries have in common.
#ifndef VMV_CODEC_PRIVATE_H
#define VMV_CODEC_PRIVATE_H

#include "arena.h"
#include "bytes.h"
#include "pagetab.h"

void vmv_out_size(struct vmv_out *out, uint64_t value); // bytes, short for multiples of 4096
uint64_t vmv_in_size(struct vmv_in *in);
void vmv_out_address(struct vmv_out *out, uint64_t address, uint64_t base); // as a distance to base
uint64_t vmv_in_address(struct vmv_in *in, uint64_t base);
// Mappings in rising order; the first is written as a distance to `base`. Reading: NULL and in->bad if malformed.
void vmv_out_mappings(struct vmv_out *out, const struct vmv_mapping *maps, size_t count, uint64_t base);
struct vmv_mapping *vmv_in_mappings(struct vmv_in *in, struct vmv_arena *arena, size_t *count, uint64_t base);

// All pages of a table. `base`: the table it was copied from if that is written before, else NULL: what both share is
// written once. Reading: false if malformed, or if pages reach `limit` (a page number) or memory is refused.
void vmv_out_pages(struct vmv_out *out, const struct vmv_page_table *table, const struct vmv_page_table *base);
bool vmv_in_pages(struct vmv_in *in, struct vmv_page_table *table, const struct vmv_page_table *base, uint64_t limit);

#endif
