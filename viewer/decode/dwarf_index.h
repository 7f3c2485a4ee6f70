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

struct dwarf_index {
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
    size_t string_room, row_room, scope_room;
    uint32_t *buckets; // of strings
    size_t bucket_count;
};
uint32_t dwarf_builder_string(struct dwarf_builder *builder, const char *text); // NULL: DWARF_NONE
void dwarf_builder_row(struct dwarf_builder *builder, const struct dwarf_row *row);
void dwarf_builder_scope(struct dwarf_builder *builder, const struct dwarf_scope *scope);
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
const char *dwarf_index_string(const struct dwarf_index *index, uint32_t number); // NULL for DWARF_NONE

#endif
