// Checks a whole trace, chunk after chunk: that every byte is what the hashes say, that everything decodes, and that
// nothing refers to what is not there.
#include "reader_private.h"
#include "touched.h"

#include <stdlib.h>
#include <string.h>

struct check {
    struct vmv_reader *reader;
    vmv_verify_report *report;
    void *user;
    struct vmv_verify result;
    const struct vmv_chunk *chunk;            // under way
    uint64_t seq, t;                          // of the next event; of the last one, ns
    uint64_t contents, stacks, regs, objects; // the next numbers
    uint64_t newest_index;
    uint64_t *embedded; // bytes so far, by object number - 1
    bool ended;
};

static void wrong_at(struct check *check, uint64_t offset, const char *chunk, const char *what) {
    check->result.errors++;
    if (check->report) check->report(check->user, offset, chunk, what);
}

static void wrong(struct check *check, const char *what) {
    const char *name = vmv_chunk_name(check->chunk->header.type);
    wrong_at(check, check->chunk->offset, name ? name : "unknown", what);
}

// What the reader's own error says, without the file and the place.
static void wrong_as_read(struct check *check, const char *otherwise) {
    const char *text = strstr(check->reader->error, "at byte "), *what = text ? strstr(text, ": ") : NULL;
    char copy[256];
    if (!what) {
        wrong(check, otherwise);
        return;
    }
    size_t length = strnlen(what + 2, sizeof copy - 1);
    memcpy(copy, what + 2, length);
    copy[length] = 0;
    wrong(check, copy);
}

// --- EVENTS

static bool content_known(const struct check *check, uint64_t content, uint64_t pages) {
    if (content < VMV_CONTENT_FIRST) return true;
    return content < check->contents && pages <= check->contents - content;
}

static const char *reference_error(const struct check *check, const struct vmv_event *event) {
    uint64_t page = check->reader->meta.page_size,
             pages = event->content_step ? event->len / page + (event->len % page != 0) : 1;
    if (event->stack >= check->stacks) return "an event names a stack that is not stored before it";
    if (event->type == VMV_EV_THREAD && event->regs >= check->regs)
        return "an event names registers that are not stored before it";
    if (event->type == VMV_EV_CONTENT && !content_known(check, event->content, pages ? pages : 1))
        return "an event names contents that are not stored before it";
    bool object_known = event->object < check->objects;
    for (size_t i = 0; i < event->map_count; i++) object_known = object_known && event->maps[i].object < check->objects;
    if (!object_known) return "an event names an object that is not stored before it";
    return NULL;
}

static const char *order_error(struct check *check, const struct vmv_event *event) {
    const struct vmv_chunk_header *header = &check->chunk->header;
    if (event->t < check->t) return "an event lies before the one that precedes it";
    if (event->t < header->t_first || event->t > header->t_last) return "an event lies outside its chunk's time";
    check->t = event->t;
    return NULL;
}

// The first trouble with the references or the order of the events; counts types on the way.
static const char *events_error(struct check *check, const struct vmv_event *events, size_t count,
                                uint64_t counts[VMV_EV_TYPE_COUNT]) {
    for (size_t i = 0; i < count; i++) {
        const char *what = order_error(check, &events[i]);
        if (!what) what = reference_error(check, &events[i]);
        if (what) return what;
        if ((unsigned)events[i].type < VMV_EV_TYPE_COUNT) counts[events[i].type]++;
    }
    return NULL;
}

static void check_prefix(struct check *check, const uint64_t counts[VMV_EV_TYPE_COUNT]) {
    uint64_t said[VMV_EV_TYPE_COUNT];
    size_t count;
    struct vmv_touched *touched = vmv_reader_touched(check->reader, check->chunk, &count);
    free(touched);
    if (!touched || !vmv_reader_counts(check->reader, check->chunk, said)) {
        wrong_as_read(check, "its prefix is damaged");
        return;
    }
    for (int type = 1; type < VMV_EV_TYPE_COUNT; type++) // events of types this version does not know decode as NONE
        if (said[type] != counts[type]) {
            wrong(check, "its prefix counts other events than it holds");
            return;
        }
}

static void check_events(struct check *check) {
    struct vmv_arena arena = {0};
    uint64_t counts[VMV_EV_TYPE_COUNT] = {0};
    size_t count;
    const struct vmv_event *events = vmv_reader_events(check->reader, check->chunk, &arena, &count);
    const char *what = NULL;
    if (!events)
        wrong_as_read(check, "its events are malformed");
    else if (check->chunk->header.first != check->seq)
        what = "its first event does not have the next number";
    else
        what = events_error(check, events, count, counts);
    if (what)
        wrong(check, what);
    else if (events)
        check_prefix(check, counts);
    check->seq = check->chunk->header.first + check->chunk->header.count;
    if (check->chunk->header.t_last > check->t) check->t = check->chunk->header.t_last;
    vmv_arena_free(&arena);
}

// --- blobs

