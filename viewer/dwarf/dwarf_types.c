#include "dwarf_types.h"

#include "dwarf_die.h"

#include "chunk.h"
#include "dwarf_bytes.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 64, DIMENSIONS = 16, BITS = 64 };

struct slot {        // of the table from a DIE's offset to its type
    uint64_t offset; // 0: free
    uint32_t type;
};

struct same {     // of the table of types that were read
    uint64_t key; // 0: free
    uint32_t type;
};

struct type_reader {
    Dwarf_Debug debug;
    struct dwarf_builder *builder;
    struct slot *slots;
    struct same *same;
    size_t slot_room, slot_count, same_room, same_count;
    uint64_t *queue; // offsets of DIEs that are still to be read
    uint32_t *queue_types;
    size_t queue_count, queue_room;
};

struct type_reader *type_reader_create(Dwarf_Debug debug, struct dwarf_builder *builder) {
    struct type_reader *reader = calloc(1, sizeof *reader);
    if (!reader) abort();
    reader->debug = debug;
    reader->builder = builder;
    return reader;
}

// ------------------------------------------------------------------------------------------------- tables

static struct slot *slot_of(struct type_reader *reader, uint64_t offset) {
    if (reader->slot_count * 2 >= reader->slot_room) {
        struct slot *old = reader->slots;
        size_t room = reader->slot_room;
        reader->slot_room = room ? room * 2 : 4096;
        reader->slots = calloc(reader->slot_room, sizeof *reader->slots);
        if (!reader->slots) abort();
        for (size_t i = 0; i < room; i++)
            if (old[i].offset) *slot_of(reader, old[i].offset) = old[i];
        free(old);
    }
    size_t at = (size_t)(offset * 0x9e3779b97f4a7c15ull >> 20) & (reader->slot_room - 1);
    while (reader->slots[at].offset && reader->slots[at].offset != offset) at = (at + 1) & (reader->slot_room - 1);
    return &reader->slots[at];
}

static struct same *same_of(struct type_reader *reader, uint64_t key) {
    if (reader->same_count * 2 >= reader->same_room) {
        struct same *old = reader->same;
        size_t room = reader->same_room;
        reader->same_room = room ? room * 2 : 4096;
        reader->same = calloc(reader->same_room, sizeof *reader->same);
        if (!reader->same) abort();
        for (size_t i = 0; i < room; i++)
            if (old[i].key) *same_of(reader, old[i].key) = old[i];
        free(old);
    }
    size_t at = (size_t)key & (reader->same_room - 1);
    while (reader->same[at].key && reader->same[at].key != key) at = (at + 1) & (reader->same_room - 1);
    return &reader->same[at];
}

static void enqueue(struct type_reader *reader, uint64_t offset, uint32_t type) {
    if (reader->queue_count == reader->queue_room) {
        reader->queue_room = reader->queue_room * 2 + 256;
        reader->queue = realloc(reader->queue, reader->queue_room * sizeof *reader->queue);
        reader->queue_types = realloc(reader->queue_types, reader->queue_room * sizeof *reader->queue_types);
        if (!reader->queue || !reader->queue_types) abort();
    }
    reader->queue[reader->queue_count] = offset;
    reader->queue_types[reader->queue_count++] = type;
}

// ------------------------------------------------------------------------------------------------- identity

static bool has_members(Dwarf_Half tag) {
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
           tag == DW_TAG_enumeration_type;
}

