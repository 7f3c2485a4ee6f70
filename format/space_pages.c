// What faults, frames and advice do to pages.
#include "space_private.h"

#include <string.h>

#include "linux_abi.h"

enum memory { MEMORY_ANONYMOUS, MEMORY_PRIVATE_FILE, MEMORY_SHARED }; // what stands behind a page

static enum memory memory_of(const struct vmv_mapping *map) {
    if (map->flags & VMV_MAP_SHARED) return MEMORY_SHARED;
    return vmv_mapping_is_file(map) ? MEMORY_PRIVATE_FILE : MEMORY_ANONYMOUS;
}

struct how { // what a page is told
    const struct vmv_event *event;
    enum memory memory;
};

static void page_change(struct vmv_space *space, uint64_t start, uint64_t end, unsigned flags, vmv_page_change *change,
                        const void *how) {
    struct vmv_page_span span = vmv_space_span(space, start, end);
    vmv_page_table_change(space->pages, span.first, span.end, flags, change, how);
    vmv_space_recount(space);
}

// Tells the pages of [start, end) what happened, mapping by mapping.
static void change_mapped(struct vmv_space *space, uint64_t start, uint64_t end, unsigned flags,
                          vmv_page_change *change, const struct vmv_event *event) {
    for (size_t i = vmv_space_lower_bound(space, start); i < space->map_count; i++) {
        const struct vmv_mapping *map = &space->maps[i];
        if (map->start >= end) return;
        struct how how = {event, memory_of(map)};
        page_change(space, map->start > start ? map->start : start, map->end < end ? map->end : end, flags, change,
                    &how);
    }
}

static void forget_content(struct vmv_page *page) {
    page->content = VMV_CONTENT_NONE;
    page->captured = 0;
    page->certainty = VMV_CERT_UNKNOWN;
}

static void know_zero(struct vmv_page *page, uint64_t t) {
    page->content = VMV_CONTENT_ZERO;
    page->captured = t;
    page->certainty = VMV_CERT_EXACT;
}

static void seen_written(struct vmv_page *page, uint64_t t) {
    page->written = t;
    page->flags |= VMV_PAGEF_WRITTEN;
    if (page->writes < UINT32_MAX) page->writes++;
}

static bool in_memory(const struct vmv_page *page) {
    return page->state == VMV_PAGE_RESIDENT || page->state == VMV_PAGE_ZERO;
}

// --- faults

// A fault in the gap below a mapping that grows down extends it, as the kernel does: not into the guard gap above the
// next lower mapping. One of unknown kind may have failed on the stack's limit, which is 8 MiB unless set.
static bool grow_down(struct vmv_space *space, uint64_t page_start, bool sure) {
    enum { GUARD_PAGES = 256 };
    const uint64_t usual_limit = 8 << 20;
    size_t at = vmv_space_lower_bound(space, page_start);
    if (at == space->map_count || !(space->maps[at].flags & VMV_MAP_GROWSDOWN)) return false;
    struct vmv_mapping more = space->maps[at];
    if (more.start <= page_start || (!sure && more.end - page_start > usual_limit)) return false;
    const struct vmv_mapping *low = at ? &space->maps[at - 1] : NULL;
    bool guarded = low && !(low->flags & VMV_MAP_GROWSDOWN) && (low->flags & (VMV_MAP_R | VMV_MAP_W | VMV_MAP_X));
    if (guarded && page_start - low->end < (uint64_t)GUARD_PAGES << space->page_shift) return false;
    more.end = more.start;
    more.start = page_start;
    if (vmv_mapping_is_file(&more)) more.offset -= more.end - page_start;
    struct vmv_edit edit = vmv_edit_begin(space, more.start, more.end);
    vmv_edit_push(&edit, more);
    vmv_edit_done(&edit);
    return true;
}

