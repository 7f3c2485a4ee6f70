// Curves and landmarks of the whole recording: from its SUMMARY chunks, and from the events after the last of them
// where the recorder was killed.
#include "timeline_internal.h"

static void add_summary(struct timeline *tl, const struct vmv_chunk *chunk, struct vmv_arena *scratch) {
    struct vmv_summary summary = {0};
    vmv_arena_reset(scratch);
    if (!vmv_reader_summary(tl->reader, chunk, scratch, &summary)) {
        timeline_note_trouble(tl, vmv_reader_error(tl->reader));
        return;
    }
    curves_add(&tl->overview.curves, &summary);
    landmarks_add(&tl->overview.marks, summary.landmarks, summary.landmark_count);
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

const struct overview *overview_get(struct timeline *tl) {
    struct overview *overview = &tl->overview;
    if (overview->loaded) return overview;
    overview->loaded = true;
    overview->curves.shift = VMV_BUCKET_SHIFT;
    struct vmv_arena scratch = {0};
    for (size_t i = 0; i < tl->chunks.summary_count; i++) add_summary(tl, tl->chunks.summaries[i], &scratch);
    vmv_arena_free(&scratch);
    uint64_t from = first_unsummarised(tl), end = seq_end(tl);
    if (from < end) detail_build(tl, from, end, 0, VMV_BUCKET_SHIFT, &overview->curves, &overview->marks);
    curves_finish(&overview->curves);
    landmarks_finish(&overview->marks);
    return overview;
}