static bool items_sound(struct check *check, const struct vmv_block_view *view) {
    struct vmv_in in = {.data = view->data, .length = view->block.raw};
    uint32_t type = check->chunk->header.type;
    if (type == VMV_CHUNK_PAGES) return view->block.raw == (uint64_t)view->block.items * check->reader->meta.page_size;
    if (type == VMV_CHUNK_OBJECT) return true;
    for (uint32_t i = 0; i < view->block.items; i++) {
        struct vmv_stack stack;
        struct vmv_regs regs;
        if (!(type == VMV_CHUNK_STACKS ? vmv_stack_next(&in, &stack) : vmv_regs_next(&in, &regs))) return false;
    }
    return vmv_in_left(&in) == 0;
}

static void check_blocks(struct check *check) {
    uint64_t at = 0;
    uint8_t *stored = vmv_reader_stored(check->reader, check->chunk);
    free(stored);
    if (!stored) {
        wrong_as_read(check, "damaged");
        return;
    }
    while (at < check->chunk->header.raw) {
        struct vmv_block_view view;
        if (!vmv_reader_block_of_byte(check->reader, check->chunk, at, &view)) {
            wrong_as_read(check, "a block is damaged");
            return;
        }
        if (!items_sound(check, &view)) {
            wrong(check, "a block does not hold the items its table promises");
            return;
        }
        at += view.block.raw;
    }
}

static void check_numbers(struct check *check, uint64_t *next) {
    const struct vmv_chunk_header *header = &check->chunk->header;
    if (header->first != *next) wrong(check, "its first number is not the next one");
    if (header->count <= header->raw && header->first <= UINT64_MAX - header->count)
        *next = header->first + header->count;
    check_blocks(check);
}

// --- OBJECT

static void check_identity(struct check *check) {
    struct vmv_arena arena = {0};
    struct vmv_object object = {0};
    size_t length;
    uint8_t *payload = vmv_reader_payload(check->reader, check->chunk, &length);
    struct vmv_in in = {.data = payload, .length = length};
    if (!payload)
        wrong_as_read(check, "damaged");
    else if (!vmv_object_decode(&in, &arena, &object))
        wrong(check, "its identity is malformed");
    if (check->chunk->header.first != check->objects)
        wrong(check, "its number is not the next one");
    else
        check->objects++;
    free(payload);
    vmv_arena_free(&arena);
}

static void check_slice(struct check *check) {
    const struct vmv_chunk_header *header = &check->chunk->header;
    check_blocks(check);
    if (header->first == 0 || header->first >= check->objects)
        wrong(check, "bytes of an object that is not named before");
    else if (check->embedded[header->first - 1] != header->count)
        wrong(check, "bytes do not follow those before");
    else
        check->embedded[header->first - 1] += header->raw;
}

// --- the rest

static void check_state(struct check *check) {
    struct vmv_world *world = vmv_reader_state(check->reader, check->chunk);
    if (!world)
        wrong_as_read(check, "its state is malformed");
    else if (world->seq != check->seq || check->chunk->header.first != check->seq)
        wrong(check, "its state is not that before the next event");
    vmv_world_destroy(world);
}

static void check_summary(struct check *check) {
    struct vmv_arena arena = {0};
    struct vmv_summary summary;
    if (!vmv_reader_summary(check->reader, check->chunk, &arena, &summary))
        wrong_as_read(check, "its summary is malformed");
    vmv_arena_free(&arena);
}

static bool same_entry(const struct vmv_chunk_header *a, const struct vmv_chunk_header *b) {
    return a->type == b->type && a->flags == b->flags && a->stored == b->stored && a->raw == b->raw &&
           a->t_first == b->t_first && a->t_last == b->t_last && a->first == b->first && a->count == b->count &&
           a->hash == b->hash;
}

static const char *index_error(struct check *check, struct vmv_in *in) {
    struct vmv_index_head head;
    struct vmv_index_codec codec = {0};
    struct vmv_end totals;
    const struct vmv_reader *reader = check->reader;
    if (!vmv_index_decode(in, &head, &totals)) return "its list is malformed";
    size_t here = (size_t)(check->chunk - reader->chunks);
    if (head.count > here || reader->chunks[here - head.count].offset != head.base)
        return "it does not list the chunks before it";
    for (size_t i = here - head.count; i < here; i++) {
        struct vmv_chunk_header entry;
        if (!vmv_index_entry_decode(&codec, in, &entry)) return "its list is malformed";
        if (!same_entry(&entry, &reader->chunks[i].header)) return "it lists a chunk that is not so";
    }
    return vmv_in_left(in) == 0 ? NULL : "its list is malformed";
}

static void check_index(struct check *check) {
    size_t length;
    uint8_t *payload = vmv_reader_payload(check->reader, check->chunk, &length);
    struct vmv_in in = {.data = payload, .length = length};
    const char *what = payload ? index_error(check, &in) : NULL;
    if (!payload)
        wrong_as_read(check, "damaged");
    else if (what)
        wrong(check, what);
    check->newest_index = check->chunk->offset;
    free(payload);
}

