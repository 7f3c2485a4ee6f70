#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_SIZE_LEAST = 4 << 20 }; // an empty trace with its libraries takes about 1 MiB

static const char help_text[] =
    "Usage: vmvis-record [OPTION]... [--] PROGRAM [ARG]...\n"
    "       vmvis-record [OPTION]... -p PID\n"
    "Run PROGRAM, or attach to process PID, and record what it does with its virtual memory\n"
    "into one file.\n"
    "\n"
    "  -o FILE              write the trace to FILE (default trace.vmv); an existing FILE\n"
    "                       becomes FILE.old; - writes to standard output, and the program's\n"
    "                       own standard output then goes to standard error\n"
    "  -p, --pid PID        attach to a running process, its threads and its later children;\n"
    "                       Ctrl-C detaches and leaves it running\n"
    "  -i, --interval MS    time between frames (registers, written pages); auto starts at\n"
    "                       20 ms and is stretched up to 2 s to keep within the budget\n"
    "      --budget PCT     what recording may cost the program in time (default 10%);\n"
    "                       none: keep everything, whatever it costs\n"
    "      --faults SOURCE  how page faults are seen (default auto):\n"
    "                         records  the kernel's page-fault records; the program never stops\n"
    "                         uffd     userfaultfd: every first touch holds its thread, exact order\n"
    "                         frames   residency and written pages at each frame; no privilege\n"
    "                         none     memory calls only\n"
    "      --maps HOW       stops: each memory call stops the thread, in exact order (default);\n"
    "                       frames: mappings are read at each frame, no call stops (default\n"
    "                       with -p; there stops means that every system call does)\n"
    "      --watch RANGE    each write to a variable, with its thread, stack and value: NAME, NAME+N,\n"
    "                       or 0xADDR, and ,LEN; 8 bytes at most; up to four\n"
    "      --stack BYTES    stack captured with faults and memory calls (default 2048; 0: none)\n"
    "      --content WHAT   changed: contents of written pages (default); none\n"
    "      --embed-limit SIZE  embed mapped files up to SIZE (default 64M); programs and\n"
    "                       libraries are always embedded\n"
    "      --embed-debug    embed their separate debug files, too, where they are installed\n"
    "      --exclude WHAT   never capture the contents of WHAT: 0xADDR,LEN or 0xADDR-0xADDR, or a\n"
    "                       region: [heap], [stack], a mapped file's path or its last part; may\n"
    "                       be given several times\n"
    "      --no-env         keep the environment out of the trace, and where it lies on the stack\n"
    "      --max-size SIZE  the trace stays below SIZE: first contents stop, then recording;\n"
    "                       the program goes on\n"
    "      --ring WHAT      a flight recorder: keep the last WHAT only, a time (60s, 5m) or a size\n"
    "                       (500M); SIGUSR1 keeps what is held, as FILE.1, FILE.2 ...\n"
    "      --no-follow      record the program itself, not the processes it starts\n"
    "      --split-huge     follow writes within huge pages too; this splits them for good\n"
    "      --user NAME      run the program as user NAME, its groups and HOME included; the\n"
    "                       recorder keeps its rights, and the trace belongs to NAME\n"
    "  -q                   say nothing;  -v  say more\n"
    "      --help, --version\n"
    "\n"
    "The exit status is the program's; a signal that killed it is raised again here.\n"
    "125: PROGRAM was not started because of vmvis; 126: not executable; 127: not found.\n"
    "\n"
    "Examples:\n"
    "  vmvis-record ./prog --some arguments     then: vmvis-replay trace.vmv\n"
    "  vmvis-record -o sort.vmv --budget none -- sort big.txt\n";

static bool bad(const char *format, const char *text) {
    fprintf(stderr, "vmvis-record: ");
    fprintf(stderr, format, text);
    fprintf(stderr, "; see vmvis-record --help\n");
    return false;
}

static bool parse_size(const char *text, uint64_t *bytes) {
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (end == text || errno || text[0] == '-') return false;
    unsigned shift = 0;
    if (*end == 'k' || *end == 'K') shift = 10;
    if (*end == 'm' || *end == 'M') shift = 20;
    if (*end == 'g' || *end == 'G') shift = 30;
    if (shift) end++;
    if (shift && *end == 'i') end++;
    if (*end == 'B') end++;
    if (*end || (value << shift) >> shift != value) return false;
    *bytes = value << shift;
    return true;
}

static bool parse_interval(struct options *options, const char *text) {
    if (strcmp(text, "auto") == 0) {
        options->interval_auto = true;
        options->interval_ns = 20000000;
        return true;
    }
    char *end;
    double ms = strtod(text, &end);
    if (strcmp(end, "ms") == 0) end += 2;
    if (end == text || *end || !(ms >= 1 && ms <= 3600000))
        return bad("--interval takes auto or milliseconds from 1 to 3600000, not '%s'", text);
    options->interval_auto = false;
    options->interval_ns = (uint64_t)(ms * 1e6);
    return true;
}

