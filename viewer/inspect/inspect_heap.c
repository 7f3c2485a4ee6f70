// heap: the chunks of glibc's malloc at a moment.
#include "inspect.h"

#include "heap.h"
#include "inspect_help.h"
#include "inspect_table.h"

#include <stdio.h>
#include <string.h>

const char inspect_help_heap[] =
    "The heap of glibc's malloc (2.31 to 2.41) at the moment, from its bytes: arenas, and with --json or\n"
    "a range each chunk: where the program's memory begins (addr), its size with the header, and its\n"
    "state: in-use, free, tcache or fastbin (kept for reuse), top (not yet given out), mmapped. With a\n"
    "place: the chunk around it, and who touched its page first.\n"
    "What cannot be is called corrupt, with its address and why; where a thread is inside malloc at\n"
    "the moment, or bytes are not known, that is said instead.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect heap trace.vmv --at 1.5s\n"
    "  vmvis-inspect heap trace.vmv 0x55d0c4f1a2b0\n"
    "  vmvis-inspect heap trace.vmv --json | grep -c '\"state\":\"in-use\"'\n";

enum { HEADER = 16 };

struct heap_put {
    struct inspect *in;
    const struct heap *heap;
    uint32_t space;
    struct table table;
    uint64_t left;
};

static const struct heap_trouble *corruption_in(const struct heap *heap, const struct heap_chunk *chunk) {
    for (size_t i = 0; i < heap->trouble_count; i++) {
        const struct heap_trouble *trouble = &heap->troubles[i];
        if (trouble->kind == HEAP_CORRUPT && trouble->addr - chunk->addr < chunk->size) return trouble;
    }
    return NULL;
}

static void chunk_json(struct heap_put *put, const struct heap_chunk *chunk, bool touches) {
    struct json *json = &put->in->json;
    struct heap_touch touch;
    const struct heap_trouble *corrupt = corruption_in(put->heap, chunk);
    bool of_arena = chunk->arena < put->heap->arena_count;
    json_begin(json);
    json_put_hex(json, "addr", chunk->addr + HEADER);
    json_put_hex(json, "chunk", chunk->addr);
    json_put_unsigned(json, "size", chunk->size);
    json_put_text(json, "state", heap_state_word(chunk->state));
    json_put_text(json, "bin", chunk->bin[0] ? chunk->bin : NULL);
    json_put_known_hex(json, "arena", of_arena, of_arena ? put->heap->arenas[chunk->arena].addr : 0);
    json_key(json, "first_touch");
    if (touches && heap_first_touch(put->in->decode, put->space, chunk->addr + HEADER, &touch)) {
        json_begin(json);
        json_put_unsigned(json, "t", touch.t);
        json_put_signed(json, "tid", touch.tid);
        json_put_known_hex(json, "pc", touch.pc != 0, touch.pc);
        json_end(json);
    } else {
        json_null(json);
    }
    json_put_text(json, "corrupt", corrupt ? corrupt->text : NULL);
    json_line(json);
}

static void trouble_json(struct json *json, const struct heap_trouble *trouble) {
    json_begin(json);
    json_put_hex(json, "addr", trouble->addr);
    json_put_null(json, "size");
    json_put_text(json, "state", "unknown");
    json_put_text(json, trouble->kind == HEAP_CORRUPT ? "corrupt" : "why", trouble->text);
    json_line(json);
}

static void chunk_row(struct heap_put *put, const struct heap_chunk *chunk) {
    const struct heap_trouble *corrupt = corruption_in(put->heap, chunk);
    table_cell(&put->table, "0x%llx", (unsigned long long)(chunk->addr + HEADER));
    table_cell(&put->table, "%llu", (unsigned long long)chunk->size);
    table_cell(&put->table, "%s", heap_state_word(chunk->state));
    table_cell(&put->table, "%s", chunk->bin);
    table_cell(&put->table, "%s", corrupt ? corrupt->text : "");
}

// ------------------------------------------------------------------------------------------------- summary

struct tally {
    uint64_t chunks[HEAP_STATES], bytes[HEAP_STATES];
};

static struct tally tally_of(const struct heap *heap, uint32_t arena) {
    struct tally tally = {0};
    for (size_t i = 0; i < heap->chunk_count; i++) {
        const struct heap_chunk *chunk = &heap->chunks[i];
        if (chunk->arena != arena) continue;
        tally.chunks[chunk->state]++;
        tally.bytes[chunk->state] += chunk->size;
    }
    return tally;
}

static void put_tally(struct heap_put *put, const char *name, uint64_t addr, const struct tally *tally) {
    struct inspect_out *out = &put->in->out;
    inspect_out_format(out, "%s", name);
    if (addr) inspect_out_format(out, " at 0x%llx", (unsigned long long)addr);
    inspect_out_text(out, "\n");
    for (uint8_t state = 0; state < HEAP_STATES; state++)
        if (tally->chunks[state])
            inspect_out_format(out, "  %-8s %8llu chunks  %12llu bytes\n", heap_state_word(state),
                               (unsigned long long)tally->chunks[state], (unsigned long long)tally->bytes[state]);
}

