#include "line_program.h"

#include "dwarf_bytes.h"

#include <dwarf.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAMES_MOST = 1 << 20, FORMATS_MOST = 16, PATH_LONGEST = 8192 };

struct header {
    struct dwarf_bytes in;
    const struct line_sections *sections;
    const char *folder; // of the unit
    unsigned version;
    bool wide; // 64-bit DWARF
    const char **folders;
    size_t folder_count;
};

static const char *text_at(const uint8_t *bytes, size_t length, uint64_t offset) {
    if (!bytes || offset >= length || !memchr(bytes + offset, 0, length - offset)) return NULL;
    return (const char *)bytes + offset;
}

static const char *text_here(struct dwarf_bytes *in) {
    size_t left = in->bad ? 0 : (size_t)(in->end - in->at), length = left ? strnlen((const char *)in->at, left) : 0;
    if (length == left) {
        in->bad = true;
        return NULL;
    }
    const char *text = (const char *)in->at;
    in->at += length + 1;
    return text;
}

// "folder/name", or the name alone where it is absolute. malloc; NULL where there is no name.
static char *join(const char *folder, const char *name) {
    char *path = NULL;
    if (!name || strnlen(name, PATH_LONGEST) == PATH_LONGEST) return NULL;
    if (name[0] == '/' || !folder || !folder[0]) return strdup(name);
    return asprintf(&path, "%s/%s", folder, name) < 0 ? NULL : path;
}

// The path of a file in a folder that may be relative to the unit's, or to folder 0.
static char *path_of(const struct header *header, uint64_t folder, const char *name) {
    const char *inner = folder < header->folder_count ? header->folders[folder] : NULL;
    const char *outer = header->version >= 5 && folder ? header->folders[0] : header->folder;
    if (!inner || (name && name[0] == '/')) return join(header->folder, name);
    char *base = join(outer, inner), *path = join(base ? base : inner, name);
    free(base);
    return path;
}

static bool add_file(struct line_program *program, size_t *room, char *path) {
    if (program->file_count == NAMES_MOST) return false;
    if (program->file_count == *room) {
        *room = *room * 2 + 64;
        char **files = realloc(program->files, *room * sizeof *files);
        if (!files) abort();
        program->files = files;
    }
    program->files[program->file_count++] = path;
    return true;
}

static bool add_folder(struct header *header, size_t *room, const char *name) {
    if (header->folder_count == NAMES_MOST) return false;
    if (header->folder_count == *room) {
        *room = *room * 2 + 64;
        const char **folders = realloc(header->folders, *room * sizeof *folders);
        if (!folders) abort();
        header->folders = folders;
    }
    header->folders[header->folder_count++] = name;
    return true;
}

// ------------------------------------------------------------------------------------------------- tables

static bool read_old_tables(struct header *header, struct line_program *program) {
    size_t folder_room = 0, file_room = 0;
    add_folder(header, &folder_room, NULL); // 0: the unit's own
    for (const char *name; (name = text_here(&header->in)) && *name;)
        if (!add_folder(header, &folder_room, name)) return false;
    add_file(program, &file_room, NULL); // counted from 1
    for (const char *name; (name = text_here(&header->in)) && *name;) {
        uint64_t folder = dwarf_uleb(&header->in);
        dwarf_uleb(&header->in); // time of change
        dwarf_uleb(&header->in); // length
        if (!add_file(program, &file_room, path_of(header, folder, name))) return false;
    }
    return !header->in.bad;
}

struct format {
    size_t count;
    uint64_t type[FORMATS_MOST], form[FORMATS_MOST];
};

static bool read_format(struct header *header, struct format *format) {
    format->count = (size_t)dwarf_unsigned(&header->in, 1);
    if (format->count > FORMATS_MOST) return false;
    for (size_t i = 0; i < format->count; i++) {
        format->type[i] = dwarf_uleb(&header->in);
        format->form[i] = dwarf_uleb(&header->in);
    }
    return !header->in.bad;
}

