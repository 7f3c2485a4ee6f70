// What memory calls do to the mappings. Every call here succeeded; what it names is clipped first.
#include "space_private.h"

#include <stdio.h>
#include <string.h>

#include "linux_abi.h"

// A piece of a mapping that left its place is no longer the heap or the stack.
static const char *name_elsewhere(const char *name) {
    return !strcmp(name, "[heap]") || !strcmp(name, "[stack]") ? "" : name;
}

static void forget_range(struct vmv_space *space, uint64_t start, uint64_t end) {
    vmv_space_pages_drop(space, start, end);
    vmv_ranges_set(&space->hidden->fork_advice, start, end, 0, ~0u);
}

void vmv_space_unmap(struct vmv_space *space, uint64_t start, uint64_t end) {
    struct vmv_edit edit = vmv_edit_begin(space, start, end);
    vmv_edit_done(&edit);
    forget_range(space, start, end);
}

// Puts one mapping where nothing may stay.
static void map_over(struct vmv_space *space, struct vmv_mapping map) {
    map.name = vmv_space_intern(space, map.name);
    struct vmv_edit edit = vmv_edit_begin(space, map.start, map.end);
    vmv_edit_push(&edit, map);
    vmv_edit_done(&edit);
    forget_range(space, map.start, map.end);
}

// Lets `change` rewrite what is mapped in [start, end), piece by piece.
typedef void change_mapping(struct vmv_space *space, struct vmv_mapping *piece, const struct vmv_event *event);
static void change_mappings(struct vmv_space *space, uint64_t start, uint64_t end, change_mapping *change,
                            const struct vmv_event *event) {
    struct vmv_edit edit = vmv_edit_begin(space, start, end);
    size_t first = vmv_space_lower_bound(space, start);
    for (size_t i = first; i < space->map_count && space->maps[i].start < end; i++) {
        struct vmv_mapping piece = vmv_mapping_cut(&space->maps[i], start, end);
        change(space, &piece, event);
        vmv_edit_push(&edit, piece);
    }
    vmv_edit_done(&edit);
}

// --- mmap, munmap, shmat, shmdt, remap_file_pages

static uint64_t mmap_length(const struct vmv_event *event) {
    const uint32_t huge = ABI_MAP_HUGETLB | ABI_MAP_ANONYMOUS;
    if ((event->flags & huge) != huge) return event->len;
    unsigned shift = event->flags >> ABI_MAP_HUGE_SHIFT & 63;
    uint64_t mask = (UINT64_C(1) << (shift ? shift : 21)) - 1;
    return event->len > UINT64_MAX - mask ? event->len : (event->len + mask) & ~mask;
}

static uint32_t mmap_flags(const struct vmv_event *event) {
    uint32_t type = event->flags & ABI_MAP_TYPE, flags = event->prot & ABI_PROT_RWX;
    if (type == ABI_MAP_SHARED || type == ABI_MAP_SHARED_VALIDATE) flags |= VMV_MAP_SHARED;
    if (event->flags & ABI_MAP_GROWSDOWN) flags |= VMV_MAP_GROWSDOWN;
    if (event->flags & ABI_MAP_STACK) flags |= VMV_MAP_STACK;
    if (event->flags & ABI_MAP_HUGETLB) flags |= VMV_MAP_HUGETLB;
    return flags;
}

static void call_mmap(struct vmv_space *space, const struct vmv_event *event) {
    struct vmv_mapping map = {.offset = event->offset & ~(uint64_t)(space->page_size - 1),
                              .inode = event->inode,
                              .dev_major = event->dev_major,
                              .dev_minor = event->dev_minor,
                              .flags = mmap_flags(event),
                              .object = event->object,
                              .name = event->name};
    bool anonymous_shared = (event->flags & ABI_MAP_ANONYMOUS) && (map.flags & VMV_MAP_SHARED);
    if (anonymous_shared && (!map.name || !map.name[0])) map.name = "/dev/zero (deleted)";
    if (event->flags & ABI_MAP_ANONYMOUS) map.offset = 0;
    if (vmv_space_clip(space, (uint64_t)event->ret, mmap_length(event), &map.start, &map.end)) map_over(space, map);
}

