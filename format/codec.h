// How events and states are written as bytes (docs/FORMAT.md, EVENTS and STATE).
#ifndef VMV_CODEC_H
#define VMV_CODEC_H

#include "arena.h"
#include "bytes.h"
#include "world.h"

// Values that later events of the same chunk are written as differences to. Zeroed at the start of a chunk.
struct vmv_codec {
    uint64_t t, addr, pc, sp, content, stack, regs, frame;
    uint32_t space;
    int32_t pid, tid;
    // of the last fault in the short form
    uint64_t fault_addr, fault_len;
    uint32_t fault_bits; // kind, access, kernel, source, page flags
};

void vmv_event_encode(struct vmv_codec *codec, struct vmv_out *out, const struct vmv_event *event);
// Decodes one event; its strings and arrays live in `arena`. False: the bytes are malformed (in->bad is set), or at
// the end (in->bad is not set). Event types this version does not know are skipped: type is VMV_EV_NONE.
bool vmv_event_decode(struct vmv_codec *codec, struct vmv_in *in, struct vmv_arena *arena, struct vmv_event *event);

void vmv_world_encode(struct vmv_out *out, const struct vmv_world *world);
// NULL if malformed or larger than `memory_limit` bytes in memory.
struct vmv_world *vmv_world_decode(struct vmv_in *in, size_t memory_limit);

#endif
