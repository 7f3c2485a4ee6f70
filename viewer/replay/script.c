/* Scripts: one command a line. */
#include "replay.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool run_lines(struct replay *replay, FILE *file, const char *name, char *error, size_t error_size) {
    char *line = NULL, why[UI_ERROR_SIZE] = "";
    size_t room = 0;
    ssize_t length;
    bool good = true;
    for (int number = 1; good && !replay->app.quit && (length = getline(&line, &room, file)) >= 0; number++) {
        while (length > 0 && (line[length - 1] == '\n' || line[length - 1] == '\r')) line[--length] = '\0';
        replay->missing = false;
        good = ui_command_run_line(replay_commands, replay, line, why);
        if (!good) snprintf(error, error_size, "%s:%d: %s", name, number, why);
        if (good) replay_frame(replay);
    }
    if (good && ferror(file)) {
        snprintf(error, error_size, "%s: cannot be read: %s", name, strerror(errno));
        good = false;
    }
    free(line);
    return good;
}

bool replay_script(struct replay *replay, const char *path, char *error, size_t error_size) {
    bool standard = !strcmp(path, "-");
    FILE *file = standard ? stdin : fopen(path, "r");
    if (!file) {
        snprintf(error, error_size, "%s: the script cannot be opened: %s", path, strerror(errno));
        return false;
    }
    replay_frame(replay);
    bool good = run_lines(replay, file, standard ? "standard input" : path, error, error_size);
    if (!standard) fclose(file);
    return good;
}
