#include "summary.h"

#include <stdlib.h>
#include <string.h>

#include "codec.h"
#include "summary_bucket.h"
#include "world_private.h"

enum { MOST_LEAVES = 1 << 16, MOST_SPREAD = 1024 };

struct closed_bucket {
    struct vmv_bucket bucket;
    size_t thread_room;
};

struct vmv_summary_builder {
    uint64_t index;    // of the bucket time that is open
    uint64_t earliest; // buckets before it are written
    const struct vmv_world *world;
    struct open_bucket *open; // one a space; [0, open_count) are in use
    size_t open_count, open_room, recent;
    struct vmv_places open_places; // space -> place in open
    size_t leaves_left;            // that the open buckets may still note pages of
    struct closed_bucket *closed;  // by index
    size_t closed_count, closed_room;
    size_t closed_bytes;      // about what they will take
    struct vmv_places seen;   // tid -> ns of its last THREAD event
    struct vmv_out landmarks; // encoded
    struct vmv_codec codec;
    uint64_t landmark_count;
};

struct vmv_summary_builder *vmv_summary_builder_create(void) {
    struct vmv_summary_builder *builder = calloc(1, sizeof *builder);
    if (!builder) abort();
    builder->leaves_left = MOST_LEAVES;
    return builder;
}

static void free_closed(struct vmv_summary_builder *builder) {
    for (size_t i = 0; i < builder->closed_count; i++) {
        free(builder->closed[i].bucket.regions);
        free(builder->closed[i].bucket.threads);
    }
    builder->closed_count = builder->closed_bytes = 0;
}

void vmv_summary_builder_destroy(struct vmv_summary_builder *builder) {
    if (!builder) return;
    free_closed(builder);
    for (size_t i = 0; i < builder->open_room; i++) open_bucket_free(&builder->open[i]);
    free(builder->open);
    free(builder->closed);
    vmv_places_free(&builder->seen);
    vmv_places_free(&builder->open_places);
    vmv_out_free(&builder->landmarks);
    free(builder);
}

// --- opening and closing

static struct closed_bucket *insert_closed(struct vmv_summary_builder *builder, size_t at) {
    if (builder->closed_count == builder->closed_room) {
        builder->closed_room = builder->closed_room ? builder->closed_room * 2 : 64;
        builder->closed = realloc(builder->closed, builder->closed_room * sizeof *builder->closed);
        if (!builder->closed) abort();
    }
    struct closed_bucket *slot = &builder->closed[at];
    memmove(slot + 1, slot, (builder->closed_count - at) * sizeof *slot);
    builder->closed_count++;
    *slot = (struct closed_bucket){0};
    return slot;
}

static size_t bytes_of(const struct vmv_bucket *bucket) {
    return 24 + bucket->region_count * 10 + bucket->thread_count * 4;
}

static void close_all(struct vmv_summary_builder *builder, const struct vmv_world *world) {
    for (size_t i = 0; i < builder->open_count; i++) {
        struct open_bucket *open = &builder->open[i];
        open_bucket_close(open, vmv_world_space(world, open->bucket.space));
        struct closed_bucket *closed = insert_closed(builder, builder->closed_count);
        *closed = (struct closed_bucket){open->bucket, open->thread_room};
        builder->closed_bytes += bytes_of(&open->bucket);
        open_bucket_clear(open);
    }
    builder->open_count = builder->recent = 0;
    builder->leaves_left = MOST_LEAVES;
    vmv_places_clear(&builder->open_places);
}

static void advance(struct vmv_summary_builder *builder, const struct vmv_world *world, uint64_t t) {
    builder->world = world;
    if (t >> VMV_BUCKET_SHIFT <= builder->index) return;
    close_all(builder, world);
    builder->index = t >> VMV_BUCKET_SHIFT;
}

