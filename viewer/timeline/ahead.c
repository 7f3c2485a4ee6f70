// What is said of a space's pages between two of its frames: the one at or before the moment and the next. The next
// frame says which pages were not written since; fault records say when a page was first written; calls that drop or
// move pages end what the frame can say of them.
#include "timeline_internal.h"

#include <errno.h>

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { AHEAD_EVENTS = 2000000 }; // events looked at for one answer at most

// Advice numbers that the C library may lack.
enum { ADVICE_DONTNEED_LOCKED = 24, ADVICE_GUARD_INSTALL = 102, ADVICE_GUARD_REMOVE = 103 };

static void add_run(struct ahead *ahead, uint64_t start, uint64_t end, uint8_t state, uint8_t flags) {
    if (end <= start) return;
    ahead->runs = timeline_grow(ahead->runs, ahead->run_count, &ahead->run_room, sizeof *ahead->runs);
    ahead->runs[ahead->run_count++] = (struct ahead_run){.start = start, .end = end, .state = state, .flags = flags};
}

static void add_drop(struct ahead *ahead, uint64_t start, uint64_t length, uint64_t seq) {
    uint64_t end = length > UINT64_MAX - start ? UINT64_MAX : start + length;
    if (end <= start) return;
    ahead->drops = timeline_grow(ahead->drops, ahead->drop_count, &ahead->drop_room, sizeof *ahead->drops);
    ahead->drops[ahead->drop_count++] = (struct ahead_drop){start, end, seq};
}

// False: more sizes than a machine has.
static bool note_size(struct ahead *ahead, uint64_t size) {
    for (size_t i = 0; i < AHEAD_SIZES; i++) {
        if (!ahead->fault_sizes[i]) ahead->fault_sizes[i] = size;
        if (ahead->fault_sizes[i] == size) return true;
    }
    return false;
}

// Only records made at the moment itself tell when; what a frame found tells that it happened before the frame.
static void add_fault(struct ahead *ahead, const struct vmv_event *event, uint32_t page_size) {
    struct event_span span[2];
    event_spans(event, page_size, span);
    bool timed = event->source == VMV_SOURCE_RECORDS || event->source == VMV_SOURCE_UFFD;
    if (!timed || event->kind == VMV_FAULT_POPULATED || !note_size(ahead, span->end - span->start)) {
        add_run(ahead, span->start, span->end, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN);
        return;
    }
    ahead->faults = timeline_grow(ahead->faults, ahead->fault_count, &ahead->fault_room, sizeof *ahead->faults);
    ahead->faults[ahead->fault_count++] = (struct ahead_fault){span->start, event->seq, event->t};
}

static bool advice_drops(uint32_t advice) {
    switch (advice) {
    case MADV_DONTNEED:
    case MADV_FREE:
    case MADV_REMOVE:
    case ADVICE_DONTNEED_LOCKED:
    case ADVICE_GUARD_INSTALL:
    case ADVICE_GUARD_REMOVE:
        return true;
    default:
        return false;
    }
}

static bool same_memory(const struct vmv_mapping *map, const struct vmv_mapping *now) {
    return now->inode == map->inode && now->dev_major == map->dev_major && now->dev_minor == map->dev_minor &&
           (!map->inode || now->offset - now->start == map->offset - map->start);
}

// The parts of a mapping that the maps as read again still have keep their pages; the rest is gone.
static void drop_missing(struct ahead *ahead, const struct vmv_mapping *map, const struct vmv_event *event) {
    uint64_t at = map->start > event->addr ? map->start : event->addr, end = map->end;
    if (end - event->addr > event->len) end = event->addr + event->len; // what lies beyond was not read
    for (size_t i = 0; i < event->map_count && at < end; i++) {
        const struct vmv_mapping *now = &event->maps[i];
        if (now->end <= at || now->start >= end || !same_memory(map, now)) continue;
        if (now->start > at) add_drop(ahead, at, now->start - at, event->seq);
        at = now->end;
    }
    if (at < end) add_drop(ahead, at, end - at, event->seq);
}

static void add_maps(struct ahead *ahead, const struct vmv_space *space, const struct vmv_event *event) {
    for (size_t i = vmv_space_lower_bound(space, event->addr); i < space->map_count; i++) {
        const struct vmv_mapping *map = &space->maps[i];
        if (map->start >= event->addr && map->start - event->addr >= event->len) return;
        drop_missing(ahead, map, event);
    }
}

