/* Curves and event lanes: each pixel of a lane stands for one column of the model. */
#include "app_curves.h"
#include "app_history.h"
#include "timeline_panel.h"

#include <math.h>
#include <stdio.h>

static void lane_begin(struct app *app, const struct timeline_panel *panel, const char *name, struct lane lane) {
    ui_draw_begin_group(app->draw, "lane", name);
    ui_draw_hline(app->draw, panel->area.x, lane.y + lane.h, panel->area.w, UI_HAIR);
}

/* --- curves --- */

static int level(uint64_t value, uint64_t most, int height) {
    if (!value || !most) return 0;
    int pixels = (int)((double)value / (double)most * height + 0.5);
    return pixels < 1 ? 1 : pixels;
}

/* A stepped line through the tops of the columns, broken where nothing is known; area: filled below it. */
struct curve {
    struct lane lane;
    uint64_t most;
    int height;
    ui_color line;
    ui_color area; /* 0: none */
};

static int curve_top(const struct curve *curve, uint64_t value) {
    return curve->lane.y + curve->lane.h - level(value, curve->most, curve->height);
}

static void draw_curve(struct app *app, const struct timeline_panel *panel, const struct curve *curve,
                       uint64_t (*value_of)(const struct timeline_column *)) {
    int bottom = curve->lane.y + curve->lane.h, before = -1;
    for (int i = 0, end; i < panel->area.w; i = end) {
        const struct timeline_column *column = &panel->column[i];
        uint64_t value = value_of(column);
        for (end = i + 1; end < panel->area.w; end++)
            if (panel->column[end].known != column->known || value_of(&panel->column[end]) != value) break;
        int x = panel->area.x + i, top = curve_top(curve, value);
        if (!column->known) {
            before = -1;
            continue;
        }
        if (curve->area) ui_draw_rect(app->draw, ui_rect(x, top, end - i, bottom - top), curve->area);
        if (value || before >= 0) ui_draw_hline(app->draw, x, ui_min(top, bottom - 1), end - i, curve->line);
        if (before >= 0 && before != top)
            ui_draw_vline(app->draw, x, ui_min(before, top), ui_max(before, top) - ui_min(before, top), curve->line);
        before = top;
    }
}

static uint64_t virtual_of(const struct timeline_column *column) { return column->virtual_bytes; }
static uint64_t resident_of(const struct timeline_column *column) { return column->resident_high; }

/* Index of the first frame after t. */
static size_t frames_until(const struct app *app, double t) {
    return t < 0 ? 0 : (size_t)(app_history_frame(app->history, (uint64_t)t) + 1);
}

/* Near: a bar covers the time from the frame before to its own. */
static void draw_written_frames(struct app *app, const struct timeline_panel *panel, size_t first, size_t last) {
    const struct app_history *history = app->history;
    int bottom = panel->memory.y + panel->memory.h, room = panel->memory.h / 2;
    uint64_t most = 0;
    for (size_t i = first; i < last; i++)
        if (history->frame[i].pages_written > most) most = history->frame[i].pages_written;
    for (size_t i = first; i < last; i++) {
        const struct timeline_frame *frame = &history->frame[i];
        uint64_t before = i ? history->frame[i - 1].t : history->span_count ? history->span[0].from : 0;
        int x0 = timeline_x(panel, (double)before), x1 = timeline_x(panel, (double)frame->t);
        int height = level(frame->pages_written, most, room);
        int width = ui_clamp(x1 - x0 - 1, 1, ui_max(panel->area.w, 1));
        if (height) ui_draw_rect(app->draw, ui_rect(x1 - width, bottom - height, width, height), UI_WRITTEN_2);
    }
}

/* Far: what the columns say. */
static void draw_written_columns(struct app *app, const struct timeline_panel *panel) {
    int bottom = panel->memory.y + panel->memory.h, room = panel->memory.h / 2;
    for (int i = 0, end; i < panel->area.w; i = end) {
        int height = level(panel->column[i].written, panel->written_most, room);
        for (end = i + 1; end < panel->area.w; end++)
            if (level(panel->column[end].written, panel->written_most, room) != height) break;
        if (height) ui_draw_rect(app->draw, ui_rect(panel->area.x + i, bottom - height, end - i, height), UI_WRITTEN_2);
    }
}

