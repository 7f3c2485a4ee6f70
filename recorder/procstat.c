#include "procstat.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void procstat_thread_init(struct procstat_thread *thread, pid_t pid, pid_t tid) {
    *thread = (struct procstat_thread){.pid = pid, .tid = tid, .syscall_fd = -1, .stat_fd = -1, .schedstat_fd = -1};
}

static void close_one(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

void procstat_thread_close(struct procstat_thread *thread) {
    close_one(&thread->syscall_fd);
    close_one(&thread->stat_fd);
    close_one(&thread->schedstat_fd);
}

static int open_task(pid_t pid, pid_t tid, const char *file) {
    char path[80];
    snprintf(path, sizeof path, "/proc/%d/task/%d/%s", (int)pid, (int)tid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

// Whether -ENOENT from open() means that the thread is gone, or that the kernel has no such file.
static int refusal(pid_t pid, pid_t tid, int error) {
    char path[80];
    if (error != -ENOENT) return error;
    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)pid, (int)tid);
    return access(path, F_OK) == 0 ? -ENOENT : -ESRCH;
}

// Reads a kept file from its beginning, terminated. Returns the length or a negative errno. A refusal is remembered.
static ssize_t read_kept(const struct procstat_thread *thread, int *fd, const char *file, char *text, size_t room) {
    if (*fd < -1) return *fd;
    if (*fd == -1) {
        int opened = open_task(thread->pid, thread->tid, file);
        if (opened < 0) {
            int error = refusal(thread->pid, thread->tid, opened);
            if (error == -EACCES || error == -ENOENT) *fd = error;
            return error == -EPERM ? -EACCES : error;
        }
        *fd = opened;
    }
    ssize_t got = pread(*fd, text, room - 1, 0);
    if (got < 0) return errno == EPERM ? -EACCES : -errno;
    text[got] = 0;
    return got;
}

// "running" | "-1 SP PC" | "NR A0 .. A5 SP PC"
static int parse_syscall(const char *text, struct procstat_syscall *out) {
    *out = (struct procstat_syscall){.where = PROCSTAT_RUNNING, .nr = -1};
    if (strncmp(text, "running", 7) == 0) return 0;
    uint64_t values[8];
    char *rest;
    long long nr = strtoll(text, &rest, 10);
    if (rest == text) return -ESRCH; // empty: an exited thread
    int wanted = nr == -1 ? 2 : 8, got = 0;
    for (; got < wanted; got++) {
        char *before = rest;
        values[got] = strtoull(before, &rest, 16);
        if (rest == before) return -ESRCH;
    }
    out->where = nr == -1 ? PROCSTAT_IN_USER : PROCSTAT_IN_SYSCALL;
    out->nr = nr;
    if (nr != -1) memcpy(out->args, values, sizeof out->args);
    out->sp = values[wanted - 2];
    out->pc = values[wanted - 1];
    if (out->sp <= UINT32_MAX) out->nr = -1; // a 32-bit program: its numbers mean other calls
    return 0;
}

int procstat_syscall(struct procstat_thread *thread, struct procstat_syscall *out) {
    char text[256];
    ssize_t got = read_kept(thread, &thread->syscall_fd, "syscall", text, sizeof text);
    if (got < 0) return (int)got;
    return got ? parse_syscall(text, out) : -ESRCH;
}

// "RUN_NS WAIT_NS SLICES"
static int read_schedstat(struct procstat_thread *thread, uint64_t values[3]) {
    char text[128], *at = text, *rest;
    ssize_t got = read_kept(thread, &thread->schedstat_fd, "schedstat", text, sizeof text);
    if (got < 0) return (int)got;
    for (unsigned i = 0; i < 3; i++, at = rest) {
        values[i] = strtoull(at, &rest, 10);
        if (rest == at) return -ESRCH;
    }
    return 0;
}

int procstat_run_ns(struct procstat_thread *thread, uint64_t *ns) {
    uint64_t values[3];
    int error = read_schedstat(thread, values);
    if (error == 0) *ns = values[0];
    return error;
}

int procstat_slices(struct procstat_thread *thread, uint64_t *count) {
    uint64_t values[3];
    int error = read_schedstat(thread, values);
    if (error == 0) *count = values[2];
    return error;
}

int procstat_state(struct procstat_thread *thread, char *letter) {
    char text[512];
    ssize_t got = read_kept(thread, &thread->stat_fd, "stat", text, sizeof text);
    if (got < 0) return (int)got;
    const char *close = strrchr(text, ')'); // the name before it may contain anything
    if (!close || close[1] != ' ' || !close[2]) return -ESRCH;
    *letter = close[2];
    return 0;
}

int procstat_cpu_ns(pid_t pid, uint64_t *ns) {
    clockid_t clock = (clockid_t)(~(unsigned)pid << 3 | 2u);
    struct timespec now;
    if (clock_gettime(clock, &now) != 0) return -ESRCH;
    *ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return 0;
}

// The whole of a small file. Length or negative errno.
static ssize_t read_task(pid_t pid, pid_t tid, const char *file, char *text, size_t room) {
    int fd = open_task(pid, tid, file);
    if (fd < 0) return refusal(pid, tid, fd);
    ssize_t got = read(fd, text, room - 1);
    if (got < 0)
        got = -errno;
    else
        text[got] = 0;
    close(fd);
    return got;
}

static ssize_t read_process(pid_t pid, const char *file, char *text, size_t room) {
    char path[48];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, text, room - 1);
    if (fd >= 0) close(fd);
    text[got > 0 ? got : 0] = 0;
    return got;
}