// A struct, union or enum of several units is the same if its name, its size and the place of its definition are; other
// types with names if they are base types. 0: kept by itself.
static uint64_t key_of(struct type_reader *reader, Dwarf_Die die, Dwarf_Half tag) {
    struct {
        uint64_t tag, name, size, line, column, file;
    } parts = {.tag = tag};
    const char *name = NULL;
    uint64_t declared = 0;
    bool named = die_string(die, DW_AT_name, &name);
    bool placed = die_unsigned(die, DW_AT_decl_line, &parts.line);
    if (die_unsigned(die, DW_AT_declaration, &declared)) return 0;
    if (!named || (has_members(tag) && !placed) || (!has_members(tag) && tag != DW_TAG_base_type)) return 0;
    die_unsigned(die, DW_AT_byte_size, &parts.size);
    die_unsigned(die, DW_AT_decl_column, &parts.column);
    parts.name = vmv_chunk_hash(name, strlen(name));
    if (tag == DW_TAG_base_type) die_unsigned(die, DW_AT_encoding, &parts.file);
    return vmv_chunk_hash(&parts, sizeof parts) | 1;
}

// The number of the type at a DIE, which is read later if it is new.
static uint32_t type_of_die(struct type_reader *reader, Dwarf_Die die) {
    Dwarf_Off offset = 0;
    if (dwarf_dieoffset(die, &offset, NULL) != DW_DLV_OK || offset == 0) return DWARF_NONE;
    struct slot *slot = slot_of(reader, offset);
    if (slot->offset) return slot->type;
    uint64_t key = key_of(reader, die, die_tag(die));
    struct same *same = key ? same_of(reader, key) : NULL;
    bool known = same && same->key;
    slot->offset = offset;
    slot->type = known ? same->type : dwarf_builder_type(reader->builder);
    reader->slot_count++;
    uint32_t type = slot->type;
    if (same && !known) {
        *same = (struct same){key, type};
        reader->same_count++;
    }
    if (!known) enqueue(reader, offset, type);
    return type;
}

static uint32_t type_of_attribute(struct type_reader *reader, Dwarf_Die die) {
    Dwarf_Die to = die_reference(reader->debug, die, DW_AT_type);
    if (!to) {
        Dwarf_Attribute attr = NULL; // there is one, and it leads where we cannot follow: unknown, not void
        bool has = dwarf_attr(die, DW_AT_type, &attr, NULL) == DW_DLV_OK;
        if (has) dwarf_dealloc_attribute(attr);
        return has ? dwarf_builder_type(reader->builder) : DWARF_NONE;
    }
    uint32_t type = type_of_die(reader, to);
    dwarf_dealloc_die(to);
    return type;
}

// ------------------------------------------------------------------------------------------------- one type

// Characters are shown as text; what is called unsigned char usually holds bytes.
static uint8_t base_kind(Dwarf_Die die, uint64_t size) {
    uint64_t encoding = 0;
    const char *name = "";
    die_string(die, DW_AT_name, &name);
    die_unsigned(die, DW_AT_encoding, &encoding);
    switch (encoding) {
    case DW_ATE_boolean:
        return DWARF_BOOL;
    case DW_ATE_signed_char:
        return size == 1 ? DWARF_CHAR : DWARF_SIGNED;
    case DW_ATE_unsigned_char:
        return size == 1 && strcmp(name, "char") == 0 ? DWARF_CHAR : DWARF_UNSIGNED;
    case DW_ATE_signed:
        return size <= 8 ? DWARF_SIGNED : DWARF_OTHER_BASE;
    case DW_ATE_unsigned:
    case DW_ATE_UTF:
        return size <= 8 ? DWARF_UNSIGNED : DWARF_OTHER_BASE;
    case DW_ATE_float:
        return DWARF_FLOAT;
    default:
        return DWARF_OTHER_BASE;
    }
}

static uint8_t kind_of(Dwarf_Die die, Dwarf_Half tag, uint64_t size) {
    switch (tag) {
    case DW_TAG_base_type:
        return base_kind(die, size);
    case DW_TAG_pointer_type:
        return DWARF_POINTER;
    case DW_TAG_reference_type:
    case DW_TAG_rvalue_reference_type:
        return DWARF_REFERENCE;
    case DW_TAG_structure_type:
    case DW_TAG_class_type:
        return DWARF_STRUCT;
    case DW_TAG_union_type:
        return DWARF_UNION;
    case DW_TAG_enumeration_type:
        return DWARF_ENUM;
    case DW_TAG_array_type:
        return DWARF_ARRAY;
    case DW_TAG_typedef:
        return DWARF_TYPEDEF;
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
        return DWARF_QUALIFIED;
    case DW_TAG_subroutine_type:
        return DWARF_FUNCTION;
    case DW_TAG_unspecified_type:
        return DWARF_VOID;
    default:
        return DWARF_UNKNOWN;
    }
}

