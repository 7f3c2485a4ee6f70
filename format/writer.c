#include "writer.h"
#include "summary.h"
#include "writer_blobs.h"
#include "writer_events.h"
#include "writer_objects.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    PAGES_BLOCK = 64 << 10,
    PAGES_CHUNK = 2 << 20,
    STACKS_BLOCK = 512 << 10,
    STACKS_CHUNK = 4 << 20,
    REGS_BLOCK = 64 << 10,
    REGS_CHUNK = 1 << 20,
    PAGES_DEDUP = 32 << 20,
    SMALL_DEDUP = 4 << 20,
    STATE_EVENTS = 131072,
    STATE_LEAST = 1 << 20,
    STATE_MOST = 4 << 20,
    SUMMARY_BYTES = 64 << 10,
    SUMMARY_CHUNKS = 64,
    CHUNK_NS = 200000000,
};

struct vmv_writer {
    struct vmv_output output;
    struct vmv_world *world;
    struct vmv_summary_builder *summary;
    struct vmv_open_events events;
    struct vmv_blobs pages, stacks, regs;
    struct vmv_objects objects;
    uint64_t t, seq; // of the last event, ns; of the next one
    uint64_t raw_since_state, last_state, state_seq;
    unsigned chunks_since_summary;
    uint64_t summary_t; // ns, first event of the open summary
    uint64_t page_calls;
    bool ended;
};

static void make_id(uint8_t id[16], const struct vmv_writer_options *options) {
    static const uint8_t none[16];
    memcpy(id, options->id, 16);
    if (memcmp(id, none, 16) != 0) return;
    if (getrandom(id, 16, 0) == 16) return;
    uint64_t now[2] = {(uint64_t)getpid(), (uint64_t)(uintptr_t)id};
    memcpy(id, now, 16);
}

static void start_blobs(struct vmv_writer *writer, const struct vmv_writer_options *options) {
    size_t dedup = options->dedup_bytes ? options->dedup_bytes : PAGES_DEDUP;
    size_t small = dedup < SMALL_DEDUP ? dedup : SMALL_DEDUP;
    vmv_blobs_init(&writer->pages, &writer->output,
                   &(struct vmv_blobs_setup){VMV_CHUNK_PAGES, 2, PAGES_BLOCK, PAGES_CHUNK, dedup, VMV_CONTENT_FIRST});
    vmv_blobs_init(&writer->stacks, &writer->output,
                   &(struct vmv_blobs_setup){VMV_CHUNK_STACKS, 3, STACKS_BLOCK, STACKS_CHUNK, small, 1});
    vmv_blobs_init(&writer->regs, &writer->output,
                   &(struct vmv_blobs_setup){VMV_CHUNK_REGS, 3, REGS_BLOCK, REGS_CHUNK, small, 1});
}

static void write_meta(struct vmv_writer *writer, const struct vmv_meta *meta) {
    struct vmv_out payload = {0};
    vmv_meta_encode(&payload, meta);
    struct vmv_chunk_header header = {.type = VMV_CHUNK_META};
    vmv_output_pack(&writer->output, &header, (struct vmv_part){0}, (struct vmv_part){payload.data, payload.length});
    vmv_out_free(&payload);
}

static void destroy(struct vmv_writer *writer) {
    vmv_output_free(&writer->output);
    vmv_open_events_free(&writer->events);
    vmv_blobs_free(&writer->pages);
    vmv_blobs_free(&writer->stacks);
    vmv_blobs_free(&writer->regs);
    vmv_objects_free(&writer->objects);
    vmv_summary_builder_destroy(writer->summary);
    vmv_world_destroy(writer->world);
    free(writer);
}

struct vmv_writer *vmv_writer_create_with(int fd, const struct vmv_meta *meta, const struct vmv_writer_options *options,
                                          char *error, size_t error_size) {
    struct vmv_file_header header = {.major = VMV_FORMAT_MAJOR, .minor = VMV_FORMAT_MINOR};
    struct vmv_writer *writer = calloc(1, sizeof *writer);
    if (!writer) abort();
    assert(meta->page_size >= 512 && (meta->page_size & (meta->page_size - 1)) == 0);
    make_id(header.id, options);
    writer->world = vmv_world_create(meta->page_size);
    writer->summary = vmv_summary_builder_create();
    writer->output.store = options->store;
    writer->objects.output = &writer->output;
    start_blobs(writer, options);
    if (vmv_output_open(&writer->output, fd, &header)) write_meta(writer, meta);
    if (!writer->output.failed) return writer;
    snprintf(error, error_size, "%s", writer->output.trouble);
    destroy(writer);
    return NULL;
}

