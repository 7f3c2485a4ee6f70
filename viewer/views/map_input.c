/* The pointer on the map, and moving its camera: what lies under the pointer stays there while the map is zoomed. */
#include "map.h"

#include <math.h>

/* --- the anchor ----------------------------------------------------------------------------------------------------
 */

const struct map_anchor *map_anchor_now(struct map_frame *frame) {
    const struct map_anchor *anchor = &frame->cache->anchor;
    const struct app_camera *camera = &frame->app->camera;
    return anchor->set && anchor->at == camera->at && anchor->at_y == camera->at_y.to ? anchor : NULL;
}

void map_anchor_set(struct app *app, uint64_t addr, int x, int y, double share, double window) {
    struct app_map_cache *cache = map_cache(app);
    app->camera.at = addr;
    app->camera.at_y = ui_anim_at(y);
    if (!cache) return;
    cache->anchor = (struct map_anchor){true, addr, y, x, y, share, window};
}

/* --- steps of the wheel --------------------------------------------------------------------------------------------
 * One step is two bits, that is twice the size, down to pages as large as can be; the next ones lead into the bytes. */

static const struct {
    double bits, steps; /* steps from the widest view */
} stages[] = {{APP_BITS_MAX, 0}, {APP_BITS_SPACE, 9.5}, {APP_BITS_BYTES, 16.5}, {12, 17.5}, {9, 18.5}};
enum { STAGES = sizeof stages / sizeof *stages };

static double steps_of(double bits) {
    for (int i = 1; i < STAGES; i++)
        if (bits >= stages[i].bits || i == STAGES - 1) {
            double share = (stages[i - 1].bits - bits) / (stages[i - 1].bits - stages[i].bits);
            return stages[i - 1].steps + fmin(share, 1) * (stages[i].steps - stages[i - 1].steps);
        }
    return 0;
}

static double bits_of(double steps) {
    for (int i = 1; i < STAGES; i++)
        if (steps <= stages[i].steps) {
            double share = (steps - stages[i - 1].steps) / (stages[i].steps - stages[i - 1].steps);
            return stages[i - 1].bits + fmax(share, 0) * (stages[i].bits - stages[i - 1].bits);
        }
    return stages[STAGES - 1].bits;
}

double map_zoom_bits(double bits, double steps) { return bits_of(steps_of(bits) + steps); }

/* --- zoom ----------------------------------------------------------------------------------------------------------
 */

struct fixed { /* what stays where it is */
    uint64_t addr;
    int x, y; /* of the main area */
    double share, window;
};

/* The point that zooming goes by: the pointer over the map, else what is selected, else the middle. */
static void zoom_point(struct app *app, const struct map_drawn *drawn, int *x, int *y) {
    struct ui_rect rect;
    *x = drawn->cells.x + drawn->cells.w / 2;
    *y = drawn->main.y + drawn->main.h / 2;
    if (app->ui.mouse_inside && ui_rect_contains(drawn->main, app->ui.mouse_x, app->ui.mouse_y)) {
        *x = app->ui.mouse_x;
        *y = app->ui.mouse_y;
    } else if (app->selection.kind != APP_PLACE_SPACE &&
               map_hit_rect(app, app->selection.addr, app->selection.len, &rect)) {
        *x = rect.x + rect.w / 2;
        *y = rect.y + rect.h / 2;
    }
}

static double window_share(const struct map_drawn *drawn, uint64_t addr) {
    if (drawn->look != APP_LOOK_SPACE) return -1;
    return fmin(fmax(map_window_y(&drawn->window, addr) / drawn->window.height, 0), 1);
}

/* In the lens the column of a byte is given: among the bytes of the page under the pointer one of that column is
 * taken. */
static uint64_t in_column(const struct map_drawn *drawn, uint64_t addr, int x, double bits) {
    if (drawn->look != APP_LOOK_PAGES || bits >= APP_BITS_BYTES) return addr;
    int hex = drawn->main.w >= MAP_BYTES_WIDE ? MAP_HEX_X : MAP_HEX_X_NARROW;
    for (int i = 0; i < 16; i++)
        if (x >= hex + map_lens_x(i) - 3 && x < hex + map_lens_x(i) + 17) return addr - addr % 16 + (unsigned)i;
    return addr;
}

static struct fixed fix(struct app *app, double bits) {
    struct app_map_cache *cache = app->map_cache;
    const struct map_drawn *drawn = &cache->drawn;
    int x, y;
    zoom_point(app, drawn, &x, &y);
    struct fixed fixed = {app->camera.at, x - drawn->main.x, y - drawn->main.y, 0, -1};
    const struct map_anchor *last = &cache->anchor;
    bool same = last->set && last->at == app->camera.at && last->at_y == app->camera.at_y.to && last->x == fixed.x &&
                last->y == fixed.y;
    struct map_hit hit = map_hit_at(app, x, y);
    if (same) {
        fixed.addr = last->at;
        fixed.share = last->share;
        fixed.window = drawn->look == APP_LOOK_SPACE ? window_share(drawn, fixed.addr) : last->window;
    } else if (hit.found) {
        fixed.addr = hit.addr;
        fixed.share = hit.share;
        fixed.window = hit.strip ? (double)(y - drawn->strip.y) / drawn->strip.h : window_share(drawn, hit.addr);
    } else {
        fixed.y = (int)app->camera.at_y.to;
        fixed.x = -1;
        fixed.window = window_share(drawn, fixed.addr);
    }
    fixed.addr = in_column(drawn, fixed.addr, fixed.x, bits);
    return fixed;
}