static void call_munmap(struct vmv_space *space, const struct vmv_event *event) {
    uint64_t start, end;
    if (vmv_space_clip(space, event->addr, event->len, &start, &end)) vmv_space_unmap(space, start, end);
}

static void call_shmat(struct vmv_space *space, const struct vmv_event *event) {
    struct vmv_mapping map = {.inode = event->inode,
                              .dev_major = event->dev_major,
                              .dev_minor = event->dev_minor,
                              .flags = (event->prot & ABI_PROT_RWX) | VMV_MAP_SHARED,
                              .object = event->object,
                              .name = event->name};
    if (vmv_space_clip(space, (uint64_t)event->ret, event->len, &map.start, &map.end)) map_over(space, map);
}

static bool of_segment(const struct vmv_mapping *map, const struct vmv_mapping *segment, uint64_t attached) {
    return map->inode == segment->inode && map->dev_major == segment->dev_major &&
           map->dev_minor == segment->dev_minor && map->offset == map->start - attached &&
           (map->flags & VMV_MAP_SHARED) && !strcmp(map->name, segment->name);
}

// Takes away every piece of the segment attached at addr that is still where it was put.
static void call_shmdt(struct vmv_space *space, const struct vmv_event *event) {
    uint64_t start, end;
    if (!vmv_space_clip(space, event->addr, event->len ? event->len : UINT64_MAX, &start, &end)) return;
    size_t at = vmv_space_lower_bound(space, start);
    if (at == space->map_count || space->maps[at].start >= end) return;
    struct vmv_mapping segment = space->maps[at];
    for (; at < space->map_count && space->maps[at].start < end; at++) {
        struct vmv_mapping map = space->maps[at];
        if (!of_segment(&map, &segment, start)) continue;
        vmv_space_unmap(space, map.start, map.end < end ? map.end : end);
        at = vmv_space_lower_bound(space, map.start) - 1; // one place before what follows the gap
    }
}

static void call_remap(struct vmv_space *space, const struct vmv_event *event) {
    uint64_t start, end;
    if (!vmv_space_clip(space, event->addr, event->len, &start, &end)) return;
    const struct vmv_mapping *old = vmv_space_find(space, start);
    if (!old) return;
    struct vmv_mapping map = *old;
    map.start = start;
    map.end = end;
    map.offset = event->offset & ~(uint64_t)(space->page_size - 1);
    map_over(space, map);
}

// --- mremap

static void inherit_advice(struct vmv_space *space, uint64_t from, uint64_t start, uint64_t end) {
    unsigned bits = vmv_ranges_get(&space->hidden->fork_advice, from);
    if (bits) vmv_ranges_set(&space->hidden->fork_advice, start, end, bits, 0);
}

// A mapping like the one that holds `like`, continuing it, over [start, end).
static void map_more(struct vmv_space *space, uint64_t like, uint64_t continues_at, uint64_t start, uint64_t end) {
    const struct vmv_mapping *old = vmv_space_find(space, like);
    if (!old) return;
    struct vmv_mapping map = *old;
    if (vmv_mapping_is_file(&map)) map.offset += continues_at - map.start;
    if (start != continues_at) map.name = name_elsewhere(map.name);
    map.start = start;
    map.end = end;
    map_over(space, map);
    inherit_advice(space, like, start, end);
}

static void resize_in_place(struct vmv_space *space, uint64_t old_end, uint64_t end) {
    if (end < old_end) vmv_space_unmap(space, end, old_end);
    if (end > old_end) map_more(space, old_end - 1, old_end, old_end, end);
}

static void move_piece(struct vmv_space *space, const struct vmv_mapping *piece, uint64_t to) {
    uint64_t length = piece->end - piece->start;
    struct vmv_page_span from = vmv_space_span(space, piece->start, piece->end);
    struct vmv_page_span target = vmv_space_span(space, to, to + length);
    uint64_t pages = from.end - from.first, room = target.end - target.first;
    struct vmv_mapping map = *piece;
    map.start = to;
    map.end = to + length;
    map.name = name_elsewhere(map.name);
    map_over(space, map);
    vmv_page_table_move(space->pages, from.first, target.first, pages < room ? pages : room);
    vmv_space_recount(space);
    vmv_ranges_move(&space->hidden->fork_advice, piece->start, to, length);
}

