#include "space.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "space_private.h"

#define HIGHEST_PAGE_ADDRESS (UINT64_C(1) << 56)
// Knowledge of pages beyond this much memory is refused: 512 GiB of scattered resident pages of 4 KiB.
#define PAGE_MEMORY_LIMIT ((size_t)4 << 30)

// --- making and ending

static bool page_size_sound(uint32_t size) { return size >= 4096 && size <= 1 << 20 && !(size & (size - 1)); }

struct vmv_space *vmv_space_create_in(uint32_t id, int32_t pid, uint32_t page_size, struct vmv_string_store *strings,
                                      struct vmv_page_pool *pool) {
    struct vmv_space *space = calloc(1, sizeof *space);
    if (!space || !(space->hidden = calloc(1, sizeof *space->hidden))) abort();
    space->id = id;
    space->pid = pid;
    space->page_size = page_size_sound(page_size) ? page_size : 4096;
    space->page_shift = (unsigned)__builtin_ctz(space->page_size);
    space->strings = vmv_strings_hold(strings);
    space->pages = vmv_page_table_create(pool);
    return space;
}

struct vmv_space *vmv_space_create(uint32_t id, int32_t pid, uint32_t page_size) {
    struct vmv_string_store *strings = vmv_strings_create();
    struct vmv_page_pool *pool = vmv_page_pool_create(PAGE_MEMORY_LIMIT);
    struct vmv_space *space = vmv_space_create_in(id, pid, page_size, strings, pool);
    vmv_strings_release(strings);
    vmv_page_pool_release(pool);
    return space;
}

static void copy_mappings(struct vmv_space *to, const struct vmv_space *from) {
    struct vmv_edit edit = vmv_edit_begin(to, 0, 0);
    for (size_t i = 0; i < from->map_count; i++) vmv_edit_push(&edit, from->maps[i]);
    vmv_edit_done(&edit);
}

struct vmv_space *vmv_space_snapshot(const struct vmv_space *from) {
    struct vmv_page_pool *pool = vmv_page_table_pool(from->pages);
    struct vmv_space *space = vmv_space_create_in(from->id, from->pid, from->page_size, from->strings, pool);
    vmv_page_table_destroy(space->pages);
    space->pages = vmv_page_table_copy(from->pages);
    copy_mappings(space, from);
    vmv_ranges_copy(&space->hidden->fork_advice, &from->hidden->fork_advice);
    space->brk = from->brk;
    space->last_frame = from->last_frame;
    space->last_frame_t = from->last_frame_t;
    space->copied_from = from->copied_from;
    space->users = from->users;
    space->changes = from->changes;
    vmv_space_recount(space);
    return space;
}

struct vmv_space *vmv_space_copy(const struct vmv_space *from, uint32_t id, int32_t pid) {
    struct vmv_space *space = vmv_space_snapshot(from);
    space->id = id;
    space->pid = pid;
    space->copied_from = from->id;
    space->users = 0;
    space->last_frame = space->last_frame_t = 0;
    vmv_space_forked(space);
    return space;
}

static void free_private(struct vmv_space_private *hidden) {
    free(hidden->base);
    free(hidden->work);
    free(hidden->execs.list);
    vmv_ranges_free(&hidden->fork_advice);
}

void vmv_space_destroy(struct vmv_space *space) {
    if (!space) return;
    vmv_page_table_destroy(space->pages);
    vmv_strings_release(space->strings);
    free_private(space->hidden);
    free(space->hidden);
    free(space);
}

void vmv_space_clear(struct vmv_space *space) {
    struct vmv_page_table *pages = vmv_page_table_create(vmv_page_table_pool(space->pages));
    vmv_page_table_destroy(space->pages);
    space->pages = pages;
    free_private(space->hidden);
    *space->hidden = (struct vmv_space_private){0};
    space->maps = NULL;
    space->map_count = space->map_room = 0;
    space->brk = space->virtual_bytes = 0;
    space->changes++;
    vmv_space_recount(space);
}

const char *vmv_space_intern(struct vmv_space *space, const char *text) {
    return vmv_strings_intern(space->strings, text);
}

