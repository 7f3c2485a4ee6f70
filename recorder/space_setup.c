// An address space that comes into view: its mappings read, its pages watched.
#include "tracer.h"

#include "fault_server.h"
#include "objects.h"
#include "perf_records.h"
#include "track.h"
#include "watch.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void give_signals(pid_t pid, pid_t tid, const struct inject_result *result) {
    for (unsigned i = 0; i < result->signal_count; i++) syscall(SYS_tgkill, pid, tid, result->signals[i].si_signo);
}

int space_watch_pages(struct tracer *tracer, struct rec_space *space, struct tracee *tracee) {
    if (tracer->sources->faults == VMV_SOURCE_NONE) return 0;
    struct track_options options = {.pid = space->pid,
                                    .tid = tracee->tid,
                                    .own_filters = tracer->own_filters,
                                    .split_huge = tracer->options->split_huge};
    struct inject_result result = {0};
    char why[256] = "";
    int error = track_open(tracer->sources, &options, &space->track, &result, why, sizeof why);
    if (result.gone) tracer_keep_for_later(tracer, tracee->tid, result.status);
    give_signals(space->pid, tracee->tid, &result);
    int moved = result.gone ? 0 : result.status;
    if (error == -ESRCH) return 0;
    if (error || why[0]) tracer_note(tracer, VMV_EV_NOTE, space, "pages: %s", why[0] ? why : strerror(-error));
    if (error) return moved;
    int uffd = track_uffd(space->track);
    if (!tracer->fault_server || uffd < 0 || !track_missing(space->track)) return moved;
    if (fault_server_add(tracer->fault_server, uffd, track_pagemap(space->track), space->pid, space->id) == 0)
        space->server = tracer->fault_server;
    return moved;
}

void space_watch_mappings(struct tracer *tracer, struct rec_space *space) {
    const struct vmv_space *model = space->model;
    for (size_t i = 0; space->track && i < model->map_count; i++)
        memcall_register(tracer, space, model->maps[i].start, model->maps[i].end);
}

// Pieces of stack in fault records may reach up to the environment.
void space_withhold(struct tracer *tracer, pid_t pid, const struct rec_space *space) {
    if (tracer->options->no_env && tracer->records) perf_records_withhold(tracer->records, pid, space->env_start);
}

// The mappings the kernel made for the new program; those of its own file are marked.
void space_read_first_maps(struct tracer *tracer, struct rec_space *space) {
    char link[64];
    uint32_t dev_major = 0, dev_minor = 0;
    uint64_t inode = 0;
    snprintf(link, sizeof link, "/proc/%d/exe", space->pid);
    objects_identify(link, &dev_major, &dev_minor, &inode);
    tracer->program_inode = inode;
    memcall_read_maps(tracer, space);
    tracer->program_inode = 0;
}

struct rec_space *space_as_found(struct tracer *tracer, struct tracee *tracee) {
    struct rec_process *process = tracee->process;
    struct vmv_space *model = vmv_space_create(++tracer->table.next_space, process->pid, (uint32_t)tracer->page_size);
    struct rec_space *space = space_add(&tracer->table, process->pid, model);
    space->next_frame = tracer_now(tracer) + tracer->interval_ns;
    space->as_found = true;
    process_set_space(&tracer->table, process, space);
    procstat_environment(process->pid, &space->env_start, &space->env_end);
    space_withhold(tracer, process->pid, space);
    struct vmv_event event = tracer_event(tracer, VMV_EV_SPACE, tracee);
    char name[16] = "";
    if (procstat_name(process->pid, tracee->tid, name) == 0) event.name = name;
    tracer_emit(tracer, &event, NULL);
    space_read_first_maps(tracer, space);
    return space;
}

// ---------------------------------------------------------------------------------------------- --watch

enum { PLACES_MAX = 256, THREADS_MAX = 4096 };

static size_t find_places(const struct rec_space *space, struct watch_place *places) {
    const struct vmv_space *model = space->model;
    size_t count = 0;
    for (int program = 1; program >= 0; program--) // the program's own symbols come first, as for the linker
        for (size_t i = 0; i < model->map_count && count < PLACES_MAX; i++) {
            const struct vmv_mapping *mapping = &model->maps[i];
            bool own = mapping->flags & VMV_MAP_PROGRAM;
            if (mapping->name[0] == '/' && mapping->inode && mapping->offset == 0 && own == program)
                places[count++] = (struct watch_place){mapping->name, mapping->start};
        }
    return count;
}

static size_t find_threads(const struct tracer *tracer, const struct rec_process *process, pid_t *tids) {
    size_t bucket = 0, count = 0;
    for (struct tracee *t = NULL; (t = tracee_next(&tracer->table, &bucket, t));)
        if (t->process == process && count < THREADS_MAX) tids[count++] = t->tid;
    return count;
}

void space_watch_writes(struct tracer *tracer, const struct rec_process *process, bool also_new) {
    if (!tracer->watcher || (!also_new && !watcher_lacks(tracer->watcher, process->pid))) return;
    struct watch_place places[PLACES_MAX];
    pid_t tids[THREADS_MAX];
    const char *missing;
    size_t count = find_places(process->space, places), threads = find_threads(tracer, process, tids);
    int error =
        watcher_follow(tracer->watcher, process->pid, tracer_now(tracer), places, count, tids, threads, &missing);
    if (error == -E2BIG)
        tracer_note(tracer, VMV_EV_NOTE, process->space,
                    "--watch %s: a debug register watches 8 bytes at most, there are four; name a part: %s+N,LEN",
                    missing, missing);
    if (error && !missing)
        tracer_note(tracer, VMV_EV_GAP, process->space, "--watch: writes cannot be watched: %s", strerror(-error));
    if (!error && !watcher_knows_values(tracer->watcher))
        tracer_note(tracer, VMV_EV_NOTE, process->space,
                    "--watch: values are not known, for BPF is refused here; run as root");
}
