// Opens any bytes as a trace and asks for everything in it: once as they are, and once with all hashes made right, so
// that changes reach what lies behind them.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blocks.h"
#include "reader.h"

enum { BLOBS = 40, OBJECTS = 8, ALLOWED_RAW = 8 << 20 };

static void put_u32(uint8_t *at, uint32_t value) {
    for (unsigned i = 0; i < 4; i++) at[i] = (uint8_t)(value >> 8 * i);
}

// --- making hashes right

static void seal_blocks(uint8_t *payload, uint64_t lead, uint64_t stored) {
    struct vmv_in in = {.data = payload, .length = lead - 4, .at = 4};
    uint64_t count = vmv_in_varint(&in), at = lead;
    for (uint64_t i = 0; i < count && !in.bad; i++) {
        vmv_in_varint(&in);
        vmv_in_varint(&in);
        uint64_t length = vmv_in_varint(&in);
        size_t check = in.at;
        vmv_in_u32(&in);
        if (in.bad || length > stored - at) return;
        put_u32(payload + check, (uint32_t)vmv_chunk_hash(payload + at, length));
        at += length;
    }
}

static void seal_lead(uint8_t *payload, const struct vmv_chunk_header *header) {
    uint64_t lead = header->stored >= 8 ? vmv_lead_length(payload, header->stored) : 0;
    if (lead == 0) return;
    if (header->flags & VMV_CHUNKF_BLOCKS) seal_blocks(payload, lead, header->stored);
    put_u32(payload + lead - 4, (uint32_t)vmv_chunk_hash(payload, lead - 4));
}

// The header as its bytes say, whatever its check.
static struct vmv_chunk_header header_of(const uint8_t *bytes) {
    uint8_t copy[VMV_CHUNK_HEADER_BYTES];
    struct vmv_chunk_header header;
    memcpy(copy, bytes, sizeof copy);
    put_u32(copy, VMV_CHUNK_MAGIC);
    put_u32(copy + 76, (uint32_t)vmv_chunk_hash(copy, 76));
    vmv_chunk_header_decode(copy, &header);
    return header;
}

// Seals the chunk at `at` and returns where the next begins; 0: none fits.
static size_t seal_chunk(uint8_t *data, size_t size, size_t at, uint32_t tag) {
    const size_t around = VMV_CHUNK_HEADER_BYTES + VMV_CHUNK_TRAILER_BYTES;
    if (size - at < around) return 0;
    struct vmv_chunk_header header = header_of(data + at);
    uint8_t *payload = data + at + VMV_CHUNK_HEADER_BYTES;
    if (header.stored > size - at - around) header.stored = size - at - around;
    if (header.flags & (VMV_CHUNKF_PREFIX | VMV_CHUNKF_BLOCKS)) seal_lead(payload, &header);
    header.tag = tag;
    header.hash = vmv_chunk_hash(payload, header.stored);
    vmv_chunk_header_encode(data + at, &header);
    vmv_chunk_trailer_encode(payload + header.stored, at);
    return at + around + header.stored;
}

static void seal(uint8_t *data, size_t size) {
    struct vmv_file_header header = {.major = VMV_FORMAT_MAJOR};
    if (size < VMV_FILE_HEADER_BYTES) return;
    memcpy(header.id, data + 16, sizeof header.id);
    vmv_file_header_encode(data, &header);
    size_t at = VMV_FILE_HEADER_BYTES;
    while ((at = seal_chunk(data, size, at, vmv_file_tag(&header))) != 0 && at < size) continue;
}

// --- asking for everything

static void use_chunk(struct vmv_reader *reader, const struct vmv_chunk *chunk) {
    struct vmv_arena arena = {0};
    uint64_t counts[VMV_EV_TYPE_COUNT];
    struct vmv_summary summary;
    size_t count;
    free(vmv_reader_payload(reader, chunk, &count));
    free(vmv_reader_touched(reader, chunk, &count));
    vmv_reader_counts(reader, chunk, counts);
    vmv_reader_events(reader, chunk, &arena, &count);
    vmv_reader_summary(reader, chunk, &arena, &summary);
    vmv_world_destroy(vmv_reader_state(reader, chunk));
    vmv_arena_free(&arena);
}

static void use_numbers(struct vmv_reader *reader) {
    uint8_t *page = malloc(vmv_reader_meta(reader)->page_size), bytes[1000];
    struct vmv_stack stack;
    struct vmv_regs regs;
    for (uint64_t number = 0; number < BLOBS; number++) {
        vmv_reader_page(reader, number, page);
        vmv_reader_stack(reader, number, &stack);
        vmv_reader_regs(reader, number, &regs);
    }
    for (uint32_t number = 0; number < OBJECTS; number++) {
        const struct vmv_object *object = vmv_reader_object(reader, number);
        vmv_reader_object_bytes(reader, number, object ? object->embedded / 2 : 0, bytes, sizeof bytes);
    }
    free(page);
}

static void use(struct vmv_reader *reader) {
    size_t count;
    const struct vmv_chunk *chunk = vmv_reader_chunks(reader, &count);
    for (size_t i = 0; i < count; i++) // what inflates to much is slow, not wrong: other tests try it
        if (chunk[i].header.raw > ALLOWED_RAW) return;
    for (size_t i = 0; i < count; i++) use_chunk(reader, &chunk[i]);
    use_numbers(reader);
    vmv_reader_verify(reader, NULL, NULL);
}

static void open_bytes(const uint8_t *data, size_t size) {
    char path[64], error[512];
    int fd = memfd_create("trace", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct vmv_reader *reader = vmv_reader_open(path, error, sizeof error);
    close(fd);
    if (reader) use(reader);
    vmv_reader_close(reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = calloc(1, size + 1);
    if (size) memcpy(copy, data, size);
    open_bytes(copy, size);
    seal(copy, size);
    open_bytes(copy, size);
    free(copy);
    return 0;
}
