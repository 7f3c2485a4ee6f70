#include "explain.h"

#include "dwarf_lines.h"
#include "explain_text.h"
#include "furniture.h"
#include "got.h"
#include "heap.h"
#include "summary.h"
#include "unwind.h"
#include "unwind_arch.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

struct explaining {
    struct decode *d;
    uint32_t space_id;
    const struct vmv_space *space;
    const struct vmv_mapping *mapping;
    const struct decode_module *module;
    uint64_t addr;
    struct explain_values values;
    struct explanations *out;
};

static int topic_order(const void *key, const void *item) {
    return strcmp(key, ((const struct explain_topic *)item)->name);
}

const struct explain_topic *explain_topic(const char *name) {
    return bsearch(name, explain_topics, explain_topic_count, sizeof *explain_topics, topic_order);
}

static void add(struct explaining *e, const char *name) {
    const struct explain_topic *topic = explain_topic(name);
    if (!topic || e->out->count == EXPLAIN_MOST) return;
    struct explanation *item = &e->out->items[e->out->count++];
    item->topic = topic;
    item->title = explain_fill(&e->out->arena, topic->title, &e->values);
    item->text = explain_fill(&e->out->arena, topic->text, &e->values);
}

// ------------------------------------------------------------------------------------------------- sections

static bool begins(const char *text, const char *with) { return strncmp(text, with, strlen(with)) == 0; }

const char *explain_section_topic(const char *name) {
    static const struct {
        const char *begin, *topic;
    } topics[] = {
        // the longer ones first
        {".text", "section-text"},
        {".data.rel.ro", "section-data-rel-ro"},
        {".data", "section-data"},
        {".bss", "section-bss"},
        {".rodata", "section-rodata"},
        {".got.plt", "section-got-plt"},
        {".got", "section-got"},
        {".plt.sec", "section-plt-sec"},
        {".plt", "section-plt"},
        {".init_array", "section-init-array"},
        {".preinit_array", "section-init-array"},
        {".ctors", "section-init-array"},
        {".fini_array", "section-fini-array"},
        {".dtors", "section-fini-array"},
        {".init", "section-init"},
        {".fini", "section-fini"},
        {".eh_frame_hdr", "section-eh-frame-hdr"},
        {".eh_frame", "section-eh-frame"},
        {".gcc_except_table", "section-gcc-except-table"},
        {".dynamic", "section-dynamic"},
        {".dynsym", "section-dynsym"},
        {".dynstr", "section-dynstr"},
        {".gnu.hash", "section-hash"},
        {".hash", "section-hash"},
        {".gnu.version", "section-version"},
        {".rel", "section-rela"},
        {".interp", "section-interp"},
        {".note", "section-note"},
        {".tdata", "section-tdata"},
        {".tbss", "section-tdata"},
    };
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        if (begins(name, topics[i].begin)) return topics[i].topic;
    return "section-other";
}

static void explain_section(struct explaining *e) {
    const struct elf_section *section =
        e->module ? elf_file_section_at(e->module->object->elf, e->addr - e->module->bias) : NULL;
    if (!section) return;
    explain_set(&e->values, "section", "%s", section->name);
    add(e, explain_section_topic(section->name));
}

// ------------------------------------------------------------------------------------------------- symbols, slots

static void explain_symbol(struct explaining *e) {
    struct decode_symbol symbol;
    struct dwarf_place place = {0};
    if (!decode_symbol_at(e->d, e->space_id, e->addr, &symbol)) return;
    char *plain = decode_demangle(symbol.name);
    explain_set(&e->values, "symbol", "%s", plain ? plain : symbol.name);
    free(plain);
    explain_set(&e->values, "offset", "%llu", (unsigned long long)(e->addr - symbol.addr));
    explain_set(&e->values, "object", "%s", symbol.module->object->path);
    if (symbol.size) explain_set(&e->values, "symbol_size", "%llu", (unsigned long long)symbol.size);
    if (decode_places(e->d, e->space_id, e->addr, &place, 1) && place.file && place.line) {
        explain_set(&e->values, "file", "%s", place.file);
        explain_set(&e->values, "line", "%u", place.line);
    }
    bool function =
        symbol.symbol->type == STT_FUNC || symbol.symbol->type == STT_GNU_IFUNC || e->mapping->flags & VMV_MAP_X;
    add(e, function ? "symbol-function" : "symbol-object");
}

static void explain_slot(struct explaining *e) {
    uint64_t addr = e->addr & ~(uint64_t)7, target;
    const char *name = e->module ? decode_got_name(e->d, e->module, addr) : NULL;
    const char *plt = decode_plt_name(e->d, e->space_id, e->addr);
    struct decode_symbol symbol;
    if (!name && !plt) return;
    explain_set(&e->values, "symbol", "%s", name ? name : plt);
    if (!name) {
        add(e, "plt");
        return;
    }
    if (decode_read_u64(e->d, e->space_id, addr, &target)) {
        explain_set(&e->values, "target", "0x%llx", (unsigned long long)target);
        if (decode_symbol_at(e->d, e->space_id, target, &symbol))
            explain_set(&e->values, "target_symbol", "%s", symbol.name);
    }
    struct got_slot slot = {.addr = addr, .symbol = name, .bound = true};
    decode_got_history(e->d, e->space_id, &slot, 1);
    if (slot.bound_at) explain_set_time(&e->values, "bound_at", slot.bound_at);
    add(e, "got");
}

