/* The top bar: program, trace, process, the place as a path; at the right what the recording is worth. */
#include "app_names.h"
#include "ui_format.h"
#include "views.h"

#include <stdio.h>
#include <string.h>

#define TEXT_Y 6 /* of M text in the bar */

static void separator(struct app *app, int *x) {
    ui_draw_vline(app->draw, *x + 11, 8, 12, UI_RULE);
    *x += 23;
}

/* --- right: the recording --- */

static size_t count_gaps(struct app *app) {
    size_t count = 0, gaps = 0;
    const struct vmv_event *landmark = timeline_landmarks(app->tl, &count);
    for (size_t i = 0; i < count; i++) gaps += landmark[i].type == VMV_EV_GAP;
    return gaps;
}

/* Drawn from the right edge towards the left. */
static int worth(struct app *app, int right, const char *label, const char *value) {
    int x = ui_draw_text_right(app->draw, right, 8, UI_S, UI_DIM, value);
    if (*label) x = ui_draw_text_right(app->draw, x - 6, 8, UI_S, UI_FAINT, label);
    ui_draw_value(app->draw, *label ? label : "recording", "%s", value);
    return x - 16;
}

static int gaps(struct app *app, int right) {
    size_t count = count_gaps(app);
    char text[32];
    snprintf(text, sizeof text, count == 1 ? "1 gap" : "%zu gaps", count);
    if (!count) return worth(app, right, "", "no gaps");
    struct ui_rect sign = ui_rect(right - 11, 9, 11, 10);
    ui_draw_pattern(app->draw, sign, UI_PATTERN_GAP, UI_DIM);
    ui_draw_frame(app->draw, sign, UI_RULE2);
    return worth(app, sign.x - 4, "", text);
}

static int recording(struct app *app, const struct view_layout *layout) {
    struct vmv_reader *reader = timeline_reader(app->tl);
    const struct vmv_meta *meta = vmv_reader_meta(reader);
    const struct vmv_end *end = vmv_reader_end(reader);
    char text[UI_FORMAT_SIZE];
    ui_draw_begin_group(app->draw, "bar", "recording");
    int right = gaps(app, app->width - 12);
    if (!end || !end->complete) {
        right = ui_draw_text_right(app->draw, right, 8, UI_S, UI_ATTENTION, "cut off") - 16;
    } else {
        snprintf(text, sizeof text, "%.*f %%", end->percent < 10 ? 1 : 0, end->percent);
        right = worth(app, right, "cost", text);
    }
    if (layout->tids) {
        ui_format_span(text, sizeof text, (int64_t)meta->interval_ns);
        right = worth(app, right, "frames", text);
        right = worth(app, right, "maps", meta->source_maps ? meta->source_maps : "unknown");
        right = worth(app, right, "faults", meta->source_faults ? meta->source_faults : "unknown");
    }
    ui_draw_end_group(app->draw);
    return right;
}

/* --- left: program and process --- */

static size_t count_processes(struct app *app) {
    size_t count = 0, processes = 0;
    const struct vmv_event *landmark = timeline_landmarks(app->tl, &count);
    for (size_t i = 0; i < count; i++) processes += landmark[i].type == VMV_EV_FORK;
    return processes + 1;
}

static void program(struct app *app, int *x) {
    const struct vmv_meta *meta = vmv_reader_meta(timeline_reader(app->tl));
    const struct vmv_process *process = vmv_world_process(app->world, app->pid);
    bool first = app->pid == meta->pid;
    const char *path = process && process->path && *process->path && !first ? process->path : NULL;
    char name[64];
    if (!path) path = meta->program_count ? meta->program[0] : "program";
    app_base_name(name, sizeof name, path);
    const char *slash = strrchr(name, '/');
    *x = ui_draw_text_fit(app->draw, *x, TEXT_Y, 200, UI_M | UI_BOLD, UI_INK, slash ? slash + 1 : name) + 7;
    char arguments[256] = "";
    for (size_t i = 1; first && i < meta->program_count && strlen(arguments) < 200; i++) {
        size_t length = strlen(arguments);
        snprintf(arguments + length, sizeof arguments - length, "%s%s", length ? " " : "", meta->program[i]);
    }
    app_plain(arguments, sizeof arguments, arguments);
    if (*arguments) *x = ui_draw_text_fit(app->draw, *x, TEXT_Y, ui_max(app->width / 8, 60), UI_M, UI_DIM, arguments);
}

static void process(struct app *app, int *x) {
    char text[24];
    int begin = *x;
    bool several = count_processes(app) > 1;
    snprintf(text, sizeof text, "%d", app->pid);
    *x = ui_draw_text(app->draw, *x, TEXT_Y, UI_M, UI_FAINT, "pid") + 7;
    *x = ui_draw_text(app->draw, *x, TEXT_Y, UI_M, UI_INK, text);
    if (!several) return;
    ui_draw_triangle(app->draw, ui_rect(*x + 6, 12, 7, 4), UI_DOWN, UI_FAINT);
    *x += 14;
    struct ui_rect area = ui_rect(begin - 4, 2, *x - begin + 8, 24);
    if (ui_area(&app->ui, ui_id_of("pids"), area, UI_CURSOR_ARROW, 0) & UI_PRESSED) {
        app->overlay = app->overlay == APP_OVERLAY_PIDS ? APP_OVERLAY_NONE : APP_OVERLAY_PIDS;
        app->redraw = true;
    }
}

/* --- the path --- */

struct step { /* of the path */
    char name[APP_NAME_SIZE];
    char size[UI_FORMAT_SIZE]; /* faint, after the name; may be empty */
    uint64_t address;          /* shown instead of size, or UI_NO_ADDRESS */
    struct app_place place;
};
#define STEPS 6

