/* The gutter of the timeline: the time at the cursor, names of lanes, and their values at the cursor. */
#include "app_curves.h"
#include "app_history.h"
#include "app_names.h"
#include "app_search.h"
#include "timeline_panel.h"
#include "ui_format.h"

#include <stdio.h>
#include <string.h>

/* --- names and values --- */

static void draw_entry(struct app *app, const struct timeline_panel *panel, int y, const char *name, ui_color color,
                       const char *value) {
    int right = ui_rect_right(panel->gutter) - 11, left = panel->gutter.x + 12;
    int after = ui_draw_text_fit(app->draw, left, y, panel->gutter.w - 23, UI_S, UI_FAINT, name);
    int room = right - after - 5, width = ui_text_width(UI_S, value);
    if (room <= 0) return;
    if (width > room)
        ui_draw_text_fit(app->draw, after + 6, y, room, UI_S, color, value);
    else
        ui_draw_text_right(app->draw, right, y, UI_S, color, value);
}

static void draw_lane_entry(struct app *app, const struct timeline_panel *panel, struct lane lane, const char *name,
                            ui_color color, const char *value) {
    if (!lane.h) return;
    ui_draw_begin_group(app->draw, "value", name);
    draw_entry(app, panel, lane.y + (lane.h - 11) / 2, name, color, value);
    ui_draw_end_group(app->draw);
}

/* --- the moment --- */

static void draw_play(struct app *app, int x, int y) {
    struct ui_rect area = ui_rect(x - 6, y - 2, 22, 20);
    if (!app->playing) {
        ui_draw_rect(app->draw, ui_rect(x, y + 4, 3, 10), UI_DIM);
        ui_draw_rect(app->draw, ui_rect(x + 5, y + 4, 3, 10), UI_DIM);
    } else if (app->direction > 0) {
        ui_draw_triangle(app->draw, ui_rect(x, y + 4, 8, 11), UI_RIGHT, UI_DIM);
    } else {
        ui_draw_triangle(app->draw, ui_rect(x, y + 4, 8, 11), UI_LEFT, UI_DIM);
    }
    if (ui_area(&app->ui, ui_id_of("play"), area, UI_CURSOR_ARROW, 0) & UI_PRESSED)
        app_play(app, app->playing ? 0 : app->direction);
}

static void draw_frame_number(struct app *app, const struct timeline_panel *panel, int left) {
    const struct timeline_frame *frame = app_frame(app), *all = app->history ? app->history->frame : NULL;
    size_t count = app->history ? app->history->frame_count : 0;
    char number[UI_FORMAT_SIZE], last[UI_FORMAT_SIZE], text[2 * UI_FORMAT_SIZE + 16];
    int right = ui_rect_right(panel->gutter) - 11;
    if (!frame) {
        if (count) ui_format_count(number, sizeof number, all[0].n);
        snprintf(text, sizeof text, count ? "before frame %s" : "no frames", number);
    } else {
        ui_format_count(number, sizeof number, frame->n);
        ui_format_count(last, sizeof last, all[count - 1].n);
        snprintf(text, sizeof text, "frame %s, last %s", number, last);
        if (panel->short_names || ui_text_width(UI_S, text) > right - left)
            snprintf(text, sizeof text, "frame %s", number);
    }
    if (ui_text_width(UI_S, text) <= right - left)
        ui_draw_text_right(app->draw, right, panel->axis.y + 6, UI_S, UI_DIM, text);
}

static void draw_moment(struct app *app, const struct timeline_panel *panel) {
    int x = panel->gutter.x + 12, y = panel->axis.y + 1;
    ui_draw_begin_group(app->draw, "value", "time");
    draw_play(app, x, y);
    x = ui_draw_time(app->draw, x + 16, y, UI_L, UI_WHITE, (int64_t)app->t, 6);
    if (app->playing || app->speed != 1) {
        char speed[24];
        snprintf(speed, sizeof speed, " \xc3\x97%g", app->speed);
        x = ui_draw_text(app->draw, x, panel->axis.y + 6, UI_S, UI_FAINT, speed);
    }
    draw_frame_number(app, panel, x + 8);
    ui_draw_end_group(app->draw);
}

/* --- curves at the cursor --- */

static void written_text(const struct app_regions *regions, char *out, size_t size) {
    char number[UI_FORMAT_SIZE];
    uint64_t small = regions->written - regions->huge;
    ui_format_count(number, sizeof number, small);
    size_t length = (size_t)snprintf(out, size, "%s page%s", number, small == 1 ? "" : "s");
    if (regions->huge && length < size)
        snprintf(out + length, size - length, " + %llu huge", (unsigned long long)regions->huge);
}

