#include "heap_private.h"

#include "unwind.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION_LEAST = 231, VERSION_MOST = 241, ARENAS_MAX = 4096, TROUBLES_MAX = 100, FRAMES_LOOKED_AT = 16 };
enum { LOOK_BYTES = 512, WALK_STEP = 4096 }; // read at once for a look; how near the next one is where a walk goes on

const char *heap_state_word(uint8_t state) {
    static const char *const words[] = {"in-use", "free", "tcache", "fastbin", "top", "mmapped"};
    return state < HEAP_STATES ? words[state] : "unknown";
}

// ------------------------------------------------------------------------------------------------- bytes

bool heap_read(struct heap *heap, uint64_t addr, void *out, size_t length) {
    struct heap_hidden *h = heap->hidden;
    bool inside = addr >= h->window.addr && addr - h->window.addr <= h->window.length &&
                  length <= h->window.length - (addr - h->window.addr);
    if (!inside) {
        uint64_t end = h->window.addr + h->window.length;
        bool onwards = addr + CHUNK_HEADER >= end && addr < end + WALK_STEP;
        size_t want = onwards ? sizeof h->window.bytes : length > LOOK_BYTES ? length : LOOK_BYTES;
        h->window.addr = addr;
        h->read(h->user, addr, h->window.bytes, want, &h->window.length);
        if (h->window.length < length) return false;
    }
    memcpy(out, h->window.bytes + (addr - h->window.addr), length);
    return true;
}

bool heap_word(struct heap *heap, uint64_t addr, uint64_t *value) {
    return heap_read(heap, addr, value, sizeof *value);
}

void heap_say(struct heap *heap, uint8_t kind, uint64_t addr, const char *format, ...) {
    if (heap->trouble_count == TROUBLES_MAX) return;
    if (!heap->troubles) heap->troubles = calloc(TROUBLES_MAX, sizeof *heap->troubles);
    if (!heap->troubles) return;
    struct heap_trouble *trouble = &heap->troubles[heap->trouble_count++];
    va_list args;
    va_start(args, format);
    trouble->addr = addr;
    trouble->kind = heap->busy ? HEAP_UNKNOWN : kind;
    vsnprintf(trouble->text, sizeof trouble->text, format, args);
    va_end(args);
}

// ------------------------------------------------------------------------------------------------- glibc

static const struct decode_module *find_libc(struct decode *d, uint32_t space) {
    size_t count;
    const struct decode_module *modules = decode_modules(d, space, &count);
    for (size_t i = 0; i < count; i++) {
        const char *slash = strrchr(modules[i].object->path, '/'), *name = slash ? slash + 1 : modules[i].object->path;
        if (strncmp(name, "libc.so.6", 9) == 0 || strncmp(name, "libc-2.", 7) == 0) return &modules[i];
    }
    for (size_t i = 0; i < count; i++) // linked statically
        if (modules[i].program && elf_file_symbol_named(modules[i].object->elf, "main_arena")) return &modules[i];
    return NULL;
}

// "GNU C Library (…) stable release version 2.36."
static unsigned find_version(const struct decode_module *libc, char out[16]) {
    static const char banner[] = "GNU C Library (", release[] = "release version ";
    size_t length;
    struct elf_file *elf = libc->object->elf;
    const struct elf_section *section = elf_file_section(elf, ".rodata");
    const uint8_t *bytes = section ? elf_file_section_bytes(elf, section, &length) : NULL;
    const uint8_t *at = bytes ? memmem(bytes, length, banner, sizeof banner - 1) : NULL;
    if (!at) return 0;
    size_t left = length - (size_t)(at - bytes);
    at = memmem(at, left < 300 ? left : 300, release, sizeof release - 1);
    unsigned major, minor;
    char text[8] = "";
    if (!at || (size_t)(bytes + length - at) < sizeof release + sizeof text) return 0;
    memcpy(text, at + sizeof release - 1, sizeof text - 1);
    if (sscanf(text, "%u.%u", &major, &minor) != 2 || major > 9 || minor > 99) return 0;
    snprintf(out, 16, "%u.%u", major, minor);
    return major * 100 + minor;
}

uint64_t heap_info_bytes(const struct heap *heap) { return heap->hidden->version >= 235 ? 48 : 32; }

// ------------------------------------------------------------------------------------------------- arenas

