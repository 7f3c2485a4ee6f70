// Writes small traces for the tests of what reads them, through format/writer.h:
//
//   make_trace small OUT       a process with a thread and a child, every type of event, three frames, killed by a
//   signal make_trace names OUT       names with bytes that are no UTF-8, quotes, line breaks and escape sequences
//   make_trace aarch64 OUT     the registers of another architecture
//   make_trace empty OUT       a recording in which nothing happened
//   make_trace unfinished OUT  the small one, left by a writer that was killed before it could end it
//   make_trace long N OUT      N events, for the time that commands take
//   make_trace signals OUT     signals with all sorts of codes, of a process that starts late
//   make_trace terabytes OUT   runs of pages such as no machine has
//   make_trace library OUT     three mappings of one file
//   make_trace mixed OUT       a page touched first by one instruction, written three times by another
//
// The values are in tests/viewer/test_inspect.py.
#include "writer.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGE = 4096, PID = 1000, THREAD = 1001, CHILD = 1002 };
static const uint64_t MS = 1000000;
static const uint64_t PROGRAM = 0x400000, HEAP = 0x600000, STACK = 0x7ffffffde000, ANON = 0x7f0000000000;

static struct vmv_writer *trace_open(const char *path, const struct vmv_meta *meta) {
    char error[256] = "";
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    struct vmv_writer *writer = fd < 0 ? NULL : vmv_writer_create(fd, meta, error, sizeof error);
    if (writer == NULL) {
        fprintf(stderr, "make_trace: %s: %s\n", path, error);
        exit(1);
    }
    return writer;
}

static const char *const small_program[] = {"./demo", "--quick", "a b"};

static struct vmv_meta small_meta(void) {
    return (struct vmv_meta){.program = small_program,
                             .program_count = 3,
                             .directory = "/home/demo",
                             .pid = PID,
                             .started = UINT64_C(1700000000123456789),
                             .start_monotonic_ns = 5000,
                             .arch = "x86_64",
                             .page_size = PAGE,
                             .machine = "a processor",
                             .kernel = "6.1.0 #1",
                             .recorder = "0.1.0",
                             .source_faults = "records",
                             .source_maps = "stops",
                             .source_why = "the best that works here",
                             .interval_ns = 20 * MS,
                             .budget_percent = 10,
                             .stack_bytes = 2048,
                             .content = "changed",
                             .register_set = "x86_64-user-regs"};
}

static struct vmv_event event_at(uint64_t t, enum vmv_event_type type) {
    return (struct vmv_event){.t = t, .type = type, .space = 1, .pid = PID, .tid = PID, .syscall = -1};
}

static void emit(struct vmv_writer *writer, struct vmv_event event) { vmv_writer_event(writer, &event); }

static void put_word(uint8_t *bytes, size_t index, uint64_t value) {
    for (size_t i = 0; i < 8; i++) bytes[8 * index + i] = (uint8_t)(value >> (8 * i));
}

// user_regs_struct with rip, rsp, rbp and rax = 0x1234.
static uint64_t x86_general(uint8_t general[27 * 8], uint64_t pc, uint64_t sp) {
    memset(general, 0, 27 * 8);
    put_word(general, 16, pc);
    put_word(general, 19, sp);
    put_word(general, 4, sp + 32);
    put_word(general, 10, 0x1234);
    return pc;
}

// An XSAVE image with mxcsr = 0x1f80, st0, xmm0 = 1, and the upper half of ymm0 = 2.
static void x86_extended(uint8_t extended[832]) {
    memset(extended, 0, 832);
    extended[24] = 0x80;
    extended[25] = 0x1f;
    extended[32 + 9] = 0x40;
    extended[160] = 1;
    extended[512] = 7;
    extended[576] = 2;
}

