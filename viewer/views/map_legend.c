/* The legend: every colour and pattern that is on the map, and no other. */
#include "map.h"

#include <stdio.h>

struct legend {
    struct map_frame *frame;
    int x, y, right;
    bool full; /* no room for more */
};

static bool room(struct legend *legend, const char *text, int sign) {
    if (legend->x + sign + ui_text_width(UI_S, text) > legend->right) legend->full = true;
    return !legend->full;
}

static void entry(struct legend *legend, enum ui_pattern pattern, ui_color color, const char *text) {
    if (!room(legend, text, 14)) return;
    legend->x = ui_legend_entry(legend->frame->draw, legend->x, legend->y, pattern, color, text);
}

static void label(struct legend *legend, const char *text) {
    if (!room(legend, text, 0)) return;
    legend->x = ui_draw_text(legend->frame->draw, legend->x, legend->y, UI_S, UI_FAINT, text) + 10;
}

/* --- colours -------------------------------------------------------------------------------------------------------
 */

static void kinds(struct legend *legend) {
    static const enum vmv_kind order[] = {VMV_KIND_PROGRAM, VMV_KIND_LIBRARY,   VMV_KIND_FILE,  VMV_KIND_HEAP,
                                          VMV_KIND_STACK,   VMV_KIND_ANONYMOUS, VMV_KIND_KERNEL};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (legend->frame->seen.kinds & 1u << order[i])
            entry(legend, UI_PATTERN_EXACT, view_kind_color(order[i]), view_kind_word(order[i]));
}

static void steps(struct legend *legend) {
    label(legend, "written");
    for (int step = 0; step <= 5; step++) {
        int at = step == 5 ? -1 : step;
        char text[UI_FORMAT_SIZE];
        if (!(legend->frame->seen.steps & 1u << (at + 1))) continue;
        view_recency_label(view_recency(legend->frame->app), at, text, sizeof text);
        entry(legend, UI_PATTERN_EXACT, at < 0 ? UI_NOT_WRITTEN : ui_written_color(at), text);
    }
}

static void protections(struct legend *legend) {
    static const struct {
        unsigned flags;
        const char *word;
    } shown[] = {{VMV_MAP_R | VMV_MAP_X, "r-x"},
                 {VMV_MAP_R, "r--"},
                 {VMV_MAP_R | VMV_MAP_W, "rw-"},
                 {VMV_MAP_R | VMV_MAP_W | VMV_MAP_X, "rwx, writable code"}};
    label(legend, "protection");
    unsigned colors = 0;
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        for (unsigned flags = 0; flags < 8; flags++) {
            bool dots, same;
            ui_color color = view_protection_color(shown[i].flags, &dots);
            same = view_protection_color(flags, &dots) == color && !dots;
            if (!same || !(legend->frame->seen.protections & 1u << flags) || colors & 1u << i) continue;
            colors |= 1u << i;
            entry(legend, UI_PATTERN_EXACT, color, shown[i].word);
        }
    }
}

static void ages(struct legend *legend) {
    static const char *const words[MAP_AGES] = {"this frame", "<100 ms", "<1 s", "older"};
    label(legend, "known since");
    for (int i = 0; i < MAP_AGES; i++)
        if (legend->frame->seen.ages & 1u << i) entry(legend, UI_PATTERN_EXACT, map_age_color(i), words[i]);
}

static void colours(struct legend *legend) {
    switch (legend->frame->app->colour) {
    case APP_COLOUR_WRITTEN:
        steps(legend);
        break;
    case APP_COLOUR_PROTECTION:
        protections(legend);
        break;
    case APP_COLOUR_AGE:
        ages(legend);
        break;
    case APP_COLOUR_RESIDENCY:
        entry(legend, UI_PATTERN_EXACT, UI_RESIDENT_LINE, "resident");
        break;
    default:
        kinds(legend);
        break;
    }
}

/* --- states --------------------------------------------------------------------------------------------------------
 */

static bool has(const struct legend *legend, enum ui_pattern pattern) {
    return legend->frame->seen.patterns & 1u << pattern;
}

/* Signs of a state are in a colour that is on screen with it. */
static ui_color sign_color(const struct legend *legend) {
    const struct map_seen *seen = &legend->frame->seen;
    if (legend->frame->app->colour == APP_COLOUR_WRITTEN)
        for (int step = 3; step >= -1; step--)
            if (seen->steps & 1u << (step + 1)) return step < 0 ? UI_NOT_WRITTEN : ui_written_color(step);
    if (legend->frame->app->colour == APP_COLOUR_KIND)
        for (int kind = 0; kind < VMV_KIND_COUNT; kind++)
            if (seen->kinds & 1u << kind) return view_kind_color((enum vmv_kind)kind);
    return UI_RESIDENT_LINE;
}

