// The tracer's loop: wait for a stop, say what it is, act on it, restart the thread.
#include "tracer.h"

#include "arch.h"
#include "confine.h"
#include "mend.h"
#include "perf_records.h"
#include "transfer.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    TICK_MIN_NS = 1000000,
    TICK_MAX_NS = 10000000,
    SOON_NS = 40000,
    QUICK_STOPS = 8,    // in a row, before more are expected
    DRAIN_NS = 5000000, // a late stop of ours comes within this time
    DRAIN_STEP_US = 200,
};

uint64_t tracer_now(const struct tracer *tracer) { return sink_now(tracer->sink); }

struct vmv_event tracer_event(const struct tracer *tracer, enum vmv_event_type type, const struct tracee *tracee) {
    struct vmv_event event = {.t = tracer_now(tracer), .type = type};
    if (!tracee) return event;
    event.tid = tracee->tid;
    if (tracee->process) event.pid = tracee->process->pid;
    if (tracee->process && tracee->process->space) event.space = tracee->process->space->id;
    return event;
}

static struct rec_space *space_of(struct tracer *tracer, uint32_t id) {
    struct rec_space *space = tracer->table.spaces;
    while (space && space->id != id) space = space->next;
    return space;
}

// Pages that an event takes away need not be copied any more.
static void forget_owed(struct rec_space *space, const struct vmv_event *event) {
    if (!space->owed_count || event->ret < 0) return;
    switch (event->type) {
    case VMV_EV_MMAP:
        frame_forget(space, (uint64_t)event->ret, (uint64_t)event->ret + event->len);
        break;
    case VMV_EV_MREMAP: {
        uint64_t kept = (uint64_t)event->ret == event->old_addr ? event->len : 0;
        if (kept < event->old_len) frame_forget(space, event->old_addr + kept, event->old_addr + event->old_len);
        break;
    }
    case VMV_EV_BRK:
        frame_forget(space, (uint64_t)event->ret, event->old_addr);
        break;
    case VMV_EV_MADVISE:
        if (event->prot != MADV_DONTNEED && event->prot != MADV_FREE && event->prot != MADV_REMOVE) break;
        frame_forget(space, event->addr, event->addr + event->len);
        break;
    case VMV_EV_MUNMAP:
    case VMV_EV_SHMDT:
        frame_forget(space, event->addr, event->addr + event->len);
        break;
    default:
        break;
    }
}

void tracer_emit(struct tracer *tracer, struct vmv_event *event, const struct sink_stack *stack) {
    struct rec_space *space = event->space ? space_of(tracer, event->space) : NULL;
    if (space) {
        vmv_space_apply(space->model, event);
        forget_owed(space, event);
    }
    sink_event(tracer->producer, event, stack);
}

void tracer_note(struct tracer *tracer, enum vmv_event_type type, const struct rec_space *space, const char *format,
                 ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct vmv_event event = tracer_event(tracer, type, NULL);
    if (space) event.space = space->id, event.pid = space->pid;
    event.name = text;
    tracer_emit(tracer, &event, NULL);
    if (tracer->options->verbose) fprintf(stderr, "vmvis-record: %s\n", text);
}

// ---------------------------------------------------------------------------------------------- restarting

static long restart(const struct tracer *tracer, struct tracee *tracee, enum tracee_state into, int signal) {
    if (into == TRACEE_RUNNING && (tracer->every_call || tracee->strict)) into = TRACEE_IN_CALL;
    switch (into) {
    case TRACEE_IN_CALL:
        return ptrace(PTRACE_SYSCALL, tracee->tid, 0, signal);
    case TRACEE_GROUP:
        return ptrace(PTRACE_LISTEN, tracee->tid, 0, 0);
    default:
        return ptrace(PTRACE_CONT, tracee->tid, 0, signal);
    }
}

void tracer_resume(struct tracer *tracer, struct tracee *tracee, enum tracee_state into, int signal) {
    tracee_move(tracee, into);
    tracer->exit_due = into == TRACEE_IN_CALL;
    if (restart(tracer, tracee, into, signal) == 0 || errno == ESRCH) return; // gone: its end will be reported
    tracer_note(tracer, VMV_EV_NOTE, NULL, "thread %d could not be restarted: %s", tracee->tid, strerror(errno));
}

// ---------------------------------------------------------------------------------------------- waiting

int tracer_wait(pid_t *tid, int *status) {
    *tid = waitpid(-1, status, __WALL);
    return *tid > 0 ? 0 : -errno;
}

// The next stop of a lone thread that makes one memory call after the other comes within microseconds: sooner than a
// sleeping tracer on another processor is woken. Looking for it that long, and only then, costs the program nothing and
// halves what a stop takes.
static bool comes_soon(const struct tracer *tracer) {
    bool soon = tracer->quick_stops >= QUICK_STOPS || tracer->exit_due;
    return soon && tracer->table.count == 1 && tracer->processors > 1;
}

