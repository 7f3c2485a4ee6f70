/* The help sheet: all keys, from the command table, and what colours and patterns mean. */
#include "overlay.h"
#include "ui_format.h"

#include <stdio.h>
#include <string.h>

enum { ROW = 19, TITLE = 38, CAPS = 44, CAPS_MOST = 100, MARGIN = 20, SIGN_ROW = 18, MOST_GROUPS = 8 };

/* --- keys --- */

/* A command's group is "heading|words": rows of the same words stand in one line with all their keys. */
static size_t heading_length(const struct ui_command *command) { return strcspn(command->group, "|"); }

static const char *words_of(const struct ui_command *command) {
    const char *bar = strchr(command->group, '|');
    return bar ? bar + 1 : command->title ? command->title : command->name;
}

static bool same_heading(const struct ui_command *a, const struct ui_command *b) {
    size_t length = heading_length(a);
    return length == heading_length(b) && !memcmp(a->group, b->group, length);
}

/* What the mouse does, below the keys of a group. */
static const struct {
    const char *heading, *keys, *words;
} mouse[] = {{"move in space", "wheel", "in, out, around the pointer"},
             {"move in space", "drag", "pull the map along"},
             {"move in time", "drag", "on the timeline: scrub"},
             {"move in time", "wheel", "on the timeline: zoom"},
             {"move in time", "Shift+drag", "on the timeline: a span"},
             {"find, select", "click", "select"},
             {"find, select", "double-click", "go into it"}};

static int caps(struct app *app, int x, int y, const char *keys) {
    while (*keys) {
        char name[UI_KEY_NAME_SIZE];
        size_t bytes = strcspn(keys, " ");
        snprintf(name, sizeof name, "%.*s", (int)(bytes < sizeof name ? bytes : sizeof name - 1), keys);
        x = ui_key_cap(app->draw, x, y, name, UI_DIM) + 6;
        keys += bytes + strspn(keys + bytes, " ");
    }
    return x;
}

static int caps_width(const char *keys) {
    int width = 0;
    while (*keys) {
        char name[UI_KEY_NAME_SIZE];
        size_t bytes = strcspn(keys, " ");
        snprintf(name, sizeof name, "%.*s", (int)(bytes < sizeof name ? bytes : sizeof name - 1), keys);
        width += ui_key_cap_width(name) + 6;
        keys += bytes + strspn(keys + bytes, " ");
    }
    return width;
}

/* `after`: from the column's left edge to its words. */
static int key_row(struct app *app, struct ui_rect column, int y, int after, const char *keys, const char *words) {
    int x = caps(app, column.x, y, keys);
    x = ui_max(x + 4, column.x + after);
    ui_draw_text_fit(app->draw, x, y, ui_rect_right(column) - x - 2, UI_S, UI_INK, words);
    return y + ROW;
}

struct key_line {
    char keys[160];
    const char *words;
};
enum { KEY_LINES = 40 };

static bool joined(const struct ui_command *a, const struct ui_command *b) {
    return a == b || (a->group && b->group && b->keys && strchr(a->group, '|') && !strcmp(a->group, b->group));
}

static void join_keys(struct ui_commands commands, size_t first, char *keys, size_t size) {
    keys[0] = '\0';
    for (size_t k = first; k < commands.count; k++) {
        const struct ui_command *other = &commands.row[k];
        size_t length = strlen(keys);
        if (joined(&commands.row[first], other))
            snprintf(keys + length, size - length, "%s%.*s", length ? " " : "", (int)strcspn(other->keys, " "),
                     other->keys);
    }
}