// What lies in [start, end) appears again from `to` on. Where there are holes, what is at the target stays.
static void move(struct vmv_space *space, uint64_t start, uint64_t end, uint64_t to) {
    for (uint64_t at = start; at < end;) {
        size_t i = vmv_space_lower_bound(space, at);
        if (i == space->map_count || space->maps[i].start >= end) return;
        struct vmv_mapping piece = vmv_mapping_cut(&space->maps[i], at, end);
        move_piece(space, &piece, piece.start - start + to);
        at = piece.end;
    }
}

static void call_mremap(struct vmv_space *space, const struct vmv_event *event) {
    uint64_t start, old_end, to, to_end;
    if (!vmv_space_clip(space, (uint64_t)event->ret, event->len, &to, &to_end)) return;
    bool duplicate = !vmv_space_clip(space, event->old_addr, event->old_len, &start, &old_end);
    if (duplicate) return map_more(space, start, start, to, to_end);
    if (to == start) return resize_in_place(space, old_end, to_end);
    uint64_t length = old_end - start < to_end - to ? old_end - start : to_end - to;
    if (start < to + length && to < start + length) return; // the kernel refuses what overlaps
    if (to + length < to_end) map_more(space, start + length - 1, start + length, to + length, to_end);
    move(space, start, start + length, to);
    // With DONTUNMAP the old mapping stays, empty.
    if (!(event->flags & ABI_MREMAP_DONTUNMAP)) vmv_space_unmap(space, start, old_end);
}

// --- brk

static uint64_t page_up(const struct vmv_space *space, uint64_t addr) {
    uint64_t mask = space->page_size - 1;
    return addr > ~mask ? ~mask : (addr + mask) & ~mask;
}

static void call_brk(struct vmv_space *space, const struct vmv_event *event) {
    uint64_t old = event->old_addr ? event->old_addr : space->brk, now = (uint64_t)event->ret;
    space->brk = now;
    uint64_t old_end = page_up(space, old), end = page_up(space, now);
    if (!old) return; // the first time it is asked for
    if (end < old_end) vmv_space_unmap(space, end, old_end);
    if (end > old_end)
        map_over(space,
                 (struct vmv_mapping){.start = old_end, .end = end, .flags = VMV_MAP_R | VMV_MAP_W, .name = "[heap]"});
}

// --- mprotect, mseal, names

static void set_protection(struct vmv_space *space, struct vmv_mapping *piece, const struct vmv_event *event) {
    (void)space;
    piece->flags = (piece->flags & ~(uint32_t)ABI_PROT_RWX) | (event->prot & ABI_PROT_RWX);
}

static void call_mprotect(struct vmv_space *space, const struct vmv_event *event) {
    uint64_t start, end;
    if (!vmv_space_clip(space, event->addr, event->len, &start, &end)) return;
    const struct vmv_mapping *map = vmv_space_find(space, start);
    bool downwards = (event->prot & ABI_PROT_GROWSDOWN) && map && (map->flags & VMV_MAP_GROWSDOWN);
    change_mappings(space, downwards ? map->start : start, end, set_protection, event);
}

static void set_sealed(struct vmv_space *space, struct vmv_mapping *piece, const struct vmv_event *event) {
    (void)space, (void)event;
    piece->flags |= VMV_MAP_SEALED;
}

static bool starts_with(const char *text, const char *start) { return !strncmp(text, start, strlen(start)); }

// Only memory without a file takes a name, and the heap, the stack and the kernel's own keep theirs.
static void set_name(struct vmv_space *space, struct vmv_mapping *piece, const struct vmv_event *event) {
    const char *name = event->name ? event->name : "";
    bool memory = starts_with(piece->name, "/dev/zero") || starts_with(piece->name, "[anon_shmem:");
    bool anonymous = !vmv_mapping_is_file(piece) && (!piece->name[0] || starts_with(piece->name, "[anon:"));
    char text[128];
    if (!memory && !anonymous) return;
    if (!name[0])
        snprintf(text, sizeof text, "%s", memory ? "/dev/zero (deleted)" : "");
    else if (starts_with(name, "[anon"))
        snprintf(text, sizeof text, "%s", name);
    else
        snprintf(text, sizeof text, "[%s:%s]", memory ? "anon_shmem" : "anon", name);
    piece->name = vmv_space_intern(space, text);
}