static void add_file(struct ahead *ahead, const struct vmv_space *space, const struct vmv_event *event) {
    for (size_t i = 0; i < space->map_count; i++) {
        const struct vmv_mapping *map = &space->maps[i];
        if (map->inode == event->inode && map->dev_major == event->dev_major && map->dev_minor == event->dev_minor)
            add_drop(ahead, map->start, map->end - map->start, event->seq);
    }
}

static void add_call(struct ahead *ahead, const struct vmv_space *space, const struct vmv_event *event) {
    struct event_span spans[2];
    bool half_way = event->type == VMV_EV_MADVISE && event->ret == -ENOMEM; // done, but for a hole in the range
    if (event->ret < 0 && !half_way) return;
    if (event->type == VMV_EV_MADVISE && !advice_drops(event->prot)) return;
    if (event->type == VMV_EV_BRK && (uint64_t)event->ret >= event->old_addr) return;
    if (event->type == VMV_EV_PUNCH || event->type == VMV_EV_TRUNCATE) {
        add_file(ahead, space, event);
        return;
    }
    if (event->type == VMV_EV_SHMDT && !event->len) { // how far the segment reached is not told
        add_drop(ahead, event->addr, UINT64_MAX, event->seq);
        return;
    }
    int count = event_spans(event, space->page_size, spans);
    for (int i = 0; i < count; i++) add_drop(ahead, spans[i].start, spans[i].end - spans[i].start, event->seq);
}

static void add_event(struct ahead *ahead, const struct vmv_space *space, const struct vmv_event *event) {
    bool of_file = event->type == VMV_EV_PUNCH || event->type == VMV_EV_TRUNCATE;
    if (event->space != ahead->space && !of_file) return;
    switch (event->type) {
    case VMV_EV_FAULT:
        add_fault(ahead, event, space->page_size);
        break;
    case VMV_EV_PAGES:
        add_run(ahead, event->addr, event->len > UINT64_MAX - event->addr ? UINT64_MAX : event->addr + event->len,
                event->state, event->page_flags);
        break;
    case VMV_EV_FRAME:
        ahead->frame |= event->t == ahead->frame_t;
        break;
    case VMV_EV_MAPS:
        add_maps(ahead, space, event);
        break;
    case VMV_EV_MMAP:
    case VMV_EV_MUNMAP:
    case VMV_EV_MREMAP:
    case VMV_EV_MADVISE:
    case VMV_EV_BRK:
    case VMV_EV_SHMAT:
    case VMV_EV_SHMDT:
    case VMV_EV_REMAP:
    case VMV_EV_PUNCH:
    case VMV_EV_TRUNCATE:
        add_call(ahead, space, event);
        break;
    default:
        break;
    }
}

// Chunks that do not speak of the space are passed over without inflating them.
static bool speaks_of(struct timeline *tl, size_t index, uint32_t space) {
    size_t count = 0;
    struct vmv_touched *touched = vmv_reader_touched(tl->reader, tl->chunks.events[index].chunk, &count);
    bool found = !touched; // damaged: to be found out
    for (size_t i = 0; touched && i < count && !found; i++) found = touched[i].space == space;
    free(touched);
    return found;
}

// Takes in the chunk's events from ahead->from on. False: the end was reached, or nothing more can be known.
static bool take_chunk(struct timeline *tl, struct ahead *ahead, const struct vmv_space *space, size_t index,
                       uint64_t until) {
    struct event_walk walk;
    bool more = walk_begin(tl, &walk, index);
    if (more) {
        const struct vmv_event *event;
        while ((event = walk_next(&walk)) && (more = event->t <= until))
            if (event->seq >= ahead->from) add_event(ahead, space, event);
    }
    bool whole = walk.payload && walk.seq - walk.chunk->header.first >= (more ? walk.chunk->header.count : 1);
    if (!whole) ahead->frame = false;
    walk_end(&walk);
    return more && whole;
}

