// Payloads of chunks and what they decode to.
#include "reader_private.h"
#include "touched.h"

#include <stdlib.h>
#include <string.h>

#define STATE_MEMORY_LIMIT ((size_t)1 << 30) // bytes of a decoded world

uint8_t *vmv_reader_stored(struct vmv_reader *reader, const struct vmv_chunk *chunk) {
    const struct vmv_chunk_header *header = &chunk->header;
    if (header->stored > VMV_STORED_LIMIT || chunk->offset > reader->size || vmv_chunk_end(chunk) > reader->size) {
        vmv_reader_corrupt_chunk(reader, chunk, "reaches beyond the end of the file");
        return NULL;
    }
    uint8_t *bytes = malloc(header->stored + 1);
    if (!bytes) {
        vmv_reader_corrupt_chunk(reader, chunk, "too large for the memory at hand");
    } else if (!vmv_reader_pread(reader, vmv_chunk_payload(chunk), bytes, header->stored)) {
        vmv_reader_corrupt_chunk(reader, chunk, "cannot be read");
    } else if (vmv_chunk_hash(bytes, header->stored) != header->hash) {
        vmv_reader_corrupt_chunk(reader, chunk, "damaged (its hash does not match)");
    } else {
        return bytes;
    }
    free(bytes);
    return NULL;
}

bool vmv_reader_inflate(struct vmv_reader *reader, const uint8_t *from, size_t stored, uint8_t *to, size_t raw) {
    if (ZSTD_getFrameContentSize(from, stored) != raw) return false;
    return ZSTD_decompressDCtx(reader->zstd, to, raw, from, stored) == raw;
}

// The body of a payload that is not made of blocks.
static bool inflate_body(struct vmv_reader *reader, const struct vmv_chunk *chunk, const uint8_t *body, size_t stored,
                         uint8_t *to) {
    if (chunk->header.flags & VMV_CHUNKF_ZSTD) return vmv_reader_inflate(reader, body, stored, to, chunk->header.raw);
    if (stored != chunk->header.raw) return false;
    memcpy(to, body, stored);
    return true;
}

static bool inflate_blocks(struct vmv_reader *reader, const struct vmv_chunk *chunk, const uint8_t *stored,
                           uint64_t lead, uint8_t *to) {
    struct vmv_block_table *table = vmv_block_table_decode(stored, lead, &chunk->header);
    bool ok = table != NULL;
    for (size_t i = 0; ok && i < table->count; i++) {
        const struct vmv_block *block = &table->blocks[i];
        const uint8_t *from = stored + block->offset;
        ok = (uint32_t)vmv_chunk_hash(from, block->stored) == block->check;
        if (ok && block->stored == block->raw)
            memcpy(to + block->at, from, block->raw);
        else if (ok)
            ok = vmv_reader_inflate(reader, from, block->stored, to + block->at, block->raw);
    }
    free(table);
    return ok;
}

static bool inflate_payload(struct vmv_reader *reader, const struct vmv_chunk *chunk, const uint8_t *stored,
                            uint8_t *to) {
    const struct vmv_chunk_header *header = &chunk->header;
    bool leads = header->flags & (VMV_CHUNKF_PREFIX | VMV_CHUNKF_BLOCKS);
    uint64_t lead = 0;
    if (leads && (header->stored < 4 || (lead = vmv_lead_length(stored, header->stored)) == 0)) return false;
    if (header->flags & VMV_CHUNKF_BLOCKS) return inflate_blocks(reader, chunk, stored, lead, to);
    return inflate_body(reader, chunk, stored + lead, header->stored - lead, to);
}

uint8_t *vmv_reader_payload(struct vmv_reader *reader, const struct vmv_chunk *chunk, size_t *length) {
    const struct vmv_chunk_header *header = &chunk->header;
    *length = 0;
    if ((header->flags & ~(uint32_t)VMV_CHUNKF_KNOWN) != 0 || header->raw > VMV_RAW_LIMIT) {
        vmv_reader_corrupt_chunk(reader, chunk, "is laid out in a way this version does not know");
        return NULL;
    }
    uint8_t *stored = vmv_reader_stored(reader, chunk);
    if (!stored) return NULL;
    uint8_t *payload = malloc(header->raw + 1);
    if (payload && inflate_payload(reader, chunk, stored, payload)) {
        *length = header->raw;
    } else {
        vmv_reader_corrupt_chunk(reader, chunk, payload ? "does not inflate" : "too large for the memory at hand");
        free(payload);
        payload = NULL;
    }
    free(stored);
    return payload;
}

uint8_t *vmv_reader_lead(struct vmv_reader *reader, const struct vmv_chunk *chunk, uint64_t *length) {
    enum { GUESS = 1024 };
    const struct vmv_chunk_header *header = &chunk->header;
    size_t have = header->stored < GUESS ? (size_t)header->stored : GUESS;
    uint8_t *lead = malloc(GUESS);
    *length = 0;
    if (lead && have >= 4 && vmv_reader_pread(reader, vmv_chunk_payload(chunk), lead, have))
        *length = vmv_lead_length(lead, header->stored);
    if (*length > have) {
        uint8_t *larger = realloc(lead, *length);
        if (larger) lead = larger;
        if (!larger || !vmv_reader_pread(reader, vmv_chunk_payload(chunk) + have, lead + have, *length - have))
            *length = 0;
    }
    if (*length != 0) return lead;
    free(lead);
    vmv_reader_corrupt_chunk(reader, chunk, "its prefix is damaged");
    return NULL;
}