static void draw_written(struct app *app, const struct timeline_panel *panel) {
    if (!app->history) return;
    size_t first = frames_until(app, panel->from), last = frames_until(app, panel->to);
    if (last < app->history->frame_count) last++;
    if ((last - first) * 5 <= (size_t)panel->area.w * 2)
        draw_written_frames(app, panel, first, last);
    else
        draw_written_columns(app, panel);
}

void timeline_draw_curves(struct app *app, const struct timeline_panel *panel) {
    if (panel->virtual_size.h) {
        struct curve curve = {panel->virtual_size, panel->virtual_most, panel->virtual_size.h - 3, UI_FAINT, 0};
        lane_begin(app, panel, "virtual", panel->virtual_size);
        if (panel->column) draw_curve(app, panel, &curve, virtual_of);
        ui_draw_end_group(app->draw);
    }
    struct curve curve = {panel->memory, panel->resident_most, panel->memory.h - 3, UI_RESIDENT_LINE, UI_RESIDENT_AREA};
    lane_begin(app, panel, "memory", panel->memory);
    if (panel->column) draw_curve(app, panel, &curve, resident_of);
    draw_written(app, panel);
    ui_draw_end_group(app->draw);
}

/* --- event lanes --- */

static ui_color tick_color(uint8_t kinds) {
    for (int kind = 0; kind < VMV_KIND_COUNT; kind++)
        if (kinds >> kind & 1) return view_kind_color((enum vmv_kind)kind);
    return UI_DIM;
}

/* cap up = mmap, cap down = munmap, both = mremap, square = madvise, short = brk, plain = mprotect. */
static void draw_tick(struct app *app, enum vmv_tick tick, int x, struct lane lane, ui_color color) {
    struct ui_draw *draw = app->draw;
    int top = lane.y + 1, height = lane.h - 2, bottom = top + height;
    switch (tick) {
    case VMV_TICK_MMAP:
    case VMV_TICK_MUNMAP:
    case VMV_TICK_MREMAP:
        ui_draw_vline(draw, x, top, height, color);
        if (tick != VMV_TICK_MUNMAP) ui_draw_hline(draw, x - 1, top, 3, color);
        if (tick != VMV_TICK_MMAP) ui_draw_hline(draw, x - 1, bottom - 1, 3, color);
        break;
    case VMV_TICK_BRK:
        ui_draw_vline(draw, x, top + 2, height - 4, color);
        break;
    case VMV_TICK_MPROTECT:
        ui_draw_vline(draw, x, top + 1, height - 2, color);
        break;
    case VMV_TICK_MADVISE:
        ui_draw_vline(draw, x, top + 1, height - 2, color);
        ui_draw_rect(draw, ui_rect(x - 1, top + height / 2 - 2, 3, 4), color);
        break;
    case VMV_TICK_THREAD_START:
        ui_draw_triangle(draw, ui_rect(x - 3, top + 1, 7, height - 2), UI_UP, UI_INK);
        break;
    case VMV_TICK_THREAD_EXIT:
        ui_draw_triangle(draw, ui_rect(x - 3, top + 1, 7, height - 2), UI_DOWN, UI_INK);
        break;
    case VMV_TICK_PROCESS:
        ui_draw_vline(draw, x, top, height, UI_INK);
        break;
    case VMV_TICK_COUNT:
        break;
    }
}

static void draw_ticks(struct app *app, const struct timeline_panel *panel, const char *name, struct lane lane,
                       enum vmv_tick first, enum vmv_tick last) {
    lane_begin(app, panel, name, lane);
    for (int i = 0; panel->column && i < panel->area.w; i++)
        for (enum vmv_tick tick = first; tick <= last; tick++)
            if (panel->column[i].ticks[tick])
                draw_tick(app, tick, panel->area.x + i, lane, tick_color(panel->column[i].tick_kinds[tick]));
    ui_draw_end_group(app->draw);
}