static struct step *add(struct step *steps, int *count, struct app_place place, uint64_t bytes) {
    struct step *step = &steps[(*count)++];
    *step = (struct step){.address = UI_NO_ADDRESS, .place = place};
    if (bytes) ui_format_size(step->size, sizeof step->size, bytes);
    return step;
}

static void add_named(struct app *app, struct step *steps, int *count, struct app_place place, uint64_t bytes) {
    struct step *step = add(steps, count, place, bytes);
    view_place_name(app, place, step->name, sizeof step->name);
}

static void add_bytes(struct app *app, struct step *steps, int *count) {
    struct app_place place = app->selection;
    uint64_t offset = place.addr % app->world->page_size;
    struct step *line = add(steps, count, app_place_bytes(place.addr - place.addr % 64, 64), 0);
    snprintf(line->name, sizeof line->name, "line %llu", (unsigned long long)(offset / 64));
    ui_format_offset(line->size, sizeof line->size, offset - offset % 64);
    add_named(app, steps, count, place, 0);
    steps[*count - 1].address = place.addr;
}

static int make_path(struct app *app, struct step *steps) {
    struct app_place place = app->selection;
    int count = 0;
    struct step *space = add(steps, &count, app_place_space(), 1ull << 47);
    bool far = app_look(app) == APP_LOOK_SPACE || place.kind == APP_PLACE_SPACE;
    snprintf(space->name, sizeof space->name, far ? "whole space" : "space");
    if (app_look(app) == APP_LOOK_SPACE) return count;
    if (app_look(app) == APP_LOOK_PAGES && app->space) {
        struct step *mapped = add(steps, &count, app_place_space(), app->space->virtual_bytes);
        snprintf(mapped->name, sizeof mapped->name, "mapped");
    }
    if (place.kind == APP_PLACE_SPACE) return count;
    const struct app_mapping *mapping = app_mapping_at(app, place.addr);
    const struct app_group *group = place.kind == APP_PLACE_GROUP ? app_group_find(app, place.group) : NULL;
    if (group) {
        add_named(app, steps, &count, place, group->bytes);
    } else if (mapping) {
        uint64_t bytes = mapping->map->end - mapping->map->start;
        add_named(app, steps, &count, app_place_mapping(mapping), bytes);
    }
    if (place.kind == APP_PLACE_GAP || (place.kind == APP_PLACE_MAPPING && !mapping)) {
        add_named(app, steps, &count, place, place.len);
        return count;
    }
    if (place.kind != APP_PLACE_PAGE && place.kind != APP_PLACE_BYTES) return count;
    struct app_place page = app_place_page(app, place.addr);
    add_named(app, steps, &count, page, 0);
    if (place.kind == APP_PLACE_PAGE)
        steps[count - 1].address = place.addr;
    else
        add_bytes(app, steps, &count);
    return count;
}

static int step_width(const struct step *step) {
    int width = ui_text_width(UI_M, step->name);
    if (step->address != UI_NO_ADDRESS) return width + 7 + ui_address_width(UI_M);
    return *step->size ? width + 7 + ui_text_width(UI_M, step->size) : width;
}

static int draw_step(struct app *app, int x, const struct step *step, bool last, int index) {
    int begin = x;
    struct ui_rect area = ui_rect(x - 3, 2, step_width(step) + 6, 24);
    ui_id id = ui_id_child(ui_id_of("path"), (uint64_t)index);
    unsigned signals = ui_area(&app->ui, id, area, UI_CURSOR_ARROW, 0);
    ui_color color = last || signals & UI_HOVER ? UI_WHITE : UI_DIM;
    x = ui_draw_text(app->draw, x, TEXT_Y, UI_M, color, step->name);
    if (step->address != UI_NO_ADDRESS)
        x = ui_draw_address(app->draw, x + 7, TEXT_Y, UI_M, UI_FAINT, step->address, UI_NO_ADDRESS);
    else if (*step->size)
        x = ui_draw_text(app->draw, x + 7, TEXT_Y, UI_M, UI_FAINT, step->size);
    if (signals & UI_CLICKED) app_goto(app, step->place);
    return ui_max(x, begin);
}

/* Steps at the beginning are left out where the path would not fit; then its end is cut. */
static void path(struct app *app, int x, int right) {
    struct step steps[STEPS];
    int count = make_path(app, steps), first = 0, width = 0;
    for (int i = 0; i < count; i++) width += step_width(&steps[i]) + 14;
    while (first < count - 1 && width > right - x) width -= step_width(&steps[first++]) + 14;
    ui_draw_begin_group(app->draw, "bar", "path");
    ui_draw_push_clip(app->draw, ui_rect(x - 3, 0, ui_max(right - x, 0), 28));
    for (int i = first; i < count; i++) {
        x = draw_step(app, x, &steps[i], i == count - 1, i) + 14;
        if (i < count - 1) ui_draw_triangle(app->draw, ui_rect(x - 9, 10, 4, 7), UI_RIGHT, UI_FAINT);
    }
    ui_draw_pop_clip(app->draw);
    ui_draw_end_group(app->draw);
}

void view_top_draw(struct app *app, const struct view_layout *layout) {
    int x = 12;
    ui_draw_begin_group(app->draw, "panel", "top");
    ui_draw_rect(app->draw, layout->top, UI_PANEL);
    ui_draw_hline(app->draw, 0, 27, app->width, UI_HAIR);
    program(app, &x);
    separator(app, &x);
    process(app, &x);
    separator(app, &x);
    int right = recording(app, layout);
    path(app, x, right);
    ui_draw_end_group(app->draw);
}