static const struct vmv_mapping *find_recent(struct vmv_space *space, uint64_t addr) {
    size_t at = space->hidden->recent;
    if (at >= space->map_count || addr < space->maps[at].start || addr >= space->maps[at].end) {
        at = vmv_space_lower_bound(space, addr);
        if (at == space->map_count || addr < space->maps[at].start) return NULL;
        space->hidden->recent = at;
    }
    return &space->maps[at];
}

static bool fault_writes(const struct vmv_event *event) {
    return event->access == VMV_ACCESS_WRITE || event->kind == VMV_FAULT_WRITE;
}

// The page was not there: what is in it now?
static void fault_brings(struct vmv_page *page, const struct how *how) {
    const struct vmv_event *event = how->event;
    bool reads = event->access == VMV_ACCESS_READ || event->access == VMV_ACCESS_EXEC;
    bool fresh = page->state != VMV_PAGE_SWAPPED && how->memory != MEMORY_SHARED;
    page->state = VMV_PAGE_RESIDENT;
    page->flags &= VMV_PAGEF_FILE;
    if (fresh) forget_content(page);
    if (fresh && how->memory == MEMORY_ANONYMOUS && reads && !(event->page_flags & VMV_PAGEF_HUGE)) {
        page->state = VMV_PAGE_ZERO;
        know_zero(page, event->t);
    }
    if (how->memory == MEMORY_ANONYMOUS || event->kind == VMV_FAULT_FIRST_TOUCH)
        page->flags &= (uint8_t)~VMV_PAGEF_FILE;
    if (event->kind == VMV_FAULT_FILE) page->flags |= VMV_PAGEF_FILE;
    if (event->kind == VMV_FAULT_POPULATED) page->flags |= VMV_PAGEF_POPULATED;
}

static void fault_page(struct vmv_page *page, const void *how_pointer, uint64_t place) {
    const struct how *how = how_pointer;
    const struct vmv_event *event = how->event;
    (void)place;
    if (page->state == VMV_PAGE_GUARD) return; // SIGSEGV
    if (!in_memory(page)) fault_brings(page, how);
    page->flags |= event->page_flags & VMV_PAGEF_HUGE;
    if (fault_writes(event)) {
        page->state = VMV_PAGE_RESIDENT;
        page->armed = 0;
        if (how->memory != MEMORY_SHARED) page->flags &= (uint8_t)~VMV_PAGEF_FILE; // copied on write
        seen_written(page, event->t);
    } else if (event->access == VMV_ACCESS_UNKNOWN && event->kind == VMV_FAULT_UNKNOWN) {
        page->armed = 0; // it may have been a write
        if (page->certainty) page->certainty = VMV_CERT_STALE;
    }
}

static bool permitted(const struct vmv_mapping *map, const struct vmv_event *event) {
    uint32_t rights = map->flags & (VMV_MAP_R | VMV_MAP_W | VMV_MAP_X);
    return rights && (!fault_writes(event) || (rights & VMV_MAP_W) || event->kind != VMV_FAULT_UNKNOWN);
}

void vmv_space_fault(struct vmv_space *space, const struct vmv_event *event) {
    uint64_t start, end;
    uint64_t addr = event->addr;
    bool many = event->len > space->page_size && !(event->len & (event->len - 1));
    if (many) addr &= ~(event->len - 1); // a huge page lies on its own border
    if (!vmv_space_clip(space, addr, many ? event->len : 1, &start, &end)) return;
    const struct vmv_mapping *map = find_recent(space, event->addr);
    if (!map && grow_down(space, event->addr & ~(uint64_t)(space->page_size - 1), event->kind != VMV_FAULT_UNKNOWN))
        map = find_recent(space, event->addr);
    if (!map || !permitted(map, event)) return;
    struct how how = {event, memory_of(map)};
    page_change(space, start > map->start ? start : map->start, end < map->end ? end : map->end,
                VMV_PAGES_CREATE | VMV_PAGES_ALIKE, fault_page, &how);
}