static bool parse_budget(struct options *options, const char *text) {
    if (strcmp(text, "none") == 0) {
        options->budget_percent = -1;
        return true;
    }
    char *end;
    double percent = strtod(text, &end);
    if (*end == '%') end++;
    if (end == text || *end || !(percent > 0 && percent <= 1000))
        return bad("--budget takes a percentage above 0 or none, not '%s'", text);
    options->budget_percent = percent;
    return true;
}

static const char *const faults_words[] = {"auto", "records", "uffd", "frames", "none"};

const char *options_faults_word(enum faults_choice choice) { return faults_words[choice]; }

static bool parse_faults(struct options *options, const char *text) {
    for (unsigned i = 0; i < 5; i++)
        if (strcmp(text, faults_words[i]) == 0) {
            options->faults = (enum faults_choice)i;
            return true;
        }
    return bad("--faults takes auto, records, uffd, frames or none, not '%s'", text);
}

static bool parse_stack(struct options *options, const char *text) {
    uint64_t bytes;
    if (!parse_size(text, &bytes) || bytes > 32768) return bad("--stack takes bytes from 0 to 32768, not '%s'", text);
    options->stack_bytes = (uint32_t)((bytes + 7) & ~7ull);
    return true;
}

static bool parse_content(struct options *options, const char *text) {
    options->content = strcmp(text, "changed") == 0;
    if (options->content || strcmp(text, "none") == 0) return true;
    return bad("--content takes changed or none, not '%s'", text);
}

static bool parse_embed(struct options *options, const char *text) {
    if (parse_size(text, &options->embed_limit)) return true;
    return bad("--embed-limit takes a size such as 64M, not '%s'", text);
}

static bool parse_max_size(struct options *options, const char *text) {
    if (parse_size(text, &options->max_size) && options->max_size >= MAX_SIZE_LEAST) return true;
    return bad("--max-size takes a size of at least 4M, not '%s'", text);
}

// A time has a unit of its own; without one, or with those of sizes, it is a size.
static bool parse_ring(struct options *options, const char *text) {
    char *end;
    double value = strtod(text, &end);
    double unit = strcmp(end, "s") == 0 ? 1e9 : strcmp(end, "min") == 0 || strcmp(end, "m") == 0 ? 60e9 : 0;
    if (strcmp(end, "h") == 0) unit = 3600e9;
    options->ring = text;
    if (end > text && unit > 0 && value >= 1 && value * unit < 1e18) {
        options->ring_ns = (uint64_t)(value * unit);
        return true;
    }
    if (parse_size(text, &options->ring_bytes) && options->ring_bytes >= MAX_SIZE_LEAST) return true;
    return bad("--ring takes a time from 1s on (60s, 5m, 1h) or a size of at least 4M (500M), not '%s'", text);
}

static bool parse_watch(struct options *options, const char *text) {
    const char *wrong = watch_parse(&options->watch, text);
    if (!wrong) return true;
    fprintf(stderr, "vmvis-record: --watch '%s': %s; see vmvis-record --help\n", text, wrong);
    return false;
}

static bool parse_pid(struct options *options, const char *text) {
    char *end;
    errno = 0;
    long pid = strtol(text, &end, 10);
    if (end == text || *end || errno || pid < 1 || pid > INT_MAX) return bad("-p takes a process id, not '%s'", text);
    options->attach = (pid_t)pid;
    return true;
}

static bool parse_maps(struct options *options, const char *text) {
    options->maps_frames = strcmp(text, "frames") == 0;
    options->maps_given = true;
    if (options->maps_frames || strcmp(text, "stops") == 0) return true;
    return bad("--maps takes stops or frames, not '%s'", text);
}

enum long_option {
    OPT_BUDGET = 256,
    OPT_MAPS,
    OPT_FAULTS,
    OPT_STACK,
    OPT_CONTENT,
    OPT_EMBED,
    OPT_EXCLUDE,
    OPT_NO_ENV,
    OPT_EMBED_DEBUG,
    OPT_MAX_SIZE,
    OPT_NO_FOLLOW,
    OPT_SPLIT_HUGE,
    OPT_USER,
    OPT_WATCH,
    OPT_RING,
    OPT_HELP,
    OPT_VERSION
};

