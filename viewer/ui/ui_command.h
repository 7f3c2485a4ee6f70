/* The command table: one table feeds keys, palette, help sheet and scripts. The table is the caller's, constant, and
 * knows the application only as a void pointer. */
#ifndef UI_COMMAND_H
#define UI_COMMAND_H

#include "ui_input.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UI_ARGS_MAX 8
#define UI_ARGS_BYTES 1024

struct ui_arg {
    const char *text; /* as written, unquoted */
    int64_t integer;  /* int arguments */
    double number;    /* int and number arguments */
};

struct ui_args {
    int count; /* arguments given; optional ones may be missing */
    struct ui_arg arg[UI_ARGS_MAX];
    char bytes[UI_ARGS_BYTES]; /* what the texts point into: do not copy the struct */
};

/* One row of the table. A name may stand in several rows, with different presets: scripts use the first one. */
struct ui_command {
    const char *name; /* as in scripts: "seek", "tab" */
    /* Arguments: "x:int y:int [n:int]". Kinds: int (decimal or 0x), number, word, text (the rest of the line). In
     * brackets: optional, all that follow too. A word with spaces is written in double quotes. NULL or "": none. */
    const char *args;
    const char *preset; /* arguments when called by key or palette; NULL: none */
    const char *keys;   /* default keys, space between alternatives: "W Ctrl+Up"; NULL: none */
    const char *title;  /* palette and help: "previous change of the selection"; NULL: in neither */
    const char *note;   /* faint beside the title: "goes to the moment"; may be NULL */
    const char *group;  /* heading in the help sheet: "move in time"; NULL: not on the sheet */
    /* false with one line in error (of at least UI_ERROR_SIZE) when it cannot be done. */
    bool (*run)(void *app, const struct ui_args *args, char *error);
};

#define UI_ERROR_SIZE 256

struct ui_commands {
    const struct ui_command *row;
    size_t count;
};

/* First row of that name; NULL if none. */
const struct ui_command *ui_command_find(struct ui_commands commands, const char *name);
/* The row whose keys contain the key; NULL if none. */
const struct ui_command *ui_command_for_key(struct ui_commands commands, struct ui_key key);
/* Two rows never share a key, every spec and key parses, presets fit: true, or false with the first fault in error.
 * Called once at start and by a test. */
bool ui_commands_check(struct ui_commands commands, char *error);

/* Parse the arguments for a row. false with error "seek: needs time". */
bool ui_args_parse(const struct ui_command *command, const char *text, struct ui_args *args, char *error);

/* Parse and run one script line. Empty lines and lines that begin with # do nothing. false with the reason in error:
 * `no command "sek"; did you mean seek?`, `click: y is not a whole number: "a"`. */
bool ui_command_run_line(struct ui_commands commands, void *app, const char *line, char *error);
/* Run a row with its preset, as key and palette do. A row that needs arguments and has no preset fails. */
bool ui_command_run(const struct ui_command *command, void *app, char *error);
/* Whether the row can run without asking for arguments. */
bool ui_command_ready(const struct ui_command *command);

/* --- palette --------------------------------------------------------------------------------------------------- */

#define UI_MATCH_RANGES 8
struct ui_match {
    const struct ui_command *command;
    int score;  /* higher is better */
    int ranges; /* matched letters of the title, in order */
    struct {
        uint16_t start, length; /* bytes */
    } range[UI_MATCH_RANGES];
};

/* Rows whose title matches the query, best first, stable: prefix of the title, then prefixes of words, then a
 * substring, then letters in order (a subsequence). Letter case does not matter. An empty query: all, in table order.
 * Fills at most `size` matches; returns how many match in all. */
size_t ui_palette_filter(struct ui_commands commands, const char *query, struct ui_match *matches, size_t size);

/* The same for any text: false if it does not match. */
bool ui_match_text(const char *text, const char *query, struct ui_match *match);

#endif
