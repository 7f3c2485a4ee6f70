// Curves and landmarks of the whole recording: from its SUMMARY chunks, and from the events after the last of them
// where the recorder was killed.
#include "timeline_internal.h"

static void add(struct overview *overview, const struct vmv_summary *summary) {
    curves_add(&overview->curves, summary);
    landmarks_add(&overview->marks, summary->landmarks, summary->landmark_count);
}

static void add_chunk(struct timeline *tl, const struct vmv_chunk *chunk, struct vmv_arena *scratch) {
    struct vmv_summary summary = {0};
    vmv_arena_reset(scratch);
    if (vmv_reader_summary(tl->reader, chunk, scratch, &summary))
        add(&tl->overview, &summary);
    else
        timeline_note_trouble(tl, vmv_reader_error(tl->reader));
}

// --- the tail

static void before(void *user, const struct vmv_world *world, const struct vmv_event *event) {
    vmv_summary_builder_before(user, world, event);
}

static void after(void *user, const struct vmv_world *world, const struct vmv_event *event) {
    vmv_summary_builder_add(user, world, event);
}

static void add_built(struct timeline *tl, struct vmv_summary_builder *builder) {
    struct vmv_out out = {0};
    struct vmv_arena arena = {0};
    struct vmv_summary summary = {0};
    vmv_summary_builder_flush(builder, &out);
    struct vmv_in in = {.data = out.data, .length = out.length};
    if (vmv_summary_decode(&in, &arena, &summary)) add(&tl->overview, &summary);
    vmv_arena_free(&arena);
    vmv_out_free(&out);
}

// Events in chunks that begin after the last SUMMARY in the file are in no summary.
static uint64_t first_unsummarised(const struct timeline *tl) {
    uint64_t end = seq_end(tl);
    if (!tl->chunks.summary_count) return 0;
    uint64_t offset = tl->chunks.summaries[tl->chunks.summary_count - 1]->offset;
    for (size_t i = tl->chunks.event_count; i-- > 0 && tl->chunks.events[i].chunk->offset > offset;)
        end = tl->chunks.events[i].chunk->header.first;
    return end;
}

static void add_tail(struct timeline *tl, uint64_t from, uint64_t to) {
    struct standing standing = worlds_borrow(tl, from);
    struct vmv_summary_builder *builder = vmv_summary_builder_create();
    struct replay_hooks hooks = {.before = before, .after = after, .user = builder};
    world_replay(tl, standing.world, standing.seq, from, NULL);
    world_replay(tl, standing.world, from, to, &hooks);
    add_built(tl, builder);
    vmv_summary_builder_destroy(builder);
    vmv_world_destroy(standing.world);
}

const struct overview *overview_get(struct timeline *tl) {
    struct overview *overview = &tl->overview;
    if (overview->loaded) return overview;
    overview->loaded = true;
    overview->curves.shift = VMV_BUCKET_SHIFT;
    struct vmv_arena scratch = {0};
    for (size_t i = 0; i < tl->chunks.summary_count; i++) add_chunk(tl, tl->chunks.summaries[i], &scratch);
    vmv_arena_free(&scratch);
    uint64_t from = first_unsummarised(tl), end = seq_end(tl);
    if (from < end) add_tail(tl, from, end);
    curves_finish(&overview->curves);
    landmarks_finish(&overview->marks);
    return overview;
}
