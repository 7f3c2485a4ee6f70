// Events: everything the recorder saw, in one order. The order of the file is the order of cause and effect;
// an event's sequence number is its place in it. What an event does to the state is said by world_apply() alone.
#ifndef VMV_EVENT_H
#define VMV_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Values are part of the file format: never renumber.
enum vmv_event_type {
    VMV_EV_NONE = 0,
    // memory calls, as they succeeded or failed (ret < 0 is a negative errno and changes nothing)
    VMV_EV_MMAP = 1,
    VMV_EV_MUNMAP = 2,
    VMV_EV_MREMAP = 3,
    VMV_EV_MPROTECT = 4,
    VMV_EV_MADVISE = 5,
    VMV_EV_BRK = 6,
    VMV_EV_SHMAT = 7,
    VMV_EV_SHMDT = 8,
    VMV_EV_REMAP = 9, // remap_file_pages
    VMV_EV_PUNCH = 10,
    VMV_EV_TRUNCATE = 11,
    VMV_EV_MSEAL = 12,
    VMV_EV_SETNAME = 13,
    // what happened to pages and processes
    VMV_EV_FAULT = 20,
    VMV_EV_FORK = 21,
    VMV_EV_EXEC = 22,
    VMV_EV_THREAD_START = 23,
    VMV_EV_THREAD_EXIT = 24,
    VMV_EV_EXIT = 25,
    VMV_EV_SIGNAL = 26,
    VMV_EV_MARK = 27,
    VMV_EV_WATCH = 28,
    // what the recorder says of itself
    VMV_EV_GAP = 40,
    VMV_EV_GOVERNOR = 41,
    VMV_EV_NOTE = 42,
    // carriers of state
    VMV_EV_SPACE = 60,   // a new address space and the process that owns it
    VMV_EV_MAPS = 61,    // the mappings inside [addr, addr+len) are exactly these
    VMV_EV_FRAME = 62,   // a frame begins; the PAGES, CONTENT and THREAD events with the same t belong to it
    VMV_EV_PAGES = 63,   // a run of pages in one state
    VMV_EV_CONTENT = 64, // captured contents of a run of pages
    VMV_EV_THREAD = 65,  // a thread's registers and state at a frame
    VMV_EV_TYPE_COUNT = 66,
};

// Protection and kind bits of a mapping as /proc/PID/maps prints them, and a few of our own.
enum vmv_map_flags {
    VMV_MAP_R = 1,
    VMV_MAP_W = 2,
    VMV_MAP_X = 4,
    VMV_MAP_SHARED = 8,
    VMV_MAP_GROWSDOWN = 16, // the main stack, MAP_GROWSDOWN mappings
    VMV_MAP_HUGETLB = 32,
    VMV_MAP_SEALED = 64,
    VMV_MAP_STACK = 128,   // asked for with MAP_STACK: a thread's stack
    VMV_MAP_PROGRAM = 256, // a mapping of the file that was executed
};

// One mapping (after joining neighbours whose printed attributes continue each other). Addresses in bytes,
// page-aligned, end exclusive. `name` is as /proc/PID/maps names it, unescaped ("" when it has none); it belongs
// to the event's or the space's string store. `object` is the number of an OBJECT of the trace, 0 for none.
struct vmv_mapping {
    uint64_t start, end;
    uint64_t offset; // bytes into the file, 0 if there is none
    uint64_t inode;
    uint32_t dev_major, dev_minor;
    uint32_t flags; // enum vmv_map_flags
    uint32_t object;
    const char *name;
};

enum vmv_fault_kind { // contract: first-touch|write|populated|file|unknown
    VMV_FAULT_UNKNOWN = 0,
    VMV_FAULT_FIRST_TOUCH = 1, // the page was not resident and has no file behind it
    VMV_FAULT_WRITE = 2,       // first write to a resident page since it was armed
    VMV_FAULT_POPULATED = 3,   // became resident without a fault record
    VMV_FAULT_FILE = 4,        // a page of a file was brought in
};
enum vmv_access { VMV_ACCESS_UNKNOWN = 0, VMV_ACCESS_READ = 1, VMV_ACCESS_WRITE = 2, VMV_ACCESS_EXEC = 3 };
enum vmv_source { VMV_SOURCE_NONE = 0, VMV_SOURCE_RECORDS = 1, VMV_SOURCE_UFFD = 2, VMV_SOURCE_FRAMES = 3 };

enum vmv_page_state { // contract: absent|zero|resident|swapped|guard|unknown
    VMV_PAGE_UNKNOWN = 0,
    VMV_PAGE_ABSENT = 1,
    VMV_PAGE_ZERO = 2,
    VMV_PAGE_RESIDENT = 3,
    VMV_PAGE_SWAPPED = 4,
    VMV_PAGE_GUARD = 5,
};
enum vmv_page_flags {
    VMV_PAGEF_WRITTEN = 1,   // written since the frame before (or possibly written, for huge pages)
    VMV_PAGEF_HUGE = 2,      // part of a huge page: not armed, so "written" means "may have been"
    VMV_PAGEF_FILE = 4,      // still the page of the mapped file: contents are the file's
    VMV_PAGEF_POPULATED = 8, // became resident without a fault record, by whom unknown
    VMV_PAGEF_UNARMED = 32,  // its next write will not be seen: the mapping cannot be write-protected
    VMV_PAGEF_SKIPPED = 16,  // written, but the contents were not copied (budget, --content, --exclude)
};

