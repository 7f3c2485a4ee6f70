#include "sink_frame.h"

#include <stdlib.h>
#include <string.h>

struct frame_writer {
    struct vmv_writer *writer;
    struct sink_frame *frame;
    const struct vmv_space *space;
    uint64_t page_size;
    uint64_t *numbers; // content number of each copied page, VMV_CONTENT_NONE where it could not be read
    size_t number_at;  // walks along with the pages
    uint64_t block;    // the huge page looked at last, and whether any of it was resident before
    bool block_resident;
    struct vmv_event *pages; // settled PAGES events
    size_t count, room;
};

static void add_pages(struct frame_writer *f, const struct vmv_event *run) {
    if (f->count) { // joins the run before if that ends here in the same state
        struct vmv_event *last = &f->pages[f->count - 1];
        if (last->addr + last->len == run->addr && last->state == run->state && last->page_flags == run->page_flags) {
            last->len += run->len;
            return;
        }
    }
    if (f->count == f->room) {
        f->room = f->room * 2 + 64;
        f->pages = realloc(f->pages, f->room * sizeof *f->pages);
        if (!f->pages) abort();
    }
    f->pages[f->count++] = *run;
}

static bool is_resident(const struct vmv_page *page) {
    return page &&
           (page->state == VMV_PAGE_RESIDENT || page->state == VMV_PAGE_ZERO || page->state == VMV_PAGE_SWAPPED);
}

enum { HUGE_PAGES = 512 };

// A huge page comes at one touch: if any part of it was known before, the rest did not come by itself.
static bool huge_was_resident(struct frame_writer *f, uint64_t addr) {
    uint64_t size = HUGE_PAGES * f->page_size, block = addr / size * size;
    if (f->block == block) return f->block_resident;
    f->block = block;
    uint64_t at = block;
    const struct vmv_page *page;
    while ((page = vmv_space_page_next(f->space, &at, block + size)) && !is_resident(page)) at += f->page_size;
    f->block_resident = page != NULL;
    return f->block_resident;
}

enum change { CHANGE_UNKNOWN, CHANGE_NONE, CHANGE_SEEN };

// Whether the contents copied now differ from those of before.
static enum change compare_contents(struct frame_writer *f, const struct vmv_page *before, uint64_t addr) {
    const struct track_copy *copy = &f->frame->copy;
    while (f->number_at < copy->pages && copy->addrs[f->number_at] < addr) f->number_at++;
    if (f->number_at == copy->pages || copy->addrs[f->number_at] != addr) return CHANGE_UNKNOWN;
    uint64_t now = f->numbers[f->number_at], then = before ? before->content : (uint64_t)VMV_CONTENT_NONE;
    if (now == VMV_CONTENT_NONE || then == VMV_CONTENT_NONE) return CHANGE_UNKNOWN;
    return now == then ? CHANGE_NONE : CHANGE_SEEN;
}

// "Written" from a scan means: written, or not armed when it was scanned (a huge page, a child's pages after fork, a
// mapping that moved or cannot be protected). Of a page that was not armed only its contents tell; without them, a page
// of anonymous memory that is not the zero page was written once, a shared page may have been brought in by reading.
static bool is_written(struct frame_writer *f, const struct vmv_event *run, const struct vmv_page *before,
                       uint64_t addr, bool shared) {
    if (!(run->page_flags & VMV_PAGEF_WRITTEN)) return false;
    if (before && before->armed) return true;
    enum change change = compare_contents(f, before, addr);
    if (change != CHANGE_UNKNOWN) return change == CHANGE_SEEN;
    bool known = before && before->content != VMV_CONTENT_NONE;
    return !known && !shared;
}

static uint8_t settle_flags(struct frame_writer *f, const struct vmv_event *run, uint64_t addr, bool shared) {
    uint8_t flags = run->page_flags;
    const struct vmv_page *before = vmv_space_page_peek(f->space, addr);
    bool huge = flags & VMV_PAGEF_HUGE;
    if (f->frame->as_found) return flags & (uint8_t)~VMV_PAGEF_WRITTEN;
    if (!is_resident(before) && !(huge && huge_was_resident(f, addr))) flags |= VMV_PAGEF_POPULATED;
    if (!is_written(f, run, before, addr, shared)) flags &= (uint8_t)~VMV_PAGEF_WRITTEN;
    return flags;
}

static void settle_run(struct frame_writer *f, const struct vmv_event *run) {
    struct vmv_event page = *run;
    page.len = f->page_size;
    for (uint64_t addr = run->addr; addr < run->addr + run->len; addr += f->page_size) {
        const struct vmv_mapping *mapping = vmv_space_find(f->space, addr);
        bool shared = mapping && (mapping->flags & VMV_MAP_SHARED);
        page.addr = addr;
        page.page_flags = settle_flags(f, run, addr, shared);
        add_pages(f, &page);
    }
}

static bool in_runs(const struct track_runs *runs, size_t *at, uint64_t addr) {
    while (*at < runs->count && runs->runs[*at].end <= addr) ++*at;
    return *at < runs->count && runs->runs[*at].start <= addr;
}