static void emit_mappings(struct vmv_writer *writer, uint64_t t) {
    static const struct vmv_mapping maps[] = {
        {.start = 0x400000,
         .end = 0x404000,
         .inode = 77,
         .dev_major = 8,
         .dev_minor = 1,
         .flags = VMV_MAP_R | VMV_MAP_X | VMV_MAP_PROGRAM,
         .name = "/bin/demo"},
        {.start = 0x600000, .end = 0x640000, .flags = VMV_MAP_R | VMV_MAP_W, .name = "[heap]"},
        {.start = 0x100000000000, .end = 0x500000000000, .flags = 0, .name = ""},
        {.start = 0x7ffffffde000,
         .end = 0x7ffffffff000,
         .flags = VMV_MAP_R | VMV_MAP_W | VMV_MAP_GROWSDOWN,
         .name = "[stack]"},
    };
    struct vmv_event event = event_at(t, VMV_EV_MAPS);
    event.len = UINT64_C(1) << 47;
    event.maps = maps;
    event.map_count = sizeof maps / sizeof maps[0];
    emit(writer, event);
}

static void emit_start(struct vmv_writer *writer) {
    static const char *const argv[] = {"./demo", "--quick", "a b"};
    struct vmv_event space = event_at(0, VMV_EV_SPACE), exec = event_at(0, VMV_EV_EXEC);
    space.name = "/bin/demo";
    emit(writer, space);
    exec.name = "/bin/demo";
    exec.argv = argv;
    exec.argc = 3;
    emit(writer, exec);
    emit_mappings(writer, 0);
    struct vmv_event thread = event_at(MS / 2, VMV_EV_THREAD_START);
    thread.tid = THREAD;
    thread.name = "worker";
    emit(writer, thread);
}

static void emit_maps_calls(struct vmv_writer *writer) {
    uint8_t general[27 * 8], bytes[64] = {1, 2, 3};
    x86_general(general, PROGRAM + 0x123, STACK + 0x1f000);
    uint64_t stack = vmv_writer_stack(writer, general, sizeof general, STACK + 0x1f000, bytes, sizeof bytes);
    struct vmv_event event = event_at(1 * MS, VMV_EV_MMAP);
    event.len = 16 * PAGE, event.prot = 3, event.flags = 0x22, event.ret = (int64_t)ANON, event.stack = stack;
    emit(writer, event);
    event = event_at(2 * MS, VMV_EV_MMAP);
    event.len = UINT64_C(1) << 50, event.prot = 3, event.flags = 0x22, event.ret = -12, event.stack = stack;
    emit(writer, event);
    event = event_at(3 * MS, VMV_EV_MPROTECT);
    event.addr = ANON + 8 * PAGE, event.len = PAGE, event.prot = 0;
    emit(writer, event);
    event = event_at(3 * MS + 1, VMV_EV_MADVISE);
    event.addr = ANON, event.len = PAGE, event.prot = 4;
    emit(writer, event);
    event = event_at(4 * MS, VMV_EV_BRK);
    event.addr = 0x650000, event.old_addr = 0x640000, event.ret = 0x650000;
    emit(writer, event);
    event = event_at(5 * MS, VMV_EV_MREMAP);
    event.old_addr = ANON + 12 * PAGE, event.old_len = 4 * PAGE, event.len = 8 * PAGE, event.flags = 1;
    event.ret = (int64_t)(ANON + 32 * PAGE);
    emit(writer, event);
    event = event_at(6 * MS, VMV_EV_MUNMAP);
    event.addr = ANON + 10 * PAGE, event.len = 2 * PAGE;
    emit(writer, event);
}

static void emit_rare_calls(struct vmv_writer *writer) {
    static const enum vmv_event_type types[] = {VMV_EV_SHMAT,    VMV_EV_SHMDT, VMV_EV_REMAP,  VMV_EV_PUNCH,
                                                VMV_EV_TRUNCATE, VMV_EV_MSEAL, VMV_EV_SETNAME};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        struct vmv_event event = event_at(7 * MS + i, types[i]);
        event.addr = ANON + 4 * PAGE, event.len = PAGE, event.ret = -22;
        if (types[i] == VMV_EV_TRUNCATE) event.addr = 12345, event.len = 0;
        if (types[i] == VMV_EV_SETNAME) event.name = "pool";
        emit(writer, event);
    }
}