// How many entries follow: each takes a byte at least.
static bool read_count(struct header *header, const struct format *format, uint64_t *count) {
    *count = dwarf_uleb(&header->in);
    return !header->in.bad && *count <= (uint64_t)(header->in.end - header->in.at) && (format->count || !*count);
}

// One value of a form: a number or a text. False: a form that is not known, behind which nothing can be found.
static bool read_value(struct header *header, uint64_t form, uint64_t *number, const char **text) {
    struct dwarf_bytes *in = &header->in;
    const struct line_sections *s = header->sections;
    *number = 0;
    *text = NULL;
    switch (form) {
    case DW_FORM_string:
        *text = text_here(in);
        break;
    case DW_FORM_line_strp:
        *text = text_at(s->line_str, s->line_str_length, dwarf_unsigned(in, header->wide ? 8 : 4));
        break;
    case DW_FORM_strp:
        *text = text_at(s->str, s->str_length, dwarf_unsigned(in, header->wide ? 8 : 4));
        break;
    case DW_FORM_udata:
        *number = dwarf_uleb(in);
        break;
    case DW_FORM_data1:
        *number = dwarf_unsigned(in, 1);
        break;
    case DW_FORM_data2:
        *number = dwarf_unsigned(in, 2);
        break;
    case DW_FORM_data4:
        *number = dwarf_unsigned(in, 4);
        break;
    case DW_FORM_data8:
        *number = dwarf_unsigned(in, 8);
        break;
    case DW_FORM_data16:
        dwarf_block(in, 16);
        break;
    case DW_FORM_block:
        dwarf_block(in, dwarf_uleb(in));
        break;
    default:
        return false;
    }
    return !in->bad;
}

static bool read_entry(struct header *header, const struct format *format, const char **name, uint64_t *folder) {
    *name = NULL;
    *folder = 0;
    for (size_t i = 0; i < format->count; i++) {
        uint64_t number;
        const char *text;
        if (!read_value(header, format->form[i], &number, &text)) return false;
        if (format->type[i] == DW_LNCT_path) *name = text;
        if (format->type[i] == DW_LNCT_directory_index) *folder = number;
    }
    return true;
}

static bool read_new_tables(struct header *header, struct line_program *program) {
    struct format format;
    const char *name;
    uint64_t folder;
    size_t folder_room = 0, file_room = 0;
    uint64_t left;
    if (!read_format(header, &format) || !read_count(header, &format, &left)) return false;
    for (; left; left--)
        if (!read_entry(header, &format, &name, &folder) || !add_folder(header, &folder_room, name)) return false;
    if (!read_format(header, &format) || !read_count(header, &format, &left)) return false;
    for (; left; left--)
        if (!read_entry(header, &format, &name, &folder) ||
            !add_file(program, &file_room, path_of(header, folder, name)))
            return false;
    return !header->in.bad;
}

// ------------------------------------------------------------------------------------------------- header

static bool read_head(struct header *header, struct line_program *program) {
    struct dwarf_bytes *in = &header->in;
    uint64_t length = dwarf_unsigned(in, 4);
    header->wide = length == 0xffffffff;
    if (header->wide) length = dwarf_unsigned(in, 8);
    if (in->bad || length > (uint64_t)(in->end - in->at)) return false;
    in->end = in->at + length;
    header->version = (unsigned)dwarf_unsigned(in, 2);
    if (header->version < 2 || header->version > 5) return false;
    if (header->version == 5 && (dwarf_unsigned(in, 1) != 8 || dwarf_unsigned(in, 1) != 0)) return false;
    uint64_t to_code = dwarf_unsigned(in, header->wide ? 8 : 4);
    if (in->bad || to_code > (uint64_t)(in->end - in->at)) return false;
    program->code = in->at + to_code;
    program->code_end = in->end;
    program->least_instruction = dwarf_unsigned(in, 1);
    program->operations = header->version >= 4 ? (uint8_t)dwarf_unsigned(in, 1) : 1;
    dwarf_unsigned(in, 1); // whether a row is the beginning of a statement at first
    program->line_base = (int8_t)dwarf_signed(in, 1);
    program->line_range = (uint8_t)dwarf_unsigned(in, 1);
    program->opcode_base = (uint8_t)dwarf_unsigned(in, 1);
    for (unsigned i = 1; i < program->opcode_base; i++) program->operand_counts[i] = (uint8_t)dwarf_unsigned(in, 1);
    if (in->at > program->code) return false;
    in->end = program->code;
    return !in->bad && program->line_range && program->opcode_base && program->operations <= 1;
}

