// Which events a filter lets through, and which chunks can hold none of them.
#include "timeline_internal.h"

#include <signal.h>
#include <stdlib.h>

enum { LAST_VISIBLE = VMV_EV_NOTE }; // what follows are carriers of state, shown only when asked for

void timeline_filter_type(struct timeline_filter *filter, enum vmv_event_type type) {
    if ((unsigned)type < 128) filter->types[type / 64] |= UINT64_C(1) << (type % 64);
}

bool filter_has_type(const struct timeline_filter *filter, enum vmv_event_type type) {
    if ((unsigned)type >= 128) return false;
    if (!filter->types[0] && !filter->types[1]) return type != VMV_EV_NONE && (int)type <= LAST_VISIBLE;
    return filter->types[type / 64] >> (type % 64) & 1;
}

static struct event_span span(uint64_t start, uint64_t length) {
    return (struct event_span){start, length > UINT64_MAX - start ? UINT64_MAX : start + length};
}

// The page, or the huge page where the event gives its size.
static struct event_span span_of_fault(const struct vmv_event *event, uint64_t page_size) {
    bool huge = event->len > page_size && !(event->len & (event->len - 1));
    uint64_t size = huge ? event->len : page_size;
    return span(event->addr & ~(size - 1), size);
}

static int spans_of_call(const struct vmv_event *event, struct event_span spans[2]) {
    switch (event->type) {
    case VMV_EV_MMAP:
    case VMV_EV_SHMAT:
        spans[0] = span(event->ret >= 0 ? (uint64_t)event->ret : event->addr, event->len);
        return 1;
    case VMV_EV_MREMAP:
        spans[0] = span(event->old_addr, event->old_len);
        if (event->ret >= 0) spans[1] = span((uint64_t)event->ret, event->len);
        return event->ret >= 0 ? 2 : 1;
    case VMV_EV_BRK:
        if (event->ret < 0) return 0;
        if ((uint64_t)event->ret >= event->old_addr)
            spans[0] = (struct event_span){event->old_addr, (uint64_t)event->ret};
        else
            spans[0] = (struct event_span){(uint64_t)event->ret, event->old_addr};
        return 1;
    default:
        spans[0] = span(event->addr, event->len ? event->len : 1);
        return 1;
    }
}

static bool has_fault_address(int32_t number) {
    return number == SIGSEGV || number == SIGBUS || number == SIGILL || number == SIGFPE || number == SIGTRAP;
}

int event_spans(const struct vmv_event *event, uint32_t page_size, struct event_span spans[2]) {
    switch (event->type) {
    case VMV_EV_FAULT:
        spans[0] = span_of_fault(event, page_size);
        return 1;
    case VMV_EV_SIGNAL:
        spans[0] = span(event->addr, 1);
        return has_fault_address(event->number);
    case VMV_EV_MMAP:
    case VMV_EV_MUNMAP:
    case VMV_EV_MREMAP:
    case VMV_EV_MPROTECT:
    case VMV_EV_MADVISE:
    case VMV_EV_BRK:
    case VMV_EV_SHMAT:
    case VMV_EV_SHMDT:
    case VMV_EV_REMAP:
    case VMV_EV_MSEAL:
    case VMV_EV_SETNAME:
        return spans_of_call(event, spans);
    case VMV_EV_WATCH:
    case VMV_EV_MAPS:
    case VMV_EV_PAGES:
    case VMV_EV_CONTENT:
        spans[0] = span(event->addr, event->len);
        return 1;
    default:
        return 0;
    }
}

// A file that was punched or cut: the range holds a mapping of it now.
static bool concerns_file(const struct timeline *tl, const struct timeline_filter *filter,
                          const struct vmv_event *event) {
    const struct vmv_space *space = tl->at.world ? vmv_world_space(tl->at.world, event->space) : NULL;
    for (size_t i = space ? vmv_space_lower_bound(space, filter->addr) : 0; space && i < space->map_count; i++) {
        const struct vmv_mapping *map = &space->maps[i];
        if (map->start >= filter->end) break;
        if (map->inode == event->inode && map->dev_major == event->dev_major && map->dev_minor == event->dev_minor &&
            map->offset + (map->end - map->start) > event->addr)
            return true;
    }
    return false;
}

static bool concerns(const struct timeline *tl, const struct timeline_filter *filter, const struct vmv_event *event) {
    struct event_span spans[2];
    if (event->type == VMV_EV_PUNCH || event->type == VMV_EV_TRUNCATE) return concerns_file(tl, filter, event);
    int count = event_spans(event, tl->page_size, spans);
    for (int i = 0; i < count; i++)
        if (spans[i].start < filter->end && filter->addr < spans[i].end) return true;
    return false;
}

bool filter_match(const struct timeline *tl, const struct timeline_filter *filter, const struct vmv_event *event) {
    if (!filter_has_type(filter, event->type)) return false;
    if (filter->space && event->space != filter->space) return false;
    if (filter->pid && event->pid != filter->pid) return false;
    if (filter->tid && event->tid != filter->tid) return false;
    if (event->t < filter->from || (filter->to && event->t >= filter->to)) return false;
    return !filter->end || concerns(tl, filter, event);
}

static bool types_inside(struct timeline *tl, const struct timeline_filter *filter, size_t index) {
    const uint64_t *types = chunk_types(tl, index);
    if (filter->types[0] || filter->types[1]) return (types[0] & filter->types[0]) || (types[1] & filter->types[1]);
    return types[0] & ((UINT64_C(2) << LAST_VISIBLE) - 2);
}

static bool touches(struct timeline *tl, const struct timeline_filter *filter, size_t index) {
    size_t count = 0;
    struct vmv_touched *touched = vmv_reader_touched(tl->reader, tl->chunks.events[index].chunk, &count);
    if (!touched) return true; // damaged: to be found out
    uint64_t first = filter->addr >> 21, last = (filter->end - 1) >> 21;
    bool found = false;
    for (size_t i = 0; i < count && !found; i++) {
        if (filter->space && touched[i].space != filter->space) continue;
        found = touched[i].block <= last && touched[i].last >= first;
    }
    free(touched);
    return found;
}

bool filter_match_chunk(struct timeline *tl, const struct timeline_filter *filter, size_t index) {
    const struct vmv_chunk_header *header = &tl->chunks.events[index].chunk->header;
    if (header->t_last < filter->from || (filter->to && header->t_first >= filter->to)) return false;
    if (!types_inside(tl, filter, index)) return false;
    return !filter->end || filter->end <= filter->addr || touches(tl, filter, index);
}
