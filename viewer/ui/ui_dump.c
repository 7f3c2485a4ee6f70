/* The draw list as text: one line a command. */
#include "ui_draw.h"

static const char *const pattern_names[UI_PATTERN_COUNT] = {
    [UI_PATTERN_EXACT] = "exact",     [UI_PATTERN_STALE] = "stale",     [UI_PATTERN_TORN] = "torn",
    [UI_PATTERN_UNKNOWN] = "unknown", [UI_PATTERN_GAP] = "gap",         [UI_PATTERN_DOTS] = "dots",
    [UI_PATTERN_DOT] = "dot",         [UI_PATTERN_OUTLINE] = "outline", [UI_PATTERN_GUARD] = "guard",
    [UI_PATTERN_SWAPPED] = "swapped", [UI_PATTERN_HUGE] = "huge",
};

const char *ui_pattern_name(enum ui_pattern pattern) {
    return (unsigned)pattern < UI_PATTERN_COUNT ? pattern_names[pattern] : "?";
}

static void dump_color(FILE *out, ui_color color) {
    fprintf(out, " #%06x", color & 0xffffff);
    if (color >> 24 != 255) fprintf(out, "%02x", color >> 24);
}

static void dump_rect(FILE *out, const char *name, const struct ui_draw_command *command) {
    struct ui_rect rect = command->rect;
    fprintf(out, "%s %d %d %d %d", name, rect.x, rect.y, rect.w, rect.h);
}

static void dump_shape(FILE *out, const char *name, const struct ui_draw_command *command, const char *how) {
    dump_rect(out, name, command);
    dump_color(out, command->color);
    if (how) fprintf(out, " %s", how);
    fputc('\n', out);
}

static void dump_quoted(FILE *out, const char *text, size_t bytes) {
    fputc('"', out);
    for (size_t i = 0; i < bytes; i++) {
        unsigned char byte = (unsigned char)text[i];
        if (byte == '"' || byte == '\\')
            fprintf(out, "\\%c", byte);
        else if (byte < 0x20 || byte == 0x7f)
            fprintf(out, "\\x%02x", byte);
        else
            fputc(byte, out);
    }
    fputc('"', out);
}

static void dump_text(FILE *out, const struct ui_draw_command *command) {
    fprintf(out, "text %d %d %c%s", command->rect.x, command->rect.y, "SMLS"[command->a & 3],
            command -> a &UI_BOLD ? " bold" : "");
    dump_color(out, command->color);
    fputc(' ', out);
    dump_quoted(out, command->data, command->bytes);
    fputc('\n', out);
}

/* Names are printed bare; what would break the line is replaced. */
static void dump_name(FILE *out, const char *name) {
    for (; *name; name++) fputc((unsigned char)*name < 0x20 ? '?' : *name, out);
}

/* Both strings of a group or value. */
static const char *dump_pair(FILE *out, const struct ui_draw_command *command) {
    const char *first = command->data, *second = first;
    while (*second) second++;
    dump_name(out, first);
    fputc(' ', out);
    dump_name(out, second + 1);
    fputc('\n', out);
    return first;
}

static void dump_shape_command(FILE *out, const struct ui_draw_command *command) {
    static const char *const directions[] = {"left", "right", "up", "down"};
    static const char *const corners[] = {"top-left", "top-right", "bottom-left", "bottom-right"};
    char how[48];
    switch (command->kind) {
    case UI_DRAW_RECT:
        dump_shape(out, "rect", command, NULL);
        break;
    case UI_DRAW_FRAME:
        snprintf(how, sizeof how, "%d", command->a);
        dump_shape(out, "frame", command, command->a == 1 ? NULL : how);
        break;
    case UI_DRAW_LINE:
        dump_shape(out, "line", command, command->a == UI_LINE_SMOOTH ? "smooth" : NULL);
        break;
    case UI_DRAW_DASHES:
        snprintf(how, sizeof how, "%d/%d", command->a, command->b);
        dump_shape(out, "dashes", command, how);
        break;
    case UI_DRAW_TRIANGLE:
        snprintf(how, sizeof how, "%s%s", directions[command->a & 3], command->b ? " hollow" : "");
        dump_shape(out, "triangle", command, how);
        break;
    case UI_DRAW_CORNER:
        dump_shape(out, "corner", command, corners[command->a & 3]);
        break;
    case UI_DRAW_FAN: {
        struct ui_rect at = command->rect;
        fprintf(out, "fan %d %d %d to %d %d %d", at.x, at.y, at.w, at.h, command->a, command->b);
        dump_color(out, command->color);
        fputc('\n', out);
        break;
    }
    default:
        break;
    }
}

static void dump_command(FILE *out, const struct ui_draw_command *command) {
    switch (command->kind) {
    case UI_DRAW_CLIP:
        dump_rect(out, "clip", command);
        fputc('\n', out);
        break;
    case UI_DRAW_TEXT:
        dump_text(out, command);
        break;
    case UI_DRAW_PATTERN:
        fprintf(out, "pattern ");
        dump_shape(out, ui_pattern_name((enum ui_pattern)command->a), command, NULL);
        break;
    case UI_DRAW_IMAGE:
        dump_rect(out, "image", command);
        fprintf(out, " %dx%d\n", command->a, command->b);
        break;
    case UI_DRAW_BEGIN:
        dump_pair(out, command);
        break;
    case UI_DRAW_VALUE:
        fprintf(out, "value ");
        dump_pair(out, command);
        break;
    default:
        dump_shape_command(out, command);
        break;
    }
}

bool ui_draw_dump(const struct ui_draw *draw, FILE *out) {
    int depth = 0;
    fprintf(out, "screen %d %d\n", ui_draw_width(draw), ui_draw_height(draw));
    for (size_t i = 0; i < ui_draw_count(draw); i++) {
        const struct ui_draw_command *command = ui_draw_command(draw, i);
        if (command->kind == UI_DRAW_END) {
            depth--;
            continue;
        }
        fprintf(out, "%*s", depth * 2, "");
        dump_command(out, command);
        if (command->kind == UI_DRAW_BEGIN) depth++;
    }
    return fflush(out) == 0 && !ferror(out);
}
