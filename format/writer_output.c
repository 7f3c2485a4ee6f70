#include "writer_output.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>
#include <xxhash.h>

enum { INDEX_CHUNKS = 1024, INDEX_CHUNKS_LEAST = 16, LEVEL = 1 };
static const uint64_t index_ns = 4000000000u;

static void fail(struct vmv_output *output, int error) {
    if (output->failed) return;
    output->failed = true;
    const char *what = error == EPIPE ? "its reader has closed the pipe" : strerror(error);
    snprintf(output->trouble, sizeof output->trouble,
             "writing the trace failed at byte %llu: %s; what was recorded before is kept",
             (unsigned long long)output->at, what);
}

// After a write that did not succeed: true if it may be tried again.
static bool may_retry(const struct vmv_output *output) {
    if (errno == EINTR) return true;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return false;
    struct pollfd ready = {.fd = output->fd, .events = POLLOUT};
    poll(&ready, 1, -1);
    return true;
}

static void skip(struct iovec **parts, int *count, size_t written) {
    while (*count > 0 && written >= (*parts)->iov_len) {
        written -= (*parts)->iov_len;
        ++*parts;
        --*count;
    }
    if (*count == 0) return;
    (*parts)->iov_base = (uint8_t *)(*parts)->iov_base + written;
    (*parts)->iov_len -= written;
}

static void append(struct vmv_output *output, struct iovec *parts, int count) {
    skip(&parts, &count, 0);
    while (count > 0 && !output->failed) {
        ssize_t written = writev(output->fd, parts, count);
        if (written > 0) {
            output->at += (uint64_t)written;
            skip(&parts, &count, (size_t)written);
        } else if (written == 0) {
            fail(output, ENOSPC);
        } else if (!may_retry(output)) {
            fail(output, errno);
        }
    }
}

bool vmv_output_open(struct vmv_output *output, int fd, const struct vmv_file_header *header) {
    uint8_t bytes[VMV_FILE_HEADER_BYTES];
    output->fd = fd;
    output->tag = vmv_file_tag(header);
    output->zstd = ZSTD_createCCtx();
    if (!output->zstd) {
        fail(output, ENOMEM);
        return false;
    }
    vmv_file_header_encode(bytes, header);
    append(output, &(struct iovec){bytes, sizeof bytes}, 1);
    vmv_index_list_restart(&output->recent, output->at);
    vmv_index_list_restart(&output->all, output->at);
    return !output->failed;
}

void vmv_output_close(struct vmv_output *output) {
    if (output->fd >= 0 && close(output->fd) != 0 && errno != EINTR) fail(output, errno);
    output->fd = -1;
}

void vmv_output_free(struct vmv_output *output) {
    vmv_output_close(output);
    ZSTD_freeCCtx(output->zstd);
    vmv_out_free(&output->scratch);
    vmv_out_free(&output->recent.entries);
    vmv_out_free(&output->all.entries);
}

static uint64_t hash_parts(struct vmv_part lead, struct vmv_part body) {
    if (lead.length == 0) return vmv_chunk_hash(body.data, body.length);
    if (body.length == 0) return vmv_chunk_hash(lead.data, lead.length);
    XXH3_state_t *state = XXH3_createState();
    if (!state) abort();
    XXH3_64bits_reset(state);
    XXH3_64bits_update(state, lead.data, lead.length);
    XXH3_64bits_update(state, body.data, body.length);
    uint64_t hash = XXH3_64bits_digest(state);
    XXH3_freeState(state);
    return hash;
}

static void write_chunk(struct vmv_output *output, const struct vmv_chunk_header *header, struct vmv_part lead,
                        struct vmv_part body) {
    uint8_t head[VMV_CHUNK_HEADER_BYTES], tail[VMV_CHUNK_TRAILER_BYTES];
    vmv_chunk_header_encode(head, header);
    vmv_chunk_trailer_encode(tail, output->at);
    struct iovec parts[] = {
        {head, sizeof head}, {(void *)lead.data, lead.length}, {(void *)body.data, body.length}, {tail, sizeof tail}};
    append(output, parts, 4);
}

void vmv_output_chunk(struct vmv_output *output, struct vmv_chunk_header *header, struct vmv_part lead,
                      struct vmv_part body) {
    if (output->failed) return;
    header->tag = output->tag;
    header->stored = lead.length + body.length;
    header->hash = hash_parts(lead, body);
    header->back = output->newest_index;
    if (header->t_last > output->last_t) output->last_t = header->t_last;
    write_chunk(output, header, lead, body);
    if (output->failed) return;
    vmv_index_list_add(&output->recent, header);
    vmv_index_list_add(&output->all, header);
}

size_t vmv_output_compress(struct vmv_output *output, struct vmv_out *out, struct vmv_part data, int level) {
    return vmv_output_compress_by(output->store ? NULL : output->zstd, out, data, level);
}

size_t vmv_output_compress_by(ZSTD_CCtx *zstd, struct vmv_out *out, struct vmv_part data, int level) {
    size_t bound = ZSTD_compressBound(data.length);
    if (zstd) {
        uint8_t *room = vmv_out_reserve(out, bound);
        size_t packed = ZSTD_compressCCtx(zstd, room, bound, data.data, data.length, level);
        if (!ZSTD_isError(packed) && packed < data.length) {
            out->length += packed;
            return packed;
        }
    }
    vmv_out_bytes(out, data.data, data.length);
    return data.length;
}

void vmv_output_pack(struct vmv_output *output, struct vmv_chunk_header *header, struct vmv_part lead,
                     struct vmv_part data) {
    if (output->failed) return;
    output->scratch.length = 0;
    size_t packed = vmv_output_compress(output, &output->scratch, data, LEVEL);
    header->raw = data.length;
    header->flags |= packed < data.length ? VMV_CHUNKF_ZSTD : 0;
    vmv_output_chunk(output, header, lead, (struct vmv_part){output->scratch.data, packed});
}

static void write_index(struct vmv_output *output, const struct vmv_index_list *list) {
    struct vmv_out payload = {0};
    vmv_index_encode(&payload, list, &output->totals);
    struct vmv_chunk_header header = {.type = VMV_CHUNK_INDEX, .t_first = output->last_t, .t_last = output->last_t};
    uint64_t offset = output->at;
    vmv_output_pack(output, &header, (struct vmv_part){0}, (struct vmv_part){payload.data, payload.length});
    vmv_out_free(&payload);
    if (output->failed) return;
    output->newest_index = offset;
    output->index_t = output->last_t;
    vmv_index_list_restart(&output->recent, output->at);
}

void vmv_output_index_if_due(struct vmv_output *output) {
    bool old = output->last_t - output->index_t >= index_ns && output->recent.count >= INDEX_CHUNKS_LEAST;
    if (output->recent.count >= INDEX_CHUNKS || old) write_index(output, &output->recent);
}

void vmv_output_index_all(struct vmv_output *output) { write_index(output, &output->all); }
