#include "type_value.h"

#include "dwarf_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 32 };

static const struct dwarf_type *plain(const struct dwarf_index *index, uint32_t number) {
    return dwarf_index_type(index, dwarf_index_plain_type(index, number));
}

uint8_t type_kind(const struct dwarf_index *index, uint32_t number) {
    const struct dwarf_type *type = plain(index, number);
    return type ? type->kind : DWARF_VOID;
}

static uint64_t size_within(const struct dwarf_index *index, uint32_t number, int depth) {
    const struct dwarf_type *type = plain(index, number);
    if (!type || depth == DEPTH_MOST) return 0;
    if (type->kind != DWARF_ARRAY || type->size) return type->size;
    uint64_t element = size_within(index, type->of, depth + 1);
    return element && type->count <= UINT64_MAX / element ? element * type->count : 0;
}

uint64_t type_size(const struct dwarf_index *index, uint32_t number) { return size_within(index, number, 0); }

// ------------------------------------------------------------------------------------------------- looking up

// Calls `find` for the index of each module, the program's first.
typedef bool find_in(const struct dwarf_index *index, const struct decode_module *module, const char *name,
                     struct type_place *out);

static bool in_modules(struct decode *d, uint32_t space, const char *name, find_in *find, struct type_place *out) {
    size_t count;
    for (int program = 1; program >= 0; program--) {
        const struct decode_module *modules = decode_modules(d, space, &count);
        for (size_t i = 0; i < count; i++) {
            if (modules[i].program != program) continue;
            const struct decode_module module = modules[i];
            const struct dwarf_index *index = decode_dwarf(d, module.object);
            if (index && find(index, &module, name, out)) return true;
        }
    }
    return false;
}

static bool find_type(const struct dwarf_index *index, const struct decode_module *module, const char *name,
                      struct type_place *out) {
    uint32_t number = dwarf_index_type_named(index, name);
    const struct dwarf_type *type = dwarf_index_type(index, number);
    *out = (struct type_place){.index = index, .type = number};
    return type && !type->declared_only;
}

bool type_named(struct decode *d, uint32_t space, const char *name, struct type_place *out) {
    return in_modules(d, space, name, find_type, out);
}

static bool find_variable(const struct dwarf_index *index, const struct decode_module *module, const char *name,
                          struct type_place *out) {
    const struct dwarf_variable *variable = dwarf_index_variable_named(index, name);
    if (variable)
        *out = (struct type_place){.index = index, .type = variable->type, .addr = module->bias + variable->addr};
    return variable;
}

bool type_of_variable(struct decode *d, uint32_t space, const char *name, struct type_place *out) {
    return in_modules(d, space, name, find_variable, out);
}

bool type_of_address(struct decode *d, uint32_t space, uint64_t addr, struct type_place *out, const char **name) {
    const struct decode_module *module = decode_module_at(d, space, addr);
    const struct dwarf_index *index = module ? decode_dwarf(d, module->object) : NULL;
    size_t low = 0, high = index ? index->variable_count : 0;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (module->bias + index->variables[middle].addr <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) return false;
    const struct dwarf_variable *variable = &index->variables[low - 1];
    *out = (struct type_place){.index = index, .type = variable->type, .addr = module->bias + variable->addr};
    *name = dwarf_index_string(index, variable->name);
    uint64_t size = type_size(index, variable->type);
    return addr - out->addr < (size ? size : 1);
}

// ------------------------------------------------------------------------------------------------- names

static const char *word_of(uint8_t kind) {
    return kind == DWARF_STRUCT ? "struct " : kind == DWARF_UNION ? "union " : kind == DWARF_ENUM ? "enum " : "";
}