// ------------------------------------------------------------------------------------------------- heap

static void explain_chunk(struct explaining *e) {
    static const char *const topics[] = {"chunk-in-use",  "chunk-free", "chunk-tcache",
                                         "chunk-fastbin", "chunk-top",  "chunk-mmapped"};
    char error[128];
    struct heap_touch touch;
    bool may = (e->mapping->name[0] == 0 || strcmp(e->mapping->name, "[heap]") == 0) && e->mapping->flags & VMV_MAP_W;
    struct heap *heap = may ? decode_heap(e->d, e->space_id, error, sizeof error) : NULL;
    const struct heap_chunk *chunk = heap ? heap_chunk_at(heap, e->addr) : NULL;
    if (chunk) {
        struct explain_values kept = e->values;
        explain_set(&e->values, "size", "%llu", (unsigned long long)chunk->size - 8);
        explain_set(&e->values, "chunk", "0x%llx", (unsigned long long)chunk->addr);
        if (chunk->bin[0]) explain_set(&e->values, "bin", "%s", chunk->bin);
        if (heap_first_touch(e->d, e->space_id, e->addr, &touch)) explain_set_time(&e->values, "first_touch", touch.t);
        add(e, topics[chunk->state]);
        e->values = kept; // its size is not the mapping's
    }
    for (size_t i = 0; heap && i < heap->trouble_count; i++) {
        bool near = heap->troubles[i].kind == HEAP_CORRUPT && (heap->troubles[i].addr ^ e->addr) < 4096;
        if (!near) continue;
        explain_set(&e->values, "corrupt", "%s", heap->troubles[i].text);
        add(e, "chunk-corrupt");
        break;
    }
    heap_destroy(heap);
}

// ------------------------------------------------------------------------------------------------- regions

static bool is_stack(const struct explaining *e, const struct vmv_mapping *mapping) {
    return vmv_mapping_kind(e->space, mapping) == VMV_KIND_STACK;
}

static bool is_below_stack(const struct explaining *e) {
    const struct vmv_mapping *above = vmv_space_find(e->space, e->mapping->end);
    return above && is_stack(e, above);
}

static const char *topic_of_special(const struct explaining *e) {
    const char *name = e->mapping->name;
    if (begins(name, "[vdso")) return "region-vdso";
    if (begins(name, "[vvar")) return "region-vvar";
    if (begins(name, "[vsyscall")) return "region-vsyscall";
    if (begins(name, "[anon:")) return "region-named";
    if (strcmp(name, "[heap]") == 0) return "region-heap";
    if (strcmp(name, "[stack]") == 0) return "region-stack";
    return vmv_mapping_kind(e->space, e->mapping) == VMV_KIND_KERNEL ? "region-kernel" : NULL;
}

static const char *region_topic(const struct explaining *e) {
    const struct vmv_mapping *m = e->mapping;
    const char *special = m->name[0] == '[' ? topic_of_special(e) : NULL;
    if (special) return special;
    if (m->flags & VMV_MAP_HUGETLB) return "region-hugetlb";
    if (begins(m->name, "/memfd:")) return "region-memfd";
    if (begins(m->name, "/SYSV")) return "region-sysv";
    bool closed = !(m->flags & (VMV_MAP_R | VMV_MAP_W | VMV_MAP_X));
    if (closed && !m->inode) return m->end - m->start > 1 << 20 ? "region-reserved" : "region-guard";
    if (m->flags & VMV_MAP_SHARED && !m->inode) return "region-shared";
    static const char *const topics[VMV_KIND_COUNT] = {
        [VMV_KIND_PROGRAM] = "region-program",    [VMV_KIND_LIBRARY] = "region-library",
        [VMV_KIND_FILE] = "region-file",          [VMV_KIND_HEAP] = "region-heap",
        [VMV_KIND_STACK] = "region-thread-stack", [VMV_KIND_ANONYMOUS] = "region-anonymous",
        [VMV_KIND_KERNEL] = "region-kernel",
    };
    if (m->flags & VMV_MAP_SHARED && begins(m->name, "/dev/zero")) return "region-shared";
    return topics[vmv_mapping_kind(e->space, m)];
}

static void explain_region(struct explaining *e) {
    const struct vmv_mapping *m = e->mapping;
    struct vmv_space_counts counts = vmv_space_count(e->space, m->start, m->end);
    explain_set(&e->values, "name", "%s", m->name);
    explain_set_size(&e->values, "size", m->end - m->start);
    explain_set_size(&e->values, "resident", counts.resident * e->space->page_size);
    explain_set(&e->values, "offset", "%llu", (unsigned long long)m->offset);
    bool closed = !(m->flags & (VMV_MAP_R | VMV_MAP_W | VMV_MAP_X));
    if (closed && !m->inode && is_below_stack(e)) add(e, "stack-guard");
    add(e, region_topic(e));
}

