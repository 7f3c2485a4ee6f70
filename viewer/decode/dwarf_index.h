// Debug information in the form that the viewer reads: lines, functions and what was inlined into them, by link-time
// address. It is made by vmvis-dwarf from one object's DWARF, and checked when it is read: whoever wrote it is not
// trusted.
#ifndef DWARF_INDEX_H
#define DWARF_INDEX_H

#include "arena.h"
#include "bytes.h"

enum { DWARF_NONE = UINT32_MAX }; // no string

struct dwarf_row { // of the line table: holds up to the next one
    uint64_t addr;
    uint32_t file, line, column; // file DWARF_NONE: nothing is known from here on
};

struct dwarf_scope {               // a stretch of a function, or of one inlined into it
    uint64_t low, high;            // half-open
    uint32_t name, linkage;        // strings
    uint32_t call_file, call_line; // where it was inlined
    uint16_t depth;                // 0: a function itself
};

enum dwarf_kind {
    DWARF_UNKNOWN, // what it is could not be told
    DWARF_VOID,
    DWARF_SIGNED, // base types, by how their bits are read
    DWARF_UNSIGNED,
    DWARF_BOOL,
    DWARF_CHAR, // of 1 byte, shown as text
    DWARF_FLOAT,
    DWARF_OTHER_BASE, // complex, decimal, ...: shown as bytes
    DWARF_POINTER,
    DWARF_REFERENCE,
    DWARF_STRUCT,
    DWARF_UNION,
    DWARF_ENUM,
    DWARF_ARRAY,
    DWARF_TYPEDEF,
    DWARF_QUALIFIED, // const, volatile, ...: as `of`
    DWARF_FUNCTION,
    DWARF_KINDS,
};

struct dwarf_type {
    uint8_t kind;                 // enum dwarf_kind
    bool declared_only;           // its members are not known here
    uint32_t name;                // string
    uint32_t of;                  // type: of the target, the element, the base; DWARF_NONE: none
    uint64_t size;                // bytes
    uint64_t count;               // elements of an array
    uint32_t first, member_count; // members or enumerators
};

struct dwarf_member { // of a struct or union; of an enum: its name and value alone
    uint32_t name;    // string; DWARF_NONE: anonymous
    uint32_t type;
    int64_t value;                 // enumerators
    uint64_t offset;               // bytes
    uint16_t bit_offset, bit_size; // bit_size 0: not a bitfield; bit_offset from the byte at `offset` on, little-endian
    bool is_base;                  // a base class
};

struct dwarf_variable {     // at one place for the whole run
    uint32_t name, linkage; // strings
    uint32_t type;
    uint64_t addr;
};

struct dwarf_index {
    struct dwarf_type *types;
    size_t type_count;
    struct dwarf_member *members;
    size_t member_count;
    struct dwarf_variable *variables; // by address
    size_t variable_count;
    const char **strings;
    size_t string_count;
    struct dwarf_row *rows; // by address
    size_t row_count;
    struct dwarf_scope *scopes; // by low, then depth
    size_t scope_count;
    const char *missing; // files that it refers to and that were not at hand, one line; NULL
    struct vmv_arena arena;
};

// --- making one
struct dwarf_builder {
    struct dwarf_index index;
    size_t string_room, row_room, scope_room, type_room, member_room, variable_room;
    uint32_t *buckets; // of strings
    size_t bucket_count;
};
uint32_t dwarf_builder_string(struct dwarf_builder *builder, const char *text); // NULL: DWARF_NONE
void dwarf_builder_row(struct dwarf_builder *builder, const struct dwarf_row *row);
void dwarf_builder_scope(struct dwarf_builder *builder, const struct dwarf_scope *scope);
uint32_t dwarf_builder_type(struct dwarf_builder *builder); // a new one, DWARF_UNKNOWN; its number
uint32_t dwarf_builder_member(struct dwarf_builder *builder, const struct dwarf_member *member);
void dwarf_builder_variable(struct dwarf_builder *builder, const struct dwarf_variable *variable);
// Sorts all and appends the encoded index to `out`.
void dwarf_builder_encode(struct dwarf_builder *builder, const uint8_t *build_id, size_t build_id_length,
                          struct vmv_out *out);
void dwarf_builder_free(struct dwarf_builder *builder);

// --- reading one
// NULL: it is damaged, of another version or of another build-id.
struct dwarf_index *dwarf_index_decode(const uint8_t *bytes, size_t length, const uint8_t *build_id,
                                       size_t build_id_length);
void dwarf_index_destroy(struct dwarf_index *index); // accepts NULL

// The row that holds at an address, NULL if none does.
const struct dwarf_row *dwarf_index_row(const struct dwarf_index *index, uint64_t addr);
// The scopes around an address, innermost first; at most `room`.
size_t dwarf_index_scopes(const struct dwarf_index *index, uint64_t addr, const struct dwarf_scope **out, size_t room);
// A type by its name, "struct account", "account" or "account_t": one whose members are known before one that is only
// declared. DWARF_NONE: there is none.
uint32_t dwarf_index_type_named(const struct dwarf_index *index, const char *name);
const struct dwarf_variable *dwarf_index_variable_named(const struct dwarf_index *index,
                                                        const char *name);                   // NULL: none
const struct dwarf_type *dwarf_index_type(const struct dwarf_index *index, uint32_t number); // NULL: DWARF_NONE
// Without typedefs and qualifiers. DWARF_NONE for void, or if they go round in a circle.
uint32_t dwarf_index_plain_type(const struct dwarf_index *index, uint32_t number);
const char *dwarf_index_string(const struct dwarf_index *index, uint32_t number); // NULL for DWARF_NONE

#endif
