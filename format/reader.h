// Reads a trace. Every length, count and offset is checked against the bytes that remain before it is used; damage is
// reported with the offset. Reads with pread: the file may be larger than memory and may still grow.
#ifndef VMV_READER_H
#define VMV_READER_H

#include "chunk.h"
#include "codec.h"
#include "meta.h"
#include "summary.h"

enum vmv_open_status { VMV_OPEN_OK = 0, VMV_OPEN_UNREADABLE = 3 };

struct vmv_reader;

// Opens `path` ("-": standard input, copied to an unlinked temporary file). NULL: `error` holds one line with file,
// place and remedy. A trace cut after its META opens up to the cut; vmv_reader_warning() then says so.
struct vmv_reader *vmv_reader_open(const char *path, char *error, size_t error_size);
void vmv_reader_close(struct vmv_reader *reader);                // accepts NULL
const char *vmv_reader_warning(const struct vmv_reader *reader); // one line, or NULL
const char *vmv_reader_path(const struct vmv_reader *reader);

const struct vmv_file_header *vmv_reader_header(const struct vmv_reader *reader);
const struct vmv_meta *vmv_reader_meta(const struct vmv_reader *reader);
const struct vmv_end *vmv_reader_end(const struct vmv_reader *reader); // from END, or as far as known: complete = false
uint64_t vmv_reader_bytes(const struct vmv_reader *reader);            // size of the file

// All chunks by offset, from the index or a scan of the headers.
const struct vmv_chunk *vmv_reader_chunks(const struct vmv_reader *reader, size_t *count);

// A chunk's payload, inflated and checked (hash). The caller frees it with free(). NULL: *error is set in the reader.
uint8_t *vmv_reader_payload(struct vmv_reader *reader, const struct vmv_chunk *chunk, size_t *length);
const char *vmv_reader_error(const struct vmv_reader *reader); // the last one, with offset

// EVENTS chunks: the coarse addresses they concern, without inflating the events. Ranges of blocks, sorted by space
// and block, disjoint: all of [block, last] are concerned. block, last: address >> 21.
struct vmv_touched {
    uint32_t space;
    uint64_t block, last;
};
struct vmv_touched *vmv_reader_touched(struct vmv_reader *reader, const struct vmv_chunk *chunk,
                                       size_t *count); // free()
// Events per type of a chunk, from its prefix.
bool vmv_reader_counts(struct vmv_reader *reader, const struct vmv_chunk *chunk, uint64_t counts[VMV_EV_TYPE_COUNT]);
// All events of a chunk, in order, in `arena`. NULL and error if malformed.
struct vmv_event *vmv_reader_events(struct vmv_reader *reader, const struct vmv_chunk *chunk, struct vmv_arena *arena,
                                    size_t *count);
// The world of a STATE chunk. The caller destroys it.
struct vmv_world *vmv_reader_state(struct vmv_reader *reader, const struct vmv_chunk *chunk);
bool vmv_reader_summary(struct vmv_reader *reader, const struct vmv_chunk *chunk, struct vmv_arena *arena,
                        struct vmv_summary *summary);

// Blobs by number; caches inflated blocks within its budget.
bool vmv_reader_page(struct vmv_reader *reader, uint64_t content, uint8_t *out); // page_size bytes
struct vmv_stack {                                                               // lives until the next call
    const uint8_t *regs;
    size_t regs_length;
    uint64_t sp;
    const uint8_t *bytes;
    size_t length;
};
bool vmv_reader_stack(struct vmv_reader *reader, uint64_t number, struct vmv_stack *stack);
struct vmv_regs {
    const uint8_t *general;
    size_t general_length;
    const uint8_t *extended;
    size_t extended_length;
};
bool vmv_reader_regs(struct vmv_reader *reader, uint64_t number, struct vmv_regs *regs);

// Objects.
struct vmv_object {
    uint32_t number;
    const char *path;
    uint64_t inode, size, embedded; // embedded: bytes present from offset 0
    int64_t mtime_ns;
    uint32_t dev_major, dev_minor;
    uint8_t build_id[32];
    uint32_t build_id_length;
};
size_t vmv_reader_object_count(struct vmv_reader *reader);
const struct vmv_object *vmv_reader_object(struct vmv_reader *reader, uint32_t number); // NULL if none
// Copies `length` bytes at `offset` of an embedded object; returns how many are there (fewer at its end or if it is
// not embedded that far).
size_t vmv_reader_object_bytes(struct vmv_reader *reader, uint32_t number, uint64_t offset, void *out, size_t length);

// Checks every chunk: header, hash, inflating, decoding. Calls `report` for each error.
struct vmv_verify {
    bool ok;
    uint64_t chunks, bytes, errors;
    bool complete;
};
typedef void vmv_verify_report(void *user, uint64_t offset, const char *chunk, const char *what);
struct vmv_verify vmv_reader_verify(struct vmv_reader *reader, vmv_verify_report *report, void *user);

void vmv_reader_set_cache(struct vmv_reader *reader, size_t bytes); // budget for inflated blocks; 64 MiB

#endif
