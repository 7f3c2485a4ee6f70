/* Commands: look-up, arguments, script lines. The palette's matching is in ui_palette_filter.c. */
#include "ui_command.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_SIZE = 32 };

static bool fail(char *error, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail(char *error, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(error, UI_ERROR_SIZE, format, values);
    va_end(values);
    return false;
}

static size_t skip_spaces(const char *text) { return strspn(text, " \t"); }

/* --- argument specs --- */

enum arg_kind { ARG_INT, ARG_NUMBER, ARG_WORD, ARG_TEXT, ARG_KINDS };
static const char *const kind_names[ARG_KINDS] = {"int", "number", "word", "text"};

struct arg_spec {
    char name[NAME_SIZE];
    enum arg_kind kind;
    bool optional;
};

struct spec {
    struct arg_spec arg[UI_ARGS_MAX];
    int count;
};

/* One "name:kind", without brackets. */
static bool parse_arg_spec(const char *text, size_t bytes, struct arg_spec *arg) {
    const char *colon = memchr(text, ':', bytes);
    if (!colon || colon == text || (size_t)(colon - text) >= sizeof arg->name) return false;
    memcpy(arg->name, text, (size_t)(colon - text));
    arg->name[colon - text] = '\0';
    size_t kind_bytes = bytes - (size_t)(colon + 1 - text);
    for (int i = 0; i < ARG_KINDS; i++) {
        if (strlen(kind_names[i]) != kind_bytes || memcmp(kind_names[i], colon + 1, kind_bytes) != 0) continue;
        arg->kind = (enum arg_kind)i;
        return true;
    }
    return false;
}

static bool parse_spec(const struct ui_command *command, struct spec *spec) {
    *spec = (struct spec){0};
    const char *at = command->args ? command->args : "";
    bool optional = false;
    for (at += skip_spaces(at); *at; at += skip_spaces(at)) {
        if (*at == '[') optional = true;
        at += strspn(at, "[ ");
        size_t bytes = strcspn(at, " ]");
        if (spec->count == UI_ARGS_MAX || !parse_arg_spec(at, bytes, &spec->arg[spec->count])) return false;
        if (spec->count > 0 && spec->arg[spec->count - 1].kind == ARG_TEXT) return false;
        spec->arg[spec->count++].optional = optional;
        at += bytes;
        at += strspn(at, "]");
    }
    return true;
}

/* --- arguments --- */

/* Where parsing stands: the line, and the free part of args->bytes. */
struct reader {
    const char *at;
    struct ui_args *args;
    size_t used;
};

static bool store(struct reader *reader, char c) {
    if (reader->used >= UI_ARGS_BYTES) return false;
    reader->args->bytes[reader->used++] = c;
    return true;
}

/* A word up to a space, or between double quotes, where \" and \\ stand for themselves. NULL with *why on failure. */
static const char *read_word(struct reader *reader, const char **why) {
    const char *word = reader->args->bytes + reader->used;
    bool quoted = *reader->at == '"', room = true;
    if (quoted) reader->at++;
    while (*reader->at && (quoted ? *reader->at != '"' : *reader->at != ' ' && *reader->at != '\t')) {
        if (quoted && *reader->at == '\\' && (reader->at[1] == '"' || reader->at[1] == '\\')) reader->at++;
        room = room && store(reader, *reader->at++);
    }
    *why = quoted && *reader->at != '"' ? "a closing quote is missing" : "the line is too long";
    if (quoted && *reader->at != '"') return NULL;
    if (quoted) reader->at++;
    return room && store(reader, '\0') ? word : NULL;
}

/* The rest of the line without the spaces at its end. */
static const char *read_rest(struct reader *reader, const char **why) {
    const char *text = reader->args->bytes + reader->used;
    size_t bytes = strlen(reader->at);
    while (bytes > 0 && (reader->at[bytes - 1] == ' ' || reader->at[bytes - 1] == '\t')) bytes--;
    *why = "the line is too long";
    bool room = true;
    for (size_t i = 0; i < bytes; i++) room = room && store(reader, reader->at[i]);
    reader->at += strlen(reader->at);
    return room && store(reader, '\0') ? text : NULL;
}

static bool parse_integer(const char *text, int64_t *value) {
    char *end;
    errno = 0;
    int base = text[0] == '0' && (text[1] == 'x' || text[1] == 'X') ? 16 : 10;
    *value = strtoll(text, &end, base);
    return *text && *end == '\0' && errno == 0;
}

static bool parse_number(const char *text, double *value) {
    char *end;
    *value = strtod(text, &end);
    return *text && *end == '\0' && isfinite(*value);
}

static bool convert(const struct ui_command *command, const struct arg_spec *spec, struct ui_arg *arg, char *error) {
    if (spec->kind == ARG_INT) {
        if (!parse_integer(arg->text, &arg->integer))
            return fail(error, "%s: %s is not a whole number: \"%.40s\"", command->name, spec->name, arg->text);
        arg->number = (double)arg->integer;
    }
    if (spec->kind == ARG_NUMBER && !parse_number(arg->text, &arg->number))
        return fail(error, "%s: %s is not a number: \"%.40s\"", command->name, spec->name, arg->text);
    return true;
}

bool ui_args_parse(const struct ui_command *command, const char *text, struct ui_args *args, char *error) {
    struct spec spec;
    struct reader reader = {.at = text, .args = args};
    args->count = 0;
    memset(args->arg, 0, sizeof args->arg);
    if (!parse_spec(command, &spec)) return fail(error, "%s: its arguments are declared wrongly", command->name);
    for (reader.at += skip_spaces(reader.at); *reader.at; reader.at += skip_spaces(reader.at)) {
        if (args->count == spec.count)
            return fail(error, "%s: one argument too many: \"%.40s\"", command->name, reader.at);
        const struct arg_spec *wanted = &spec.arg[args->count];
        struct ui_arg *arg = &args->arg[args->count];
        const char *why;
        arg->text = wanted->kind == ARG_TEXT ? read_rest(&reader, &why) : read_word(&reader, &why);
        if (!arg->text) return fail(error, "%s: %s: %s", command->name, wanted->name, why);
        if (!convert(command, wanted, arg, error)) return false;
        args->count++;
    }
    if (args->count < spec.count && !spec.arg[args->count].optional)
        return fail(error, "%s: needs %s", command->name, spec.arg[args->count].name);
    return true;
}

/* --- look-up --- */

const struct ui_command *ui_command_find(struct ui_commands commands, const char *name) {
    for (size_t i = 0; i < commands.count; i++)
        if (strcmp(commands.row[i].name, name) == 0) return &commands.row[i];
    return NULL;
}

/* Take the next key off a space-separated list. */
static bool next_key(const char **keys, struct ui_key *key, bool *valid) {
    *keys += skip_spaces(*keys);
    size_t bytes = strcspn(*keys, " \t");
    if (bytes == 0) return false;
    *valid = ui_key_parse_n(*keys, bytes, key);
    *keys += bytes;
    return true;
}

const struct ui_command *ui_command_for_key(struct ui_commands commands, struct ui_key key) {
    for (size_t i = 0; i < commands.count; i++) {
        const char *keys = commands.row[i].keys ? commands.row[i].keys : "";
        struct ui_key own;
        bool valid;
        while (next_key(&keys, &own, &valid))
            if (valid && ui_key_equal(own, key)) return &commands.row[i];
    }
    return NULL;
}

/* --- check --- */

static bool check_keys(struct ui_commands commands, const struct ui_command *command, char *error) {
    const char *keys = command->keys ? command->keys : "";
    struct ui_key key;
    bool valid;
    while (next_key(&keys, &key, &valid)) {
        if (!valid) return fail(error, "%s: no such key in \"%s\"", command->name, command->keys);
        const struct ui_command *owner = ui_command_for_key(commands, key);
        char name[UI_KEY_NAME_SIZE];
        ui_key_format(key, name, sizeof name);
        if (owner != command)
            return fail(error, "%s: its key %s belongs to %s already", command->name, name, owner->name);
    }
    return true;
}

static bool check_row(struct ui_commands commands, const struct ui_command *command, char *error) {
    struct spec spec;
    struct ui_args args;
    if (!command->name || !command->name[0] || strpbrk(command->name, " \t\"#"))
        return fail(error, "row %zu: it has no proper name", (size_t)(command - commands.row));
    if (!command->run) return fail(error, "%s: nothing to run", command->name);
    if (!parse_spec(command, &spec)) return fail(error, "%s: wrong arguments \"%s\"", command->name, command->args);
    if (command->preset && !ui_args_parse(command, command->preset, &args, error)) return false;
    return check_keys(commands, command, error);
}

bool ui_commands_check(struct ui_commands commands, char *error) {
    for (size_t i = 0; i < commands.count; i++)
        if (!check_row(commands, &commands.row[i], error)) return false;
    return true;
}

/* --- running --- */

/* Letters to insert, remove or replace to make b of a; both short. */
static int distance(const char *a, const char *b) {
    int row[NAME_SIZE + 1];
    int length = (int)strnlen(b, NAME_SIZE);
    for (int j = 0; j <= length; j++) row[j] = j;
    for (int i = 1; a[i - 1] && i <= NAME_SIZE; i++) {
        int diagonal = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int replaced = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            int other = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = replaced < other ? replaced : other;
        }
    }
    return row[length];
}

