// --help: usage, what the command tells, the options it takes, examples, exit statuses.
#include "inspect_help.h"

#include "inspect.h"

static const char help_program[] =
    "vmvis-inspect answers questions about a trace that vmvis-record wrote: as text, or as JSON for scripts.\n"
    "\n"
    "usage: vmvis-inspect COMMAND TRACE [OPTION...] [RANGE...]\n"
    "       TRACE - reads the trace from standard input. Options may stand anywhere; -- ends them.\n"
    "\n"
    "COMMANDS\n";

static const char help_program_end[] =
    "  vmvis-inspect COMMAND --help tells what a command takes.\n"
    "\n"
    "OPTIONS\n"
    "  --json         one object, or one object a line for lists. Addresses are strings \"0x…\", times\n"
    "                 ns since the recording began, sizes bytes, unknown things null. Bytes of a name\n"
    "                 that are not UTF-8 become \\u00XX, one by one\n"
    "  --help         this text; after a command, the command's\n"
    "  --version      the version of this program and of the trace format\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect summary trace.vmv                    where did the memory go?\n"
    "  vmvis-inspect maps trace.vmv --at 1.5s             the mappings after a second and a half\n"
    "  vmvis-inspect read trace.vmv '[stack],64' --at frame:12\n"
    "  vmvis-inspect events trace.vmv --json --event mmap,munmap | wc -l\n";

static const char help_status[] = "\n"
                                  "EXIT STATUS\n"
                                  "  0  answered\n"
                                  "  1  there is no such process, moment or place in this trace\n"
                                  "  2  wrong use, or the answer could not be written\n"
                                  "  3  the trace cannot be read; verify: it is damaged\n";

static const struct {
    unsigned accept;
    const char *text;
} help_options[] = {
    {ACCEPT_PLACES,
     "  RANGE          PLACE or PLACE,LEN. A PLACE is 0xADDR, a mapping ('[heap]', a path or its last part)\n"
     "                 with or without map: before it. LEN is in bytes, with K, M, G or T for larger ones; without it "
     "the whole thing, or 8 bytes.\n"
     "                 - reads ranges from standard input, one a line\n"},
    {ACCEPT_AT,
     "  --at TIME      the moment: 1.25s 350ms 1250000000ns frame:12 seq:N mark:NAME start end. The state is the\n"
     "                 one after every event at or before it. Default: end, the last moment at which the\n"
     "                 process had its memory\n"},
    {ACCEPT_SPAN,
     "  --from TIME    only from this moment on (forms as 1.25s 350ms frame:12 seq:N mark:NAME start end)\n"
     "  --to TIME      only before this moment\n"},
    {ACCEPT_SPACE, "  --pid N        the process; default: the first one\n"
                   "  --space N      the address space (the memory of one program run; exec begins a new one)\n"},
    {ACCEPT_ALL, "  --pid all      all processes\n"},
    {ACCEPT_TID, "  --tid N        only this thread\n"},
    {ACCEPT_EVENT, "  --event TYPE   only events of this type; several with commas\n"},
    {ACCEPT_LIMIT, "  --limit N      stop after N\n"},
    {ACCEPT_RAW,
     "  --raw          write the bytes themselves; fails, and writes nothing, if one of them is not known\n"},
};

const char inspect_help_info[] =
    "Prints the program and its arguments, when and where it ran, how it ended, how long the recording is, which\n"
    "sources it rests on and why not better ones, what it cost, how many events of each type it holds, and its gaps.\n"
    "Opening is quick however long the trace is. Pages that became resident without a fault record are listed by\n"
    "events as faults of the kind \"populated\", but not counted here.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect info trace.vmv\n"
    "  vmvis-inspect info trace.vmv --json | jq .gaps\n";

const char inspect_help_verify[] =
    "Reads the whole file and checks every chunk: header, hash, compression and contents. Prints each error with its\n"
    "offset in the file. A recording that was cut off (the recorder was killed, the disk was full) is sound as far as\n"
    "it goes: it is not complete, but that is no error.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect verify trace.vmv\n"
    "  vmvis-inspect verify trace.vmv --json | jq '.errors[].offset'\n";

const char inspect_help_summary[] =
    "Prints the largest resident and virtual size, the mappings whose resident size grew most between --from and --to\n"
    "(default: the whole life of the process) with the instruction whose page faults touched most of them, the pages\n"
    "seen written most often (at most once a frame or fault), and what must be known to read the numbers.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect summary trace.vmv\n"
    "  vmvis-inspect summary trace.vmv --from mark:loaded --to mark:done\n";

const char inspect_help_frames[] =
    "A frame is a consistent moment of one address space: its threads stood still, their registers were read, and the\n"
    "pages written since the frame before were copied. Frames are numbered over the whole recording. Torn pages were\n"
    "written while they were copied.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect frames trace.vmv --from 1s --to 2s\n"
    "  vmvis-inspect frames trace.vmv --pid all --json | jq 'select(.why == \"exec\")'\n";

