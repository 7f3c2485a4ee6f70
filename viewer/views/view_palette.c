/* The palette: every command that can run by itself, by name; and the chooser of processes. */
#include "app_names.h"
#include "overlay.h"
#include "ui_format.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 256, PROCESSES = 512 };

/* --- commands --- */

static int find(struct app *app, struct ui_match *matches) {
    size_t all = ui_palette_filter(app->commands, app->palette_input.text, matches, MOST);
    int count = 0;
    for (size_t i = 0; i < all && i < MOST; i++)
        if (ui_command_ready(matches[i].command)) matches[count++] = matches[i];
    return count;
}

static int count_ready(const struct app *app) {
    int count = 0;
    for (size_t i = 0; i < app->commands.count; i++)
        if (app->commands.row[i].title && ui_command_ready(&app->commands.row[i])) count++;
    return count;
}

static void run(struct app *app, const struct ui_command *command) {
    char error[UI_ERROR_SIZE] = "";
    overlay_close(app);
    if (!ui_command_run(command, app, error)) app_say(app, true, "%s", error);
}

static void draw_keys(struct app *app, int right, int y, const char *keys, ui_color color) {
    char name[UI_KEY_NAME_SIZE];
    size_t bytes = keys ? strcspn(keys, " ") : 0;
    if (!bytes) return;
    snprintf(name, sizeof name, "%.*s", (int)bytes, keys);
    ui_key_cap(app->draw, right - ui_key_cap_width(name), y, name, color);
}

static void draw_command(struct app *app, struct ui_rect row, const struct ui_match *match, bool chosen, int index) {
    const struct ui_command *command = match->command;
    unsigned signals = ui_list_row(&app->ui, ui_id_child(ui_id_of("command"), (uint64_t)index), row, chosen);
    int x = overlay_match(app, row.x + 33, row.y + 2, UI_M, chosen ? UI_INK : UI_DIM, command->title, match);
    if (command->note) ui_draw_text(app->draw, x + 14, row.y + 4, UI_S, UI_FAINT, command->note);
    draw_keys(app, ui_rect_right(row) - 13, row.y + 4, command->keys, chosen ? UI_WHITE : UI_DIM);
    if (signals & UI_CLICKED) run(app, command);
}

void view_palette_draw(struct app *app) {
    struct ui_match *matches = ui_draw_alloc(app->draw, MOST * sizeof *matches);
    if (!matches) return;
    overlay_cover(app, false);
    int count = find(app, matches), room = ui_max((app->height - 160) / OVERLAY_ROW, 4),
        shown = ui_min(count, ui_min(room, 16));
    struct ui_rect box = overlay_box(app, OVERLAY_INPUT + shown * OVERLAY_ROW + OVERLAY_HINTS + 6);
    char text[64];
    snprintf(text, sizeof text, "%d of %d commands", count, count_ready(app));
    ui_draw_begin_group(app->draw, "overlay", "palette");
    ui_card_draw(app->draw, box);
    overlay_choose(app, &app->palette_chosen, 0, count);
    unsigned result = overlay_input(app, box, ">", &app->palette_input, "a command", text);
    if (result & UI_INPUT_CHANGED) app->palette_chosen = 0;
    int first = ui_clamp(app->palette_chosen - shown + 1, 0, ui_max(count - shown, 0));
    for (int i = 0; i < shown && app->overlay == APP_OVERLAY_PALETTE; i++) {
        struct ui_rect row = ui_rect(box.x + 1, box.y + OVERLAY_INPUT + 2 + i * OVERLAY_ROW, box.w - 2, OVERLAY_ROW);
        draw_command(app, row, &matches[first + i], first + i == app->palette_chosen, first + i);
    }
    overlay_hints(app, box, "run");
    ui_draw_end_group(app->draw);
    if (result & UI_INPUT_CANCELLED) overlay_close(app);
    if (result & UI_INPUT_SUBMITTED && count > 0 && !(result & UI_INPUT_CHANGED))
        run(app, matches[ui_clamp(app->palette_chosen, 0, count - 1)].command);
}

/* --- processes --- */

struct entry {
    int32_t pid;
    char name[64];
    uint64_t from, to;
    bool ended;
};

static struct entry *entry_of(struct entry *entries, int *count, int32_t pid, uint64_t t) {
    for (int i = 0; i < *count; i++)
        if (entries[i].pid == pid) return &entries[i];
    if (*count == PROCESSES || !pid) return NULL;
    entries[*count] = (struct entry){.pid = pid, .from = t};
    return &entries[(*count)++];
}