// --- frames

static void gone_page(struct vmv_page *page, const void *how_pointer, uint64_t place) {
    const struct how *how = how_pointer;
    (void)place;
    if (page->state == VMV_PAGE_GUARD) return; // markers outlive what is thrown away around them
    page->state = VMV_PAGE_ABSENT;
    page->flags = how->memory == MEMORY_ANONYMOUS ? 0 : VMV_PAGEF_FILE;
    page->armed = 0;
    if (how->memory != MEMORY_SHARED) forget_content(page); // of shared memory, the object keeps it
}

static void absent_page(struct vmv_page *page, const void *how, uint64_t place) {
    if (page->state == VMV_PAGE_GUARD) page->state = VMV_PAGE_UNKNOWN; // a frame saw that the marker is gone
    gone_page(page, how, place);
}

static void run_page(struct vmv_page *page, const void *how, uint64_t place) {
    const struct vmv_event *event = how;
    (void)place;
    uint8_t was = page->flags;
    page->state = event->state;
    page->flags = event->page_flags;
    if (event->state == VMV_PAGE_GUARD) forget_content(page);
    if (event->state == VMV_PAGE_ZERO) know_zero(page, event->t);
    // A fault since the last frame has counted the write already: it took the protection away.
    bool counted =
        (was & VMV_PAGEF_WRITTEN) && !page->armed && !(event->page_flags & (VMV_PAGEF_HUGE | VMV_PAGEF_UNARMED));
    bool in_place = event->state == VMV_PAGE_RESIDENT || event->state == VMV_PAGE_ZERO;
    page->armed = in_place && !(event->page_flags & (VMV_PAGEF_HUGE | VMV_PAGEF_UNARMED));
    if (!(event->page_flags & VMV_PAGEF_WRITTEN)) return;
    uint32_t writes = page->writes;
    seen_written(page, event->t);
    if (counted) page->writes = writes;
}

static void content_page(struct vmv_page *page, const void *how, uint64_t place) {
    const struct vmv_event *event = how;
    if (event->content == VMV_CONTENT_NONE) return forget_content(page);
    page->content = event->content + (event->content_step ? place : 0);
    page->captured = event->t;
    bool said = event->certainty && event->certainty <= VMV_CERT_PARTIAL;
    page->certainty = said ? event->certainty : VMV_CERT_EXACT;
    page->flags &= (uint8_t)~VMV_PAGEF_SKIPPED;
}

static void pages_run(struct vmv_space *space, const struct vmv_event *event, uint64_t start, uint64_t end) {
    if (event->state == VMV_PAGE_UNKNOWN || event->state > VMV_PAGE_GUARD)
        vmv_space_pages_drop(space, start, end);
    else if (event->state == VMV_PAGE_ABSENT)
        change_mapped(space, start, end, VMV_PAGES_ALIKE, absent_page, event);
    else
        page_change(space, start, end, VMV_PAGES_CREATE | VMV_PAGES_ALIKE, run_page, event);
}

void vmv_space_run(struct vmv_space *space, const struct vmv_event *event) {
    uint64_t start, end;
    const uint64_t content_limit = UINT64_C(1) << 62; // no recording has as many pages
    if (!vmv_space_clip(space, event->addr, event->len, &start, &end) || event->content >= content_limit) return;
    if (!find_recent(space, start)) grow_down(space, start, true);
    if (event->type == VMV_EV_PAGES) return pages_run(space, event, start, end);
    unsigned flags = event->content == VMV_CONTENT_NONE ? 0 : VMV_PAGES_CREATE;
    page_change(space, start, end, flags | (event->content_step ? 0 : VMV_PAGES_ALIKE), content_page, event);
}

// --- advice

static void free_page(struct vmv_page *page, const void *how, uint64_t place) {
    (void)place;
    if (((const struct how *)how)->memory == MEMORY_ANONYMOUS && page->certainty) page->certainty = VMV_CERT_STALE;
}

