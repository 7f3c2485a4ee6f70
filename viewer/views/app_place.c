/* Places: selecting, going there and back, the camera of the map, and what is under the pointer. */
#include "app_history.h"
#include "app_internal.h"
#include "app_regions.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* --- places --- */

bool app_place_equal(struct app_place a, struct app_place b) {
    if (a.kind != b.kind) return false;
    if (a.kind == APP_PLACE_SPACE) return true;
    if (a.kind == APP_PLACE_GROUP) return a.group == b.group;
    return a.addr == b.addr && (a.kind == APP_PLACE_MAPPING || a.len == b.len);
}

struct app_place app_place_space(void) {
    return (struct app_place){.kind = APP_PLACE_SPACE, .len = 1ull << 47};
}

struct app_place app_place_mapping(const struct app_mapping *mapping) {
    return (struct app_place){
        .kind = APP_PLACE_MAPPING, .addr = mapping->map->start, .len = mapping->map->end - mapping->map->start};
}

struct app_place app_place_bytes(uint64_t addr, uint64_t len) {
    if (!len) len = 1;
    if (len > UINT64_MAX - addr) len = UINT64_MAX - addr;
    return (struct app_place){.kind = APP_PLACE_BYTES, .addr = addr, .len = len};
}

struct app_place app_place_page(const struct app *app, uint64_t addr) {
    uint64_t size = app->world->page_size;
    if (app->space) {
        const struct vmv_page *page = vmv_space_page_peek(app->space, addr);
        if (page && page->flags & VMV_PAGEF_HUGE) size = app_huge_bytes(app->space->page_size);
    }
    return (struct app_place){.kind = APP_PLACE_PAGE, .addr = addr - addr % size, .len = size};
}

static bool group_range(const struct app *app, uint64_t id, uint64_t *start, uint64_t *end) {
    struct app *unfrozen = (struct app *)app; /* regions are a cache */
    const struct app_regions *regions = app_regions(unfrozen);
    const struct app_group *group = app_group_find(unfrozen, id);
    if (!group || !group->count) return false;
    *start = UINT64_MAX;
    *end = 0;
    for (int i = 0; i < group->count; i++) {
        const struct vmv_mapping *map = regions->map[regions->order[group->first + i]].map;
        if (map->start < *start) *start = map->start;
        if (map->end > *end) *end = map->end;
    }
    return true;
}

bool app_place_range(const struct app *app, struct app_place place, uint64_t *start, uint64_t *end) {
    *start = place.addr;
    *end = place.addr + place.len;
    if (place.kind == APP_PLACE_SPACE) return app->space != NULL;
    if (place.kind == APP_PLACE_GROUP) return group_range(app, place.group, start, end);
    const struct vmv_mapping *map = app->space ? vmv_space_find(app->space, place.addr) : NULL;
    if (place.kind == APP_PLACE_GAP) return app->space && !map;
    if (map && place.kind == APP_PLACE_MAPPING) {
        *start = map->start;
        *end = map->end;
    }
    return map != NULL;
}

/* --- selecting, going, coming back --- */

void app_select(struct app *app, struct app_place place) {
    app->selection = place;
    app->inspector_scroll.offset = 0;
    app->redraw = true;
}

void app_remember(struct app *app) {
    struct app_visit visit = {app->selection, app->camera, app->tab};
    if (app->visits) {
        const struct app_visit *last = &app->visit[app->visits - 1];
        if (app_place_equal(last->selection, visit.selection) && last->camera.bits.to == visit.camera.bits.to &&
            last->camera.at == visit.camera.at)
            return;
    }
    if (app->visits == APP_VISITS) {
        memmove(&app->visit[0], &app->visit[1], (APP_VISITS - 1) * sizeof app->visit[0]);
        app->visits--;
    }
    app->visit[app->visits++] = visit;
}

bool app_back(struct app *app) {
    if (!app->visits) return false;
    struct app_visit visit = app->visit[--app->visits];
    double bits = visit.camera.bits.to, at_y = visit.camera.at_y.to;
    bool near = visit.camera.at == app->camera.at;
    app->selection = visit.selection;
    app->tab = visit.tab;
    app->camera.scroll = visit.camera.scroll;
    app->camera.at = visit.camera.at;
    ui_anim_go(&app->camera.bits, bits, app->now_ms, app_ms(app, UI_FIT_MS));
    if (near)
        ui_anim_go(&app->camera.at_y, at_y, app->now_ms, app_ms(app, UI_FIT_MS));
    else
        app->camera.at_y = ui_anim_at(at_y);
    app->redraw = true;
    return true;
}

/* What the camera shows for a place: a page around bytes; of mappings and groups their pages, at most what the look
 * of pages holds. */