enum vmv_certainty { // contract: exact|stale|torn|partial|unknown
    VMV_CERT_UNKNOWN = 0,
    VMV_CERT_EXACT = 1,
    VMV_CERT_STALE = 2,
    VMV_CERT_TORN = 3,
    VMV_CERT_PARTIAL = 4,
};
enum vmv_thread_state {
    VMV_THREAD_GONE = 0,
    VMV_THREAD_RUNNING = 1,
    VMV_THREAD_SLEEPING = 2,
    VMV_THREAD_STOPPED = 3,
};
enum vmv_frame_why { VMV_FRAME_INTERVAL = 0, VMV_FRAME_SIGNAL = 1, VMV_FRAME_EXEC = 2, VMV_FRAME_EXIT = 3 };

// Content numbers. Every other number names 4096 bytes (one page size) in a PAGES chunk.
enum { VMV_CONTENT_NONE = 0, VMV_CONTENT_ZERO = 1, VMV_CONTENT_FILE = 2, VMV_CONTENT_FIRST = 16 };

// One event in memory. Which fields mean something depends on the type; the others are 0 and are not written.
// Strings and arrays belong to whoever made the event (the caller while writing, the chunk's arena after reading).
enum vmv_watch_known { VMV_WATCH_BEFORE = 1, VMV_WATCH_AFTER = 2 }; // which of the values were seen

struct vmv_event {
    uint64_t t;   // ns since the recording began (CLOCK_MONOTONIC)
    uint64_t seq; // place in the whole recording, from 0; set by the writer and the reader
    enum vmv_event_type type;
    uint32_t space; // address space the event happened in, numbered from 1; 0: none
    int32_t pid, tid;
    uint64_t stack; // number of the STACKS entry with registers and stack bytes, 0: none

    // memory calls:
    //   MMAP addr len prot flags ret offset dev ino name object   (addr = asked for; ret = where it lies)
    //   MUNMAP addr len ret          MPROTECT addr len prot ret   MADVISE addr len advice(=prot) ret
    //   MREMAP old_addr old_len addr len flags ret                (addr = asked for by MREMAP_FIXED, else 0)
    //   BRK addr ret                 (addr = asked for; ret = the break afterwards; old_addr = before)
    //   SHMAT addr len prot ret name ino object    SHMDT addr len ret      SETNAME addr len name ret
    //   REMAP addr len offset(bytes) ret    PUNCH addr=offset len dev ino ret    TRUNCATE addr=new size dev ino ret
    //   MSEAL addr len ret
    // FAULT: addr pc kind access kernel source; with len and page_flags HUGE where it brought more than one page
    // MAPS: addr len maps[map_count]
    // PAGES: addr len state page_flags size       CONTENT: addr len content content_step certainty
    uint64_t addr, len, old_addr, old_len, offset, inode;
    int64_t ret;
    uint32_t prot;  // PROT_* bits; MADVISE: the advice
    uint32_t flags; // MAP_* / MREMAP_* bits as the program gave them
    uint32_t dev_major, dev_minor, object;
    const char *name; // path or name; EXEC: path; MARK/NOTE/GAP/GOVERNOR: text; THREAD/THREAD_START: name or NULL

    uint64_t pc;
    uint8_t kind;   // enum vmv_fault_kind
    uint8_t access; // enum vmv_access
    bool kernel;    // the fault came from inside the kernel
    uint8_t source; // enum vmv_source

    const struct vmv_mapping *maps;
    size_t map_count;

    uint8_t state;        // PAGES: enum vmv_page_state; THREAD: enum vmv_thread_state
    uint8_t page_flags;   // enum vmv_page_flags
    uint64_t content;     // first content number of the run
    uint8_t content_step; // 1: numbers count up page by page; 0: all pages have the same
    uint8_t certainty;    // enum vmv_certainty

    // FORK: child child_space vfork(=flag)   EXEC: name argv[argc] space (the new one), old_space in child_space
    // SPACE: space, pid, tid, name (program path), child_space = the space it was copied from or 0
    int32_t child;
    uint32_t child_space;
    bool flag; // FORK: vfork; SIGNAL: fatal; EXIT: killed by a signal
    const char *const *argv;
    size_t argc;

    // THREAD_EXIT code; EXIT code or signal number in `code`; SIGNAL number si_code code, addr = si_addr
    int32_t code, number;
    uint64_t to; // GAP: end, ns (t is its beginning)

    // FRAME: frame number n, why, pause_ns (threads held), pages_written, torn pages, cost so far
    uint64_t frame, pause_ns, pages_written, torn;
    uint8_t why; // enum vmv_frame_why

    // THREAD: state, name (NULL: as before), syscall (-1: none), pc, sp, fp, regs (REGS number, 0: none),
    //         run_ns (time on a processor since the frame before), certainty
    int64_t syscall;
    uint64_t sp, fp, regs, run_ns;

    // WATCH: addr len, before[8] after[8], known (enum vmv_watch_known), pc: where the thread stood after the write
    uint8_t before[8], after[8], known;
};

// The contract's word for a type ("thread-start") or NULL for an unknown number; and back (NONE if unknown).
const char *vmv_event_name(enum vmv_event_type type);
enum vmv_event_type vmv_event_type_of(const char *name);

#endif
