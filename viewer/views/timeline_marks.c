/* Axis, gaps in the recording, marks and bookmarks. */
#include "app_names.h"
#include "timeline_panel.h"
#include "ui_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAJOR_LEAST = 80 }; /* pixels between labels */

/* --- axis --- */

static double step_of(double ns_a_pixel, int *minors) {
    double step = 1;
    for (;; step *= 10) {
        *minors = 5;
        if (step / ns_a_pixel >= MAJOR_LEAST) return step;
        *minors = 4;
        if (2 * step / ns_a_pixel >= MAJOR_LEAST) return 2 * step;
        *minors = 5;
        if (5 * step / ns_a_pixel >= MAJOR_LEAST) return 5 * step;
    }
}

static void label(struct app *app, const struct timeline_panel *panel, double t, double step, int x) {
    char text[UI_FORMAT_SIZE];
    int decimals = 0;
    for (double unit = 1e9; decimals < 9 && fmod(step, unit) != 0; unit /= 10) decimals++;
    if (t == 0)
        snprintf(text, sizeof text, "0 s");
    else
        snprintf(text, sizeof text, "%.*f s", decimals, t / 1e9);
    ui_draw_text(app->draw, x + 4, panel->axis.y + 6, UI_S, UI_FAINT, text);
}

void timeline_draw_axis(struct app *app, const struct timeline_panel *panel) {
    struct ui_draw *draw = app->draw;
    int bottom = panel->axis.y + panel->axis.h, minors;
    double step = step_of((panel->to - panel->from) / ui_max(panel->area.w, 1), &minors);
    ui_draw_begin_group(draw, "lane", "axis");
    ui_draw_hline(draw, panel->area.x, bottom, panel->area.w, UI_RULE);
    for (double n = floor(panel->from / step) * minors;; n++) {
        double t = n * step / minors;
        int x = timeline_x(panel, t);
        if (x >= ui_rect_right(panel->area) || t > (double)app->duration) break;
        bool major = fmod(n, minors) == 0;
        ui_draw_vline(draw, x, bottom - (major ? 7 : 4), major ? 7 : 4, major ? UI_RULE2 : UI_RULE);
        if (!major) continue;
        ui_draw_vline(draw, x, bottom + 1, panel->bottom - bottom - 1, UI_HAIR);
        label(app, panel, t, step, x);
    }
    ui_draw_end_group(draw);
}

/* --- gaps --- */

static void draw_gap(struct app *app, const struct timeline_panel *panel, const struct vmv_event *gap) {
    struct ui_draw *draw = app->draw;
    int x0 = timeline_x(panel, (double)gap->t), x1 = ui_max(timeline_x(panel, (double)gap->to), x0 + 1);
    int top = panel->axis.y + panel->axis.h + 1, height = panel->bottom - top;
    if (x1 < panel->area.x || x0 >= ui_rect_right(panel->area)) return;
    struct ui_rect rect = ui_rect(x0, top, x1 - x0, height);
    ui_draw_rect(draw, rect, UI_GROUND);
    ui_draw_pattern(draw, rect, UI_PATTERN_GAP, UI_RULE2);
    ui_draw_vline(draw, x0, top, height, UI_FAINT);
    ui_draw_vline(draw, x1, top, height, UI_FAINT);
    char span[UI_FORMAT_SIZE], text[UI_FORMAT_SIZE + 8], why[128];
    ui_format_span(span, sizeof span, (int64_t)(gap->to > gap->t ? gap->to - gap->t : 0));
    snprintf(text, sizeof text, "gap %s", span);
    app_plain(why, sizeof why, gap->name);
    ui_draw_text(draw, x1 + 5, panel->marks.y + 2, UI_S, UI_INK, text);
    int y = (panel->virtual_size.h ? panel->virtual_size.y : panel->memory.y) + 2;
    ui_draw_text(draw, x1 + 5, y, UI_S, UI_FAINT, why);
}

