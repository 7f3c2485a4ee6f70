/* Making and freeing struct app, and one frame of it. */
#include "app.h"
#include "app_curves.h"
#include "app_history.h"
#include "app_internal.h"
#include "app_regions.h"
#include "app_search.h"
#include "views.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *app_colour_name(enum app_colour colour) {
    static const char *const names[APP_COLOUR_COUNT] = {"kind", "write recency", "residency", "protection",
                                                        "age of knowledge"};
    return colour < APP_COLOUR_COUNT ? names[colour] : "";
}

const char *app_tab_name(enum app_tab tab) {
    static const char *const names[APP_TAB_COUNT] = {"Details", "Bytes", "Code", "Threads"};
    return tab < APP_TAB_COUNT ? names[tab] : "";
}

const char *app_panel_name(enum app_panel panel) {
    static const char *const names[APP_PANEL_COUNT] = {"regions", "map", "inspector", "timeline"};
    return panel < APP_PANEL_COUNT ? names[panel] : "";
}

/* --- life --- */

static int32_t first_process(struct timeline *tl) {
    const struct vmv_meta *meta = vmv_reader_meta(timeline_reader(tl));
    if (meta && meta->pid) return meta->pid;
    size_t count = 0;
    const struct vmv_event *landmark = timeline_landmarks(tl, &count);
    for (size_t i = 0; i < count; i++)
        if (landmark[i].type == VMV_EV_SPACE) return landmark[i].pid;
    return 0;
}

bool app_init(struct app *app, struct timeline *tl) {
    *app = (struct app){.tl = tl, .decode = decode_create(tl)};
    if (app->decode) decode_allow_debug(app->decode, false);
    ui_context_init(&app->ui);
    app->duration = timeline_duration(tl);
    app->seq = UINT64_MAX;
    app->direction = 1;
    app->speed = 1;
    app->motion = true;
    app->width = 1440;
    app->height = 900;
    app->trace_name = "";
    app->gaps_collapsed = true;
    app->focus = APP_PANEL_MAP;
    app->selection = app_place_space();
    app->view_from = ui_anim_at(0);
    app->view_to = ui_anim_at(app->duration ? (double)app->duration : 1);
    app->camera.at_y = ui_anim_at(0);
    app->camera.bits = ui_anim_at(APP_BITS_MAX);
    app->world = timeline_seek(tl, 0);
    app->pid = first_process(tl);
    app->history = app_history_create(tl, app->pid);
    app_seek(app, 0);
    return app->history != NULL && app->world != NULL && app->decode != NULL;
}

void app_free(struct app *app) {
    view_map_free(app);
    decode_destroy(app->decode);
    app_curves_free(app);
    app_census_free(app);
    app_search_free(app);
    app_regions_free(app);
    app_history_destroy(app->history);
    free(app->folded.id);
    free(app->bookmarks.t);
    ui_context_free(&app->ui);
    *app = (struct app){0};
}

void app_say(struct app *app, bool bad, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(app->message, sizeof app->message, format, arguments);
    va_end(arguments);
    app->message_bad = bad;
    app->redraw = true;
}

/* --- one frame --- */

/* What the pointer rests on takes effect in all panels with the next frame. */
static void turn_hover(struct app *app) {
    bool same = app->hover_set == app->hover_next_set && app->hover_t_set == app->hover_t_next_set;
    if (same && app->hover_set) same = app_place_equal(app->hover, app->hover_next);
    if (same && app->hover_t_set) same = app->hover_t == app->hover_t_next;
    app->hover = app->hover_next;
    app->hover_set = app->hover_next_set;
    app->hover_t = app->hover_t_next;
    app->hover_t_set = app->hover_t_next_set;
    if (!same) app->redraw = true;
}

void app_draw(struct app *app, struct ui_draw *draw, double now_ms) {
    app->now_ms = now_ms;
    app->draw = draw;
    app->redraw = false;
    app->hover_next_set = app->hover_t_next_set = false;
    app_budget_begin(app);
    app_play_tick(app);
    ui_draw_begin(draw, app->width, app->height);
    ui_context_begin(&app->ui, draw, now_ms);
    view_window_draw(app);
    ui_context_end(&app->ui);
    turn_hover(app);
}

double app_next_frame(const struct app *app) {
    double wait = -1;
    if (app->redraw || app->playing) return 0;
    if (ui_anim_moving(&app->view_from, app->now_ms) || ui_anim_moving(&app->view_to, app->now_ms)) return 0;
    if (ui_anim_moving(&app->camera.bits, app->now_ms) || ui_anim_moving(&app->camera.at_y, app->now_ms)) return 0;
    if (ui_card_due(&app->ui, &wait)) return -1;
    return wait;
}
