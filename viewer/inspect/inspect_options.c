// The command line. Options may stand anywhere until "--"; the first two other words are the command and the trace.
#include "inspect.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum option_kind { OPTION_FLAG, OPTION_TEXT, OPTION_PID, OPTION_SPACE, OPTION_TID, OPTION_EVENT, OPTION_LIMIT };

#define FIELD(name) offsetof(struct inspect_options, name)
static const struct option {
    const char *name;
    const char *value; // what its value is called; NULL: it has none
    enum option_kind kind;
    size_t field;    // where a flag or a text goes
    unsigned accept; // what a command must accept for it to make sense; 0: always
} option_table[] = {
    {"--json", NULL, OPTION_FLAG, FIELD(json), 0},
    {"--help", NULL, OPTION_FLAG, FIELD(help), 0},
    {"--version", NULL, OPTION_FLAG, FIELD(version), 0},
    {"--raw", NULL, OPTION_FLAG, FIELD(raw), ACCEPT_RAW},
    {"--at", "TIME", OPTION_TEXT, FIELD(at), ACCEPT_AT},
    {"--from", "TIME", OPTION_TEXT, FIELD(from), ACCEPT_SPAN},
    {"--to", "TIME", OPTION_TEXT, FIELD(to), ACCEPT_SPAN},
    {"--pid", "N", OPTION_PID, 0, ACCEPT_SPACE},
    {"--space", "N", OPTION_SPACE, 0, ACCEPT_SPACE},
    {"--tid", "N", OPTION_TID, 0, ACCEPT_TID},
    {"--event", "TYPE", OPTION_EVENT, 0, ACCEPT_EVENT},
    {"--limit", "N", OPTION_LIMIT, 0, ACCEPT_LIMIT},
    {"--stacks", NULL, OPTION_FLAG, FIELD(stacks), ACCEPT_STACKS},
    {"--as", "TYPE", OPTION_TEXT, FIELD(as), ACCEPT_AS},
};
enum { OPTION_COUNT = sizeof option_table / sizeof option_table[0] };

// `word` up to '=' or its end names an option.
static const struct option *option_find(const char *word) {
    if (strcmp(word, "-h") == 0) return option_find("--help");
    size_t length = strcspn(word, "=");
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if (strlen(option_table[i].name) == length && memcmp(option_table[i].name, word, length) == 0) {
            return &option_table[i];
        }
    }
    return NULL;
}

static bool option_number(struct inspect *in, const char *name, const char *text, uint64_t least, uint64_t most,
                          uint64_t *number) {
    char *end = NULL;
    errno = 0;
    *number = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 0) : 0;
    if (end != NULL && *end == '\0' && errno == 0 && *number >= least && *number <= most) return true;
    inspect_fail(in, INSPECT_USAGE, "%s %.60s: a number from %llu on is needed", name, text, (unsigned long long)least);
    return false;
}

// One type or several, separated by commas.
static bool option_events(struct inspect *in, const char *text) {
    while (true) {
        size_t length = strcspn(text, ",");
        char name[32] = "";
        if (length < sizeof name) memcpy(name, text, length);
        enum vmv_event_type type = vmv_event_type_of(name);
        if (type == VMV_EV_NONE || (unsigned)type >= VMV_EV_TYPE_COUNT) {
            inspect_fail(in, INSPECT_USAGE,
                         "--event %.*s: no such type of event; vmvis-inspect events --help lists them",
                         length > 60 ? 60 : (int)length, text);
            return false;
        }
        in->options.types[type / 64] |= UINT64_C(1) << (type % 64);
        if (text[length] == '\0') return true;
        text += length + 1;
    }
}

static bool option_pid(struct inspect *in, const char *text) {
    uint64_t number = 0;
    if (strcmp(text, "all") == 0) {
        in->options.everyone = true;
        in->options.given |= ACCEPT_ALL;
        return true;
    }
    if (!option_number(in, "--pid", text, 1, INT32_MAX, &number)) return false;
    in->options.pid = (int32_t)number;
    return true;
}

static bool option_take_number(struct inspect *in, const struct option *option, const char *text) {
    uint64_t number = 0, least = option->kind == OPTION_LIMIT ? 0 : 1;
    uint64_t most = option->kind == OPTION_LIMIT ? UINT64_MAX : option->kind == OPTION_TID ? INT32_MAX : UINT32_MAX;
    if (!option_number(in, option->name, text, least, most, &number)) return false;
    if (option->kind == OPTION_LIMIT) in->options.limit = number;
    if (option->kind == OPTION_SPACE) in->options.space = (uint32_t)number;
    if (option->kind == OPTION_TID) in->options.tid = (int32_t)number;
    return true;
}