// META and END decode; NOTES and unknown types only inflate.
static void check_payload(struct check *check) {
    struct vmv_arena arena = {0};
    struct vmv_meta meta;
    struct vmv_end end;
    size_t length;
    uint8_t *payload = vmv_reader_payload(check->reader, check->chunk, &length);
    struct vmv_in in = {.data = payload, .length = length};
    uint32_t type = check->chunk->header.type;
    if (!payload)
        wrong_as_read(check, "damaged");
    else if (type == VMV_CHUNK_META && !vmv_meta_decode(&in, &arena, &meta))
        wrong(check, "its contents are malformed");
    else if (type == VMV_CHUNK_END && !vmv_end_decode(&in, &end))
        wrong(check, "its contents are malformed");
    check->ended = check->ended || (type == VMV_CHUNK_END && payload);
    free(payload);
    vmv_arena_free(&arena);
}

static void check_unknown(struct check *check) {
    uint8_t *stored = vmv_reader_stored(check->reader, check->chunk); // how it is laid out is not for us to judge
    if (!stored) wrong_as_read(check, "damaged");
    free(stored);
}

// What a header may say for its type.
static const char *header_error(const struct check *check) {
    const struct vmv_chunk_header *header = &check->chunk->header;
    bool first = check->chunk == check->reader->chunks,
         numbered = header->type >= VMV_CHUNK_EVENTS && header->type <= VMV_CHUNK_OBJECT;
    if (header->t_first > header->t_last) return "its time ends before it begins";
    if ((header->type == VMV_CHUNK_META) != first) return "META stands at the beginning and only there";
    if (header->type >= VMV_CHUNK_TYPE_COUNT || numbered) return NULL;
    if (header->count != 0 || (header->type != VMV_CHUNK_STATE && header->first != 0))
        return "it numbers what has no numbers";
    return NULL;
}

// The header in the file is the one in the list (which may come from an INDEX), and the trailer closes it.
static void check_frame(struct check *check) {
    struct vmv_chunk there;
    if (!vmv_reader_chunk_at(check->reader, check->chunk->offset, &there))
        wrong(check, "its header is damaged");
    else if (!same_entry(&there.header, &check->chunk->header))
        wrong(check, "its header is not what the INDEX says");
    else if (there.header.back != check->newest_index)
        wrong(check, "its back link does not lead to the newest INDEX before it");
    if (!vmv_reader_trailer_sound(check->reader, check->chunk)) wrong(check, "its trailer is damaged");
    const char *what = header_error(check);
    if (what) wrong(check, what);
}

static void check_chunk(struct check *check) {
    check_frame(check);
    check->reader->error[0] = 0;
    switch (check->chunk->header.type) {
    case VMV_CHUNK_EVENTS:
        check_events(check);
        break;
    case VMV_CHUNK_PAGES:
        check_numbers(check, &check->contents);
        break;
    case VMV_CHUNK_STACKS:
        check_numbers(check, &check->stacks);
        break;
    case VMV_CHUNK_REGS:
        check_numbers(check, &check->regs);
        break;
    case VMV_CHUNK_OBJECT:
        if (check->chunk->header.flags & VMV_CHUNKF_BLOCKS)
            check_slice(check);
        else
            check_identity(check);
        break;
    case VMV_CHUNK_STATE:
        check_state(check);
        break;
    case VMV_CHUNK_SUMMARY:
        check_summary(check);
        break;
    case VMV_CHUNK_INDEX:
        check_index(check);
        break;
    case VMV_CHUNK_META:
    case VMV_CHUNK_NOTES:
    case VMV_CHUNK_END:
        check_payload(check);
        break;
    default:
        check_unknown(check);
        break;
    }
}

struct vmv_verify vmv_reader_verify(struct vmv_reader *reader, vmv_verify_report *report, void *user) {
    struct check check = {.reader = reader,
                          .report = report,
                          .user = user,
                          .contents = VMV_CONTENT_FIRST,
                          .stacks = 1,
                          .regs = 1,
                          .objects = 1};
    uint64_t at = VMV_FILE_HEADER_BYTES;
    check.embedded = calloc(reader->count + 1, sizeof *check.embedded); // there are no more objects than chunks
    if (!check.embedded) abort();
    for (size_t i = 0; i < reader->count; i++) {
        check.chunk = &reader->chunks[i];
        if (check.chunk->offset != at) wrong_at(&check, at, "unknown", "damaged up to the next chunk");
        check_chunk(&check);
        at = vmv_chunk_end(check.chunk);
    }
    free(check.embedded);
    check.result.chunks = reader->count;
    check.result.bytes = reader->size;
    check.result.complete = check.ended && reader->end.complete && at == reader->size;
    check.result.ok = check.result.errors == 0;
    return check.result;
}