static int list_keys(struct ui_commands commands, const struct ui_command *heading, struct key_line *lines) {
    int count = 0;
    for (size_t i = 0; i < commands.count && count < KEY_LINES; i++) {
        const struct ui_command *row = &commands.row[i];
        if (!row->group || !row->keys || !same_heading(row, heading)) continue;
        bool repeated = false;
        for (size_t k = 0; k < i; k++) repeated |= commands.row[k].keys && joined(&commands.row[k], row);
        if (repeated) continue;
        join_keys(commands, i, lines[count].keys, sizeof lines[count].keys);
        lines[count++].words = words_of(row);
    }
    for (size_t i = 0; i < sizeof mouse / sizeof *mouse && count < KEY_LINES; i++) {
        size_t length = heading_length(heading);
        if (strlen(mouse[i].heading) != length || memcmp(mouse[i].heading, heading->group, length) != 0) continue;
        snprintf(lines[count].keys, sizeof lines[count].keys, "%s", mouse[i].keys);
        lines[count++].words = mouse[i].words;
    }
    return count;
}

static int group_keys(struct app *app, struct ui_rect column, int y, const struct ui_command *heading) {
    struct key_line *lines = ui_draw_alloc(app->draw, KEY_LINES * sizeof *lines);
    char title[64];
    int after = CAPS;
    if (!lines) return y;
    snprintf(title, sizeof title, "%.*s", (int)heading_length(heading), heading->group);
    for (char *c = title; *c; c++)
        if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 32);
    ui_draw_text(app->draw, column.x, y, UI_S, UI_FAINT, title);
    y += 21;
    int count = list_keys(app->commands, heading, lines);
    for (int i = 0; i < count; i++) after = ui_max(after, ui_min(caps_width(lines[i].keys) + 6, CAPS_MOST));
    for (int i = 0; i < count; i++) y = key_row(app, column, y, after, lines[i].keys, lines[i].words);
    return y;
}

static int headings(struct ui_commands commands, const struct ui_command **heading) {
    int count = 0;
    for (size_t i = 0; i < commands.count; i++) {
        if (!commands.row[i].group) continue;
        bool seen = false;
        for (int k = 0; k < count; k++) seen |= same_heading(heading[k], &commands.row[i]);
        if (!seen && count < MOST_GROUPS) heading[count++] = &commands.row[i];
    }
    return count;
}

/* Four columns are as wide as their words ask for; fewer are equally wide. */
static struct ui_rect key_column(struct ui_rect sheet, int index, int columns) {
    static const int starts[] = {0, 232, 492, 748, 1000}; /* thousandths */
    int width = sheet.w - 2 * MARGIN, at = index % columns;
    int from = columns == 4 ? width * starts[at] / 1000 : width * at / columns;
    int to = columns == 4 ? width * starts[at + 1] / 1000 : width * (at + 1) / columns;
    return ui_rect(sheet.x + MARGIN + from, 0, to - from, 0);
}

static int draw_keys(struct app *app, struct ui_rect sheet, int y, int columns) {
    const struct ui_command *heading[MOST_GROUPS];
    int count = headings(app->commands, heading), lowest = y, top = y;
    for (int i = 0; i < count; i++) {
        if (i && i % columns == 0) top = lowest + 12;
        lowest = ui_max(lowest, group_keys(app, key_column(sheet, i, columns), top, heading[i]));
    }
    return lowest;
}

/* --- signs --- */

static int sign(struct app *app, int x, int y, enum ui_pattern pattern, ui_color color, ui_color last,
                const char *words, const char *note) {
    for (int i = 0; i < 3; i++) {
        struct ui_rect cell = ui_rect(x + i * 11, y + 1, 10, 10);
        ui_draw_pattern(app->draw, cell, pattern, i == 2 ? last : color);
    }
    int after = ui_draw_text(app->draw, x + 44, y, UI_S, UI_INK, words);
    if (note) ui_draw_text(app->draw, after + 10, y, UI_S, UI_FAINT, note);
    return y + SIGN_ROW;
}

static int sign_heading(struct app *app, int x, int y, const char *title) {
    ui_draw_text(app->draw, x, y, UI_S, UI_FAINT, title);
    return y + 20;
}

