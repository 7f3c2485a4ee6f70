#include "hold.h"

#include <errno.h>
#include <sched.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>

enum {
    HOLD_PATIENCE_NS = 50000000, // a thread that has not stopped by then is left running: its pages may be torn
    RESLEEP_NS = 60000,          // processor time it takes a thread to fall asleep again after our interrupt
    CALL_PATIENCE_NS = 1000000,  // a memory call that takes longer is not waited for
};

// Calls that PTRACE_INTERRUPT breaks off without the program seeing it (measured, docs/DESIGN.md). A thread asleep in
// any other call is left asleep.
static bool restarts_invisibly(int64_t call) {
    switch (call) {
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
    case SYS_poll:
    case SYS_ppoll:
    case SYS_select:
    case SYS_pselect6:
    case SYS_futex:
    case SYS_wait4:
    case SYS_waitid:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_flock:
        return true;
    default:
        return false;
    }
}

bool hold_is_of(const struct tracee *tracee, const struct rec_space *space) {
    return tracee->process && tracee->process->space == space;
}

static bool same_sleep(struct tracee *tracee, const struct procstat_syscall *now) {
    uint64_t run_ns;
    if (!tracee->sampled_asleep || now->nr != tracee->sampled_call || now->sp != tracee->sampled_sp ||
        now->pc != tracee->sampled_pc)
        return false;
    if (procstat_run_ns(&tracee->stat, &run_ns) != 0) return false;
    bool same = run_ns - tracee->sampled_run_ns < RESLEEP_NS;
    tracee->sampled_run_ns = run_ns;
    return same;
}

static bool wants_interrupt(struct tracee *tracee) {
    struct procstat_syscall now;
    if (tracee->vfork_wait) return false;
    if (procstat_syscall(&tracee->stat, &now) != 0 || now.where != PROCSTAT_IN_SYSCALL) {
        tracee->sampled_asleep = false;
        return true;
    }
    if (same_sleep(tracee, &now)) return false;
    tracee->sampled_asleep = false;
    if (!restarts_invisibly(now.nr)) return false;
    tracee->sampled_asleep = true;
    tracee->sampled_call = now.nr;
    tracee->sampled_sp = now.sp;
    tracee->sampled_pc = now.pc;
    return true;
}

static void ask_to_stop(struct hold *hold, struct tracee *tracee) {
    if (tracee->state == TRACEE_IN_CALL) { // its exit stop is near, unless it populates gigabytes
        tracee->awaited = tracer_now(hold->tracer) - tracee->call_since < CALL_PATIENCE_NS;
    } else if (tracee->state == TRACEE_RUNNING && tracer_now(hold->tracer) >= tracee->spared_until &&
               wants_interrupt(tracee)) {
        tracee->awaited = ptrace(PTRACE_INTERRUPT, tracee->tid, 0, 0) == 0;
    }
    if (tracee->awaited) hold->awaited++;
}

// Stops that are waiting to be dispatched already stand.
static void mark_pending(struct tracer *tracer) {
    for (size_t i = tracer->pending_at; i < tracer->pending_count; i++) {
        struct tracee *tracee = tracee_find(&tracer->table, tracer->pending[i].tid);
        if (tracee) tracee->stands = true;
    }
}

static void on_stop(struct hold *hold, pid_t tid, int status) {
    struct tracee *tracee = tracee_find(&hold->tracer->table, tid);
    bool awaited = tracee && tracee->awaited;
    if (awaited) {
        tracee->awaited = false;
        hold->awaited--;
    }
    enum stop_kind kind = stop_classify(status).kind;
    if (awaited && kind == STOP_INTERRUPT) {
        tracee->held = true;
        return;
    }
    if (tracee && kind != STOP_EXITED && kind != STOP_KILLED) tracee->stands = true;
    tracer_keep_for_later(hold->tracer, tid, status);
}

void hold_threads(struct hold *hold) {
    size_t bucket = 0;
    mark_pending(hold->tracer);
    for (struct tracee *t = NULL; (t = tracee_next(&hold->tracer->table, &bucket, t));)
        if (t != hold->at && hold_is_of(t, hold->space) && !t->stands) ask_to_stop(hold, t);
    uint64_t until = tracer_now(hold->tracer) + HOLD_PATIENCE_NS;
    while (hold->awaited) {
        pid_t tid;
        int status, error = tracer_wait(&tid, &status);
        if (error == 0) on_stop(hold, tid, status);
        if (error == -ECHILD || tracer_now(hold->tracer) > until) break;
    }
}

void hold_prefer_tracer(bool prefer) {
    struct sched_param parameters = {.sched_priority = prefer};
    sched_setscheduler(0, (prefer ? SCHED_FIFO : SCHED_OTHER) | SCHED_RESET_ON_FORK, &parameters);
}

void hold_let_go(struct hold *hold) {
    size_t bucket = 0;
    for (struct tracee *t = NULL; (t = tracee_next(&hold->tracer->table, &bucket, t));) {
        t->stands = false;
        t->awaited = false;
        if (!t->held) continue;
        t->held = false;
        tracee_move(t, TRACEE_STOPPED);
        tracer_resume(hold->tracer, t, tracer_next_state(t), 0);
    }
}