size_t vmv_space_memory_of_maps(const struct vmv_space *space) {
    const struct vmv_space_private *hidden = space->hidden;
    return sizeof *space + sizeof *hidden + (space->map_room + hidden->work_room) * sizeof *space->maps +
           hidden->execs.room * sizeof *hidden->execs.list + hidden->fork_advice.room * sizeof(struct vmv_range);
}

size_t vmv_space_memory(const struct vmv_space *space) {
    return vmv_space_memory_of_maps(space) + vmv_page_table_memory(space->pages);
}

// --- finding

size_t vmv_space_lower_bound(const struct vmv_space *space, uint64_t addr) {
    size_t low = 0, high = space->map_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (space->maps[middle].end <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct vmv_mapping *vmv_space_find(const struct vmv_space *space, uint64_t addr) {
    size_t at = vmv_space_lower_bound(space, addr);
    return at < space->map_count && space->maps[at].start <= addr ? &space->maps[at] : NULL;
}

bool vmv_space_clip(const struct vmv_space *space, uint64_t addr, uint64_t length, uint64_t *start, uint64_t *end) {
    uint64_t mask = space->page_size - 1, limit = ~mask; // the last page of all stays free, so that ends have a number
    *start = addr & ~mask;
    *end = addr > limit || length > limit - addr ? limit : (addr + length + mask) & ~mask;
    return length && *start < *end;
}

// --- joining

bool vmv_mapping_continues(const struct vmv_mapping *low, const struct vmv_mapping *high) {
    if (low->end != high->start || ((low->flags ^ high->flags) & VMV_MAP_PRINTED)) return false;
    if (low->inode != high->inode || low->dev_major != high->dev_major || low->dev_minor != high->dev_minor)
        return false;
    if (low->name != high->name && strcmp(low->name ? low->name : "", high->name ? high->name : "") != 0) return false;
    if (!vmv_mapping_is_file(low)) return true;
    if (low->object != high->object && low->object && high->object) return false;
    return low->offset + (low->end - low->start) == high->offset;
}

static void join(struct vmv_mapping *low, const struct vmv_mapping *high) {
    uint32_t either = low->flags | high->flags, both = low->flags & high->flags;
    uint32_t mine = low->flags & ~(uint32_t)(VMV_MAP_STACK | VMV_MAP_PROGRAM | VMV_MAP_SEALED);
    low->flags = mine | (either & (VMV_MAP_STACK | VMV_MAP_PROGRAM)) | (both & VMV_MAP_SEALED);
    low->end = high->end;
    if (!low->object) low->object = high->object;
}

size_t vmv_mappings_join(struct vmv_mapping *maps, size_t count) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        if (kept && vmv_mapping_continues(&maps[kept - 1], &maps[i]))
            join(&maps[kept - 1], &maps[i]);
        else
            maps[kept++] = maps[i];
    }
    return kept;
}

static bool is_stack(const struct vmv_mapping *map) { return map->name[0] == '[' && !strcmp(map->name, "[stack]"); }

// A piece that mprotect cut off the main stack is printed without the name; made equal again, both are one stack.
static bool rejoins_stack(const struct vmv_mapping *low, const struct vmv_mapping *high) {
    return low->end == high->start && !((low->flags ^ high->flags) & VMV_MAP_PRINTED) && !low->name[0] &&
           (low->flags & VMV_MAP_GROWSDOWN) && !vmv_mapping_is_file(low) && is_stack(high);
}

static bool joined(struct vmv_mapping *low, const struct vmv_mapping *high) {
    bool stack = rejoins_stack(low, high);
    if (!stack && !vmv_mapping_continues(low, high)) return false;
    join(low, high);
    if (stack) low->name = high->name;
    return true;
}

// --- editing

struct vmv_mapping vmv_mapping_cut(const struct vmv_mapping *map, uint64_t start, uint64_t end) {
    struct vmv_mapping part = *map;
    if (start > part.start) {
        if (vmv_mapping_is_file(map)) part.offset += start - part.start;
        part.start = start;
    }
    if (end < part.end) part.end = end;
    return part;
}

