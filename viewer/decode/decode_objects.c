// Objects: ELF files that travel in the trace, the vdso from memory, and separate debug files.
#include "decode_private.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const uint64_t FILE_MAX_BYTES = 4ull << 30, VDSO_MAX = 1 << 20;

static const char *keep(struct decode *d, const char *text) { return vmv_arena_strdup(&d->arena, text, strlen(text)); }

static struct loaded_object *add(struct decode *d, uint32_t number, uint32_t space, const char *path) {
    struct loaded_object *loaded = vmv_arena_alloc(&d->arena, sizeof *loaded);
    loaded->object.number = number;
    loaded->object.path = keep(d, path);
    loaded->space = space;
    loaded->next = d->objects;
    d->objects = loaded;
    return loaded;
}

static struct loaded_object *find(struct decode *d, uint32_t number, uint32_t space) {
    struct loaded_object *loaded = d->objects;
    while (loaded && (loaded->object.number != number || loaded->space != space)) loaded = loaded->next;
    return loaded;
}

static void open_elf(struct decode *d, struct decode_object *object, uint8_t *bytes, size_t length) {
    char error[128] = "";
    object->elf = elf_file_open(bytes, length, error, sizeof error);
    if (!object->elf) object->trouble = keep(d, error);
}

static uint8_t *bytes_of(struct decode *d, const struct vmv_object *of, const char **trouble) {
    *trouble = of->embedded == 0         ? "not embedded in the trace"
               : of->embedded < of->size ? "embedded in part only"
                                         : NULL;
    if (of->embedded == 0 || of->embedded > FILE_MAX_BYTES) return NULL;
    uint8_t *bytes = malloc(of->embedded);
    size_t got = bytes ? vmv_reader_object_bytes(timeline_reader(d->tl), of->number, 0, bytes, of->embedded) : 0;
    if (got == of->embedded) return bytes;
    *trouble = bytes ? "its bytes in the trace are damaged" : "out of memory";
    free(bytes);
    return NULL;
}

const struct decode_object *decode_object(struct decode *d, uint32_t number) {
    struct loaded_object *loaded = number ? find(d, number, 0) : NULL;
    if (loaded) return &loaded->object;
    const struct vmv_object *of = number ? vmv_reader_object(timeline_reader(d->tl), number) : NULL;
    if (!of) return NULL;
    loaded = add(d, number, 0, of->path);
    uint8_t *bytes = bytes_of(d, of, &loaded->object.trouble);
    if (bytes) open_elf(d, &loaded->object, bytes, of->embedded);
    return &loaded->object;
}

// The vdso is the same in all spaces of a recording, unless one has none.
const struct decode_object *decode_object_of_vdso(struct decode *d, uint32_t space, const struct vmv_mapping *mapping) {
    struct loaded_object *loaded = find(d, 0, space);
    if (loaded && loaded->object.elf) return &loaded->object;
    uint64_t length = mapping->end - mapping->start;
    uint8_t *bytes = length <= VDSO_MAX ? malloc(length) : NULL;
    if (!bytes || !decode_read(d, space, mapping->start, bytes, length, NULL)) { // not seen yet
        free(bytes);
        return NULL;
    }
    if (!loaded) loaded = add(d, 0, space, "[vdso]");
    open_elf(d, &loaded->object, bytes, length);
    return &loaded->object;
}

void decode_objects_free(struct decode *d) {
    for (struct loaded_object *loaded = d->objects; loaded; loaded = loaded->next) {
        elf_file_close(loaded->object.elf);
        elf_file_close(loaded->object.debug);
        free(loaded->slots);
        cfi_destroy(loaded->cfi);
        cfi_destroy(loaded->debug_cfi);
        dwarf_index_destroy(loaded->dwarf);
    }
    d->objects = NULL; // their memory is the arena's
}

struct loaded_object *decode_loaded(struct decode *d, const struct decode_object *object) {
    struct loaded_object *loaded = d->objects;
    while (loaded && &loaded->object != object) loaded = loaded->next;
    return loaded;
}

const struct elf_slot *decode_object_slots(struct decode *d, const struct decode_object *object, size_t *count) {
    struct loaded_object *loaded = decode_loaded(d, object);
    *count = 0;
    if (!loaded || !object->elf) return NULL;
    if (!loaded->slots_tried) loaded->slots = elf_dynamic_slots(object->elf, &loaded->slot_count);
    loaded->slots_tried = true;
    *count = loaded->slot_count;
    return loaded->slots;
}

