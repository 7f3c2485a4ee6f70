#include "dwarf_index.h"
#include "dwarf_index_format.h"

#include "chunk.h"

#include <stdlib.h>
#include <string.h>

// An item takes at least so many bytes: a count that claims more than there can be is refused before memory is taken.
enum { ROW_LEAST = 4, SCOPE_LEAST = 5, TYPE_LEAST = 7, MEMBER_LEAST = 7, VARIABLE_LEAST = 4 };

static bool read_count(struct vmv_in *in, size_t least, size_t *count) {
    uint64_t value = vmv_in_varint(in);
    *count = (size_t)value;
    return !in->bad && value <= vmv_in_left(in) / least;
}

static uint32_t read_string_number(struct vmv_in *in, const struct dwarf_index *index) {
    uint64_t number = vmv_in_varint(in);
    if (number > index->string_count) in->bad = true;
    return number && !in->bad ? (uint32_t)(number - 1) : DWARF_NONE;
}

static bool read_strings(struct vmv_in *in, struct dwarf_index *index) {
    size_t count, length;
    if (!read_count(in, 1, &count) || count >= DWARF_NONE) return false;
    index->strings = malloc((count + 1) * sizeof *index->strings);
    for (size_t i = 0; index->strings && i < count; i++) {
        const char *text = vmv_in_string(in, &length);
        if (!text) return false;
        index->strings[index->string_count++] = vmv_arena_strdup(&index->arena, text, length);
    }
    return index->strings;
}

static bool read_rows(struct vmv_in *in, struct dwarf_index *index) {
    size_t count;
    struct dwarf_row last = {0};
    if (!read_count(in, ROW_LEAST, &count)) return false;
    index->rows = malloc((count + 1) * sizeof *index->rows);
    for (size_t i = 0; index->rows && i < count; i++) {
        struct dwarf_row row = {.addr = last.addr + vmv_in_varint(in)};
        row.file = read_string_number(in, index);
        row.line = (uint32_t)(last.line + (uint64_t)vmv_in_zigzag(in));
        row.column = (uint32_t)vmv_in_varint(in);
        if (in->bad || row.addr < last.addr) return false;
        index->rows[index->row_count++] = last = row;
    }
    return index->rows;
}

static bool read_scopes(struct vmv_in *in, struct dwarf_index *index) {
    size_t count;
    uint64_t last = 0;
    if (!read_count(in, SCOPE_LEAST, &count)) return false;
    index->scopes = malloc((count + 1) * sizeof *index->scopes);
    for (size_t i = 0; index->scopes && i < count; i++) {
        struct dwarf_scope scope = {.low = last + vmv_in_varint(in), .call_file = DWARF_NONE};
        scope.high = scope.low + vmv_in_varint(in);
        scope.name = read_string_number(in, index);
        scope.linkage = read_string_number(in, index);
        scope.depth = (uint16_t)vmv_in_varint(in);
        if (scope.depth) {
            scope.call_file = read_string_number(in, index);
            scope.call_line = (uint32_t)vmv_in_varint(in);
        }
        if (in->bad || scope.low < last || scope.high < scope.low) return false;
        last = scope.low;
        index->scopes[index->scope_count++] = scope;
    }
    return index->scopes;
}

static uint32_t read_number(struct vmv_in *in, size_t count) { // of a type; 0: none
    uint64_t number = vmv_in_varint(in);
    if (number > count) in->bad = true;
    return number && !in->bad ? (uint32_t)(number - 1) : DWARF_NONE;
}

static bool read_types(struct vmv_in *in, struct dwarf_index *index) {
    size_t count;
    if (!read_count(in, TYPE_LEAST, &count) || count >= DWARF_NONE) return false;
    index->types = malloc((count + 1) * sizeof *index->types);
    for (size_t i = 0; index->types && i < count; i++) {
        struct dwarf_type type = {0};
        uint8_t kind = vmv_in_u8(in);
        type.kind = kind & 0x7f;
        type.declared_only = kind & 0x80;
        type.name = read_string_number(in, index);
        type.of = read_number(in, count);
        type.size = vmv_in_varint(in);
        type.count = vmv_in_varint(in);
        type.first = (uint32_t)vmv_in_varint(in);
        type.member_count = (uint32_t)vmv_in_varint(in);
        if (in->bad || type.kind >= DWARF_KINDS) return false;
        index->types[index->type_count++] = type;
    }
    return index->types;
}