static int wait_for_next(struct tracer *tracer, pid_t *tid, int *status) {
    uint64_t begun = tracer_now(tracer), now = begun;
    bool soon = comes_soon(tracer);
    do {
        *tid = soon ? waitpid(-1, status, __WALL | WNOHANG) : 0;
        now = tracer_now(tracer);
    } while (*tid == 0 && soon && now - begun < SOON_NS);
    int error = *tid == 0 ? tracer_wait(tid, status) : *tid > 0 ? 0 : -errno;
    bool quick = tracer_now(tracer) - begun < 2 * SOON_NS;
    tracer->quick_stops = quick ? tracer->quick_stops + 1 : 0;
    return error;
}

void tracer_keep_for_later(struct tracer *tracer, pid_t tid, int status) {
    if (tracer->pending_at == tracer->pending_count) tracer->pending_at = tracer->pending_count = 0;
    if (tracer->pending_count == tracer->pending_room) {
        size_t room = tracer->pending_room * 2 + 64;
        void *pending = realloc(tracer->pending, room * sizeof *tracer->pending);
        if (!pending) abort();
        tracer->pending = pending;
        tracer->pending_room = room;
    }
    tracer->pending[tracer->pending_count++] = (struct waiting_stop){tid, status};
}

static int next_stop(struct tracer *tracer, pid_t *tid, int *status) {
    if (tracer->pending_at < tracer->pending_count) {
        struct waiting_stop stop = tracer->pending[tracer->pending_at++];
        *tid = stop.tid;
        *status = stop.status;
        return 0;
    }
    return wait_for_next(tracer, tid, status);
}

// ---------------------------------------------------------------------------------------------- dispatching

static void on_group_stop(struct tracer *tracer, struct tracee *tracee) {
    mend_undo(tracee);
    tracer_resume(tracer, tracee, TRACEE_GROUP, 0);
}

enum tracee_state tracer_next_state(const struct tracee *tracee) {
    return tracee->call || tracee->transfer.active ? TRACEE_IN_CALL : TRACEE_RUNNING;
}

static void mend(struct tracer *tracer, struct tracee *tracee) {
    struct arch_regs regs;
    if (arch_get_regs(tracee->tid, &regs) == 0 && mend_call(tracee, &regs, tracer_now(tracer)))
        arch_set_regs(tracee->tid, &regs);
}

// Our own interrupt, or a stop that a frame no longer waits for, or the news of a SIGCONT. When that ends a group-stop,
// the program alone would have been broken off too.
static void on_interrupt(struct tracer *tracer, struct tracee *tracee) {
    if (tracee->was_in_group) {
        mend_settle(tracee);
    } else {
        mend(tracer, tracee);
    }
    tracer_resume(tracer, tracee, tracer_next_state(tracee), 0);
}

// Of a native call: of others the exit alone is looked at.
static bool is_entry(const struct tracee *tracee) {
    struct __ptrace_syscall_info info;
    if (ptrace(PTRACE_GET_SYSCALL_INFO, tracee->tid, sizeof info, &info) <= 0) return false;
    return info.op == PTRACE_SYSCALL_INFO_ENTRY && info.arch == ARCH_AUDIT;
}

static void on_syscall(struct tracer *tracer, struct tracee *tracee) {
    if (tracee->transfer.active) {
        transfer_step(tracer, tracee);
    } else if (tracee->call != CALL_NONE) {
        memcall_exit(tracer, tracee);
    } else if (tracee->strict) {
        confine_strict(tracer, tracee);
    } else if (tracer->every_call && is_entry(tracee)) {
        memcall_entry(tracer, tracee);
    } else {
        if (tracer->every_call) memcall_unseen_exit(tracer, tracee);
        tracer_resume(tracer, tracee, TRACEE_RUNNING, 0);
    }
}

// A signal between a call's entry and its exit stop: the call is over, or will be restarted from its entry; its result
// will not be reported to us any more. Nothing of it may be taken for granted.
static void on_signal(struct tracer *tracer, struct tracee *tracee, int signal) {
    tree_signal(tracer, tracee, signal);
    if (mend_is_ignored(tracee, signal)) {
        mend(tracer, tracee);
    } else {
        mend_undo(tracee);
        if (signal == SIGCHLD) mend_wait(tracee);
    }
    tracer_resume(tracer, tracee, tracer_next_state(tracee), signal);
}

static void act(struct tracer *tracer, struct tracee *tracee, struct stop stop) {
    switch (stop.kind) {
    case STOP_SECCOMP:
        memcall_entry(tracer, tracee);
        break;
    case STOP_SYSCALL:
        on_syscall(tracer, tracee);
        break;
    case STOP_FORK:
    case STOP_VFORK:
    case STOP_CLONE:
        tree_new_child(tracer, tracee, stop.kind);
        break;
    case STOP_VFORK_DONE:
        tracee->vfork_wait = false;
        tracer_resume(tracer, tracee, tracer_next_state(tracee), 0);
        break;
    case STOP_EXEC:
        tree_exec(tracer, tracee);
        break;
    case STOP_EXIT:
        tree_exit_stop(tracer, tracee);
        break;
    case STOP_GROUP:
        on_group_stop(tracer, tracee);
        break;
    case STOP_SIGNAL:
        on_signal(tracer, tracee, stop.signal);
        break;
    default:
        on_interrupt(tracer, tracee);
        break;
    }
}

