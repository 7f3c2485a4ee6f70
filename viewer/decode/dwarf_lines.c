#include "dwarf_lines.h"

#include "decode_private.h"
#include "dwarf_load.h"

#include <stdio.h>
#include <string.h>

static bool has_debug_info(const struct elf_file *file) {
    return file && (elf_file_section(file, ".debug_info") || elf_file_section(file, ".zdebug_info") ||
                    elf_file_section(file, ".debug_line"));
}

static struct loaded_object *loaded_with_dwarf(struct decode *d, const struct decode_object *object) {
    struct loaded_object *loaded = decode_loaded(d, object);
    char error[160] = "";
    if (!loaded || loaded->dwarf_tried || !object->elf || d->no_debug) return loaded;
    loaded->dwarf_tried = true;
    if (!has_debug_info(object->elf)) decode_object_debug(d, object);
    const struct elf_file *from = has_debug_info(object->elf) ? object->elf : object->debug;
    if (!has_debug_info(from)) return loaded;
    loaded->dwarf = dwarf_load(from, error, sizeof error);
    if (!loaded->dwarf) loaded->dwarf_trouble = vmv_arena_strdup(&d->arena, error, strlen(error));
    return loaded;
}

const struct dwarf_index *decode_dwarf(struct decode *d, const struct decode_object *object) {
    struct loaded_object *loaded = loaded_with_dwarf(d, object);
    return loaded ? loaded->dwarf : NULL;
}

const char *decode_dwarf_trouble(struct decode *d, const struct decode_object *object) {
    struct loaded_object *loaded = loaded_with_dwarf(d, object);
    return loaded ? loaded->dwarf_trouble : NULL;
}

const char *decode_dwarf_remark(struct decode *d, const struct decode_object *object, char *text, size_t size) {
    const struct loaded_object *loaded = decode_loaded(d, object);
    if (!loaded || (!loaded->dwarf_trouble && !(loaded->dwarf && loaded->dwarf->missing))) return NULL;
    if (loaded->dwarf_trouble) {
        snprintf(text, size, "%s: %s", object->path, loaded->dwarf_trouble);
    } else {
        snprintf(text, size,
                 "%s: part of its debug information is in %s, which is not read: functions and types of it are "
                 "unknown",
                 object->path, loaded->dwarf->missing);
    }
    return text;
}

size_t decode_places(struct decode *d, uint32_t space, uint64_t addr, struct dwarf_place *out, size_t room) {
    enum { SCOPES = 64 };
    const struct decode_module *module = decode_module_at(d, space, addr);
    if (!module || room == 0) return 0;
    uint64_t at = addr - module->bias;
    const struct dwarf_index *index = decode_dwarf(d, module->object);
    const struct dwarf_row *row = index ? dwarf_index_row(index, at) : NULL;
    const struct dwarf_scope *scopes[SCOPES];
    size_t count = index ? dwarf_index_scopes(index, at, scopes, room < SCOPES ? room : SCOPES) : 0;
    if (!row && !count) return 0;
    uint32_t file = row ? row->file : DWARF_NONE, line = row ? row->line : 0, column = row ? row->column : 0;
    for (size_t i = 0; i < count || i == 0; i++) {
        out[i] = (struct dwarf_place){.file = dwarf_index_string(index, file), .line = line, .column = column};
        if (i >= count) break;
        out[i].function = dwarf_index_string(index, scopes[i]->name);
        out[i].linkage = dwarf_index_string(index, scopes[i]->linkage);
        out[i].inlined = scopes[i]->depth > 0;
        file = scopes[i]->call_file;
        line = scopes[i]->call_line;
        column = 0;
    }
    return count ? count : 1;
}
