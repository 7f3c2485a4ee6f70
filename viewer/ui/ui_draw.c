#include "ui_draw.h"
#include "ui_arena.h"

#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { STACK_DEPTH = 64, IMAGE_MOST = 1 << 28 /* bytes */ };

struct ui_draw {
    struct ui_draw_command *commands;
    size_t count, room;
    struct ui_arena arena;
    int width, height;
    struct ui_rect clips[STACK_DEPTH]; /* clips[0] is the frame */
    int clip_depth;
    int alphas[STACK_DEPTH]; /* alphas[0] is 255 */
    int alpha_depth;
    int group_depth;
    bool failed;
};

struct ui_draw *ui_draw_create(void) {
    struct ui_draw *draw = calloc(1, sizeof *draw);
    if (draw) ui_draw_begin(draw, 0, 0);
    return draw;
}

void ui_draw_destroy(struct ui_draw *draw) {
    if (!draw) return;
    free(draw->commands);
    ui_arena_free(&draw->arena);
    free(draw);
}

void ui_draw_begin(struct ui_draw *draw, int width, int height) {
    draw->count = 0;
    ui_arena_reset(&draw->arena);
    draw->width = ui_max(width, 0);
    draw->height = ui_max(height, 0);
    draw->clip_depth = draw->alpha_depth = draw->group_depth = 0;
    draw->clips[0] = (struct ui_rect){0, 0, draw->width, draw->height};
    draw->alphas[0] = 255;
    draw->failed = false;
}

int ui_draw_width(const struct ui_draw *draw) { return draw->width; }
int ui_draw_height(const struct ui_draw *draw) { return draw->height; }
bool ui_draw_failed(const struct ui_draw *draw) { return draw->failed; }
size_t ui_draw_count(const struct ui_draw *draw) { return draw->count; }

const struct ui_draw_command *ui_draw_command(const struct ui_draw *draw, size_t index) {
    assert(index < draw->count);
    return &draw->commands[index];
}

void *ui_draw_alloc(struct ui_draw *draw, size_t bytes) {
    void *piece = ui_arena_alloc(&draw->arena, bytes);
    if (piece)
        memset(piece, 0, bytes);
    else
        draw->failed = true;
    return piece;
}

/* Room for one more command at the end of the list; NULL when out of memory. */
static struct ui_draw_command *append(struct ui_draw *draw, enum ui_draw_kind kind) {
    if (draw->count == draw->room) {
        size_t room = draw->room ? draw->room * 2 : 1024;
        struct ui_draw_command *grown = realloc(draw->commands, room * sizeof *grown);
        if (!grown) {
            draw->failed = true;
            return NULL;
        }
        draw->commands = grown;
        draw->room = room;
    }
    struct ui_draw_command *command = &draw->commands[draw->count++];
    *command = (struct ui_draw_command){.kind = kind};
    return command;
}

static ui_color with_alpha(const struct ui_draw *draw, ui_color color) {
    int factor = draw->alphas[draw->alpha_depth];
    if (factor == 255) return color;
    return UI_ALPHA(color, ((color >> 24) * (ui_color)factor + 127) / 255);
}

/* A command whose paint stays within bounds; NULL when nothing of it would be seen. */
static struct ui_draw_command *append_visible(struct ui_draw *draw, enum ui_draw_kind kind, struct ui_rect bounds,
                                              ui_color color) {
    color = with_alpha(draw, color);
    if (color >> 24 == 0 || !ui_draw_visible(draw, bounds)) return NULL;
    struct ui_draw_command *command = append(draw, kind);
    if (!command) return NULL;
    command->rect = bounds;
    command->color = color;
    return command;
}

/* --- state --- */

struct ui_rect ui_draw_clip(const struct ui_draw *draw) {
    return draw->clips[draw->clip_depth];
}

bool ui_draw_visible(const struct ui_draw *draw, struct ui_rect rect) {
    return !ui_rect_empty(ui_rect_intersect(ui_draw_clip(draw), rect));
}

static void append_clip(struct ui_draw *draw) {
    struct ui_draw_command *command = append(draw, UI_DRAW_CLIP);
    if (command) command->rect = ui_draw_clip(draw);
}

void ui_draw_push_clip(struct ui_draw *draw, struct ui_rect rect) {
    assert(draw->clip_depth + 1 < STACK_DEPTH);
    struct ui_rect clip = ui_rect_intersect(ui_draw_clip(draw), rect);
    draw->clips[++draw->clip_depth] = clip;
    append_clip(draw);
}

void ui_draw_pop_clip(struct ui_draw *draw) {
    assert(draw->clip_depth > 0);
    draw->clip_depth--;
    append_clip(draw);
}

void ui_draw_push_alpha(struct ui_draw *draw, int alpha) {
    assert(draw->alpha_depth + 1 < STACK_DEPTH);
    int factor = (draw->alphas[draw->alpha_depth] * ui_clamp(alpha, 0, 255) + 127) / 255;
    draw->alphas[++draw->alpha_depth] = factor;
}