struct vmv_writer *vmv_writer_create(int fd, const struct vmv_meta *meta, char *error, size_t error_size) {
    return vmv_writer_create_with(fd, meta, &(struct vmv_writer_options){0}, error, error_size);
}

static void write_state(struct vmv_writer *writer) {
    struct vmv_out payload = {0};
    vmv_world_encode(&payload, writer->world);
    struct vmv_chunk_header header = {
        .type = VMV_CHUNK_STATE, .t_first = writer->t, .t_last = writer->t, .first = writer->seq};
    if (payload.length <= VMV_RAW_LIMIT)
        vmv_output_pack(&writer->output, &header, (struct vmv_part){0},
                        (struct vmv_part){payload.data, payload.length});
    writer->last_state = payload.length;
    writer->raw_since_state = 0;
    writer->state_seq = writer->seq;
    vmv_out_free(&payload);
}

static void state_if_due(struct vmv_writer *writer) {
    uint64_t due = writer->last_state < STATE_MOST ? writer->last_state : STATE_MOST;
    bool enough = writer->raw_since_state >= (due > STATE_LEAST ? due : STATE_LEAST);
    if (enough || writer->seq - writer->state_seq >= STATE_EVENTS) write_state(writer);
}

static void write_summary(struct vmv_writer *writer) {
    struct vmv_out payload = {0};
    vmv_summary_builder_flush(writer->summary, &payload);
    struct vmv_chunk_header header = {.type = VMV_CHUNK_SUMMARY, .t_first = writer->summary_t, .t_last = writer->t};
    vmv_output_pack(&writer->output, &header, (struct vmv_part){0}, (struct vmv_part){payload.data, payload.length});
    writer->chunks_since_summary = 0;
    vmv_out_free(&payload);
}

// Contents first, so that no event of the file refers to something that a cut may have taken.
static void close_blobs(struct vmv_writer *writer) {
    vmv_blobs_flush(&writer->pages, writer->t);
    vmv_blobs_flush(&writer->stacks, writer->t);
    vmv_blobs_flush(&writer->regs, writer->t);
}

static void close_events(struct vmv_writer *writer) {
    struct vmv_end *totals = &writer->output.totals;
    if (writer->events.count == 0) return;
    close_blobs(writer);
    if (writer->chunks_since_summary++ == 0) writer->summary_t = writer->events.t_first;
    for (int type = 0; type < VMV_EV_TYPE_COUNT; type++) totals->events[type] += writer->events.counts[type];
    size_t raw = vmv_open_events_write(&writer->events, &writer->output);
    totals->raw_bytes += raw;
    totals->pages_captured = writer->page_calls;
    writer->raw_since_state += raw;
    bool summary_due =
        writer->chunks_since_summary >= SUMMARY_CHUNKS || vmv_summary_builder_size(writer->summary) > SUMMARY_BYTES;
    if (summary_due) write_summary(writer);
    state_if_due(writer);
    vmv_output_index_if_due(&writer->output);
}

uint64_t vmv_writer_event(struct vmv_writer *writer, const struct vmv_event *event) {
    if (writer->output.failed) return writer->seq;
    struct vmv_event copy = *event;
    if (copy.t < writer->t) copy.t = writer->t;
    if (writer->events.count > 0 && copy.t - writer->events.t_first >= CHUNK_NS) close_events(writer);
    copy.seq = writer->seq++; // after closing: a state written there comes before this event
    writer->t = copy.t;
    vmv_open_events_add(&writer->events, writer->world, &copy);
    vmv_summary_builder_before(writer->summary, writer->world, &copy);
    vmv_world_apply(writer->world, &copy);
    vmv_summary_builder_add(writer->summary, writer->world, &copy);
    if (vmv_open_events_full(&writer->events)) close_events(writer);
    return copy.seq;
}

const struct vmv_world *vmv_writer_world(const struct vmv_writer *writer) { return writer->world; }

uint64_t vmv_writer_page(struct vmv_writer *writer, const void *bytes) {
    size_t length = writer->world->page_size;
    writer->page_calls++;
    writer->output.totals.raw_bytes += length;
    if (vmv_bytes_are_zero(bytes, length) || writer->output.failed) return VMV_CONTENT_ZERO;
    return vmv_blobs_page(&writer->pages, bytes, length, writer->t);
}