static void guard_page(struct vmv_page *page, const void *how, uint64_t place) {
    (void)how, (void)place;
    *page = (struct vmv_page){.state = VMV_PAGE_GUARD, .written = page->written, .writes = page->writes};
}

static void unguard_page(struct vmv_page *page, const void *how, uint64_t place) {
    (void)how, (void)place;
    if (page->state == VMV_PAGE_GUARD) page->state = VMV_PAGE_ABSENT;
}

// MADV_REMOVE is a hole punched through the mapping.
static void advise_remove(struct vmv_space *space, const struct vmv_event *event, uint64_t start, uint64_t end) {
    for (size_t i = vmv_space_lower_bound(space, start); i < space->map_count && space->maps[i].start < end; i++) {
        struct vmv_mapping part = vmv_mapping_cut(&space->maps[i], start, end);
        if (!(part.flags & VMV_MAP_SHARED)) continue;
        struct vmv_event hole = *event;
        hole.type = VMV_EV_PUNCH;
        hole.inode = part.inode;
        hole.dev_major = part.dev_major;
        hole.dev_minor = part.dev_minor;
        vmv_space_file_gone(space, &hole, part.offset, part.offset + (part.end - part.start));
    }
}

static void advise_fork(struct vmv_space *space, uint64_t start, uint64_t end, unsigned on, unsigned off) {
    for (size_t i = vmv_space_lower_bound(space, start); i < space->map_count && space->maps[i].start < end; i++) {
        struct vmv_mapping part = vmv_mapping_cut(&space->maps[i], start, end);
        vmv_ranges_set(&space->hidden->fork_advice, part.start, part.end, on, off);
    }
}

void vmv_space_advise(struct vmv_space *space, const struct vmv_event *event) {
    uint64_t start, end;
    // Over a hole madvise does its work on the rest and then says ENOMEM.
    if (event->ret < 0 && event->ret != -ABI_ENOMEM) return;
    if (!vmv_space_clip(space, event->addr, event->len, &start, &end)) return;
    const unsigned alike = VMV_PAGES_ALIKE;
    switch (event->prot) {
    case ABI_MADV_DONTNEED:
    case ABI_MADV_DONTNEED_LOCKED:
        return change_mapped(space, start, end, alike, gone_page, event);
    case ABI_MADV_FREE:
        return change_mapped(space, start, end, alike, free_page, event);
    case ABI_MADV_REMOVE:
        return advise_remove(space, event, start, end);
    case ABI_MADV_DONTFORK:
        return advise_fork(space, start, end, VMV_RANGE_DONTFORK, 0);
    case ABI_MADV_DOFORK:
        return advise_fork(space, start, end, 0, VMV_RANGE_DONTFORK);
    case ABI_MADV_WIPEONFORK:
        return advise_fork(space, start, end, VMV_RANGE_WIPEONFORK, 0);
    case ABI_MADV_KEEPONFORK:
        return advise_fork(space, start, end, 0, VMV_RANGE_WIPEONFORK);
    case ABI_MADV_GUARD_INSTALL:
        return change_mapped(space, start, end, VMV_PAGES_CREATE | alike, guard_page, event);
    case ABI_MADV_GUARD_REMOVE:
        return change_mapped(space, start, end, alike, unguard_page, event);
    default:
        return;
    }
}

// --- files that lose their pages

static void hole_page(struct vmv_page *page, const void *how_pointer, uint64_t place) {
    const struct how *how = how_pointer;
    bool punched = how->event->type == VMV_EV_PUNCH;
    bool own_copy = how->memory == MEMORY_PRIVATE_FILE && in_memory(page) && !(page->flags & VMV_PAGEF_FILE);
    if (page->state == VMV_PAGE_GUARD) return;
    if (punched && own_copy) return; // a hole leaves private copies alone; the end of the file does not
    gone_page(page, how, place);
    forget_content(page);
    if (punched && how->memory == MEMORY_SHARED) know_zero(page, how->event->t);
}