const struct cfi *decode_object_cfi(struct decode *d, const struct decode_object *object, bool debug) {
    struct loaded_object *loaded = decode_loaded(d, object);
    if (debug) decode_object_debug(d, object);
    struct elf_file *elf = debug ? object->debug : object->elf;
    if (!loaded || !elf) return NULL;
    struct cfi **cfi = debug ? &loaded->debug_cfi : &loaded->cfi;
    if (!*cfi) *cfi = cfi_create(elf);
    return *cfi;
}

const struct decode_object *decode_object_debug(struct decode *d, const struct decode_object *object) {
    struct loaded_object *loaded = decode_loaded(d, object);
    if (!loaded || loaded->debug_tried || d->no_debug) return object;
    loaded->debug_tried = true;
    if (object->elf) decode_find_debug(d, &loaded->object);
    return object;
}

// ------------------------------------------------------------------------------------------- debug information

uint8_t *decode_read_file(const char *path, size_t *length) {
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool good = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
                (uint64_t)status.st_size <= FILE_MAX_BYTES;
    uint8_t *bytes = good ? malloc((size_t)status.st_size) : NULL;
    size_t got = 0;
    while (bytes && got < (size_t)status.st_size) {
        ssize_t part = read(fd, bytes + got, (size_t)status.st_size - got);
        if (part <= 0) break;
        got += (size_t)part;
    }
    if (fd >= 0) close(fd);
    if (bytes && got == (size_t)status.st_size) {
        *length = got;
        return bytes;
    }
    free(bytes);
    return NULL;
}

static bool same_build(const struct elf_file *a, const struct elf_file *b) {
    return a->build_id_length && a->build_id_length == b->build_id_length &&
           memcmp(a->build_id, b->build_id, a->build_id_length) == 0;
}

static bool has_debug(const struct elf_file *elf) {
    return elf_file_section(elf, ".debug_info") || elf_file_section(elf, ".zdebug_info") ||
           elf_file_section(elf, ".symtab");
}

static bool take_debug(struct decode *d, struct decode_object *object, uint8_t *bytes, size_t length, const char *path,
                       bool local) {
    char error[64];
    struct elf_file *debug = elf_file_open(bytes, length, error, sizeof error);
    if (!debug || !same_build(debug, object->elf) || !has_debug(debug)) {
        elf_file_close(debug);
        return false;
    }
    object->debug = debug;
    object->debug_path = keep(d, path);
    object->debug_is_local = local;
    return true;
}

static bool debug_in_trace(struct decode *d, struct decode_object *object) {
    struct vmv_reader *reader = timeline_reader(d->tl);
    size_t count = vmv_reader_object_count(reader);
    for (uint32_t i = 1; i <= count; i++) {
        const struct vmv_object *of = vmv_reader_object(reader, i);
        const char *trouble;
        bool same = of && i != object->number && of->build_id_length == object->elf->build_id_length &&
                    memcmp(of->build_id, object->elf->build_id, of->build_id_length) == 0;
        uint8_t *bytes = same && of->embedded ? bytes_of(d, of, &trouble) : NULL;
        if (bytes && take_debug(d, object, bytes, of->embedded, of->path, false)) return true;
    }
    return false;
}

static bool debug_here(struct decode *d, struct decode_object *object, const char *path) {
    size_t length;
    uint8_t *bytes = decode_read_file(path, &length);
    return bytes && take_debug(d, object, bytes, length, path, true);
}

// Where gdb looks for them: by build-id, and by the name in .gnu_debuglink in three places (its manual, "Separate Debug
// Files").
void decode_find_debug(struct decode *d, struct decode_object *object) {
    const struct elf_file *elf = object->elf;
    char path[160] = "/usr/lib/debug/.build-id/";
    if (!elf->build_id_length || elf_file_section(elf, ".debug_info")) return;
    if (debug_in_trace(d, object)) return;
    size_t at = strlen(path);
    for (size_t i = 0; i < elf->build_id_length; i++)
        at += (size_t)snprintf(path + at, sizeof path - at, i == 0 ? "%02x/" : "%02x", elf->build_id[i]);
    snprintf(path + at, sizeof path - at, ".debug");
    if (debug_here(d, object, path) || !elf->debug_link || strchr(elf->debug_link, '/')) return;
    static const char *const places[][2] = {{"", "/"}, {"", "/.debug/"}, {"/usr/lib/debug", "/"}};
    const char *slash = object->path[0] == '/' ? strrchr(object->path, '/') : NULL;
    for (size_t i = 0; slash && !object->debug && i < sizeof places / sizeof *places; i++) {
        char *linked = NULL;
        if (asprintf(&linked, "%s%.*s%s%s", places[i][0], (int)(slash - object->path), object->path, places[i][1],
                     elf->debug_link) > 0)
            debug_here(d, object, linked);
        free(linked);
    }
}
