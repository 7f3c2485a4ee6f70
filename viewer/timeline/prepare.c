// Going backwards step by step, a moment comes that cannot be reached by taking events back any more. The world at that
// moment is made ahead, a little with each step, so that no step has to wait for all of it.
#include "timeline_internal.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SLICE_NS = 4000000, SLICE_EVENTS = 512 };

static uint64_t now_ns(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000 + (uint64_t)at.tv_nsec;
}

void prepare_cancel(struct timeline *tl) {
    struct preparing *preparing = &tl->preparing;
    struct undo undo = preparing->undo; // its memory is used again
    free(preparing->payload);
    vmv_world_destroy(preparing->standing.world);
    *preparing = (struct preparing){.until = UINT64_MAX, .undo = undo};
    undo_reset(&preparing->undo, 0);
}

static void begin(struct timeline *tl) {
    struct preparing *preparing = &tl->preparing;
    prepare_cancel(tl);
    preparing->until = tl->undo.from;
    size_t count = preparing->until ? state_before(tl, preparing->until - 1) : 0;
    preparing->state = count ? tl->chunks.states[count - 1] : NULL;
    preparing->base = preparing->state ? preparing->state->header.first : 0;
    preparing->done = !preparing->until;
}

static void give_up(struct preparing *preparing) {
    free(preparing->payload);
    preparing->payload = NULL;
    preparing->done = true;
}

static void have_world(struct timeline *tl, struct vmv_world *world) {
    struct preparing *preparing = &tl->preparing;
    vmv_world_limit_pages(world, WORLD_MEMORY);
    preparing->standing = (struct standing){.world = world, .seq = preparing->base, .base = preparing->base};
    preparing->kept = preparing->base;
    undo_reset(&preparing->undo, preparing->base);
    worlds_keep(tl, &preparing->standing);
}

// First the STATE is inflated, with the next step it is decoded.
static void read_state(struct timeline *tl) {
    struct preparing *preparing = &tl->preparing;
    if (!preparing->state) {
        have_world(tl, vmv_world_create(tl->page_size));
        return;
    }
    if (!preparing->payload) {
        preparing->payload = vmv_reader_payload(tl->reader, preparing->state, &preparing->length);
        if (!preparing->payload) give_up(preparing);
        return;
    }
    struct vmv_in in = {.data = preparing->payload, .length = preparing->length};
    struct vmv_world *world = vmv_world_decode(&in, WORLD_MEMORY);
    free(preparing->payload);
    preparing->payload = NULL;
    if (world)
        have_world(tl, world);
    else
        give_up(preparing);
}

static void replay_slice(struct timeline *tl) {
    struct preparing *preparing = &tl->preparing;
    struct standing *standing = &preparing->standing;
    struct replay_hooks hooks = {.undo = &preparing->undo};
    uint64_t left = preparing->until - standing->seq;
    uint64_t stop = standing->seq + (left < SLICE_EVENTS ? left : SLICE_EVENTS);
    world_replay(tl, standing->world, standing->seq, stop, &hooks);
    standing->seq = stop;
    memcpy(standing->trouble, tl->trouble, sizeof standing->trouble);
    if (stop - preparing->kept < KEEP_EVENTS || preparing->undo.from <= preparing->kept) return;
    worlds_keep(tl, standing); // what was before cannot be undone: a copy must do
    preparing->kept = stop;
}

static void go_on(struct timeline *tl) {
    struct preparing *preparing = &tl->preparing;
    uint64_t start = now_ns();
    char trouble[TROUBLE_SIZE];
    memcpy(trouble, tl->trouble, sizeof trouble);
    memcpy(tl->trouble, preparing->standing.trouble, sizeof trouble);
    while (preparing->standing.seq < preparing->until && now_ns() - start < SLICE_NS) replay_slice(tl);
    memcpy(tl->trouble, trouble, sizeof trouble);
    preparing->done = preparing->standing.seq >= preparing->until;
}

void prepare_step(struct timeline *tl) {
    if (tl->preparing.until != tl->undo.from) begin(tl);
    if (tl->preparing.done) return;
    if (tl->preparing.standing.world)
        go_on(tl);
    else
        read_state(tl);
}

bool prepare_take(struct timeline *tl, uint64_t goal) {
    struct preparing *preparing = &tl->preparing;
    struct standing *standing = &preparing->standing;
    bool behind = standing->seq <= goal, ahead = preparing->undo.from <= goal;
    if (!standing->world || goal >= preparing->until || (!behind && !ahead)) return false;
    struct undo undo = tl->undo;
    vmv_world_destroy(tl->at.world);
    tl->at = *standing;
    tl->undo = preparing->undo;
    standing->world = NULL;
    preparing->undo = undo;
    if (!behind) undo_to(&tl->undo, tl->at.world, goal);
    prepare_cancel(tl);
    return true;
}