const char inspect_help_events[] =
    "Types: mmap munmap mremap mprotect madvise brk shmat shmdt remap punch truncate mseal setname (memory calls),\n"
    "fault, fork exec thread-start thread-exit exit signal mark watch, gap governor note (the recorder itself).\n"
    "A call that failed shows its error and changed nothing. With ranges: only events that concern one of them.\n"
    "A page that became resident without a fault record is a fault of the kind \"populated\", one a page: it happened\n"
    "before the frame whose time it bears, by whom is not known, and pages found by one frame share a seq.\n"
    "What carries state (space maps frame pages content thread) is shown when asked for by --event.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect events trace.vmv --event mmap,munmap,mremap,brk\n"
    "  vmvis-inspect events trace.vmv --event fault --from mark:query '[heap]'\n";

const char inspect_help_maps[] =
    "Prints start-end, protection, offset, device, inode and name as /proc/PID/maps does, with mappings that continue\n"
    "each other joined, and between them: size; resident, the pages in memory at the moment; written, those seen\n"
    "written since they came to be; kind (program library file heap stack anonymous kernel). With ranges: only the\n"
    "mappings that they meet.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect maps trace.vmv --at 350ms\n"
    "  vmvis-inspect maps trace.vmv --pid 4711 libc.so.6\n";

const char inspect_help_pages[] =
    "States: absent (nothing there yet), zero (the shared page of zeros), resident, swapped, guard, unknown (no "
    "source\n"
    "has told). written is the end of the interval in which the last write was seen; captured, when the contents were\n"
    "in memory as they are known; certainty: exact, stale (may have changed since), torn, unknown. Runs of equal "
    "pages\n"
    "are joined; what is not mapped is left out.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect pages trace.vmv '[heap]' --at frame:12\n"
    "  vmvis-inspect pages trace.vmv 0x7f3a5c000000,2M --json\n";

const char inspect_help_threads[] =
    "Prints each thread's name, state, the system call it is in, and pc, sp and fp with when they were captured.\n"
    "Certainty: exact (captured at this very moment), stale (the thread may have run since), partial (it was left\n"
    "asleep: only pc, sp and the call are known), unknown.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect threads trace.vmv\n"
    "  vmvis-inspect threads trace.vmv --at frame:12 --json\n";

const char inspect_help_regs[] =
    "Prints the registers of each thread as last captured, by the names of the recorded architecture: x86-64 "
    "(general,\n"
    "fcw, fsw, mxcsr, st0-7, xmm0-15 and, where they were in use, ymm0-15) and aarch64 (x0-30, sp, pc, pstate, fpsr,\n"
    "fpcr, v0-31). Certainty as in threads.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect regs trace.vmv --at end\n"
    "  vmvis-inspect regs trace.vmv --tid 4711 --json | jq -r .regs.rip\n";

const char inspect_help_read[] =
    "Prints the bytes of each range as hexdump -C does, with ?? for those that are not known, and for each stretch "
    "how\n"
    "certain it is and when it was captured. With --json one object a range: hex holds all of it with ?? for unknown\n"
    "bytes, captured_at and certainty are those of its oldest and least certain byte (partial: some are not known),\n"
    "and runs tells them stretch by stretch.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect read trace.vmv 0x7ffd1c9e3a40,64 --at 1.5s\n"
    "  vmvis-inspect read trace.vmv '[heap]' --at frame:12 --raw > heap.bin\n";

static void help_command_list(struct inspect_out *out) {
    for (size_t i = 0; i < inspect_command_count; i++) {
        inspect_out_format(out, "  %-9s %s\n", inspect_commands[i].name, inspect_commands[i].purpose);
    }
}

static void help_of_command(struct inspect_out *out, const struct inspect_command *command) {
    const char *places = command->accepts & ACCEPT_PLACES ? " [RANGE...]" : "";
    inspect_out_format(out, "vmvis-inspect %s: %s\n\nusage: vmvis-inspect %s TRACE [OPTION...]%s\n\n", command->name,
                       command->purpose, command->name, places);
    inspect_out_text(out, command->help);
    inspect_out_text(out, "\nOPTIONS\n  --json         for scripts: one object, or one object a line\n");
    for (size_t i = 0; i < sizeof help_options / sizeof help_options[0]; i++) {
        if (command->accepts & help_options[i].accept) inspect_out_text(out, help_options[i].text);
    }
    inspect_out_text(out, help_status);
}

void inspect_help(struct inspect_out *out, const struct inspect_command *command) {
    if (command != NULL) {
        help_of_command(out, command);
        return;
    }
    inspect_out_text(out, help_program);
    help_command_list(out);
    inspect_out_text(out, help_program_end);
    inspect_out_text(out, help_status);
}
