/* Where the panels lie, and what a narrow window leaves out. */
#include "views.h"

enum {
    TOP = 28,
    STATUS = 20,
    REGIONS = 288,
    REGIONS_NARROW = 216,
    INSPECTOR = 344,
    INSPECTOR_NARROW = 260,
    TIMELINE = 224,
    TIMELINE_LOW = 180,
    GUTTER_ALONE = 204, /* no regions panel above it */
    MAP_LEAST = 240
};

static void leave_out(struct view_layout *layout, int w, int h) {
    layout->key_caps = w >= 1360;
    layout->region_numbers = w >= 1280;
    layout->fold_groups = w < 1200 || h < 700;
    layout->narrow_inspector = w < 1200;
    layout->virtual_lane = h >= 720 && w >= 1120;
    layout->map_columns = w >= 1120;
    layout->tids = w >= 1120;
}

static int chosen(int dragged, int usual, int least, int most) {
    return dragged ? ui_clamp(dragged, least, ui_max(least, most)) : usual;
}

static void place_sides(const struct app *app, struct view_layout *layout, struct ui_rect *middle) {
    int w = app->width;
    bool regions_beside = w >= 720, inspector_beside = w >= 900;
    int regions = chosen(app->regions_width, layout->region_numbers ? REGIONS : REGIONS_NARROW, 140, w / 3);
    int inspector = chosen(app->inspector_width, layout->narrow_inspector ? INSPECTOR_NARROW : INSPECTOR, 220, w / 2);
    layout->region_numbers = regions >= 270;
    layout->gutter = regions_beside ? regions : GUTTER_ALONE;
    layout->regions_over = !regions_beside && app->regions_over;
    layout->inspector_over = !inspector_beside && app->inspector_over;
    if (regions_beside)
        layout->regions = ui_rect_cut_left(middle, regions);
    else if (app->regions_over)
        layout->regions = ui_rect(0, middle->y, ui_min(regions, w - 40), middle->h);
    if (inspector_beside)
        layout->inspector = ui_rect_cut_right(middle, ui_min(inspector, middle->w - MAP_LEAST));
    else if (app->inspector_over)
        layout->inspector = ui_rect(w - ui_min(inspector, w - 40), middle->y, ui_min(inspector, w - 40), middle->h);
}

struct view_layout view_layout(const struct app *app) {
    struct view_layout layout = {0};
    struct ui_rect rest = ui_rect(0, 0, app->width, app->height);
    leave_out(&layout, app->width, app->height);
    layout.top = ui_rect_cut_top(&rest, TOP);
    layout.status = ui_rect_cut_bottom(&rest, STATUS);
    int usual = app->height >= 720 ? TIMELINE : TIMELINE_LOW;
    layout.timeline = ui_rect_cut_bottom(&rest, chosen(app->timeline_height, usual, 100, rest.h - 120));
    place_sides(app, &layout, &rest);
    layout.map = rest;
    return layout;
}
