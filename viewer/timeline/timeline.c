// Opening, closing, and the small questions.
#include "timeline_internal.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_BUDGET = 512 << 20 };

void *timeline_grow(void *array, size_t count, size_t *room, size_t element) {
    if (count < *room) return array;
    size_t wanted = *room ? *room * 2 : 16;
    void *grown = wanted > SIZE_MAX / element ? NULL : realloc(array, wanted * element);
    if (!grown) abort();
    *room = wanted;
    return grown;
}

static uint64_t duration_of(const struct timeline *tl) {
    uint64_t t = vmv_reader_end(tl->reader)->duration_ns;
    for (size_t i = tl->chunks.event_count; i-- > 0 && i + 4 > tl->chunks.event_count;)
        if (tl->chunks.events[i].chunk->header.t_last > t) t = tl->chunks.events[i].chunk->header.t_last;
    return t;
}

// With these sources every first touch has a record, so a page without one is untouched.
static bool records_faults(const char *source) {
    return source && (!strcmp(source, "records") || !strcmp(source, "uffd"));
}

// Seeking frees one world and makes the next, tens of MiB each: memory that goes back to the kernel in between costs a
// page fault for every 4 KiB of it.
static void keep_freed_memory(void) {
#ifdef __GLIBC__
    mallopt(M_MMAP_THRESHOLD, 32 << 20);
    mallopt(M_TRIM_THRESHOLD, 64 << 20);
    mallopt(M_TOP_PAD, 4 << 20);
#endif
}

struct timeline *timeline_open(const char *path, char *error, size_t error_size) {
    keep_freed_memory();
    struct vmv_reader *reader = vmv_reader_open(path, error, error_size);
    if (!reader) return NULL;
    struct timeline *tl = calloc(1, sizeof *tl);
    if (!tl) abort();
    tl->reader = reader;
    tl->page_size = vmv_reader_meta(reader)->page_size;
    tl->faults_recorded = records_faults(vmv_reader_meta(reader)->source_faults);
    chunk_table_build(tl);
    tl->duration = duration_of(tl);
    timeline_set_memory(tl, DEFAULT_BUDGET);
    timeline_seek(tl, 0);
    return tl;
}

void timeline_close(struct timeline *tl) {
    if (!tl) return;
    vmv_world_destroy(tl->at.world);
    prepare_cancel(tl);
    worlds_free(&tl->kept);
    undo_free(&tl->undo);
    undo_free(&tl->preparing.undo);
    for (size_t i = 0; i < AHEAD_KEPT; i++) ahead_free(&tl->ahead[i]);
    curves_free(&tl->detail.curves);
    curves_free(&tl->overview.curves);
    landmarks_free(&tl->overview.marks);
    decoded_cache_free(tl);
    payload_cache_free(&tl->payloads);
    chunk_table_free(&tl->chunks);
    vmv_reader_close(tl->reader);
    free(tl);
}

struct vmv_reader *timeline_reader(struct timeline *tl) {
    return tl->reader;
}

// A share for each of the caches: half in all. The rest is for curves, what is in hand, and whoever else lives in the
// process.
void timeline_set_memory(struct timeline *tl, size_t bytes) {
    tl->budget = bytes;
    vmv_reader_set_cache(tl->reader, bytes / 8);
    decoded_cache_trim(tl, bytes / 16);
    payload_cache_trim(&tl->payloads, bytes / 16);
    worlds_trim(tl);
}

uint64_t timeline_duration(const struct timeline *tl) { return tl->duration; }
uint64_t timeline_now(const struct timeline *tl) { return tl->now; }
const struct vmv_world *timeline_world(const struct timeline *tl) { return tl->at.world; }
const char *timeline_trouble(const struct timeline *tl) { return tl->trouble[0] ? tl->trouble : NULL; }
uint64_t timeline_event_count(struct timeline *tl) { return seq_end(tl); }

void timeline_note_trouble(struct timeline *tl, const char *text) {
    if (!tl->trouble[0]) snprintf(tl->trouble, sizeof tl->trouble, "%s", text ? text : "part of the trace is damaged");
}

size_t timeline_memory(const struct timeline *tl) {
    size_t bytes =
        sizeof *tl + tl->cache.bytes + tl->payloads.bytes + tl->overview.curves.bytes + tl->detail.curves.bytes;
    bytes += tl->overview.marks.frame_room * (sizeof *tl->overview.marks.frames + sizeof(void *));
    bytes += tl->overview.marks.event_room * sizeof *tl->overview.marks.events + tl->overview.marks.arena.total;
    bytes += tl->chunks.event_count * sizeof *tl->chunks.events;
    return bytes + worlds_memory(tl);
}
