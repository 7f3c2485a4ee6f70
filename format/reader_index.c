// Finds the chunks: from the newest INDEX and its predecessors, then by hopping from header to header, and where that
// fails by searching for the next sound header.
#include "reader_private.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 1 << 20, WINDOW_FIRST = 16 << 10, BACK_SEARCH = 16 << 20 };

// --- single chunks

bool vmv_reader_chunk_at(const struct vmv_reader *reader, uint64_t offset, struct vmv_chunk *chunk) {
    uint8_t bytes[VMV_CHUNK_HEADER_BYTES];
    if (offset < VMV_FILE_HEADER_BYTES || offset > reader->size || reader->size - offset < sizeof bytes) return false;
    chunk->offset = offset;
    return vmv_reader_pread(reader, offset, bytes, sizeof bytes) && vmv_chunk_header_decode(bytes, &chunk->header) &&
           chunk->header.tag == vmv_file_tag(&reader->header) && vmv_chunk_end(chunk) <= reader->size;
}

bool vmv_reader_trailer_sound(const struct vmv_reader *reader, const struct vmv_chunk *chunk) {
    uint8_t bytes[VMV_CHUNK_TRAILER_BYTES];
    uint64_t offset;
    return vmv_reader_pread(reader, vmv_chunk_end(chunk) - sizeof bytes, bytes, sizeof bytes) &&
           vmv_chunk_trailer_decode(bytes, &offset) && offset == chunk->offset;
}

static void *grown(void *array, size_t count, size_t *room, size_t size) {
    if (count < *room) return array;
    *room = *room ? 2 * *room : 64;
    array = realloc(array, *room * size);
    if (!array) abort();
    return array;
}

// Chunks whose numbers do not rise, or run over, cannot be looked up; verify reports them.
static void add_numbers(struct vmv_reader *reader, struct vmv_number_list *list,
                        const struct vmv_chunk_header *header) {
    if (header->first < list->next || header->count == 0 || header->count > header->raw) return;
    if (header->first > UINT64_MAX - header->count) return;
    list->chunks = grown(list->chunks, list->count, &list->room, sizeof *list->chunks);
    list->chunks[list->count++] = (uint32_t)reader->count;
    list->next = header->first + header->count;
}

void vmv_reader_add_chunk(struct vmv_reader *reader, const struct vmv_chunk *chunk) {
    reader->chunks = grown(reader->chunks, reader->count, &reader->room, sizeof *reader->chunks);
    reader->chunks[reader->count] = *chunk;
    if (chunk->header.type == VMV_CHUNK_PAGES) add_numbers(reader, &reader->pages, &chunk->header);
    if (chunk->header.type == VMV_CHUNK_STACKS) add_numbers(reader, &reader->stacks, &chunk->header);
    if (chunk->header.type == VMV_CHUNK_REGS) add_numbers(reader, &reader->regs, &chunk->header);
    reader->count++;
    reader->sound = vmv_chunk_end(chunk);
}

// --- the newest INDEX

// A sound chunk that ends at `end`, told by its trailer.
static bool chunk_before(const struct vmv_reader *reader, uint64_t end, struct vmv_chunk *chunk) {
    uint8_t bytes[VMV_CHUNK_TRAILER_BYTES];
    uint64_t offset;
    if (end < VMV_FILE_HEADER_BYTES + VMV_CHUNK_HEADER_BYTES + sizeof bytes) return false;
    if (!vmv_reader_pread(reader, end - sizeof bytes, bytes, sizeof bytes)) return false;
    return vmv_chunk_trailer_decode(bytes, &offset) && vmv_reader_chunk_at(reader, offset, chunk) &&
           vmv_chunk_end(chunk) == end;
}

// The last place in the window that looks like the end of a trailer and is one.
static bool search_window(const struct vmv_reader *reader, const uint8_t *window, uint64_t start, size_t length,
                          struct vmv_chunk *chunk) {
    const uint8_t magic[4] = {0x89, 'V', 'M', 't'};
    for (size_t at = length; at >= 4; at--)
        if (memcmp(window + at - 4, magic, 4) == 0 && chunk_before(reader, start + at, chunk)) return true;
    return false;
}

static bool last_chunk(const struct vmv_reader *reader, struct vmv_chunk *chunk) {
    if (chunk_before(reader, reader->size, chunk)) return true;
    uint8_t *window = malloc(WINDOW);
    uint64_t end = reader->size, lowest = end > BACK_SEARCH ? end - BACK_SEARCH : 0;
    bool found = false;
    while (window && !found && end > lowest + 4) {
        uint64_t start = end - lowest > WINDOW ? end - WINDOW : lowest;
        size_t length = (size_t)(end - start);
        found = vmv_reader_pread(reader, start, window, length) && search_window(reader, window, start, length, chunk);
        end = start == lowest ? lowest : start + 3;
    }
    free(window);
    return found;
}

// --- the chain of INDEX chunks

struct segment { // one INDEX
    struct vmv_chunk chunk;
    uint8_t *payload;
    struct vmv_in entries;
    struct vmv_index_head head;
    struct vmv_end totals;
};

static bool load_segment(struct vmv_reader *reader, uint64_t offset, struct segment *segment) {
    size_t length;
    memset(segment, 0, sizeof *segment);
    if (!vmv_reader_chunk_at(reader, offset, &segment->chunk) || segment->chunk.header.type != VMV_CHUNK_INDEX)
        return false;
    segment->payload = vmv_reader_payload(reader, &segment->chunk, &length);
    if (!segment->payload) return false;
    segment->entries = (struct vmv_in){.data = segment->payload, .length = length};
    bool ok = vmv_index_decode(&segment->entries, &segment->head, &segment->totals) &&
              segment->head.base >= VMV_FILE_HEADER_BYTES && segment->head.base <= offset;
    if (ok) return true;
    free(segment->payload);
    return false;
}

