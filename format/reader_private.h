// What the parts of the reader share. Only reader*.c include it.
#ifndef VMV_READER_PRIVATE_H
#define VMV_READER_PRIVATE_H

#include "blocks.h"
#include "index.h"
#include "reader.h"
#include "reader_cache.h"

#include <zstd.h>

// Chunks of one type in rising order of the numbers they hold.
struct vmv_number_list {
    uint32_t *chunks; // places in reader->chunks
    size_t count, room;
    uint64_t next; // the lowest number the next chunk may begin with
};

struct vmv_slice {   // bytes of an object
    uint32_t chunk;  // place in reader->chunks
    uint64_t offset; // in the object
};
struct vmv_reader_object {
    struct vmv_object object;
    struct vmv_slice *slices;
    size_t slice_count, slice_room;
};

struct vmv_reader {
    int fd;
    char *path;    // as errors name it
    uint64_t size; // of the file when it was opened
    struct vmv_file_header header;
    struct vmv_arena arena; // strings of meta and objects
    struct vmv_meta meta;
    struct vmv_end end;
    char *warning;
    char error[320];
    struct vmv_chunk *chunks;
    size_t count, room;
    size_t totals_until;               // chunks that the totals in `end` cover
    uint64_t sound;                    // offset up to which chunks were found
    uint64_t skipped_from, skipped_to; // the first stretch passed over because it is damaged; equal: none
    struct vmv_number_list pages, stacks, regs;
    struct vmv_cache cache;
    ZSTD_DCtx *zstd;
    struct vmv_out stack_scratch, regs_scratch;
    bool objects_loaded;
    struct vmv_reader_object *objects; // by number - 1
    size_t object_count, object_room;
};

// Records what is wrong, and where; returns false.
bool vmv_reader_corrupt(struct vmv_reader *reader, uint64_t offset, const char *chunk, const char *what);
bool vmv_reader_corrupt_chunk(struct vmv_reader *reader, const struct vmv_chunk *chunk, const char *what);
// All `length` bytes at `offset`, or false. Does not set the error.
bool vmv_reader_pread(const struct vmv_reader *reader, uint64_t offset, void *out, size_t length);
// The header at `offset`; false if there is none of this file whose chunk fits into it.
bool vmv_reader_chunk_at(const struct vmv_reader *reader, uint64_t offset, struct vmv_chunk *chunk);
bool vmv_reader_trailer_sound(const struct vmv_reader *reader, const struct vmv_chunk *chunk);

// Finds all chunks behind META (which is already in the list). Fills totals of `end` as far as an INDEX says them.
void vmv_reader_find_chunks(struct vmv_reader *reader);
// Appends to the list of chunks and to those by number.
void vmv_reader_add_chunk(struct vmv_reader *reader, const struct vmv_chunk *chunk);

// The stored payload as it lies in the file, its hash checked. free(). NULL and error.
uint8_t *vmv_reader_stored(struct vmv_reader *reader, const struct vmv_chunk *chunk);
// Inflates `stored` bytes to exactly `raw`; equal lengths are a copy.
bool vmv_reader_inflate(struct vmv_reader *reader, const uint8_t *from, size_t stored, uint8_t *to, size_t raw);
// The prefix or block table of a chunk (free()), checked only for length. NULL and error.
uint8_t *vmv_reader_lead(struct vmv_reader *reader, const struct vmv_chunk *chunk, uint64_t *length);

// A block by item (pages, stacks, registers) or by byte (objects); false and error. `data` holds until the next call.
struct vmv_block_view {
    struct vmv_block block;
    const uint8_t *data;
};
bool vmv_reader_block_of_item(struct vmv_reader *reader, const struct vmv_chunk *chunk, uint64_t item,
                              struct vmv_block_view *view);
bool vmv_reader_block_of_byte(struct vmv_reader *reader, const struct vmv_chunk *chunk, uint64_t at,
                              struct vmv_block_view *view);
// Walks the items of a block of STACKS or REGS: true while there is one.
bool vmv_stack_next(struct vmv_in *in, struct vmv_stack *stack);
bool vmv_regs_next(struct vmv_in *in, struct vmv_regs *regs);

// Decodes the identity of an OBJECT chunk; strings in `arena`.
bool vmv_object_decode(struct vmv_in *in, struct vmv_arena *arena, struct vmv_object *object);
void vmv_reader_objects_free(struct vmv_reader *reader);

#endif
