// The end of the writer that touches the file: appends chunks to a descriptor and keeps the index of them. The first
// trouble is kept as one line; after it nothing is written any more.
#ifndef VMV_WRITER_OUTPUT_H
#define VMV_WRITER_OUTPUT_H

#include "index.h"

#include <zstd.h>

struct vmv_output {
    int fd;
    bool failed;
    bool store;   // compress nothing
    uint32_t tag; // of every chunk
    uint64_t at;  // bytes written
    char trouble[240];
    uint64_t newest_index;        // offset, 0: none yet
    uint64_t last_t;              // ns, the latest t_last of a chunk
    uint64_t index_t;             // ns, last_t at the newest INDEX
    struct vmv_index_list recent; // chunks since the newest INDEX, and it
    struct vmv_index_list all;    // every chunk
    struct vmv_end totals;        // pages_captured, raw_bytes and events so far
    ZSTD_CCtx *zstd;
    struct vmv_out scratch;
};

struct vmv_part { // a piece of a payload
    const void *data;
    size_t length;
};

bool vmv_output_open(struct vmv_output *output, int fd, const struct vmv_file_header *header); // writes the file header
void vmv_output_close(struct vmv_output *output); // the descriptor; if that fails, it is trouble too
void vmv_output_free(struct vmv_output *output);  // closes it as well
// Appends a chunk whose payload is the two parts. The caller has set type, flags, raw, times, first and count.
void vmv_output_chunk(struct vmv_output *output, struct vmv_chunk_header *header, struct vmv_part lead,
                      struct vmv_part body);
// Appends a chunk: `lead`, then `data`, compressed where that makes it smaller. Sets raw and VMV_CHUNKF_ZSTD.
void vmv_output_pack(struct vmv_output *output, struct vmv_chunk_header *header, struct vmv_part lead,
                     struct vmv_part data);
// Compresses `data` to the end of `out`, or copies it if that is not smaller. Returns the bytes added.
size_t vmv_output_compress(struct vmv_output *output, struct vmv_out *out, struct vmv_part data, int level);
// The same with a context of the caller's, in any thread. NULL: copies.
size_t vmv_output_compress_by(ZSTD_CCtx *zstd, struct vmv_out *out, struct vmv_part data, int level);
// An INDEX of the chunks since the one before, if many or old enough; of all chunks at the end.
void vmv_output_index_if_due(struct vmv_output *output);
void vmv_output_index_all(struct vmv_output *output);

#endif
