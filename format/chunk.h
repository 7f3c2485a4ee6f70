// Chunks: the file is a header and then chunks, each with a header, a payload and a trailer (docs/FORMAT.md).
#ifndef VMV_CHUNK_H
#define VMV_CHUNK_H

#include <stdbool.h>
#include <stdint.h>

enum vmv_chunk_type {
    VMV_CHUNK_META = 1,
    VMV_CHUNK_EVENTS = 2,
    VMV_CHUNK_STACKS = 3,
    VMV_CHUNK_REGS = 4,
    VMV_CHUNK_PAGES = 5,
    VMV_CHUNK_OBJECT = 6,
    VMV_CHUNK_STATE = 7,
    VMV_CHUNK_SUMMARY = 8,
    VMV_CHUNK_NOTES = 9,
    VMV_CHUNK_INDEX = 10,
    VMV_CHUNK_END = 11,
    VMV_CHUNK_TYPE_COUNT = 12,
};
const char *vmv_chunk_name(uint32_t type); // "EVENTS"; NULL if unknown

// How a chunk's payload is laid out. Without any of them the payload is stored as it is.
enum vmv_chunk_flags {
    VMV_CHUNKF_ZSTD = 1,   // the body is one zstd frame
    VMV_CHUNKF_PREFIX = 2, // a prefix stands before the body and can be read alone (EVENTS)
    VMV_CHUNKF_BLOCKS = 4, // a table and blocks that inflate one by one (PAGES, STACKS, REGS, an OBJECT's bytes)
    VMV_CHUNKF_KNOWN = 7,
};

// Limits that a reader checks before it allocates.
enum {
    VMV_RAW_LIMIT = 256 << 20, // bytes a chunk may inflate to
    VMV_STORED_LIMIT = VMV_RAW_LIMIT + (1 << 20),
    VMV_EVENTS_RAW_LIMIT = 32 << 20, // bytes, EVENTS
    VMV_EVENTS_COUNT_LIMIT = 65536,  // events in one EVENTS chunk
    VMV_TABLE_LIMIT = 8 << 20,       // bytes of a prefix or a block table
    VMV_BLOCK_LIMIT = 4 << 20,       // bytes a block may inflate to
};

enum { VMV_FORMAT_MAJOR = 1, VMV_FORMAT_MINOR = 0 };

struct vmv_file_header { // 64 bytes on disk
    uint16_t major, minor;
    uint8_t id[16];
};
enum { VMV_FILE_HEADER_BYTES = 64, VMV_CHUNK_HEADER_BYTES = 80, VMV_CHUNK_TRAILER_BYTES = 16 };

struct vmv_chunk_header {     // 80 bytes on disk: magic, these, and a hash of the header itself
    uint32_t type, flags;     // 16 bits each on disk
    uint32_t tag;             // the first four bytes of the file's id: tells its chunks from those of a trace that
                              // lies inside a recorded page
    uint64_t stored, raw;     // payload bytes in the file; after inflating
    uint64_t t_first, t_last; // ns
    uint64_t first, count;    // EVENTS: first seq and events; PAGES/STACKS/REGS: first number and how many;
                              // OBJECT: object number and offset in the file; STATE: seq of the next event; else 0
    uint64_t hash;            // XXH3-64 of the stored payload
    uint64_t back;            // file offset of the newest INDEX before this chunk, 0 if none
};
struct vmv_chunk { // where a chunk lies
    struct vmv_chunk_header header;
    uint64_t offset; // of its header in the file
};

uint32_t vmv_file_tag(const struct vmv_file_header *header);          // what its chunks carry as their tag
static inline uint64_t vmv_chunk_end(const struct vmv_chunk *chunk) { // offset of what follows it
    return chunk->offset + VMV_CHUNK_HEADER_BYTES + chunk->header.stored + VMV_CHUNK_TRAILER_BYTES;
}
static inline uint64_t vmv_chunk_payload(const struct vmv_chunk *chunk) { // offset of its payload
    return chunk->offset + VMV_CHUNK_HEADER_BYTES;
}

void vmv_file_header_encode(uint8_t out[VMV_FILE_HEADER_BYTES], const struct vmv_file_header *header);
// 0, or: 1 not a trace, 2 newer major version (header->major is filled), 3 damaged.
int vmv_file_header_decode(const uint8_t in[VMV_FILE_HEADER_BYTES], struct vmv_file_header *header);
void vmv_chunk_header_encode(uint8_t out[VMV_CHUNK_HEADER_BYTES], const struct vmv_chunk_header *header);
// False: no magic, hash wrong, or stored/raw beyond their limits.
bool vmv_chunk_header_decode(const uint8_t in[VMV_CHUNK_HEADER_BYTES], struct vmv_chunk_header *header);
uint64_t vmv_chunk_hash(const void *payload, uint64_t length);
enum { VMV_CHUNK_MAGIC = 0x634d5689, VMV_TRAILER_MAGIC = 0x744d5689 }; // "\x89VMc", "\x89VMt" as bytes
void vmv_chunk_trailer_encode(uint8_t out[VMV_CHUNK_TRAILER_BYTES], uint64_t offset);
bool vmv_chunk_trailer_decode(const uint8_t in[VMV_CHUNK_TRAILER_BYTES], uint64_t *offset);

#endif
