#include "got.h"

#include "decode_private.h"
#include "elf_dynamic.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_BYTES = 8, PLT_ENTRY = 16 };

static bool is_own_plt(const struct decode_module *module, uint64_t target) {
    const struct elf_section *section = elf_file_section_at(module->object->elf, target - module->bias);
    return section && strncmp(section->name, ".plt", 4) == 0;
}

// Before the dynamic linker adds where the object lies, a lazy slot holds the link-time address of its PLT code.
static bool is_bound(const struct decode_module *module, const struct got_slot *slot, uint64_t value) {
    bool waits = slot->lazy && (is_own_plt(module, value) || is_own_plt(module, value + module->bias));
    return value != 0 && !waits;
}

struct got_slot *decode_got(struct decode *d, uint32_t space, const struct decode_module *module, size_t *count) {
    struct elf_slot *from = elf_dynamic_slots(module->object->elf, count);
    struct got_slot *slots = *count ? calloc(*count, sizeof *slots) : NULL;
    if (!slots) *count = 0;
    for (size_t i = 0; i < *count; i++) {
        struct got_slot *slot = &slots[i];
        *slot = (struct got_slot){.addr = module->bias + from[i].addr, .symbol = from[i].symbol, .lazy = from[i].lazy};
        slot->known = decode_read_u64(d, space, slot->addr, &slot->target);
        slot->bound = slot->known && is_bound(module, slot, slot->target);
    }
    free(from);
    return slots;
}

// ------------------------------------------------------------------------------------------------- history

struct walk {
    struct decode *d;
    const struct decode_module *module;
    struct got_slot *slots;
    size_t count;
    uint32_t page_size;
    uint8_t *page;
};

static bool content_of(struct walk *walk, uint64_t content) {
    if (content == VMV_CONTENT_ZERO) memset(walk->page, 0, walk->page_size);
    if (content == VMV_CONTENT_ZERO) return true;
    return content >= VMV_CONTENT_FIRST && vmv_reader_page(timeline_reader(walk->d->tl), content, walk->page);
}

static void see_page(struct walk *walk, uint64_t page, uint64_t content, uint64_t t) {
    bool have = false;
    for (size_t i = 0; i < walk->count; i++) {
        struct got_slot *slot = &walk->slots[i];
        if (slot->addr < page || slot->addr - page > walk->page_size - SLOT_BYTES) continue;
        uint64_t value;
        if (!have && !content_of(walk, content)) return;
        have = true;
        memcpy(&value, walk->page + (slot->addr - page), sizeof value);
        bool bound = is_bound(walk->module, slot, value);
        if (!bound) slot->bound_at = 0;
        if (bound && !slot->bound_at) slot->bound_at = t;
    }
}

static void see_event(struct walk *walk, const struct vmv_event *event) {
    uint64_t pages = event->len / walk->page_size, low = walk->slots[0].addr, high = walk->slots[walk->count - 1].addr;
    for (uint64_t i = 0; i < pages; i++) {
        uint64_t page = event->addr + i * walk->page_size;
        if (page + walk->page_size <= low || page > high) continue;
        see_page(walk, page, event->content + i * event->content_step, event->t);
    }
}

void decode_got_history(struct decode *d, uint32_t space, struct got_slot *slots, size_t count) {
    const struct vmv_world *world = timeline_world(d->tl);
    if (count == 0 || !world) return;
    struct walk walk = {.d = d, .slots = slots, .count = count, .page_size = world->page_size};
    walk.module = decode_module_at(d, space, slots[0].addr);
    walk.page = malloc(walk.page_size);
    uint64_t now = timeline_now(d->tl);
    struct timeline_filter filter = {.space = space,
                                     .addr = slots[0].addr & ~(uint64_t)(walk.page_size - 1),
                                     .end = slots[count - 1].addr + SLOT_BYTES,
                                     .to = now + 1};
    timeline_filter_type(&filter, VMV_EV_CONTENT);
    struct timeline_cursor *cursor = walk.page && walk.module ? timeline_cursor_create(d->tl, &filter) : NULL;
    for (const struct vmv_event *event; cursor && (event = timeline_cursor_next(cursor));) see_event(&walk, event);
    timeline_cursor_destroy(cursor);
    free(walk.page);
    for (size_t i = 0; i < count; i++)
        if (!slots[i].bound) slots[i].bound_at = 0;
}

// ------------------------------------------------------------------------------------------------- names

static int slot_order(const void *key, const void *item) {
    uint64_t addr = *(const uint64_t *)key;
    const struct elf_slot *slot = item;
    return addr < slot->addr ? -1 : addr > slot->addr;
}

const char *decode_got_name(struct decode *d, const struct decode_module *module, uint64_t addr) {
    size_t count;
    const struct elf_slot *slots = decode_object_slots(d, module->object, &count);
    uint64_t at = addr - module->bias;
    const struct elf_slot *slot = slots ? bsearch(&at, slots, count, sizeof *slots, slot_order) : NULL;
    return slot && slot->symbol[0] ? slot->symbol : NULL;
}

// "jmp *disp32(%rip)", in an entry of .plt, .plt.got or .plt.sec, perhaps behind endbr64 or bnd (psABI x86-64,
// "Procedure Linkage Table").
static bool jumps_through(const uint8_t *code, uint64_t addr, uint64_t *slot) {
    for (size_t i = 0; i + 6 <= PLT_ENTRY; i++) {
        int32_t displacement;
        if (code[i] != 0xff || code[i + 1] != 0x25) continue;
        memcpy(&displacement, code + i + 2, sizeof displacement);
        *slot = addr + i + 6 + (uint64_t)(int64_t)displacement;
        return true;
    }
    return false;
}

const char *decode_plt_name(struct decode *d, uint32_t space, uint64_t addr) {
    const struct decode_module *module = decode_module_at(d, space, addr);
    if (!module || module->object->elf->machine != EM_X86_64 || !is_own_plt(module, addr)) return NULL;
    uint64_t entry = addr & ~(uint64_t)7, slot;
    const uint8_t *code = elf_file_bytes_at(module->object->elf, entry - module->bias, PLT_ENTRY);
    return code && jumps_through(code, entry, &slot) ? decode_got_name(d, module, slot) : NULL;
}
