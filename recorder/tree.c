// The process tree: fork, vfork, clone, exec, exit and signals, keyed by address space.
#include "tracer.h"

#include "arch.h"
#include "fault_server.h"
#include "inject.h"
#include "objects.h"
#include "perf_records.h"
#include "procstat.h"
#include "track.h"
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

enum {
    KCMP_SAME_VM = 1,
    ARGV_BYTES = 65536,
    ARGV_MAX = 4096,
    ORPHAN_NS = 20000000, // a parent tells within this time, if it lives
    LOST_NS = 1000000000,
};

// ---------------------------------------------------------------------------------------------- new children

struct family {
    pid_t group, parent; // 0: unknown
};

static struct family family_of(pid_t tid) {
    char path[64], line[256];
    struct family family = {0, 0};
    snprintf(path, sizeof path, "/proc/%d/status", tid);
    FILE *file = fopen(path, "re");
    if (!file) return family;
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "Tgid: %d", &family.group);
        if (sscanf(line, "PPid: %d", &family.parent) == 1) break;
    }
    fclose(file);
    return family;
}

static bool shares_space(pid_t one, pid_t other, enum stop_kind kind) {
    long result = syscall(SYS_kcmp, one, other, KCMP_SAME_VM, 0, 0);
    if (result >= 0) return result == 0;
    return kind == STOP_VFORK; // kernels without kcmp: by the kind of the call
}

static void start_thread(struct tracer *tracer, struct tracee *child, struct rec_process *process) {
    child->process = process;
    process->threads++;
    if (process->unrecorded) return;
    struct vmv_event event = tracer_event(tracer, VMV_EV_THREAD_START, child);
    if (procstat_name(process->pid, child->tid, child->name) == 0) event.name = child->name;
    tracer_emit(tracer, &event, NULL);
}

static void start_process(struct tracer *tracer, struct tracee *parent, struct tracee *child, enum stop_kind kind) {
    struct rec_process *process = process_add(&tracer->table, child->tid, parent->process->pid);
    struct rec_space *space = parent->process->space;
    bool shared = shares_space(parent->tid, child->tid, kind);
    child->process = process;
    process->threads = 1;
    process->unrecorded = tracer->options->no_follow || parent->process->unrecorded;
    if (process->unrecorded && !shared) space = NULL;
    struct vmv_event event = tracer_event(tracer, VMV_EV_FORK, parent);
    if (!shared && space) {
        struct vmv_space *model = vmv_space_copy(space->model, ++tracer->table.next_space, child->tid);
        space = space_add(&tracer->table, child->tid, model);
        space->next_frame = tracer_now(tracer) + tracer->interval_ns;
        space->env_start = parent->process->space->env_start;
        space->env_end = parent->process->space->env_end;
        space->maps_hidden = parent->process->space->maps_hidden;
        space_withhold(tracer, child->tid, space);
        process->fresh = true;
    }
    process_set_space(&tracer->table, process, space);
    if (process->unrecorded) {
        tracer_note(tracer, VMV_EV_NOTE, parent->process->space,
                    "process %d is followed, but not recorded (--no-follow)", child->tid);
        return;
    }
    if (tracer->watcher) watcher_fork(tracer->watcher, parent->process->pid, child->tid, event.t);
    event.child = child->tid;
    event.child_space = space ? space->id : 0;
    event.flag = kind == STOP_VFORK;
    tracer_emit(tracer, &event, NULL);
}

void tree_new_child(struct tracer *tracer, struct tracee *parent, enum stop_kind kind) {
    unsigned long message = 0;
    if (ptrace(PTRACE_GETEVENTMSG, parent->tid, 0, &message) != 0) message = 0;
    pid_t tid = (pid_t)message;
    parent->spared_until = parent->spared_ns = 0;
    struct tracee *child = tid ? tracee_find(&tracer->table, tid) : NULL;
    bool newborn = child != NULL && child->state == TRACEE_NEWBORN;
    if (child && child->process) { // adopted before
        tracer_resume(tracer, parent, tracer_next_state(parent), 0);
        return;
    }
    if (newborn) tracer->newborns--;
    if (tid && !child) child = tracee_add(&tracer->table, tid, TRACEE_EXPECTED);
    if (child) {
        bool thread = kind == STOP_CLONE && family_of(tid).group == parent->process->pid;
        if (thread) {
            start_thread(tracer, child, parent->process);
        } else {
            start_process(tracer, parent, child, kind);
        }
    }
    if (child) child->untraced_at = parent->untraced_at;
    if (kind == STOP_VFORK) parent->vfork_wait = true;
    tracer_resume(tracer, parent, tracer_next_state(parent), 0);
    if (newborn) {
        tracee_move(child, TRACEE_STOPPED);
        tree_first_stop(tracer, child, child->first_status);
    }
}