static struct vmv_mapping *work_add(struct vmv_edit *edit) {
    struct vmv_space_private *hidden = edit->space->hidden;
    if (edit->count == hidden->work_room) {
        hidden->work_room = hidden->work_room ? hidden->work_room * 2 : 16;
        hidden->work = realloc(hidden->work, hidden->work_room * sizeof *hidden->work);
        if (!hidden->work) abort();
    }
    return &hidden->work[edit->count++];
}

// Only the piece that holds the stack's top is printed as [stack].
static void unname_lower_stack(struct vmv_edit *edit) {
    struct vmv_mapping *work = edit->space->hidden->work;
    for (size_t i = edit->count; i-- > 0;) {
        if (!is_stack(&work[i])) continue;
        work[i].name = "";
        edit->renamed = true;
    }
}

void vmv_edit_push(struct vmv_edit *edit, struct vmv_mapping map) {
    if (map.start >= map.end) return;
    if (!map.name) map.name = "";
    if (!vmv_mapping_is_file(&map)) map.offset = 0;
    if (edit->count && joined(&edit->space->hidden->work[edit->count - 1], &map)) return;
    if (is_stack(&map)) unname_lower_stack(edit);
    *work_add(edit) = map;
}

struct vmv_edit vmv_edit_begin(struct vmv_space *space, uint64_t start, uint64_t end) {
    struct vmv_edit edit = {.space = space, .start = start, .end = end};
    edit.first = vmv_space_lower_bound(space, start);
    if (edit.first) vmv_edit_push(&edit, space->maps[--edit.first]); // the neighbour below may join
    size_t at = edit.first + edit.count;
    if (at < space->map_count && space->maps[at].start < start)
        vmv_edit_push(&edit, vmv_mapping_cut(&space->maps[at], 0, start));
    return edit;
}

// Makes `fresh` places at `first` where there were `old`, moving the shorter side.
static void resize(struct vmv_space *space, size_t first, size_t old, size_t fresh) {
    struct vmv_space_private *hidden = space->hidden;
    size_t below = first, above = space->map_count - first - old, count = below + fresh + above;
    size_t front = (size_t)(space->maps - hidden->base), back = space->map_room - front - space->map_count;
    bool at_front = below < above;
    if (fresh > old && (at_front ? front : back) < fresh - old) {
        size_t room = count * 2 + 16, start = (room - count) / 2;
        struct vmv_mapping *base = malloc(room * sizeof *base);
        if (!base) abort();
        if (below) memcpy(base + start, space->maps, below * sizeof *base);
        if (above) memcpy(base + start + first + fresh, space->maps + first + old, above * sizeof *base);
        free(hidden->base);
        hidden->base = base;
        space->map_room = room;
        space->maps = base + start;
    } else if (at_front) {
        struct vmv_mapping *maps = space->maps + old - fresh;
        memmove(maps, space->maps, below * sizeof *maps);
        space->maps = maps;
    } else {
        memmove(space->maps + first + fresh, space->maps + first + old, above * sizeof *space->maps);
    }
    space->map_count = count;
}

static void account(struct vmv_space *space, const struct vmv_mapping *map, int sign) {
    space->virtual_bytes += sign > 0 ? map->end - map->start : map->start - map->end;
    vmv_exec_files_note(&space->hidden->execs, map, sign);
}

// Debug builds: what every holder of a space may rely on.
static void check_around(const struct vmv_space *space, size_t first, size_t count) {
#ifndef NDEBUG
    size_t end = first + count < space->map_count ? first + count + 1 : space->map_count;
    for (size_t i = first ? first - 1 : 0; i < end; i++) {
        const struct vmv_mapping *map = &space->maps[i];
        assert(map->start < map->end && !((map->start | map->end) & (space->page_size - 1)));
        assert(i + 1 == end || map->end <= map[1].start);
        assert(i + 1 == end || !vmv_mapping_continues(map, map + 1));
    }
#else
    (void)space, (void)first, (void)count;
#endif
}

static bool same_mapping(const struct vmv_mapping *a, const struct vmv_mapping *b) {
    return !memcmp(a, b, offsetof(struct vmv_mapping, name)) && (a->name == b->name || !strcmp(a->name, b->name));
}