static void draw_memory(struct app *app, const struct timeline_panel *panel) {
    const struct app_regions *regions = app_regions(app);
    char text[UI_FORMAT_SIZE * 2];
    ui_format_size(text, sizeof text, regions->bytes);
    draw_lane_entry(app, panel, panel->virtual_size, "virtual", UI_DIM, app->space ? text : UI_NONE);
    int y = panel->memory.y + ui_max((panel->memory.h - 26) / 2, 1) + (panel->memory.h > 40 ? 1 : 0);
    ui_format_size(text, sizeof text, regions->resident * app->world->page_size);
    ui_draw_begin_group(app->draw, "value", "memory");
    if (app->space && !app->space->last_frame_t && !regions->resident) snprintf(text, sizeof text, "unknown");
    draw_entry(app, panel, y, "resident", UI_RESIDENT_LINE, app->space ? text : UI_NONE);
    written_text(regions, text, sizeof text);
    const char *name = panel->short_names ? "written" : "written this frame";
    draw_entry(app, panel, y + 14, name, UI_WRITTEN_2, app_frame(app) && app->space ? text : UI_NONE);
    ui_draw_end_group(app->draw);
}

/* --- events at the cursor --- */

static void latest(struct app *app, uint64_t key, const enum vmv_event_type *types, char *out, size_t size) {
    struct app_question question = {.key = key, .t = app->t};
    for (; *types != VMV_EV_NONE; types++) timeline_filter_type(&question.filter, *types);
    question.filter.space = app->space_id;
    const struct app_found *found = app->space_id ? app_ask(app, &question) : NULL;
    if (found && found->found) {
        char ago[UI_FORMAT_SIZE];
        ui_format_ago(ago, sizeof ago, (int64_t)(app->t - found->event.t));
        const char *name = vmv_event_name(found->event.type);
        snprintf(out, size, "%s%s %s", name ? name : "event", found->event.ret < 0 ? " failed" : "", ago);
    } else {
        snprintf(out, size, "%s", found && found->searching ? "\xe2\x80\xa6" : UI_NONE);
    }
}

static void draw_events(struct app *app, const struct timeline_panel *panel) {
    static const enum vmv_event_type map[] = {VMV_EV_MMAP,  VMV_EV_MUNMAP, VMV_EV_MREMAP, VMV_EV_BRK,
                                              VMV_EV_SHMAT, VMV_EV_SHMDT,  VMV_EV_NONE};
    static const enum vmv_event_type protect[] = {VMV_EV_MPROTECT, VMV_EV_MADVISE, VMV_EV_NONE};
    static const enum vmv_event_type thread[] = {VMV_EV_THREAD_START, VMV_EV_THREAD_EXIT, VMV_EV_FORK, VMV_EV_EXEC,
                                                 VMV_EV_EXIT,         VMV_EV_SIGNAL,      VMV_EV_NONE};
    bool brief = panel->short_names;
    char text[96];
    latest(app, APP_ASK_LANE_MAP, map, text, sizeof text);
    draw_lane_entry(app, panel, panel->map, brief ? "map" : "map, unmap", UI_DIM, text);
    latest(app, APP_ASK_LANE_PROTECT, protect, text, sizeof text);
    draw_lane_entry(app, panel, panel->protect, brief ? "protect" : "protect, advise", UI_DIM, text);
    latest(app, APP_ASK_LANE_THREAD, thread, text, sizeof text);
    draw_lane_entry(app, panel, panel->thread, brief ? "thread" : "thread, process", UI_DIM, text);
}

static void draw_frame_facts(struct app *app, const struct timeline_panel *panel) {
    const struct timeline_frame *frame = app_frame(app);
    uint64_t from, to, sum = 0;
    char number[UI_FORMAT_SIZE], text[UI_FORMAT_SIZE + 16] = UI_NONE;
    if (app_frame_interval(app, &from, &to) && app->space_id) {
        sum = app_curves_faults(app, from, to);
        ui_format_count(number, sizeof number, sum);
        snprintf(text, sizeof text, "%s this frame", number);
    }
    draw_lane_entry(app, panel, panel->faults, "faults", UI_DIM, text);
    if (frame) {
        ui_format_span(number, sizeof number, (int64_t)frame->pause_ns);
        snprintf(text, sizeof text, "pause %s", number);
    }
    draw_lane_entry(app, panel, panel->frames, "frames", UI_DIM, frame ? text : UI_NONE);
}

/* --- threads --- */