// Pages that were resident before and are not in the full list are absent: reclaimed, truncated, dropped.
static void settle_absent(struct frame_writer *f) {
    struct vmv_event gone = {.t = f->frame->event.t,
                             .type = VMV_EV_PAGES,
                             .space = f->frame->event.space,
                             .pid = f->frame->event.pid,
                             .state = VMV_PAGE_ABSENT,
                             .len = f->page_size};
    size_t at = 0;
    uint64_t addr = 0;
    for (const struct vmv_page *page; (page = vmv_space_page_next(f->space, &addr, UINT64_MAX)); addr += f->page_size) {
        if (!is_resident(page) || in_runs(&f->frame->resident, &at, addr)) continue;
        gone.addr = addr;
        add_pages(f, &gone);
    }
}

static uint64_t count_written(const struct frame_writer *f) {
    uint64_t pages = 0;
    for (size_t i = 0; i < f->count; i++)
        if (f->pages[i].page_flags & VMV_PAGEF_WRITTEN) pages += f->pages[i].len / f->page_size;
    return pages;
}

// ---------------------------------------------------------------------------------------------- contents

struct content_run { // CONTENT events being joined
    struct vmv_event event;
    uint64_t pages;
};

static void content_flush(struct frame_writer *f, struct content_run *run) {
    if (!run->pages) return;
    run->event.len = run->pages * f->page_size;
    vmv_writer_event(f->writer, &run->event);
    run->pages = 0;
}

static bool content_continues(const struct frame_writer *f, struct content_run *run, uint64_t addr, uint64_t content,
                              uint8_t certainty) {
    struct vmv_event *event = &run->event;
    if (!run->pages || certainty != event->certainty || addr != event->addr + run->pages * f->page_size) return false;
    uint64_t last = event->content + (run->pages - 1) * event->content_step;
    if (run->pages == 1 && (content == last || content == last + 1)) event->content_step = content != last;
    return content == last + event->content_step;
}

static void content_add(struct frame_writer *f, struct content_run *run, uint64_t addr, uint64_t content,
                        uint8_t certainty) {
    if (content_continues(f, run, addr, content, certainty)) {
        run->pages++;
        return;
    }
    content_flush(f, run);
    run->event.addr = addr;
    run->event.content = content;
    run->event.content_step = 0;
    run->event.certainty = certainty;
    run->pages = 1;
}

static void store_contents(struct frame_writer *f) {
    const struct track_copy *copy = &f->frame->copy;
    f->numbers = malloc((copy->pages + 1) * sizeof *f->numbers);
    if (!f->numbers) abort();
    for (size_t i = 0; i < copy->pages; i++)
        f->numbers[i] = copy->good[i] ? vmv_writer_page(f->writer, copy->bytes + i * f->page_size) : VMV_CONTENT_NONE;
}

static void write_contents(struct frame_writer *f) {
    const struct vmv_event *frame = &f->frame->event;
    const struct track_copy *copy = &f->frame->copy;
    struct content_run run = {
        .event = {.t = frame->t, .type = VMV_EV_CONTENT, .space = frame->space, .pid = frame->pid, .tid = frame->tid}};
    size_t torn = 0;
    for (size_t i = 0; i < copy->pages; i++) {
        if (!copy->good[i]) continue;
        bool is_torn = in_runs(&f->frame->torn, &torn, copy->addrs[i]);
        content_add(f, &run, copy->addrs[i], f->numbers[i], is_torn ? VMV_CERT_TORN : VMV_CERT_EXACT);
    }
    content_flush(f, &run);
}

static void write_threads(struct frame_writer *f) {
    for (size_t i = 0; i < f->frame->thread_count; i++) {
        struct sink_thread *thread = &f->frame->threads[i];
        if (thread->general)
            thread->event.regs = vmv_writer_regs(f->writer, thread->general, thread->general_length, thread->extended,
                                                 thread->extended_length);
        vmv_writer_event(f->writer, &thread->event);
    }
}

void sink_frame_drop_contents(struct sink_frame *frame) {
    frame->copy.pages = 0;
    for (size_t i = 0; i < frame->run_count; i++)
        if (frame->runs[i].page_flags & VMV_PAGEF_WRITTEN) frame->runs[i].page_flags |= VMV_PAGEF_SKIPPED;
}

void sink_frame_write(struct vmv_writer *writer, struct sink_frame *frame) {
    const struct vmv_world *world = vmv_writer_world(writer);
    struct frame_writer f = {.writer = writer,
                             .frame = frame,
                             .space = vmv_world_space(world, frame->event.space),
                             .page_size = world->page_size,
                             .block = UINT64_MAX};
    if (!f.space) return;
    store_contents(&f);
    for (size_t i = 0; i < frame->run_count; i++) settle_run(&f, &frame->runs[i]);
    if (frame->has_resident) settle_absent(&f);
    frame->event.pages_written = count_written(&f);
    frame->event.torn = track_runs_pages(&frame->torn);
    vmv_writer_event(writer, &frame->event);
    write_threads(&f);
    for (size_t i = 0; i < f.count; i++) vmv_writer_event(writer, &f.pages[i]);
    write_contents(&f);
    free(f.pages);
    free(f.numbers);
}