void timeline_draw_gaps(struct app *app, const struct timeline_panel *panel) {
    size_t count = 0;
    const struct vmv_event *landmark = timeline_landmarks(app->tl, &count);
    ui_draw_begin_group(app->draw, "lane", "gaps");
    for (size_t i = 0; i < count; i++)
        if (landmark[i].type == VMV_EV_GAP && timeline_concerns(app, &landmark[i])) draw_gap(app, panel, &landmark[i]);
    ui_draw_end_group(app->draw);
}

/* --- marks --- */

struct mark {
    int x;
    bool bookmark, signal;
    char text[64];
};

static bool is_mark(const struct app *app, const struct vmv_event *event) {
    if (event->type == VMV_EV_MARK) return timeline_concerns(app, event);
    return event->type == VMV_EV_SIGNAL && event->flag && event->pid == app->pid;
}

static struct mark mark_of(const struct timeline_panel *panel, const struct vmv_event *event) {
    struct mark mark = {.x = timeline_x(panel, (double)event->t), .signal = event->type == VMV_EV_SIGNAL};
    if (mark.signal) {
        view_signal_text(event, mark.text, sizeof mark.text);
    } else {
        app_plain(mark.text, sizeof mark.text, event->name);
    }
    return mark;
}

static void draw_mark(struct app *app, const struct timeline_panel *panel, const struct mark *mark, int room,
                      int before) {
    struct ui_draw *draw = app->draw;
    int y = panel->marks.y;
    ui_color color = mark->bookmark ? UI_WHITE : mark->signal ? UI_ATTENTION : UI_DIM;
    ui_draw_vline(draw, mark->x, y, panel->bottom - y, ui_fade(color, mark->signal ? 80 : 40));
    if (mark->bookmark) {
        ui_draw_triangle(draw, ui_rect(mark->x - 4, y + 3, 9, 8), UI_DOWN, color);
    } else {
        ui_draw_vline(draw, mark->x, y + 1, 13, color);
        ui_draw_triangle(draw, ui_rect(mark->x + 1, y + 2, 6, 7), UI_RIGHT, color);
    }
    if (ui_text_width(UI_S, mark->text) <= room - 12) ui_draw_text(draw, mark->x + 9, y + 2, UI_S, color, mark->text);
}

static bool visible(const struct timeline_panel *panel, int x) {
    return x >= panel->area.x - 400 && x < ui_rect_right(panel->area);
}

static size_t gather(struct app *app, const struct timeline_panel *panel, struct mark *marks, size_t room) {
    size_t count = 0, kept = 0, next = 0;
    const struct vmv_event *landmark = timeline_landmarks(app->tl, &count);
    for (size_t i = 0; i <= count && kept < room; i++) {
        while (next < app->bookmarks.count && (i == count || app->bookmarks.t[next] <= landmark[i].t) && kept < room) {
            struct mark mark = {.x = timeline_x(panel, (double)app->bookmarks.t[next++]), .bookmark = true};
            if (visible(panel, mark.x)) marks[kept++] = mark;
        }
        if (i == count || kept == room || !is_mark(app, &landmark[i])) continue;
        struct mark mark = mark_of(panel, &landmark[i]);
        if (visible(panel, mark.x)) marks[kept++] = mark;
    }
    return kept;
}

void timeline_draw_marks(struct app *app, const struct timeline_panel *panel) {
    size_t room = (size_t)ui_max(panel->area.w, 0) + 400;
    struct mark *marks = ui_draw_alloc(app->draw, room * sizeof *marks);
    if (!marks) return;
    size_t count = gather(app, panel, marks, room);
    ui_draw_begin_group(app->draw, "lane", "marks");
    for (size_t i = 0; i < count; i++) {
        int end = i + 1 < count ? marks[i + 1].x : ui_rect_right(panel->area);
        /* Left of the flag only where the one before leaves its words' room. */
        int left = i ? marks[i - 1].x + 9 + ui_text_width(UI_S, marks[i - 1].text) : panel->area.x;
        draw_mark(app, panel, &marks[i], end - marks[i].x, marks[i].x - left);
    }
    ui_draw_end_group(app->draw);
}
