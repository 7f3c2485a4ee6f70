#include "track.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

#include "arch.h"
#include "kernel.h"
#include "procstat.h"
#include "track_private.h"

static int open_proc(pid_t pid, const char *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd >= 0 ? fd : -errno;
}

// Brings descriptor `remote` of the process here.
static int fetch_fd(pid_t pid, int remote) {
    long pidfd = syscall(SYS_pidfd_open, pid, 0);
    if (pidfd < 0) return -errno;
    long fd = syscall(SYS_pidfd_getfd, (int)pidfd, remote, 0);
    int result = fd >= 0 ? (int)fd : -errno;
    close((int)pidfd);
    return result;
}

// Keeps what both calls have to tell the caller: the last status, and the signals of both.
static void merge_result(struct inject_result *all, const struct inject_result *one) {
    if (one->status) all->status = one->status;
    all->gone = one->gone;
    for (unsigned i = 0; i < one->signal_count && all->signal_count < INJECT_SIGNALS_MAX; i++)
        all->signals[all->signal_count++] = one->signals[i];
}

// The program makes the descriptor, we take it, the program closes it.
static int make_uffd(pid_t pid, pid_t tid, int flags, struct inject_result *injected) {
    struct inject_result one;
    uint64_t args[6] = {(uint64_t)(O_CLOEXEC | O_NONBLOCK | flags)};
    long remote, closed;
    int error = inject_syscall(tid, SYS_userfaultfd, args, &remote, &one);
    merge_result(injected, &one);
    if (error) return error;
    if (remote < 0) return (int)remote;
    int fd = fetch_fd(pid, (int)remote);
    uint64_t close_args[6] = {(uint64_t)remote};
    error = inject_syscall(tid, SYS_close, close_args, &closed, &one);
    merge_result(injected, &one);
    if (error && fd >= 0) close(fd);
    return error ? error : fd;
}

static int negotiate(int uffd, const struct track *track, const struct sources *sources) {
    uint64_t wanted = 0;
    if (track->changed == SOURCES_CHANGED_WP_ASYNC) wanted |= UFFD_FEATURE_WP_ASYNC;
    if (track->missing)
        wanted |= UFFD_FEATURE_THREAD_ID | UFFD_FEATURE_MISSING_SHMEM | UFFD_FEATURE_MISSING_HUGETLBFS |
                  UFFD_FEATURE_EXACT_ADDRESS;
    struct uffdio_api api = {.api = UFFD_API, .features = wanted & sources->uffd_features};
    return ioctl(uffd, UFFDIO_API, &api) == 0 ? 0 : -errno;
}

static bool dispatches_its_calls(pid_t tid) {
    struct kernel_user_dispatch dispatch = {0};
    return ptrace((enum __ptrace_request)KERNEL_PTRACE_GET_USER_DISPATCH, tid, sizeof dispatch, &dispatch) == 0 &&
           dispatch.on;
}

// An injected call must not meet what the thread has made of system calls: that could kill it.
static bool may_inject(const struct track_options *options, char *why, size_t why_size) {
    why[0] = 0;
    int count = options->own_filters < 0 ? 0 : procstat_seccomp_filters(options->pid, options->tid);
    if (options->own_filters >= 0 && count > options->own_filters) { // an unknown number (negative) passes
        snprintf(why, why_size, "the program has seccomp filters of its own (%d in all): nothing is injected", count);
    } else if (procstat_seccomp_mode(options->pid, options->tid) == SECCOMP_MODE_STRICT) {
        snprintf(why, why_size, "the program is in seccomp's strict mode: nothing is injected");
    } else if (dispatches_its_calls(options->tid)) {
        snprintf(why, why_size, "the program dispatches its system calls itself: nothing is injected");
    }
    return !why[0];
}

static int open_uffd(struct track *track, const struct sources *sources, const struct track_options *options,
                     struct inject_result *injected, char *why, size_t why_size) {
    if (!may_inject(options, why, why_size)) return -EPERM;
    int fd = make_uffd(options->pid, options->tid, track->missing ? 0 : UFFD_USER_MODE_ONLY, injected);
    if (fd == -EPERM && track->missing && track->changed == SOURCES_CHANGED_WP_ASYNC) { // it dropped its privileges
        track->missing = false;
        snprintf(why, why_size, "process %d may not have a userfaultfd for all faults: written pages alone are known",
                 (int)options->pid);
        fd = make_uffd(options->pid, options->tid, UFFD_USER_MODE_ONLY, injected);
    }
    if (fd < 0) {
        snprintf(why, why_size, "no userfaultfd could be made in process %d: %s", (int)options->pid, strerror(-fd));
        return fd;
    }
    int error = negotiate(fd, track, sources);
    if (error == 0)
        track->uffd = fd;
    else {
        close(fd);
        snprintf(why, why_size, "userfaultfd refuses its features: %s", strerror(-error));
    }
    return error;
}

