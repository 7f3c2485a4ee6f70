// SUMMARY as bytes (docs/FORMAT-encodings.md).
#include "codec.h"
#include "codec_private.h"
#include "summary.h"
#include "summary_bucket.h"

enum { SUMMARY_VERSION = 1, LEAST_BUCKET = 9, LEAST_REGION = 4, LEAST_THREAD = 2, LEAST_LANDMARK = 5 };

// --- writing

// Numbers of which most are 0: which are not, then those.
static void out_sparse(struct vmv_out *out, const uint32_t *values, unsigned count) {
    uint64_t present = 0;
    for (unsigned i = 0; i < count; i++) present |= (uint64_t)(values[i] != 0) << i;
    vmv_out_varint(out, present);
    for (unsigned i = 0; i < count; i++)
        if (values[i]) vmv_out_varint(out, values[i]);
}

static void out_bucket(struct vmv_out *out, const struct vmv_bucket *bucket, uint64_t *index) {
    vmv_out_varint(out, bucket->index - *index);
    *index = bucket->index;
    vmv_out_varint(out, bucket->space);
    vmv_out_size(out, bucket->virtual_bytes);
    vmv_out_varint(out, bucket->resident);
    vmv_out_varint(out, bucket->written);
    out_sparse(out, bucket->ticks, VMV_TICK_COUNT);
    for (unsigned i = 0; i < VMV_TICK_COUNT; i++)
        if (bucket->ticks[i]) vmv_out_u8(out, bucket->tick_kinds[i]);
    out_sparse(out, bucket->faults, VMV_KIND_COUNT);
    vmv_out_varint(out, bucket->region_count);
    uint64_t end = 0;
    for (size_t i = 0; i < bucket->region_count; i++) {
        const struct vmv_bucket_region *region = &bucket->regions[i];
        vmv_out_size(out, region->start - end);
        vmv_out_size(out, region->end - region->start);
        vmv_out_varint(out, region->resident);
        vmv_out_varint(out, region->written);
        end = region->end;
    }
    vmv_out_varint(out, bucket->thread_count);
    for (size_t i = 0; i < bucket->thread_count; i++) {
        vmv_out_zigzag(out, bucket->threads[i].tid);
        vmv_out_varint(out, bucket->threads[i].run_us);
    }
}

void vmv_buckets_encode(struct vmv_out *out, const struct vmv_bucket *buckets, size_t count) {
    uint64_t index = 0;
    vmv_out_u8(out, SUMMARY_VERSION);
    vmv_out_varint(out, count);
    for (size_t i = 0; i < count; i++) out_bucket(out, &buckets[i], &index);
}

// --- reading

// How many follow: never more than the bytes that are left can hold.
static size_t in_count(struct vmv_in *in, size_t least_bytes) {
    uint64_t count = vmv_in_varint(in);
    if (count > vmv_in_left(in) / least_bytes) in->bad = true;
    return in->bad ? 0 : (size_t)count;
}

static void in_sparse(struct vmv_in *in, uint32_t *values, unsigned count) {
    uint64_t present = vmv_in_varint(in);
    if (present >> count) in->bad = true;
    for (unsigned i = 0; i < count; i++)
        if (present >> i & 1) values[i] = (uint32_t)vmv_in_varint(in);
}

static void in_regions(struct vmv_in *in, struct vmv_arena *arena, struct vmv_bucket *bucket) {
    uint64_t end = 0;
    bucket->region_count = in_count(in, LEAST_REGION);
    bucket->regions = vmv_arena_alloc(arena, bucket->region_count * sizeof *bucket->regions);
    for (size_t i = 0; i < bucket->region_count && !in->bad; i++) {
        struct vmv_bucket_region *region = &bucket->regions[i];
        uint64_t gap = vmv_in_size(in), length = vmv_in_size(in);
        region->start = end + gap;
        region->end = end = region->start + length;
        region->resident = (uint32_t)vmv_in_varint(in);
        region->written = (uint32_t)vmv_in_varint(in);
        if (region->end <= region->start || region->start < gap) in->bad = true;
    }
}

static void in_threads(struct vmv_in *in, struct vmv_arena *arena, struct vmv_bucket *bucket) {
    bucket->thread_count = in_count(in, LEAST_THREAD);
    bucket->threads = vmv_arena_alloc(arena, bucket->thread_count * sizeof *bucket->threads);
    for (size_t i = 0; i < bucket->thread_count && !in->bad; i++) {
        bucket->threads[i].tid = (int32_t)vmv_in_zigzag(in);
        bucket->threads[i].run_us = (uint32_t)vmv_in_varint(in);
    }
}

static void in_bucket(struct vmv_in *in, struct vmv_arena *arena, struct vmv_bucket *bucket, uint64_t *index) {
    uint64_t gap = vmv_in_varint(in);
    if (gap > (UINT64_MAX >> VMV_BUCKET_SHIFT) - *index) in->bad = true;
    if (in->bad) return;
    bucket->index = *index += gap;
    bucket->space = (uint32_t)vmv_in_varint(in);
    bucket->virtual_bytes = vmv_in_size(in);
    bucket->resident = (uint32_t)vmv_in_varint(in);
    bucket->written = (uint32_t)vmv_in_varint(in);
    in_sparse(in, bucket->ticks, VMV_TICK_COUNT);
    for (unsigned i = 0; i < VMV_TICK_COUNT; i++)
        if (bucket->ticks[i]) bucket->tick_kinds[i] = vmv_in_u8(in);
    in_sparse(in, bucket->faults, VMV_KIND_COUNT);
    in_regions(in, arena, bucket);
    in_threads(in, arena, bucket);
}

static void in_landmarks(struct vmv_in *in, struct vmv_arena *arena, struct vmv_summary *summary) {
    struct vmv_codec codec = {0};
    size_t claimed = in_count(in, LEAST_LANDMARK);
    summary->landmarks = vmv_arena_alloc(arena, claimed * sizeof *summary->landmarks);
    for (size_t i = 0; i < claimed; i++) {
        struct vmv_event *event = &summary->landmarks[summary->landmark_count];
        if (!vmv_event_decode(&codec, in, arena, event)) {
            in->bad = true;
            return;
        }
        if (event->type != VMV_EV_NONE) summary->landmark_count++;
    }
}

bool vmv_summary_decode(struct vmv_in *in, struct vmv_arena *arena, struct vmv_summary *summary) {
    *summary = (struct vmv_summary){0};
    uint64_t index = 0;
    if (vmv_in_u8(in) != SUMMARY_VERSION) in->bad = true;
    size_t claimed = in_count(in, LEAST_BUCKET);
    summary->buckets = vmv_arena_alloc(arena, claimed * sizeof *summary->buckets);
    for (; summary->bucket_count < claimed && !in->bad; summary->bucket_count++)
        in_bucket(in, arena, &summary->buckets[summary->bucket_count], &index);
    if (!in->bad) in_landmarks(in, arena, summary);
    return !in->bad;
}
