/* Commands that move in space and select. */
#include "app_regions.h"
#include "map_order.h"
#include "replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct app *app_of(void *replay) { return &((struct replay *)replay)->app; }

static bool fail(char *error, const char *why) {
    snprintf(error, UI_ERROR_SIZE, "%s", why);
    return false;
}

/* --- camera --- */

bool command_zoom_in(void *replay, const struct ui_args *args, char *error) {
    (void)error;
    view_map_zoom(app_of(replay), args->count ? args->arg[0].number : 1);
    return true;
}

/* "4096", "0x1000", "256K", "2M", "128T" */
static bool parse_bytes(const char *text, double *bytes) {
    char *end;
    unsigned long long whole = strtoull(text, &end, 0);
    if (end == text) return false;
    const char *units = "KMGT", *unit = *end ? strchr(units, *end & ~0x20) : NULL;
    *bytes = (double)whole * (unit ? pow(1024, (double)(unit - units + 1)) : 1);
    if (unit) end++;
    if (unit && !strcmp(end, "iB")) end += 2;
    return *end == '\0' && *bytes >= 1;
}

/* Around what is selected, if it is mapped, else around what is shown. */
bool command_zoom(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    uint64_t start, end, at = app->camera.at;
    double bytes;
    if (!parse_bytes(args->arg[0].text, &bytes))
        return fail(error, "zoom: a number of bytes is needed: 4096, 2M, 128T");
    if (app->selection.kind != APP_PLACE_SPACE && app_place_range(app, app->selection, &start, &end)) at = start;
    if (log2(bytes) >= APP_BITS_MAX)
        app_camera_show(app, 0, 1ull << 47, UI_FIT_MS);
    else
        app_camera_zoom(app, log2(bytes), at, 40, UI_FIT_MS);
    return true;
}

bool command_pan(void *replay, const struct ui_args *args, char *error) {
    (void)error;
    view_map_pan(app_of(replay), args->arg[0].number);
    return true;
}

bool command_fit(void *replay, const struct ui_args *args, char *error) {
    (void)args;
    (void)error;
    app_remember(app_of(replay));
    app_fit(app_of(replay));
    return true;
}

bool command_gaps(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    const char *word = args->count ? args->arg[0].text : app->gaps_collapsed ? "off" : "on";
    if (strcmp(word, "on") != 0 && strcmp(word, "off") != 0) return fail(error, "gaps: on or off is needed");
    app->gaps_collapsed = !strcmp(word, "on");
    return true;
}

bool command_order(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    const char *word = args->count ? args->arg[0].text : view_map_hilbert(app) ? "linear" : "hilbert";
    if (strcmp(word, "linear") != 0 && strcmp(word, "hilbert") != 0)
        return fail(error, "order: linear or hilbert is needed");
    view_map_set_hilbert(app, !strcmp(word, "hilbert"));
    return true;
}

/* --- going --- */

bool command_goto(void *replay, const struct ui_args *args, char *error) {
    struct replay *self = replay;
    if (app_goto_text(app_of(replay), args->arg[0].text, error)) return true;
    self->missing = true;
    return false;
}

bool command_ask_place(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    (void)args;
    (void)error;
    app->overlay = APP_OVERLAY_GOTO;
    app->goto_error[0] = '\0';
    app->palette_chosen = -1;
    ui_text_input_set(&app->goto_input, "");
    return true;
}

/* Bytes that hold an address lead to where it points. */
static bool follow_pointer(struct app *app) {
    uint8_t bytes[8];
    struct timeline_run run[8];
    size_t runs = timeline_read(app->tl, app->space_id, app->selection.addr, bytes, 8, run, 8);
    uint64_t value = 0;
    if (!runs || !run[0].known || run[0].length < 8) return false;
    for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
    if (!app_mapping_at(app, value)) return false;
    app_goto(app, app_place_bytes(value, 8));
    return true;
}