static const struct ui_command *nearest(struct ui_commands commands, const char *name) {
    const struct ui_command *best = NULL;
    int least = 3;
    for (size_t i = 0; i < commands.count; i++) {
        int steps = distance(name, commands.row[i].name);
        if (steps >= least) continue;
        least = steps;
        best = &commands.row[i];
    }
    return best;
}

static bool call(const struct ui_command *command, void *app, const char *arguments, char *error) {
    struct ui_args args;
    if (!ui_args_parse(command, arguments, &args, error)) return false;
    error[0] = '\0';
    return command->run(app, &args, error);
}

bool ui_command_run_line(struct ui_commands commands, void *app, const char *line, char *error) {
    line += skip_spaces(line);
    size_t bytes = strcspn(line, " \t\r\n");
    if (bytes == 0 || *line == '#') return true;
    char name[NAME_SIZE], rest[UI_ARGS_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)(bytes < NAME_SIZE ? bytes : NAME_SIZE - 1), line);
    const struct ui_command *command = bytes < NAME_SIZE ? ui_command_find(commands, name) : NULL;
    if (!command) {
        const struct ui_command *near = nearest(commands, name);
        return fail(error, "no command \"%s\"%s%s%s", name, near ? "; did you mean " : "", near ? near->name : "",
                    near ? "?" : "");
    }
    size_t length = strcspn(line + bytes, "\r\n");
    if (length >= sizeof rest) return fail(error, "%s: the line is too long", command->name);
    memcpy(rest, line + bytes, length);
    rest[length] = '\0';
    return call(command, app, rest, error);
}

bool ui_command_run(const struct ui_command *command, void *app, char *error) {
    return call(command, app, command->preset ? command->preset : "", error);
}

bool ui_command_ready(const struct ui_command *command) {
    struct spec spec;
    if (command->preset) return true;
    return parse_spec(command, &spec) && (spec.count == 0 || spec.arg[0].optional);
}