/* A forked process is called like its first thread, or like the one it came from, until its exec. */
static void name_forked(struct app *app, struct entry *entry, const struct vmv_event *fork, struct entry *entries,
                        int count) {
    size_t landmarks = 0;
    const struct vmv_event *landmark = timeline_landmarks(app->tl, &landmarks);
    for (size_t i = 0; i < landmarks && !*entry->name; i++) {
        bool first = landmark[i].type == VMV_EV_THREAD_START && landmark[i].tid == entry->pid;
        if (first && landmark[i].name) app_plain(entry->name, sizeof entry->name, landmark[i].name);
    }
    for (int i = 0; i < count && !*entry->name; i++)
        if (entries[i].pid == fork->pid) snprintf(entry->name, sizeof entry->name, "%s", entries[i].name);
}

static void name_by_world(struct app *app, struct entry *entry) {
    const struct vmv_process *process = vmv_world_process(app->world, entry->pid);
    const struct vmv_thread *thread = vmv_world_thread(app->world, entry->pid);
    if (process && process->path) app_base_name(entry->name, sizeof entry->name, process->path);
    if (!*entry->name && thread) app_plain(entry->name, sizeof entry->name, thread->name);
}

static int list_processes(struct app *app, struct entry *entries) {
    size_t landmarks = 0;
    int count = 0;
    const struct vmv_event *landmark = timeline_landmarks(app->tl, &landmarks);
    for (size_t i = 0; i < landmarks; i++) {
        const struct vmv_event *event = &landmark[i];
        bool known = event->type == VMV_EV_SPACE || event->type == VMV_EV_EXEC || event->type == VMV_EV_FORK ||
                     event->type == VMV_EV_EXIT;
        if (!known) continue;
        int32_t pid = event->type == VMV_EV_FORK ? event->child : event->pid;
        struct entry *entry = entry_of(entries, &count, pid, event->t);
        if (!entry) continue;
        bool named = (event->type == VMV_EV_SPACE || event->type == VMV_EV_EXEC) && event->name && *event->name;
        if (named) app_base_name(entry->name, sizeof entry->name, event->name);
        if (event->type == VMV_EV_FORK && !*entry->name) name_forked(app, entry, event, entries, count);
        if (event->type != VMV_EV_EXIT) continue;
        entry->ended = true;
        entry->to = event->t;
    }
    for (int i = 0; i < count; i++)
        if (!*entries[i].name) name_by_world(app, &entries[i]);
    return count;
}

static void draw_process(struct app *app, struct ui_rect row, const struct entry *entry) {
    char text[UI_FORMAT_SIZE * 2], pid[16];
    bool now = entry->pid == app->pid;
    unsigned signals = ui_list_row(&app->ui, ui_id_child(ui_id_of("process"), (uint64_t)entry->pid), row, now);
    snprintf(pid, sizeof pid, "%d", entry->pid);
    ui_draw_text(app->draw, row.x + 14, row.y + 4, UI_S, UI_INK, pid);
    ui_draw_text_fit(app->draw, row.x + 66, row.y + 4, 140, UI_S, UI_DIM, *entry->name ? entry->name : "process");
    ui_format_interval(text, sizeof text, (int64_t)entry->from, (int64_t)(entry->ended ? entry->to : app->duration), 3);
    ui_draw_text_right(app->draw, ui_rect_right(row) - 12, row.y + 4, UI_S, UI_FAINT, text);
    if (signals & UI_CLICKED) {
        app_visit_pid(app, entry->pid);
        overlay_close(app);
    }
}

static void step_process(struct app *app, const struct entry *entries, int count) {
    int step = ui_take_key(&app->ui, "Up") ? -1 : ui_take_key(&app->ui, "Down") ? 1 : 0;
    for (int i = 0; step && i < count; i++) {
        if (entries[i].pid != app->pid || i + step < 0 || i + step >= count) continue;
        app_visit_pid(app, entries[i + step].pid);
        app->redraw = true;
        return;
    }
}

void view_pids_draw(struct app *app) {
    struct entry *entries = ui_draw_alloc(app->draw, PROCESSES * sizeof *entries);
    if (!entries) return;
    overlay_cover(app, false);
    int count = list_processes(app, entries), at = 0;
    int shown = ui_clamp((app->height - 80) / OVERLAY_ROW, 1, count);
    for (int i = 0; i < count; i++)
        if (entries[i].pid == app->pid) at = i;
    int first = ui_clamp(at - shown / 2, 0, count - shown);
    struct ui_rect box = ui_rect(ui_min(160, app->width / 8), 28, 380, shown * OVERLAY_ROW + 6);
    ui_draw_begin_group(app->draw, "overlay", "processes");
    ui_card_draw(app->draw, box);
    step_process(app, entries, count);
    for (int i = 0; i < shown && app->overlay; i++)
        draw_process(app, ui_rect(box.x + 1, box.y + 3 + i * OVERLAY_ROW, box.w - 2, OVERLAY_ROW), &entries[first + i]);
    ui_draw_end_group(app->draw);
}
