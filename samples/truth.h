// What a sample says about itself, so that a test can compare a trace with it: one JSON object a line on standard
// output.
//
// Logging must disturb little: lines gather in a static buffer that is touched before the sample starts its own work,
// and leave by write(2) at checkpoints and at the end. Addresses are strings "0x…"; times are CLOCK_MONOTONIC in ns.
//
//   truth_args(argc, argv);                     first: takes --checkpoints
//   long n = truth_number("--pages", 256);      takes an option with a number; truth_flag() one without
//   truth_begin();                              complains about what is left of argv, touches the buffers
//   truth_line("\"what\":\"touch\",\"addr\":\"%p\"", p);
//   truth_checkpoint("grown");                  does something only if asked for by --checkpoints
//   return truth_end();
//
// A checkpoint is a moment at which everything was quiet for more than 60 ms before and after: it logs the text of
// /proc/self/maps with the times before and after it was read. The caller keeps its other threads asleep meanwhile.
#ifndef TRUTH_H
#define TRUTH_H

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define TRUTH_QUIET_NS 70000000

static struct {
    char lines[1 << 20];
    char maps[1 << 18]; // a file of /proc as read
    size_t used;        // bytes of lines that are not yet written
    atomic_flag busy;
    int argc;
    char **argv;
    long checkpoints; // how many are wanted
    long passed;      // how many this process has done
} truth;

static inline int64_t truth_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void truth_sleep(int64_t ns) {
    struct timespec left = {.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

static inline _Noreturn void truth_fail(const char *what) {
    fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what, strerror(errno));
    exit(9);
}

static inline void truth_lock(void) {
    while (atomic_flag_test_and_set(&truth.busy)) sched_yield();
}

static inline void truth_unlock(void) { atomic_flag_clear(&truth.busy); }

static inline void truth_write_locked(void) {
    size_t done = 0;
    while (done < truth.used) {
        ssize_t n = write(STDOUT_FILENO, truth.lines + done, truth.used - done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) _exit(9);
        done += (size_t)n;
    }
    truth.used = 0;
}

// Before fork and exec, so that no line is written twice or lost.
static inline void truth_flush(void) {
    truth_lock();
    truth_write_locked();
    truth_unlock();
}

// Adds {FORMAT…} as a line. FORMAT holds the members without the braces.
__attribute__((format(printf, 1, 2))) static inline void truth_line(const char *format, ...) {
    truth_lock();
    if (sizeof truth.lines - truth.used < 4096) truth_write_locked();
    char *at = truth.lines + truth.used;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(at + 1, 4000, format, args);
    va_end(args);
    if (n < 0 || n >= 4000) abort();
    at[0] = '{';
    memcpy(at + 1 + n, "}\n", 2);
    truth.used += (size_t)n + 3;
    truth_unlock();
}

// Takes NAME out of the arguments; returns its index or 0.
static inline int truth_take(const char *name) {
    for (int i = 1; i < truth.argc; i++) {
        if (strcmp(truth.argv[i], name) != 0) continue;
        for (int j = i; j < truth.argc; j++) truth.argv[j] = truth.argv[j + 1];
        truth.argc--;
        return i;
    }
    return 0;
}

static inline bool truth_flag(const char *name) { return truth_take(name) != 0; }

// The number that follows NAME, at least 0. Takes both out of the arguments.
static inline long truth_number(const char *name, long otherwise) {
    int i = truth_take(name);
    if (i == 0) return otherwise;
    char *end = NULL;
    long value = i < truth.argc ? strtol(truth.argv[i], &end, 10) : -1;
    if (value < 0 || *end != '\0') {
        fprintf(stderr, "%s: %s needs a number\n", program_invocation_short_name, name);
        exit(2);
    }
    truth_take(truth.argv[i]);
    return value;
}

static inline void truth_args(int argc, char **argv) {
    truth.argc = argc;
    truth.argv = argv;
    truth.checkpoints = truth_number("--checkpoints", 0);
}

// From here on the sample's own work counts. Huge pages are off, so that one touch is one page on every machine.
static inline void truth_begin(void) {
    if (truth.argc > 1) {
        fprintf(stderr, "%s: unknown option %s\n", program_invocation_short_name, truth.argv[1]);
        exit(2);
    }
    prctl(PR_SET_THP_DISABLE, 1UL, 0UL, 0UL, 0UL);
    memset(truth.lines, '\n', sizeof truth.lines);
    memset(truth.maps, '\n', sizeof truth.maps);
    truth_line("\"what\":\"start\",\"pid\":%d,\"page_size\":%ld,\"t\":%" PRId64, getpid(), sysconf(_SC_PAGESIZE),
               truth_now());
}

static inline int truth_end(void) {
    truth_line("\"what\":\"end\",\"pid\":%d,\"t\":%" PRId64, getpid(), truth_now());
    truth_flush();
    return 0;
}

// Reads a file of /proc into truth.maps by read(2) alone and ends it with a 0; returns the bytes before that.
static inline size_t truth_read_proc(const char *path) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) truth_fail(path);
    size_t used = 0;
    ssize_t n;
    while ((n = read(fd, truth.maps + used, sizeof truth.maps - 1 - used)) > 0) used += (size_t)n;
    close(fd);
    truth.maps[used] = '\0';
    return used;
}

static inline void truth_add_maps(const char *at, int64_t before, int64_t after, size_t length) {
    truth_lock();
    if (sizeof truth.lines - truth.used < 2 * length + 4096) truth_write_locked();
    char *out = truth.lines + truth.used;
    out += snprintf(out, 400,
                    "{\"what\":\"maps\",\"at\":\"%.99s\",\"n\":%ld,\"pid\":%d,\"before\":%" PRId64 ",\"after\":%" PRId64
                    ",\"text\":\"",
                    at, truth.passed, getpid(), before, after);
    for (size_t i = 0; i < length; i++) {
        char c = truth.maps[i];
        if (c == '\n' || c == '\\' || c == '"') *out++ = '\\';
        *out++ = c == '\n' ? 'n' : c;
    }
    memcpy(out, "\"}\n", 3);
    truth.used = (size_t)(out + 3 - truth.lines);
    truth_write_locked();
    truth_unlock();
}

// Is step I of TOTAL one of the PARTS steps at which a loop of TOTAL steps has done another part of its work?
static inline bool truth_part_done(size_t i, size_t total, size_t parts) {
    return (i + 1) * parts / total != i * parts / total;
}

static inline void truth_checkpoint(const char *at) {
    if (truth.passed >= truth.checkpoints) return;
    truth.passed++;
    truth_read_proc("/proc/self/maps"); // the reading itself may need another page of stack: now, not at the moment
    truth_sleep(TRUTH_QUIET_NS);
    int64_t before = truth_now();
    size_t length = truth_read_proc("/proc/self/maps");
    int64_t after = truth_now();
    truth_sleep(TRUTH_QUIET_NS);
    truth_add_maps(at, before, after, length);
}

// Says what bytes memory holds now (32 at most). Only with checkpoints on, and right after one: then the bytes are old
// enough for any frame to have seen them.
static inline void truth_value(const char *name, const volatile void *address, size_t length) {
    if (truth.checkpoints == 0 || length > 32) return;
    const volatile unsigned char *bytes = address;
    char hex[65];
    for (size_t i = 0; i < length; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
    truth_line("\"what\":\"value\",\"name\":\"%s\",\"pid\":%d,\"addr\":\"%p\",\"hex\":\"%s\",\"t\":%" PRId64, name,
               getpid(), (void *)(uintptr_t)address, hex, truth_now());
}

#endif