static void emit_faults(struct vmv_writer *writer) {
    for (uint64_t i = 0; i < 4; i++) {
        struct vmv_event event = event_at(10 * MS + i, VMV_EV_FAULT);
        event.tid = THREAD;
        event.addr = HEAP + i * PAGE + 8, event.pc = PROGRAM + (i < 3 ? 0x200 : 0x300);
        event.kind = VMV_FAULT_FIRST_TOUCH, event.access = i == 0 ? VMV_ACCESS_WRITE : VMV_ACCESS_UNKNOWN;
        event.source = VMV_SOURCE_RECORDS;
        emit(writer, event);
    }
}

static void emit_pages(struct vmv_writer *writer, uint64_t t, uint64_t addr, uint64_t pages, uint8_t state,
                       uint8_t flags) {
    struct vmv_event event = event_at(t, VMV_EV_PAGES);
    event.tid = 0;
    event.addr = addr, event.len = pages * PAGE, event.state = state, event.page_flags = flags;
    emit(writer, event);
}

static void emit_content(struct vmv_writer *writer, uint64_t t, uint64_t addr, uint8_t first) {
    uint8_t page[PAGE];
    for (size_t i = 0; i < PAGE; i++) page[i] = (uint8_t)(first + i);
    struct vmv_event event = event_at(t, VMV_EV_CONTENT);
    event.tid = 0;
    event.addr = addr, event.len = PAGE, event.content_step = 1, event.certainty = VMV_CERT_EXACT;
    event.content = vmv_writer_page(writer, page);
    emit(writer, event);
}

static void emit_threads(struct vmv_writer *writer, uint64_t t) {
    uint8_t general[27 * 8], extended[832];
    struct vmv_event event = event_at(t, VMV_EV_THREAD);
    event.name = "demo", event.state = VMV_THREAD_RUNNING, event.certainty = VMV_CERT_EXACT;
    event.pc = x86_general(general, PROGRAM + 0x456, STACK + 0x1f000), event.sp = STACK + 0x1f000;
    event.fp = event.sp + 32;
    x86_extended(extended);
    event.regs = vmv_writer_regs(writer, general, sizeof general, extended, sizeof extended);
    emit(writer, event);
    event = event_at(t, VMV_EV_THREAD);
    event.tid = THREAD, event.name = "worker", event.state = VMV_THREAD_SLEEPING, event.syscall = 202;
    event.certainty = VMV_CERT_PARTIAL, event.pc = PROGRAM + 0x789, event.sp = ANON + 0x800;
    emit(writer, event);
}

static void emit_frame(struct vmv_writer *writer, uint64_t t, uint64_t n, enum vmv_frame_why why, uint64_t written) {
    struct vmv_event event = event_at(t, VMV_EV_FRAME);
    event.frame = n, event.why = (uint8_t)why, event.pages_written = written, event.pause_ns = 125000;
    event.torn = n == 2 ? 1 : 0;
    emit(writer, event);
}

static void emit_frame_1(struct vmv_writer *writer) {
    uint64_t t = 20 * MS;
    emit_frame(writer, t, 1, VMV_FRAME_INTERVAL, 2);
    emit_pages(writer, t, PROGRAM, 3, VMV_PAGE_RESIDENT, VMV_PAGEF_FILE | VMV_PAGEF_POPULATED);
    emit_pages(writer, t, HEAP, 4, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN);
    emit_pages(writer, t, ANON, 1, VMV_PAGE_ZERO, 0);
    emit_pages(writer, t, ANON + PAGE, 1, VMV_PAGE_SWAPPED, 0);
    emit_pages(writer, t, ANON + 2 * PAGE, 1, VMV_PAGE_GUARD, 0);
    emit_content(writer, t, HEAP, 0);
    emit_content(writer, t, HEAP + PAGE, 7);
    emit_threads(writer, t);
}