void tree_first_stop(struct tracer *tracer, struct tracee *tracee, int status) {
    struct rec_process *process = tracee->process;
    memcall_restore_untraced(tracee, tracee->untraced_at); // in the copy that fork made
    tracee->untraced_at = 0;
    if (process->fresh && process->space) {
        process->fresh = false;
        int moved = space_watch_pages(tracer, process->space, tracee);
        if (moved) status = moved;
        space_watch_mappings(tracer, process->space);
    }
    struct stop stop = stop_classify(status); // a signal or a group-stop may have come first
    if (stop.kind == STOP_GROUP) {
        tracer_resume(tracer, tracee, TRACEE_GROUP, 0);
    } else {
        tracer_resume(tracer, tracee, TRACEE_RUNNING, stop.kind == STOP_SIGNAL ? stop.signal : 0);
    }
}

// ---------------------------------------------------------------------------------------------- orphans

static bool parent_may_tell(const struct tracer *tracer, const struct family *family) {
    size_t bucket = 0;
    for (struct tracee *t = NULL; (t = tracee_next(&tracer->table, &bucket, t));)
        if (t->process && t->process->pid == family->parent && t->state != TRACEE_EXITING) return true;
    return false;
}

// What its parent had is not known any more.
static void adopt_process(struct tracer *tracer, struct tracee *child, pid_t parent) {
    struct rec_process *process = process_add(&tracer->table, child->tid, parent);
    child->process = process;
    process->threads = 1;
    process->unrecorded = tracer->options->no_follow;
    if (process->unrecorded) return;
    struct rec_space *space = space_as_found(tracer, child);
    tracer_note(tracer, VMV_EV_NOTE, space, "process %d was born while its parent was being killed", child->tid);
    process->fresh = true;
}

static void adopt(struct tracer *tracer, struct tracee *child, const struct family *family) {
    struct rec_process *process = process_find(&tracer->table, family->group);
    tracer->newborns--;
    if (process && family->group != child->tid) {
        start_thread(tracer, child, process);
    } else {
        adopt_process(tracer, child, family->parent);
    }
    tracee_move(child, TRACEE_STOPPED);
    tree_first_stop(tracer, child, child->first_status);
}

void tree_adopt_orphans(struct tracer *tracer, uint64_t now) {
    size_t bucket = 0;
    for (struct tracee *t = tracee_next(&tracer->table, &bucket, NULL), *next; t; t = next) {
        next = tracee_next(&tracer->table, &bucket, t);
        if (t->state != TRACEE_NEWBORN || now < t->born + ORPHAN_NS) continue;
        struct family family = family_of(t->tid);
        bool thread = family.group != t->tid;
        if (family.group && (thread ? now > t->born + LOST_NS : !parent_may_tell(tracer, &family)))
            adopt(tracer, t, &family);
    }
}

// ---------------------------------------------------------------------------------------------- exec

static void end_thread(struct tracer *tracer, struct tracee *tracee, int code) {
    struct vmv_event event = tracer_event(tracer, VMV_EV_THREAD_EXIT, tracee);
    event.code = code;
    tracer_emit(tracer, &event, NULL);
}

// exec ends all other threads of the process; they make no report of their own (ptrace(2)).
static void end_other_threads(struct tracer *tracer, struct tracee *leader) {
    size_t bucket = 0;
    struct tracee *tracee = tracee_next(&tracer->table, &bucket, NULL);
    while (tracee) {
        struct tracee *next = tracee_next(&tracer->table, &bucket, tracee);
        if (tracee != leader && tracee->process == leader->process) {
            if (!leader->process->unrecorded) end_thread(tracer, tracee, 0);
            tracee_remove(&tracer->table, tracee);
        }
        tracee = next;
    }
    leader->process->threads = 1;
    if (leader->process->space) memcall_let_next(tracer, leader->process->space);
}

