#include "tracee.h"

#include "fault_server.h"
#include "track.h"

#include <assert.h>
#include <stdlib.h>

static size_t bucket_of(pid_t tid) { return (size_t)tid % TRACEE_BUCKETS; }

static void *allocate(size_t bytes) {
    void *memory = calloc(1, bytes);
    if (!memory) abort();
    return memory;
}

struct tracee *tracee_find(const struct tracee_table *table, pid_t tid) {
    struct tracee *tracee = table->buckets[bucket_of(tid)];
    while (tracee && tracee->tid != tid) tracee = tracee->next;
    return tracee;
}

static void link_in(struct tracee_table *table, struct tracee *tracee) {
    struct tracee **bucket = &table->buckets[bucket_of(tracee->tid)];
    tracee->next = *bucket;
    *bucket = tracee;
}

static void link_out(struct tracee_table *table, struct tracee *tracee) {
    struct tracee **link = &table->buckets[bucket_of(tracee->tid)];
    while (*link != tracee) link = &(*link)->next;
    *link = tracee->next;
}

struct tracee *tracee_add(struct tracee_table *table, pid_t tid, enum tracee_state state) {
    assert(!tracee_find(table, tid));
    struct tracee *tracee = allocate(sizeof *tracee);
    tracee->tid = tid;
    tracee->state = state;
    procstat_thread_init(&tracee->stat, tid, tid);
    link_in(table, tracee);
    table->count++;
    return tracee;
}

static void leave_space(struct tracee *tracee) {
    struct rec_space *space = tracee->process ? tracee->process->space : NULL;
    if (!space) return;
    call_order_leave(space, tracee);
    if (tracee->call_given_up) space->given_up--;
    tracee->call_given_up = false;
}

void tracee_remove(struct tracee_table *table, struct tracee *tracee) {
    leave_space(tracee);
    link_out(table, tracee);
    table->count--;
    procstat_thread_close(&tracee->stat);
    free(tracee->stack);
    free(tracee);
}

void tracee_rename(struct tracee_table *table, struct tracee *tracee, pid_t tid) {
    link_out(table, tracee);
    tracee->tid = tid;
    link_in(table, tracee);
    procstat_thread_close(&tracee->stat); // it belongs to the former tid
    procstat_thread_init(&tracee->stat, tracee->process->pid, tid);
}

static unsigned bit(enum tracee_state state) { return 1u << state; }

static unsigned legal_moves(enum tracee_state from) {
    unsigned go =
        bit(TRACEE_RUNNING) | bit(TRACEE_IN_CALL) | bit(TRACEE_QUEUED) | bit(TRACEE_GROUP) | bit(TRACEE_EXITING);
    switch (from) {
    case TRACEE_EXPECTED:
    case TRACEE_NEWBORN:
        return bit(TRACEE_STOPPED);
    case TRACEE_STOPPED:
        return go;
    case TRACEE_RUNNING:
    case TRACEE_IN_CALL:
    case TRACEE_GROUP:
    case TRACEE_EXITING:
        return bit(TRACEE_STOPPED);
    case TRACEE_QUEUED:
        return bit(TRACEE_IN_CALL) | bit(TRACEE_STOPPED) | bit(TRACEE_RUNNING);
    }
    return 0;
}

void tracee_move(struct tracee *tracee, enum tracee_state state) {
    if (tracee->state == state) return;
    assert(legal_moves(tracee->state) & bit(state));
    tracee->state = state;
}

struct tracee *tracee_next(const struct tracee_table *table, size_t *bucket, struct tracee *previous) {
    struct tracee *next = previous ? previous->next : table->buckets[*bucket];
    while (!next && ++*bucket < TRACEE_BUCKETS) next = table->buckets[*bucket];
    return next;
}

struct rec_process *process_find(const struct tracee_table *table, pid_t pid) {
    struct rec_process *process = table->processes;
    while (process && process->pid != pid) process = process->next;
    return process;
}

struct rec_process *process_add(struct tracee_table *table, pid_t pid, pid_t parent) {
    struct rec_process *process = allocate(sizeof *process);
    process->pid = pid;
    process->parent = parent;
    process->next = table->processes;
    table->processes = process;
    return process;
}

static void space_free(struct tracee_table *table, struct rec_space *space) {
    struct rec_space **link = &table->spaces;
    while (*link != space) link = &(*link)->next;
    *link = space->next;
    if (space->server) fault_server_remove(space->server, track_uffd(space->track));
    track_close(space->track);
    vmv_space_destroy(space->model);
    free(space->owed);
    free(space);
}

// The space may be read through another process that still has it.
static void find_reader(struct tracee_table *table, struct rec_space *space, pid_t gone) {
    if (space->pid != gone) return;
    for (struct rec_process *process = table->processes; process; process = process->next)
        if (process->space == space && process->pid != gone) {
            space->pid = process->pid;
            return;
        }
}

void process_set_space(struct tracee_table *table, struct rec_process *process, struct rec_space *space) {
    struct rec_space *old = process->space;
    if (space) space->users++;
    process->space = space;
    if (!old) return;
    if (--old->users == 0) {
        space_free(table, old);
    } else {
        find_reader(table, old, process->pid);
    }
}

void process_remove(struct tracee_table *table, struct rec_process *process) {
    process_set_space(table, process, NULL);
    struct rec_process **link = &table->processes;
    while (*link != process) link = &(*link)->next;
    *link = process->next;
    free(process);
}

struct rec_space *space_add(struct tracee_table *table, pid_t pid, struct vmv_space *model) {
    struct rec_space *space = allocate(sizeof *space);
    space->id = model->id;
    space->pid = pid;
    space->model = model;
    space->next = table->spaces;
    table->spaces = space;
    return space;
}

void tracee_table_free(struct tracee_table *table) {
    for (size_t i = 0; i < TRACEE_BUCKETS; i++)
        while (table->buckets[i]) tracee_remove(table, table->buckets[i]);
    while (table->processes) process_remove(table, table->processes);
    while (table->spaces) space_free(table, table->spaces);
}