static void partly_zeroed_page(struct vmv_page *page, const void *how, uint64_t place) {
    (void)how, (void)place;
    if (page->certainty) page->certainty = VMV_CERT_STALE;
}

// Bytes [from, to) of the file are gone; the mapping shows [map->offset, ...) of it.
static void gone_in_mapping(struct vmv_space *space, const struct vmv_mapping *map, const struct vmv_event *event,
                            uint64_t from, uint64_t to) {
    uint64_t mask = space->page_size - 1, length = map->end - map->start;
    uint64_t low = from > map->offset ? from - map->offset : 0, high = to > map->offset ? to - map->offset : 0;
    if (high > length) high = length;
    if (low >= high) return;
    struct how how = {event, memory_of(map)};
    uint64_t whole = (low + mask) & ~mask, whole_end = high & ~mask;
    if (low & mask) page_change(space, map->start + low - 1, map->start + low, 0, partly_zeroed_page, &how);
    if ((high & mask) && high > whole)
        page_change(space, map->start + whole_end, map->start + high, 0, partly_zeroed_page, &how);
    if (whole < whole_end)
        page_change(space, map->start + whole, map->start + whole_end, VMV_PAGES_ALIKE, hole_page, &how);
}

void vmv_space_file_gone(struct vmv_space *space, const struct vmv_event *event, uint64_t from, uint64_t to) {
    if (!event->inode) return;
    for (size_t i = 0; i < space->map_count; i++) {
        const struct vmv_mapping *map = &space->maps[i];
        bool same =
            map->inode == event->inode && map->dev_major == event->dev_major && map->dev_minor == event->dev_minor;
        if (same) gone_in_mapping(space, map, event, from, to);
    }
}

// --- fork

static void wiped_page(struct vmv_page *page, const void *how, uint64_t place) {
    (void)how, (void)place;
    *page = (struct vmv_page){.state = VMV_PAGE_ABSENT};
}

// Pages of a private mapping that are no longer the file's.
static bool has_own_pages(const struct vmv_space *space, const struct vmv_mapping *map) {
    uint64_t addr = map->start;
    for (const struct vmv_page *page; (page = vmv_space_page_next(space, &addr, map->end)); addr += space->page_size) {
        if (page->state == VMV_PAGE_SWAPPED || page->state == VMV_PAGE_GUARD) return true;
        if (page->state == VMV_PAGE_RESIDENT && !(page->flags & VMV_PAGEF_FILE)) return true;
    }
    return false;
}

static void drop_advised(struct vmv_space *child) {
    struct vmv_ranges advice = {0};
    vmv_ranges_copy(&advice, &child->hidden->fork_advice);
    for (size_t i = 0; i < advice.count; i++) {
        const struct vmv_range *range = &advice.list[i];
        if (range->bits & VMV_RANGE_DONTFORK)
            vmv_space_unmap(child, range->start, range->end);
        else
            page_change(child, range->start, range->end, VMV_PAGES_ALIKE, wiped_page, NULL);
    }
    vmv_ranges_free(&advice);
}

// The kernel copies page tables only of mappings with pages of their own; the others fill again by faults. (Of
// anonymous memory without any, the child may lose pages of zeros: it makes no difference to what it reads.)
void vmv_space_forked(struct vmv_space *child) {
    drop_advised(child);
    for (size_t i = 0; i < child->map_count; i++) {
        const struct vmv_mapping *map = &child->maps[i];
        struct how how = {NULL, memory_of(map)};
        if (how.memory == MEMORY_ANONYMOUS || (how.memory == MEMORY_PRIVATE_FILE && has_own_pages(child, map)))
            continue;
        page_change(child, map->start, map->end, VMV_PAGES_ALIKE, gone_page, &how);
    }
}