// Without a userfaultfd: as on a kernel that lacks it.
static void fall_back(struct track *track, const struct sources *sources) {
    track->missing = false;
    if (track->changed == SOURCES_CHANGED_WP_ASYNC)
        track->changed = sources->soft_dirty ? SOURCES_CHANGED_SOFT_DIRTY : SOURCES_CHANGED_HASH;
}

static int open_files(struct track *track, pid_t pid, char *why, size_t why_size) {
    track->pagemap = open_proc(pid, "pagemap");
    track->memory = open_proc(pid, "mem");
    if (track->pagemap >= 0) return 0;
    snprintf(why, why_size, "/proc/%d/pagemap: %s", (int)pid, strerror(-track->pagemap));
    return track->pagemap == -ENOENT ? -ESRCH : track->pagemap;
}

int track_open(const struct sources *sources, const struct track_options *options, struct track **out,
               struct inject_result *injected, char *why, size_t why_size) {
    *injected = (struct inject_result){0};
    *out = NULL;
    why[0] = 0;
    struct track *track = calloc(1, sizeof *track);
    if (!track) return -ENOMEM;
    track->pid = options->pid;
    track->uffd = track->pagemap = track->memory = -1;
    track->scan_works = sources->pagemap_scan;
    track->split_huge = options->split_huge;
    track->changed = sources->changed;
    track->missing = sources->faults == VMV_SOURCE_UFFD;
    int error = open_files(track, options->pid, why, why_size);
    if (error == 0 && (track->changed == SOURCES_CHANGED_WP_ASYNC || track->missing)) {
        error = open_uffd(track, sources, options, injected, why, why_size);
        if (error && error != -ESRCH) {
            fall_back(track, sources);
            error = 0;
        }
    }
    track->knows_guard = error == 0 && track->scan_works && track_scan_knows_guard(track->pagemap);
    if (error == 0 && track->changed == SOURCES_CHANGED_HASH) track->hashes = track_hashes_create();
    if (error)
        track_close(track);
    else
        *out = track;
    return error;
}

void track_close(struct track *track) {
    if (!track) return;
    if (track->uffd >= 0) close(track->uffd);
    if (track->pagemap >= 0) close(track->pagemap);
    if (track->memory >= 0) close(track->memory);
    track_hashes_destroy(track->hashes);
    track_runs_free(&track->found);
    track_runs_free(&track->candidates);
    track_runs_free(&track->files);
    track_runs_free(&track->marked);
    free(track);
}

int track_uffd(const struct track *track) { return track->uffd; }
int track_pagemap(const struct track *track) { return track->pagemap; }
enum sources_changed track_changed(const struct track *track) { return track->changed; }
bool track_missing(const struct track *track) { return track->missing; }
bool track_incomplete(const struct track *track) { return track->incomplete; }

static int register_mode(const struct track *track, uint64_t start, uint64_t end, uint64_t mode) {
    struct uffdio_register range = {.range = {.start = start, .len = end - start}, .mode = mode};
    while (ioctl(track->uffd, UFFDIO_REGISTER, &range) != 0) {
        if (errno != EINTR && errno != EAGAIN) return errno;
    }
    return 0;
}

static enum track_registered meaning_of(int error) {
    switch (error) {
    case 0:
        return TRACK_REGISTERED;
    case EINVAL:
        return TRACK_REFUSED;
    case EPERM:
        return TRACK_READ_ONLY; // VM_MAYWRITE is not set
    case EBUSY:
        return TRACK_OF_PROGRAM;
    case ENOMEM:
    case ENOENT:
    case ESRCH:
        return TRACK_UNMAPPED;
    default:
        return TRACK_FAILED;
    }
}

enum track_registered track_register(struct track *track, uint64_t start, uint64_t end) {
    if (track->uffd < 0) return TRACK_UNNEEDED;
    bool async = track->changed == SOURCES_CHANGED_WP_ASYNC;
    uint64_t write_protect = async ? UFFDIO_REGISTER_MODE_WP : 0;
    int error = EINVAL;
    if (track->missing) error = register_mode(track, start, end, UFFDIO_REGISTER_MODE_MISSING | write_protect);
    // File mappings know no MISSING, but can be write-protected asynchronously.
    if (error == EINVAL && async) error = register_mode(track, start, end, write_protect);
    return meaning_of(error);
}

bool track_unregister(struct track *track, uint64_t start, uint64_t end) {
    struct uffdio_range range = {.start = start, .len = end - start};
    return track->uffd >= 0 && ioctl(track->uffd, UFFDIO_UNREGISTER, &range) == 0;
}

bool track_disarm(struct track *track, uint64_t start, uint64_t end) {
    struct uffdio_writeprotect range = {.range = {.start = start, .len = end - start},
                                        .mode = UFFDIO_WRITEPROTECT_MODE_DONTWAKE};
    if (track->uffd < 0 || track->changed != SOURCES_CHANGED_WP_ASYNC) return true; // nothing is armed
    while (ioctl(track->uffd, UFFDIO_WRITEPROTECT, &range) != 0) {
        if (errno != EAGAIN && errno != EINTR) return false;
    }
    return true;
}
