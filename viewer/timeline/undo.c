// Takes events back. Where an event only changes pages, a thread or a count, what it is about to change is noted; going
// back then costs as little as going forward. Events that change more (mappings, processes) end what can be taken back.
#include "timeline_internal.h"

#include <stdlib.h>
#include <string.h>

#include "pagetab.h"

enum { MOST_PAGES = 400000, MOST_PAGES_OF_AN_EVENT = 2048 };

void undo_reset(struct undo *undo, uint64_t seq) {
    undo->from = seq;
    undo->event_count = undo->page_count = undo->thread_count = 0;
}

void undo_free(struct undo *undo) {
    free(undo->events);
    free(undo->pages);
    free(undo->threads);
    *undo = (struct undo){0};
}

size_t undo_memory(const struct undo *undo) {
    return undo->event_room * sizeof *undo->events + undo->page_room * sizeof *undo->pages +
           undo->thread_room * sizeof *undo->threads;
}

// --- noting

static void forget_first(void *array, size_t *count, size_t gone, size_t size) {
    memmove(array, (char *)array + gone * size, (*count - gone) * size);
    *count -= gone;
}

// The older half goes.
static void shorten(struct undo *undo) {
    size_t events = undo->event_count / 2 + 1, pages = 0, threads = 0;
    for (size_t i = 0; i < events; i++) {
        pages += undo->events[i].pages;
        threads += undo->events[i].type == VMV_EV_THREAD;
    }
    undo->from = events < undo->event_count ? undo->events[events].seq : undo->events[events - 1].seq + 1;
    forget_first(undo->events, &undo->event_count, events, sizeof *undo->events);
    forget_first(undo->pages, &undo->page_count, pages, sizeof *undo->pages);
    forget_first(undo->threads, &undo->thread_count, threads, sizeof *undo->threads);
}

static bool note_pages(struct undo *undo, struct undo_event *note, const struct vmv_space *space,
                       const struct vmv_event *event) {
    struct event_span span[2];
    event_spans(event, space->page_size, span);
    uint64_t first = span->start >> space->page_shift, last = (span->end ? span->end - 1 : 0) >> space->page_shift;
    if (span->end <= span->start || last - first >= MOST_PAGES_OF_AN_EVENT || span->end >> 56) return false;
    note->pages = (uint32_t)(last - first + 1);
    for (uint64_t page = first; page <= last; page++) {
        const struct vmv_page *known = vmv_space_page_peek(space, page << space->page_shift);
        undo->pages = timeline_grow(undo->pages, undo->page_count, &undo->page_room, sizeof *undo->pages);
        undo->pages[undo->page_count].page = page;
        undo->pages[undo->page_count++].old = known ? *known : (struct vmv_page){0};
    }
    return true;
}

static bool note_thread(struct undo *undo, const struct vmv_world *world, const struct vmv_event *event) {
    const struct vmv_thread *thread = vmv_world_thread(world, event->tid);
    if (!thread || thread->state == VMV_THREAD_GONE || event->state == VMV_THREAD_GONE) return false;
    undo->threads = timeline_grow(undo->threads, undo->thread_count, &undo->thread_room, sizeof *undo->threads);
    undo->threads[undo->thread_count++] = *thread;
    return true;
}

// False: the event cannot be taken back.
static bool note(struct undo *undo, struct undo_event *note, const struct vmv_world *world,
                 const struct vmv_space *space, const struct vmv_event *event) {
    switch (event->type) {
    case VMV_EV_FAULT:
    case VMV_EV_PAGES:
    case VMV_EV_CONTENT:
        return !space || note_pages(undo, note, space, event);
    case VMV_EV_FRAME:
        note->frame = space ? space->last_frame : 0;
        note->frame_t = space ? space->last_frame_t : 0;
        return true;
    case VMV_EV_THREAD:
        return note_thread(undo, world, event);
    case VMV_EV_NONE:
    case VMV_EV_MARK:
    case VMV_EV_SIGNAL:
    case VMV_EV_WATCH:
    case VMV_EV_GAP:
    case VMV_EV_GOVERNOR:
    case VMV_EV_NOTE:
        return true;
    default:
        return false;
    }
}

void undo_apply(struct undo *undo, struct vmv_world *world, const struct vmv_event *event) {
    const struct vmv_space *space = event->space ? vmv_world_space(world, event->space) : NULL;
    uint64_t changes = space ? space->changes : 0, threads = world->thread_count;
    struct undo_event noted = {
        .seq = event->seq, .world_seq = world->seq, .t = world->t, .space = event->space, .type = (uint8_t)event->type};
    if (undo->page_count >= MOST_PAGES) shorten(undo);
    bool can = note(undo, &noted, world, space, event);
    vmv_world_apply(world, event);
    if (!can || (space && space->changes != changes) || world->thread_count != threads) {
        undo_reset(undo, event->seq + 1);
        return;
    }
    undo->events = timeline_grow(undo->events, undo->event_count, &undo->event_room, sizeof *undo->events);
    undo->events[undo->event_count++] = noted;
}

// --- taking back

static void put_page(struct vmv_page *page, const void *how, uint64_t place) {
    (void)place;
    *page = *(const struct vmv_page *)how;
}

static void restore_pages(struct undo *undo, const struct undo_event *noted, struct vmv_space *space) {
    for (uint32_t i = 0; i < noted->pages; i++) {
        const struct undo_page *page = &undo->pages[--undo->page_count];
        vmv_page_table_change(space->pages, page->page, page->page + 1, VMV_PAGES_CREATE, put_page, &page->old);
    }
    const struct vmv_page_counts *counts = vmv_page_table_counts(space->pages);
    space->resident_pages = counts->resident;
    space->swapped_pages = counts->swapped;
}

static void restore_thread(struct undo *undo, struct vmv_world *world) {
    const struct vmv_thread *old = &undo->threads[--undo->thread_count];
    struct vmv_thread *thread = vmv_world_thread(world, old->tid);
    if (thread) *thread = *old;
}

static void take_back(struct undo *undo, struct vmv_world *world, const struct undo_event *noted) {
    struct vmv_space *space = noted->space ? vmv_world_space(world, noted->space) : NULL;
    if (noted->pages && space) restore_pages(undo, noted, space);
    if (noted->type == VMV_EV_THREAD) restore_thread(undo, world);
    if (noted->type == VMV_EV_FRAME) world->frames--;
    if (noted->type == VMV_EV_FRAME && space) {
        space->last_frame = noted->frame;
        space->last_frame_t = noted->frame_t;
    }
    world->events[noted->type]--;
    world->t = noted->t;
    world->seq = noted->world_seq;
}

bool undo_to(struct undo *undo, struct vmv_world *world, uint64_t seq) {
    if (seq < undo->from) return false;
    while (undo->event_count && undo->events[undo->event_count - 1].seq >= seq)
        take_back(undo, world, &undo->events[--undo->event_count]);
    return true;
}