static int kind_signs(struct app *app, int x, int y) {
    static const char *const words[VMV_KIND_COUNT] = {
        [VMV_KIND_PROGRAM] = "program: the file that was started",
        [VMV_KIND_LIBRARY] = "library: other code files",
        [VMV_KIND_FILE] = "file: mapped data",
        [VMV_KIND_HEAP] = "heap: what malloc hands out",
        [VMV_KIND_STACK] = "stack: of a thread",
        [VMV_KIND_ANONYMOUS] = "anonymous: other memory",
        [VMV_KIND_KERNEL] = "kernel: vdso, vvar",
    };
    y = sign_heading(app, x, y, "KINDS");
    for (int kind = 0; kind < VMV_KIND_COUNT; kind++) {
        ui_color color = view_kind_color((enum vmv_kind)kind);
        y = sign(app, x, y, UI_PATTERN_EXACT, color, ui_fade(color, 20), words[kind], NULL);
    }
    ui_draw_text(app->draw, x + 44, y, UI_S, UI_FAINT, "full: resident; dim: not resident");
    return y + SIGN_ROW;
}

static int written_signs(struct app *app, int x, int y) {
    const struct view_recency *recency = view_recency(app);
    char label[UI_FORMAT_SIZE];
    y = sign_heading(app, x, y, "WRITTEN");
    y = sign(app, x, y, UI_PATTERN_EXACT, ui_written_color(0), ui_written_color(0), "this frame", "or after it");
    for (int step = 1; step <= 4; step++) {
        view_recency_label(recency, step, label, sizeof label);
        y = sign(app, x, y, UI_PATTERN_EXACT, ui_written_color(step), ui_written_color(step), label, NULL);
    }
    y = sign(app, x, y, UI_PATTERN_EXACT, UI_NOT_WRITTEN, UI_NOT_WRITTEN, "not written", "as it was mapped");
    ui_draw_text(app->draw, x + 44, y, UI_S, UI_FAINT, "the bounds fit the moment: see the map");
    return y + SIGN_ROW;
}

struct shape {
    enum ui_pattern pattern;
    ui_color color;
    const char *words, *note;
};

/* What has no cells of its own, and a huge page, is one block. */
static void shape_sign(struct app *app, int x, int y, const struct shape *shape) {
    struct ui_rect block = ui_rect(x, y + 1, 32, 10);
    if (shape->pattern != UI_PATTERN_DOTS && shape->pattern != UI_PATTERN_HUGE && shape->color != UI_GROUND) {
        sign(app, x, y, shape->pattern, shape->color, shape->color, shape->words, NULL);
        return;
    }
    if (shape->pattern != UI_PATTERN_HUGE) ui_draw_rect(app->draw, block, UI_GROUND);
    ui_draw_pattern(app->draw, block, shape->pattern, shape->color);
    ui_draw_text(app->draw, x + 44, y, UI_S, UI_INK, shape->words);
}

static int shape_signs(struct app *app, int x, int y, const char *title, const struct shape *shapes, int count) {
    y = sign_heading(app, x, y, title);
    for (int i = 0; i < count; i++) {
        shape_sign(app, x, y, &shapes[i]);
        ui_draw_text(app->draw, x + 44, y + 11, UI_S, UI_FAINT, shapes[i].note);
        y += 28;
    }
    return y;
}

