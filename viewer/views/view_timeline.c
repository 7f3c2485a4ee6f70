/* The timeline panel: lays out its lanes, draws them, and answers the pointer: scrubbing, zooming, spans of time. */
#include "app_curves.h"
#include "app_history.h"
#include "timeline_panel.h"
#include "ui_format.h"

#include <math.h>
#include <stdio.h>

enum { STRIP = 3, AXIS = 20, MARKS = 14, VIRTUAL = 16, MEMORY = 54, MEMORY_LEAST = 30, EVENTS = 12, FAULTS = 14 };
enum { FRAMES = 10, THREAD = 14, THREAD_LEAST = 11 };

int timeline_x(const struct timeline_panel *panel, double t) {
    double x = (t - panel->from) / (panel->to - panel->from) * panel->area.w;
    if (x < -1e6) x = -1e6;
    if (x > 1e6) x = 1e6;
    return panel->area.x + (int)floor(x);
}

double timeline_t(const struct timeline_panel *panel, int x) {
    return panel->from + (x - panel->area.x) * (panel->to - panel->from) / ui_max(panel->area.w, 1);
}

/* --- layout --- */

static struct lane take(int *y, int height) {
    struct lane lane = {*y, height};
    *y += height ? height + 1 : 0;
    return lane;
}

static void place_lanes(const struct app *app, const struct view_layout *layout, struct timeline_panel *panel) {
    int y = panel->rect.y + 1, threads = app->history ? (int)app->history->thread_count : 0;
    int virtual_height = layout->virtual_lane ? VIRTUAL : 0;
    int fixed =
        1 + AXIS + 1 + MARKS + 1 + (virtual_height ? VIRTUAL + 1 : 0) + 3 * (EVENTS + 1) + FAULTS + 1 + FRAMES + 2;
    int room = panel->rect.h - fixed;
    panel->thread_height = room - MEMORY - 1 >= threads * THREAD ? THREAD : THREAD_LEAST;
    int wanted = ui_min(threads, 3) * panel->thread_height;
    int memory = ui_max(MEMORY_LEAST, ui_max(room - threads * panel->thread_height, ui_min(MEMORY, room - wanted)) - 1);
    panel->axis = take(&y, AXIS);
    panel->marks = take(&y, MARKS);
    panel->virtual_size = take(&y, virtual_height);
    panel->memory = take(&y, memory);
    panel->map = take(&y, EVENTS);
    panel->protect = take(&y, EVENTS);
    panel->thread = take(&y, EVENTS);
    panel->faults = take(&y, FAULTS);
    panel->frames = take(&y, FRAMES);
    int left = ui_max(ui_rect_bottom(panel->rect) - y, 0);
    panel->threads_shown = ui_min(threads, left / panel->thread_height);
    panel->threads = (struct lane){y, panel->threads_shown * panel->thread_height};
    panel->bottom = y + panel->threads.h;
}

static void measure(struct timeline_panel *panel) {
    for (int i = 0; panel->column && i < panel->area.w; i++) {
        const struct timeline_column *column = &panel->column[i];
        uint64_t faults = 0;
        for (int k = 0; k < VMV_KIND_COUNT; k++) faults += column->faults[k];
        if (column->virtual_bytes > panel->virtual_most) panel->virtual_most = column->virtual_bytes;
        if (column->resident_high > panel->resident_most) panel->resident_most = column->resident_high;
        if (column->written > panel->written_most) panel->written_most = column->written;
        if (faults > panel->faults_most) panel->faults_most = faults;
    }
}

static struct timeline_panel make_panel(struct app *app, const struct view_layout *layout) {
    struct timeline_panel panel = {.rect = layout->timeline, .short_names = !layout->tids};
    app_view_range(app, &panel.from, &panel.to);
    panel.begin = (uint64_t)panel.from;
    panel.end = (uint64_t)ceil(panel.to);
    panel.area = panel.rect;
    panel.gutter = ui_rect_cut_left(&panel.area, layout->gutter);
    place_lanes(app, layout, &panel);
    panel.area.h = panel.bottom - panel.area.y;
    if (panel.area.w > 0) panel.column = app_curves_columns(app, panel.begin, panel.end, (size_t)panel.area.w);
    measure(&panel);
    return panel;
}