struct tracee *tree_exec_leader(struct tracer *tracer, pid_t pid) {
    unsigned long former = 0;
    if (ptrace(PTRACE_GETEVENTMSG, pid, 0, &former) != 0) return NULL;
    struct tracee *tracee = tracee_find(&tracer->table, (pid_t)former);
    if (tracee) tracee_rename(&tracer->table, tracee, pid);
    return tracee;
}

static size_t read_argv(pid_t pid, char *buffer, const char **argv) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return 0;
    ssize_t got = read(fd, buffer, ARGV_BYTES - 1);
    close(fd);
    size_t count = 0;
    buffer[got > 0 ? got : 0] = 0;
    for (char *at = buffer; got > 0 && at < buffer + got && count < ARGV_MAX; at += strlen(at) + 1) argv[count++] = at;
    return count;
}

static void emit_exec(struct tracer *tracer, struct tracee *leader, uint32_t old_space) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/%d/exe", leader->tid);
    ssize_t length = readlink(link, path, sizeof path - 1);
    path[length > 0 ? length : 0] = 0;
    char *buffer = malloc(ARGV_BYTES);
    const char **argv = malloc(ARGV_MAX * sizeof *argv);
    if (!buffer || !argv) abort();
    struct vmv_event event = tracer_event(tracer, old_space ? VMV_EV_EXEC : VMV_EV_SPACE, leader);
    event.name = path;
    if (!old_space) tracer_emit(tracer, &event, NULL);
    event.type = VMV_EV_EXEC;
    event.child_space = old_space;
    event.argc = read_argv(leader->tid, buffer, argv);
    event.argv = argv;
    tracer_emit(tracer, &event, NULL);
    free(argv);
    free(buffer);
}

// A set-user-ID program, or one with capabilities, does not gain them when a tracer without them looks on, or with
// no_new_privs (execve(2)).
static void note_lost_privileges(struct tracer *tracer, const struct tracee *leader, const struct rec_space *space) {
    char link[64], path[200] = "?", capabilities[64];
    struct stat file;
    snprintf(link, sizeof link, "/proc/%d/exe", leader->tid);
    if (stat(link, &file) != 0) return;
    bool wants = getxattr(link, "security.capability", capabilities, sizeof capabilities) > 0;
    if (!wants && !(file.st_mode & (S_ISUID | S_ISGID))) return;
    struct procstat_ids ids;
    uint64_t effective = 0;
    if (procstat_ids(leader->tid, &ids) != 0) return;
    procstat_capabilities(leader->tid, &effective);
    bool lost = (file.st_mode & S_ISUID && ids.uid != file.st_uid) ||
                (file.st_mode & S_ISGID && ids.gid != file.st_gid) || (wants && !effective);
    if (!lost) return;
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length > 0) path[length] = 0;
    snprintf(tracer->unprivileged, sizeof tracer->unprivileged, "%s", path);
    tracer_note(tracer, VMV_EV_NOTE, space, "%s runs without the privileges of its file, because it is recorded", path);
}

void tree_exec(struct tracer *tracer, struct tracee *leader) {
    struct rec_process *process = leader->process;
    end_other_threads(tracer, leader);
    if (process->unrecorded) {
        process_set_space(&tracer->table, process, NULL);
        leader->call = CALL_NONE;
        tracer_resume(tracer, leader, TRACEE_RUNNING, 0);
        return;
    }
    uint32_t old = process->space ? process->space->id : 0;
    struct vmv_space *model = vmv_space_create(++tracer->table.next_space, process->pid, (uint32_t)tracer->page_size);
    struct rec_space *space = space_add(&tracer->table, process->pid, model);
    space->maps_hidden = process->space && process->space->maps_hidden; // filters stay
    process_set_space(&tracer->table, process, space);
    process->last_frame_done = process->fresh = false;
    leader->call = CALL_NONE;
    leader->sampled_asleep = false;
    tracer->started = true;
    procstat_environment(process->pid, &space->env_start, &space->env_end);
    space_withhold(tracer, process->pid, space);
    emit_exec(tracer, leader, old);
    note_lost_privileges(tracer, leader, space);
    space_watch_pages(tracer, space, leader);
    space_read_first_maps(tracer, space);
    space_watch_writes(tracer, process, true);
    frame_take(tracer, space, VMV_FRAME_EXEC, leader, false);
    tracer_resume(tracer, leader, TRACEE_RUNNING, 0);
}

// ---------------------------------------------------------------------------------------------- signals

