/* The look of the space: the scale strip at the left, fanned out into the list of mappings. */
#include "map_space.h"

#include <math.h>

enum {
    STRIP_X = 108, /* from the panel's left edge to the inside of the strip */
    STRIP_W = 64,
    STRIP_X_NARROW = 63,
    STRIP_W_NARROW = 51,
    TOP = 27,   /* from the main area to the strip's inside */
    BOTTOM = 9, /* below it */
    LIST_TOP = 20,
    MORE = 14,   /* below the list: how many mappings it has no room for */
    LADDER = 24, /* further right when the ladder stands before it */
    BAR_STEP = 15,
    BAR_STEP_NARROW = 10,
    NAME_MORE = 66, /* pixels that long names may add to their column */
    SIZE_ROOM = 76  /* behind the longest bar: its size */
};

static bool zoomed(const struct map_frame *frame) { return frame->bits < APP_BITS_MAX - 0.001; }

static void place_columns(struct map_space *space) {
    const struct map_frame *frame = space->frame;
    int left = frame->main.x + (zoomed(frame) ? LADDER : 0);
    space->columns = frame->layout->map_columns;
    space->right = ui_rect_right(frame->main) - 12;
    space->tie_x = left + (space->columns ? 219 : 139);
    space->address_x = left + 228;
    space->perm_x = left + 312;
    space->name_x = left + (space->columns ? 342 : 148);
    space->bar_x = left + (space->columns ? 444 : 252);
}

static void place(struct map_space *space) {
    struct map_frame *frame = space->frame;
    struct ui_rect main = frame->main;
    bool wide = frame->layout->map_columns;
    int left = main.x + (zoomed(frame) ? LADDER : 0);
    space->strip = ui_rect(left + (wide ? STRIP_X : STRIP_X_NARROW), main.y + TOP, wide ? STRIP_W : STRIP_W_NARROW,
                           ui_max(main.h - TOP - BOTTOM, 8));
    place_columns(space);
    space->area = ui_rect(space->address_x, main.y + LIST_TOP, ui_rect_right(main) - space->address_x,
                          ui_max(main.h - LIST_TOP - 1, 8));
    if (!space->columns) space->area.x = space->name_x;
    space->area.w = ui_rect_right(main) - space->area.x;
}

/* Where the strip's window begins: with the address of the camera where the pointer left it. */
static void place_window(struct map_space *space, const struct map_anchor *anchor) {
    struct map_frame *frame = space->frame;
    double at_y = ui_anim_value(&frame->app->camera.at_y, frame->app->now_ms);
    double share = anchor && anchor->window >= 0 ? anchor->window : (at_y - TOP) / space->strip.h;
    space->window = map_window_make(frame->bits, frame->app->camera.at, fmin(fmax(share, 0), 1), space->strip.h);
}

static uint64_t longest(const struct map_list *list) {
    uint64_t most = 0;
    for (size_t i = 0; i < list->count; i++)
        if (list->entry[i].kind != MAP_ENTRY_GAP && list->entry[i].end - list->entry[i].start > most)
            most = list->entry[i].end - list->entry[i].start;
    return most;
}

/* The names' column is as wide as its names, within limits. */
static void place_bars(struct map_space *space) {
    struct map_frame *frame = space->frame;
    const struct map_list *list = &frame->cache->list;
    int widest = 0, usual = space->bar_x - space->name_x;
    for (size_t i = map_list_at(list, 0); space->columns && i < list->count; i++) {
        char name[APP_NAME_SIZE];
        if (map_list_y(list, &list->entry[i]) > list->height) break;
        if (list->entry[i].kind != MAP_ENTRY_MAPPINGS) continue;
        map_plain_name(&app_regions(frame->app)->map[list->entry[i].first], name, sizeof name);
        widest = ui_max(widest, ui_text_width(UI_S, name));
    }
    space->bar_x = space->name_x + ui_clamp(widest + 6, usual, usual + NAME_MORE);
}

static bool build_list(struct map_space *space, const struct map_anchor *anchor) {
    struct map_frame *frame = space->frame;
    struct map_list *list = &frame->cache->list;
    const struct app_regions *regions = app_regions(frame->app);
    if (!frame->app->gaps_collapsed) {
        space->area = ui_rect(space->area.x, space->strip.y, space->area.w, space->strip.h);
        if (!map_list_to_scale(list, regions, &space->window)) return false;
    } else {
        if (!map_list_build(list, regions, &space->window, !space->columns)) return false;
        double y = ui_anim_value(&frame->app->camera.at_y, frame->app->now_ms) - LIST_TOP;
        if (!anchor) y = fmax(y, 0);
        bool fixed = anchor && zoomed(frame); /* the whole space fills the area */
        map_list_place(list, space->area.h, frame->app->camera.at, y, anchor ? anchor->share : 0, fixed);
        if (map_list_content(list) > space->area.h && space->area.h > 4 * MORE) {
            space->area.h -= MORE;
            map_list_place(list, space->area.h, frame->app->camera.at, y, anchor ? anchor->share : 0, fixed);
        }
    }
    place_bars(space);
    space->bar_step = map_bar_step(space->right - space->bar_x - SIZE_ROOM, longest(list), map_page_size(frame->app),
                                   space->columns ? BAR_STEP : BAR_STEP_NARROW);
    return true;
}

static void remember(struct map_space *space) {
    struct map_drawn *drawn = &space->frame->cache->drawn;
    drawn->strip = space->strip;
    drawn->window = space->window;
    drawn->cells = space->area;
    drawn->bar_x = space->bar_x;
    drawn->bar_step = space->bar_step;
}

void map_space_draw(struct map_frame *frame) {
    struct map_space space = {.frame = frame};
    const struct map_anchor *anchor = map_anchor_now(frame);
    place(&space);
    place_window(&space, anchor);
    if (!build_list(&space, anchor)) return;
    remember(&space);
    map_strip_draw(&space);
    map_ties_draw(&space);
    map_list_draw(&space);
}