/* Height by the logarithm of all faults; its parts by each kind's share. */
static void draw_fault_column(struct app *app, const struct timeline_panel *panel, int i) {
    const uint32_t *faults = panel->column[i].faults;
    uint64_t sum = 0;
    for (int kind = 0; kind < VMV_KIND_COUNT; kind++) sum += faults[kind];
    if (!sum) return;
    int height = (int)ceil(log1p((double)sum) / log1p((double)panel->faults_most) * (panel->faults.h - 1));
    int bottom = panel->faults.y + panel->faults.h;
    uint64_t below = 0;
    for (int kind = VMV_KIND_COUNT - 1; kind >= 0; kind--) {
        if (!faults[kind]) continue;
        int y0 = (int)((double)below / (double)sum * height), y1;
        below += faults[kind];
        y1 = (int)ceil((double)below / (double)sum * height);
        ui_draw_rect(app->draw, ui_rect(panel->area.x + i, bottom - y1, 1, y1 - y0),
                     view_kind_color((enum vmv_kind)kind));
    }
}

static void draw_frames(struct app *app, const struct timeline_panel *panel) {
    lane_begin(app, panel, "frames", panel->frames);
    for (int i = 0; app->history && i < panel->area.w; i++) {
        size_t before = frames_until(app, timeline_t(panel, panel->area.x + i) - 1);
        size_t after = frames_until(app, timeline_t(panel, panel->area.x + i + 1) - 1);
        if (after > before)
            ui_draw_vline(app->draw, panel->area.x + i, panel->frames.y + 1, panel->frames.h - 3, UI_RULE2);
    }
    ui_draw_end_group(app->draw);
}

void timeline_draw_events(struct app *app, const struct timeline_panel *panel) {
    draw_ticks(app, panel, "map", panel->map, VMV_TICK_MMAP, VMV_TICK_BRK);
    draw_ticks(app, panel, "protect", panel->protect, VMV_TICK_MPROTECT, VMV_TICK_MADVISE);
    draw_ticks(app, panel, "thread", panel->thread, VMV_TICK_THREAD_START, VMV_TICK_PROCESS);
    lane_begin(app, panel, "faults", panel->faults);
    for (int i = 0; panel->column && i < panel->area.w; i++) draw_fault_column(app, panel, i);
    ui_draw_end_group(app->draw);
    draw_frames(app, panel);
}

/* --- threads --- */

static int share_step(float share) { return share < 0 ? -1 : share > 1 ? 16 : (int)(share * 16 + 0.5f); }

static void draw_thread(struct app *app, const struct timeline_panel *panel, const struct app_lifetime *thread, int y) {
    size_t count = (size_t)panel->area.w;
    const float *share = app_curves_thread(app, thread->tid, panel->begin, panel->end, count);
    int height = panel->thread_height - 5;
    int from = ui_max(timeline_x(panel, (double)thread->from), panel->area.x);
    int to = ui_min(timeline_x(panel, (double)thread->to), ui_rect_right(panel->area));
    for (int i = from - panel->area.x, end; share && i < to - panel->area.x; i = end) {
        int step = share_step(share[i]);
        for (end = i + 1; end < to - panel->area.x && share_step(share[end]) == step;) end++;
        struct ui_rect rect = ui_rect(panel->area.x + i, y + 2, end - i, height);
        if (step > 0) ui_draw_rect(app->draw, rect, ui_mix(UI_GROUND, UI_INK, 12 + step * 4));
        if (step >= 0) ui_draw_hline(app->draw, rect.x, y + 1 + height, rect.w, UI_RULE2);
    }
}

void timeline_draw_threads(struct app *app, const struct timeline_panel *panel) {
    for (int i = 0; i < panel->threads_shown; i++) {
        size_t index = (size_t)(i + app->threads_first);
        int y = panel->threads.y + i * panel->thread_height;
        if (!app->history || index >= app->history->thread_count) break;
        char name[32];
        snprintf(name, sizeof name, "thread %d", app->history->thread[index].tid);
        lane_begin(app, panel, name, (struct lane){y, panel->thread_height - 1});
        draw_thread(app, panel, &app->history->thread[index], y);
        ui_draw_end_group(app->draw);
    }
}