// DWARF 4 counts a bitfield's bits from the beginning of the struct; before, from the highest bit of a unit of storage.
static bool read_bits(Dwarf_Die die, uint64_t storage, struct dwarf_member *member) {
    uint64_t size, at, unit = storage;
    if (!die_unsigned(die, DW_AT_bit_size, &size) || size == 0 || size > BITS) return false;
    if (die_unsigned(die, DW_AT_data_bit_offset, &at)) {
        member->offset = at / 8;
        member->bit_offset = (uint16_t)(at % 8);
    } else {
        at = 0;
        die_unsigned(die, DW_AT_byte_size, &unit);
        die_unsigned(die, DW_AT_bit_offset, &at);
        if (unit > 8 || at + size > unit * 8) return false;
        uint64_t low = unit * 8 - at - size;
        member->offset += low / 8;
        member->bit_offset = (uint16_t)(low % 8);
    }
    member->bit_size = (uint16_t)size;
    return true;
}

static uint64_t size_of(struct type_reader *reader, uint32_t type) {
    uint32_t plain = dwarf_index_plain_type(&reader->builder->index, type);
    const struct dwarf_type *found = dwarf_index_type(&reader->builder->index, plain);
    return found ? found->size : 0;
}

// False: a static one, or one whose place is computed.
static bool read_member(struct type_reader *reader, Dwarf_Die die, Dwarf_Half tag, bool in_union,
                        struct dwarf_member *member) {
    uint64_t flag, bits;
    const char *name = NULL;
    *member = (struct dwarf_member){.is_base = tag == DW_TAG_inheritance};
    if (die_unsigned(die, DW_AT_external, &flag) || die_unsigned(die, DW_AT_declaration, &flag)) return false;
    bool placed = die_unsigned(die, DW_AT_data_member_location, &member->offset);
    bool has_bits = die_unsigned(die, DW_AT_bit_size, &bits);
    bool by_bits = has_bits && die_unsigned(die, DW_AT_data_bit_offset, &bits);
    if (!placed && !by_bits && !in_union) return false;
    die_string(die, DW_AT_name, &name);
    member->name = dwarf_builder_string(reader->builder, name);
    member->type = type_of_attribute(reader, die);
    return !has_bits || read_bits(die, size_of(reader, member->type), member);
}

static bool read_enumerator(struct type_reader *reader, Dwarf_Die die, struct dwarf_member *member) {
    Dwarf_Attribute attr = NULL;
    Dwarf_Signed value = 0;
    Dwarf_Unsigned plain = 0;
    const char *name = NULL;
    *member = (struct dwarf_member){.type = DWARF_NONE};
    if (!die_string(die, DW_AT_name, &name) || dwarf_attr(die, DW_AT_const_value, &attr, NULL) != DW_DLV_OK)
        return false;
    bool good = dwarf_formsdata(attr, &value, NULL) == DW_DLV_OK;
    if (!good && dwarf_formudata(attr, &plain, NULL) == DW_DLV_OK) {
        value = (Dwarf_Signed)plain;
        good = true;
    }
    dwarf_dealloc_attribute(attr);
    member->name = dwarf_builder_string(reader->builder, name);
    member->value = value;
    return good;
}

static Dwarf_Die first_child(Dwarf_Die die) {
    Dwarf_Die child = NULL;
    return dwarf_child(die, &child, NULL) == DW_DLV_OK ? child : NULL;
}