static void splice(struct vmv_space *space, size_t first, size_t old, const struct vmv_mapping *fresh, size_t count) {
    // Leave out what stays as it is.
    while (old && count && same_mapping(&space->maps[first], fresh)) first++, old--, fresh++, count--;
    while (old && count && same_mapping(&space->maps[first + old - 1], &fresh[count - 1])) old--, count--;
    if (!old && !count) return;
    for (size_t i = 0; i < old; i++) account(space, &space->maps[first + i], -1);
    if (old != count) resize(space, first, old, count);
    for (size_t i = 0; i < count; i++) account(space, &fresh[i], 1);
    if (count) memcpy(&space->maps[first], fresh, count * sizeof *fresh);
    space->changes++;
    check_around(space, first, count);
}

void vmv_edit_done(struct vmv_edit *edit) {
    struct vmv_space *space = edit->space;
    size_t stop = edit->first;
    while (stop < space->map_count && space->maps[stop].start < edit->end) stop++;
    if (stop > edit->first && space->maps[stop - 1].end > edit->end)
        vmv_edit_push(edit, vmv_mapping_cut(&space->maps[stop - 1], edit->end, UINT64_MAX));
    else if (stop < space->map_count)
        vmv_edit_push(edit, space->maps[stop++]); // the neighbour above may join
    if (edit->renamed) edit->count = vmv_mappings_join(space->hidden->work, edit->count);
    splice(space, edit->first, stop - edit->first, space->hidden->work, edit->count);
}

// --- pages

struct vmv_page_span vmv_space_span(const struct vmv_space *space, uint64_t start, uint64_t end) {
    if (end > HIGHEST_PAGE_ADDRESS) end = HIGHEST_PAGE_ADDRESS;
    if (start > end) start = end;
    return (struct vmv_page_span){start >> space->page_shift, (end + space->page_size - 1) >> space->page_shift};
}

void vmv_space_recount(struct vmv_space *space) {
    const struct vmv_page_counts *counts = vmv_page_table_counts(space->pages);
    space->resident_pages = counts->resident;
    space->swapped_pages = counts->swapped;
}

const struct vmv_page *vmv_space_page_peek(const struct vmv_space *space, uint64_t addr) {
    return addr < HIGHEST_PAGE_ADDRESS ? vmv_page_table_peek(space->pages, addr >> space->page_shift) : NULL;
}

void vmv_space_page_prefetch(const struct vmv_space *space, uint64_t addr) {
    if (addr < HIGHEST_PAGE_ADDRESS) vmv_page_table_prefetch(space->pages, addr >> space->page_shift);
}

struct vmv_page *vmv_space_page_get(struct vmv_space *space, uint64_t addr) {
    return vmv_page_table_get(space->pages, addr >> space->page_shift);
}

void vmv_space_pages_drop(struct vmv_space *space, uint64_t start, uint64_t end) {
    struct vmv_page_span span = vmv_space_span(space, start, end);
    vmv_page_table_drop(space->pages, span.first, span.end);
    vmv_space_recount(space);
}

const struct vmv_page *vmv_space_page_next(const struct vmv_space *space, uint64_t *addr, uint64_t end) {
    struct vmv_page_span span = vmv_space_span(space, *addr, end);
    uint64_t page = span.first;
    const struct vmv_page *entry = vmv_page_table_next(space->pages, &page, span.end);
    if (entry) *addr = page << space->page_shift;
    return entry;
}

bool vmv_space_stretch(const struct vmv_space *space, uint64_t addr, uint64_t end, struct vmv_page_stretch *stretch) {
    struct vmv_page_span span = vmv_space_span(space, addr, end);
    if (!vmv_page_table_stretch(space->pages, span.first, span.end, stretch)) return false;
    stretch->addr <<= space->page_shift;
    return true;
}

struct vmv_space_counts vmv_space_count(const struct vmv_space *space, uint64_t start, uint64_t end) {
    struct vmv_page_span span = vmv_space_span(space, start, end);
    struct vmv_page_counts counts = vmv_page_table_count(space->pages, span.first, span.end);
    return (struct vmv_space_counts){counts.known, counts.resident, counts.swapped};
}
