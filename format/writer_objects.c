#include "writer_objects.h"
#include "blocks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLICE_BYTES = 1 << 20, BLOCK_BYTES = 128 << 10, LEVEL = 1, SLICES = 2 };

struct vmv_pending_object {
    int fd;
    uint32_t number;
    uint64_t offset, size; // bytes embedded so far; bytes it has
};

// One chunk of an object's bytes being made: in any thread, as it has all that it needs.
struct vmv_object_slice {
    int fd;
    uint32_t number;
    uint64_t offset, size; // where it begins in the object; the object's bytes
    ZSTD_CCtx *zstd;       // NULL: nothing is compressed
    struct vmv_out block, entries, packed, lead;
    size_t total; // bytes of the object in it; fewer than SLICE_BYTES only at its end
    pthread_t thread;
};

static void free_slice(struct vmv_object_slice *slice) {
    ZSTD_freeCCtx(slice->zstd);
    vmv_out_free(&slice->block);
    vmv_out_free(&slice->entries);
    vmv_out_free(&slice->packed);
    vmv_out_free(&slice->lead);
}

void vmv_objects_free(struct vmv_objects *objects) {
    for (uint32_t i = 0; i < objects->count; i++) vmv_out_free(&objects->identities[i]);
    for (size_t i = 0; i < objects->pending_count; i++) close(objects->pending[i].fd);
    free(objects->identities);
    free(objects->pending);
    vmv_out_free(&objects->identity);
    for (size_t i = 0; objects->slices && i < SLICES; i++) free_slice(&objects->slices[i]);
    free(objects->slices);
}

static void *resize(void *old, size_t bytes) {
    void *new = realloc(old, bytes);
    if (!new) abort();
    return new;
}

static void identity_encode(struct vmv_out *out, const struct vmv_object_identity *identity) {
    size_t length =
        identity->build_id_length < sizeof identity->build_id ? identity->build_id_length : sizeof identity->build_id;
    vmv_out_string(out, identity->path);
    vmv_out_varint(out, identity->inode);
    vmv_out_varint(out, identity->size);
    vmv_out_zigzag(out, identity->mtime_ns);
    vmv_out_varint(out, identity->dev_major);
    vmv_out_varint(out, identity->dev_minor);
    vmv_out_varint(out, length);
    vmv_out_bytes(out, identity->build_id, length);
}

static uint32_t find(const struct vmv_objects *objects, const struct vmv_out *identity) {
    for (uint32_t i = 0; i < objects->count; i++) {
        const struct vmv_out *other = &objects->identities[i];
        if (other->length == identity->length && memcmp(other->data, identity->data, identity->length) == 0)
            return i + 1;
    }
    return 0;
}

static void expect_bytes(struct vmv_objects *objects, uint32_t number, uint64_t size, int fd) {
    if (objects->pending_count == objects->pending_room) {
        objects->pending_room = objects->pending_room ? 2 * objects->pending_room : 16;
        objects->pending = resize(objects->pending, objects->pending_room * sizeof *objects->pending);
    }
    objects->pending[objects->pending_count++] = (struct vmv_pending_object){.fd = fd, .number = number, .size = size};
}

static uint32_t remember(struct vmv_objects *objects, const struct vmv_out *identity) {
    if (objects->count == objects->room) {
        objects->room = objects->room ? 2 * objects->room : 16;
        objects->identities = resize(objects->identities, objects->room * sizeof *objects->identities);
    }
    struct vmv_out *copy = &objects->identities[objects->count];
    *copy = (struct vmv_out){0};
    vmv_out_bytes(copy, identity->data, identity->length);
    return ++objects->count;
}

uint32_t vmv_objects_add(struct vmv_objects *objects, const struct vmv_object_identity *identity, int fd, uint64_t t) {
    objects->identity.length = 0;
    identity_encode(&objects->identity, identity);
    uint32_t number = find(objects, &objects->identity);
    if (number != 0 || objects->output->failed) {
        if (fd >= 0) close(fd);
        return number;
    }
    number = remember(objects, &objects->identity);
    if (fd >= 0) expect_bytes(objects, number, identity->size, fd);
    struct vmv_chunk_header header = {.type = VMV_CHUNK_OBJECT, .t_first = t, .t_last = t, .first = number};
    vmv_output_pack(objects->output, &header, (struct vmv_part){0},
                    (struct vmv_part){objects->identity.data, objects->identity.length});
    return number;
}

// Reads up to a block; fewer bytes only where the file ends (or cannot be read on).
static size_t read_block(struct vmv_object_slice *slice, uint64_t offset) {
    uint64_t left = slice->size - offset;
    size_t wanted = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES, have = 0;
    slice->block.length = 0;
    uint8_t *room = vmv_out_reserve(&slice->block, BLOCK_BYTES);
    while (have < wanted) {
        ssize_t got = pread(slice->fd, room + have, wanted - have, (off_t)(offset + have));
        if (got > 0)
            have += (size_t)got;
        else if (got == 0 || errno != EINTR)
            break;
    }
    return have;
}