bool command_into(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    uint64_t start, end;
    (void)args;
    if (app->selection.kind == APP_PLACE_SPACE) return fail(error, "nothing is selected");
    if (!app_place_range(app, app->selection, &start, &end)) return fail(error, "it is not mapped at this moment");
    if (app->selection.kind == APP_PLACE_BYTES && app->selection.len == 8 && app_look(app) == APP_LOOK_BYTES &&
        follow_pointer(app))
        return true;
    bool shown = app_look(app) != APP_LOOK_SPACE;
    if (app->selection.kind == APP_PLACE_MAPPING && shown)
        app_goto(app, app_place_page(app, start));
    else
        app_goto(app, app->selection);
    return true;
}

bool command_back(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    (void)args;
    if (app->overlay) {
        app->overlay = APP_OVERLAY_NONE;
    } else if (app->regions_over || app->inspector_over) {
        app->regions_over = app->inspector_over = false;
    } else if (app->span_set) {
        app->span_set = false;
    } else if (!app_back(app)) {
        if (app->selection.kind == APP_PLACE_SPACE) return fail(error, "this is where you began");
        app_select(app, app_place_space());
    }
    return true;
}

/* --- selecting --- */

static bool parse_length(const char *text, uint64_t *length) {
    char *end;
    *length = strtoull(text, &end, 0);
    return end != text && !*end && *length > 0;
}

/* "PLACE" or "PLACE,LEN"; "space": nothing. A whole page becomes a page, a whole mapping a mapping. */
bool command_select(void *replay, const struct ui_args *args, char *error) {
    struct replay *self = replay;
    struct app *app = app_of(replay);
    uint64_t addr, length = 0, given = 0, page = app->world->page_size;
    char place[UI_ARGS_BYTES];
    snprintf(place, sizeof place, "%s", args->arg[0].text);
    if (!strcmp(place, "space")) {
        app_select(app, app_place_space());
        return true;
    }
    char *comma = strrchr(place, ',');
    if (comma && parse_length(comma + 1, &given)) *comma = '\0';
    if (!app->space_id || !decode_place(app->decode, app->space_id, place, &addr, &length)) {
        self->missing = true;
        snprintf(error, UI_ERROR_SIZE, "no such place at this moment: %.120s", place);
        return false;
    }
    const struct app_mapping *mapping = app_mapping_at(app, addr);
    if (!given && length && mapping && mapping->map->start == addr)
        app_select(app, app_place_mapping(mapping));
    else if (given == page && addr % page == 0)
        app_select(app, app_place_page(app, addr));
    else
        app_select(app, app_place_bytes(addr, given ? given : length ? length : 8));
    return true;
}

static bool step_place(struct app *app, int64_t step) {
    struct app_place place = app->selection;
    uint64_t distance = place.len * (uint64_t)llabs(step), start, end;
    if (step < 0 && distance > place.addr) return false;
    place.addr = step < 0 ? place.addr - distance : place.addr + distance;
    if (place.kind == APP_PLACE_PAGE) place = app_place_page(app, place.addr);
    if (!app_place_range(app, place, &start, &end)) return false;
    app_select(app, place);
    return true;
}

bool command_next(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    bool bytes = app->selection.kind == APP_PLACE_PAGE || app->selection.kind == APP_PLACE_BYTES;
    int64_t step = args->arg[0].integer;
    if (bytes && app->focus != APP_PANEL_REGIONS) return step_place(app, step) || fail(error, "the mapping ends here");
    return view_regions_step(app, step < 0 ? -1 : 1) || fail(error, "the list ends here");
}

/* --- process --- */

bool command_pid(void *replay, const struct ui_args *args, char *error) {
    struct replay *self = replay;
    if (args->arg[0].integer > 0 && args->arg[0].integer <= INT32_MAX &&
        app_visit_pid(app_of(replay), (int32_t)args->arg[0].integer))
        return true;
    self->missing = true;
    snprintf(error, UI_ERROR_SIZE, "no process %lld in this recording", (long long)args->arg[0].integer);
    return false;
}

bool command_processes(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    (void)args;
    (void)error;
    app->overlay = app->overlay == APP_OVERLAY_PIDS ? APP_OVERLAY_NONE : APP_OVERLAY_PIDS;
    return true;
}