bool timeline_concerns(const struct app *app, const struct vmv_event *event) {
    if (!event->space || event->pid == app->pid) return true;
    for (size_t i = 0; app->history && i < app->history->span_count; i++)
        if (app->history->span[i].space == event->space) return true;
    return false;
}

/* --- pointer --- */

static uint64_t held_time(const struct app *app, double t) {
    return t <= 0 ? 0 : t >= (double)app->duration ? app->duration : (uint64_t)t;
}

static void zoom(struct app *app, const struct timeline_panel *panel, double steps, int x) {
    double around = timeline_t(panel, x), factor = pow(0.8, steps);
    /* From where the animation goes to, so that quick steps add up. */
    double from = app->view_from.to, to = app->view_to.to;
    app_view_show(app, around - (around - from) * factor, around + (to - around) * factor, UI_ZOOM_MS);
}

static void pan(struct app *app, double ns) {
    double from = app->view_from.to, to = app->view_to.to;
    if (from + ns < 0) ns = -from;
    if (to + ns > (double)app->duration) ns = (double)app->duration - to;
    app_view_show(app, from + ns, to + ns, 0);
}

static void select_span(struct app *app, uint64_t t, bool begins) {
    if (begins) app->span_anchor = t;
    app->span_from = t < app->span_anchor ? t : app->span_anchor;
    app->span_to = t < app->span_anchor ? app->span_anchor : t;
    app->span_set = app->span_from != app->span_to;
}

static void answer(struct app *app, const struct timeline_panel *panel) {
    struct ui_context *ui = &app->ui;
    double a_pixel = (panel->to - panel->from) / ui_max(panel->area.w, 1);
    bool panning = ui->middle != 0 && ui->active == ui_id_of("timeline");
    unsigned signals =
        ui_area(ui, ui_id_of("timeline"), panel->area, panning ? UI_CURSOR_MOVE : UI_CURSOR_CROSSHAIR, UI_AREA_WHEEL);
    uint64_t t = held_time(app, timeline_t(panel, ui->mouse_x));
    if (signals & UI_HOVER) app_hover_time(app, t);
    if (signals & UI_PRESSED) {
        app->focus = APP_PANEL_TIMELINE;
        app->span_dragging = ui->modifiers & UI_SHIFT;
        app->playing = false;
    }
    if (signals & (UI_PRESSED | UI_HELD | UI_RELEASED)) {
        if (app->span_dragging)
            select_span(app, t, signals & UI_PRESSED);
        else if (t != app->t || app->seq != UINT64_MAX)
            app_seek(app, t);
        app->redraw = true;
    }
    app->time_panning = signals & UI_MIDDLE_HELD;
    if (app->time_panning) pan(app, -ui->move_x * a_pixel);
    if (signals & UI_WHEELED) {
        if (ui->wheel_x != 0 || ui->modifiers & UI_SHIFT)
            pan(app, (ui->wheel_x != 0 ? ui->wheel_x : -ui->wheel_y) * 60 * a_pixel);
        else
            zoom(app, panel, ui->wheel_y, ui->mouse_x);
    }
}

void view_timeline_zoom(struct app *app, double steps) {
    struct view_layout layout = view_layout(app);
    struct timeline_panel panel = {.rect = layout.timeline, .area = layout.timeline};
    app_view_range(app, &panel.from, &panel.to);
    ui_rect_cut_left(&panel.area, layout.gutter);
    zoom(app, &panel, steps, timeline_x(&panel, (double)app->t));
}

/* --- you, and what is pointed at --- */

