#include "attach.h"

#include "arch.h"
#include "hold.h"
#include "mend.h"
#include "perf_records.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    STRINGS_ROOM = 4 << 20, // what the kernel hands over of arguments or environment
    ROUNDS = 20,            // of looking for threads born meanwhile
    STOP_TRIES = 250,
    STOP_STEP_US = 200,
};

// ---------------------------------------------------------------------------------------------- may it be?

static long status_number(pid_t pid, const char *field) {
    char path[64], line[256];
    long value = -1;
    snprintf(path, sizeof path, "/proc/%d/status", pid);
    FILE *file = fopen(path, "re");
    while (file && value < 0 && fgets(line, sizeof line, file))
        if (strncmp(line, field, strlen(field)) == 0) value = strtol(line + strlen(field), NULL, 10);
    if (file) fclose(file);
    return value;
}

static void name_of(pid_t pid, char name[16]) {
    if (procstat_name(pid, pid, name) != 0) strcpy(name, "?");
}

bool attach_check(pid_t pid, char *error, size_t size) {
    char name[16], exe[64], byte;
    long group = status_number(pid, "Tgid:"), tracer = status_number(pid, "TracerPid:");
    snprintf(exe, sizeof exe, "/proc/%d/exe", pid);
    error[0] = 0;
    if (group < 0) {
        snprintf(error, size, "-p %d: no such process", pid);
    } else if (group != pid) {
        snprintf(error, size, "-p %d: this is a thread of process %ld; use -p %ld", pid, group, group);
    } else if (pid == getpid()) {
        snprintf(error, size, "-p %d: this is the recorder itself", pid);
    } else if (tracer > 0) {
        tracer = status_number((pid_t)tracer, "Tgid:"); // it may be a thread
        name_of((pid_t)tracer, name);
        snprintf(error, size, "-p %d: it is traced by process %ld (%s) already; end that first", pid, tracer, name);
    } else if (readlink(exe, &byte, 1) < 0 && errno == ENOENT) {
        snprintf(error, size, "-p %d: it has no memory: a thread of the kernel, or a process that has ended", pid);
    }
    return !error[0];
}

char **attach_read_strings(pid_t pid, const char *file) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", pid, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd < 0 ? NULL : malloc(STRINGS_ROOM + 1);
    size_t length = 0, count = 0;
    for (ssize_t got; text && (got = read(fd, text + length, STRINGS_ROOM - length)) > 0;) length += (size_t)got;
    if (fd >= 0) close(fd);
    if (!text) return NULL;
    text[length] = 0;
    for (size_t at = 0; at < length; at += strlen(text + at) + 1) count++;
    char **strings = calloc(count + 2, sizeof *strings);
    if (!strings) abort();
    count = 0;
    strings[0] = text; // also where there are none, so that it can be freed
    for (size_t at = 0; at < length; at += strlen(text + at) + 1) strings[count++] = text + at;
    return strings;
}

// ---------------------------------------------------------------------------------------------- seizing

static long seize_options(const struct tracer *tracer) {
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT;
    if (!tracer->options->no_follow) options |= PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEVFORKDONE;
    return options;
}

// Seizes what is not seized yet. The number of threads that were new, or a negative errno.
static int seize_new(struct tracer *tracer, struct rec_process *process) {
    char path[64];
    int found = 0, error = 0;
    snprintf(path, sizeof path, "/proc/%d/task", process->pid);
    DIR *tasks = opendir(path);
    if (!tasks) return -ESRCH;
    for (struct dirent *entry; error == 0 && (entry = readdir(tasks));) {
        pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (tid <= 0 || tracee_find(&tracer->table, tid)) continue;
        if (ptrace(PTRACE_SEIZE, tid, 0, seize_options(tracer)) != 0) {
            // A thread whose maker is seized is ours from birth: its own stops will tell of it. Others may be ending.
            if (tid == process->pid) error = -errno;
            continue;
        }
        tracee_add(&tracer->table, tid, TRACEE_RUNNING)->process = process;
        process->threads++;
        found++;
    }
    closedir(tasks);
    return error ? error : found;
}

int attach_seize(struct tracer *tracer) {
    struct rec_process *process = process_add(&tracer->table, tracer->root, 0);
    int found = seize_new(tracer, process), error = found < 0 ? found : 0;
    for (unsigned round = 0; found > 0 && round < ROUNDS; round++) found = seize_new(tracer, process);
    return error;
}

// ---------------------------------------------------------------------------------------------- beginning