void view_map_zoom(struct app *app, double steps) {
    struct app_map_cache *cache = map_cache(app);
    double bits = map_zoom_bits(app->camera.bits.to, steps);
    if (!cache || !cache->drawn.valid) {
        app_camera_zoom(app, bits, app->camera.at, app->camera.at_y.to, UI_ZOOM_MS);
        return;
    }
    struct fixed fixed = fix(app, bits);
    app_camera_zoom(app, bits, fixed.addr, fixed.y, UI_ZOOM_MS);
    map_anchor_set(app, fixed.addr, fixed.x, fixed.y, fixed.share, fixed.window);
}

/* --- pan -----------------------------------------------------------------------------------------------------------
 */

/* The window of the scale strip moves where the list has nothing to scroll. */
static void pan_window(struct app *app, const struct map_drawn *drawn, double share) {
    double middle = drawn->window.from + drawn->window.length * (0.5 + share);
    double half = drawn->window.length / 2;
    middle = fmin(fmax(middle, half), (double)MAP_SPACE_END - half);
    map_anchor_set(app, (uint64_t)middle, -1, drawn->main.h / 2, 0.5, 0.5);
}

static void pan_pixels(struct app *app, int pixels) {
    struct app_map_cache *cache = map_cache(app);
    if (!cache || !cache->drawn.valid) return;
    struct map_drawn *drawn = &cache->drawn;
    app->redraw = true;
    const struct map_list *list = &cache->list;
    if (drawn->look == APP_LOOK_SPACE && (list->to_scale || map_list_content(list) <= list->height)) {
        pan_window(app, drawn, -(double)pixels / ui_max(drawn->strip.h, 1));
        return;
    }
    struct map_anchor anchor = cache->anchor;
    bool kept = anchor.set && anchor.at == app->camera.at && anchor.at_y == app->camera.at_y.to;
    double y = fmin(fmax(app->camera.at_y.to + pixels, -20000), 20000);
    map_anchor_set(app, app->camera.at, kept ? anchor.x : -1, (int)y, kept ? anchor.share : 0,
                   kept ? anchor.window : -1);
}

void view_map_pan(struct app *app, double share) {
    struct app_map_cache *cache = map_cache(app);
    if (!cache || !cache->drawn.valid) return;
    pan_pixels(app, -(int)lround(fmin(fmax(share, -10), 10) * cache->drawn.main.h));
}

/* --- the pointer ---------------------------------------------------------------------------------------------------
 */

static void click(struct app *app, const struct map_hit *hit) {
    struct app_place place = hit->place, before = app->selection;
    bool extend = app->ui.modifiers & UI_SHIFT && (before.kind == APP_PLACE_BYTES || before.kind == APP_PLACE_PAGE);
    if (extend && (place.kind == APP_PLACE_BYTES || place.kind == APP_PLACE_PAGE)) {
        uint64_t from = before.addr < place.addr ? before.addr : place.addr;
        uint64_t a = before.addr + before.len, b = place.addr + place.len;
        place = app_place_bytes(from, (a > b ? a : b) - from);
    }
    app_select(app, place);
}

static bool pointer_target(const struct app_map_cache *cache, uint64_t addr, uint64_t *target) {
    for (int i = 0; i < MAP_SHEETS; i++) {
        const struct map_sheet *sheet = &cache->sheet[i];
        if (!sheet->byte || !sheet->moment || addr < sheet->addr || addr - sheet->addr >= sheet->size) continue;
        uint64_t at = (addr - sheet->addr) & ~7ull;
        if ((sheet->kind[at] & 7) != MAP_BYTE_POINTER) continue;
        *target = 0;
        for (int k = 7; k >= 0; k--) *target = *target << 8 | sheet->byte[at + (uint64_t)k];
        return true;
    }
    return false;
}

/* Into what was clicked; from bytes, to where they point. */
static void go_in(struct app *app, const struct map_hit *hit) {
    uint64_t target;
    if (hit->place.kind != APP_PLACE_BYTES)
        app_goto(app, hit->place);
    else if (pointer_target(app->map_cache, hit->addr, &target))
        app_goto(app, app_place_bytes(target, 8));
}

void map_input(struct map_frame *frame) {
    struct app *app = frame->app;
    struct ui_context *ui = &app->ui;
    bool dragging = ui->active == ui_id_of("map") && ui->dragging;
    unsigned signals =
        ui_area(ui, ui_id_of("map"), frame->main, dragging ? UI_CURSOR_MOVE : UI_CURSOR_ARROW, UI_AREA_WHEEL);
    if (signals & UI_PRESSED) app->focus = APP_PANEL_MAP;
    struct map_hit hit = map_hit_at(app, ui->mouse_x, ui->mouse_y);
    if (signals & UI_CLICKED && hit.set) click(app, &hit);
    if (signals & UI_DOUBLE_CLICKED && hit.set) go_in(app, &hit);
    if (signals & UI_DRAGGED && ui->move_y) pan_pixels(app, ui->move_y);
    if (signals & UI_WHEELED && ui->wheel_y != 0) view_map_zoom(app, fmin(fmax(ui->wheel_y, -20), 20));
}