static void put_summary(struct heap_put *put) {
    const struct heap *heap = put->heap;
    struct inspect_out *out = &put->in->out;
    inspect_out_format(out, "glibc %s, %zu chunks\n", heap->version, heap->chunk_count);
    for (uint32_t i = 0; i < heap->arena_count; i++) {
        struct tally tally = tally_of(heap, i);
        const struct heap_arena *arena = &heap->arenas[i];
        put_tally(put, arena->main ? "main arena" : "arena", arena->addr, &tally);
    }
    struct tally mapped = tally_of(heap, UINT32_MAX);
    if (mapped.chunks[HEAP_MMAPPED]) put_tally(put, "chunks that are mappings of their own", 0, &mapped);
    if (heap->busy)
        inspect_out_text(out, "a thread is inside malloc or free: what does not fit together is in motion\n");
    if (heap->unknown) inspect_out_format(out, "not walked: %llu bytes\n", (unsigned long long)heap->unknown);
}

static void put_troubles(struct heap_put *put) {
    for (size_t i = 0; i < put->heap->trouble_count; i++) {
        const struct heap_trouble *trouble = &put->heap->troubles[i];
        if (put->in->options.json) {
            trouble_json(&put->in->json, trouble);
        } else {
            inspect_out_format(&put->in->out, "%s at 0x%llx: %s\n",
                               trouble->kind == HEAP_CORRUPT ? "corrupt" : "not known",
                               (unsigned long long)trouble->addr, trouble->text);
        }
    }
}

// ------------------------------------------------------------------------------------------------- chunks

static void put_chunk(struct heap_put *put, const struct heap_chunk *chunk, bool touches) {
    if (put->left == 0) return;
    put->left--;
    if (put->in->options.json) {
        chunk_json(put, chunk, touches);
    } else {
        chunk_row(put, chunk);
    }
}

static void put_all(struct heap_put *put) {
    for (size_t i = 0; i < put->heap->chunk_count && put->in->out.error == 0; i++)
        put_chunk(put, &put->heap->chunks[i], false);
}

static uint64_t put_range(struct heap_put *put, const struct inspect_range *range) {
    uint64_t found = 0;
    bool one = !range->whole && !strchr(range->text, ',');
    uint64_t end = one ? range->addr + 1 : range->addr + range->length;
    for (size_t i = 0; i < put->heap->chunk_count && put->in->out.error == 0; i++) {
        const struct heap_chunk *chunk = &put->heap->chunks[i];
        if (chunk->addr >= end || chunk->addr + chunk->size <= range->addr) continue;
        put_chunk(put, chunk, one);
        found++;
    }
    return found;
}

static void put_touch(struct heap_put *put, const struct inspect_range *range) {
    struct heap_touch touch;
    if (!heap_first_touch(put->in->decode, put->space, range->addr, &touch)) return;
    inspect_out_format(&put->in->out, "0x%llx: page first touched at %.6f s by thread %d, pc 0x%llx\n",
                       (unsigned long long)range->addr, (double)touch.t / 1e9, touch.tid, (unsigned long long)touch.pc);
}

static int put_ranges(struct heap_put *put, const struct inspect_ranges *ranges) {
    uint64_t found = 0;
    for (size_t i = 0; i < ranges->count; i++) found += put_range(put, &ranges->items[i]);
    if (!found)
        return inspect_fail(put->in, INSPECT_ABSENT, "%s: %s: in no chunk of the heap", put->in->options.trace,
                            ranges->items[0].text);
    return INSPECT_OK;
}

static int answer(struct heap_put *put, const struct inspect_ranges *ranges) {
    int status = INSPECT_OK;
    bool json = put->in->options.json;
    table_begin(&put->table, "lrlll", "ADDRESS|SIZE|STATE|BIN|");
    if (ranges->count) {
        status = put_ranges(put, ranges);
    } else if (json) {
        put_all(put);
    } else {
        put_summary(put);
    }
    if (json || !ranges->count || status != INSPECT_OK) {
        table_drop(&put->table);
    } else {
        table_end(&put->table, &put->in->out, 0);
    }
    for (size_t i = 0; i < ranges->count && !json && status == INSPECT_OK; i++)
        if (!ranges->items[i].whole) put_touch(put, &ranges->items[i]);
    if (!ranges->count) put_troubles(put);
    return status;
}

int inspect_heap(struct inspect *in) {
    struct inspect_moment moment;
    struct inspect_ranges ranges;
    char error[128];
    int status;
    if (!inspect_select(in, &moment, &status)) return status;
    if (!inspect_ranges_parse(in, moment.space->id, &ranges, &status)) return status;
    struct heap *heap = decode_heap(in->decode, moment.space->id, error, sizeof error);
    struct heap_put put = {.in = in, .heap = heap, .space = moment.space->id, .left = in->options.limit};
    status = heap ? answer(&put, &ranges) : inspect_fail(in, INSPECT_ABSENT, "%s: %s", in->options.trace, error);
    heap_destroy(heap);
    inspect_ranges_free(&ranges);
    return status;
}
