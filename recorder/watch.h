// --watch: each write to a few bytes, by perf breakpoints (debug registers), with time, thread, registers, stack and,
// where BPF is allowed, the value, without a stop.
#ifndef REC_WATCH_H
#define REC_WATCH_H

#include "sink.h"
#include "watch_list.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct watcher;
struct watch_options {
    struct sink *sink;
    const struct watch_list *list;
    uint32_t stack_bytes;
    bool kernel;       // also writes that system calls make
    bool threads_only; // not by child processes
};
// Tries a breakpoint on this process first. 0 or a negative errno. Starts a thread.
int watcher_create(const struct watch_options *options, struct watcher **watcher);

// Where names are looked for: what is mapped at a moment.
struct watch_place {
    const char *path; // of an ELF file
    uint64_t start;   // where its first byte is mapped
};
// A process whose program is new (`t`: trace time): what was watched in it before is not any more. Names are looked for
// in the places; with all of them found its threads are watched from now on, and the threads and processes they make.
// 0; -ENOENT with `missing` set to what was not found (NULL: nothing is missing); another negative errno.
int watcher_follow(struct watcher *watcher, pid_t pid, uint64_t t, const struct watch_place *places, size_t count,
                   const pid_t *tids, size_t tid_count, const char **missing);
bool watcher_lacks(const struct watcher *watcher, pid_t pid); // names of this process are still to be found
void watcher_fork(struct watcher *watcher, pid_t parent, pid_t child, uint64_t t);
bool watcher_knows_values(const struct watcher *watcher);
uint64_t watcher_found(const struct watcher *watcher); // times that all names were found
void watcher_close(struct watcher *watcher);           // hands on what is left; accepts NULL

#endif