// An empty bin's two links point at the bin itself: of most bins that is so, and of no other structure.
bool heap_is_arena(struct heap *heap, uint64_t addr) {
    uint8_t bytes[ARENA_BYTES];
    uint64_t link[2], next;
    if (!heap_read(heap, addr, bytes, sizeof bytes)) return false;
    unsigned empty = 0;
    for (unsigned i = 0; i < BINS; i++) {
        uint64_t self = addr + ARENA_TOP + 16 * i;
        memcpy(link, bytes + ARENA_BINS + 16 * i, sizeof link);
        if (link[0] % CHUNK_ALIGN || link[1] % CHUNK_ALIGN || !link[0] || !link[1]) return false;
        empty += link[0] == self && link[1] == self;
    }
    memcpy(&next, bytes + ARENA_NEXT, sizeof next);
    return empty >= BINS / 8 && next && next % 8 == 0;
}

static bool is_arena_known(const struct heap *heap, uint64_t addr) {
    for (size_t i = 0; i < heap->arena_count; i++)
        if (heap->arenas[i].addr == addr) return true;
    return false;
}

static bool add_arena(struct heap *heap, uint64_t addr, bool main) {
    uint32_t lock = 0;
    if (heap->arena_count == ARENAS_MAX || is_arena_known(heap, addr) || !heap_is_arena(heap, addr)) return false;
    if (heap->arena_count == heap->hidden->arena_room) {
        size_t room = heap->hidden->arena_room * 2 + 8;
        struct heap_arena *arenas = realloc(heap->arenas, room * sizeof *arenas);
        if (!arenas) return false;
        heap->arenas = arenas;
        heap->hidden->arena_room = room;
    }
    struct heap_arena *arena = &heap->arenas[heap->arena_count++];
    *arena = (struct heap_arena){.addr = addr, .main = main};
    heap_word(heap, addr + ARENA_TOP, &arena->top);
    heap_word(heap, addr + ARENA_SYSTEM, &arena->system_bytes);
    arena->locked = heap_read(heap, addr, &lock, sizeof lock) && lock;
    return true;
}

static uint64_t find_main_arena(struct heap *heap, struct decode *d, const struct decode_module *libc) {
    decode_object_debug(d, libc->object);
    const struct elf_symbol *symbol = elf_file_symbol_named(libc->object->elf, "main_arena");
    if (!symbol && libc->object->debug) symbol = elf_file_symbol_named(libc->object->debug, "main_arena");
    if (symbol && heap_is_arena(heap, libc->bias + symbol->addr)) return libc->bias + symbol->addr;
    const struct elf_section *data = elf_file_section(libc->object->elf, ".data");
    if (!data || data->size < ARENA_BYTES || data->size > 16 << 20) return 0;
    for (uint64_t at = 0; at <= data->size - ARENA_BYTES; at += 8)
        if (heap_is_arena(heap, libc->bias + data->addr + at)) return libc->bias + data->addr + at;
    return 0;
}

// All arenas are in a ring.
bool heap_find_arenas(struct heap *heap, uint64_t main_arena) {
    uint64_t addr = main_arena, next;
    if (!addr) return false;
    for (bool first = true; add_arena(heap, addr, first); first = false) {
        if (!heap_word(heap, addr + ARENA_NEXT, &next)) break;
        addr = next;
    }
    if (heap->arena_count == 0) return false;
    if (addr != heap->arenas[0].addr)
        heap_say(heap, HEAP_CORRUPT, addr, "the ring of arenas leads to 0x%llx, which is none",
                 (unsigned long long)addr);
    return true;
}

// ------------------------------------------------------------------------------------------------- in motion

static bool is_of_malloc(const char *name) {
    static const char *const words[] = {"malloc",   "free",         "realloc", "calloc",
                                        "memalign", "unlink_chunk", "systrim", "tcache"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(name, words[i])) return true;
    return false;
}

struct look {
    const struct decode_module *libc;
    bool found;
};

static bool look_at_frame(void *user, const struct unwind_frame *frame) {
    struct look *look = user;
    bool libc = frame->module && frame->module->bias == look->libc->bias;
    look->found |= libc && frame->named && is_of_malloc(frame->symbol.name);
    return !look->found && frame->n < FRAMES_LOOKED_AT;
}

static bool is_busy(const struct heap *heap, struct decode *d, const struct decode_module *libc) {
    uint32_t space = heap->hidden->space->id;
    const struct vmv_world *world = timeline_world(decode_timeline(d));
    struct look look = {.libc = libc};
    for (size_t i = 0; i < heap->arena_count; i++) look.found |= heap->arenas[i].locked;
    for (size_t i = 0; i < world->thread_count && !look.found; i++) {
        const struct vmv_thread *thread = &world->threads[i];
        if (thread->space != space || thread->state == VMV_THREAD_GONE) continue;
        decode_backtrace(d, space, thread->tid, look_at_frame, &look);
    }
    return look.found;
}

