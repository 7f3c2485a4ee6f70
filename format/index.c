#include "index.h"

#include <string.h>

enum { ENTRY_BYTES_LEAST = 15 }; // seven varints and a hash

static uint64_t expected(const struct vmv_index_codec *codec, uint32_t type) {
    return type < VMV_CHUNK_TYPE_COUNT ? codec->next[type] : 0;
}

static void advance(struct vmv_index_codec *codec, const struct vmv_chunk_header *header) {
    bool numbered = (header->type >= VMV_CHUNK_EVENTS && header->type <= VMV_CHUNK_PAGES);
    if (header->type < VMV_CHUNK_TYPE_COUNT) codec->next[header->type] = header->first + (numbered ? header->count : 0);
    codec->t = header->t_last;
}

void vmv_index_entry_encode(struct vmv_index_codec *codec, struct vmv_out *out, const struct vmv_chunk_header *header) {
    vmv_out_varint(out, header->type);
    vmv_out_varint(out, header->flags);
    vmv_out_varint(out, header->stored);
    vmv_out_varint(out, header->raw);
    vmv_out_zigzag(out, (int64_t)(header->t_first - codec->t));
    vmv_out_varint(out, header->t_last - header->t_first);
    vmv_out_zigzag(out, (int64_t)(header->first - expected(codec, header->type)));
    vmv_out_varint(out, header->count);
    vmv_out_u64(out, header->hash);
    advance(codec, header);
}

bool vmv_index_entry_decode(struct vmv_index_codec *codec, struct vmv_in *in, struct vmv_chunk_header *header) {
    memset(header, 0, sizeof *header);
    uint64_t type = vmv_in_varint(in), flags = vmv_in_varint(in);
    header->type = (uint32_t)type;
    header->flags = (uint32_t)flags;
    header->stored = vmv_in_varint(in);
    header->raw = vmv_in_varint(in);
    header->t_first = codec->t + (uint64_t)vmv_in_zigzag(in);
    header->t_last = header->t_first + vmv_in_varint(in);
    header->first = expected(codec, header->type) + (uint64_t)vmv_in_zigzag(in);
    header->count = vmv_in_varint(in);
    header->hash = vmv_in_u64(in);
    advance(codec, header);
    return !in->bad && type <= UINT16_MAX && flags <= UINT16_MAX && header->stored <= VMV_STORED_LIMIT &&
           header->raw <= VMV_RAW_LIMIT;
}

void vmv_index_list_add(struct vmv_index_list *list, const struct vmv_chunk_header *header) {
    vmv_index_entry_encode(&list->codec, &list->entries, header);
    list->count++;
}

void vmv_index_list_restart(struct vmv_index_list *list, uint64_t base) {
    list->base = base;
    list->count = 0;
    list->entries.length = 0;
    memset(&list->codec, 0, sizeof list->codec);
}

static void encode_totals(struct vmv_out *out, const struct vmv_end *totals) {
    vmv_out_varint(out, totals->pages_captured);
    vmv_out_varint(out, totals->raw_bytes);
    unsigned types = 0;
    for (unsigned type = 0; type < VMV_EV_TYPE_COUNT; type++) types += totals->events[type] != 0;
    vmv_out_varint(out, types);
    for (unsigned type = 0; type < VMV_EV_TYPE_COUNT; type++) {
        if (totals->events[type] == 0) continue;
        vmv_out_varint(out, type);
        vmv_out_varint(out, totals->events[type]);
    }
}

void vmv_index_encode(struct vmv_out *out, const struct vmv_index_list *list, const struct vmv_end *totals) {
    vmv_out_varint(out, list->base);
    encode_totals(out, totals);
    vmv_out_varint(out, list->count);
    vmv_out_bytes(out, list->entries.data, list->entries.length);
}

static void decode_totals(struct vmv_in *in, struct vmv_end *totals) {
    memset(totals, 0, sizeof *totals);
    totals->pages_captured = vmv_in_varint(in);
    totals->raw_bytes = vmv_in_varint(in);
    uint64_t types = vmv_in_varint(in);
    for (uint64_t i = 0; i < types && !in->bad; i++) {
        uint64_t type = vmv_in_varint(in), count = vmv_in_varint(in);
        if (type < VMV_EV_TYPE_COUNT) totals->events[type] = count;
    }
}

bool vmv_index_decode(struct vmv_in *in, struct vmv_index_head *head, struct vmv_end *totals) {
    head->base = vmv_in_varint(in);
    decode_totals(in, totals);
    uint64_t count = vmv_in_varint(in);
    if (in->bad || count > vmv_in_left(in) / ENTRY_BYTES_LEAST) return false;
    head->count = (size_t)count;
    return true;
}