static Dwarf_Die next_and_free(Dwarf_Debug debug, Dwarf_Die die) {
    Dwarf_Die next = NULL;
    if (dwarf_siblingof_b(debug, die, 1, &next, NULL) != DW_DLV_OK) next = NULL;
    dwarf_dealloc_die(die);
    return next;
}

// They are gathered first: reading one may make types, and their members must stand side by side.
static void read_members(struct type_reader *reader, Dwarf_Die parent, uint32_t number) {
    struct dwarf_member *members = NULL;
    size_t count = 0, room = 0;
    uint8_t kind = reader->builder->index.types[number].kind;
    for (Dwarf_Die die = first_child(parent); die; die = next_and_free(reader->debug, die)) {
        struct dwarf_member member;
        Dwarf_Half tag = die_tag(die);
        bool is_field = tag == DW_TAG_member || tag == DW_TAG_inheritance;
        bool good = is_field ? read_member(reader, die, tag, kind == DWARF_UNION, &member)
                             : tag == DW_TAG_enumerator && read_enumerator(reader, die, &member);
        if (!good || count == UINT32_MAX / 2) continue;
        if (count == room) {
            members = realloc(members, (room = room * 2 + 16) * sizeof *members);
            if (!members) abort();
        }
        members[count++] = member;
    }
    struct dwarf_index *index = &reader->builder->index;
    index->types[number].first = (uint32_t)index->member_count;
    index->types[number].member_count = (uint32_t)count;
    for (size_t i = 0; i < count; i++) dwarf_builder_member(reader->builder, &members[i]);
    free(members);
}

static uint64_t length_of_range(Dwarf_Die die) {
    uint64_t count = 0, upper = 0, lower = 0;
    if (die_unsigned(die, DW_AT_count, &count)) return count;
    die_unsigned(die, DW_AT_lower_bound, &lower);
    return die_unsigned(die, DW_AT_upper_bound, &upper) && upper + 1 > lower ? upper + 1 - lower : 0;
}

// int a[2][3] is one DIE with two ranges: an array of 2 arrays of 3.
static void read_array(struct type_reader *reader, Dwarf_Die die, uint32_t number) {
    uint64_t lengths[DIMENSIONS];
    size_t count = 0;
    for (Dwarf_Die range = first_child(die); range; range = next_and_free(reader->debug, range)) {
        Dwarf_Half tag = die_tag(range);
        if ((tag == DW_TAG_subrange_type || tag == DW_TAG_enumeration_type) && count < DIMENSIONS)
            lengths[count++] = tag == DW_TAG_subrange_type ? length_of_range(range) : 0;
    }
    uint32_t element = type_of_attribute(reader, die), at = number;
    for (size_t i = 0; i < count || i == 0; i++) {
        bool last = i + 1 >= count;
        uint32_t of = last ? element : dwarf_builder_type(reader->builder);
        struct dwarf_type *type = &reader->builder->index.types[at];
        type->kind = DWARF_ARRAY;
        type->count = count ? lengths[i] : 0;
        type->of = of;
        at = of;
    }
}

static void read_type(struct type_reader *reader, Dwarf_Die die, uint32_t number) {
    Dwarf_Half tag = die_tag(die);
    const char *name = NULL;
    uint64_t size = 0, flag = 0;
    die_string(die, DW_AT_name, &name);
    die_unsigned(die, DW_AT_byte_size, &size);
    uint8_t kind = kind_of(die, tag, size);
    if (kind == DWARF_POINTER || kind == DWARF_REFERENCE) size = size ? size : 8;
    uint32_t of = kind == DWARF_ARRAY || kind == DWARF_STRUCT || kind == DWARF_UNION ? DWARF_NONE
                                                                                     : type_of_attribute(reader, die);
    struct dwarf_type *type = &reader->builder->index.types[number];
    type->kind = kind;
    type->size = size;
    type->of = of;
    type->declared_only = die_unsigned(die, DW_AT_declaration, &flag);
    uint32_t text = dwarf_builder_string(reader->builder, name);
    reader->builder->index.types[number].name = text;
    if (has_members(tag)) read_members(reader, die, number);
    if (kind == DWARF_ARRAY) read_array(reader, die, number);
}

