// The texts of --help: what a command tells, and two examples.
#ifndef INSPECT_HELP_H
#define INSPECT_HELP_H

extern const char inspect_help_info[], inspect_help_verify[], inspect_help_summary[], inspect_help_frames[],
    inspect_help_events[], inspect_help_maps[], inspect_help_pages[], inspect_help_threads[], inspect_help_regs[],
    inspect_help_read[];
// Those of commands about what bytes mean stand with the commands.
extern const char inspect_help_symbol[], inspect_help_sections[];
extern const char inspect_help_got[];
extern const char inspect_help_disasm[];
extern const char inspect_help_backtrace[];
extern const char inspect_help_heap[];
extern const char inspect_help_explain[];
extern const char inspect_help_type[];

#endif