static void emit_words(struct vmv_writer *writer) {
    static const struct {
        enum vmv_event_type type;
        const char *text;
    } words[] = {{VMV_EV_MARK, "half"},
                 {VMV_EV_NOTE, "a note"},
                 {VMV_EV_GOVERNOR, "interval: 40 ms, too dear"},
                 {VMV_EV_GAP, "records were lost"}};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        struct vmv_event event = event_at((25 + i) * MS, words[i].type);
        event.name = words[i].text;
        if (words[i].type == VMV_EV_GAP) event.to = event.t + MS / 2;
        if (words[i].type != VMV_EV_MARK) event.pid = event.tid = 0, event.space = 0;
        emit(writer, event);
    }
    struct vmv_event watch = event_at(29 * MS, VMV_EV_WATCH);
    watch.addr = HEAP + 16, watch.len = 4, watch.pc = PROGRAM + 0x222;
    watch.before[0] = 1, watch.after[0] = 2, watch.known = VMV_WATCH_BEFORE | VMV_WATCH_AFTER;
    emit(writer, watch);
}

static void emit_child(struct vmv_writer *writer) {
    struct vmv_event fork = event_at(30 * MS, VMV_EV_FORK), exit = event_at(35 * MS, VMV_EV_EXIT);
    fork.child = CHILD, fork.child_space = 2;
    emit(writer, fork);
    exit.pid = exit.tid = CHILD, exit.space = 2, exit.code = 7;
    emit(writer, exit);
    struct vmv_event thread = event_at(36 * MS, VMV_EV_THREAD_EXIT);
    thread.tid = THREAD;
    emit(writer, thread);
}

static void emit_frame_2(struct vmv_writer *writer) {
    uint64_t t = 40 * MS;
    emit_frame(writer, t, 2, VMV_FRAME_INTERVAL, 1);
    emit_pages(writer, t, HEAP, 1, VMV_PAGE_RESIDENT, VMV_PAGEF_WRITTEN);
    emit_content(writer, t, HEAP, 100);
}

static void emit_crash(struct vmv_writer *writer) {
    uint64_t t = 60 * MS;
    struct vmv_event signal = event_at(t, VMV_EV_SIGNAL), exit = event_at(61 * MS, VMV_EV_EXIT);
    signal.number = 11, signal.code = 1, signal.flag = true;
    emit(writer, signal);
    emit_frame(writer, t + 1, 3, VMV_FRAME_SIGNAL, 0);
    uint8_t general[27 * 8];
    struct vmv_event thread = event_at(t + 1, VMV_EV_THREAD);
    thread.state = VMV_THREAD_STOPPED, thread.certainty = VMV_CERT_EXACT;
    thread.pc = x86_general(general, PROGRAM + 0x999, STACK + 0x1f000), thread.sp = STACK + 0x1f000;
    thread.regs = vmv_writer_regs(writer, general, sizeof general, NULL, 0);
    emit(writer, thread);
    exit.code = 11, exit.flag = true;
    emit(writer, exit);
}

static void finish(struct vmv_writer *writer, struct vmv_end end) {
    vmv_writer_tick(writer, end.duration_ns);
    if (!vmv_writer_finish(writer, &end)) exit(1);
}

static void make_small(const char *path, bool finished) {
    struct vmv_meta meta = small_meta();
    struct vmv_writer *writer = trace_open(path, &meta);
    emit_start(writer);
    emit_maps_calls(writer);
    emit_rare_calls(writer);
    emit_faults(writer);
    emit_frame_1(writer);
    emit_words(writer);
    emit_child(writer);
    emit_frame_2(writer);
    if (!finished) {
        vmv_writer_tick(writer, 1000 * MS);
        _exit(0);
    }
    emit_crash(writer);
    finish(writer, (struct vmv_end){.duration_ns = 62 * MS,
                                    .exited = false,
                                    .killed = true,
                                    .exit_code = 11,
                                    .held_ns = 375000,
                                    .fault_ns = 4000,
                                    .percent = 0.611});
}

