#include "dwarf_read.h"

#include "dwarf_die.h"
#include "dwarf_types.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MOST = 512, UNITS_MOST = 1 << 22 };

struct unit {
    Dwarf_Debug debug;
    Dwarf_Die die;
    struct dwarf_builder *builder;
    uint64_t base;   // its lowest address
    uint32_t *files; // strings, numbered as in rows and DW_AT_call_file
    size_t file_count;
    uint64_t last; // address of the row before
    bool open;     // a sequence has begun and not ended
};

// ------------------------------------------------------------------------------------------------- files, lines

static void take_files(struct unit *unit, const struct line_program *program) {
    unit->files = calloc(program->file_count + 1, sizeof *unit->files);
    if (!unit->files) abort();
    unit->file_count = program->file_count;
    for (size_t i = 0; i < program->file_count; i++)
        unit->files[i] = dwarf_builder_string(unit->builder, program->files[i]);
}

static uint32_t file_of(const struct unit *unit, uint64_t number) {
    return number < unit->file_count ? unit->files[number] : DWARF_NONE;
}

static void take_row(void *user, const struct line_state *state) {
    struct unit *unit = user;
    struct dwarf_row row = {.addr = state->addr, .file = DWARF_NONE};
    if (!state->end) {
        row.file = file_of(unit, state->file);
        row.line = state->line <= UINT32_MAX ? (uint32_t)state->line : 0;
        row.column = state->column <= UINT32_MAX ? (uint32_t)state->column : 0;
        if (row.file == DWARF_NONE) row.file = dwarf_builder_string(unit->builder, "??"); // not an end
    }
    dwarf_builder_row(unit->builder, &row);
    unit->open = !state->end;
    unit->last = state->addr;
}

static void read_lines(struct unit *unit, const struct line_sections *sections) {
    uint64_t offset;
    const char *folder = NULL;
    struct line_program program;
    if (!die_offset(unit->die, DW_AT_stmt_list, &offset)) return;
    die_string(unit->die, DW_AT_comp_dir, &folder);
    if (line_program_read(&program, sections, offset, folder)) {
        take_files(unit, &program);
        line_program_run(&program, take_row, unit);
        if (unit->open) take_row(unit, &(struct line_state){.addr = unit->last, .end = true}); // it has no end
    }
    line_program_free(&program);
}

// ------------------------------------------------------------------------------------------------- functions

struct scope_user {
    struct unit *unit;
    struct dwarf_scope scope;
};

static void add_scope(void *user, uint64_t low, uint64_t high) {
    struct scope_user *to = user;
    if (low == 0 || high - low > UINT32_MAX) return; // a function that the linker left out
    to->scope.low = low;
    to->scope.high = high;
    dwarf_builder_scope(to->unit->builder, &to->scope);
}

static void read_scope(struct unit *unit, Dwarf_Die die, unsigned depth) {
    struct scope_user to = {.unit = unit, .scope = {.call_file = DWARF_NONE, .depth = (uint16_t)depth}};
    const char *name, *linkage;
    uint64_t value;
    die_names(unit->debug, die, &name, &linkage);
    to.scope.name = dwarf_builder_string(unit->builder, name);
    to.scope.linkage = dwarf_builder_string(unit->builder, linkage);
    if (depth && die_unsigned(die, DW_AT_call_file, &value)) to.scope.call_file = file_of(unit, value);
    if (depth && die_unsigned(die, DW_AT_call_line, &value)) to.scope.call_line = (uint32_t)value;
    die_ranges(unit->debug, die, unit->base, add_scope, &to);
}

// `inlined`: how many inlined functions lie around, plus the function itself.
static void read_children(struct unit *unit, Dwarf_Die parent, unsigned depth, unsigned inlined) {
    Dwarf_Die die = NULL;
    if (depth >= DEPTH_MOST || dwarf_child(parent, &die, NULL) != DW_DLV_OK) return;
    while (die) {
        Dwarf_Half tag = die_tag(die);
        unsigned within = inlined;
        if (tag == DW_TAG_subprogram) {
            read_scope(unit, die, 0);
            within = 1;
        } else if (tag == DW_TAG_inlined_subroutine && inlined) {
            read_scope(unit, die, inlined);
            within = inlined + 1;
        }
        read_children(unit, die, depth + 1, within);
        Dwarf_Die next = NULL;
        if (dwarf_siblingof_b(unit->debug, die, 1, &next, NULL) != DW_DLV_OK) next = NULL;
        dwarf_dealloc_die(die);
        die = next;
    }
}

static void read_unit(Dwarf_Debug debug, Dwarf_Die die, const struct line_sections *sections,
                      struct dwarf_builder *builder) {
    struct unit unit = {.debug = debug, .die = die, .builder = builder};
    Dwarf_Addr base = 0;
    if (dwarf_lowpc(die, &base, NULL) == DW_DLV_OK) unit.base = base;
    read_lines(&unit, sections);
    read_children(&unit, die, 0, 0);
    free(unit.files);
}

static void note_missing(struct dwarf_builder *builder, Dwarf_Die die) {
    const char *name = NULL;
    if (builder->index.missing ||
        (!die_string(die, DW_AT_dwo_name, &name) && !die_string(die, DW_AT_GNU_dwo_name, &name)))
        return;
    builder->index.missing = vmv_arena_strdup(&builder->index.arena, name, strlen(name));
}

void dwarf_read_all(Dwarf_Debug debug, const struct line_sections *sections, struct dwarf_builder *builder) {
    struct type_reader *types = type_reader_create(debug, builder);
    for (int i = 0; i < UNITS_MOST; i++) {
        Dwarf_Half version, address_size, length_size, extension_size, kind;
        Dwarf_Unsigned length, type_offset, next;
        Dwarf_Off abbreviations;
        Dwarf_Sig8 signature;
        Dwarf_Die die = NULL;
        if (dwarf_next_cu_header_d(debug, 1, &length, &version, &abbreviations, &address_size, &length_size,
                                   &extension_size, &signature, &type_offset, &next, &kind, NULL) != DW_DLV_OK)
            return;
        if (dwarf_siblingof_b(debug, NULL, 1, &die, NULL) != DW_DLV_OK) continue;
        if (address_size == 8) read_unit(debug, die, sections, builder);
        if (address_size == 8) type_reader_unit(types, die);
        note_missing(builder, die);
        dwarf_dealloc_die(die);
    }
}