// A frame is whole if something later was written, or the recording was finished.
static void take_chunks(struct timeline *tl, struct ahead *ahead, const struct vmv_space *space, uint64_t until) {
    size_t index = chunk_at_seq(tl, ahead->from);
    uint64_t budget = AHEAD_EVENTS;
    for (index = index == SIZE_MAX ? 0 : index; index < tl->chunks.event_count; index++) {
        const struct vmv_chunk_header *header = &tl->chunks.events[index].chunk->header;
        if (header->t_first > until) return;
        if (header->t_last < ahead->frame_t && !speaks_of(tl, index, ahead->space)) continue;
        if (header->count > budget) {
            ahead->frame = false;
            return;
        }
        budget -= header->count;
        if (!take_chunk(tl, ahead, space, index, until)) return;
    }
    if (!vmv_reader_end(tl->reader)->complete) ahead->frame = false;
}

static int by_run_start(const void *a, const void *b) {
    const struct ahead_run *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

static int by_fault_start(const void *a, const void *b) {
    const struct ahead_fault *x = a, *y = b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return (x->seq > y->seq) - (x->seq < y->seq);
}

static void arrange(struct ahead *ahead) {
    uint64_t reach = 0;
    if (ahead->run_count) qsort(ahead->runs, ahead->run_count, sizeof *ahead->runs, by_run_start);
    if (ahead->fault_count) qsort(ahead->faults, ahead->fault_count, sizeof *ahead->faults, by_fault_start);
    for (size_t i = 0; i < ahead->run_count; i++) {
        if (ahead->runs[i].end > reach) reach = ahead->runs[i].end;
        ahead->runs[i].reach = reach;
    }
}

static void build(struct timeline *tl, struct ahead *ahead, const struct vmv_space *space) {
    const struct landmarks *marks = &overview_get(tl)->marks;
    const struct timeline_frame *before = landmarks_frame_before(marks, space->id, tl->now);
    const struct timeline_frame *next = landmarks_frame_after(marks, space->id, tl->now);
    ahead->run_count = ahead->fault_count = ahead->drop_count = 0;
    memset(ahead->fault_sizes, 0, sizeof ahead->fault_sizes);
    ahead->space = space->id;
    ahead->frame = false;
    ahead->from = before ? seq_after_time(tl, before->t) : tl->at.seq;
    if (ahead->from > tl->at.seq) ahead->from = tl->at.seq;
    ahead->now_from = before ? before->t : tl->now;
    ahead->frame_t = next ? next->t : UINT64_MAX;
    take_chunks(tl, ahead, space, ahead->frame_t);
    if (!next) ahead->frame = false;
    arrange(ahead);
}

static struct ahead *get(struct timeline *tl, const struct vmv_space *space) {
    struct ahead *oldest = &tl->ahead[0];
    for (size_t i = 0; i < AHEAD_KEPT; i++) {
        struct ahead *ahead = &tl->ahead[i];
        if (ahead->space == space->id && ahead->from <= tl->at.seq && ahead->now_from <= tl->now &&
            tl->now < ahead->frame_t) {
            ahead->used = ++tl->ahead_clock;
            return ahead;
        }
        if (ahead->used < oldest->used) oldest = ahead;
    }
    build(tl, oldest, space);
    oldest->used = ++tl->ahead_clock;
    return oldest;
}

static size_t first_fault(const struct ahead *ahead, uint64_t start) {
    size_t low = 0, high = ahead->fault_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ahead->faults[middle].start < start)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct faults {      // on one page
    uint64_t before; // ns, the first before the moment; 0: none
    uint64_t t, seq; // the first after it; seq UINT64_MAX: none
};

static void look_at_faults(const struct ahead *ahead, uint64_t start, uint64_t position, struct faults *found) {
    for (size_t i = first_fault(ahead, start); i < ahead->fault_count && ahead->faults[i].start == start; i++) {
        const struct ahead_fault *fault = &ahead->faults[i];
        if (fault->seq < position) {
            if (!found->before || fault->t < found->before) found->before = fault->t;
        } else {
            if (fault->seq < found->seq) found->seq = fault->seq, found->t = fault->t;
            return;
        }
    }
}

// Faults on the page itself and on the huge pages that hold it.
static struct faults faults_on(const struct ahead *ahead, uint64_t addr, uint64_t position) {
    struct faults found = {.seq = UINT64_MAX};
    for (size_t i = 0; i < AHEAD_SIZES && ahead->fault_sizes[i]; i++)
        look_at_faults(ahead, addr & ~(ahead->fault_sizes[i] - 1), position, &found);
    return found;
}

// How many runs start at or before addr.
static size_t runs_before(const struct ahead *ahead, uint64_t addr) {
    size_t low = 0, high = ahead->run_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ahead->runs[middle].start <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void look_at_runs(const struct ahead *ahead, uint64_t addr, struct ahead_answer *answer) {
    size_t low = runs_before(ahead, addr);
    while (low-- > 0 && ahead->runs[low].reach > addr) {
        if (ahead->runs[low].end <= addr) continue;
        answer->listed = true;
        answer->state = ahead->runs[low].state;
        answer->flags |= ahead->runs[low].flags;
    }
}

static uint64_t first_drop(const struct ahead *ahead, uint64_t addr, uint64_t position) {
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < ahead->drop_count; i++) {
        const struct ahead_drop *drop = &ahead->drops[i];
        if (drop->seq >= position && drop->start <= addr && addr < drop->end && drop->seq < first) first = drop->seq;
    }
    return first;
}

struct ahead_answer ahead_ask(struct timeline *tl, const struct vmv_space *space, uint64_t addr) {
    const struct ahead *ahead = get(tl, space);
    struct faults faults = faults_on(ahead, addr, tl->at.seq);
    struct ahead_answer answer = {.word = AHEAD_NOTHING, .t = faults.t, .first_fault = faults.before};
    uint64_t drop = first_drop(ahead, addr, tl->at.seq);
    if (ahead->frame) look_at_runs(ahead, addr, &answer);
    if (faults.seq < drop) {
        answer.word = AHEAD_LATER;
    } else if (drop == UINT64_MAX && ahead->frame) {
        bool changed = answer.flags & (VMV_PAGEF_WRITTEN | VMV_PAGEF_HUGE | VMV_PAGEF_SKIPPED);
        answer.word = changed ? AHEAD_CHANGED : AHEAD_UNCHANGED;
        answer.t = ahead->frame_t;
    }
    return answer;
}

static void mark(uint64_t *spoken, const struct vmv_space *space, uint64_t addr, uint64_t start, uint64_t end) {
    uint64_t length = (uint64_t)AHEAD_STRETCH << space->page_shift;
    if (end <= addr || (start > addr && start - addr >= length)) return;
    uint64_t first = start > addr ? (start - addr) >> space->page_shift : 0;
    uint64_t last = end - addr < length ? (end - addr - 1) >> space->page_shift : AHEAD_STRETCH - 1;
    for (uint64_t i = first; i <= last; i++) spoken[i / 64] |= UINT64_C(1) << i % 64;
}

static void mark_faults(const struct ahead *ahead, const struct vmv_space *space, uint64_t addr, uint64_t *spoken) {
    uint64_t end = addr + ((uint64_t)AHEAD_STRETCH << space->page_shift);
    for (size_t k = 0; k < AHEAD_SIZES && ahead->fault_sizes[k]; k++) {
        uint64_t size = ahead->fault_sizes[k];
        for (size_t i = first_fault(ahead, addr & ~(size - 1)); i < ahead->fault_count; i++) {
            uint64_t start = ahead->faults[i].start;
            if (start >= end) break;
            if (!(start & (size - 1))) mark(spoken, space, addr, start, start + size);
        }
    }
}

struct ahead_answer ahead_ask_rest(struct timeline *tl, const struct vmv_space *space, uint64_t addr,
                                   uint64_t spoken[AHEAD_STRETCH / 64]) {
    const struct ahead *ahead = get(tl, space);
    uint64_t end = addr + ((uint64_t)AHEAD_STRETCH << space->page_shift);
    memset(spoken, 0, AHEAD_STRETCH / 8);
    mark_faults(ahead, space, addr, spoken);
    for (size_t i = runs_before(ahead, end - 1); i-- > 0 && ahead->runs[i].reach > addr;)
        mark(spoken, space, addr, ahead->runs[i].start, ahead->runs[i].end);
    for (size_t i = 0; i < ahead->drop_count; i++)
        mark(spoken, space, addr, ahead->drops[i].start, ahead->drops[i].end);
    if (!ahead->frame) return (struct ahead_answer){.word = AHEAD_NOTHING};
    return (struct ahead_answer){.word = AHEAD_UNCHANGED, .t = ahead->frame_t};
}

void ahead_free(struct ahead *ahead) {
    free(ahead->runs);
    free(ahead->faults);
    free(ahead->drops);
    *ahead = (struct ahead){0};
}
