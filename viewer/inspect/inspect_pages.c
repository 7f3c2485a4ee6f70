// pages: what is known of the pages at a moment, as runs of equal ones. A walk costs by what differs, not by address
// space: of pages of which the same is known at the moment, and which no event up to the next frame tells apart, one
// is asked for the whole stretch.
#include "inspect.h"

#include "inspect_runs.h"
#include "inspect_show.h"
#include "inspect_table.h"

#include <inttypes.h>
#include <stdlib.h>

struct page_run {
    uint64_t addr, end, size;   // bytes; size: of one page
    uint64_t captured, written; // ns; written 0: never
    bool known;                 // captured means something
    uint8_t state, certainty;
    bool shared, huge;
};

struct page_walk {
    struct inspect *in;
    const struct inspect_moment *moment;
    struct page_run run; // being gathered; end 0: none
    struct table table;
    uint64_t left, runs;
    uint64_t totals[VMV_PAGE_GUARD + 1]; // bytes by state
    uint64_t *borders;                   // sorted: where events up to the next frame begin and end
    size_t border_count, border_room;
};

// --- borders within stretches of which nothing is known yet

static void border_add(struct page_walk *walk, uint64_t addr) {
    if (walk->border_count == walk->border_room) {
        walk->border_room = walk->border_room == 0 ? 1024 : walk->border_room * 2;
        walk->borders = realloc(walk->borders, walk->border_room * sizeof *walk->borders);
        if (walk->borders == NULL) abort();
    }
    uint64_t size = walk->moment->space->page_size;
    walk->borders[walk->border_count++] = addr / size * size;
}

static void border_add_range(struct page_walk *walk, uint64_t addr, uint64_t length) {
    uint64_t size = walk->moment->space->page_size;
    border_add(walk, addr);
    if (length <= UINT64_MAX - addr - size) border_add(walk, addr + length + size - 1);
}

static void border_add_event(struct page_walk *walk, const struct vmv_event *event) {
    uint64_t size = walk->moment->space->page_size, length = event->len, addr = event->addr;
    bool huge = event->type == VMV_EV_FAULT && length > size && (length & (length - 1)) == 0;
    if (huge) addr &= ~(length - 1);
    if (event->type == VMV_EV_FAULT && !huge) length = size;
    border_add_range(walk, addr, length);
    for (size_t i = 0; event->type == VMV_EV_MAPS && i < event->map_count; i++)
        border_add_range(walk, event->maps[i].start, event->maps[i].end - event->maps[i].start);
    if (event->old_len != 0) border_add_range(walk, event->old_addr, event->old_len);
    if (event->ret > 0) border_add_range(walk, (uint64_t)event->ret, event->len);
}

static int border_compare(const void *a, const void *b) {
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Time of the next frame of the space; 0 if there is none.
static uint64_t next_frame(const struct page_walk *walk) {
    size_t count;
    const struct timeline_frame *frames = timeline_frames(walk->in->tl, &count);
    for (size_t i = 0; i < count; i++) {
        if (frames[i].space == walk->moment->space->id && frames[i].t > walk->moment->t) return frames[i].t;
    }
    return 0;
}

static void borders_gather(struct page_walk *walk) {
    static const enum vmv_event_type types[] = {VMV_EV_MMAP,  VMV_EV_MUNMAP, VMV_EV_MREMAP, VMV_EV_MADVISE,
                                                VMV_EV_BRK,   VMV_EV_SHMAT,  VMV_EV_SHMDT,  VMV_EV_REMAP,
                                                VMV_EV_FAULT, VMV_EV_MAPS,   VMV_EV_PAGES,  VMV_EV_CONTENT};
    uint64_t frame = next_frame(walk);
    struct timeline_filter filter = {
        .space = walk->moment->space->id, .from = walk->moment->t, .to = frame == 0 ? 0 : frame + 1};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) timeline_filter_type(&filter, types[i]);
    struct timeline_cursor *cursor = timeline_cursor_create(walk->in->tl, &filter);
    const struct vmv_event *event;
    while ((event = timeline_cursor_next(cursor)) != NULL) border_add_event(walk, event);
    timeline_cursor_destroy(cursor);
    if (walk->border_count > 0) qsort(walk->borders, walk->border_count, sizeof *walk->borders, border_compare);
}

