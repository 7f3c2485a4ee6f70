// Looking up types and variables in an index.
#include "dwarf_index.h"

#include <string.h>

enum { CHAIN_MOST = 64 };

const struct dwarf_type *dwarf_index_type(const struct dwarf_index *index, uint32_t number) {
    return number < index->type_count ? &index->types[number] : NULL;
}

uint32_t dwarf_index_plain_type(const struct dwarf_index *index, uint32_t number) {
    for (int left = CHAIN_MOST; left; left--) {
        const struct dwarf_type *type = dwarf_index_type(index, number);
        if (!type) return DWARF_NONE;
        if (type->kind != DWARF_TYPEDEF && type->kind != DWARF_QUALIFIED) return number;
        number = type->of;
    }
    return DWARF_NONE;
}

static bool has_name(const struct dwarf_index *index, uint32_t number, const char *name) {
    const char *text = dwarf_index_string(index, number);
    return text && strcmp(text, name) == 0;
}

uint32_t dwarf_index_type_named(const struct dwarf_index *index, const char *name) {
    static const char *const words[] = {"struct ", "union ", "enum ", "class "};
    uint32_t found = DWARF_NONE;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strncmp(name, words[i], strlen(words[i])) == 0) name += strlen(words[i]);
    for (uint32_t i = 0; i < index->type_count; i++) {
        const struct dwarf_type *type = &index->types[i];
        if (type->kind == DWARF_QUALIFIED || !has_name(index, type->name, name)) continue;
        if (!type->declared_only) return i;
        if (found == DWARF_NONE) found = i;
    }
    return found;
}

const struct dwarf_variable *dwarf_index_variable_named(const struct dwarf_index *index, const char *name) {
    for (size_t i = 0; i < index->variable_count; i++) {
        const struct dwarf_variable *variable = &index->variables[i];
        if (has_name(index, variable->name, name) || has_name(index, variable->linkage, name)) return variable;
    }
    return NULL;
}
