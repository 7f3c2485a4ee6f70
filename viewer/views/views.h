/* The views: each draws a part of the window into app->draw and answers the pointer there. They read the model and
 * change only struct app, through app.h. */
#ifndef VIEWS_H
#define VIEWS_H

#include "app.h"

/* --- layout --- */

struct view_layout {
    struct ui_rect top, regions, map, inspector, timeline, status; /* empty: not shown */
    bool regions_over, inspector_over;                             /* drawn above the map, with an edge */
    int gutter; /* width of the timeline's; the lanes begin after it */
    /* What narrow windows leave out, in this order. */
    bool key_caps;       /* in headers */
    bool region_numbers; /* resident and wr columns of Regions */
    bool fold_groups;    /* all but the selected one's */
    bool narrow_inspector;
    bool virtual_lane;
    bool map_columns; /* address and perm columns of the map; off: mappings of one file join */
    bool tids;
};
/* Pure: from the window's size, the sizes dragged and the overlays opened. */
struct view_layout view_layout(const struct app *app);

/* All of it, overlays included. */
void view_window_draw(struct app *app);

/* --- the views --- */

void view_top_draw(struct app *app, const struct view_layout *layout);
void view_regions_draw(struct app *app, const struct view_layout *layout);
/* Select the row after (+1) or before (-1) the selected one; false: there is none. */
bool view_regions_step(struct app *app, int step);
void view_timeline_draw(struct app *app, const struct view_layout *layout);
/* Zoom the timeline around the moment; positive steps: in. */
void view_timeline_zoom(struct app *app, double steps);
void view_inspector_draw(struct app *app, const struct view_layout *layout);
void view_status_draw(struct app *app, const struct view_layout *layout);
/* Over everything else. */
void view_goto_draw(struct app *app);
void view_palette_draw(struct app *app);
void view_help_draw(struct app *app);
void view_pids_draw(struct app *app);

/* --- the map (map_*.c) -------------------------------------------------------------------------------------------
 * layout->map is the whole panel: header 20 high (title MAP, ui_choice for colour, gaps, ...), the ladder, the main
 * area, the legend 18 high at the bottom. The draw list groups are: panel "map", within it strip "space" | "mapping" |
 * "page", look "space" | "pages" | "bytes", legend "map".
 * Draws, and answers the pointer: hover (app_hover_place; the card when ui_card_due), click selects (app_select, focus
 * to APP_PANEL_MAP), double click goes in (app_goto), drag pans, wheel zooms around the pointer (app_camera_zoom with
 * UI_ZOOM_MS). Draws the selection and the hover of other panels (app->hover, app->selection). */
void view_map_draw(struct app *app, const struct view_layout *layout);
/* Commands for the map: zoom in or out around the pointer when it is over the map, else around the selection or the
 * middle (steps of one wheel click; positive: in); pan by a share of the area's height (positive: higher addresses);
 * bring the camera into range after the world changed. */
void view_map_zoom(struct app *app, double steps);
void view_map_pan(struct app *app, double share);
/* Before drawing, and by tests: the address under a point of the main area as last drawn; false: none there. */
bool view_map_address_at(struct app *app, int x, int y, uint64_t *addr);
/* The rectangle an address range had when last drawn (tests, cards); false: not visible. */
bool view_map_rect_of(struct app *app, uint64_t addr, uint64_t len, struct ui_rect *rect);
void view_map_free(struct app *app);

/* --- shared: names and colours --- */

ui_color view_kind_color(enum vmv_kind kind);
const char *view_kind_word(enum vmv_kind kind); /* "program", as in the legend */
/* "rw-" and "private" / "shared"; perm holds at least 5 bytes ("rw-p" without p: "rw-"). */
void view_perm(const struct vmv_mapping *map, char perm[5]);
const char *view_state_word(enum vmv_page_state state);
const char *view_certainty_word(enum vmv_certainty certainty);
enum ui_pattern view_certainty_pattern(enum vmv_certainty certainty);
/* Colour of a protection: r-x program, r-- read-only, rw- heap, rwx attention, --- none (*dots). */
ui_color view_protection_color(uint32_t flags, bool *dots);
/* The name of a place as a path ends in it: "[heap]", "page 278", "+098, 8 bytes". */
void view_place_name(struct app *app, struct app_place place, char *out, size_t size);
/* "[heap] +116098", or "unmapped"; the name of the mapping that holds addr and the offset in it. */
void view_address_name(struct app *app, uint64_t addr, char *out, size_t size);
/* Name of a thread, never empty: its name or "thread". */
const char *view_thread_name(const struct vmv_thread *thread);
/* "clock_nanosleep", or "call 230" where the architecture's names are not known; "" for none. */
void view_syscall_name(struct app *app, int64_t number, char *out, size_t size);

/* "SIGSEGV at 0x10": the address for signals of faults. */
void view_signal_text(const struct vmv_event *event, char *out, size_t size);
/* "SIGSEGV"; what its si_code says: "nothing is mapped there". */
void view_signal_name(int number, char *out, size_t size);
void view_signal_code(int number, int code, char *out, size_t size);

/* Write recency.
 * Steps: 0 this frame (or after it), then three bounds of 1 or 3 x 10^n, 4 older. The bounds are chosen from the pages
 * of the space at the moment, so that each step has pages where that is possible. */
const struct view_recency *view_recency(struct app *app);
/* Step 0 .. 4 of a page; -1: never seen written. */
int view_recency_step(const struct view_recency *recency, uint64_t now, uint64_t written);
/* "now", "<100 ms", ..., "older" for legends; step -1: "not". */
void view_recency_label(const struct view_recency *recency, int step, char *out, size_t size);
/* Age of knowledge: ink this frame, dim < 100 ms, faint < 1 s, ghost older; *never: draw hatching. */
ui_color view_age_color(struct app *app, const struct timeline_page *page, bool *never);

/* Colour and pattern of a page under the colouring in force. The state (stale, torn, zero, guard, ...) is the pattern,
 * whatever the colouring. */
struct view_cell {
    ui_color color;
    enum ui_pattern pattern;
    int strength; /* of several pages in a pixel the strongest is shown */
};
struct view_cell view_page_cell(struct app *app, const struct app_mapping *mapping, const struct timeline_page *page);

#endif
