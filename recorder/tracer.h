// The tracer: the one thread that issues ptrace requests. Private to the recorder's files; main.c uses the first part.
#ifndef REC_TRACER_H
#define REC_TRACER_H

#include "governor.h"
#include "options.h"
#include "procmaps.h"
#include "signals.h"
#include "sink.h"
#include "stop.h"
#include "tracee.h"

struct sources;
struct perf_records;
struct fault_server;
struct watcher;
struct object_table;

struct tracer_cost { // what recording took from the program, ns
    uint64_t held;   // threads held for frames, wall time
    uint64_t faults; // counted faults at their calibrated price
    uint64_t stops;  // memory calls: two stops each, at the price of a stop
};

struct tracer {
    const struct options *options;
    const struct sources *sources;
    struct sink *sink;
    struct sink_producer *producer;
    struct perf_records *records;      // NULL: not in use
    struct fault_server *fault_server; // NULL: not in use
    struct watcher *watcher;           // NULL: nothing is watched
    struct object_table *objects;
    struct tracee_table table;
    uint64_t page_size;
    struct procmaps maps;   // reading memory, kept
    struct track_runs runs; // the same for scans

    pid_t root;       // the program's first process
    bool every_call;  // all system calls stop, for there is no filter (-p --maps stops)
    bool compare;     // VMVIS_COMPARE: the model with the kernel, after every memory call
    bool started;     // its exec was seen
    int launch_errno; // it never started: why
    long processors;
    unsigned quick_stops; // that came soon, in a row
    bool exit_due;        // the thread restarted last is in a memory call
    size_t newborns;      // held until their parents tell of them
    bool root_ended;
    struct stop root_end;
    int own_filters;        // seccomp filters a traced thread has of itself: ours and those we inherited
    uint64_t program_inode; // while the maps of a new program are read: its file, to be marked

    unsigned refused_tracers; // times the program asked to trace a process itself
    char unprivileged[256];   // a program that did not gain the privileges of its file, "" none
    struct signals *signals;  // that the recorder was sent
    struct heard {            // by number: the last that the program's first process was sent by another
        pid_t sender;
        uint64_t at; // ns
    } heard[SIGNALS_END];
    uint64_t passed;    // bit n-1: signal n was passed on to it
    unsigned requests;  // to end, by SIGTERM
    uint64_t requested; // ns, the last

    uint64_t frames; // made so far
    uint64_t interval_ns;
    struct tracer_cost cost;
    struct governor governor;

    // stops that came while a frame was being taken
    struct waiting_stop {
        pid_t tid;
        int status;
    } * pending;
    size_t pending_count, pending_room, pending_at;
};

// Traces the process `root` (attached, not yet running) until the last process of its tree is gone.
void tracer_run(struct tracer *tracer);
void tracer_drain(struct tracer *tracer); // dispatches the stops that came already: before the tracees are left
void tracer_free(struct tracer *tracer);

// ------------------------------------------------------------------------------------------------ within the recorder

enum { TICK_SIGNAL = SIGURG }; // breaks off the tracer's wait; gdb does not stop at it by default

// loop.c
uint64_t tracer_now(const struct tracer *tracer); // ns since the recording began
// Restarts a stopped tracee. The only place that does. signal: to deliver, 0: none.
void tracer_resume(struct tracer *tracer, struct tracee *tracee, enum tracee_state into, int signal);
void tracer_emit(struct tracer *tracer, struct vmv_event *event, const struct sink_stack *stack); // and applies it
struct vmv_event tracer_event(const struct tracer *tracer, enum vmv_event_type type, const struct tracee *tracee);
// Waits for any tracee; 0 and *status, or -EINTR at a tick or signal, or -ECHILD when none is left.
enum tracee_state tracer_next_state(const struct tracee *tracee); // as what it is to be restarted
int tracer_wait(pid_t *tid, int *status);
void tracer_keep_for_later(struct tracer *tracer, pid_t tid, int status);
void tracer_note(struct tracer *tracer, enum vmv_event_type type, const struct rec_space *space, const char *format,
                 ...) __attribute__((format(printf, 4, 5)));