static bool option_take(struct inspect *in, const struct option *option, const char *value) {
    char *field = (char *)&in->options + option->field;
    in->options.given |= option->accept;
    switch (option->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return true;
    case OPTION_TEXT:
        *(const char **)field = value;
        return true;
    case OPTION_EVENT:
        return option_events(in, value);
    case OPTION_PID:
        return option_pid(in, value);
    default:
        return option_take_number(in, option, value);
    }
}

// Takes the option at argv[*i] and its value; moves *i to the last word used.
static bool option_at(struct inspect *in, int argc, char **argv, int *i) {
    const char *word = argv[*i];
    const struct option *option = option_find(word);
    if (option == NULL) {
        inspect_fail(in, INSPECT_USAGE, "there is no option %.60s; vmvis-inspect --help lists them", word);
        return false;
    }
    const char *equals = strchr(word, '=');
    if (option->value == NULL) {
        if (equals == NULL) return option_take(in, option, NULL);
        inspect_fail(in, INSPECT_USAGE, "%s takes no value", option->name);
        return false;
    }
    const char *value = equals != NULL ? equals + 1 : *i + 1 < argc ? argv[++*i] : NULL;
    if (value != NULL) return option_take(in, option, value);
    inspect_fail(in, INSPECT_USAGE, "%s needs a value: %s %s", option->name, option->name, option->value);
    return false;
}

static void option_word(struct inspect_options *options, char *word) {
    if (options->command == NULL) {
        options->command = word;
    } else if (options->trace == NULL) {
        options->trace = word;
    } else {
        options->places[options->place_count++] = word;
        options->given |= ACCEPT_PLACES;
    }
}

// What is given must be something that the command knows what to do with.
static bool options_fit(struct inspect *in, const struct inspect_command *command) {
    const struct inspect_options *options = &in->options;
    unsigned extra = options->given & ~command->accepts;
    if (extra & ACCEPT_PLACES) {
        inspect_fail(in, INSPECT_USAGE, "%s takes no place: %.60s is one word too many", command->name,
                     options->places[0]);
        return false;
    }
    if (extra == ACCEPT_ALL) {
        inspect_fail(in, INSPECT_USAGE, "--pid all: %s shows one process at a time; give its number", command->name);
        return false;
    }
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        if ((option_table[i].accept & extra) == 0) continue;
        inspect_fail(in, INSPECT_USAGE, "%s does not take %s; vmvis-inspect %s --help lists what it takes",
                     command->name, option_table[i].name, command->name);
        return false;
    }
    if ((options->pid != 0 || options->everyone) && options->space != 0) {
        inspect_fail(in, INSPECT_USAGE, "give --pid or --space, not both");
        return false;
    }
    if (options->json && options->raw) {
        inspect_fail(in, INSPECT_USAGE, "give --json or --raw, not both");
        return false;
    }
    return true;
}

static bool options_complete(struct inspect *in) {
    const struct inspect_options *options = &in->options;
    if (options->version || options->help) return true;
    if (options->command == NULL) {
        inspect_fail(in, INSPECT_USAGE, "usage: vmvis-inspect COMMAND TRACE [OPTION...] [RANGE...]; --help says more");
        return false;
    }
    const struct inspect_command *command = inspect_command_find(options->command);
    if (command == NULL) return true; // refused by name later
    if (options->trace == NULL) {
        inspect_fail(in, INSPECT_USAGE, "which trace? vmvis-inspect %s TRACE; %s --help says more", command->name,
                     command->name);
        return false;
    }
    return options_fit(in, command);
}

bool inspect_options_parse(struct inspect *in, int argc, char **argv) {
    in->options = (struct inspect_options){.limit = UINT64_MAX};
    in->options.places = calloc((size_t)argc + 1, sizeof *in->options.places);
    if (in->options.places == NULL) abort();
    bool literal = false;
    for (int i = 1; i < argc; i++) {
        if (!literal && strcmp(argv[i], "--") == 0) {
            literal = true;
        } else if (!literal && argv[i][0] == '-' && argv[i][1] != '\0') {
            if (!option_at(in, argc, argv, &i)) return false;
        } else {
            option_word(&in->options, argv[i]);
        }
    }
    return options_complete(in);
}