static void make_names(const char *path) {
    static const char *const program[] = {"./\xff\xfe", "quote\"back\\slash", "line\nbreak", "\x1b[31mred",
                                          "gr\303\274\303\237e"};
    struct vmv_meta meta = small_meta();
    meta.program = program;
    meta.program_count = 5;
    struct vmv_writer *writer = trace_open(path, &meta);
    emit_start(writer);
    struct vmv_event event = event_at(1 * MS, VMV_EV_MMAP);
    event.len = PAGE, event.prot = 1, event.flags = 2, event.ret = (int64_t)ANON, event.inode = 5, event.dev_major = 8;
    event.name = "/tmp/\xe9t\xe9 \"x\"\n\x1b[2J";
    emit(writer, event);
    event = event_at(2 * MS, VMV_EV_MARK);
    event.name = "\xed\xa0\x80\xf5\xc0\xaf";
    emit(writer, event);
    finish(writer, (struct vmv_end){.duration_ns = 3 * MS, .exited = true});
}

static void make_aarch64(const char *path) {
    struct vmv_meta meta = small_meta();
    meta.arch = "aarch64";
    meta.register_set = "aarch64-user-regs";
    struct vmv_writer *writer = trace_open(path, &meta);
    emit_start(writer);
    uint8_t general[34 * 8] = {0}, extended[528] = {0};
    for (size_t i = 0; i < 34; i++) put_word(general, i, 0x1000 + i);
    extended[16] = 9;
    emit_frame(writer, 5 * MS, 1, VMV_FRAME_INTERVAL, 0);
    struct vmv_event event = event_at(5 * MS, VMV_EV_THREAD);
    event.state = VMV_THREAD_SLEEPING, event.certainty = VMV_CERT_EXACT, event.syscall = 98;
    event.pc = 0x1020, event.sp = 0x101f, event.fp = 0x101d;
    event.regs = vmv_writer_regs(writer, general, sizeof general, extended, sizeof extended);
    emit(writer, event);
    finish(writer, (struct vmv_end){.duration_ns = 5 * MS, .exited = true});
}

static void make_empty(const char *path) {
    struct vmv_meta meta = small_meta();
    finish(trace_open(path, &meta), (struct vmv_end){.complete = true});
}

static void make_long(uint64_t count, const char *path) {
    struct vmv_meta meta = small_meta();
    struct vmv_writer *writer = trace_open(path, &meta);
    emit_start(writer);
    for (uint64_t i = 0; i < count; i++) {
        struct vmv_event event = event_at(MS + 1000 * i, VMV_EV_FAULT);
        event.addr = HEAP + i % 64 * PAGE, event.pc = PROGRAM + i % 16;
        event.kind = VMV_FAULT_WRITE, event.source = VMV_SOURCE_RECORDS;
        emit(writer, event);
        if (i % 1000 == 0) vmv_writer_tick(writer, event.t);
    }
    finish(writer, (struct vmv_end){.duration_ns = MS + 1000 * count, .exited = true});
}

static void make_mixed(const char *path) {
    struct vmv_meta meta = small_meta();
    struct vmv_writer *writer = trace_open(path, &meta);
    emit_start(writer);
    for (uint64_t i = 0; i < 4; i++) {
        struct vmv_event event = event_at((1 + i) * MS, VMV_EV_FAULT);
        event.addr = HEAP + 8, event.pc = PROGRAM + (i == 0 ? 0x10 : 0x20), event.access = VMV_ACCESS_WRITE;
        event.kind = i == 0 ? VMV_FAULT_FIRST_TOUCH : VMV_FAULT_WRITE, event.source = VMV_SOURCE_RECORDS;
        emit(writer, event);
    }
    finish(writer, (struct vmv_end){.duration_ns = 5 * MS, .exited = true});
}

static void make_signals(const char *path) {
    static const struct {
        int32_t number, code;
        uint64_t addr;
    } signals[] = {{11, 2, 0x600000}, {10, -6, 0}, {37, -1, 0}, {11, 77, 0}, {7, 2, 0}, {99, 5, 0}, {17, 1, 0}};
    struct vmv_meta meta = small_meta();
    struct vmv_writer *writer = trace_open(path, &meta);
    struct vmv_event event = event_at(5 * MS, VMV_EV_SPACE);
    event.name = "/bin/demo";
    emit(writer, event);
    emit_mappings(writer, 5 * MS);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++) {
        event = event_at(7 * MS + i, VMV_EV_SIGNAL);
        event.number = signals[i].number, event.code = signals[i].code, event.addr = signals[i].addr;
        emit(writer, event);
    }
    event = event_at(9 * MS, VMV_EV_EXIT);
    event.code = 9, event.flag = true;
    emit(writer, event);
    finish(writer, (struct vmv_end){.duration_ns = 10 * MS, .killed = true, .exit_code = 9});
}