static struct open_bucket *open_for(struct vmv_summary_builder *builder, uint32_t space) {
    if (builder->recent < builder->open_count && builder->open[builder->recent].bucket.space == space)
        return &builder->open[builder->recent];
    size_t place = vmv_places_get(&builder->open_places, space);
    if (place != SIZE_MAX) return &builder->open[builder->recent = place];
    if (builder->open_count == builder->open_room) {
        size_t room = builder->open_room ? builder->open_room * 2 : 4;
        builder->open = realloc(builder->open, room * sizeof *builder->open);
        if (!builder->open) abort();
        memset(builder->open + builder->open_room, 0, (room - builder->open_room) * sizeof *builder->open);
        builder->open_room = room;
    }
    vmv_places_put(&builder->open_places, space, builder->open_count);
    struct open_bucket *open = &builder->open[builder->recent = builder->open_count++];
    open->bucket.index = builder->index;
    open->bucket.space = space;
    return open;
}

// --- counting

static void add_count(uint32_t *count) {
    if (*count < UINT32_MAX) ++*count;
}

// Bits of the kinds of memory in a range; of the first mappings where there are many.
static unsigned kinds_in(const struct vmv_space *space, uint64_t start, uint64_t end) {
    enum { MOST = 64 };
    size_t at = vmv_space_lower_bound(space, start), stop = at + MOST < space->map_count ? at + MOST : space->map_count;
    unsigned kinds = 0;
    for (; at < stop && space->maps[at].start < end; at++) kinds |= 1u << vmv_mapping_kind(space, &space->maps[at]);
    return kinds;
}

// The addresses that a memory call concerns, as far as the call names them.
static struct address_range range_of(const struct vmv_space *space, const struct vmv_event *event, bool before) {
    struct address_range none = {0}, range = none;
    uint64_t addr = event->addr, len = event->len;
    switch (event->type) {
    case VMV_EV_MMAP:
    case VMV_EV_SHMAT:
        addr = (uint64_t)event->ret;
        break;
    case VMV_EV_MREMAP:
        addr = before ? event->old_addr : (uint64_t)event->ret;
        len = before ? event->old_len : event->len;
        break;
    case VMV_EV_BRK:
        addr = event->old_addr < (uint64_t)event->ret ? event->old_addr : (uint64_t)event->ret;
        len = (event->old_addr ^ (uint64_t)event->ret ^ addr) - addr;
        if (!event->old_addr) return none;
        break;
    case VMV_EV_PUNCH:
    case VMV_EV_TRUNCATE:
        return none;
    default:
        break;
    }
    return vmv_space_clip(space, addr, len, &range.start, &range.end) && event->ret >= 0 ? range : none;
}

static void add_tick(struct open_bucket *open, const struct vmv_space *space, const struct vmv_event *event) {
    enum vmv_tick tick = vmv_event_tick(event->type);
    if (tick == VMV_TICK_COUNT) return;
    add_count(&open->bucket.ticks[tick]);
    if (tick > VMV_TICK_MADVISE) return;
    struct address_range range = range_of(space, event, false);
    open->bucket.tick_kinds[tick] |= (uint8_t)kinds_in(space, range.start, range.end);
    open_bucket_mark(open, range.start, range.end);
}

static void add_pages(struct vmv_summary_builder *builder, struct open_bucket *open, const struct vmv_space *space,
                      const struct vmv_event *event, bool written) {
    const uint64_t many = 1 << 16; // pages; so many in one go are only counted
    uint64_t start, end;
    uint64_t length = event->type == VMV_EV_PAGES ? event->len : 1;
    if (!vmv_space_clip(space, event->addr, length, &start, &end)) return;
    struct vmv_page_span span = vmv_space_span(space, start, end);
    if (span.end - span.first > many) {
        open->pages.uncounted += written ? span.end - span.first : 0;
        return open_bucket_mark(open, start, end);
    }
    page_set_add(&open->pages, span.first, span.end - span.first, written, &builder->leaves_left);
}

static void add_fault(struct vmv_summary_builder *builder, struct open_bucket *open, const struct vmv_space *space,
                      const struct vmv_event *event) {
    const struct vmv_mapping *map = vmv_space_find(space, event->addr);
    add_count(&open->bucket.faults[map ? vmv_mapping_kind(space, map) : VMV_KIND_ANONYMOUS]);
    add_pages(builder, open, space, event, event->kind == VMV_FAULT_WRITE || event->access == VMV_ACCESS_WRITE);
}

