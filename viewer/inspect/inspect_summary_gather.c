// Peaks from SUMMARY chunks and from the last moment; growth and writes as the difference of two moments.
#include "inspect_summary.h"

#include "inspect_runs.h"
#include "inspect_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct page_before { // what was known of pages at the beginning
    uint64_t addr, end;
    uint32_t writes;
    bool resident;
};
struct pages_before {
    struct page_before *items; // by address
    size_t count, room;
};

static void before_gather(struct pages_before *before, const struct vmv_space *space) {
    struct inspect_runs runs = inspect_runs_begin(space, 0, UINT64_MAX);
    struct inspect_run run;
    while (inspect_runs_next(&runs, &run)) {
        if (before->count == before->room) {
            before->room = before->room == 0 ? 4096 : before->room * 2;
            before->items = realloc(before->items, before->room * sizeof *before->items);
            if (before->items == NULL) abort();
        }
        before->items[before->count++] = (struct page_before){.addr = run.addr,
                                                              .end = run.addr + run.pages * space->page_size,
                                                              .writes = run.page.writes,
                                                              .resident = inspect_page_resident(&run.page)};
    }
}

// What was known at addr. *end is lowered to where that ceases to hold.
static struct page_before before_find(const struct pages_before *before, uint64_t addr, uint64_t *end) {
    size_t low = 0, high = before->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (before->items[middle].end <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    struct page_before old = {0};
    if (low == before->count) return old;
    bool inside = before->items[low].addr <= addr;
    uint64_t border = inside ? before->items[low].end : before->items[low].addr;
    if (border < *end) *end = border;
    return inside ? before->items[low] : old;
}

static const char *keep(struct summary *summary, const char *text) {
    return vmv_arena_strdup(&summary->arena, text, strlen(text));
}

// Puts an element into a list of the largest ones, by its key.
static void grower_insert(struct summary *summary, struct grower grower) {
    size_t at = summary->grower_count;
    while (at > 0 && summary->growers[at - 1].bytes < grower.bytes) at--;
    if (at == SUMMARY_ROWS) return;
    if (summary->grower_count < SUMMARY_ROWS) summary->grower_count++;
    memmove(&summary->growers[at + 1], &summary->growers[at],
            (summary->grower_count - 1 - at) * sizeof summary->growers[0]);
    summary->growers[at] = grower;
}

static void busy_insert(struct summary *summary, struct busy busy) {
    size_t at = summary->busy_count;
    while (at > 0 && summary->busiest[at - 1].writes < busy.writes) at--;
    if (at == SUMMARY_ROWS) return;
    if (summary->busy_count < SUMMARY_ROWS) summary->busy_count++;
    memmove(&summary->busiest[at + 1], &summary->busiest[at],
            (summary->busy_count - 1 - at) * sizeof summary->busiest[0]);
    summary->busiest[at] = busy;
}

// Pages [addr, end) that are all alike now.
static void compare_writes(struct summary *summary, const struct vmv_mapping *mapping, uint64_t addr, uint64_t end,
                           uint64_t writes, uint32_t page_size) {
    for (int row = 0; row < SUMMARY_ROWS && addr < end; row++, addr += page_size) // more of the same cannot win
        busy_insert(summary, (struct busy){.addr = addr, .writes = writes, .name = inspect_mapping_label(mapping)});
}

static void compare_mapping(struct summary *summary, const struct vmv_space *space, const struct vmv_mapping *mapping,
                            const struct pages_before *before) {
    struct inspect_runs runs = inspect_runs_begin(space, mapping->start, mapping->end);
    struct inspect_run run;
    uint64_t now = 0, then = 0; // bytes
    while (inspect_runs_next(&runs, &run)) {
        uint64_t end = run.addr + run.pages * space->page_size, next;
        for (uint64_t addr = run.addr; addr < end; addr = next) {
            next = end;
            struct page_before old = before_find(before, addr, &next);
            uint32_t old_writes = old.writes <= run.page.writes ? old.writes : 0;
            if (inspect_page_resident(&run.page)) now += next - addr;
            if (old.resident) then += next - addr;
            if (run.page.writes > old_writes)
                compare_writes(summary, mapping, addr, next, run.page.writes - old_writes, space->page_size);
        }
    }
    if (now <= then) return;
    grower_insert(summary, (struct grower){.start = mapping->start,
                                           .end = mapping->end,
                                           .bytes = now - then,
                                           .name = inspect_mapping_label(mapping)});
}

static void peak_raise(struct summary *summary, uint64_t resident, uint64_t bytes) {
    if (resident > summary->peak_resident) summary->peak_resident = resident;
    if (bytes > summary->peak_virtual) summary->peak_virtual = bytes;
}

static uint64_t space_resident(const struct vmv_space *space) {
    struct inspect_runs runs = inspect_runs_begin(space, 0, UINT64_MAX);
    struct inspect_run run;
    uint64_t bytes = 0;
    while (inspect_runs_next(&runs, &run))
        if (inspect_page_resident(&run.page)) bytes += run.pages * space->page_size;
    return bytes;
}

static void peaks_of_chunk(struct summary *summary, const struct vmv_summary *chunk, const struct inspect_whose *whose,
                           uint32_t page_size) {
    for (size_t i = 0; i < chunk->bucket_count; i++) {
        const struct vmv_bucket *bucket = &chunk->buckets[i];
        uint64_t start = bucket->index << VMV_BUCKET_SHIFT, end = start + (UINT64_C(1) << VMV_BUCKET_SHIFT);
        if (end <= summary->from || start >= summary->to || !inspect_whose_match(whose, bucket->space, 0, 0)) continue;
        peak_raise(summary, (uint64_t)bucket->resident * page_size, bucket->virtual_bytes);
    }
}

static void peaks_gather(struct inspect *in, struct summary *summary, const struct inspect_whose *whose) {
    struct vmv_reader *reader = timeline_reader(in->tl);
    size_t count;
    const struct vmv_chunk *chunks = vmv_reader_chunks(reader, &count);
    struct vmv_arena arena = {0};
    for (size_t i = 0; i < count; i++) {
        struct vmv_summary chunk;
        if (chunks[i].header.type != VMV_CHUNK_SUMMARY || !vmv_reader_summary(reader, &chunks[i], &arena, &chunk))
            continue;
        peaks_of_chunk(summary, &chunk, whose, vmv_reader_meta(reader)->page_size);
        vmv_arena_reset(&arena);
    }
    vmv_arena_free(&arena);
}

// The state at --from, as far as it is needed. Nothing if another program ran there then.
static void gather_before(struct inspect *in, struct summary *summary, uint32_t space_id, struct pages_before *before) {
    if (in->options.from == NULL) return;
    const struct vmv_space *space = vmv_world_space(timeline_seek(in->tl, summary->from), space_id);
    if (space == NULL) return;
    before_gather(before, space);
    peak_raise(summary, space_resident(space), space->virtual_bytes);
}

// The state at --to, or the last one of the process.
static bool gather_select(struct inspect *in, struct inspect_moment *moment, int *status) {
    const char *at = in->options.at;
    in->options.at = in->options.to;
    bool good = inspect_select(in, moment, status);
    in->options.at = at;
    return good;
}

// The world's names hold only until the next seek.
static void keep_names(struct summary *summary) {
    for (size_t i = 0; i < summary->grower_count; i++)
        summary->growers[i].name = keep(summary, summary->growers[i].name);
    for (size_t i = 0; i < summary->busy_count; i++) summary->busiest[i].name = keep(summary, summary->busiest[i].name);
}

static void gather_last(struct inspect *in, struct summary *summary, const struct vmv_space *space,
                        const struct pages_before *before) {
    summary->final_resident = space_resident(space);
    peak_raise(summary, summary->final_resident, space->virtual_bytes);
    for (size_t i = 0; i < space->map_count; i++) compare_mapping(summary, space, &space->maps[i], before);
    keep_names(summary);
    summary_find_touchers(in, summary, space->id);
    summary_note_all(in, summary, space);
}

// Without --from, the process begins with its first mappings, not with the recording.
static uint64_t gather_began(struct inspect *in, const struct summary *summary) {
    const char *from = in->options.from;
    if (from != NULL && strcmp(from, "start") != 0) return summary->from;
    bool by_space = in->options.pid == 0 && in->options.space != 0;
    inspect_seek_first(in, by_space ? 0 : summary->pid, by_space ? in->options.space : 0);
    uint64_t began = timeline_now(in->tl);
    // Of a process that was attached to, all it had before lies in its first frame.
    size_t count;
    const struct timeline_frame *frames = timeline_frames(in->tl, &count);
    if (vmv_reader_meta(timeline_reader(in->tl))->attached && count > 0) began = frames[0].t + 1;
    return began < summary->to ? began : summary->from;
}

bool summary_gather(struct inspect *in, struct summary *summary, int *status) {
    struct inspect_moment moment;
    struct inspect_whose whose;
    struct pages_before before = {0};
    *summary = (struct summary){0};
    if (!inspect_span(in, &summary->from, &summary->to, status) || !gather_select(in, &moment, status)) return false;
    uint32_t space = moment.space->id;
    uint64_t seq = moment.world->seq;
    summary->pid = moment.pid;
    if (summary->to > moment.t) summary->to = moment.t;
    if (!inspect_select_whose(in, &whose, status)) return false;
    summary->began = gather_began(in, summary);
    gather_before(in, summary, space, &before);
    peaks_gather(in, summary, &whose);
    const struct vmv_world *world = seq == 0 ? timeline_seek(in->tl, 0) : timeline_seek_seq(in->tl, seq - 1);
    const struct vmv_space *last = vmv_world_space(world, space);
    if (last != NULL) gather_last(in, summary, last, &before);
    inspect_whose_free(&whose);
    free(before.items);
    return true;
}

void summary_free(struct summary *summary) { vmv_arena_free(&summary->arena); }