static int draw_signs(struct app *app, struct ui_rect sheet, int y, int columns) {
    static const struct shape knowledge[] = {
        {UI_PATTERN_EXACT, UI_WRITTEN_2, "exact", "captured at this moment"},
        {UI_PATTERN_STALE, UI_WRITTEN_2, "stale", "captured before, may have changed"},
        {UI_PATTERN_TORN, UI_WRITTEN_2, "torn", "written while it was copied"},
        {UI_PATTERN_UNKNOWN, UI_DIM, "unknown", "never captured; a gap in time too"},
        {UI_PATTERN_EXACT, UI_GROUND, "unmapped", "plain ground: nothing is here"},
    };
    static const struct shape pages[] = {
        {UI_PATTERN_DOTS, UI_FAINT, "untouched", "reserved, nobody has been here"},
        {UI_PATTERN_OUTLINE, UI_NOT_WRITTEN, "zero page", "read, never written: all zeros"},
        {UI_PATTERN_GUARD, UI_ATTENTION, "guard", "a touch here raises SIGSEGV"},
        {UI_PATTERN_HUGE, UI_ANONYMOUS, "huge page", "2 MiB that the kernel keeps as one"},
        {UI_PATTERN_SWAPPED, UI_WRITTEN_3, "swapped", "its contents are in swap"},
    };
    int width = (sheet.w - 2 * MARGIN) / columns, bottom = y, top = y;
    for (int i = 0; i < 4; i++) {
        int x = sheet.x + MARGIN + i % columns * width, end = top;
        if (i && i % columns == 0) top = bottom + 8;
        end = i == 0   ? kind_signs(app, x, top)
              : i == 1 ? written_signs(app, x, top)
              : i == 2 ? shape_signs(app, x, top, "KNOWLEDGE", knowledge, 5)
                       : shape_signs(app, x, top, "PAGES", pages, 5);
        bottom = ui_max(bottom, end);
    }
    return bottom;
}

/* --- the sheet --- */

static int part_title(struct app *app, struct ui_rect sheet, int y, const char *title, const char *words) {
    int x = ui_draw_text(app->draw, sheet.x + MARGIN, y, UI_L | UI_BOLD, UI_INK, title);
    ui_draw_text(app->draw, x + 10, y + 5, UI_S, UI_FAINT, words);
    return y + TITLE;
}

static int draw_contents(struct app *app, struct ui_rect sheet, int y) {
    int columns = sheet.w >= 1000 ? 4 : sheet.w >= 520 ? 2 : 1, top = y;
    y = part_title(app, sheet, y + 10, "Keys", "every command is also in the palette, Ctrl+P, with its key");
    ui_draw_hline(app->draw, sheet.x + 1, y - 8, sheet.w - 2, UI_RULE);
    y = draw_keys(app, sheet, y + 6, columns) + 6;
    ui_draw_hline(app->draw, sheet.x + 1, y, sheet.w - 2, UI_RULE);
    y = part_title(app, sheet, y + 10, "Signs", "what colour and pattern mean, the same everywhere");
    return draw_signs(app, sheet, y, columns) + 10 - top;
}

void view_help_draw(struct app *app) {
    overlay_cover(app, true);
    int width = ui_min(1272, app->width - 24);
    int height = ui_min(app->help_height ? app->help_height + 2 : app->height, app->height - 24);
    struct ui_rect sheet = ui_rect((app->width - width) / 2, (app->height - height) / 2, width, height);
    struct ui_rect inside = ui_rect_inset(sheet, 1);
    ui_id id = ui_id_of("help");
    ui_draw_begin_group(app->draw, "overlay", "help");
    ui_draw_rect(app->draw, sheet, UI_PANEL);
    ui_draw_frame(app->draw, sheet, UI_RULE2);
    ui_area(&app->ui, ui_id_of("help sheet"), sheet, UI_CURSOR_ARROW, 0);
    int before = app->help_height;
    int y = ui_scroll_begin(&app->ui, id, inside, before, &app->help_scroll);
    app->help_height = draw_contents(app, sheet, y);
    ui_scroll_end(&app->ui, id, inside, &app->help_scroll);
    int x = ui_rect_right(sheet) - MARGIN - ui_key_cap_width("Esc");
    ui_draw_text_right(app->draw, x - 8, sheet.y + 15, UI_S, UI_FAINT, "close");
    ui_key_cap(app->draw, x, sheet.y + 15, "Esc", UI_DIM);
    ui_draw_end_group(app->draw);
    if (app->help_height != before) app->redraw = true;
}