// The space before field `number` of /proc/PID/stat (proc(5)); the name, field 2, may contain anything. NULL: none.
static const char *stat_field(const char *text, int number) {
    const char *at = strrchr(text, ')');
    for (int field = 2; at && field < number; field++) at = strchr(at + 1, ' ');
    return at;
}

int procstat_environment(pid_t pid, uint64_t *start, uint64_t *end) {
    char text[1024];
    *start = *end = 0;
    if (read_process(pid, "stat", text, sizeof text) <= 0) return -ESRCH;
    const char *from = stat_field(text, 50), *to = stat_field(text, 51);
    if (!from || !to) return -ESRCH;
    *start = strtoull(from, NULL, 10);
    *end = strtoull(to, NULL, 10);
    return *start ? 0 : -EACCES;
}

int procstat_minor_faults(pid_t pid, uint64_t *faults) {
    char text[1024];
    read_process(pid, "stat", text, sizeof text);
    const char *at = stat_field(text, 10);
    if (!at) return -ESRCH;
    *faults = strtoull(at, NULL, 10);
    return 0;
}

int procstat_resident(pid_t pid, uint64_t *pages) {
    char text[256];
    read_process(pid, "statm", text, sizeof text);
    const char *at = strchr(text, ' ');
    if (!at) return -ESRCH;
    *pages = strtoull(at, NULL, 10);
    return 0;
}

static bool field(const char *text, const char *key, int base, uint64_t *value) {
    const char *at = strstr(text, key);
    if (!at) return false;
    *value = strtoull(at + strlen(key), NULL, base);
    return true;
}

int procstat_signals(pid_t pid, pid_t tid, struct procstat_signals *out) {
    char text[16384]; // a long list of groups stands before what is sought
    ssize_t got = read_task(pid, tid, "status", text, sizeof text);
    if (got < 0) return (int)got;
    *out = (struct procstat_signals){0};
    bool all = field(text, "\nSigPnd:", 16, &out->pending) && field(text, "\nShdPnd:", 16, &out->shared_pending) &&
               field(text, "\nSigBlk:", 16, &out->blocked) && field(text, "\nSigIgn:", 16, &out->ignored) &&
               field(text, "\nSigCgt:", 16, &out->caught);
    return all ? 0 : -ESRCH;
}

static int status_number(pid_t pid, pid_t tid, const char *key) {
    char text[16384]; // a long list of groups stands before what is sought
    uint64_t value;
    ssize_t got = read_task(pid, tid, "status", text, sizeof text);
    if (got < 0) return (int)got;
    return field(text, key, 10, &value) ? (int)value : -ENODATA;
}

int procstat_seccomp_filters(pid_t pid, pid_t tid) { return status_number(pid, tid, "\nSeccomp_filters:"); }

int procstat_seccomp_mode(pid_t pid, pid_t tid) { return status_number(pid, tid, "\nSeccomp:"); }

pid_t procstat_tracer(pid_t pid) {
    int tracer = status_number(pid, pid, "\nTracerPid:");
    return tracer > 0 ? tracer : 0;
}

int procstat_capabilities(pid_t pid, uint64_t *effective) {
    char text[16384]; // a long list of groups stands before what is sought
    ssize_t got = read_task(pid, pid, "status", text, sizeof text);
    if (got < 0) return (int)got;
    return field(text, "\nCapEff:", 16, effective) ? 0 : -ESRCH;
}

int procstat_ids(pid_t pid, struct procstat_ids *ids) {
    char text[16384];
    ssize_t got = read_task(pid, pid, "status", text, sizeof text);
    if (got < 0) return (int)got;
    const char *uid = strstr(text, "\nUid:"), *gid = strstr(text, "\nGid:");
    bool found =
        uid && gid && sscanf(uid, "\nUid: %*u %u", &ids->uid) == 1 && sscanf(gid, "\nGid: %*u %u", &ids->gid) == 1;
    return found ? 0 : -ESRCH;
}

int procstat_name(pid_t pid, pid_t tid, char name[16]) {
    char text[64];
    ssize_t got = read_task(pid, tid, "comm", text, sizeof text);
    if (got <= 0) return got < 0 ? (int)got : -ESRCH;
    if (text[got - 1] == '\n') text[got - 1] = 0;
    snprintf(name, 16, "%.15s", text);
    return 0;
}