void ui_draw_pop_alpha(struct ui_draw *draw) {
    assert(draw->alpha_depth > 0);
    draw->alpha_depth--;
}

/* --- names --- */

/* Two strings, one after the other, both terminated. */
static void append_pair(struct ui_draw *draw, enum ui_draw_kind kind, const char *first, const char *second) {
    size_t first_size = strlen(first) + 1, second_size = strlen(second) + 1;
    char *pair = ui_draw_alloc(draw, first_size + second_size);
    struct ui_draw_command *command = pair ? append(draw, kind) : NULL;
    if (!command) return;
    memcpy(pair, first, first_size);
    memcpy(pair + first_size, second, second_size);
    command->data = pair;
    command->bytes = first_size + second_size;
}

void ui_draw_begin_group(struct ui_draw *draw, const char *kind, const char *name) {
    draw->group_depth++;
    append_pair(draw, UI_DRAW_BEGIN, kind, name);
}

void ui_draw_end_group(struct ui_draw *draw) {
    assert(draw->group_depth > 0);
    draw->group_depth--;
    append(draw, UI_DRAW_END);
}

void ui_draw_value(struct ui_draw *draw, const char *name, const char *format, ...) {
    char text[512];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    append_pair(draw, UI_DRAW_VALUE, name, text);
}

/* --- shapes --- */

void ui_draw_rect(struct ui_draw *draw, struct ui_rect rect, ui_color color) {
    append_visible(draw, UI_DRAW_RECT, rect, color);
}

void ui_draw_frame(struct ui_draw *draw, struct ui_rect rect, ui_color color) {
    ui_draw_frame_thick(draw, rect, 1, color);
}

void ui_draw_frame_thick(struct ui_draw *draw, struct ui_rect rect, int thickness, ui_color color) {
    if (thickness <= 0) return;
    struct ui_draw_command *command = append_visible(draw, UI_DRAW_FRAME, rect, color);
    if (command) command->a = thickness;
}

void ui_draw_hline(struct ui_draw *draw, int x, int y, int length, ui_color color) {
    ui_draw_rect(draw, ui_rect(x, y, length, 1), color);
}

void ui_draw_vline(struct ui_draw *draw, int x, int y, int length, ui_color color) {
    ui_draw_rect(draw, ui_rect(x, y, 1, length), color);
}

/* The smallest rectangle over two points, both included. */
static struct ui_rect hull(int x0, int y0, int x1, int y1) {
    int left = ui_min(x0, x1), top = ui_min(y0, y1);
    long long w = (long long)ui_max(x0, x1) - left + 1, h = (long long)ui_max(y0, y1) - top + 1;
    return ui_rect(left, top, (int)(w > INT_MAX ? INT_MAX : w), (int)(h > INT_MAX ? INT_MAX : h));
}

/* Whether a point of the hull may be seen. A hull wider than an int is not judged by its (held) rectangle. */
static struct ui_rect seen_hull(const struct ui_draw *draw, int x0, int y0, int x1, int y1) {
    struct ui_rect rect = hull(x0, y0, x1, y1);
    return rect.w == INT_MAX || rect.h == INT_MAX ? ui_draw_clip(draw) : ui_rect_inset(rect, -1);
}

void ui_draw_line(struct ui_draw *draw, int x0, int y0, int x1, int y1, enum ui_line line, ui_color color) {
    struct ui_draw_command *command = append_visible(draw, UI_DRAW_LINE, seen_hull(draw, x0, y0, x1, y1), color);
    if (!command) return;
    command->rect = ui_rect(x0, y0, x1, y1);
    command->a = (int)line;
}

static void dashes(struct ui_draw *draw, struct ui_rect rect, int on, int off, ui_color color) {
    if (on <= 0) return;
    struct ui_draw_command *command = append_visible(draw, UI_DRAW_DASHES, rect, color);
    if (!command) return;
    command->a = ui_min(on, 4096);
    command->b = ui_clamp(off, 0, 4096);
}

void ui_draw_dashed_h(struct ui_draw *draw, int x, int y, int length, int on, int off, ui_color color) {
    dashes(draw, ui_rect(x, y, length, 1), on, off, color);
}

void ui_draw_dashed_v(struct ui_draw *draw, int x, int y, int length, int on, int off, ui_color color) {
    dashes(draw, ui_rect(x, y, 1, length), on, off, color);
}