static void call_change(struct vmv_space *space, const struct vmv_event *event, change_mapping *change) {
    uint64_t start, end;
    if (vmv_space_clip(space, event->addr, event->len, &start, &end)) change_mappings(space, start, end, change, event);
}

void vmv_space_call(struct vmv_space *space, const struct vmv_event *event) {
    switch (event->type) {
    case VMV_EV_MMAP:
        return call_mmap(space, event);
    case VMV_EV_MUNMAP:
        return call_munmap(space, event);
    case VMV_EV_MREMAP:
        return call_mremap(space, event);
    case VMV_EV_MPROTECT:
        return call_mprotect(space, event);
    case VMV_EV_BRK:
        return call_brk(space, event);
    case VMV_EV_SHMAT:
        return call_shmat(space, event);
    case VMV_EV_SHMDT:
        return call_shmdt(space, event);
    case VMV_EV_REMAP:
        return call_remap(space, event);
    case VMV_EV_MSEAL:
        return call_change(space, event, set_sealed);
    case VMV_EV_SETNAME:
        return call_change(space, event, set_name);
    default:
        return;
    }
}

// --- the mappings as read from the kernel

static bool same_memory(const struct vmv_mapping *old, const struct vmv_mapping *fresh) {
    if (old->inode != fresh->inode || old->dev_major != fresh->dev_major || old->dev_minor != fresh->dev_minor)
        return false;
    if ((old->flags ^ fresh->flags) & VMV_MAP_SHARED) return false;
    return !vmv_mapping_is_file(old) || old->offset - old->start == fresh->offset - fresh->start;
}

// Keeps what was known where the memory is the same as before: pages, and what the kernel does not print.
static void carry_over(struct vmv_space *space, struct vmv_mapping *fresh) {
    const uint32_t unprinted = VMV_MAP_GROWSDOWN | VMV_MAP_HUGETLB | VMV_MAP_SEALED | VMV_MAP_STACK | VMV_MAP_PROGRAM;
    uint64_t at = fresh->start;
    for (size_t i = vmv_space_lower_bound(space, at); i < space->map_count; i++) {
        const struct vmv_mapping *old = &space->maps[i];
        if (old->start >= fresh->end) break;
        if (!same_memory(old, fresh)) continue;
        if (old->start > at) forget_range(space, at, old->start);
        at = old->end < fresh->end ? old->end : fresh->end;
        fresh->flags |= old->flags & unprinted;
        if (!fresh->object) fresh->object = old->object;
    }
    if (at < fresh->end) forget_range(space, at, fresh->end);
}

void vmv_space_replace_maps(struct vmv_space *space, const struct vmv_event *event) {
    uint64_t start, end;
    if (!vmv_space_clip(space, event->addr, event->len, &start, &end)) return;
    struct vmv_edit edit = vmv_edit_begin(space, start, end);
    uint64_t at = start; // up to here is done
    for (size_t i = 0; i < event->map_count; i++) {
        struct vmv_mapping map = event->maps[i];
        uint64_t low, high;
        if (map.start >= map.end || !vmv_space_clip(space, map.start, map.end - map.start, &low, &high)) continue;
        map.start = low;
        map.end = high;
        map = vmv_mapping_cut(&map, at, end);
        if (map.start >= map.end) continue;
        map.name = vmv_space_intern(space, map.name);
        if (!strcmp(map.name, "[stack]")) map.flags |= VMV_MAP_GROWSDOWN;
        if (at < map.start) forget_range(space, at, map.start);
        carry_over(space, &map);
        vmv_edit_push(&edit, map);
        at = map.end;
    }
    if (at < end) forget_range(space, at, end);
    vmv_edit_done(&edit);
}