static void draw_span(struct app *app, const struct timeline_panel *panel) {
    if (!app->span_set) return;
    int x0 = timeline_x(panel, (double)app->span_from), x1 = timeline_x(panel, (double)app->span_to);
    int y = panel->axis.y, h = panel->bottom - y;
    char text[UI_FORMAT_SIZE];
    ui_draw_rect(app->draw, ui_rect(x0, y, x1 - x0, h), ui_fade(UI_WHITE, 10));
    ui_draw_vline(app->draw, x0, y, h, UI_WHITE);
    ui_draw_vline(app->draw, x1, y, h, UI_WHITE);
    ui_format_span(text, sizeof text, (int64_t)(app->span_to - app->span_from));
    ui_draw_text_centred(app->draw, x0, panel->marks.y + 1, x1 - x0, UI_S, UI_WHITE, text);
    ui_draw_value(app->draw, "span", "%llu %llu", (unsigned long long)app->span_from, (unsigned long long)app->span_to);
}

static void draw_cursor(struct app *app, const struct timeline_panel *panel) {
    int x = timeline_x(panel, (double)app->t), y = panel->rect.y;
    if (app->t == app->duration && x >= ui_rect_right(panel->area)) x = ui_rect_right(panel->area) - 1;
    ui_draw_vline(app->draw, x, y, panel->bottom - y, UI_WHITE);
    ui_draw_triangle(app->draw, ui_rect(x - 5, y, 11, 7), UI_DOWN, UI_WHITE);
    ui_draw_value(app->draw, "time", "%llu", (unsigned long long)app->t);
}

static void draw_hover(struct app *app, const struct timeline_panel *panel) {
    if (!app->hover_t_set || app->ui.active) return;
    int x = timeline_x(panel, (double)app->hover_t);
    double length = panel->to - panel->from;
    char text[UI_FORMAT_SIZE];
    ui_format_time(text, sizeof text, (int64_t)app->hover_t, length > 1e9 ? 3 : length > 1e6 ? 6 : 9);
    ui_draw_dashed_v(app->draw, x, panel->axis.y, panel->bottom - panel->axis.y, 3, 3, ui_fade(UI_WHITE, 80));
    int width = ui_text_width(UI_S, text);
    int text_x = x + 6 + width > ui_rect_right(panel->area) ? x - 6 - width : x + 6;
    ui_draw_rect(app->draw, ui_rect(text_x - 2, panel->axis.y + 3, width + 4, 13), UI_RAISED);
    ui_draw_text(app->draw, text_x, panel->axis.y + 4, UI_S, UI_WHITE, text);
}

/* What the frame saw whose time this is: the next one. */
static void written_text(const struct app *app, uint64_t t, char *out, size_t size) {
    const struct app_history *history = app->history;
    size_t next = history ? (size_t)(app_history_frame(history, t) + 1) : 0;
    if (!history || next >= history->frame_count) {
        snprintf(out, size, "no frame saw what was written here");
        return;
    }
    const struct timeline_frame *frame = &history->frame[next];
    char pages[UI_FORMAT_SIZE], number[UI_FORMAT_SIZE];
    ui_format_count(pages, sizeof pages, frame->pages_written);
    ui_format_count(number, sizeof number, frame->n);
    snprintf(out, size, "%s page%s written by frame %s", pages, frame->pages_written == 1 ? "" : "s", number);
}