static void read_queue(struct type_reader *reader) {
    while (reader->queue_count) {
        uint64_t offset = reader->queue[--reader->queue_count];
        uint32_t number = reader->queue_types[reader->queue_count];
        Dwarf_Die die = NULL;
        if (dwarf_offdie_b(reader->debug, offset, 1, &die, NULL) != DW_DLV_OK) continue;
        read_type(reader, die, number);
        dwarf_dealloc_die(die);
    }
}

// ------------------------------------------------------------------------------------------------- units

// DW_OP_addr and an address, or DW_OP_addrx and the number of one, and nothing else.
static bool address_of(Dwarf_Die die, const uint8_t *code, uint64_t length, uint64_t *addr) {
    struct dwarf_bytes in = {code, code + length, false};
    Dwarf_Addr found = 0;
    unsigned op = (unsigned)dwarf_unsigned(&in, 1);
    if (op == DW_OP_addr) {
        *addr = dwarf_unsigned(&in, 8);
    } else if (op == DW_OP_addrx) {
        if (dwarf_debug_addr_index_to_addr(die, dwarf_uleb(&in), &found, NULL) != DW_DLV_OK) return false;
        *addr = found;
    } else {
        return false;
    }
    return !in.bad && in.at == in.end && *addr;
}

static bool fixed_address(Dwarf_Die die, uint64_t *addr) {
    Dwarf_Attribute attr = NULL;
    Dwarf_Unsigned length = 0;
    Dwarf_Ptr block = NULL;
    if (dwarf_attr(die, DW_AT_location, &attr, NULL) != DW_DLV_OK) return false;
    bool good = dwarf_formexprloc(attr, &length, &block, NULL) == DW_DLV_OK;
    if (!good) {
        Dwarf_Block *old = NULL; // DWARF 3 has blocks
        good = dwarf_formblock(attr, &old, NULL) == DW_DLV_OK && old;
        if (good) length = old->bl_len, block = old->bl_data;
    }
    good = good && block && address_of(die, block, length, addr);
    dwarf_dealloc_attribute(attr);
    return good;
}

static void read_variable(struct type_reader *reader, Dwarf_Die die) {
    struct dwarf_variable variable;
    const char *name, *linkage;
    if (!fixed_address(die, &variable.addr)) return;
    die_names(reader->debug, die, &name, &linkage);
    variable.name = dwarf_builder_string(reader->builder, name);
    variable.linkage = dwarf_builder_string(reader->builder, linkage);
    variable.type = type_of_attribute(reader, die);
    if (variable.type == DWARF_NONE) { // the declaration in a class or header has it
        Dwarf_Die origin = die_reference(reader->debug, die, DW_AT_specification);
        if (!origin) origin = die_reference(reader->debug, die, DW_AT_abstract_origin);
        if (origin) variable.type = type_of_attribute(reader, origin);
        if (origin) dwarf_dealloc_die(origin);
    }
    dwarf_builder_variable(reader->builder, &variable);
}

static bool holds_others(Dwarf_Half tag) {
    return tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block ||
           tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type || tag == DW_TAG_module;
}

static void read_children(struct type_reader *reader, Dwarf_Die parent, unsigned depth) {
    if (depth == DEPTH_MOST) return;
    for (Dwarf_Die die = first_child(parent); die; die = next_and_free(reader->debug, die)) {
        Dwarf_Half tag = die_tag(die);
        if (has_members(tag) || tag == DW_TAG_typedef || tag == DW_TAG_base_type) type_of_die(reader, die);
        if (tag == DW_TAG_variable) read_variable(reader, die);
        if (holds_others(tag)) read_children(reader, die, depth + 1);
    }
}

void type_reader_unit(struct type_reader *reader, Dwarf_Die unit) {
    read_children(reader, unit, 0);
    read_queue(reader);
}