static void states(struct legend *legend) {
    ui_color color = sign_color(legend);
    if (has(legend, UI_PATTERN_OUTLINE))
        entry(legend, UI_PATTERN_OUTLINE, legend->frame->app->colour == APP_COLOUR_WRITTEN ? UI_NOT_WRITTEN : color,
              "zero");
    if (has(legend, UI_PATTERN_DOT) || has(legend, UI_PATTERN_DOTS))
        entry(legend, UI_PATTERN_DOTS, UI_RULE2, "untouched");
    if (has(legend, UI_PATTERN_SWAPPED)) entry(legend, UI_PATTERN_SWAPPED, color, "swapped");
    if (has(legend, UI_PATTERN_STALE)) entry(legend, UI_PATTERN_STALE, color, "stale");
    if (has(legend, UI_PATTERN_TORN)) entry(legend, UI_PATTERN_TORN, color, "torn");
    if (has(legend, UI_PATTERN_UNKNOWN)) entry(legend, UI_PATTERN_UNKNOWN, UI_DIM, "unknown");
    if (has(legend, UI_PATTERN_GUARD)) entry(legend, UI_PATTERN_GUARD, UI_ATTENTION, "guard");
    if (legend->frame->seen.huge) entry(legend, UI_PATTERN_HUGE, color, "huge");
}

static void markers(struct legend *legend) {
    struct ui_draw *draw = legend->frame->draw;
    if (!legend->frame->seen.markers || !room(legend, "pc  sp", 20)) return;
    struct map_marker pc = {.what = MAP_MARKER_PC}, sp = {.what = MAP_MARKER_SP};
    map_marker_sign(draw, legend->x, legend->y + 2, &pc);
    legend->x = ui_draw_text(draw, legend->x + 9, legend->y, UI_S, UI_DIM, "pc") + 8;
    map_marker_sign(draw, legend->x, legend->y + 2, &sp);
    legend->x = ui_draw_text(draw, legend->x + 9, legend->y, UI_S, UI_DIM, "sp") + 10;
}

/* --- the looks -----------------------------------------------------------------------------------------------------
 */

static void of_space(struct legend *legend) {
    struct ui_draw *draw = legend->frame->draw;
    colours(legend);
    if (legend->frame->seen.dimmed && room(legend, "filled: resident", 24)) {
        ui_draw_rect(draw, ui_rect(legend->x, legend->y + 1, 10, 10), UI_DIM);
        ui_draw_rect(draw, ui_rect(legend->x + 10, legend->y + 1, 10, 10), ui_mix(UI_GROUND, UI_DIM, 20));
        legend->x = ui_draw_text(draw, legend->x + 24, legend->y, UI_S, UI_DIM, "filled: resident") + 10;
    }
    if (has(legend, UI_PATTERN_DOTS)) entry(legend, UI_PATTERN_DOTS, UI_RULE2, "reserved");
    if (has(legend, UI_PATTERN_UNKNOWN)) entry(legend, UI_PATTERN_UNKNOWN, UI_DIM, "unknown");
    if (has(legend, UI_PATTERN_GUARD)) entry(legend, UI_PATTERN_GUARD, UI_ATTENTION, "guard");
    if (legend->frame->seen.huge) entry(legend, UI_PATTERN_HUGE, sign_color(legend), "huge");
    markers(legend);
}

static void sample(struct legend *legend, enum map_byte kind, const char *bytes, ui_color color, const char *text) {
    struct ui_draw *draw = legend->frame->draw;
    if (!(legend->frame->seen.bytes & 1u << kind) || !room(legend, text, 20)) return;
    if (kind == MAP_BYTE_CHANGED)
        ui_draw_rect(draw, ui_rect(legend->x - 2, legend->y, 16, 12), ui_fade(UI_WRITTEN_NOW, 24));
    int x = ui_draw_text(draw, legend->x, legend->y, UI_S, color, bytes) + 6;
    legend->x = ui_draw_text(draw, x, legend->y, UI_S, UI_DIM, text) + 12;
}

static ui_color pointer_color(const struct legend *legend) {
    for (int kind = VMV_KIND_COUNT - 1; kind >= 0; kind--)
        if (legend->frame->seen.kinds & 1u << kind) return view_kind_color((enum vmv_kind)kind);
    return UI_HEAP;
}

static void of_bytes(struct legend *legend) {
    sample(legend, MAP_BYTE_ZERO, "00", UI_GHOST, "zero");
    sample(legend, MAP_BYTE_VALUE, "2a", UI_DIM, "value");
    sample(legend, MAP_BYTE_TEXT, "41", UI_INK, "text");
    sample(legend, MAP_BYTE_POINTER, "f0", pointer_color(legend), "pointer, in the colour of its target");
    sample(legend, MAP_BYTE_CHANGED, "69", UI_WRITTEN_NOW, "changed in this frame");
    if (has(legend, UI_PATTERN_STALE)) entry(legend, UI_PATTERN_STALE, UI_DIM, "stale");
    if (has(legend, UI_PATTERN_TORN)) entry(legend, UI_PATTERN_TORN, UI_DIM, "torn");
    if (has(legend, UI_PATTERN_UNKNOWN)) entry(legend, UI_PATTERN_UNKNOWN, UI_DIM, "unknown");
    markers(legend);
}

void map_legend_draw(struct map_frame *frame) {
    struct ui_rect rect = frame->legend;
    struct legend legend = {frame, rect.x + 12, rect.y + 3, ui_rect_right(rect) - 8, false};
    ui_draw_begin_group(frame->draw, "legend", "map");
    ui_draw_hline(frame->draw, rect.x, rect.y - 1, rect.w, UI_HAIR);
    switch (frame->cache->drawn.look) {
    case APP_LOOK_SPACE:
        of_space(&legend);
        break;
    case APP_LOOK_PAGES:
        colours(&legend);
        states(&legend);
        markers(&legend);
        break;
    default:
        of_bytes(&legend);
        break;
    }
    ui_draw_end_group(frame->draw);
}
