/* The bottom line: keys that work here; at the right how certain this moment is. */
#include "ui_format.h"
#include "views.h"

#include <stdio.h>
#include <string.h>

/* --- right: certainty --- */

static void add(char *out, size_t size, uint64_t count, const char *what, bool *first) {
    if (!count) return;
    char number[UI_FORMAT_SIZE];
    size_t length = strlen(out);
    ui_format_count(number, sizeof number, count);
    snprintf(out + length, size - length, "%s%s%s %s", *first ? ", but " : ", ", number,
             *first ? (count == 1 ? " page" : " pages") : "", what);
    *first = false;
}

static void certainty(struct app *app, char *out, size_t size) {
    const struct timeline_frame *frame = app_frame(app);
    const char *trouble = timeline_trouble(app->tl);
    if (trouble) {
        snprintf(out, size, "damaged: %s", trouble);
        return;
    }
    if (!app_alive(app)) {
        const struct vmv_process *process = vmv_world_process(app->world, app->pid);
        bool ended = process && process->ended && process->ended <= app->t;
        snprintf(out, size, ended ? "process %d has ended: no memory" : "process %d has no memory at this moment",
                 app->pid);
        return;
    }
    if (!frame) {
        snprintf(out, size, "before the first frame: contents unknown");
        return;
    }
    if (app->playing && !app->patient) {
        snprintf(out, size, "frame %llu, playing", (unsigned long long)frame->n);
        return;
    }
    struct app_census census = app_census(app);
    uint64_t uncertain = census.stale + census.unknown + census.torn;
    bool first = true;
    snprintf(out, size, uncertain ? "frame %llu: exact" : "frame %llu captured at this moment: exact",
             (unsigned long long)frame->n);
    if (!uncertain && frame->t != app->t) snprintf(out, size, "frame %llu: exact", (unsigned long long)frame->n);
    if (!census.complete) snprintf(out, size, "frame %llu: counting", (unsigned long long)frame->n);
    add(out, size, census.stale, "stale", &first);
    add(out, size, census.unknown, "unknown", &first);
    add(out, size, census.torn, "torn", &first);
}

/* --- left: keys --- */

struct hint {
    const char *keys, *what;
};

static const struct hint space_hints[] = {{"wheel", "zoom"}, {"drag", "pan"},        {"C", "gaps"}, {"F", "fit"},
                                          {"G", "go to"},    {"Ctrl+P", "commands"}, {"?", "help"}, {NULL, NULL}};
static const struct hint page_hints[] = {{"click", "select"}, {"Enter", "into it"}, {"[ ]", "change before, after"},
                                         {"K", "colour"},     {"C", "gaps"},        {"?", "help"},
                                         {NULL, NULL}};
static const struct hint byte_hints[] = {{"[ ]", "change before, after"},
                                         {"Enter", "follow pointer"},
                                         {"2", "bytes"},
                                         {"G", "go to"},
                                         {"?", "help"},
                                         {NULL, NULL}};
static const struct hint time_hints[] = {
    {"drag", "scrub"}, {"Shift+drag", "span"}, {"wheel", "zoom"}, {"Left Right", "frame"},
    {", .", "event"},  {"Space", "play"},      {"?", "help"},     {NULL, NULL}};
static const struct hint list_hints[] = {{"click", "select"},   {"double-click", "its pages"},
                                         {"Up Down", "choose"}, {"G", "go to"},
                                         {"?", "help"},         {NULL, NULL}};

static const struct hint *hints_of(const struct app *app) {
    if (app->focus == APP_PANEL_TIMELINE) return time_hints;
    if (app->focus == APP_PANEL_REGIONS) return list_hints;
    enum app_look look = app_look(app);
    return look == APP_LOOK_SPACE ? space_hints : look == APP_LOOK_PAGES ? page_hints : byte_hints;
}

/* Caps with their padding and gaps, and the words. */
static int hint_width(const struct hint *hint) {
    int caps = 1;
    for (const char *c = hint->keys; *c; c++) caps += *c == ' ';
    return ui_text_width(UI_S, hint->keys) + caps * 10 + ui_text_width(UI_S, hint->what) + 1;
}

static void subject(struct app *app, char *out, size_t size) {
    char name[APP_NAME_SIZE];
    struct app_place place = app->hover_set ? app->hover : app->selection;
    if (app->hover_t_set) {
        ui_format_time(out, size, (int64_t)app->hover_t, 6);
    } else if (place.kind == APP_PLACE_SPACE) {
        snprintf(out, size, "hover a place to name it");
    } else {
        view_place_name(app, place, name, sizeof name);
        snprintf(out, size, "%s", name);
    }
}

void view_status_draw(struct app *app, const struct view_layout *layout) {
    struct ui_draw *draw = app->draw;
    struct ui_rect rect = layout->status;
    char text[256];
    int y = rect.y + 4;
    ui_draw_begin_group(draw, "panel", "status");
    ui_draw_rect(draw, rect, UI_PANEL);
    ui_draw_hline(draw, rect.x, rect.y, rect.w, UI_HAIR);
    certainty(app, text, sizeof text);
    ui_draw_value(draw, "certainty", "%s", text);
    int right = ui_draw_text_right(draw, rect.w - 12, y, UI_S, UI_FAINT, text) - 16;
    ui_draw_push_clip(draw, ui_rect(rect.x, rect.y, ui_max(right, 0), rect.h));
    if (*app->message) {
        ui_draw_text(draw, 12, y, UI_S, app->message_bad ? UI_ATTENTION : UI_INK, app->message);
    } else {
        subject(app, text, sizeof text);
        int x = ui_draw_text_fit(draw, 12, y, 300, UI_S, UI_FAINT, text) + 12;
        for (const struct hint *hint = hints_of(app); hint->keys; hint++) {
            if (x + hint_width(hint) > right) break;
            x = ui_key_hint(draw, x, y, hint->keys, hint->what);
        }
    }
    ui_draw_pop_clip(draw);
    ui_draw_end_group(draw);
}
