// How a space is edited: private to space*.c and the state codec.
#ifndef VMV_SPACE_PRIVATE_H
#define VMV_SPACE_PRIVATE_H

#include "pagetab.h"
#include "space.h"
#include "string_store.h"

// Ranges of addresses with a few bits of their own that no mapping prints: sorted, disjoint, joined.
struct vmv_ranges {
    struct vmv_range {
        uint64_t start, end;
        unsigned bits;
    } *list;
    size_t count, room;
};
void vmv_ranges_set(struct vmv_ranges *ranges, uint64_t start, uint64_t end, unsigned on, unsigned off);
void vmv_ranges_append(struct vmv_ranges *ranges, uint64_t start, uint64_t end, unsigned bits); // above all others
unsigned vmv_ranges_get(const struct vmv_ranges *ranges, uint64_t addr);
void vmv_ranges_copy(struct vmv_ranges *to, const struct vmv_ranges *from); // `to` is empty
void vmv_ranges_move(struct vmv_ranges *ranges, uint64_t from, uint64_t to, uint64_t length);
void vmv_ranges_free(struct vmv_ranges *ranges);
enum { VMV_RANGE_DONTFORK = 1, VMV_RANGE_WIPEONFORK = 2 };

// Files that have executable mappings, and how many, so that the kind of a mapping is found without a walk.
struct vmv_exec_files {
    struct vmv_exec_file {
        uint64_t inode;
        uint32_t dev_major, dev_minor;
        uint64_t mappings;
    } *list; // sorted
    size_t count, room;
};
void vmv_exec_files_note(struct vmv_exec_files *files, const struct vmv_mapping *map, int mappings);
bool vmv_exec_files_has(const struct vmv_exec_files *files, const struct vmv_mapping *map);

struct vmv_space_private {
    struct vmv_mapping *base; // the mappings lie inside this allocation, with room at both ends
    struct vmv_mapping *work; // the edit that is being made
    size_t work_room;
    size_t recent; // place of the mapping that a fault found last
    struct vmv_ranges fork_advice;
    struct vmv_exec_files execs;
};

// For a world, whose spaces share strings and page memory. Holds both.
struct vmv_space *vmv_space_create_in(uint32_t id, int32_t pid, uint32_t page_size, struct vmv_string_store *strings,
                                      struct vmv_page_pool *pool);
struct vmv_space *vmv_space_snapshot(const struct vmv_space *space); // the very same, unlike what fork copies
size_t vmv_space_memory_of_maps(const struct vmv_space *space);     // without pages and strings
void vmv_space_clear(struct vmv_space *space); // as after exec: no mappings, no pages

// An edit replaces the mappings that lie in [start, end), which may be empty. push what takes their place in rising
// order: what is left of the old ones below start and above end is kept by itself. done puts it in and joins.
struct vmv_edit {
    struct vmv_space *space;
    uint64_t start, end;
    size_t first, removed; // the stretch of space->maps that is replaced, neighbours included
    size_t count;          // pushed so far, in hidden->work
    bool renamed;
};
struct vmv_edit vmv_edit_begin(struct vmv_space *space, uint64_t start, uint64_t end);
void vmv_edit_push(struct vmv_edit *edit, struct vmv_mapping map); // its name is of the space's store
void vmv_edit_done(struct vmv_edit *edit);
struct vmv_mapping vmv_mapping_cut(const struct vmv_mapping *map, uint64_t start, uint64_t end); // the part in there
static inline bool vmv_mapping_is_file(const struct vmv_mapping *map) { // offsets mean something
    return map->inode || map->dev_major || map->dev_minor || (map->flags & VMV_MAP_SHARED);
}
enum { VMV_MAP_PRINTED = VMV_MAP_R | VMV_MAP_W | VMV_MAP_X | VMV_MAP_SHARED };

// Clips to what a mapping may cover and rounds outwards to pages; false: nothing is left.
bool vmv_space_clip(const struct vmv_space *space, uint64_t addr, uint64_t length, uint64_t *start, uint64_t *end);
// Page numbers of [start, end), clipped to what pages may have.
struct vmv_page_span {
    uint64_t first, end;
};
struct vmv_page_span vmv_space_span(const struct vmv_space *space, uint64_t start, uint64_t end);
void vmv_space_recount(struct vmv_space *space); // takes resident_pages and swapped_pages from the page table

// What events do, by kind of event (space_calls.c, space_pages.c).
void vmv_space_call(struct vmv_space *space, const struct vmv_event *event);
void vmv_space_unmap(struct vmv_space *space, uint64_t start, uint64_t end);
void vmv_space_replace_maps(struct vmv_space *space, const struct vmv_event *event);
void vmv_space_fault(struct vmv_space *space, const struct vmv_event *event);
void vmv_space_run(struct vmv_space *space, const struct vmv_event *event); // PAGES and CONTENT
void vmv_space_advise(struct vmv_space *space, const struct vmv_event *event);
// The pages of a file between two offsets are gone: a hole was punched, or the file ends at `from` (to: UINT64_MAX).
void vmv_space_file_gone(struct vmv_space *space, const struct vmv_event *event, uint64_t from, uint64_t to);
void vmv_space_forked(struct vmv_space *child); // what a child does not inherit goes

#endif
