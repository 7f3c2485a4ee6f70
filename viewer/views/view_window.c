/* The whole window: panels, the borders between them, and what lies over them. */
#include "views.h"

static void borders(struct app *app, const struct view_layout *layout) {
    struct ui_context *ui = &app->ui;
    int height = layout->timeline.h, regions = layout->regions.w, inspector = layout->inspector.w;
    if (!ui_rect_empty(layout->regions) && !layout->regions_over) {
        struct ui_rect line = ui_rect(ui_rect_right(layout->regions) - 1, layout->regions.y, 1, layout->regions.h);
        if (ui_splitter(ui, ui_id_of("split regions"), line, false, &regions, 140, app->width / 3)) {
            app->regions_width = regions;
            app->redraw = true;
        }
    }
    if (!ui_rect_empty(layout->inspector) && !layout->inspector_over) {
        struct ui_rect line = ui_rect(layout->inspector.x, layout->inspector.y, 1, layout->inspector.h);
        if (ui_splitter(ui, ui_id_of("split inspector"), line, true, &inspector, 220, app->width / 2)) {
            app->inspector_width = inspector;
            app->redraw = true;
        }
    }
    struct ui_rect line = ui_rect(0, layout->timeline.y, app->width, 1);
    if (ui_splitter(ui, ui_id_of("split timeline"), line, true, &height, 100, app->height - 168)) {
        app->timeline_height = height;
        app->redraw = true;
    }
}

static void over_edge(struct app *app, struct ui_rect rect) {
    ui_draw_frame(app->draw, ui_rect_inset(rect, -1), UI_RULE2);
}

static void side_panels(struct app *app, const struct view_layout *layout, bool over) {
    if (!ui_rect_empty(layout->regions) && layout->regions_over == over) {
        view_regions_draw(app, layout);
        if (over) over_edge(app, layout->regions);
    }
    if (!ui_rect_empty(layout->inspector) && layout->inspector_over == over) {
        view_inspector_draw(app, layout);
        if (over) over_edge(app, layout->inspector);
    }
}

static void overlay(struct app *app) {
    switch (app->overlay) {
    case APP_OVERLAY_GOTO:
        view_goto_draw(app);
        break;
    case APP_OVERLAY_PALETTE:
        view_palette_draw(app);
        break;
    case APP_OVERLAY_HELP:
        view_help_draw(app);
        break;
    case APP_OVERLAY_PIDS:
        view_pids_draw(app);
        break;
    case APP_OVERLAY_NONE:
        break;
    }
}

void view_window_draw(struct app *app) {
    struct view_layout layout = view_layout(app);
    ui_draw_rect(app->draw, ui_rect(0, 0, app->width, app->height), UI_GROUND);
    view_top_draw(app, &layout);
    side_panels(app, &layout, false);
    if (!ui_rect_empty(layout.map)) view_map_draw(app, &layout);
    view_timeline_draw(app, &layout);
    side_panels(app, &layout, true);
    view_status_draw(app, &layout);
    borders(app, &layout);
    overlay(app);
}
