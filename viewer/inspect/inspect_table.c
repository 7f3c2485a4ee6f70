#include "inspect_table.h"

#include "inspect_show.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void table_add(struct table *table, const char *text, size_t length) {
    if (table->count == table->room) {
        table->room = table->room == 0 ? 256 : table->room * 2;
        table->cells = realloc(table->cells, table->room * sizeof *table->cells);
        if (table->cells == NULL) abort();
    }
    size_t column = table->count % table->columns;
    char *copy = vmv_arena_strdup(&table->arena, text, length);
    size_t width = inspect_width(copy);
    if (width > table->widths[column]) table->widths[column] = width;
    table->cells[table->count++] = copy;
}

void table_begin(struct table *table, const char *align, const char *headings) {
    *table = (struct table){.columns = strlen(align)};
    for (size_t i = 0; i < table->columns; i++) table->right[i] = align[i] == 'r';
    while (headings != NULL) {
        const char *bar = strchr(headings, '|');
        table_add(table, headings, bar == NULL ? strlen(headings) : (size_t)(bar - headings));
        headings = bar == NULL ? NULL : bar + 1;
    }
}

void table_cell(struct table *table, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0) n = 0;
    table_add(table, text, (size_t)n < sizeof text ? (size_t)n : sizeof text - 1);
}

void table_name(struct table *table, const char *name) {
    char plain[4 * 4096 + 1];
    inspect_plain(plain, sizeof plain, name);
    table_add(table, plain, strlen(plain));
}

static void table_row(const struct table *table, struct inspect_out *out, size_t row, size_t indent) {
    size_t owed = indent; // blanks that are printed only when something follows
    for (size_t i = 0; i < table->columns; i++) {
        const char *cell = table->cells[row + i];
        size_t pad = table->widths[i] - inspect_width(cell);
        if (table->right[i]) owed += pad;
        if (*cell != '\0') {
            inspect_out_fill(out, ' ', owed);
            inspect_out_text(out, cell);
            owed = 0;
        }
        if (!table->right[i]) owed += pad;
        owed += 2;
    }
    inspect_out_bytes(out, "\n", 1);
}

void table_end(struct table *table, struct inspect_out *out, size_t indent) {
    for (size_t row = 0; row + table->columns <= table->count && out->error == 0; row += table->columns) {
        table_row(table, out, row, indent);
    }
    table_drop(table);
}

void table_drop(struct table *table) {
    free(table->cells);
    vmv_arena_free(&table->arena);
    table->cells = NULL;
}