static const struct option long_options[] = {{"interval", required_argument, 0, 'i'},
                                             {"output", required_argument, 0, 'o'},
                                             {"pid", required_argument, 0, 'p'},
                                             {"maps", required_argument, 0, OPT_MAPS},
                                             {"budget", required_argument, 0, OPT_BUDGET},
                                             {"faults", required_argument, 0, OPT_FAULTS},
                                             {"stack", required_argument, 0, OPT_STACK},
                                             {"content", required_argument, 0, OPT_CONTENT},
                                             {"embed-limit", required_argument, 0, OPT_EMBED},
                                             {"exclude", required_argument, 0, OPT_EXCLUDE},
                                             {"no-env", no_argument, 0, OPT_NO_ENV},
                                             {"embed-debug", no_argument, 0, OPT_EMBED_DEBUG},
                                             {"max-size", required_argument, 0, OPT_MAX_SIZE},
                                             {"no-follow", no_argument, 0, OPT_NO_FOLLOW},
                                             {"split-huge", no_argument, 0, OPT_SPLIT_HUGE},
                                             {"user", required_argument, 0, OPT_USER},
                                             {"watch", required_argument, 0, OPT_WATCH},
                                             {"ring", required_argument, 0, OPT_RING},
                                             {"quiet", no_argument, 0, 'q'},
                                             {"verbose", no_argument, 0, 'v'},
                                             {"help", no_argument, 0, OPT_HELP},
                                             {"version", no_argument, 0, OPT_VERSION},
                                             {0, 0, 0, 0}};

static bool take_option(struct options *options, int option) {
    switch (option) {
    case 'o':
        options->output = optarg;
        return true;
    case 'i':
        return parse_interval(options, optarg);
    case 'p':
        return parse_pid(options, optarg);
    case OPT_MAPS:
        return parse_maps(options, optarg);
    case 'q':
        options->quiet = true;
        return true;
    case 'v':
        options->verbose++;
        return true;
    case OPT_BUDGET:
        return parse_budget(options, optarg);
    case OPT_FAULTS:
        return parse_faults(options, optarg);
    case OPT_STACK:
        return parse_stack(options, optarg);
    case OPT_CONTENT:
        return parse_content(options, optarg);
    case OPT_EMBED:
        return parse_embed(options, optarg);
    case OPT_EXCLUDE:
        if (exclude_parse(&options->exclude, optarg)) return true;
        return bad("--exclude takes up to 32 of 0xADDR,LEN, 0xADDR-0xADDR or a region's name, not '%s'", optarg);
    case OPT_NO_ENV:
        options->no_env = true;
        return true;
    case OPT_EMBED_DEBUG:
        options->embed_debug = true;
        return true;
    case OPT_MAX_SIZE:
        return parse_max_size(options, optarg);
    case OPT_NO_FOLLOW:
        options->no_follow = true;
        return true;
    case OPT_SPLIT_HUGE:
        options->split_huge = true;
        return true;
    case OPT_RING:
        return parse_ring(options, optarg);
    case OPT_WATCH:
        return parse_watch(options, optarg);
    case OPT_USER:
        options->user = optarg;
        return true;
    default:
        return false;
    }
}

static void set_defaults(struct options *options) {
    *options = (struct options){.output = "trace.vmv",
                                .interval_ns = 20000000,
                                .interval_auto = true,
                                .budget_percent = 10,
                                .stack_bytes = 2048,
                                .content = true,
                                .embed_limit = 64ull << 20};
}

static bool fits_ring(const struct options *options) {
    if (strcmp(options->output, "-") == 0) return bad("%s", "--ring needs a file: -o - cannot be taken back");
    if (options->max_size) return bad("%s", "--ring and --max-size both bound the trace: use one of them");
    return true;
}

// What a program that runs already cannot be given any more.
static bool fits_attach(struct options *options, const char *program) {
    if (program) return bad("-p attaches to a process: '%s' cannot be run as well", program);
    if (options->user) return bad("%s", "--user is for a program that is started, not for -p");
    if (!options->maps_given) options->maps_frames = true;
    return true;
}

enum options_result options_parse(struct options *options, int argc, char **argv) {
    set_defaults(options);
    for (int option; (option = getopt_long(argc, argv, "+:o:i:p:qv", long_options, NULL)) != -1;) {
        if (option == OPT_HELP) return fputs(help_text, stdout) < 0 ? OPTIONS_BAD : OPTIONS_DONE;
        if (option == OPT_VERSION) return puts("vmvis-record " VMVIS_VERSION) < 0 ? OPTIONS_BAD : OPTIONS_DONE;
        if (option == ':') return bad("option '%s' needs a value", argv[optind - 1]), OPTIONS_BAD;
        if (option == '?') return bad("this version has no option '%s'", argv[optind - 1]), OPTIONS_BAD;
        if (!take_option(options, option)) return OPTIONS_BAD;
    }
    if (options->ring && !fits_ring(options)) return OPTIONS_BAD;
    if (options->attach) return fits_attach(options, argv[optind]) ? OPTIONS_RUN : OPTIONS_BAD;
    if (!argv[optind]) return bad("%s", "name a program to run"), OPTIONS_BAD;
    options->command = argv + optind;
    return OPTIONS_RUN;
}
