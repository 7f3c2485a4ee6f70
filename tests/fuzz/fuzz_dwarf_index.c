// An index of debug information, as it lies in the cache.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "chunk.h"
#include "dwarf_index.h"
#include "type_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static volatile uint64_t sink; // what is found is used

static void ask_types(const struct dwarf_index *index) {
    char name[128];
    for (uint32_t i = 0; i < index->type_count && i < 256; i++) {
        struct type_place place = {.index = index, .type = i}, part;
        type_name(index, i, name, sizeof name);
        sink += strlen(name) + type_size(index, i);
        for (uint64_t k = 0; k < type_part_count(&place) && k < 8; k++)
            if (type_part(&place, k, &part, name, sizeof name)) sink += part.addr;
    }
    for (size_t i = 0; i < index->variable_count && i < 256; i++) sink += index->variables[i].addr;
}

static void ask(const struct dwarf_index *index) {
    const struct dwarf_scope *scopes[16];
    for (size_t i = 0; i < index->row_count && i < 256; i++) {
        const struct dwarf_row *row = dwarf_index_row(index, index->rows[i].addr);
        const char *file = row ? dwarf_index_string(index, row->file) : NULL;
        if (row && !file) abort();
        if (file) sink += strlen(file);
    }
    for (size_t i = 0; i < index->scope_count && i < 256; i++) {
        size_t count = dwarf_index_scopes(index, index->scopes[i].low, scopes, 16);
        for (size_t k = 0; k < count; k++) sink += scopes[k]->high;
        const char *name = dwarf_index_string(index, index->scopes[i].name);
        if (name) sink += strlen(name);
    }
}

// The hash at the end is put right, so that what is behind it is reached.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *copy = malloc(size + 8);
    if (!copy) return 0;
    memcpy(copy, data, size);
    uint64_t hash = vmv_chunk_hash(copy, size);
    memcpy(copy + size, &hash, 8);
    size_t id = size > 9 ? data[8] : 0;
    struct dwarf_index *index = id + 9 <= size ? dwarf_index_decode(copy, size + 8, data + 9, id) : NULL;
    if (index) ask(index);
    if (index) ask_types(index);
    dwarf_index_destroy(index);
    free(copy);
    return 0;
}