// --- the prefix of EVENTS

static uint8_t *open_prefix(struct vmv_reader *reader, const struct vmv_chunk *chunk, struct vmv_in *in) {
    uint64_t length;
    uint8_t *lead = NULL;
    if (chunk->header.type != VMV_CHUNK_EVENTS || !(chunk->header.flags & VMV_CHUNKF_PREFIX)) {
        vmv_reader_corrupt_chunk(reader, chunk, "has no prefix of events");
        return NULL;
    }
    lead = vmv_reader_lead(reader, chunk, &length);
    if (lead && vmv_lead_open(lead, length, in)) return lead;
    if (lead) vmv_reader_corrupt_chunk(reader, chunk, "its prefix is damaged");
    free(lead);
    return NULL;
}

struct vmv_touched *vmv_reader_touched(struct vmv_reader *reader, const struct vmv_chunk *chunk, size_t *count) {
    uint64_t counts[VMV_EV_TYPE_COUNT];
    struct vmv_touched *ranges = NULL;
    struct vmv_in in;
    uint8_t *prefix = open_prefix(reader, chunk, &in);
    *count = 0;
    if (!prefix) return NULL;
    if (vmv_counts_decode(&in, counts)) ranges = vmv_touched_decode(&in, count);
    if (in.bad)
        vmv_reader_corrupt_chunk(reader, chunk, "its prefix is damaged");
    else if (!ranges)
        ranges = calloc(1, sizeof *ranges); // none, and not an error
    free(prefix);
    return ranges;
}

bool vmv_reader_counts(struct vmv_reader *reader, const struct vmv_chunk *chunk, uint64_t counts[VMV_EV_TYPE_COUNT]) {
    struct vmv_in in;
    memset(counts, 0, VMV_EV_TYPE_COUNT * sizeof counts[0]);
    uint8_t *prefix = open_prefix(reader, chunk, &in);
    if (!prefix) return false;
    bool ok = vmv_counts_decode(&in, counts);
    if (!ok) vmv_reader_corrupt_chunk(reader, chunk, "its prefix is damaged");
    free(prefix);
    return ok;
}

// --- events, states, summaries

static bool decode_events(const struct vmv_chunk *chunk, struct vmv_in *in, struct vmv_arena *arena,
                          struct vmv_event *events) {
    struct vmv_codec codec = {0};
    for (uint64_t i = 0; i < chunk->header.count; i++) {
        if (!vmv_event_decode(&codec, in, arena, &events[i])) return false;
        events[i].seq = chunk->header.first + i;
    }
    return vmv_in_left(in) == 0;
}

struct vmv_event *vmv_reader_events(struct vmv_reader *reader, const struct vmv_chunk *chunk, struct vmv_arena *arena,
                                    size_t *count) {
    const struct vmv_chunk_header *header = &chunk->header;
    size_t length;
    *count = 0;
    if (header->type != VMV_CHUNK_EVENTS || header->raw > VMV_EVENTS_RAW_LIMIT ||
        header->count > VMV_EVENTS_COUNT_LIMIT || header->count > header->raw) {
        vmv_reader_corrupt_chunk(reader, chunk, "has impossible counts of events");
        return NULL;
    }
    uint8_t *payload = vmv_reader_payload(reader, chunk, &length);
    if (!payload) return NULL;
    struct vmv_in in = {.data = payload, .length = length};
    struct vmv_event *events = vmv_arena_alloc(arena, (size_t)header->count * sizeof *events + 1);
    bool ok = decode_events(chunk, &in, arena, events);
    free(payload);
    if (ok)
        *count = (size_t)header->count;
    else
        vmv_reader_corrupt_chunk(reader, chunk, "its events are malformed");
    return ok ? events : NULL;
}

struct vmv_world *vmv_reader_state(struct vmv_reader *reader, const struct vmv_chunk *chunk) {
    size_t length;
    if (chunk->header.type != VMV_CHUNK_STATE) {
        vmv_reader_corrupt_chunk(reader, chunk, "is not a STATE");
        return NULL;
    }
    uint8_t *payload = vmv_reader_payload(reader, chunk, &length);
    if (!payload) return NULL;
    struct vmv_in in = {.data = payload, .length = length};
    struct vmv_world *world = vmv_world_decode(&in, STATE_MEMORY_LIMIT);
    free(payload);
    if (!world) vmv_reader_corrupt_chunk(reader, chunk, "its state is malformed");
    return world;
}

bool vmv_reader_summary(struct vmv_reader *reader, const struct vmv_chunk *chunk, struct vmv_arena *arena,
                        struct vmv_summary *summary) {
    size_t length;
    memset(summary, 0, sizeof *summary);
    if (chunk->header.type != VMV_CHUNK_SUMMARY) return vmv_reader_corrupt_chunk(reader, chunk, "is not a SUMMARY");
    uint8_t *payload = vmv_reader_payload(reader, chunk, &length);
    if (!payload) return false;
    struct vmv_in in = {.data = payload, .length = length};
    bool ok = vmv_summary_decode(&in, arena, summary);
    free(payload);
    return ok || vmv_reader_corrupt_chunk(reader, chunk, "its summary is malformed");
}