static void name_within(const struct dwarf_index *index, uint32_t number, char *out, size_t size, int depth) {
    const struct dwarf_type *type = dwarf_index_type(index, number);
    const char *name = type ? dwarf_index_string(index, type->name) : NULL;
    char inner[256];
    if (!type || type->kind == DWARF_VOID || depth == DEPTH_MOST) {
        snprintf(out, size, "%s", type && depth == DEPTH_MOST ? "..." : "void");
        return;
    }
    switch (type->kind) {
    case DWARF_QUALIFIED:
        name_within(index, type->of, out, size, depth + 1);
        break;
    case DWARF_POINTER:
    case DWARF_REFERENCE:
        name_within(index, type->of, inner, sizeof inner, depth + 1);
        snprintf(out, size, "%s%s%c", inner, inner[0] && inner[strlen(inner) - 1] == '*' ? "" : " ",
                 type->kind == DWARF_POINTER ? '*' : '&');
        break;
    case DWARF_ARRAY: {
        const struct dwarf_type *of = dwarf_index_type(index, type->of);
        name_within(index, type->of, inner, sizeof inner, depth + 1);
        char *dimensions = of && of->kind == DWARF_ARRAY ? strchr(inner, '[') : NULL, rest[128] = "";
        if (dimensions) { // int[2][3]: the outer one first
            snprintf(rest, sizeof rest, "%s", dimensions);
            *dimensions = 0;
        }
        if (type->count) {
            snprintf(out, size, "%s[%" PRIu64 "]%s", inner, type->count, rest);
        } else {
            snprintf(out, size, "%s[]%s", inner, rest);
        }
        break;
    }
    case DWARF_FUNCTION:
        snprintf(out, size, "function");
        break;
    case DWARF_UNKNOWN:
        snprintf(out, size, "unknown type");
        break;
    default:
        snprintf(out, size, "%s%s", word_of(type->kind), name ? name : "{...}");
    }
}

void type_name(const struct dwarf_index *index, uint32_t number, char *out, size_t size) {
    name_within(index, number, out, size, 0);
}

// ------------------------------------------------------------------------------------------------- parts

uint64_t type_part_count(const struct type_place *place) {
    const struct dwarf_type *type = plain(place->index, place->type);
    if (!type) return 0;
    if (type->kind == DWARF_STRUCT || type->kind == DWARF_UNION) return type->member_count;
    return type->kind == DWARF_ARRAY ? type->count : 0;
}

bool type_part(const struct type_place *place, uint64_t number, struct type_place *out, char *name, size_t size) {
    const struct dwarf_type *type = plain(place->index, place->type);
    if (!type || number >= type_part_count(place)) return false;
    *out = (struct type_place){.index = place->index};
    if (type->kind == DWARF_ARRAY) {
        snprintf(name, size, "[%" PRIu64 "]", number);
        out->type = type->of;
        out->addr = place->addr + number * type_size(place->index, type->of);
        return true;
    }
    const struct dwarf_member *member = &place->index->members[type->first + number];
    const char *text = dwarf_index_string(place->index, member->name);
    snprintf(name, size, "%s", text ? text : member->is_base ? "(base)" : "");
    out->type = member->type;
    out->addr = place->addr + member->offset;
    out->bit_offset = member->bit_offset;
    out->bit_size = member->bit_size;
    return true;
}

// ------------------------------------------------------------------------------------------------- values

static bool read_number(struct decode *d, uint32_t space, const struct type_place *place, uint64_t size,
                        uint64_t *value) {
    uint8_t bytes[16] = {0};
    uint64_t need = place->bit_size ? (place->bit_offset + place->bit_size + 7u) / 8u : size;
    if (need == 0 || need > 9 || !decode_read(d, space, place->addr, bytes, need, NULL)) return false;
    memcpy(value, bytes, sizeof *value);
    if (!place->bit_size) return size <= 8;
    *value >>= place->bit_offset;
    if (need > 8) *value |= (uint64_t)bytes[8] << (64 - place->bit_offset);
    if (place->bit_size < 64) *value &= (1ull << place->bit_size) - 1;
    return true;
}

static int64_t extended(uint64_t value, unsigned bits) {
    return bits && bits < 64 ? (int64_t)(value << (64 - bits)) >> (64 - bits) : (int64_t)value;
}

static void put_char(uint64_t value, char *out, size_t size) {
    unsigned char c = (unsigned char)value;
    snprintf(out, size, c >= 32 && c < 127 ? "%d '%c'" : "%d", (int)(signed char)c, c);
}

static void put_enum(const struct dwarf_index *index, const struct dwarf_type *type, uint64_t value, unsigned bits,
                     char *out, size_t size) {
    int64_t number = extended(value, bits);
    for (uint32_t i = 0; i < type->member_count; i++) {
        const struct dwarf_member *member = &index->members[type->first + i];
        const char *name = dwarf_index_string(index, member->name);
        if ((member->value != number && (uint64_t)member->value != value) || !name) continue;
        snprintf(out, size, "%s", name);
        return;
    }
    snprintf(out, size, "%" PRId64, number);
}

