/* The go-to line: an address, a name, or a time after @; below it the mappings whose names match. */
#include "overlay.h"
#include "ui_format.h"

#include <stdio.h>

enum { MOST = 8 };

struct choice {
    const struct app_mapping *mapping;
    struct ui_match match;
};

static int find(struct app *app, struct choice *choices) {
    const struct app_regions *regions = app_regions(app);
    const char *query = app->goto_input.text;
    int count = 0;
    if (!*query || *query == '@') return 0;
    for (size_t i = 0; i < regions->count; i++) {
        struct choice choice = {&regions->map[i], {0}};
        if (!ui_match_text(choice.mapping->name, query, &choice.match)) continue;
        int at = count < MOST ? count++ : MOST;
        for (; at > 0 && choices[at - 1].match.score < choice.match.score; at--)
            if (at < MOST) choices[at] = choices[at - 1];
        if (at < MOST) choices[at] = choice;
    }
    return count;
}

static void go(struct app *app, const struct choice *choices, int count) {
    struct app_place place = {0};
    bool chosen = app->palette_chosen >= 0 && app->palette_chosen < count;
    if (chosen) place = app_place_mapping(choices[app->palette_chosen].mapping);
    if (chosen) {
        app_goto(app, place);
    } else if (!app_goto_text(app, app->goto_input.text, app->goto_error)) {
        /* What was typed names nothing by itself: the best match does. */
        if (!count) return;
        app_goto(app, app_place_mapping(choices[0].mapping));
    }
    overlay_close(app);
}

static void draw_choice(struct app *app, struct ui_rect row, const struct choice *choice, bool chosen, int index) {
    const struct app_mapping *mapping = choice->mapping;
    char size[UI_FORMAT_SIZE];
    ui_id id = ui_id_child(ui_id_of("goto"), (uint64_t)index);
    unsigned signals = ui_list_row(&app->ui, id, row, chosen);
    int y = row.y + 2, right = ui_rect_right(row) - 14;
    ui_draw_rect(app->draw, ui_rect(row.x + 22, row.y + 6, 8, 8), view_kind_color(mapping->kind));
    overlay_match(app, row.x + 36, y, UI_M, chosen ? UI_WHITE : UI_DIM, mapping->name, &choice->match);
    ui_format_size(size, sizeof size, mapping->map->end - mapping->map->start);
    ui_draw_text_right(app->draw, right, y + 2, UI_S, UI_FAINT, size);
    ui_draw_address(app->draw, right - 150, y + 2, UI_S, UI_FAINT, mapping->map->start, UI_NO_ADDRESS);
    if (signals & UI_CLICKED) {
        app_goto(app, app_place_mapping(mapping));
        overlay_close(app);
    }
}

void view_goto_draw(struct app *app) {
    struct choice choices[MOST];
    overlay_cover(app, false);
    int count = find(app, choices);
    bool failed = *app->goto_error;
    int rows = ui_max(count, failed ? 1 : 0);
    struct ui_rect box = overlay_box(app, OVERLAY_INPUT + rows * OVERLAY_ROW + OVERLAY_HINTS + 6);
    ui_draw_begin_group(app->draw, "overlay", "goto");
    ui_card_draw(app->draw, box);
    overlay_choose(app, &app->palette_chosen, -1, count);
    unsigned result =
        overlay_input(app, box, "go to", &app->goto_input, "address, [heap], libc.so.6, @1.5s, @frame:12", "");
    if (result & UI_INPUT_CHANGED) {
        app->goto_error[0] = '\0';
        app->palette_chosen = -1;
    }
    for (int i = 0; i < count && app->overlay; i++) {
        struct ui_rect row = ui_rect(box.x + 1, box.y + OVERLAY_INPUT + 2 + i * OVERLAY_ROW, box.w - 2, OVERLAY_ROW);
        draw_choice(app, row, &choices[i], i == app->palette_chosen, i);
    }
    if (failed && !count)
        ui_draw_text_fit(app->draw, box.x + 14, box.y + OVERLAY_INPUT + 6, box.w - 28, UI_S, UI_ATTENTION,
                         app->goto_error);
    overlay_hints(app, box, "go");
    ui_draw_end_group(app->draw);
    if (result & UI_INPUT_SUBMITTED) go(app, choices, count);
    if (result & UI_INPUT_CANCELLED) overlay_close(app);
}