// Adds the chunks of a segment, which must lie end to end from its base to itself. META is in the list already.
static bool add_segment(struct vmv_reader *reader, struct segment *segment) {
    struct vmv_index_codec codec = {0};
    struct vmv_chunk chunk = {.offset = segment->head.base};
    uint64_t back = segment->chunk.header.back;
    if (chunk.offset == VMV_FILE_HEADER_BYTES) back = 0;
    for (size_t i = 0; i < segment->head.count; i++) {
        if (!vmv_index_entry_decode(&codec, &segment->entries, &chunk.header)) return false;
        chunk.header.tag = vmv_file_tag(&reader->header);
        chunk.header.back = back;
        if (vmv_chunk_end(&chunk) > segment->chunk.offset) return false;
        if (chunk.offset != VMV_FILE_HEADER_BYTES) vmv_reader_add_chunk(reader, &chunk);
        if (chunk.header.type == VMV_CHUNK_INDEX) back = chunk.offset;
        chunk.offset = vmv_chunk_end(&chunk);
    }
    if (chunk.offset != segment->chunk.offset) return false;
    vmv_reader_add_chunk(reader, &segment->chunk);
    return true;
}

// The offsets of the INDEX chunks to be read, newest first, until one lists from the beginning.
static bool collect(struct vmv_reader *reader, uint64_t newest, uint64_t **offsets, size_t *count,
                    struct vmv_end *totals) {
    size_t room = 0;
    uint64_t at = newest, base = UINT64_MAX;
    *offsets = NULL;
    for (*count = 0; base != VMV_FILE_HEADER_BYTES; ++*count) {
        struct segment segment;
        if (!load_segment(reader, at, &segment)) return false;
        free(segment.payload);
        *offsets = grown(*offsets, *count, &room, sizeof **offsets);
        (*offsets)[*count] = at;
        if (*count == 0) *totals = segment.totals;
        bool joins = base == UINT64_MAX || vmv_chunk_end(&segment.chunk) == base;
        base = segment.head.base;
        if (!joins || (base != VMV_FILE_HEADER_BYTES && segment.chunk.header.back >= at)) return false;
        at = segment.chunk.header.back;
    }
    return true;
}

static void forget_chunks(struct vmv_reader *reader) {
    reader->count = 1; // META stays
    reader->pages.count = reader->stacks.count = reader->regs.count = 0;
    reader->pages.next = reader->stacks.next = reader->regs.next = 0;
    reader->sound = vmv_chunk_end(&reader->chunks[0]);
}

static bool load_chain(struct vmv_reader *reader, uint64_t newest) {
    uint64_t *offsets;
    size_t count;
    struct vmv_end totals = {0};
    bool ok = collect(reader, newest, &offsets, &count, &totals);
    for (size_t i = count; ok && i-- > 0;) {
        struct segment segment;
        ok = load_segment(reader, offsets[i], &segment);
        if (!ok) break;
        ok = add_segment(reader, &segment);
        free(segment.payload);
    }
    free(offsets);
    if (!ok) {
        forget_chunks(reader);
        return false;
    }
    reader->end = totals;
    reader->totals_until = reader->count;
    return true;
}

// --- without an index

static uint64_t find_header(const struct vmv_reader *reader, const uint8_t *window, uint64_t start, size_t length) {
    const uint8_t magic[4] = {0x89, 'V', 'M', 'c'};
    const uint8_t *at = window, *hit;
    struct vmv_chunk chunk;
    while ((hit = memmem(at, length - (size_t)(at - window), magic, sizeof magic)) != NULL) {
        uint64_t offset = start + (uint64_t)(hit - window);
        if (vmv_reader_chunk_at(reader, offset, &chunk) && vmv_reader_trailer_sound(reader, &chunk)) return offset;
        at = hit + 1;
    }
    return 0;
}

// The first sound chunk at or after `from`, 0 if none.
static uint64_t resync(const struct vmv_reader *reader, uint64_t from) {
    uint8_t *window = malloc(WINDOW);
    uint64_t found = 0;
    size_t wanted = WINDOW_FIRST; // the next chunk is often near
    while (window && found == 0 && reader->size - from >= VMV_CHUNK_HEADER_BYTES) {
        size_t length = reader->size - from > wanted ? wanted : (size_t)(reader->size - from);
        if (!vmv_reader_pread(reader, from, window, length)) break;
        found = find_header(reader, window, from, length);
        from += length == wanted ? wanted - 3 : length;
        if (wanted < WINDOW) wanted *= 4;
    }
    free(window);
    return found;
}

static void hop(struct vmv_reader *reader) {
    uint64_t at = reader->sound;
    while (at < reader->size) {
        struct vmv_chunk chunk;
        if (vmv_reader_chunk_at(reader, at, &chunk) && vmv_reader_trailer_sound(reader, &chunk)) {
            vmv_reader_add_chunk(reader, &chunk);
            at = reader->sound;
            continue;
        }
        uint64_t next = resync(reader, at + 1);
        if (next == 0) return;
        if (reader->skipped_from == reader->skipped_to) {
            reader->skipped_from = at;
            reader->skipped_to = next;
        }
        at = next;
    }
}

void vmv_reader_find_chunks(struct vmv_reader *reader) {
    struct vmv_chunk last;
    if (last_chunk(reader, &last)) {
        uint64_t newest = last.header.type == VMV_CHUNK_INDEX ? last.offset : last.header.back;
        if (newest != 0) load_chain(reader, newest);
    }
    hop(reader);
    reader->error[0] = 0;
}