static void explain_unmapped(struct explaining *e) {
    size_t next = vmv_space_lower_bound(e->space, e->addr);
    if (next > 0) explain_set(&e->values, "below", "0x%llx", (unsigned long long)e->space->maps[next - 1].end);
    if (next < e->space->map_count)
        explain_set(&e->values, "above", "0x%llx", (unsigned long long)e->space->maps[next].start);
    add(e, "region-unmapped");
}

// ------------------------------------------------------------------------------------------------- furniture

static void explain_furniture(struct explaining *e) {
    struct furniture furniture;
    if (strcmp(e->mapping->name, "[stack]") != 0 || !decode_furniture(e->d, e->space_id, &furniture)) return;
    if (e->addr < furniture.argc_at) return;
    struct furniture_item item = furniture_at(e->d, e->space_id, &furniture, e->addr);
    if (item.kind == FURNITURE_NONE) return;
    struct explain_values kept = e->values;
    const char *type = furniture_aux_name(item.type);
    explain_set(&e->values, "number", "%llu", (unsigned long long)item.number);
    if (item.text[0] || item.kind != FURNITURE_AUXILIARY) explain_set(&e->values, "text", "%s", item.text);
    explain_set(&e->values, "value", "0x%llx", (unsigned long long)item.value);
    if (type) explain_set(&e->values, "type", "%s", type);
    static const char *const topics[] = {NULL, "argument", "environment", "auxiliary-vector"};
    add(e, topics[item.kind]);
    e->values = kept;
}

// ------------------------------------------------------------------------------------------------- pages, threads

static void explain_page(struct explaining *e) {
    static const char *const topics[] = {"page-unknown",  "page-absent",  "page-zero",
                                         "page-resident", "page-swapped", "page-guard"};
    struct timeline_page page = timeline_page(decode_timeline(e->d), e->space_id, e->addr);
    if (page.page.written) explain_set_time(&e->values, "written_at", page.page.written);
    if (page.page.captured) explain_set_time(&e->values, "captured_at", page.page.captured);
    if (page.page.flags & VMV_PAGEF_FILE && page.state == VMV_PAGE_RESIDENT) {
        add(e, "page-file");
    } else if (page.state < sizeof topics / sizeof *topics) {
        add(e, topics[page.state]);
    }
    if (page.page.flags & VMV_PAGEF_HUGE) add(e, "page-huge");
    if (page.certainty == VMV_CERT_TORN) add(e, "page-torn");
    bool has_bytes = page.state == VMV_PAGE_RESIDENT || page.state == VMV_PAGE_SWAPPED;
    if (has_bytes && page.certainty != VMV_CERT_EXACT) add(e, "certainty");
}

enum { FS_BASE_AT = 21 * 8, TCB_BYTES = 704 }; // in user_regs_struct; what glibc keeps there (struct tcbhead_t)

static void explain_thread(struct explaining *e) {
    const struct vmv_world *world = timeline_world(decode_timeline(e->d));
    struct vmv_reader *reader = timeline_reader(decode_timeline(e->d));
    const char *arch = vmv_reader_meta(reader)->arch;
    for (size_t i = 0; i < world->thread_count && arch && strcmp(arch, "x86_64") == 0; i++) {
        const struct vmv_thread *thread = &world->threads[i];
        struct vmv_regs regs;
        uint64_t base;
        if (thread->space != e->space_id || thread->state == VMV_THREAD_GONE || !thread->regs) continue;
        if (!vmv_reader_regs(reader, thread->regs, &regs) || regs.general_length < FS_BASE_AT + 8) continue;
        memcpy(&base, regs.general + FS_BASE_AT, sizeof base);
        if (base && e->addr - base < TCB_BYTES) add(e, "tcb");
        if (thread->sp && e->addr - (thread->sp & ~7ull) < 8) add(e, "stack-pointer");
    }
}

void decode_explain(struct decode *d, uint32_t space, uint64_t addr, bool heap, struct explanations *out) {
    *out = (struct explanations){0};
    struct explaining e = {.d = d, .space_id = space, .addr = addr, .out = out};
    const struct vmv_world *world = timeline_world(decode_timeline(d));
    e.space = world ? vmv_world_space(world, space) : NULL;
    if (!e.space) return;
    e.mapping = vmv_space_find(e.space, addr);
    if (!e.mapping) {
        explain_unmapped(&e);
        return;
    }
    e.module = decode_module_at(d, space, addr);
    explain_thread(&e);
    explain_furniture(&e);
    if (heap) explain_chunk(&e);
    explain_slot(&e);
    explain_symbol(&e);
    explain_section(&e);
    explain_region(&e);
    explain_page(&e);
}

void explain_free(struct explanations *explanations) { vmv_arena_free(&explanations->arena); }