uint64_t vmv_writer_stack(struct vmv_writer *writer, const void *regs, size_t regs_length, uint64_t sp,
                          const void *bytes, size_t length) {
    if (writer->output.failed) return 0;
    writer->output.totals.raw_bytes += regs_length + length;
    return vmv_blobs_stack(&writer->stacks, (struct vmv_part){regs, regs_length}, sp, (struct vmv_part){bytes, length},
                           writer->t);
}

uint64_t vmv_writer_regs(struct vmv_writer *writer, const void *general, size_t general_length, const void *extended,
                         size_t extended_length) {
    if (writer->output.failed) return 0;
    writer->output.totals.raw_bytes += general_length + extended_length;
    return vmv_blobs_regs(&writer->regs, (struct vmv_part){general, general_length},
                          (struct vmv_part){extended, extended_length}, writer->t);
}

uint32_t vmv_writer_object(struct vmv_writer *writer, const struct vmv_object_identity *identity, int fd) {
    return vmv_objects_add(&writer->objects, identity, fd, writer->t);
}

void vmv_writer_give_up_objects(struct vmv_writer *writer) { vmv_objects_give_up(&writer->objects); }

bool vmv_writer_idle(struct vmv_writer *writer) {
    if (writer->output.failed) return false;
    bool more = vmv_objects_slice(&writer->objects, writer->t);
    vmv_output_index_if_due(&writer->output);
    return more;
}

void vmv_writer_tick(struct vmv_writer *writer, uint64_t now) {
    if (writer->output.failed || writer->events.count == 0) return;
    if (now >= writer->events.t_first && now - writer->events.t_first >= CHUNK_NS) close_events(writer);
}

uint64_t vmv_writer_open_since(const struct vmv_writer *writer) {
    return writer->events.count > 0 ? writer->events.t_first : UINT64_MAX;
}

void vmv_writer_flush(struct vmv_writer *writer) {
    if (writer->output.failed) return;
    close_events(writer);
    close_blobs(writer);
}

static void write_end(struct vmv_writer *writer, struct vmv_end *end) {
    const struct vmv_end *totals = &writer->output.totals;
    struct vmv_out payload = {0};
    end->complete = true;
    if (end->duration_ns < writer->t) end->duration_ns = writer->t;
    end->pages_captured = writer->page_calls;
    end->raw_bytes = totals->raw_bytes;
    memcpy(end->events, totals->events, sizeof end->events);
    vmv_end_encode(&payload, end);
    struct vmv_chunk_header header = {.type = VMV_CHUNK_END, .t_first = end->duration_ns, .t_last = end->duration_ns};
    vmv_output_pack(&writer->output, &header, (struct vmv_part){0}, (struct vmv_part){payload.data, payload.length});
    vmv_out_free(&payload);
}

bool vmv_writer_complete(struct vmv_writer *writer, struct vmv_end *end) {
    if (writer->ended) return !writer->output.failed;
    writer->ended = true;
    close_events(writer);
    close_blobs(writer);
    vmv_objects_rest(&writer->objects, writer->t);
    if (writer->chunks_since_summary > 0) write_summary(writer);
    writer->output.totals.pages_captured = writer->page_calls;
    vmv_output_index_all(&writer->output);
    write_end(writer, end);
    end->complete = !writer->output.failed;
    return end->complete;
}

bool vmv_writer_finish(struct vmv_writer *writer, struct vmv_end *end) {
    bool complete = vmv_writer_complete(writer, end);
    vmv_output_close(&writer->output);
    complete = complete && !writer->output.failed;
    end->complete = complete;
    destroy(writer);
    return complete;
}

const char *vmv_writer_trouble(const struct vmv_writer *writer) {
    return writer->output.failed ? writer->output.trouble : NULL;
}

uint64_t vmv_writer_bytes(const struct vmv_writer *writer) { return writer->output.at; }

static uint64_t blob_bytes(const struct vmv_blobs *blobs) { return blobs->packed.length + blobs->block.length; }

uint64_t vmv_writer_bytes_due(const struct vmv_writer *writer) {
    return writer->output.at + blob_bytes(&writer->pages) + blob_bytes(&writer->stacks) + blob_bytes(&writer->regs) +
           writer->events.raw.length / 2;
}

uint64_t vmv_writer_pages(const struct vmv_writer *writer) { return writer->page_calls; }