void ui_draw_dashed_frame(struct ui_draw *draw, struct ui_rect rect, int on, int off, ui_color color) {
    if (ui_rect_empty(rect)) return;
    ui_draw_dashed_h(draw, rect.x, rect.y, rect.w, on, off, color);
    if (rect.h > 1) ui_draw_dashed_h(draw, rect.x, ui_add(rect.y, rect.h - 1), rect.w, on, off, color);
    ui_draw_dashed_v(draw, rect.x, ui_add(rect.y, 1), rect.h - 2, on, off, color);
    if (rect.w > 1) ui_draw_dashed_v(draw, ui_add(rect.x, rect.w - 1), ui_add(rect.y, 1), rect.h - 2, on, off, color);
}

static void triangle(struct ui_draw *draw, struct ui_rect rect, enum ui_direction tip, bool hollow, ui_color color) {
    struct ui_draw_command *command = append_visible(draw, UI_DRAW_TRIANGLE, rect, color);
    if (!command) return;
    command->a = (int)tip;
    command->b = hollow;
}

void ui_draw_triangle(struct ui_draw *draw, struct ui_rect rect, enum ui_direction tip, ui_color color) {
    triangle(draw, rect, tip, false, color);
}

void ui_draw_triangle_hollow(struct ui_draw *draw, struct ui_rect rect, enum ui_direction tip, ui_color color) {
    triangle(draw, rect, tip, true, color);
}

void ui_draw_corner(struct ui_draw *draw, struct ui_rect rect, enum ui_corner corner, ui_color color) {
    struct ui_draw_command *command = append_visible(draw, UI_DRAW_CORNER, rect, color);
    if (command) command->a = (int)corner;
}

void ui_draw_fan(struct ui_draw *draw, int x0, int top0, int bottom0, int x1, int top1, int bottom1, ui_color color) {
    struct ui_rect bounds = seen_hull(draw, x0, ui_min(top0, top1), x1, ui_max(bottom0, bottom1));
    struct ui_draw_command *command = append_visible(draw, UI_DRAW_FAN, bounds, color);
    if (!command) return;
    command->rect = ui_rect(x0, top0, bottom0, x1);
    command->a = top1;
    command->b = bottom1;
}

void ui_draw_pattern(struct ui_draw *draw, struct ui_rect rect, enum ui_pattern pattern, ui_color color) {
    assert((unsigned)pattern < UI_PATTERN_COUNT);
    enum ui_draw_kind kind = pattern == UI_PATTERN_EXACT ? UI_DRAW_RECT : UI_DRAW_PATTERN;
    struct ui_draw_command *command = append_visible(draw, kind, rect, color);
    if (command) command->a = (int)pattern;
}

uint32_t *ui_draw_image(struct ui_draw *draw, struct ui_rect rect, int columns, int rows) {
    if (columns <= 0 || rows <= 0 || !ui_draw_visible(draw, rect)) return NULL;
    size_t bytes = (size_t)columns * (size_t)rows * sizeof(uint32_t);
    uint32_t *pixels = bytes <= IMAGE_MOST ? ui_draw_alloc(draw, bytes) : NULL;
    struct ui_draw_command *command = pixels ? append_visible(draw, UI_DRAW_IMAGE, rect, UI_WHITE) : NULL;
    if (!command) return NULL;
    command->a = columns;
    command->b = rows;
    command->data = pixels;
    command->bytes = bytes;
    return pixels;
}

/* --- text --- */

int ui_draw_text_n(struct ui_draw *draw, int x, int y, int style, ui_color color, const char *text, size_t bytes) {
    int width = ui_text_width_n(style, text, bytes);
    struct ui_rect bounds = {x, y, width, ui_cell_height(style)};
    if (!ui_draw_visible(draw, bounds)) return ui_add(x, width);
    char *copy = ui_arena_alloc(&draw->arena, bytes + 1);
    if (!copy) draw->failed = true;
    struct ui_draw_command *command = copy ? append_visible(draw, UI_DRAW_TEXT, bounds, color) : NULL;
    if (command) {
        memcpy(copy, text, bytes);
        copy[bytes] = '\0';
        command->a = style;
        command->data = copy;
        command->bytes = bytes;
    }
    return ui_add(x, width);
}

/* --- hash --- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t bytes) {
    const unsigned char *at = data;
    for (; bytes >= 8; at += 8, bytes -= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    for (; bytes > 0; at++, bytes--) hash = (hash ^ *at) * 0x100000001b3u;
    return hash ^ hash >> 32;
}

uint64_t ui_draw_hash(const struct ui_draw *draw) {
    int size[2] = {draw->width, draw->height};
    uint64_t hash = hash_bytes(0xcbf29ce484222325u, size, sizeof size);
    for (size_t i = 0; i < draw->count; i++) {
        const struct ui_draw_command *command = &draw->commands[i];
        int32_t fields[8] = {(int32_t)command->kind, (int32_t)command->color, command->rect.x, command->rect.y,
                             command->rect.w,        command->rect.h,         command->a,      command->b};
        hash = hash_bytes(hash, fields, sizeof fields);
        if (command->bytes) hash = hash_bytes(hash, command->data, command->bytes);
    }
    return hash;
}