static void dispatch(struct tracer *tracer, pid_t tid, int status) {
    struct stop stop = stop_classify(status);
    struct tracee *tracee = tracee_find(&tracer->table, tid);
    if (stop.kind == STOP_EXITED || stop.kind == STOP_KILLED) {
        tree_gone(tracer, tid, stop);
        return;
    }
    if (!tracee && stop.kind == STOP_EXEC) tracee = tree_exec_leader(tracer, tid);
    if (!tracee) { // its first stop came before its parent's event: hold it
        tracee = tracee_add(&tracer->table, tid, TRACEE_NEWBORN);
        tracee->first_status = status;
        tracee->born = tracer_now(tracer);
        tracer->newborns++;
        return;
    }
    bool first = tracee->state == TRACEE_EXPECTED;
    tracee->was_in_group = tracee->state == TRACEE_GROUP;
    if (tracee->state == TRACEE_QUEUED) memcall_leave_queue(tracee);
    tracee_move(tracee, TRACEE_STOPPED);
    if (first) {
        tree_first_stop(tracer, tracee, status);
    } else {
        act(tracer, tracee, stop);
    }
}

// ---------------------------------------------------------------------------------------------- ticking

static void on_tick_signal(int signal) { (void)signal; }

// A timer whose signal breaks waitpid off, so that frames come while the program runs undisturbed. It repeats: one
// that strikes between a check and the wait is made good by the next.
static timer_t start_ticks(void) {
    struct sigaction action = {.sa_handler = on_tick_signal};
    sigaction(TICK_SIGNAL, &action, NULL);
    struct sigevent event = {.sigev_notify = SIGEV_THREAD_ID, .sigev_signo = TICK_SIGNAL};
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    timer_t timer;
    if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0) abort();
    return timer;
}

// The next tick comes when the next frame is due, or soon.
static uint64_t set_next_tick(const struct tracer *tracer, timer_t timer, uint64_t now) {
    uint64_t wait = TICK_MAX_NS;
    for (const struct rec_space *space = tracer->table.spaces; space; space = space->next) {
        uint64_t left = space->next_frame > now ? space->next_frame - now : 0;
        if (left < wait) wait = left;
    }
    if (wait < TICK_MIN_NS) wait = TICK_MIN_NS;
    struct itimerspec next = {{0, TICK_MAX_NS}, {0, (long)wait}};
    timer_settime(timer, 0, &next, NULL);
    return now + wait;
}

static void tick(struct tracer *tracer, uint64_t now) {
    tracer_pass_signals(tracer, now);
    tracer_stop_with_program(tracer, now);
    if (tracer->signals->keep_ring) sink_keep_ring(tracer->sink);
    tracer->signals->keep_ring = 0;
    memcall_overdue(tracer, now);
    if (tracer->newborns) tree_adopt_orphans(tracer, now);
    frame_due(tracer, now);
    governor_tick(tracer, now);
    sink_advance(tracer->producer, tracer_now(tracer));
}

void tracer_run(struct tracer *tracer) {
    timer_t timer = start_ticks();
    uint64_t next_tick = set_next_tick(tracer, timer, tracer_now(tracer));
    while (tracer->table.count && !tracer->signals->stop) {
        pid_t tid;
        int status;
        int error = next_stop(tracer, &tid, &status);
        if (error == 0) dispatch(tracer, tid, status);
        if (error == -ECHILD) break;
        uint64_t now = tracer_now(tracer);
        if (now < next_tick) continue;
        tick(tracer, now);
        next_tick = set_next_tick(tracer, timer, tracer_now(tracer));
    }
    timer_delete(timer);
}

void tracer_drain(struct tracer *tracer) {
    uint64_t until = tracer_now(tracer) + DRAIN_NS;
    while (tracer->table.count && tracer_now(tracer) < until) {
        int status;
        pid_t tid = 0;
        bool kept = tracer->pending_at < tracer->pending_count;
        if (kept) next_stop(tracer, &tid, &status);
        if (!kept) tid = waitpid(-1, &status, __WALL | WNOHANG);
        if (tid < 0) break;
        if (tid > 0) dispatch(tracer, tid, status);
        if (tid == 0) usleep(DRAIN_STEP_US);
    }
}

void tracer_free(struct tracer *tracer) {
    tracee_table_free(&tracer->table);
    procmaps_free(&tracer->maps);
    track_runs_free(&tracer->runs);
    free(tracer->pending);
}
