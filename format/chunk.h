// Chunks: the file is a header and then chunks, each with a header, a payload and a trailer (docs/FORMAT.md).
#ifndef VMV_CHUNK_H
#define VMV_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

enum vmv_chunk_type {
    VMV_CHUNK_META = 1, VMV_CHUNK_EVENTS = 2, VMV_CHUNK_STACKS = 3, VMV_CHUNK_REGS = 4, VMV_CHUNK_PAGES = 5,
    VMV_CHUNK_OBJECT = 6, VMV_CHUNK_STATE = 7, VMV_CHUNK_SUMMARY = 8, VMV_CHUNK_NOTES = 9, VMV_CHUNK_INDEX = 10,
    VMV_CHUNK_END = 11, VMV_CHUNK_TYPE_COUNT = 12,
};
const char *vmv_chunk_name(uint32_t type); // "EVENTS"; NULL if unknown

enum { VMV_FORMAT_MAJOR = 1, VMV_FORMAT_MINOR = 0 };

struct vmv_file_header { // 64 bytes on disk
    uint16_t major, minor;
    uint8_t id[16];
};
enum { VMV_FILE_HEADER_BYTES = 64, VMV_CHUNK_HEADER_BYTES = 80, VMV_CHUNK_TRAILER_BYTES = 16 };

struct vmv_chunk_header { // 80 bytes on disk: magic, these, and a hash of the header itself
    uint32_t type, flags;
    uint64_t stored, raw;      // payload bytes in the file; after inflating
    uint64_t t_first, t_last;  // ns
    uint64_t first, count;     // EVENTS: first seq and events; PAGES/STACKS/REGS: first number and how many;
                               // OBJECT: object number and offset in the file; STATE: seq of the next event; else 0
    uint64_t hash;             // XXH3-64 of the stored payload
    uint64_t back;             // file offset of the newest INDEX before this chunk, 0 if none
};
struct vmv_chunk { // where a chunk lies
    struct vmv_chunk_header header;
    uint64_t offset; // of its header in the file
};

void vmv_file_header_encode(uint8_t out[VMV_FILE_HEADER_BYTES], const struct vmv_file_header *header);
// 0, or: 1 not a trace, 2 newer major version (header->major is filled), 3 damaged.
int vmv_file_header_decode(const uint8_t in[VMV_FILE_HEADER_BYTES], struct vmv_file_header *header);
void vmv_chunk_header_encode(uint8_t out[VMV_CHUNK_HEADER_BYTES], const struct vmv_chunk_header *header);
bool vmv_chunk_header_decode(const uint8_t in[VMV_CHUNK_HEADER_BYTES], struct vmv_chunk_header *header);
void vmv_chunk_trailer_encode(uint8_t out[VMV_CHUNK_TRAILER_BYTES], uint64_t offset);
bool vmv_chunk_trailer_decode(const uint8_t in[VMV_CHUNK_TRAILER_BYTES], uint64_t *offset);

#endif