static void show_place(struct app *app, struct app_place place) {
    uint64_t start, end, page = app->world->page_size;
    app_place_range(app, place, &start, &end);
    if (place.kind == APP_PLACE_SPACE) {
        start = 0;
        end = 1ull << 47;
    } else if (place.kind == APP_PLACE_BYTES) {
        start -= start % page;
        end = end > start && end - start > page ? end : start + page;
    } else if (place.kind == APP_PLACE_MAPPING || place.kind == APP_PLACE_GROUP) {
        const struct app_group *group = place.kind == APP_PLACE_GROUP ? app_group_find(app, place.group) : NULL;
        uint64_t length = group ? group->bytes : end - start;
        if (length < 1u << 18) length = 1u << 18;
        if (length > 1u << 27) length = 1u << 27;
        end = start + length;
    }
    app_camera_show(app, start, end, UI_FIT_MS);
}

void app_goto(struct app *app, struct app_place place) {
    app_remember(app);
    app_select(app, place);
    show_place(app, place);
}

void app_fit(struct app *app) { show_place(app, app->selection); }

bool app_goto_text(struct app *app, const char *text, char *error) {
    while (*text == ' ') text++;
    if (*text == '@') return app_seek_text(app, text + 1, error);
    uint64_t addr = 0, len = 0;
    if (!app->space_id || !decode_place(app->decode, app->space_id, text, &addr, &len)) {
        snprintf(error, UI_ERROR_SIZE, "no such place at this moment: %.120s", text);
        return false;
    }
    const struct app_mapping *mapping = app_mapping_at(app, addr);
    bool whole = mapping && len && mapping->map->start == addr && len >= app->world->page_size;
    if (whole)
        app_goto(app, app_place_mapping(mapping));
    else
        app_goto(app, app_place_bytes(addr, len ? len : 8));
    return true;
}

bool app_set_pid(struct app *app, int32_t pid) {
    struct app_history *history = app_history_create(app->tl, pid);
    bool known = history && (history->span_count || history->frame_count || vmv_world_process(app->world, pid));
    if (!known) {
        app_history_destroy(history);
        return false;
    }
    app_history_destroy(app->history);
    app->history = history;
    app->pid = pid;
    app->tid = 0;
    app->threads_first = 0;
    app->selection = app_place_space();
    app->visits = 0;
    app->regions_scroll.offset = 0;
    app_moment_changed(app);
    app_camera_show(app, 0, 1ull << 47, 0);
    return true;
}

bool app_visit_pid(struct app *app, int32_t pid) {
    if (!app_set_pid(app, pid)) return false;
    if (app_alive(app)) return true;
    bool before = app->t < app_first_moment(app);
    app->playing = false;
    app_seek_last_frame(app);
    app_view_follow(app);
    app_say(app, false, "process %d %s then: this is its last frame", pid, before ? "had not begun" : "had ended");
    return true;
}

/* --- camera --- */

double app_ms(const struct app *app, double ms) { return app->motion ? ms : 0; }

double app_camera_bits(const struct app *app) { return ui_anim_value(&app->camera.bits, app->now_ms); }

enum app_look app_look(const struct app *app) {
    double bits = app_camera_bits(app);
    return bits >= APP_BITS_SPACE ? APP_LOOK_SPACE : bits < APP_BITS_BYTES ? APP_LOOK_BYTES : APP_LOOK_PAGES;
}

static double held_bits(double bits) { return fmin(fmax(bits, APP_BITS_MIN), APP_BITS_MAX); }

void app_camera_zoom(struct app *app, double bits, uint64_t at, double at_y, double ms) {
    app->camera.at = at;
    app->camera.at_y = ui_anim_at(at_y);
    ui_anim_go(&app->camera.bits, held_bits(bits), app->now_ms, app_ms(app, ms));
    app->redraw = true;
}

void app_camera_show(struct app *app, uint64_t start, uint64_t end, double ms) {
    double length = end > start ? (double)(end - start) : 1;
    app->camera.at = start;
    app->camera.at_y = ui_anim_at(length < 0x1p47 ? 24 : 0);
    ui_anim_go(&app->camera.bits, held_bits(log2(length)), app->now_ms, app_ms(app, ms));
    app->camera.scroll = 0;
    app->redraw = true;
}

/* --- hover --- */

void app_hover_place(struct app *app, struct app_place place) {
    app->hover_next = place;
    app->hover_next_set = true;
}

void app_hover_time(struct app *app, uint64_t t) {
    app->hover_t_next = t;
    app->hover_t_next_set = true;
}

static bool covers(const struct app *app, struct app_place place, uint64_t start, uint64_t end) {
    uint64_t low, high;
    if (place.kind == APP_PLACE_SPACE || place.kind == APP_PLACE_GROUP) return false;
    if (!app_place_range(app, place, &low, &high) && place.kind != APP_PLACE_GAP) return false;
    return low < end && start < high;
}

bool app_hovers(const struct app *app, uint64_t start, uint64_t end) {
    return app->hover_set && covers(app, app->hover, start, end);
}

bool app_selects(const struct app *app, uint64_t start, uint64_t end) {
    return covers(app, app->selection, start, end);
}
