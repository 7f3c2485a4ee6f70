#include "inspect.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int inspect_fail(struct inspect *in, int status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(in->error, sizeof in->error, format, args);
    va_end(args);
    return status;
}

void inspect_warn(const char *format, ...) {
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "vmvis-inspect: %s\n", text);
}

static int main_refuse_command(struct inspect *in, const char *name) {
    char list[256] = "";
    size_t at = 0;
    for (size_t i = 0; i < inspect_command_count && at < sizeof list; i++) {
        at += (size_t)snprintf(list + at, sizeof list - at, "%s%s", i == 0 ? "" : ", ", inspect_commands[i].name);
    }
    if (inspect_command_planned(name)) {
        return inspect_fail(in, INSPECT_USAGE, "this version does not have %s; it has %s", name, list);
    }
    return inspect_fail(in, INSPECT_USAGE, "there is no command %s; the commands are %s", name, list);
}

static int main_open(struct inspect *in, const struct inspect_command *command) {
    char error[900] = "";
    in->tl = timeline_open(in->options.trace, error, sizeof error);
    if (in->tl == NULL) return inspect_fail(in, INSPECT_UNREADABLE, "%s", error);
    in->decode = decode_create(in->tl);
    if (in->decode == NULL) return inspect_fail(in, INSPECT_UNREADABLE, "out of memory");
    const char *warning = vmv_reader_warning(timeline_reader(in->tl));
    if (warning != NULL) inspect_warn("%s", warning);
    return command->run(in);
}

static int main_run(struct inspect *in, int argc, char **argv) {
    if (!inspect_options_parse(in, argc, argv)) return INSPECT_USAGE;
    const struct inspect_options *options = &in->options;
    if (options->version) {
        inspect_out_format(&in->out, "vmvis-inspect %s (trace format %d.%d)\n", VMVIS_VERSION, VMV_FORMAT_MAJOR,
                           VMV_FORMAT_MINOR);
        return INSPECT_OK;
    }
    if (options->command == NULL && options->help) {
        inspect_help(&in->out, NULL);
        return INSPECT_OK;
    }
    const struct inspect_command *command = inspect_command_find(options->command);
    if (command == NULL) return main_refuse_command(in, options->command);
    if (options->help) {
        inspect_help(&in->out, command);
        return INSPECT_OK;
    }
    return main_open(in, command);
}

// A reader that went away (head, less) is no failure; a full disk is.
static int main_finish_output(struct inspect *in, int status) {
    inspect_out_flush(&in->out);
    if (in->out.error == 0 || in->out.error == EPIPE) return status;
    inspect_warn("standard output: %s", strerror(in->out.error));
    return status == INSPECT_OK ? INSPECT_USAGE : status;
}

int inspect_main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN); // a closed pipe becomes EPIPE
    struct inspect *in = calloc(1, sizeof *in);
    if (in == NULL) return INSPECT_UNREADABLE;
    in->out.fd = STDOUT_FILENO;
    in->json.out = &in->out;
    int status = main_run(in, argc, argv);
    if (status != INSPECT_OK && in->error[0] != '\0') {
        inspect_out_flush(&in->out);
        inspect_warn("%s", in->error);
    }
    status = main_finish_output(in, status);
    decode_destroy(in->decode);
    timeline_close(in->tl);
    free(in->options.places);
    free(in);
    return status;
}