static void draw_card(struct app *app, const struct timeline_panel *panel) {
    struct ui_context *ui = &app->ui;
    int i = ui->mouse_x - panel->area.x;
    if (ui->hot != ui_id_of("timeline") || !ui_card_due(ui, NULL) || !panel->column) return;
    if (i < 0 || i >= panel->area.w || !panel->column[i].known) return;
    const struct timeline_column *column = &panel->column[i];
    char size[UI_FORMAT_SIZE], text[4][128];
    uint64_t faults = 0, ticks = 0;
    for (int k = 0; k < VMV_KIND_COUNT; k++) faults += column->faults[k];
    for (int k = 0; k < VMV_TICK_COUNT; k++) ticks += column->ticks[k];
    ui_format_interval(text[0], sizeof text[0], (int64_t)timeline_t(panel, ui->mouse_x),
                       (int64_t)timeline_t(panel, ui->mouse_x + 1), 6);
    ui_format_size(size, sizeof size, (uint64_t)column->resident_high * app->world->page_size);
    snprintf(text[1], sizeof text[1], "resident %s at most", size);
    written_text(app, (uint64_t)timeline_t(panel, ui->mouse_x), text[2], sizeof text[2]);
    char calls[UI_FORMAT_SIZE], count[UI_FORMAT_SIZE];
    ui_format_count(calls, sizeof calls, ticks);
    ui_format_count(count, sizeof count, faults);
    snprintf(text[3], sizeof text[3], "%s call%s, %s fault%s", calls, ticks == 1 ? "" : "s", count,
             faults == 1 ? "" : "s");
    struct ui_card_line lines[4] = {{.text = text[0], .color = UI_INK}};
    for (int k = 1; k < 4; k++) lines[k] = (struct ui_card_line){.text = text[k], .color = UI_DIM};
    ui_card(app->draw, ui_rect(0, 0, app->width, app->height), ui->mouse_x, ui->mouse_y, lines, 4);
}

/* Which part of the recording is shown; nothing where all of it is. */
static void draw_strip(struct app *app, const struct timeline_panel *panel) {
    struct ui_rect strip = ui_rect(panel->area.x, panel->rect.y, panel->area.w, STRIP);
    double all = app->duration ? (double)app->duration : 1;
    ui_draw_begin_group(app->draw, "strip", "recording");
    ui_draw_value(app->draw, "shown", "%llu %llu", (unsigned long long)panel->begin, (unsigned long long)panel->end);
    if (panel->to - panel->from < all * 0.999) {
        int x0 = strip.x + (int)(panel->from / all * strip.w), x1 = strip.x + (int)(panel->to / all * strip.w);
        ui_draw_rect(app->draw, strip, UI_HAIR);
        ui_draw_rect(app->draw, ui_rect(x0, strip.y, ui_max(x1 - x0, 2), STRIP), UI_DIM);
        int cursor = strip.x + (int)((double)app->t / all * (strip.w - 1));
        ui_draw_rect(app->draw, ui_rect(cursor, strip.y, 1, STRIP), UI_WHITE);
    }
    ui_draw_end_group(app->draw);
}

void view_timeline_draw(struct app *app, const struct view_layout *layout) {
    struct timeline_panel panel = make_panel(app, layout);
    struct ui_draw *draw = app->draw;
    ui_draw_begin_group(draw, "panel", "timeline");
    ui_draw_push_clip(draw, panel.rect);
    ui_panel_background(draw, panel.rect, UI_GROUND, app->focus == APP_PANEL_TIMELINE);
    if (app->focus != APP_PANEL_TIMELINE) ui_draw_hline(draw, panel.rect.x, panel.rect.y, panel.rect.w, UI_HAIR);
    answer(app, &panel);
    ui_draw_push_clip(draw, ui_rect(panel.area.x, panel.rect.y, panel.area.w, panel.rect.h));
    timeline_draw_axis(app, &panel);
    timeline_draw_curves(app, &panel);
    timeline_draw_events(app, &panel);
    timeline_draw_threads(app, &panel);
    timeline_draw_gaps(app, &panel);
    timeline_draw_marks(app, &panel);
    draw_span(app, &panel);
    draw_strip(app, &panel);
    draw_hover(app, &panel);
    draw_cursor(app, &panel);
    ui_draw_pop_clip(draw);
    timeline_draw_gutter(app, &panel);
    ui_draw_pop_clip(draw);
    ui_draw_end_group(draw);
    draw_card(app, &panel);
}