// What one event of a few bytes may claim: every page table entry of a terabyte, time and again.
static void make_terabytes(const char *path) {
    static const struct vmv_mapping map = {
        .start = 0x100000000000, .end = 0x700000000000, .flags = VMV_MAP_R | VMV_MAP_W, .name = ""};
    struct vmv_meta meta = small_meta();
    struct vmv_writer *writer = trace_open(path, &meta);
    emit_start(writer);
    struct vmv_event event = event_at(MS, VMV_EV_MAPS);
    event.addr = map.start, event.len = map.end - map.start, event.maps = &map, event.map_count = 1;
    emit(writer, event);
    emit_frame(writer, 2 * MS, 1, VMV_FRAME_INTERVAL, 0);
    for (uint64_t i = 0; i < 2; i++) {
        event = event_at(2 * MS, VMV_EV_PAGES);
        event.addr = map.start + (i << 43) / 2, event.len = UINT64_C(1) << 42, event.state = VMV_PAGE_RESIDENT;
        event.page_flags = VMV_PAGEF_WRITTEN | VMV_PAGEF_POPULATED;
        emit(writer, event);
    }
    finish(writer, (struct vmv_end){.duration_ns = 3 * MS, .exited = true});
}

static void make_library(const char *path) {
    static const struct {
        uint64_t at, pages;
        uint32_t prot;
    } parts[] = {{0, 2, 1}, {2, 1, 5}, {16, 1, 3}};
    struct vmv_meta meta = small_meta();
    struct vmv_writer *writer = trace_open(path, &meta);
    emit_start(writer);
    for (size_t i = 0; i < 3; i++) {
        struct vmv_event event = event_at(MS, VMV_EV_MMAP);
        event.addr = ANON + parts[i].at * PAGE, event.len = parts[i].pages * PAGE, event.prot = parts[i].prot;
        event.flags = 2, event.ret = (int64_t)event.addr, event.inode = 5, event.dev_major = 8;
        event.offset = i * 8 * PAGE, event.name = "/usr/lib/libx.so";
        emit(writer, event);
    }
    for (size_t i = 0; i < 3; i++) {
        struct vmv_event event = event_at(2 * MS, VMV_EV_FAULT);
        event.addr = ANON + parts[i].at * PAGE, event.pc = PROGRAM, event.kind = VMV_FAULT_FILE;
        event.access = VMV_ACCESS_READ, event.source = VMV_SOURCE_RECORDS;
        emit(writer, event);
    }
    finish(writer, (struct vmv_end){.duration_ns = 3 * MS, .exited = true});
}

int main(int argc, char **argv) {
    const char *kind = argc > 2 ? argv[1] : "", *path = argc > 2 ? argv[argc - 1] : NULL;
    if (strcmp(kind, "small") == 0) {
        make_small(path, true);
    } else if (strcmp(kind, "unfinished") == 0) {
        make_small(path, false);
    } else if (strcmp(kind, "names") == 0) {
        make_names(path);
    } else if (strcmp(kind, "aarch64") == 0) {
        make_aarch64(path);
    } else if (strcmp(kind, "empty") == 0) {
        make_empty(path);
    } else if (strcmp(kind, "signals") == 0) {
        make_signals(path);
    } else if (strcmp(kind, "terabytes") == 0) {
        make_terabytes(path);
    } else if (strcmp(kind, "library") == 0) {
        make_library(path);
    } else if (strcmp(kind, "mixed") == 0) {
        make_mixed(path);
    } else if (strcmp(kind, "long") == 0 && argc == 4) {
        make_long(strtoull(argv[2], NULL, 10), path);
    } else {
        fprintf(stderr,
                "usage: make_trace small|names|aarch64|empty|unfinished|signals|terabytes|library|mixed|long N OUT\n");
        return 2;
    }
    return 0;
}