// 0x… "text", where it points at characters that end.
static bool put_text_pointer(struct decode *d, uint32_t space, uint64_t value, char *out, size_t size) {
    char text[64];
    if (!value || !decode_read_text(d, space, value, text, sizeof text)) return false;
    for (const char *c = text; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127) return false;
    return snprintf(out, size, "0x%" PRIx64 " \"%s\"", value, text) > 0;
}

static void put_pointer(struct decode *d, uint32_t space, uint64_t value, char *out, size_t size) {
    struct decode_symbol symbol;
    if (!value || !decode_symbol_at(d, space, value, &symbol)) {
        snprintf(out, size, "0x%" PRIx64, value);
        return;
    }
    char *name = decode_demangle(symbol.name), offset[24] = "";
    if (value != symbol.addr) snprintf(offset, sizeof offset, "+0x%" PRIx64, value - symbol.addr);
    snprintf(out, size, "0x%" PRIx64 " <%s%s>", value, name ? name : symbol.name, offset);
    free(name);
}

static bool put_float(struct decode *d, uint32_t space, const struct type_place *place, uint64_t size, char *out,
                      size_t out_size) {
    uint8_t bytes[16];
    float single;
    double twice;
    long double extended_one = 0;
    if (size > sizeof bytes || !decode_read(d, space, place->addr, bytes, size, NULL)) return false;
    memcpy(&single, bytes, sizeof single);
    memcpy(&twice, bytes, sizeof twice);
    if (size == 4) snprintf(out, out_size, "%.9g", (double)single);
    if (size == 8) snprintf(out, out_size, "%.17g", twice);
    if (size == 16 && sizeof extended_one == 16) {
        memcpy(&extended_one, bytes, 10);
        snprintf(out, out_size, "%.21Lg", extended_one);
    }
    return size == 4 || size == 8 || size == 16;
}

static bool put_bytes(struct decode *d, uint32_t space, const struct type_place *place, uint64_t size, char *out,
                      size_t out_size) {
    uint8_t bytes[32];
    size_t at = 0;
    if (size == 0 || size > sizeof bytes || !decode_read(d, space, place->addr, bytes, size, NULL)) return false;
    for (uint64_t i = 0; i < size && at + 4 < out_size; i++)
        at += (size_t)snprintf(out + at, out_size - at, i ? " %02x" : "%02x", bytes[i]);
    return true;
}

bool type_value(struct decode *d, uint32_t space, const struct type_place *place, char *out, size_t size) {
    const struct dwarf_type *type = plain(place->index, place->type);
    uint64_t bytes = type_size(place->index, place->type), value;
    out[0] = '\0';
    if (!type) return false;
    if (type->kind == DWARF_FLOAT) return put_float(d, space, place, bytes, out, size);
    if (type->kind == DWARF_OTHER_BASE) return put_bytes(d, space, place, bytes, out, size);
    bool number = type->kind >= DWARF_SIGNED && type->kind <= DWARF_CHAR;
    bool pointer = type->kind == DWARF_POINTER || type->kind == DWARF_REFERENCE;
    if (!number && !pointer && type->kind != DWARF_ENUM) return false;
    if (!read_number(d, space, place, bytes, &value)) return false;
    unsigned bits = place->bit_size ? place->bit_size : (unsigned)bytes * 8;
    if (bits < 64) value &= (1ull << bits) - 1;
    bool text =
        pointer && type_kind(place->index, type->of) == DWARF_CHAR && put_text_pointer(d, space, value, out, size);
    if (pointer && !text) put_pointer(d, space, value, out, size);
    if (type->kind == DWARF_ENUM) put_enum(place->index, type, value, bits, out, size);
    if (type->kind == DWARF_CHAR && !place->bit_size) put_char(value, out, size);
    if (type->kind == DWARF_BOOL) snprintf(out, size, value > 1 ? "%" PRIu64 : value ? "true" : "false", value);
    bool is_signed = type->kind == DWARF_SIGNED || (type->kind == DWARF_CHAR && place->bit_size);
    if (is_signed) snprintf(out, size, "%" PRId64, extended(value, bits));
    if (type->kind == DWARF_UNSIGNED) snprintf(out, size, "%" PRIu64, value);
    return true;
}