bool line_program_read(struct line_program *program, const struct line_sections *sections, uint64_t offset,
                       const char *folder) {
    *program = (struct line_program){0};
    if (!sections->line || offset >= sections->line_length) return false;
    struct header header = {.in = {sections->line + offset, sections->line + sections->line_length, false},
                            .sections = sections,
                            .folder = folder};
    bool good = read_head(&header, program) &&
                (header.version >= 5 ? read_new_tables(&header, program) : read_old_tables(&header, program));
    free(header.folders);
    return good;
}

void line_program_free(struct line_program *program) {
    for (size_t i = 0; i < program->file_count; i++) free(program->files[i]);
    free(program->files);
    *program = (struct line_program){0};
}

// ------------------------------------------------------------------------------------------------- running

struct line_run {
    const struct line_program *program;
    struct dwarf_bytes in;
    struct line_state state;
    line_each *each;
    void *user;
};

static const struct line_state at_first = {.file = 1, .line = 1};

static void put_row(struct line_run *run) { run->each(run->user, &run->state); }

static void run_extended(struct line_run *run) {
    uint64_t length = dwarf_uleb(&run->in);
    const uint8_t *block = length ? dwarf_block(&run->in, length) : NULL;
    if (!block) return;
    struct dwarf_bytes in = {block + 1, block + length, false};
    if (block[0] == DW_LNE_end_sequence) {
        run->state.end = true;
        put_row(run);
        run->state = at_first;
    } else if (block[0] == DW_LNE_set_address) {
        run->state.addr = dwarf_unsigned(&in, length - 1);
    }
}

static void run_special(struct line_run *run, unsigned op, bool put) {
    unsigned adjusted = op - run->program->opcode_base;
    run->state.addr += adjusted / run->program->line_range * run->program->least_instruction;
    if (!put) return;
    run->state.line += (uint64_t)(int64_t)(run->program->line_base + (int)(adjusted % run->program->line_range));
    put_row(run);
}

static void run_standard(struct line_run *run, unsigned op) {
    struct line_state *state = &run->state;
    switch (op) {
    case DW_LNS_copy:
        put_row(run);
        break;
    case DW_LNS_advance_pc:
        state->addr += dwarf_uleb(&run->in) * run->program->least_instruction;
        break;
    case DW_LNS_advance_line:
        state->line += (uint64_t)dwarf_sleb(&run->in);
        break;
    case DW_LNS_set_file:
        state->file = dwarf_uleb(&run->in);
        break;
    case DW_LNS_set_column:
        state->column = dwarf_uleb(&run->in);
        break;
    case DW_LNS_const_add_pc:
        run_special(run, 255, false);
        break;
    case DW_LNS_fixed_advance_pc:
        state->addr += dwarf_unsigned(&run->in, 2);
        break;
    default: // known or not, it has so many operands
        for (unsigned i = 0; i < run->program->operand_counts[op]; i++) dwarf_uleb(&run->in);
        break;
    }
}

void line_program_run(const struct line_program *program, line_each *each, void *user) {
    struct line_run run = {.program = program,
                           .in = {program->code, program->code_end, false},
                           .state = at_first,
                           .each = each,
                           .user = user};
    while (run.in.at < run.in.end && !run.in.bad) {
        unsigned op = (unsigned)dwarf_unsigned(&run.in, 1);
        if (op == 0) {
            run_extended(&run);
        } else if (op >= program->opcode_base) {
            run_special(&run, op, true);
        } else {
            run_standard(&run, op);
        }
    }
}
