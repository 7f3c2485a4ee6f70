#include "writer_objects.h"
#include "blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLICE_BYTES = 1 << 20, BLOCK_BYTES = 128 << 10, LEVEL = 1 };

struct vmv_pending_object {
    int fd;
    uint32_t number;
    uint64_t offset, size; // bytes embedded so far; bytes it has
};

void vmv_objects_free(struct vmv_objects *objects) {
    for (uint32_t i = 0; i < objects->count; i++) vmv_out_free(&objects->identities[i]);
    for (size_t i = 0; i < objects->pending_count; i++) close(objects->pending[i].fd);
    free(objects->identities);
    free(objects->pending);
    vmv_out_free(&objects->identity);
    vmv_out_free(&objects->block);
    vmv_out_free(&objects->entries);
    vmv_out_free(&objects->packed);
    vmv_out_free(&objects->lead);
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
static size_t read_block(struct vmv_objects *objects, const struct vmv_pending_object *object, uint64_t offset) {
    uint64_t left = object->size - offset;
    size_t wanted = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES, have = 0;
    objects->block.length = 0;
    uint8_t *room = vmv_out_reserve(&objects->block, BLOCK_BYTES);
    while (have < wanted) {
        ssize_t got = pread(object->fd, room + have, wanted - have, (off_t)(offset + have));
        if (got > 0)
            have += (size_t)got;
        else if (got == 0 || errno != EINTR)
            break;
    }
    return have;
}

static void pack_block(struct vmv_objects *objects, size_t raw) {
    size_t stored =
        vmv_output_compress(objects->output, &objects->packed, (struct vmv_part){objects->block.data, raw}, LEVEL);
    const uint8_t *bytes = objects->packed.data + objects->packed.length - stored;
    struct vmv_block block = {
        .raw = (uint32_t)raw, .stored = (uint32_t)stored, .check = (uint32_t)vmv_chunk_hash(bytes, stored)};
    vmv_block_entry_encode(&objects->entries, &block);
}

// Writes one chunk of the object's bytes from its offset on; returns how many there were, fewer than SLICE_BYTES only
// at the end.
static size_t write_slice(struct vmv_objects *objects, const struct vmv_pending_object *object, uint64_t t) {
    size_t total = 0, blocks = 0, raw = BLOCK_BYTES;
    objects->entries.length = objects->packed.length = objects->lead.length = 0;
    while (total < SLICE_BYTES && raw == BLOCK_BYTES) {
        raw = read_block(objects, object, object->offset + total);
        if (raw == 0) break;
        pack_block(objects, raw);
        total += raw;
        blocks++;
    }
    if (total == 0) return 0;
    objects->output->totals.raw_bytes += total;
    vmv_block_table_encode(&objects->lead, &objects->entries, blocks);
    struct vmv_chunk_header header = {.type = VMV_CHUNK_OBJECT,
                                      .flags = VMV_CHUNKF_BLOCKS,
                                      .raw = total,
                                      .t_first = t,
                                      .t_last = t,
                                      .first = object->number,
                                      .count = object->offset};
    vmv_output_chunk(objects->output, &header, (struct vmv_part){objects->lead.data, objects->lead.length},
                     (struct vmv_part){objects->packed.data, objects->packed.length});
    return total;
}

bool vmv_objects_slice(struct vmv_objects *objects, uint64_t t) {
    if (objects->pending_count == 0) return false;
    struct vmv_pending_object *object = &objects->pending[0];
    size_t written = write_slice(objects, object, t);
    object->offset += written;
    if (written == SLICE_BYTES && object->offset < object->size) return true;
    close(object->fd);
    objects->pending_count--;
    memmove(objects->pending, objects->pending + 1, objects->pending_count * sizeof *objects->pending);
    return objects->pending_count > 0;
}

void vmv_objects_give_up(struct vmv_objects *objects) {
    for (size_t i = 0; i < objects->pending_count; i++) close(objects->pending[i].fd);
    objects->pending_count = 0;
}