// The first border after addr, at most `end`.
static uint64_t border_after(const struct page_walk *walk, uint64_t addr, uint64_t end) {
    size_t low = 0, high = walk->border_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (walk->borders[middle] <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < walk->border_count && walk->borders[low] < end ? walk->borders[low] : end;
}

// --- runs

static void run_json(struct json *json, const struct page_run *run) {
    json_begin(json);
    json_put_hex(json, "addr", run->addr);
    json_put_unsigned(json, "len", run->end - run->addr);
    json_put_unsigned(json, "size", run->size);
    json_put_text(json, "state", inspect_page_state(run->state));
    json_put_bool(json, "shared", run->shared);
    json_put_known(json, "written_at", run->written != 0, run->written);
    json_put_known(json, "captured_at", run->known, run->captured);
    json_put_text(json, "certainty", inspect_certainty(run->certainty));
    json_line(json);
}

static void run_row(struct page_walk *walk, const struct page_run *run) {
    struct table *table = &walk->table;
    table_cell(table, "%012" PRIx64, run->addr);
    table_cell(table, "%s", show_size(run->end - run->addr).text);
    table_cell(table, "%s", show_count((run->end - run->addr + run->size - 1) / run->size).text);
    table_cell(table, "%s%s%s", inspect_page_state(run->state), run->huge ? ", huge" : "",
               run->shared ? ", shared" : "");
    table_cell(table, "%s", run->written == 0 ? INSPECT_NONE : show_time(run->written).text);
    table_cell(table, "%s", !run->known ? INSPECT_NONE : show_time(run->captured).text);
    table_cell(table, "%s", inspect_certainty(run->certainty));
}

static void walk_flush(struct page_walk *walk) {
    struct page_run *run = &walk->run;
    if (run->end == 0 || walk->left == 0) return;
    walk->left--;
    walk->runs++;
    walk->totals[run->state <= VMV_PAGE_GUARD ? run->state : 0] += run->end - run->addr;
    if (walk->in->options.json) {
        run_json(&walk->in->json, run);
    } else {
        run_row(walk, run);
    }
    run->end = 0;
}

static bool run_continues(const struct page_run *low, const struct page_run *high) {
    return low->end != 0 && low->end == high->addr && low->size == high->size && low->captured == high->captured &&
           low->written == high->written && low->state == high->state && low->certainty == high->certainty &&
           low->shared == high->shared && low->known == high->known;
}

static void walk_add(struct page_walk *walk, struct page_run run) {
    if (run_continues(&walk->run, &run)) {
        walk->run.end = run.end;
        return;
    }
    walk_flush(walk);
    walk->run = run;
}

// Pages [start, end) that are all as the one at `start`.
static void walk_stretch(struct page_walk *walk, const struct vmv_mapping *mapping, uint64_t start, uint64_t end) {
    const struct vmv_space *space = walk->moment->space;
    struct timeline_page page = timeline_page(walk->in->tl, space->id, start);
    bool huge = (page.page.flags & VMV_PAGEF_HUGE) != 0;
    bool own = page.page.content == VMV_CONTENT_ZERO || page.page.content >= VMV_CONTENT_FIRST;
    bool now = !own && page.certainty == VMV_CERT_EXACT; // known without a capture: as it is at this very moment
    uint64_t size = space->page_size;
    walk_add(walk, (struct page_run){.addr = start,
                                     .end = end,
                                     .size = huge ? size * (size / 8) : size,
                                     .captured = now   ? walk->moment->t
                                                 : own ? page.page.captured
                                                       : 0,
                                     .known = now || (own && page.certainty != VMV_CERT_UNKNOWN),
                                     .written = page.page.written,
                                     .state = (uint8_t)page.state,
                                     .certainty = (uint8_t)page.certainty,
                                     .shared = (mapping->flags & VMV_MAP_SHARED) != 0,
                                     .huge = huge});
}

// Pages [start, end) of which the same is known: one question for each part that no border divides.
static void walk_equal(struct page_walk *walk, const struct vmv_mapping *mapping, uint64_t start, uint64_t end) {
    while (start < end && walk->left > 0) {
        uint64_t border = border_after(walk, start, end);
        walk_stretch(walk, mapping, start, border);
        start = border;
    }
}

static void walk_mapping(struct page_walk *walk, const struct vmv_mapping *mapping, uint64_t start, uint64_t end) {
    const struct vmv_space *space = walk->moment->space;
    struct inspect_runs runs = inspect_runs_begin(space, start, end);
    struct inspect_run run;
    while (walk->left > 0 && walk->in->out.error == 0 && inspect_runs_next(&runs, &run)) {
        walk_equal(walk, mapping, start, run.addr);
        start = run.addr + run.pages * space->page_size;
        walk_equal(walk, mapping, run.addr, start);
    }
    walk_equal(walk, mapping, start, end);
}

// The mapped parts of [start, end); false if there are none.
static bool walk_range(struct page_walk *walk, uint64_t start, uint64_t end) {
    const struct vmv_space *space = walk->moment->space;
    bool any = false;
    for (size_t i = vmv_space_lower_bound(space, start); i < space->map_count && space->maps[i].start < end; i++) {
        const struct vmv_mapping *mapping = &space->maps[i];
        any = true;
        if (walk->left == 0) break;
        walk_mapping(walk, mapping, mapping->start > start ? mapping->start : start,
                     mapping->end < end ? mapping->end : end);
    }
    walk_flush(walk);
    return any;
}

static void walk_finish(struct page_walk *walk) {
    struct inspect_out *out = &walk->in->out;
    if (walk->in->options.json || walk->runs == 0) walk->table.count = 0;
    table_end(&walk->table, out, 0);
    if (walk->in->options.json || walk->in->error[0] != '\0') return;
    inspect_out_format(out, "%s%s of process %" PRId32 " at %s", walk->runs == 0 ? "" : "\n",
                       show_plural(walk->runs, "run", "runs").text, walk->moment->pid, show_time(walk->moment->t).text);
    for (uint8_t state = 0; state <= VMV_PAGE_GUARD; state++) {
        if (walk->totals[state] == 0) continue;
        inspect_out_format(out, ", %s %s", show_size(walk->totals[state]).text, inspect_page_state(state));
    }
    inspect_out_bytes(out, "\n", 1);
}

static bool pages_ranges(struct page_walk *walk, const struct inspect_ranges *ranges, int *status) {
    uint64_t size = walk->moment->space->page_size;
    for (size_t i = 0; i < ranges->count; i++) {
        const struct inspect_range *range = &ranges->items[i];
        uint64_t last = range->addr + range->length - 1, start = range->addr / size * size;
        uint64_t end = last / size * size > UINT64_MAX - size ? UINT64_MAX : last / size * size + size;
        if (walk_range(walk, start, end)) continue;
        *status = inspect_fail(walk->in, INSPECT_ABSENT,
                               "%s: nothing is mapped at %.200s at %s; vmvis-inspect maps lists the mappings",
                               walk->in->options.trace, range->text, show_time_ns(walk->moment->t).text);
        return false;
    }
    return true;
}

int inspect_pages(struct inspect *in) {
    int status = INSPECT_OK;
    struct inspect_moment moment;
    struct inspect_ranges ranges;
    if (!inspect_select(in, &moment, &status)) return status;
    if (!inspect_ranges_parse(in, moment.space->id, &ranges, &status)) return status;
    inspect_ranges_widen(moment.space, &ranges);
    struct page_walk walk = {.in = in, .moment = &moment, .left = in->options.limit};
    borders_gather(&walk);
    table_begin(&walk.table, "rrrlrrl", "address|size|pages|state|written|captured|certainty");
    if (ranges.count == 0) {
        walk_range(&walk, 0, UINT64_MAX);
    } else {
        pages_ranges(&walk, &ranges, &status);
    }
    walk_finish(&walk);
    free(walk.borders);
    inspect_ranges_free(&ranges);
    return status;
}
