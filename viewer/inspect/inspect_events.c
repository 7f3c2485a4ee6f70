// events: what happened, in order. One cursor a RANGE, merged by sequence number.
#include "inspect_event.h"

#include <stdlib.h>
#include <string.h>

struct event_source {
    struct timeline_cursor *cursor;
    uint64_t addr, end; // end 0: every address
    const struct vmv_event *next;
};

struct event_walk {
    struct event_source *sources;
    size_t count;
    struct inspect_whose whose;
    uint64_t left;         // events still to be printed
    uint64_t to;           // ns, for progress
    bool populated, pages; // faults of that kind are wanted; the PAGES events themselves are
};

static void filter_all_types(struct timeline_filter *filter) {
    for (int type = 1; type < VMV_EV_SPACE; type++) {
        if (vmv_event_name((enum vmv_event_type)type) != NULL) timeline_filter_type(filter, (enum vmv_event_type)type);
    }
}

static bool types_hold(const uint64_t types[2], enum vmv_event_type type) {
    return (types[type / 64] >> (type % 64) & 1) != 0;
}

// Pages that became resident by themselves are faults of the kind "populated", but lie in PAGES events.
static void walk_types(struct inspect *in, struct event_walk *walk, struct timeline_filter *filter) {
    const uint64_t *types = in->options.types;
    if ((types[0] | types[1]) == 0) {
        filter_all_types(filter);
    } else {
        filter->types[0] = types[0];
        filter->types[1] = types[1];
    }
    walk->pages = types_hold(filter->types, VMV_EV_PAGES);
    walk->populated = types_hold(filter->types, VMV_EV_FAULT);
    if (walk->populated) timeline_filter_type(filter, VMV_EV_PAGES);
}

static void walk_add(struct inspect *in, struct event_walk *walk, struct timeline_filter filter, uint64_t addr,
                     uint64_t end) {
    filter.addr = addr;
    filter.end = end;
    struct event_source *source = &walk->sources[walk->count++];
    *source = (struct event_source){.cursor = timeline_cursor_create(in->tl, &filter), .addr = addr, .end = end};
    source->next = timeline_cursor_next(source->cursor);
}

static void walk_open(struct inspect *in, struct event_walk *walk, const struct inspect_ranges *ranges,
                      struct timeline_filter filter) {
    walk_types(in, walk, &filter);
    walk->sources = calloc(ranges->count + 1, sizeof *walk->sources);
    if (walk->sources == NULL) abort();
    if (ranges->count == 0) walk_add(in, walk, filter, 0, 0);
    for (size_t i = 0; i < ranges->count; i++) {
        walk_add(in, walk, filter, ranges->items[i].addr, ranges->items[i].addr + ranges->items[i].length);
    }
}

static void walk_close(struct event_walk *walk) {
    for (size_t i = 0; i < walk->count; i++) timeline_cursor_destroy(walk->sources[i].cursor);
    free(walk->sources);
    inspect_whose_free(&walk->whose);
}

static uint64_t page_bytes(struct inspect *in, const struct vmv_event *event) {
    uint64_t size = vmv_reader_meta(timeline_reader(in->tl))->page_size;
    return event->page_flags & VMV_PAGEF_HUGE ? size * (size / 8) : size;
}

// A run so long that no machine has the memory comes from a damaged or hostile trace: it is printed as one.
enum { POPULATED_MOST = 1 << 24 };

static void print_populated(struct inspect *in, struct event_walk *walk, const struct event_source *source,
                            const struct vmv_event *event) {
    uint64_t size = page_bytes(in, event), end = event->addr + event->len;
    if (event->len == 0 || end < event->addr) return;
    if (event->len / size > POPULATED_MOST) size = event->len;
    uint64_t first = event->addr;
    if (source->end != 0 && source->addr > first) first += (source->addr - first) / size * size;
    if (source->end != 0 && source->end < end) end = source->end;
    for (uint64_t addr = first; addr < end && walk->left > 0 && in->out.error == 0; addr += size) {
        uint64_t left = event->addr + event->len - addr, length = size < left ? size : left;
        walk->left--;
        (in->options.json ? inspect_populated_json : inspect_populated_text)(in, event, addr, length);
        if (addr + size < addr) return;
    }
}

static void print_event(struct inspect *in, struct event_walk *walk, const struct event_source *source,
                        const struct vmv_event *event) {
    bool populated = event->type == VMV_EV_PAGES && (event->page_flags & VMV_PAGEF_POPULATED);
    if (populated && walk->populated) print_populated(in, walk, source, event);
    if (event->type == VMV_EV_PAGES && !walk->pages) return;
    if (walk->left == 0) return;
    walk->left--;
    (in->options.json ? inspect_event_json : inspect_event_text)(in, event);
    if (in->options.stacks && !in->options.json) inspect_put_backtrace(in, event);
}

// The source whose event comes first; NULL at the end.
static struct event_source *walk_first(struct event_walk *walk) {
    struct event_source *first = NULL;
    for (size_t i = 0; i < walk->count; i++) {
        struct event_source *source = &walk->sources[i];
        if (source->next != NULL && (first == NULL || source->next->seq < first->next->seq)) first = source;
    }
    return first;
}

// Steps over the event everywhere: it may lie in several ranges.
static void walk_step(struct event_walk *walk, uint64_t seq) {
    for (size_t i = 0; i < walk->count; i++) {
        struct event_source *source = &walk->sources[i];
        if (source->next != NULL && source->next->seq == seq) source->next = timeline_cursor_next(source->cursor);
    }
}

static void walk_print(struct inspect *in, struct event_walk *walk) {
    struct inspect_progress progress;
    struct event_source *source;
    inspect_progress_begin(&progress);
    while (walk->left > 0 && in->out.error == 0 && (source = walk_first(walk)) != NULL) {
        const struct vmv_event *event = source->next;
        uint64_t seq = event->seq;
        inspect_progress_step(&progress, "events", event->t, walk->to);
        if (inspect_whose_match(&walk->whose, event->space, event->pid, event->tid))
            print_event(in, walk, source, event);
        walk_step(walk, seq);
    }
    inspect_progress_end(&progress);
}

int inspect_events(struct inspect *in) {
    int status = INSPECT_OK;
    struct event_walk walk = {.left = in->options.limit};
    struct timeline_filter filter = {0};
    struct inspect_ranges ranges = {0};
    if (!inspect_span(in, &filter.from, &filter.to, &status)) return status;
    if (filter.from == filter.to) return INSPECT_OK;
    if (filter.to == UINT64_MAX) filter.to = 0;
    if (!inspect_select_whose(in, &walk.whose, &status)) return status;
    if (in->options.place_count > 0) {
        inspect_seek_last(in, walk.whose.pid, walk.whose.space);
        const struct vmv_process *process = vmv_world_process(timeline_world(in->tl), walk.whose.pid);
        uint32_t space = walk.whose.space != 0 ? walk.whose.space : process != NULL ? process->space : 0;
        if (!inspect_ranges_parse(in, space, &ranges, &status)) {
            inspect_whose_free(&walk.whose);
            return status;
        }
        inspect_ranges_widen(vmv_world_space(timeline_world(in->tl), space), &ranges);
    }
    walk.to = filter.to != 0 ? filter.to : timeline_duration(in->tl);
    walk_open(in, &walk, &ranges, filter);
    walk_print(in, &walk);
    walk_close(&walk);
    inspect_ranges_free(&ranges);
    return status;
}
