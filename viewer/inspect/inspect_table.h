// Text in aligned columns: cells are gathered row by row and printed when all widths are known.
#ifndef INSPECT_TABLE_H
#define INSPECT_TABLE_H

#include "arena.h"
#include "inspect_out.h"

enum { TABLE_COLUMNS = 16 };

struct table {
    size_t columns;
    bool right[TABLE_COLUMNS];
    size_t widths[TABLE_COLUMNS];
    char **cells;
    size_t count, room;
    struct vmv_arena arena;
};

// `align` has one character a column: 'l' or 'r'. `headings` are separated by '|'; NULL: none.
void table_begin(struct table *table, const char *align, const char *headings);
__attribute__((format(printf, 2, 3))) void table_cell(struct table *table, const char *format, ...);
void table_name(struct table *table, const char *name); // a name from a trace, made harmless
// Prints all rows, two spaces between columns and none at the end, `indent` before, and frees the table.
void table_end(struct table *table, struct inspect_out *out, size_t indent);
void table_drop(struct table *table); // frees it, nothing is printed

#endif
