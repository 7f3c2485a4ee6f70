// The commands of this version, and what each accepts.
#include "inspect.h"

#include "inspect_help.h"

#include <string.h>

const struct inspect_command inspect_commands[] = {
    {"info", "what was recorded, how, how completely and at what cost", 0, inspect_info, inspect_help_info},
    {"verify", "whether every chunk of the trace is sound", 0, inspect_verify, inspect_help_verify},
    {"summary", "peaks, what grew and who touched it, the pages written most", ACCEPT_SPACE | ACCEPT_SPAN,
     inspect_summary, inspect_help_summary},
    {"frames", "the moments at which pages, registers and contents were taken",
     ACCEPT_SPACE | ACCEPT_ALL | ACCEPT_SPAN | ACCEPT_LIMIT, inspect_frames, inspect_help_frames},
    {"events", "what happened, in order",
     ACCEPT_SPACE | ACCEPT_ALL | ACCEPT_TID | ACCEPT_SPAN | ACCEPT_EVENT | ACCEPT_LIMIT | ACCEPT_PLACES | ACCEPT_STACKS,
     inspect_events, inspect_help_events},
    {"maps", "the mappings at a moment, as /proc/PID/maps prints them, neighbours joined",
     ACCEPT_AT | ACCEPT_SPACE | ACCEPT_LIMIT | ACCEPT_PLACES, inspect_maps, inspect_help_maps},
    {"pages", "the state of pages at a moment, as runs of equal ones",
     ACCEPT_AT | ACCEPT_SPACE | ACCEPT_LIMIT | ACCEPT_PLACES, inspect_pages, inspect_help_pages},
    {"threads", "the threads at a moment", ACCEPT_AT | ACCEPT_SPACE | ACCEPT_TID | ACCEPT_LIMIT, inspect_threads,
     inspect_help_threads},
    {"regs", "the registers of threads at a moment", ACCEPT_AT | ACCEPT_SPACE | ACCEPT_TID | ACCEPT_LIMIT, inspect_regs,
     inspect_help_regs},
    {"read", "bytes at a moment", ACCEPT_AT | ACCEPT_SPACE | ACCEPT_RAW | ACCEPT_PLACES, inspect_read,
     inspect_help_read},
    {"symbol", "which symbol an address belongs to, and the address of a symbol",
     ACCEPT_AT | ACCEPT_SPACE | ACCEPT_LIMIT | ACCEPT_PLACES, inspect_symbol, inspect_help_symbol},
    {"sections", "the sections of programs and libraries where they are mapped",
     ACCEPT_AT | ACCEPT_SPACE | ACCEPT_LIMIT | ACCEPT_PLACES, inspect_sections, inspect_help_sections},
    {"got", "what each slot of the global offset tables is bound to, and since when",
     ACCEPT_AT | ACCEPT_SPACE | ACCEPT_LIMIT | ACCEPT_PLACES, inspect_got, inspect_help_got},
    {"disasm", "the instructions of a range, from the bytes of the moment",
     ACCEPT_AT | ACCEPT_SPACE | ACCEPT_LIMIT | ACCEPT_PLACES, inspect_disasm, inspect_help_disasm},
    {"backtrace", "the functions that called each other, of each thread at a moment",
     ACCEPT_AT | ACCEPT_SPACE | ACCEPT_TID | ACCEPT_LIMIT, inspect_backtrace, inspect_help_backtrace},
    {"heap", "the chunks of glibc's malloc: in use, free, in which list",
     ACCEPT_AT | ACCEPT_SPACE | ACCEPT_LIMIT | ACCEPT_PLACES, inspect_heap, inspect_help_heap},
    {"explain", "what a place is, in words", ACCEPT_AT | ACCEPT_SPACE | ACCEPT_PLACES, inspect_explain,
     inspect_help_explain},
    {"type", "a variable, or any type laid over a place, with values",
     ACCEPT_AT | ACCEPT_SPACE | ACCEPT_LIMIT | ACCEPT_PLACES | ACCEPT_AS, inspect_type, inspect_help_type},
};
const size_t inspect_command_count = sizeof inspect_commands / sizeof inspect_commands[0];

const struct inspect_command *inspect_command_find(const char *name) {
    for (size_t i = 0; i < inspect_command_count; i++) {
        if (strcmp(inspect_commands[i].name, name) == 0) return &inspect_commands[i];
    }
    return NULL;
}

bool inspect_command_planned(const char *name) {
    static const char *const names[] = {"repair", "history", "find", "diff", "strip", "core", "export", "gdb"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i], name) == 0) return true;
    }
    return false;
}
