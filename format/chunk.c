#include "chunk.h"

#include <string.h>
#include <xxhash.h>

static const uint8_t file_magic[8] = {0x89, 'V', 'M', 'V', '\r', '\n', 0x1a, '\n'};
enum { BYTE_ORDER_MARK = 0x01020304 };

static void put(uint8_t *at, uint64_t value, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) at[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *at, unsigned bytes) {
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++) value |= (uint64_t)at[i] << 8 * i;
    return value;
}

const char *vmv_chunk_name(uint32_t type) {
    static const char *const names[VMV_CHUNK_TYPE_COUNT] = {NULL,     "META",  "EVENTS",  "STACKS", "REGS",  "PAGES",
                                                            "OBJECT", "STATE", "SUMMARY", "NOTES",  "INDEX", "END"};
    return type < VMV_CHUNK_TYPE_COUNT ? names[type] : NULL;
}

uint64_t vmv_chunk_hash(const void *payload, uint64_t length) { return XXH3_64bits(payload, length); }

uint32_t vmv_file_tag(const struct vmv_file_header *header) { return (uint32_t)get(header->id, 4); }

void vmv_file_header_encode(uint8_t out[VMV_FILE_HEADER_BYTES], const struct vmv_file_header *header) {
    memset(out, 0, VMV_FILE_HEADER_BYTES);
    memcpy(out, file_magic, sizeof file_magic);
    put(out + 8, header->major, 2);
    put(out + 10, header->minor, 2);
    put(out + 12, BYTE_ORDER_MARK, 4);
    memcpy(out + 16, header->id, sizeof header->id);
    put(out + 56, XXH3_64bits(out, 56), 8);
}

int vmv_file_header_decode(const uint8_t in[VMV_FILE_HEADER_BYTES], struct vmv_file_header *header) {
    memset(header, 0, sizeof *header);
    if (memcmp(in, file_magic, sizeof file_magic) != 0) return 1;
    header->major = (uint16_t)get(in + 8, 2);
    header->minor = (uint16_t)get(in + 10, 2);
    if (header->major > VMV_FORMAT_MAJOR) return 2; // first: what follows may be laid out differently there
    if (get(in + 56, 8) != XXH3_64bits(in, 56) || get(in + 12, 4) != BYTE_ORDER_MARK) return 3;
    memcpy(header->id, in + 16, sizeof header->id);
    return header->major == 0 ? 3 : 0;
}

void vmv_chunk_header_encode(uint8_t out[VMV_CHUNK_HEADER_BYTES], const struct vmv_chunk_header *header) {
    put(out, VMV_CHUNK_MAGIC, 4);
    put(out + 4, header->type, 2);
    put(out + 6, header->flags, 2);
    put(out + 8, header->tag, 4);
    put(out + 12, header->stored, 8);
    put(out + 20, header->raw, 8);
    put(out + 28, header->t_first, 8);
    put(out + 36, header->t_last, 8);
    put(out + 44, header->first, 8);
    put(out + 52, header->count, 8);
    put(out + 60, header->hash, 8);
    put(out + 68, header->back, 8);
    put(out + 76, XXH3_64bits(out, 76), 4);
}

bool vmv_chunk_header_decode(const uint8_t in[VMV_CHUNK_HEADER_BYTES], struct vmv_chunk_header *header) {
    memset(header, 0, sizeof *header);
    if (get(in, 4) != VMV_CHUNK_MAGIC || get(in + 76, 4) != (uint32_t)XXH3_64bits(in, 76)) return false;
    header->type = (uint32_t)get(in + 4, 2);
    header->flags = (uint32_t)get(in + 6, 2);
    header->tag = (uint32_t)get(in + 8, 4);
    header->stored = get(in + 12, 8);
    header->raw = get(in + 20, 8);
    header->t_first = get(in + 28, 8);
    header->t_last = get(in + 36, 8);
    header->first = get(in + 44, 8);
    header->count = get(in + 52, 8);
    header->hash = get(in + 60, 8);
    header->back = get(in + 68, 8);
    return header->stored <= VMV_STORED_LIMIT && header->raw <= VMV_RAW_LIMIT;
}

void vmv_chunk_trailer_encode(uint8_t out[VMV_CHUNK_TRAILER_BYTES], uint64_t offset) {
    put(out, offset, 8);
    put(out + 8, XXH3_64bits(out, 8), 4);
    put(out + 12, VMV_TRAILER_MAGIC, 4);
}

bool vmv_chunk_trailer_decode(const uint8_t in[VMV_CHUNK_TRAILER_BYTES], uint64_t *offset) {
    *offset = get(in, 8);
    return get(in + 12, 4) == VMV_TRAILER_MAGIC && get(in + 8, 4) == (uint32_t)XXH3_64bits(in, 8);
}
