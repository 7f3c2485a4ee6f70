/* The desktop front end: the window's state with what it needs from outside. */
#ifndef REPLAY_H
#define REPLAY_H

#include "views.h"

#include "ui_platform.h"

enum replay_status { REPLAY_OK = 0, REPLAY_MISSING = 1, REPLAY_USAGE = 2, REPLAY_UNREADABLE = 3 };

struct replay_options {
    const char *trace; /* NULL: help or version was asked for */
    const char *at, *place, *screenshot, *script;
    int32_t pid;       /* 0: the first process */
    int width, height; /* logical pixels; 0: 1440 x 900 */
    double scale;      /* 0: as the display asks; 1 without one */
    bool help, version;
};

struct replay {
    struct app app; /* first: commands get it as a struct app too */
    struct replay_options options;
    struct ui_platform *platform; /* NULL without a window: then time is `clock_ms` */
    struct ui_draw *draw;
    struct ui_fonts *fonts; /* made at the first picture */
    double clock_ms;
    uint64_t shown;        /* hash of the list that the window shows */
    bool missing;          /* a command failed because the trace has no such thing */
    struct change_search { /* the next change of the selection that is being looked for */
        bool active;
        int step;
        struct app_place place;
        uint64_t t;     /* captures are looked for before or after it */
        bool have_last; /* backwards: a capture was seen, its contents are `last` */
        uint64_t last_t, last_content;
    } change;
};

extern const struct ui_commands replay_commands;

/* --- options.c */
/* false: *error (UI_ERROR_SIZE) says what is wrong, in one line. */
bool replay_options_parse(struct replay_options *options, int argc, char **argv, char *error);
extern const char replay_help[];

/* --- picture.c */
/* Draw a frame into the list. Without a window, until nothing changes any more. */
void replay_frame(struct replay *replay);
/* Paint the list, as drawn last, into a PNG file. */
bool replay_picture(struct replay *replay, const char *path, char *error);
bool replay_dump(struct replay *replay, const char *path, char *error);

/* --- input.c */
/* One event of the user, or of a script. */
void replay_event(struct replay *replay, const struct ui_input_event *event);
/* Let the clock of a script run by ms, frame by frame, then finish what is going on. */
void replay_wait(struct replay *replay, double ms);

/* --- script.c */
/* Run all lines; false with "FILE:LINE: why" in error. */
bool replay_script(struct replay *replay, const char *path, char *error, size_t error_size);

/* --- loop.c: the window. Returns when it was closed. */
void replay_loop(struct replay *replay);

/* --- changes.c */
/* Go to the next (+1) or previous (-1) change of the selection; goes on over several frames. */
bool replay_change_begin(struct replay *replay, int step, char *error);
/* Called before each frame. */
void replay_change_go_on(struct replay *replay);

/* --- commands_*.c: what the rows of the table run; see commands.c */
#define REPLAY_COMMAND(name) bool name(void *replay, const struct ui_args *args, char *error)
REPLAY_COMMAND(command_seek);
REPLAY_COMMAND(command_frame);
REPLAY_COMMAND(command_event);
REPLAY_COMMAND(command_change);
REPLAY_COMMAND(command_play);
REPLAY_COMMAND(command_speed);
REPLAY_COMMAND(command_faster);
REPLAY_COMMAND(command_bookmark);
REPLAY_COMMAND(command_bookmark_step);
REPLAY_COMMAND(command_time_zoom);
REPLAY_COMMAND(command_time_fit);
REPLAY_COMMAND(command_span);
REPLAY_COMMAND(command_zoom);
REPLAY_COMMAND(command_zoom_in);
REPLAY_COMMAND(command_pan);
REPLAY_COMMAND(command_goto);
REPLAY_COMMAND(command_ask_place);
REPLAY_COMMAND(command_select);
REPLAY_COMMAND(command_into);
REPLAY_COMMAND(command_back);
REPLAY_COMMAND(command_fit);
REPLAY_COMMAND(command_next);
REPLAY_COMMAND(command_pid);
REPLAY_COMMAND(command_processes);
REPLAY_COMMAND(command_gaps);
REPLAY_COMMAND(command_order);
REPLAY_COMMAND(command_colour);
REPLAY_COMMAND(command_tab);
REPLAY_COMMAND(command_thread);
REPLAY_COMMAND(command_panel);
REPLAY_COMMAND(command_fold);
REPLAY_COMMAND(command_show_regions);
REPLAY_COMMAND(command_show_inspector);
REPLAY_COMMAND(command_palette);
REPLAY_COMMAND(command_help);
REPLAY_COMMAND(command_copy);
REPLAY_COMMAND(command_picture);
REPLAY_COMMAND(command_full_screen);
REPLAY_COMMAND(command_motion);
REPLAY_COMMAND(command_quit);
REPLAY_COMMAND(command_key);
REPLAY_COMMAND(command_type);
REPLAY_COMMAND(command_move);
REPLAY_COMMAND(command_click);
REPLAY_COMMAND(command_drag);
REPLAY_COMMAND(command_wheel);
REPLAY_COMMAND(command_wait);
REPLAY_COMMAND(command_size);
REPLAY_COMMAND(command_draw);
REPLAY_COMMAND(command_dump);

#endif