static void add_to_space(struct vmv_summary_builder *builder, const struct vmv_space *space,
                         const struct vmv_event *event) {
    struct open_bucket *open = open_for(builder, space->id);
    if (event->type == VMV_EV_FAULT) return add_fault(builder, open, space, event);
    if (event->type == VMV_EV_PAGES)
        return add_pages(builder, open, space, event, event->page_flags & VMV_PAGEF_WRITTEN);
    if (event->type == VMV_EV_MAPS) return open_bucket_mark(open, event->addr, event->addr + event->len);
    add_tick(open, space, event);
}

// --- time on processors

static const struct vmv_bucket *newest_of(const struct vmv_summary_builder *builder, size_t before, uint32_t space) {
    for (size_t i = before; i-- > 0;)
        if (builder->closed[i].bucket.space == space) return &builder->closed[i].bucket;
    return NULL;
}

// The closed bucket of that time and space, made if nothing else happened in it.
static struct closed_bucket *closed_for(struct vmv_summary_builder *builder, uint64_t index, uint32_t space) {
    size_t at = builder->closed_count;
    for (; at && builder->closed[at - 1].bucket.index >= index; at--) {
        const struct vmv_bucket *bucket = &builder->closed[at - 1].bucket;
        if (bucket->index == index && bucket->space == space) return &builder->closed[at - 1];
    }
    const struct vmv_bucket *newest = newest_of(builder, at, space);
    const struct vmv_space *now = vmv_world_space(builder->world, space);
    uint64_t virtual_bytes = newest ? newest->virtual_bytes : now ? now->virtual_bytes : 0;
    uint64_t resident = newest ? newest->resident : now ? now->resident_pages : 0;
    struct closed_bucket *closed = insert_closed(builder, at);
    closed->bucket = (struct vmv_bucket){.index = index, .space = space, .virtual_bytes = virtual_bytes};
    closed->bucket.resident = (uint32_t)(resident < UINT32_MAX ? resident : UINT32_MAX);
    builder->closed_bytes += bytes_of(&closed->bucket);
    return closed;
}

static void credit(struct vmv_summary_builder *builder, uint64_t index, uint32_t space, int32_t tid, uint64_t run_us) {
    if (!run_us) return;
    if (index >= builder->index) {
        struct open_bucket *open = open_for(builder, space);
        return bucket_add_thread(&open->bucket, &open->thread_room, tid, run_us);
    }
    struct closed_bucket *closed = closed_for(builder, index, space);
    bucket_add_thread(&closed->bucket, &closed->thread_room, tid, run_us);
    builder->closed_bytes += 4;
}

static uint64_t seen_before(struct vmv_summary_builder *builder, const struct vmv_world *world,
                            const struct vmv_event *event) {
    size_t seen = vmv_places_get(&builder->seen, (uint32_t)event->tid);
    const struct vmv_thread *thread = vmv_world_thread(world, event->tid);
    uint64_t from = thread ? thread->started : event->t;
    if (seen != SIZE_MAX && seen > from) from = seen;
    vmv_places_put(&builder->seen, (uint32_t)event->tid, (size_t)event->t);
    return from < event->t ? from : event->t;
}

// The time since the frame before is spread evenly over the buckets in between; a little of it over many is not.
static void add_run(struct vmv_summary_builder *builder, const struct vmv_world *world, const struct vmv_event *event) {
    const uint64_t least_us = 16;
    const uint64_t longest = (uint64_t)MOST_SPREAD << VMV_BUCKET_SHIFT;
    uint64_t from = seen_before(builder, world, event), given = 0;
    if (event->t - from > longest) from = event->t - longest;
    uint64_t span = event->t - from;
    uint64_t run_us = (event->run_ns < span ? event->run_ns : span) / 1000;
    uint64_t first = from >> VMV_BUCKET_SHIFT, last = event->t >> VMV_BUCKET_SHIFT;
    if (first < builder->earliest) first = builder->earliest;
    if (first >= last || run_us < (last - first) * least_us)
        return credit(builder, last, event->space, event->tid, run_us);
    for (uint64_t index = first; index <= last; index++) {
        uint64_t end = (index + 1) << VMV_BUCKET_SHIFT;
        double share = end < event->t ? (double)(end - from) / (double)span : 1;
        uint64_t due = (uint64_t)((double)run_us * share);
        credit(builder, index, event->space, event->tid, due - given);
        given = due;
    }
}

