// Embedded files: identities, and bytes from the slices that follow each other from offset 0.
#include "reader_private.h"

#include <stdlib.h>
#include <string.h>

bool vmv_object_decode(struct vmv_in *in, struct vmv_arena *arena, struct vmv_object *object) {
    size_t length;
    const char *path = vmv_in_string(in, &length);
    object->inode = vmv_in_varint(in);
    object->size = vmv_in_varint(in);
    object->mtime_ns = vmv_in_zigzag(in);
    uint64_t major = vmv_in_varint(in), minor = vmv_in_varint(in), id_length = vmv_in_varint(in);
    if (in->bad || major > UINT32_MAX || minor > UINT32_MAX || id_length > sizeof object->build_id) return false;
    const uint8_t *id = vmv_in_bytes(in, (size_t)id_length);
    if (!id) return false;
    object->dev_major = (uint32_t)major;
    object->dev_minor = (uint32_t)minor;
    object->build_id_length = (uint32_t)id_length;
    memcpy(object->build_id, id, (size_t)id_length);
    object->path = vmv_arena_strdup(arena, path, length);
    return true;
}

static void *grown(void *array, size_t count, size_t *room, size_t size) {
    if (count < *room) return array;
    *room = *room ? 2 * *room : 16;
    array = realloc(array, *room * size);
    if (!array) abort();
    return array;
}

// An identity counts if its number is the next one; a damaged one leaves an object without a name, so that the numbers
// of those behind it still hold.
static void add_identity(struct vmv_reader *reader, const struct vmv_chunk *chunk) {
    size_t length;
    struct vmv_reader_object new = {.object = {.number = (uint32_t)reader->object_count + 1, .path = ""}};
    if (chunk->header.first != new.object.number) return;
    uint8_t *payload = vmv_reader_payload(reader, chunk, &length);
    struct vmv_in in = {.data = payload, .length = payload ? length : 0};
    struct vmv_object decoded = new.object;
    if (payload && vmv_object_decode(&in, &reader->arena, &decoded)) new.object = decoded;
    free(payload);
    reader->objects = grown(reader->objects, reader->object_count, &reader->object_room, sizeof *reader->objects);
    reader->objects[reader->object_count++] = new;
}

static void add_slice(struct vmv_reader *reader, const struct vmv_chunk *chunk) {
    const struct vmv_chunk_header *header = &chunk->header;
    if (header->first == 0 || header->first > reader->object_count) return;
    struct vmv_reader_object *object = &reader->objects[header->first - 1];
    if (header->count != object->object.embedded || header->raw == 0) return; // only what follows without a gap
    object->slices = grown(object->slices, object->slice_count, &object->slice_room, sizeof *object->slices);
    object->slices[object->slice_count++] = (struct vmv_slice){(uint32_t)(chunk - reader->chunks), header->count};
    object->object.embedded += header->raw;
}

static void load_objects(struct vmv_reader *reader) {
    if (reader->objects_loaded) return;
    reader->objects_loaded = true;
    for (size_t i = 0; i < reader->count; i++) {
        const struct vmv_chunk *chunk = &reader->chunks[i];
        if (chunk->header.type != VMV_CHUNK_OBJECT) continue;
        if (chunk->header.flags & VMV_CHUNKF_BLOCKS)
            add_slice(reader, chunk);
        else
            add_identity(reader, chunk);
    }
}

void vmv_reader_objects_free(struct vmv_reader *reader) {
    for (size_t i = 0; i < reader->object_count; i++) free(reader->objects[i].slices);
    free(reader->objects);
}

static struct vmv_reader_object *object_of(struct vmv_reader *reader, uint32_t number) {
    load_objects(reader);
    return number >= 1 && number <= reader->object_count ? &reader->objects[number - 1] : NULL;
}

size_t vmv_reader_object_count(struct vmv_reader *reader) {
    load_objects(reader);
    return reader->object_count;
}

const struct vmv_object *vmv_reader_object(struct vmv_reader *reader, uint32_t number) {
    struct vmv_reader_object *object = object_of(reader, number);
    return object ? &object->object : NULL;
}

static const struct vmv_slice *slice_of(const struct vmv_reader_object *object, uint64_t offset) {
    size_t low = 0, high = object->slice_count; // the last slice that begins at or before offset
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        *(object->slices[middle].offset <= offset ? &low : &high) = middle;
    }
    return &object->slices[low];
}

size_t vmv_reader_object_bytes(struct vmv_reader *reader, uint32_t number, uint64_t offset, void *out, size_t length) {
    struct vmv_reader_object *object = object_of(reader, number);
    size_t done = 0;
    if (!object) return 0;
    while (done < length && offset < object->object.embedded) {
        const struct vmv_slice *slice = slice_of(object, offset);
        struct vmv_block_view view;
        if (!vmv_reader_block_of_byte(reader, &reader->chunks[slice->chunk], offset - slice->offset, &view)) break;
        size_t skip = (size_t)(offset - slice->offset - view.block.at), have = view.block.raw - skip;
        if (have > length - done) have = length - done;
        memcpy((uint8_t *)out + done, view.data + skip, have);
        done += have;
        offset += have;
    }
    return done;
}