static void open_records(struct tracer *tracer, const struct perf_records_options *options) {
    char error[256];
    size_t bucket = 0;
    if (perf_records_open(options, &tracer->records, error, sizeof error) != 0) {
        tracer_note(tracer, VMV_EV_GAP, NULL, "no page-fault records in this recording: %s", error);
        return;
    }
    for (struct tracee *t = NULL; (t = tracee_next(&tracer->table, &bucket, t));) {
        int failed =
            t->tid == tracer->root || t->state == TRACEE_NEWBORN ? 0 : perf_records_add(tracer->records, t->tid);
        if (failed && failed != -ESRCH)
            tracer_note(tracer, VMV_EV_GAP, NULL, "no page-fault records of thread %d: %s", t->tid, strerror(-failed));
    }
}

static void emit_threads(struct tracer *tracer) {
    size_t bucket = 0;
    for (struct tracee *t = NULL; (t = tracee_next(&tracer->table, &bucket, t));) {
        if (!t->process || t->tid == t->process->pid) continue;
        struct vmv_event event = tracer_event(tracer, VMV_EV_THREAD_START, t);
        if (procstat_name(t->process->pid, t->tid, t->name) == 0) event.name = t->name;
        tracer_emit(tracer, &event, NULL);
    }
}

// Interrupts a thread that sleeps. Whether it stands then because of that.
static bool stop_asleep(struct tracer *tracer, struct tracee *tracee) {
    int status;
    if (tracee->state != TRACEE_RUNNING || tracee->stands || ptrace(PTRACE_INTERRUPT, tracee->tid, 0, 0) != 0)
        return false;
    for (unsigned i = 0; i < STOP_TRIES; i++, usleep(STOP_STEP_US)) {
        if (waitpid(tracee->tid, &status, __WALL | WNOHANG) != tracee->tid) continue;
        if (stop_classify(status).kind == STOP_INTERRUPT) return tracee->held = true;
        tracee->stands = true;
        tracer_keep_for_later(tracer, tracee->tid, status);
        return false;
    }
    return false;
}

static void mend_held(struct tracer *tracer, struct tracee *tracee) {
    struct arch_regs regs;
    if (arch_get_regs(tracee->tid, &regs) == 0 && mend_call(tracee, &regs, tracer_now(tracer)))
        arch_set_regs(tracee->tid, &regs);
}

static bool is_group_stopped(const struct tracer *tracer, const struct tracee *tracee) {
    for (size_t i = tracer->pending_at; i < tracer->pending_count; i++)
        if (tracer->pending[i].tid == tracee->tid) return stop_classify(tracer->pending[i].status).kind == STOP_GROUP;
    return false;
}

// Through one of its threads: one that stands already, else one that must be woken for it.
void attach_watch(struct tracer *tracer, struct rec_space *space) {
    space->watch_due = true; // until one stood where a call can be injected, and not at a signal, say
    for (int asleep = 0; asleep < 2 && !space->track; asleep++) {
        size_t bucket = 0;
        for (struct tracee *t = NULL; !space->track && (t = tracee_next(&tracer->table, &bucket, t));) {
            if (!hold_is_of(t, space)) continue;
            bool stands = t->held || is_group_stopped(tracer, t);
            if (!stands && asleep && stop_asleep(tracer, t)) {
                mend_held(tracer, t);
                stands = true;
            }
            if (!stands) continue;
            space_watch_pages(tracer, space, t);
            space->watch_due = false;
        }
    }
    space_watch_mappings(tracer, space);
}

void attach_begin(struct tracer *tracer, const struct perf_records_options *options) {
    struct tracee *root = tracee_find(&tracer->table, tracer->root);
    struct rec_space *space = space_as_found(tracer, root);
    struct hold hold = {tracer, space, NULL, 0};
    size_t bucket = 0;
    tracer->started = true;
    emit_threads(tracer);
    hold_threads(&hold);
    for (struct tracee *t = NULL; (t = tracee_next(&tracer->table, &bucket, t));)
        if (t->held) mend_held(tracer, t);
    memcall_follow_maps(tracer, space); // as they are now that nothing runs
    if (options) open_records(tracer, options);
    space_watch_writes(tracer, root->process, true);
    if (tracer->sources->faults != VMV_SOURCE_NONE) attach_watch(tracer, space);
    hold_let_go(&hold);
    frame_take(tracer, space, VMV_FRAME_INTERVAL, NULL, true);
}

void attach_end(struct tracer *tracer) {
    for (struct rec_space *space = tracer->table.spaces; space; space = space->next)
        frame_take(tracer, space, VMV_FRAME_INTERVAL, NULL, true);
    tracer_drain(tracer);
}
