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
    {ACCEPT_PLACES, "  RANGE          PLACE or PLACE,LEN. A PLACE is 0xADDR or a mapping ('[heap]', a path or its\n"
                    "                 last part), with or without map: before it; +N or +0xN behind it goes N bytes\n"
                    "                 further. LEN is in bytes, with K, M, G or T for larger ones. Without it a name\n"
                    "                 means all mappings of that name (read: the first), anything else 8 bytes.\n"
                    "                 - reads ranges from standard input, one a line\n"},
    {ACCEPT_AT, "  --at TIME      the moment: 1.25s 350ms 500us 1250000000ns frame:12 seq:N mark:NAME start end.\n"
                "                 The state is the one after every event at or before it. start is the first\n"
                "                 moment at which the process had mappings; end, the default, the last one at\n"
                "                 which it had its memory\n"},
    {ACCEPT_SPAN,
     "  --from TIME    only from this moment on (forms as 1.25s 350ms 500us frame:12 seq:N mark:NAME start end)\n"
     "  --to TIME      only before this moment\n"},
    {ACCEPT_SPACE, "  --pid N        the process; default: the first one\n"
                   "  --space N      the address space (the memory of one program run; exec begins a new one)\n"},
    {ACCEPT_ALL, "  --pid all      all processes\n"},
    {ACCEPT_TID, "  --tid N        only this thread\n"},
    {ACCEPT_EVENT, "  --event TYPE   only events of this type; several with commas\n"},
    {ACCEPT_LIMIT, "  --limit N      stop after N\n"},
    {ACCEPT_STACKS, "  --stacks       whole backtraces, not only the PC; slower\n"},
    {ACCEPT_AS, "  --as TYPE      the type to lay over the place\n"},
    {ACCEPT_RAW,
     "  --raw          write the bytes themselves; fails, and writes nothing, if one of them is not known\n"},
};

const char inspect_help_info[] =
    "Prints the program and its arguments, when and where it ran, how it ended, how long the\n"
    "recording is, which sources it rests on and why not better ones, what it cost, how many\n"
    "events of each type it holds, and its gaps. Faults are counted by kind as well: first-touch,\n"
    "file (a page of a file was brought in), write (caught by the recorder's write-protection: the\n"
    "first write to a page after each frame, which would not fault without the recorder), unknown.\n"
    "Pages that became resident without a fault record are of the kind \"populated\"; they are not\n"
    "counted as events. Quick however long the trace is: millions of faults are not counted by kind.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect info trace.vmv\n"
    "  vmvis-inspect info trace.vmv --json | jq .gaps\n";

const char inspect_help_verify[] =
    "Reads the whole file and checks every chunk: header, hash, compression and contents. Prints\n"
    "each error with its offset in the file. A recording that was cut off (the recorder was\n"
    "killed, the disk was full) is sound as far as it goes: it is not complete, but that is no\n"
    "error.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect verify trace.vmv\n"
    "  vmvis-inspect verify trace.vmv --json | jq '.errors[].offset'\n";

const char inspect_help_summary[] =
    "Prints the largest resident and virtual size, the mappings whose resident size grew most\n"
    "between --from and --to (default: the whole life of the process) with the instruction that\n"
    "touched most of their pages first (faults of the kinds first-touch and file), the pages seen\n"
    "written most often (at most once a frame or fault), and what must be known to read the numbers.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect summary trace.vmv\n"
    "  vmvis-inspect summary trace.vmv --from mark:loaded --to mark:done\n";

const char inspect_help_frames[] =
    "A frame is a consistent moment of one address space: its threads stood still, their\n"
    "registers were read, and the pages written since the frame before were copied. Frames are\n"
    "numbered over the whole recording. Torn pages were written while they were copied.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect frames trace.vmv --from 1s --to 2s\n"
    "  vmvis-inspect frames trace.vmv --pid all --json | jq 'select(.why == \"exec\")'\n";

const char inspect_help_events[] =
    "Types: mmap munmap mremap mprotect madvise brk shmat shmdt remap punch truncate mseal\n"
    "setname (memory calls), fault, fork exec thread-start thread-exit exit signal mark watch,\n"
    "gap governor note (the recorder itself). A call that failed shows its error and changed\n"
    "nothing. With ranges: only events that concern one of them. A page that became resident\n"
    "without a fault record is a fault of the kind \"populated\", one a page: it happened before\n"
    "the frame whose time it bears, by whom is not known, and pages found by one frame share a\n"
    "seq. What carries state (space maps frame pages content thread) is shown when asked for by\n"
    "--event.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect events trace.vmv --event mmap,munmap,mremap,brk\n"
    "  vmvis-inspect events trace.vmv --event fault --from mark:query '[heap]'\n";

const char inspect_help_maps[] =
    "Prints start-end, protection, offset, device, inode and name as /proc/PID/maps does, but with\n"
    "neighbours that continue each other joined and without [vsyscall], and between them: size; resident, the pages "
    "in\n"
    "memory at the moment; written, those seen written in the last frame or since; ever written, at any\n"
    "time since they came to be; kind (program library file heap stack anonymous kernel). With\n"
    "ranges: only the mappings that they meet.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect maps trace.vmv --at 350ms\n"
    "  vmvis-inspect maps trace.vmv --pid 4711 libc.so.6\n";

const char inspect_help_pages[] =
    "States: absent (nothing there yet), zero (the shared page of zeros), resident, swapped,\n"
    "guard, unknown (no source has told). written is the end of the interval in which the last\n"
    "write was seen; captured, when the contents were in memory as they are known; certainty:\n"
    "exact, stale (may have changed since), torn, unknown. Runs of equal pages are joined; what\n"
    "is not mapped is left out.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect pages trace.vmv '[heap]' --at frame:12\n"
    "  vmvis-inspect pages trace.vmv 0x7f3a5c000000,2M --json\n";

const char inspect_help_threads[] =
    "Prints each thread's name, state, the system call it is in, and pc, sp and fp with when they\n"
    "were captured. Certainty: exact (captured at this very moment), stale (the thread may have\n"
    "run since), partial (it was left asleep: only pc, sp and the call are known), unknown.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect threads trace.vmv\n"
    "  vmvis-inspect threads trace.vmv --at frame:12 --json\n";

const char inspect_help_regs[] =
    "Prints the registers of each thread as last captured, by the names of the recorded\n"
    "architecture: x86-64 (general, fcw, fsw, mxcsr, st0-7, xmm0-15 and, where they were in use,\n"
    "ymm0-15) and aarch64 (x0-30, sp, pc, pstate, fpsr, fpcr, v0-31). Certainty as in threads.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect regs trace.vmv --at end\n"
    "  vmvis-inspect regs trace.vmv --tid 4711 --json | jq -r .regs.rip\n";

const char inspect_help_read[] =
    "Prints the bytes of each range as hexdump -C does, with ?? for those that are not known, and\n"
    "for each stretch how certain it is and when it was captured. With --json one object a range:\n"
    "hex holds all of it with ?? for unknown bytes, captured_at and certainty are those of its\n"
    "oldest and least certain byte (partial: some are not known), and runs tells them stretch by\n"
    "stretch.\n"
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