// forward.c
void tracer_pass_signals(struct tracer *tracer, uint64_t now);      // that the recorder was sent
void tracer_stop_with_program(struct tracer *tracer, uint64_t now); // at Ctrl-Z

// memcall.c
void memcall_entry(struct tracer *tracer, struct tracee *tracee); // at a seccomp stop
void memcall_exit(struct tracer *tracer, struct tracee *tracee);  // at its syscall-exit-stop
// At the exit stop of a call whose entry was not seen (-p): a memory call is made good by reading the maps.
void memcall_unseen_exit(struct tracer *tracer, struct tracee *tracee);
// A call is making huge pages of small ones: it fails where they are armed meanwhile.
bool memcall_is_collapsing(const struct rec_space *space);
void memcall_overdue(struct tracer *tracer, uint64_t now); // gives up order behind calls that do not return
void memcall_leave_queue(struct tracee *tracee);           // it was killed while it waited for its turn
void memcall_let_next(struct tracer *tracer, struct rec_space *space);
void memcall_register(struct tracer *tracer, struct rec_space *space, uint64_t start, uint64_t end); // notes failures
void memcall_read_maps(struct tracer *tracer, struct rec_space *space);   // where the model may have lost the kernel
void memcall_follow_maps(struct tracer *tracer, struct rec_space *space); // reads them, and tells what has changed
void memcall_capture_stack(struct tracer *tracer, struct tracee *tracee); // registers and stack piece of a stop
void memcall_restore_untraced(struct tracee *tracee, uint64_t at);        // the flag that was taken from clone3
uint32_t tracer_object(struct tracer *tracer, const struct rec_space *space, const struct vmv_mapping *mapping);
struct sink_stack memcall_stack(const struct tracee *tracee);

// tree.c
void tree_new_child(struct tracer *tracer, struct tracee *parent, enum stop_kind kind);
void tree_first_stop(struct tracer *tracer, struct tracee *tracee, int status); // of a tracee its parent told of
// Newborns whose parent will not tell of them any more: it was killed in the middle of the call.
void tree_adopt_orphans(struct tracer *tracer, uint64_t now);
void tree_exec(struct tracer *tracer, struct tracee *leader);
// The thread that became process `pid` by an exec, when its leader is not known any more; NULL if none.
struct tracee *tree_exec_leader(struct tracer *tracer, pid_t pid);
void tree_exit_stop(struct tracer *tracer, struct tracee *tracee);
void tree_gone(struct tracer *tracer, pid_t tid, struct stop stop);
void tree_signal(struct tracer *tracer, struct tracee *tracee, int signal);

// space_setup.c
// Makes the pages of a space watched; its thread stands in a stop where a call may be injected (inject.h). Returns the
// wait status of the stop it stands in afterwards, 0: as before.
int space_watch_pages(struct tracer *tracer, struct rec_space *space, struct tracee *tracee);
void space_watch_mappings(struct tracer *tracer, struct rec_space *space); // those that the model has
// The mappings of a program as they are at its start, those of its own file marked.
void space_read_first_maps(struct tracer *tracer, struct rec_space *space);
// --watch: looks for the names in what is mapped now, and follows the process. also_new: a program has begun; else only
// if names are lacking still.
void space_watch_writes(struct tracer *tracer, const struct rec_process *process, bool also_new);
// Keeps the environment out of the pieces of stack in fault records (--no-env).
void space_withhold(struct tracer *tracer, pid_t pid, const struct rec_space *space);
// The space of a process whose past is not known, as it is now.
struct rec_space *space_as_found(struct tracer *tracer, struct tracee *tracee);

// frame.c
// Takes a frame of a space. `at`: the tracee in whose stop it happens, or NULL. hold: interrupt the running threads.
void frame_take(struct tracer *tracer, struct rec_space *space, enum vmv_frame_why why, struct tracee *at, bool hold);
// Contents owed within [start, end) are not to be copied any more: the pages went.
void frame_forget(struct rec_space *space, uint64_t start, uint64_t end);
void frame_due(struct tracer *tracer, uint64_t now); // those whose interval is over

#endif
