// Where objects are mapped at the moment.
#include "decode_private.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

// The segment of code whose file bytes a mapping shows; the kernel maps whole pages around a segment
// (fs/binfmt_elf.c, elf_map()).
static const struct elf_segment *segment_of(const struct elf_file *elf, const struct vmv_mapping *mapping,
                                            uint64_t page) {
    uint64_t mask = ~(page - 1);
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *s = &elf->segments[i];
        if (s->type != PT_LOAD || s->file_size == 0) continue;
        uint64_t first = s->offset & mask, last = (s->offset + s->file_size + page - 1) & mask;
        if (mapping->offset < first || mapping->offset >= last) continue;
        if (s->flags & PF_X) return s; // neighbours may share a page of the file
    }
    return NULL;
}

static void span_of(const struct elf_file *elf, uint64_t *low, uint64_t *high) {
    *low = UINT64_MAX;
    *high = 0;
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *s = &elf->segments[i];
        if (s->type != PT_LOAD) continue;
        if (s->addr < *low) *low = s->addr;
        if (s->addr + s->memory_size > *high) *high = s->addr + s->memory_size;
    }
}

static struct decode_module *add(struct decode *d) {
    if (d->modules.count == d->modules.room) {
        size_t room = d->modules.room * 2 + 16;
        struct decode_module *items = realloc(d->modules.items, room * sizeof *items);
        if (!items) return NULL;
        d->modules.items = items;
        d->modules.room = room;
    }
    return &d->modules.items[d->modules.count++];
}

static bool is_known(const struct decode *d, const struct decode_object *object, uint64_t bias) {
    for (size_t i = 0; i < d->modules.count; i++)
        if (d->modules.items[i].object == object && d->modules.items[i].bias == bias) return true;
    return false;
}

static void add_module(struct decode *d, const struct decode_object *object, const struct vmv_mapping *mapping,
                       uint64_t page) {
    const struct elf_segment *segment = segment_of(object->elf, mapping, page);
    if (!segment) return;
    uint64_t bias = mapping->start - mapping->offset + segment->offset - segment->addr, low, high;
    if (is_known(d, object, bias)) return;
    span_of(object->elf, &low, &high);
    struct decode_module *module = add(d);
    if (!module) return;
    *module = (struct decode_module){.object = object,
                                     .bias = bias,
                                     .start = (bias + low) & ~(page - 1),
                                     .end = (bias + high + page - 1) & ~(page - 1),
                                     .program = mapping->flags & VMV_MAP_PROGRAM};
}

static int by_start(const void *left, const void *right) {
    const struct decode_module *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static bool vdso_was_missing(const struct decode *d, const struct vmv_space *space) {
    bool has = false;
    for (size_t i = 0; i < space->map_count; i++) has |= strcmp(space->maps[i].name, "[vdso]") == 0;
    for (size_t i = 0; i < d->modules.count; i++) has &= strcmp(d->modules.items[i].object->path, "[vdso]") != 0;
    return has;
}

static void gather(struct decode *d, const struct vmv_space *space) {
    for (size_t i = 0; i < space->map_count; i++) {
        const struct vmv_mapping *mapping = &space->maps[i];
        const struct decode_object *object = NULL;
        // Code tells where an object lies; other parts of a file may be mapped twice (RELRO), or read as data.
        if (!(mapping->flags & VMV_MAP_X)) continue;
        object = mapping->object ? decode_object(d, mapping->object) : NULL;
        if (strcmp(mapping->name, "[vdso]") == 0) object = decode_object_of_vdso(d, space->id, mapping);
        if (object && object->elf) add_module(d, object, mapping, space->page_size);
    }
    if (d->modules.count) qsort(d->modules.items, d->modules.count, sizeof *d->modules.items, by_start);
}

const struct decode_module *decode_modules(struct decode *d, uint32_t space_id, size_t *count) {
    *count = 0;
    const struct vmv_world *world = timeline_world(d->tl);
    const struct vmv_space *space = world ? vmv_world_space(world, space_id) : NULL;
    if (!space) return NULL;
    uint64_t t = timeline_now(d->tl);
    bool same = d->modules.valid && d->modules.space == space_id && d->modules.changes == space->changes;
    if (!same || (d->modules.t != t && vdso_was_missing(d, space))) {
        d->modules.count = 0;
        gather(d, space);
        d->modules.space = space_id;
        d->modules.changes = space->changes;
        d->modules.t = t;
        d->modules.valid = true;
    }
    *count = d->modules.count;
    return d->modules.items;
}

// Whether the address is the module's own: mapped from its file, or memory without a file between its segments.
static bool belongs(struct decode *d, const struct decode_module *module, uint32_t space_id, uint64_t addr) {
    const struct vmv_space *space = vmv_world_space(timeline_world(d->tl), space_id);
    const struct vmv_mapping *mapping = vmv_space_find(space, addr);
    if (!mapping) return false;
    if (module->object->number == 0) return strcmp(mapping->name, "[vdso]") == 0;
    return mapping->object == module->object->number || mapping->object == 0;
}

const struct decode_module *decode_module_at(struct decode *d, uint32_t space, uint64_t addr) {
    size_t count;
    const struct decode_module *modules = decode_modules(d, space, &count);
    for (size_t i = 0; i < count && modules[i].start <= addr; i++)
        if (addr < modules[i].end && belongs(d, &modules[i], space, addr)) return &modules[i];
    return NULL;
}
