/* vmvis-replay: the window. */
#include "replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int complain(const char *what, int status) {
    fprintf(stderr, "vmvis-replay: %s\n", what);
    return status;
}

static bool begin(struct replay *replay, struct timeline *tl) {
    const struct replay_options *options = &replay->options;
    struct app *app = &replay->app;
    if (!app_init(app, tl)) return false;
    app->commands = replay_commands;
    if (options->width) {
        app->width = options->width;
        app->height = options->height;
    }
    const char *slash = strrchr(options->trace, '/');
    app->trace_name = slash ? slash + 1 : options->trace;
    app->patient = options->screenshot || options->script;
    app->motion = !app->patient;
    replay->draw = ui_draw_create();
    return replay->draw != NULL;
}

/* Where the command line wants to begin: by itself at the last frame, where most is known and the end is near. */
static int go_to_beginning(struct replay *replay, char *error) {
    struct app *app = &replay->app;
    const struct replay_options *options = &replay->options;
    uint64_t t, seq;
    bool missing = false;
    if (options->pid && !app_set_pid(app, options->pid)) {
        snprintf(error, UI_ERROR_SIZE, "--pid %d: no such process in this recording", options->pid);
        return REPLAY_MISSING;
    }
    app_seek_last_frame(app);
    if (options->at && !timeline_time(app->tl, options->at, &t, &seq, &missing, error, UI_ERROR_SIZE))
        return missing ? REPLAY_MISSING : REPLAY_USAGE;
    if (options->at && !app_seek_text(app, options->at, error)) return REPLAY_USAGE;
    if (!options->place) return REPLAY_OK;
    char line[UI_ARGS_BYTES];
    snprintf(line, sizeof line, "select %s", options->place);
    if (!ui_command_run_line(replay_commands, replay, line, error)) return REPLAY_MISSING;
    app_goto(app, app->selection);
    return REPLAY_OK;
}

static int run_headless(struct replay *replay) {
    char error[1024], why[UI_ERROR_SIZE];
    if (replay->options.script && !replay_script(replay, replay->options.script, error, sizeof error))
        return complain(error, replay->missing ? REPLAY_MISSING : REPLAY_USAGE);
    if (!replay->options.screenshot) return REPLAY_OK;
    replay_frame(replay);
    if (!replay_picture(replay, replay->options.screenshot, why)) return complain(why, REPLAY_USAGE);
    return REPLAY_OK;
}

static int run_window(struct replay *replay) {
    char error[UI_ERROR_SIZE], title[128];
    const struct app *app = &replay->app;
    snprintf(title, sizeof title, "%.100s - vmvis", app->trace_name);
    replay->platform = ui_platform_create(title, app->width, app->height, replay->options.scale, error, sizeof error);
    if (!replay->platform) return complain(error, REPLAY_USAGE);
    replay->fonts = ui_fonts_create(ui_platform_scale(replay->platform), error, sizeof error);
    if (!replay->fonts) return complain(error, REPLAY_USAGE);
    replay_loop(replay);
    return REPLAY_OK;
}

static int run(struct replay *replay, struct timeline *tl) {
    char error[UI_ERROR_SIZE] = "";
    if (!begin(replay, tl)) return complain("out of memory", REPLAY_USAGE);
    int status = go_to_beginning(replay, error);
    if (status) return complain(error, status);
    return replay->app.patient ? run_headless(replay) : run_window(replay);
}

static void end(struct replay *replay) {
    app_free(&replay->app);
    ui_draw_destroy(replay->draw);
    ui_fonts_destroy(replay->fonts);
    ui_platform_destroy(replay->platform);
}

int main(int argc, char **argv) {
    static struct replay replay;
    char error[1024];
    if (!replay_options_parse(&replay.options, argc, argv, error)) return complain(error, REPLAY_USAGE);
    if (replay.options.help) return fputs(replay_help, stdout) < 0 ? REPLAY_USAGE : REPLAY_OK;
    if (replay.options.version) return printf("vmvis-replay %s\n", VMVIS_VERSION) < 0 ? REPLAY_USAGE : REPLAY_OK;
    if (!ui_commands_check(replay_commands, error)) return complain(error, REPLAY_USAGE);
    struct timeline *tl = timeline_open(replay.options.trace, error, sizeof error);
    if (!tl) return complain(error, REPLAY_UNREADABLE);
    const char *warning = vmv_reader_warning(timeline_reader(tl));
    if (warning) complain(warning, 0);
    int status = run(&replay, tl);
    end(&replay);
    timeline_close(tl);
    return status;
}