// Default actions that end the process (signal(7)).
static bool kills_by_default(int signal) {
    switch (signal) {
    case SIGCHLD:
    case SIGCONT:
    case SIGURG:
    case SIGWINCH:
    case SIGSTOP:
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
        return false;
    default:
        return true;
    }
}

static bool will_kill(const struct tracee *tracee, int signal) {
    if (!kills_by_default(signal)) return false;
    struct procstat_signals signals;
    if (procstat_signals(tracee->process->pid, tracee->tid, &signals) != 0) return false;
    uint64_t bit = 1ull << (signal - 1);
    return !((signals.caught | signals.ignored) & bit);
}

void tree_signal(struct tracer *tracer, struct tracee *tracee, int signal) {
    siginfo_t info;
    if (!tracee->process || !tracee->process->space || tracee->process->unrecorded || !tracer->started) return;
    if (ptrace(PTRACE_GETSIGINFO, tracee->tid, 0, &info) != 0) return;
    if (tracee->process->pid == tracer->root || tracer->root_ended)
        tracer->heard[signal] = (struct heard){info.si_code <= 0 ? info.si_pid : -1, tracer_now(tracer)};
    struct vmv_event event = tracer_event(tracer, VMV_EV_SIGNAL, tracee);
    event.number = signal;
    event.code = info.si_code;
    event.flag = will_kill(tracee, signal);
    bool has_addr = info.si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL ||
                                         signal == SIGFPE || signal == SIGTRAP);
    if (has_addr) event.addr = (uint64_t)(uintptr_t)info.si_addr;
    memcall_capture_stack(tracer, tracee);
    event.pc = tracee->stack_pc;
    struct sink_stack stack = memcall_stack(tracee);
    tracer_emit(tracer, &event, tracee->has_stack ? &stack : NULL);
    if (!event.flag) return;
    frame_take(tracer, tracee->process->space, VMV_FRAME_SIGNAL, tracee, true);
    tracee->process->last_frame_done = true;
}

// ---------------------------------------------------------------------------------------------- exit

static bool whole_group_exits(const struct tracee *tracee, unsigned long status) {
    struct arch_regs regs;
    if (tracee->process->threads == 1 || (status & 0x7f)) return true;
    return arch_get_regs(tracee->tid, &regs) == 0 && arch_syscall(&regs) == SYS_exit_group;
}

void tree_exit_stop(struct tracer *tracer, struct tracee *tracee) {
    unsigned long status = 0;
    struct rec_process *process = tracee->process;
    struct rec_space *space = process ? process->space : NULL;
    ptrace(PTRACE_GETEVENTMSG, tracee->tid, 0, &status);
    if (space && space->users == 1 && !process->last_frame_done && whole_group_exits(tracee, status)) {
        process->last_frame_done = true;
        frame_take(tracer, space, VMV_FRAME_EXIT, tracee, false);
    }
    if (process && !process->unrecorded) end_thread(tracer, tracee, (int)(status >> 8) & 0xff);
    if (space) call_order_leave(space, tracee);
    tracee->call = CALL_NONE;
    tracer_resume(tracer, tracee, TRACEE_EXITING, 0);
    if (space) memcall_let_next(tracer, space);
}

static void end_process(struct tracer *tracer, struct rec_process *process, struct stop stop) {
    struct vmv_event event = tracer_event(tracer, VMV_EV_EXIT, NULL);
    event.pid = event.tid = process->pid;
    event.space = process->space ? process->space->id : 0;
    event.code = stop.signal;
    event.flag = stop.kind == STOP_KILLED;
    if (process->space && !process->unrecorded) tracer_emit(tracer, &event, NULL);
    process_remove(&tracer->table, process);
}

void tree_gone(struct tracer *tracer, pid_t tid, struct stop stop) {
    if (tid == tracer->root) {
        tracer->root_ended = true;
        tracer->root_end = stop;
    }
    struct tracee *tracee = tracee_find(&tracer->table, tid);
    if (!tracee) return;
    if (tracee->state == TRACEE_NEWBORN) tracer->newborns--;
    struct rec_process *process = tracee->process;
    struct rec_space *space = process ? process->space : NULL;
    tracee_remove(&tracer->table, tracee);
    if (!process) return;
    process->threads--;
    if (space) memcall_let_next(tracer, space);
    if (tid == process->pid) end_process(tracer, process, stop);
}