static void pack_block(struct vmv_object_slice *slice, size_t raw) {
    size_t stored =
        vmv_output_compress_by(slice->zstd, &slice->packed, (struct vmv_part){slice->block.data, raw}, LEVEL);
    const uint8_t *bytes = slice->packed.data + slice->packed.length - stored;
    struct vmv_block block = {
        .raw = (uint32_t)raw, .stored = (uint32_t)stored, .check = (uint32_t)vmv_chunk_hash(bytes, stored)};
    vmv_block_entry_encode(&slice->entries, &block);
}

static void *make_slice(void *argument) {
    struct vmv_object_slice *slice = argument;
    size_t blocks = 0, raw = BLOCK_BYTES;
    slice->entries.length = slice->packed.length = slice->lead.length = slice->total = 0;
    while (slice->total < SLICE_BYTES && raw == BLOCK_BYTES) {
        raw = read_block(slice, slice->offset + slice->total);
        if (raw == 0) break;
        pack_block(slice, raw);
        slice->total += raw;
        blocks++;
    }
    if (slice->total) vmv_block_table_encode(&slice->lead, &slice->entries, blocks);
    return NULL;
}

static void write_slice(struct vmv_objects *objects, const struct vmv_object_slice *slice, uint64_t t) {
    if (slice->total == 0) return;
    objects->output->totals.raw_bytes += slice->total;
    struct vmv_chunk_header header = {.type = VMV_CHUNK_OBJECT,
                                      .flags = VMV_CHUNKF_BLOCKS,
                                      .raw = slice->total,
                                      .t_first = t,
                                      .t_last = t,
                                      .first = slice->number,
                                      .count = slice->offset};
    vmv_output_chunk(objects->output, &header, (struct vmv_part){slice->lead.data, slice->lead.length},
                     (struct vmv_part){slice->packed.data, slice->packed.length});
}

static struct vmv_object_slice *slices_of(struct vmv_objects *objects) {
    if (objects->slices) return objects->slices;
    objects->slices = calloc(SLICES, sizeof *objects->slices);
    if (!objects->slices) abort();
    for (size_t i = 0; i < SLICES && !objects->output->store; i++) {
        objects->slices[i].zstd = ZSTD_createCCtx();
        if (!objects->slices[i].zstd) abort();
    }
    return objects->slices;
}

static void forget_first(struct vmv_objects *objects) {
    close(objects->pending[0].fd);
    objects->pending_count--;
    memmove(objects->pending, objects->pending + 1, objects->pending_count * sizeof *objects->pending);
}

// What comes next, and behind `before` if that is not NULL. False: nothing.
static bool next_slice(const struct vmv_objects *objects, const struct vmv_object_slice *before,
                       struct vmv_object_slice *slice) {
    const struct vmv_pending_object *object = objects->pending, *end = objects->pending + objects->pending_count;
    uint64_t offset = object < end ? object->offset : 0;
    if (before) offset = before->offset + SLICE_BYTES;
    if (before && offset >= before->size) {
        object++;
        offset = 0;
    }
    if (object >= end) return false;
    slice->fd = object->fd;
    slice->number = object->number;
    slice->size = object->size;
    slice->offset = offset;
    return true;
}

// A file may have become shorter than it was: then what was made behind its end is left out.
static void take_slice(struct vmv_objects *objects, const struct vmv_object_slice *slice, uint64_t t) {
    struct vmv_pending_object *object = objects->pending;
    if (objects->pending_count == 0 || object->number != slice->number || object->offset != slice->offset) return;
    write_slice(objects, slice, t);
    object->offset += slice->total;
    if (slice->total < SLICE_BYTES || object->offset >= object->size) forget_first(objects);
}

bool vmv_objects_slice(struct vmv_objects *objects, uint64_t t) {
    struct vmv_object_slice *slice = slices_of(objects);
    if (!next_slice(objects, NULL, slice)) return false;
    make_slice(slice);
    take_slice(objects, slice, t);
    return objects->pending_count > 0;
}

void vmv_objects_rest(struct vmv_objects *objects, uint64_t t) {
    struct vmv_object_slice *slices = slices_of(objects);
    while (!objects->output->failed && next_slice(objects, NULL, &slices[0])) {
        bool two = next_slice(objects, &slices[0], &slices[1]) &&
                   pthread_create(&slices[1].thread, NULL, make_slice, &slices[1]) == 0;
        make_slice(&slices[0]);
        if (two) pthread_join(slices[1].thread, NULL);
        take_slice(objects, &slices[0], t);
        if (two) take_slice(objects, &slices[1], t);
        vmv_output_index_if_due(objects->output);
    }
}

void vmv_objects_give_up(struct vmv_objects *objects) {
    for (size_t i = 0; i < objects->pending_count; i++) close(objects->pending[i].fd);
    objects->pending_count = 0;
}