static ui_color thread_text(struct app *app, const struct app_lifetime *life, bool brief, char *out, size_t size) {
    const struct vmv_thread *thread = vmv_world_thread(app->world, life->tid);
    char call[48] = "";
    if (!thread || app->t < life->from) {
        snprintf(out, size, app->t < life->from ? UI_NONE : "ended");
        return UI_GHOST;
    }
    view_syscall_name(app, thread->syscall, call, sizeof call);
    switch (thread->state) {
    case VMV_THREAD_RUNNING:
        snprintf(out, size, *call && !brief ? "running in %s" : "running", call);
        return UI_INK;
    case VMV_THREAD_SLEEPING:
        snprintf(out, size, *call && !brief ? "asleep in %s" : "asleep", call);
        return UI_DIM;
    case VMV_THREAD_STOPPED:
        snprintf(out, size, "stopped");
        return UI_DIM;
    default:
        snprintf(out, size, "ended");
        return UI_GHOST;
    }
}

static void draw_thread_entry(struct app *app, const struct timeline_panel *panel, int i) {
    const struct app_lifetime *life = &app->history->thread[i + app->threads_first];
    const struct vmv_thread *thread = vmv_world_thread(app->world, life->tid);
    char plain[20], name[40], text[64];
    app_plain(plain, sizeof plain, thread && *thread->name ? thread->name : life->name);
    if (!*plain) snprintf(plain, sizeof plain, "thread");
    snprintf(name, sizeof name, "%s", plain);
    if (!panel->short_names || !strcmp(plain, "thread")) snprintf(name, sizeof name, "%s %d", plain, life->tid);
    ui_color color = thread_text(app, life, panel->short_names, text, sizeof text);
    struct lane lane = {panel->threads.y + i * panel->thread_height, panel->thread_height - 1};
    ui_id id = ui_id_child(ui_id_of("gutter thread"), (uint64_t)life->tid);
    struct ui_rect area = ui_rect(panel->gutter.x, lane.y, panel->gutter.w - 6, lane.h);
    if (ui_area(&app->ui, id, area, UI_CURSOR_ARROW, 0) & UI_PRESSED) {
        app->focus = APP_PANEL_TIMELINE;
        app->tid = life->tid;
        app->tab = APP_TAB_THREADS;
        app->redraw = true;
    }
    draw_lane_entry(app, panel, lane, name, color, text);
}

static void draw_threads(struct app *app, const struct timeline_panel *panel) {
    if (!app->history) return;
    int count = (int)app->history->thread_count, hidden = count - panel->threads_shown;
    app->threads_first = ui_clamp(app->threads_first, 0, ui_max(hidden, 0));
    for (int i = 0; i < panel->threads_shown; i++) draw_thread_entry(app, panel, i);
    if (hidden <= 0) return;
    /* More than fit: a bar says which part is shown. */
    int h = panel->threads.h, bar = ui_max(h * panel->threads_shown / count, 4);
    int y = panel->threads.y + (h - bar) * app->threads_first / hidden;
    ui_draw_rect(app->draw, ui_rect(ui_rect_right(panel->gutter) - 4, y, 3, bar), UI_RULE);
    ui_draw_value(app->draw, "threads", "%d of %d", panel->threads_shown, count);
}

static void answer_gutter(struct app *app, const struct timeline_panel *panel) {
    unsigned signals = ui_area(&app->ui, ui_id_of("gutter"), panel->gutter, UI_CURSOR_ARROW, UI_AREA_WHEEL);
    if (signals & UI_PRESSED) app->focus = APP_PANEL_TIMELINE;
    if (signals & UI_WHEELED) {
        app->threads_first -= app->ui.wheel_y > 0 ? 1 : -1;
        app->redraw = true;
    }
}

void timeline_draw_gutter(struct app *app, const struct timeline_panel *panel) {
    struct ui_draw *draw = app->draw;
    ui_draw_begin_group(draw, "gutter", "timeline");
    ui_draw_push_clip(draw, panel->gutter);
    ui_panel_background(draw, panel->gutter, UI_PANEL, app->focus == APP_PANEL_TIMELINE);
    if (app->focus != APP_PANEL_TIMELINE)
        ui_draw_hline(draw, panel->gutter.x, panel->gutter.y, panel->gutter.w, UI_HAIR);
    ui_draw_vline(draw, ui_rect_right(panel->gutter) - 1, panel->gutter.y, panel->gutter.h, UI_HAIR);
    answer_gutter(app, panel);
    draw_moment(app, panel);
    draw_lane_entry(app, panel, panel->marks, "marks, bookmarks", UI_DIM, "");
    draw_memory(app, panel);
    draw_events(app, panel);
    draw_frame_facts(app, panel);
    draw_threads(app, panel);
    ui_draw_pop_clip(draw);
    ui_draw_end_group(draw);
}