// ------------------------------------------------------------------------------------------------- whole

struct heap *heap_create(heap_reader *read, void *user, const struct vmv_space *space, unsigned version) {
    struct heap *heap = calloc(1, sizeof *heap);
    if (heap) heap->hidden = calloc(1, sizeof *heap->hidden);
    if (!heap || !heap->hidden) {
        free(heap);
        return NULL;
    }
    heap->hidden->read = read;
    heap->hidden->user = user;
    heap->hidden->space = space;
    heap->hidden->version = version;
    return heap;
}

struct source { // of a heap's bytes
    struct decode *d;
    uint32_t space;
};

static void read_decoded(void *user, uint64_t addr, void *out, size_t length, size_t *known) {
    const struct source *source = user;
    decode_read(source->d, source->space, addr, out, length, known);
}

// Why there is nothing to be read; NULL: there is.
static const char *check_libc(const struct decode_module *libc, unsigned *version, char text[16]) {
    if (!libc) return "no glibc is mapped: other allocators are not known";
    *version = find_version(libc, text);
    if (!*version) return "the version of the C library cannot be told";
    bool known = *version >= VERSION_LEAST && *version <= VERSION_MOST;
    return known ? NULL : "the heap's layout of this version of glibc is not known; 2.31 to 2.41 are";
}

struct heap *decode_heap(struct decode *d, uint32_t space, char *error, size_t error_size) {
    struct source source = {d, space};
    unsigned version;
    char text[16] = "";
    const struct decode_module *found = find_libc(d, space);
    const char *why = check_libc(found, &version, text);
    if (why) {
        snprintf(error, error_size, "%s", why);
        return NULL;
    }
    const struct decode_module libc = *found; // the list of modules may be made anew
    struct heap *heap =
        heap_create(read_decoded, &source, vmv_world_space(timeline_world(decode_timeline(d)), space), version);
    snprintf(error, error_size, "nothing was allocated yet, or the allocator's state was not captured");
    if (!heap || !heap_find_arenas(heap, find_main_arena(heap, d, &libc))) {
        heap_destroy(heap);
        return NULL;
    }
    snprintf(heap->version, sizeof heap->version, "%s", text);
    heap->busy = is_busy(heap, d, &libc);
    heap_walk(heap);
    heap_mark_free(heap);
    heap->hidden->user = NULL; // nothing is read any more
    return heap;
}

void heap_destroy(struct heap *heap) {
    if (!heap) return;
    if (heap->hidden) free(heap->hidden->listed);
    free(heap->hidden);
    free(heap->arenas);
    free(heap->chunks);
    free(heap->troubles);
    free(heap);
}

const struct heap_chunk *heap_chunk_at(const struct heap *heap, uint64_t addr) {
    size_t low = 0, high = heap->chunk_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (heap->chunks[middle].addr <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) return NULL;
    const struct heap_chunk *chunk = &heap->chunks[low - 1];
    return addr - chunk->addr < chunk->size ? chunk : NULL;
}

bool heap_is_in_chunks(const struct heap *heap, uint64_t addr) {
    const struct heap_chunk *chunk = heap_chunk_at(heap, addr);
    return chunk && chunk->addr == addr;
}

uint64_t heap_corruptions(const struct heap *heap) {
    uint64_t count = 0;
    for (size_t i = 0; i < heap->trouble_count; i++) count += heap->troubles[i].kind == HEAP_CORRUPT;
    return count;
}

bool heap_first_touch(struct decode *d, uint32_t space, uint64_t addr, struct heap_touch *touch) {
    struct timeline *tl = decode_timeline(d);
    uint64_t page = addr & ~(uint64_t)(timeline_world(tl)->page_size - 1);
    struct timeline_filter filter = {
        .space = space, .addr = page, .end = page + timeline_world(tl)->page_size, .to = timeline_now(tl) + 1};
    timeline_filter_type(&filter, VMV_EV_FAULT);
    struct timeline_cursor *cursor = timeline_cursor_create(tl, &filter);
    const struct vmv_event *event = cursor ? timeline_cursor_next(cursor) : NULL;
    if (event) *touch = (struct heap_touch){.t = event->t, .pc = event->pc, .tid = event->tid};
    timeline_cursor_destroy(cursor);
    return event;
}
