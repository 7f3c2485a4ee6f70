/* Commands that change how things are shown, and what leaves the window: copies, pictures. */
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct app *app_of(void *replay) { return &((struct replay *)replay)->app; }

static bool fail(char *error, const char *why) {
    snprintf(error, UI_ERROR_SIZE, "%s", why);
    return false;
}

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; }

/* Letter case does not matter. */
static bool differ(const char *a, const char *b) {
    while (*a && lower(*a) == lower(*b)) a++, b++;
    return lower(*a) != lower(*b);
}

bool command_colour(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    if (!args->count) {
        app->colour = (enum app_colour)((app->colour + 1) % APP_COLOUR_COUNT);
        return true;
    }
    for (int i = 0; i < APP_COLOUR_COUNT; i++)
        if (!differ(app_colour_name((enum app_colour)i), args->arg[0].text)) {
            app->colour = (enum app_colour)i;
            return true;
        }
    return fail(error, "colour: kind, write recency, residency, protection or age of knowledge is needed");
}

bool command_tab(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    for (int i = 0; i < APP_TAB_COUNT; i++)
        if (!differ(app_tab_name((enum app_tab)i), args->arg[0].text)) {
            app->tab = (enum app_tab)i;
            app->inspector_scroll.offset = 0;
            app->inspector_over = app->width < 900;
            return true;
        }
    return fail(error, "tab: details, bytes, code or threads is needed");
}

bool command_thread(void *replay, const struct ui_args *args, char *error) {
    struct replay *self = replay;
    int64_t tid = args->arg[0].integer;
    if (tid > 0 && tid <= INT32_MAX && vmv_world_thread(app_of(replay)->world, (int32_t)tid)) {
        app_of(replay)->tid = (int32_t)tid;
        return true;
    }
    self->missing = true;
    snprintf(error, UI_ERROR_SIZE, "no thread %lld at this moment", (long long)tid);
    return false;
}

bool command_panel(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    struct view_layout layout = view_layout(app);
    if (!args->count) {
        do {
            app->focus = (enum app_panel)((app->focus + 1) % APP_PANEL_COUNT);
        } while ((app->focus == APP_PANEL_REGIONS && ui_rect_empty(layout.regions)) ||
                 (app->focus == APP_PANEL_INSPECTOR && ui_rect_empty(layout.inspector)));
        return true;
    }
    for (int i = 0; i < APP_PANEL_COUNT; i++)
        if (!differ(app_panel_name((enum app_panel)i), args->arg[0].text)) {
            app->focus = (enum app_panel)i;
            return true;
        }
    return fail(error, "panel: regions, map, inspector or timeline is needed");
}

bool command_fold(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    const struct app_regions *regions = app_regions(app);
    uint64_t id = 0;
    if (!args->count && app->selection.kind == APP_PLACE_GROUP) id = app->selection.group;
    const struct app_mapping *mapping =
        app->selection.kind == APP_PLACE_MAPPING ? app_mapping_at(app, app->selection.addr) : NULL;
    if (!args->count && mapping) id = regions->group[mapping->group].id;
    for (size_t i = 0; args->count && i < regions->group_count; i++)
        if (!strcmp(regions->group[i].name, args->arg[0].text)) id = regions->group[i].id;
    if (!id) return fail(error, args->count ? "fold: no such group of regions" : "no group of regions is selected");
    app_group_fold(app, id, !app_group_folded(app, id));
    return true;
}

bool command_show_regions(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    (void)args;
    (void)error;
    app->regions_over = !app->regions_over;
    return true;
}

bool command_show_inspector(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    (void)args;
    (void)error;
    app->inspector_over = !app->inspector_over;
    return true;
}

bool command_palette(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    (void)args;
    (void)error;
    app->overlay = APP_OVERLAY_PALETTE;
    app->palette_chosen = 0;
    ui_text_input_set(&app->palette_input, "");
    return true;
}

bool command_help(void *replay, const struct ui_args *args, char *error) {
    struct app *app = app_of(replay);
    (void)args;
    (void)error;
    app->overlay = app->overlay == APP_OVERLAY_HELP ? APP_OVERLAY_NONE : APP_OVERLAY_HELP;
    return true;
}

bool command_motion(void *replay, const struct ui_args *args, char *error) {
    bool on = !strcmp(args->arg[0].text, "on");
    if (!on && strcmp(args->arg[0].text, "off") != 0) return fail(error, "motion: on or off is needed");
    app_of(replay)->motion = on;
    return true;
}

bool command_quit(void *replay, const struct ui_args *args, char *error) {
    (void)args;
    (void)error;
    app_of(replay)->quit = true;
    return true;
}

/* --- leaving the window --- */

/* Bytes of up to a page as hex, "??" where they are not known; of anything else its address. */
static void copy_text(struct app *app, char *out, size_t size) {
    struct app_place place = app->selection;
    struct timeline_run run[512];
    uint8_t bytes[4096];
    size_t n = 0;
    if (place.kind != APP_PLACE_BYTES || place.len > sizeof bytes || !app->space_id) {
        snprintf(out, size, "0x%llx", (unsigned long long)place.addr);
        return;
    }
    size_t runs = timeline_read(app->tl, app->space_id, place.addr, bytes, place.len, run, 512);
    for (size_t r = 0; r < runs; r++)
        for (uint64_t i = 0; i < run[r].length && n + 4 < size; i++) {
            uint64_t at = run[r].addr + i - place.addr;
            if (at >= place.len) break;
            n += (size_t)snprintf(out + n, size - n, run[r].known ? "%s%02x" : "%s??", n ? " " : "", bytes[at]);
        }
    out[n] = '\0';
}

bool command_copy(void *replay, const struct ui_args *args, char *error) {
    struct replay *self = replay;
    char text[4096 * 3 + 4];
    (void)args;
    if (app_of(replay)->selection.kind == APP_PLACE_SPACE) return fail(error, "nothing is selected");
    copy_text(app_of(replay), text, sizeof text);
    if (!self->platform || !ui_platform_copy(self->platform, text)) return fail(error, "there is no clipboard");
    app_say(app_of(replay), false, "copied %.80s", text);
    return true;
}

bool command_picture(void *replay, const struct ui_args *args, char *error) {
    char path[64];
    const char *name = args->count ? args->arg[0].text : path;
    for (int n = 1; !args->count && n < 10000; n++) {
        snprintf(path, sizeof path, "vmvis-%04d.png", n);
        FILE *there = fopen(path, "rb");
        if (!there) break;
        fclose(there);
    }
    if (!replay_picture(replay, name, error)) return false;
    app_say(app_of(replay), false, "the window is in %s", name);
    return true;
}

bool command_full_screen(void *replay, const struct ui_args *args, char *error) {
    struct replay *self = replay;
    (void)args;
    if (!self->platform) return fail(error, "there is no window");
    ui_platform_set_fullscreen(self->platform, !ui_platform_fullscreen(self->platform));
    return true;
}
