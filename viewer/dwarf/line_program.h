// Line number programs (DWARF 5, 6.2; versions 2 to 5). Read by us and not by libdwarf: that of 2021 takes file 0 where
// a version 5 program does not name one, and the standard says 1.
#ifndef LINE_PROGRAM_H
#define LINE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_sections { // of the object; NULL where it has none
    const uint8_t *line, *line_str, *str;
    size_t line_length, line_str_length, str_length;
};

struct line_program {
    char **files; // paths, as line rows and DW_AT_call_file number them; NULL: no such file
    size_t file_count;
    // of the program itself
    const uint8_t *code, *code_end;
    uint64_t least_instruction;
    uint8_t operations, line_range, opcode_base;
    int8_t line_base;
    uint8_t operand_counts[256];
};

// Reads the header at `offset` of .debug_line; `folder`: the unit's DW_AT_comp_dir, or NULL. False: it is malformed or
// of another version. Free with line_program_free() in either case.
bool line_program_read(struct line_program *program, const struct line_sections *sections, uint64_t offset,
                       const char *folder);
void line_program_free(struct line_program *program);

struct line_state {
    uint64_t addr;
    uint64_t file, line, column;
    bool end; // of a sequence
};
typedef void line_each(void *user, const struct line_state *state);
void line_program_run(const struct line_program *program, line_each *each, void *user);

#endif
