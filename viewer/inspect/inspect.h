// vmvis-inspect: questions about a trace, answered as text or JSON. One context a run, owned by inspect_main(); each
// command is one function over the timeline that writes to the context's output and returns an exit status.
#ifndef INSPECT_H
#define INSPECT_H

#include "decode.h"
#include "inspect_json.h"
#include "inspect_out.h"
#include "timeline.h"

enum inspect_status { INSPECT_OK = 0, INSPECT_ABSENT = 1, INSPECT_USAGE = 2, INSPECT_UNREADABLE = 3 };

enum inspect_accept { // what a command takes besides --json and --help
    ACCEPT_AT = 1,
    ACCEPT_SPAN = 2,  // --from, --to
    ACCEPT_SPACE = 4, // --pid, --space
    ACCEPT_TID = 8,
    ACCEPT_EVENT = 16,
    ACCEPT_LIMIT = 32,
    ACCEPT_RAW = 64,
    ACCEPT_PLACES = 128,
    ACCEPT_ALL = 256, // --pid all
    ACCEPT_AS = 512,
    ACCEPT_STACKS = 1024,
};

struct inspect_options {
    const char *command, *trace;
    bool json, raw, stacks, help, version;
    const char *at, *from, *to, *as;
    int32_t pid, tid;  // 0: not given
    uint32_t space;    // 0: not given
    bool everyone;     // --pid all
    uint64_t limit;    // UINT64_MAX: none
    uint64_t types[2]; // bit set over enum vmv_event_type; both 0: not given
    unsigned given;    // enum inspect_accept
    char **places;     // RANGE arguments, as they came
    size_t place_count;
};

struct inspect {
    struct inspect_options options;
    struct timeline *tl;
    struct decode *decode; // over tl
    struct inspect_out out;
    struct json json;
    char error[1024]; // one line without the program's name; set whenever a command does not return 0
};

struct inspect_command {
    const char *name;
    const char *purpose; // one line
    unsigned accepts;    // enum inspect_accept
    int (*run)(struct inspect *in);
    const char *help; // paragraphs and examples
};
extern const struct inspect_command inspect_commands[];
extern const size_t inspect_command_count;
const struct inspect_command *inspect_command_find(const char *name); // NULL if this version has none of that name
bool inspect_command_planned(const char *name); // a command of the contract that this version does not have

int inspect_main(int argc, char **argv); // the exit status

// Fills `in->options`; false: in->error.
bool inspect_options_parse(struct inspect *in, int argc, char **argv);
void inspect_help(struct inspect_out *out, const struct inspect_command *command); // NULL: the program's

// Sets the error text and returns `status`.
__attribute__((format(printf, 3, 4))) int inspect_fail(struct inspect *in, int status, const char *format, ...);
__attribute__((format(printf, 1, 2))) void inspect_warn(const char *format, ...); // one line on standard error

// --- the moment and the address space that a question is about
struct inspect_moment {
    const struct vmv_world *world; // as timeline_seek
    const struct vmv_space *space;
    int32_t pid;
    uint64_t t; // ns
};
// Seeks to --at (default: the last moment at which the process had its memory) in the space of --pid, --space or --tid
// (default: the first process). A moment after the end of the process is answered with its last one, and a warning.
// False: in->error and *status.
bool inspect_select(struct inspect *in, struct inspect_moment *moment, int *status);
// Whose events are asked for, at no particular moment.
struct inspect_whose {
    int32_t pid, tid; // 0: any
    uint32_t space;   // 0: any
    uint32_t *spaces; // all that the process ever had, for events that name only the space
    size_t space_count;
};
// By --pid, --space and --tid (default: the first process). False: no such one; in->error and *status.
bool inspect_select_whose(struct inspect *in, struct inspect_whose *whose, int *status);
void inspect_whose_free(struct inspect_whose *whose);
// Events that name neither process nor space concern everybody.
bool inspect_whose_match(const struct inspect_whose *whose, uint32_t space, int32_t pid, int32_t tid);
// --from and --to as ns, half-open; without them the whole recording (to = UINT64_MAX).
bool inspect_span(struct inspect *in, uint64_t *from, uint64_t *to, int *status);
// Last moment at which a process (space 0) or a space (pid 0) had its memory: the frame at the deadly signal, else the
// one at exit, else before its end.
const struct vmv_world *inspect_seek_last(struct inspect *in, int32_t pid, uint32_t space);

// Seeks to the first moment at which a process (space 0) or a space (pid 0) had mappings, as --at start means it.
void inspect_seek_first(struct inspect *in, int32_t pid, uint32_t space);

// --- RANGE arguments
struct inspect_range {
    uint64_t addr, length; // bytes, length > 0
    const char *text;      // as given
    bool whole;            // a mapping by its name, without a length: there may be more of that name
};
struct inspect_ranges {
    struct inspect_range *items;
    size_t count, room;
    struct vmv_arena arena;
};
bool inspect_ranges_parse(struct inspect *in, uint32_t space, struct inspect_ranges *ranges, int *status);
void inspect_ranges_free(struct inspect_ranges *ranges);
// How many mappings bear the name that the range was given by; 1 if it is no name.
size_t inspect_range_mappings(const struct vmv_space *space, const struct inspect_range *range);
// Names without a length become all mappings of that name. `space` may be NULL.
void inspect_ranges_widen(const struct vmv_space *space, struct inspect_ranges *ranges);

// Says, once for each object, what is wrong with debug information that was asked for.
void inspect_warn_debug(struct inspect *in, uint32_t space);

// --- small things that several commands print
const char *inspect_protection(const struct vmv_mapping *mapping, char out[5]); // "rw-p"
const char *inspect_certainty(uint8_t certainty);
const char *inspect_page_state(uint8_t state);
const char *inspect_frame_why(uint8_t why);
const char *inspect_source(uint8_t source);
const char *inspect_mapping_label(const struct vmv_mapping *mapping); // its name, or "anonymous"

// The pc of a captured stack's registers; false if it is not known.
bool inspect_stack_pc(struct inspect *in, uint64_t stack, uint64_t *pc);
// "stack":[{"pc":…}] or null, by the event's stack, else by its pc; with --stacks its whole backtrace, for which the
// timeline is moved to the event.
void inspect_put_stack(struct inspect *in, const struct vmv_event *event);
// The backtrace of an event's stack: in JSON the elements of "stack", as text lines. False: it has none.
bool inspect_put_backtrace(struct inspect *in, const struct vmv_event *event);

// --- progress on standard error, from the second second on and only on a terminal
struct inspect_progress {
    uint64_t began, shown; // ns
    unsigned skip;
    bool tty;
};
void inspect_progress_begin(struct inspect_progress *progress);
void inspect_progress_step(struct inspect_progress *progress, const char *what, uint64_t done, uint64_t total);
void inspect_progress_end(struct inspect_progress *progress);

// --- commands
int inspect_info(struct inspect *in);
int inspect_verify(struct inspect *in);
int inspect_summary(struct inspect *in);
int inspect_frames(struct inspect *in);
int inspect_events(struct inspect *in);
int inspect_maps(struct inspect *in);
int inspect_pages(struct inspect *in);
int inspect_threads(struct inspect *in);
int inspect_regs(struct inspect *in);
int inspect_read(struct inspect *in);
int inspect_symbol(struct inspect *in);
int inspect_sections(struct inspect *in);
int inspect_got(struct inspect *in);
int inspect_disasm(struct inspect *in);
int inspect_backtrace(struct inspect *in);
int inspect_heap(struct inspect *in);
int inspect_explain(struct inspect *in);
int inspect_type(struct inspect *in);

#endif