// --- events

static void add_landmark(struct vmv_summary_builder *builder, const struct vmv_event *event) {
    struct vmv_event copy = *event;
    copy.argv = NULL;
    copy.argc = 0;
    copy.stack = 0;
    vmv_event_encode(&builder->codec, &builder->landmarks, &copy);
    builder->landmark_count++;
}

static bool changes_space(enum vmv_event_type type) {
    switch (type) {
    case VMV_EV_FAULT:
    case VMV_EV_PAGES:
    case VMV_EV_MAPS:
    case VMV_EV_SPACE:
        return true;
    default:
        return vmv_event_tick(type) != VMV_TICK_COUNT;
    }
}

void vmv_summary_builder_before(struct vmv_summary_builder *builder, const struct vmv_world *world,
                                const struct vmv_event *event) {
    advance(builder, world, event->t);
    bool takes = event->type == VMV_EV_MUNMAP || event->type == VMV_EV_SHMDT || event->type == VMV_EV_MREMAP ||
                 event->type == VMV_EV_BRK;
    const struct vmv_space *space = takes ? vmv_world_space(world, event->space) : NULL;
    if (!space) return;
    struct address_range range = range_of(space, event, true);
    struct open_bucket *open = open_for(builder, event->space);
    open->bucket.tick_kinds[vmv_event_tick(event->type)] |= (uint8_t)kinds_in(space, range.start, range.end);
}

void vmv_summary_builder_add(struct vmv_summary_builder *builder, const struct vmv_world *world,
                             const struct vmv_event *event) {
    advance(builder, world, event->t);
    if (vmv_event_is_landmark(event->type)) add_landmark(builder, event);
    const struct vmv_space *space = vmv_world_space(world, event->space);
    const struct vmv_space *other = vmv_world_space(world, event->child_space);
    bool two = event->type == VMV_EV_FORK || event->type == VMV_EV_EXEC; // the child's, the one that was left
    if (two && other && other != space) open_for(builder, other->id);
    if (event->type == VMV_EV_THREAD && space) add_run(builder, world, event);
    if (space && changes_space(event->type)) add_to_space(builder, space, event);
}

size_t vmv_summary_builder_size(const struct vmv_summary_builder *builder) {
    return 16 + builder->closed_bytes + builder->landmarks.length;
}

static int by_index_and_space(const void *a, const void *b) {
    const struct vmv_bucket *x = a, *y = b;
    if (x->index != y->index) return x->index < y->index ? -1 : 1;
    return x->space < y->space ? -1 : x->space > y->space;
}

void vmv_summary_builder_flush(struct vmv_summary_builder *builder, struct vmv_out *out) {
    if (builder->world) close_all(builder, builder->world);
    struct vmv_bucket *buckets = malloc((builder->closed_count + 1) * sizeof *buckets);
    if (!buckets) abort();
    for (size_t i = 0; i < builder->closed_count; i++) buckets[i] = builder->closed[i].bucket;
    qsort(buckets, builder->closed_count, sizeof *buckets, by_index_and_space);
    vmv_buckets_encode(out, buckets, builder->closed_count);
    vmv_out_varint(out, builder->landmark_count);
    vmv_out_bytes(out, builder->landmarks.data, builder->landmarks.length);
    free(buckets);
    free_closed(builder);
    builder->landmarks.length = 0;
    builder->landmark_count = 0;
    builder->codec = (struct vmv_codec){0};
    builder->earliest = builder->index;
}
