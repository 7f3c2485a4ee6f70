/* The command line. */
#include "replay.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char replay_help[] =
    "vmvis-replay opens a recording in a window and shows its memory at any moment.\n"
    "\n"
    "  vmvis-replay trace.vmv\n"
    "  vmvis-replay --at 1.5s --goto '[heap]' trace.vmv\n"
    "  vmvis-replay --screenshot moment.png --at frame:12 trace.vmv\n"
    "\n"
    "Options; they may stand anywhere:\n"
    "  --at TIME          the moment to begin with: 1.25s 350ms 1250000000ns frame:12 seq:N mark:NAME start end\n"
    "                     (where the process has memory); else that of the last frame\n"
    "  --goto PLACE       the place to begin with: 0xADDR, [heap], a file or its last part, also with ,LEN\n"
    "  --pid N            the process to show; else the first\n"
    "  --size WxH         size of the window, from 640x400; 1440x900\n"
    "  --scale F          pixels of the screen for one of the window: 0.5 to 4\n"
    "  --screenshot FILE  write a picture, FILE.png, and end; needs no display\n"
    "  --script FILE      run one command a line (- : from standard input) and end; needs no display\n"
    "  --help  --version\n"
    "TRACE - reads standard input.\n"
    "\n"
    "In the window: drag on the timeline to move in time, turn the wheel to zoom into time or addresses, click to\n"
    "select. Space plays, Left and Right go by frames, G goes to a place, Ctrl+P lists all commands, ? all keys.\n"
    "\n"
    "A script moves the window as keys and mouse do:\n"
    "  seek 1.5s          goto [heap]          zoom 4096            select 0x7f5e91924000,16\n"
    "  tab bytes          key ]                click 700 300        drag 400 700 900 700\n"
    "  wheel 700 300 2    wait 500             draw picture.png     dump picture.txt\n"
    "Tabs are details, bytes, code and threads. Every other command of the palette works by its name. dump writes\n"
    "what is drawn as text.\n"
    "\n"
    "Exit status: 0; 1 no such moment, place or process in the recording; 2 wrong use; 3 the trace cannot be read.\n";

static bool fail(char *error, const char *format, const char *value) {
    snprintf(error, UI_ERROR_SIZE, format, value);
    return false;
}

static bool parse_size(struct replay_options *options, const char *text, char *error) {
    char rest;
    if (sscanf(text, "%dx%d%c", &options->width, &options->height, &rest) == 2 && options->width >= 640 &&
        options->height >= 400 && options->width <= 16384 && options->height <= 16384)
        return true;
    return fail(error, "--size %.60s: WxH is needed, from 640x400 to 16384x16384", text);
}

static bool parse_scale(struct replay_options *options, const char *text, char *error) {
    char *end;
    options->scale = strtod(text, &end);
    if (end != text && !*end && options->scale >= 0.5 && options->scale <= 4) return true;
    return fail(error, "--scale %.60s: a number from 0.5 to 4 is needed", text);
}

static bool parse_pid(struct replay_options *options, const char *text, char *error) {
    char *end;
    long pid = strtol(text, &end, 10);
    options->pid = (int32_t)pid;
    if (end != text && !*end && pid > 0 && pid <= INT32_MAX) return true;
    return fail(error, "--pid %.60s: a process number is needed", text);
}

static bool take_value(struct replay_options *options, const char *name, const char *value, char *error) {
    if (!strcmp(name, "--at")) options->at = value;
    if (!strcmp(name, "--goto")) options->place = value;
    if (!strcmp(name, "--screenshot")) options->screenshot = value;
    if (!strcmp(name, "--script")) options->script = value;
    if (!strcmp(name, "--size")) return parse_size(options, value, error);
    if (!strcmp(name, "--scale")) return parse_scale(options, value, error);
    if (!strcmp(name, "--pid")) return parse_pid(options, value, error);
    return true;
}

static bool takes_value(const char *name) {
    static const char *const names[] = {"--at", "--goto", "--pid", "--size", "--scale", "--screenshot", "--script"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i], name)) return true;
    return false;
}

/* An option at argv[*i]; moves *i over its value. */
static bool take_option(struct replay_options *options, int argc, char **argv, int *i, char *error) {
    char name[32];
    const char *word = argv[*i], *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : strlen(word);
    snprintf(name, sizeof name, "%.*s", (int)(length < sizeof name ? length : sizeof name - 1), word);
    if (!strcmp(word, "--help") || !strcmp(word, "-h")) return options->help = true;
    if (!strcmp(word, "--version")) return options->version = true;
    if (!strcmp(word, "--follow"))
        return fail(error, "%s is not in this version: open the trace when the recording has ended", word);
    if (!takes_value(name)) return fail(error, "there is no option %.60s; vmvis-replay --help lists them", word);
    if (equals) return take_value(options, name, equals + 1, error);
    if (*i + 1 >= argc) return fail(error, "%s needs a value", name);
    return take_value(options, name, argv[++*i], error);
}

bool replay_options_parse(struct replay_options *options, int argc, char **argv, char *error) {
    bool ended = false;
    *options = (struct replay_options){0};
    for (int i = 1; i < argc; i++) {
        bool option = !ended && argv[i][0] == '-' && argv[i][1] != '\0';
        if (option && !strcmp(argv[i], "--")) {
            ended = true;
        } else if (option) {
            if (!take_option(options, argc, argv, &i, error)) return false;
        } else if (options->trace) {
            return fail(error, "only one trace can be opened: %.120s is one too many", argv[i]);
        } else {
            options->trace = argv[i];
        }
    }
    if (options->help || options->version || options->trace) {
        if (options->trace && options->script && !strcmp(options->trace, "-") && !strcmp(options->script, "-"))
            return fail(error, "%s", "the trace and the script cannot both come from standard input");
        return true;
    }
    return fail(error, "%s", "a trace is needed: vmvis-replay trace.vmv; vmvis-replay --help explains");
}