static bool read_members(struct vmv_in *in, struct dwarf_index *index) {
    size_t count;
    if (!read_count(in, MEMBER_LEAST, &count)) return false;
    index->members = malloc((count + 1) * sizeof *index->members);
    for (size_t i = 0; index->members && i < count; i++) {
        struct dwarf_member member = {.name = read_string_number(in, index)};
        member.type = read_number(in, index->type_count);
        member.value = vmv_in_zigzag(in);
        member.offset = vmv_in_varint(in);
        member.bit_offset = (uint16_t)vmv_in_varint(in);
        member.bit_size = (uint16_t)vmv_in_varint(in);
        member.is_base = vmv_in_u8(in);
        if (in->bad) return false;
        index->members[index->member_count++] = member;
    }
    for (size_t i = 0; i < index->type_count; i++) {
        const struct dwarf_type *type = &index->types[i];
        if (type->first > index->member_count || type->member_count > index->member_count - type->first) return false;
    }
    return index->members;
}

static bool read_variables(struct vmv_in *in, struct dwarf_index *index) {
    size_t count;
    uint64_t last = 0;
    if (!read_count(in, VARIABLE_LEAST, &count)) return false;
    index->variables = malloc((count + 1) * sizeof *index->variables);
    for (size_t i = 0; index->variables && i < count; i++) {
        struct dwarf_variable variable = {.addr = last + vmv_in_varint(in)};
        variable.name = read_string_number(in, index);
        variable.linkage = read_string_number(in, index);
        variable.type = read_number(in, index->type_count);
        if (in->bad || variable.addr < last) return false;
        last = variable.addr;
        index->variables[index->variable_count++] = variable;
    }
    return index->variables;
}

static bool read_head(struct vmv_in *in, struct dwarf_index *index, const uint8_t *build_id, size_t build_id_length) {
    size_t length;
    const uint8_t *magic = vmv_in_bytes(in, sizeof dwarf_index_magic);
    if (!magic || memcmp(magic, dwarf_index_magic, sizeof dwarf_index_magic) != 0) return false;
    if (vmv_in_varint(in) != build_id_length || in->bad) return false;
    const uint8_t *id = vmv_in_bytes(in, build_id_length);
    if (!id || memcmp(id, build_id, build_id_length) != 0) return false;
    const char *missing = vmv_in_string(in, &length);
    if (missing && length) index->missing = vmv_arena_strdup(&index->arena, missing, length);
    return missing;
}

static bool has_right_hash(const uint8_t *bytes, size_t length) {
    struct vmv_in end = {.data = bytes + length - 8, .length = 8};
    return vmv_in_u64(&end) == vmv_chunk_hash(bytes, length - 8);
}

struct dwarf_index *dwarf_index_decode(const uint8_t *bytes, size_t length, const uint8_t *build_id,
                                       size_t build_id_length) {
    if (length < sizeof dwarf_index_magic + 8 || !has_right_hash(bytes, length)) return NULL;
    struct dwarf_index *index = calloc(1, sizeof *index);
    struct vmv_in in = {.data = bytes, .length = length - 8};
    if (index && read_head(&in, index, build_id, build_id_length) && read_strings(&in, index) &&
        read_rows(&in, index) && read_scopes(&in, index) && read_types(&in, index) && read_members(&in, index) &&
        read_variables(&in, index))
        return index;
    dwarf_index_destroy(index);
    return NULL;
}

void dwarf_index_destroy(struct dwarf_index *index) {
    if (!index) return;
    free(index->strings);
    free(index->rows);
    free(index->scopes);
    free(index->types);
    free(index->members);
    free(index->variables);
    vmv_arena_free(&index->arena);
    free(index);
}

const char *dwarf_index_string(const struct dwarf_index *index, uint32_t number) {
    return number < index->string_count ? index->strings[number] : NULL;
}

const struct dwarf_row *dwarf_index_row(const struct dwarf_index *index, uint64_t addr) {
    size_t low = 0, high = index->row_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (index->rows[middle].addr <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low && index->rows[low - 1].file != DWARF_NONE ? &index->rows[low - 1] : NULL;
}

// Scopes are nested: going back from the address, those that reach it come with falling depth, and the function itself,
// depth 0, is the last.
size_t dwarf_index_scopes(const struct dwarf_index *index, uint64_t addr, const struct dwarf_scope **out, size_t room) {
    enum { BACK_MOST = 200000 };
    size_t low = 0, high = index->scope_count, count = 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (index->scopes[middle].low <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    unsigned depth = UINT16_MAX + 1;
    for (size_t i = low; i-- > 0 && low - i < BACK_MOST && count < room && depth > 0;) {
        const struct dwarf_scope *scope = &index->scopes[i];
        if (addr >= scope->high || scope->depth >= depth) continue;
        out[count++] = scope;
        depth = scope->depth;
    }
    return count && out[count - 1]->depth == 0 ? count : 0;
}
