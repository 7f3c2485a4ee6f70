// Number and mapping encodings that events, states and summaries have in common.
#ifndef VMV_CODEC_PRIVATE_H
#define VMV_CODEC_PRIVATE_H

#include "arena.h"
#include "bytes.h"
#include "event.h"

void vmv_out_size(struct vmv_out *out, uint64_t value); // bytes, short for multiples of 4096
uint64_t vmv_in_size(struct vmv_in *in);
void vmv_out_address(struct vmv_out *out, uint64_t address, uint64_t base); // as a distance to base
uint64_t vmv_in_address(struct vmv_in *in, uint64_t base);
// Mappings in rising order; the first is written as a distance to `base`. Reading: NULL and in->bad if malformed.
void vmv_out_mappings(struct vmv_out *out, const struct vmv_mapping *maps, size_t count, uint64_t base);
struct vmv_mapping *vmv_in_mappings(struct vmv_in *in, struct vmv_arena *arena, size_t *count, uint64_t base);

#endif
