#include "record.h"

#include "attach.h"
#include "fault_server.h"
#include "launch.h"
#include "objects.h"
#include "obstacle.h"
#include "output.h"
#include "perf_records.h"
#include "signals.h"
#include "sources.h"
#include "trace_meta.h"
#include "tracer.h"
#include "user.h"
#include "watch.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { CONTENT_ROOM = 48 << 20 };

static uint64_t monotonic_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

struct session {
    const struct options *options;
    struct output output;
    struct sources sources;
    struct program_user user;
    struct signals *signals;
    struct launch launch;
    struct trace_subject subject;
    char directory[4096], pid_text[16];
    struct tracer tracer;
    struct vmv_end end;
    struct perf_records_counts counts;
    bool watch_found;
};

// ---------------------------------------------------------------------------------------------- the recording

static bool not_started(struct record_result *result, int status, const char *format, const char *a, const char *b) {
    result->status = status;
    snprintf(result->error, sizeof result->error, format, a, b);
    return false;
}

static bool find_program(const struct options *options, char path[4096], struct record_result *result) {
    const char *program = options->command[0];
    int error = launch_find(program, path);
    if (error == 0) return true;
    if (error == ENOENT || error == ENOTDIR) return not_started(result, 127, "%s: not found%s", program, "");
    return not_started(result, 126, "%s: cannot be executed: %s", program, strerror(error));
}

static bool find_user(struct session *session, struct record_result *result) {
    const char *name = session->options->user;
    if (!name) return true;
    int error = user_find(name, &session->user);
    if (error)
        return not_started(result, 125, "--user %s: %s", name, error == -ENOENT ? "no such user" : strerror(-error));
    if (geteuid() == 0 || geteuid() == session->user.uid) return true;
    return not_started(result, 125, "--user %s: only root can run a program as another user%s", name, "; use sudo");
}

static bool choose_sources(struct session *session, struct record_result *result) {
    char why[400];
    enum faults_choice faults = session->options->faults;
    bool records = faults == FAULTS_AUTO || faults == FAULTS_RECORDS;
    const char *fatal = obstacle_fatal_call(records, !session->options->maps_frames);
    if (fatal)
        return not_started(result, 125, "cannot record here: the sandbox it runs in kills for %s(2)%s", fatal,
                           "; run vmvis-record outside of it, or have such calls permitted or refused (systemd: "
                           "SystemCallFilter=@debug, SystemCallErrorNumber=EPERM)");
    sources_probe(&session->sources, session->options->user != NULL, records);
    if (sources_resolve(&session->sources, options_faults_word(session->options->faults), why, sizeof why) == 0)
        return true;
    return not_started(result, 125, "%s%s", why, "");
}

// Of the pieces of stack in faults nothing is withheld but what lies at the environment: with --exclude of addresses or
// stacks there are none.
static uint32_t fault_stack_bytes(const struct options *options) {
    bool withheld = exclude_touches_stacks(&options->exclude) || (options->no_env && options->faults == FAULTS_UFFD);
    return withheld ? 0 : options->stack_bytes;
}

static bool start_fault_server(struct session *session, struct record_result *result) {
    struct tracer *tracer = &session->tracer;
    if (session->sources.faults != VMV_SOURCE_UFFD) return true;
    tracer->fault_server = fault_server_create(tracer->sink, fault_stack_bytes(session->options));
    return tracer->fault_server || not_started(result, 125, "the fault server could not be started%s%s", "", "");
}

static struct perf_records_options records_options(const struct session *session, bool on_exec) {
    return (struct perf_records_options){.pid = session->subject.pid,
                                         .on_exec = on_exec,
                                         .threads_only = session->options->no_follow,
                                         .kernel = session->sources.perf_kernel,
                                         .stack_bytes = fault_stack_bytes(session->options),
                                         .sink = session->tracer.sink};
}

static bool start_records(struct session *session, struct record_result *result) {
    char error[256];
    struct tracer *tracer = &session->tracer;
    if (session->sources.faults != VMV_SOURCE_RECORDS) return true;
    struct perf_records_options options = records_options(session, true);
    if (perf_records_open(&options, &tracer->records, error, sizeof error) == 0) return true;
    if (session->options->faults == FAULTS_AUTO) { // what the probe found may be used up by now: frames tell the rest
        tracer_note(tracer, VMV_EV_GAP, NULL, "no page-fault records in this recording: %s", error);
        return true;
    }
    return not_started(result, 125, "page-fault records: %s%s", error, "");
}

static void prepare_tracer(struct session *session, struct vmv_writer *writer) {
    struct tracer *tracer = &session->tracer;
    tracer->options = session->options;
    tracer->sources = &session->sources;
    tracer->sink = sink_create(writer, session->subject.start, CONTENT_ROOM, session->options->max_size);
    tracer->producer = sink_producer_create(tracer->sink, "tracer");
    tracer->objects = objects_create(session->options->embed_limit, session->options->embed_debug);
    tracer->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
    tracer->processors = sysconf(_SC_NPROCESSORS_ONLN);
    tracer->root = session->subject.pid;
    tracer->interval_ns = session->options->interval_ns;
    tracer->compare = getenv("VMVIS_COMPARE") != NULL;
    tracer->signals = session->signals;
    int filters = procstat_seccomp_filters(getpid(), getpid());
    tracer->own_filters = filters < 0 ? -1 : filters + (!session->options->maps_frames && !session->options->attach);
    tracer->every_call = session->options->attach && !session->options->maps_frames;
    if (session->options->attach) return; // its threads are found when they are seized
    struct rec_process *process = process_add(&tracer->table, tracer->root, getpid());
    process->threads = 1;
    tracee_add(&tracer->table, tracer->root, TRACEE_RUNNING)->process = process;
}

static void finish(struct session *session, struct record_result *result) {
    struct tracer *tracer = &session->tracer;
    uint64_t now = tracer_now(tracer);
    governor_end(tracer, now);            // the last faults count too
    sink_producer_done(tracer->producer); // first: the last fault records may wait for room, and the writer for us
    if (tracer->records) perf_records_counts(tracer->records, &session->counts);
    perf_records_close(tracer->records);
    session->watch_found = !tracer->watcher || watcher_found(tracer->watcher);
    watcher_close(tracer->watcher);
    tracer_free(tracer);
    fault_server_destroy(tracer->fault_server);
    session->end.duration_ns = now;
    session->end.exited = tracer->root_ended;
    session->end.killed = tracer->root_end.kind == STOP_KILLED;
    session->end.exit_code = tracer->root_end.signal;
    session->end.held_ns = tracer->cost.held + tracer->cost.stops;
    session->end.fault_ns = tracer->cost.faults;
    session->end.percent = now ? 100.0 * (double)(session->end.held_ns + session->end.fault_ns) / (double)now : 0;
    session->end.complete = true;
    char trouble[400] = "";
    if (!sink_finish(tracer->sink, &session->end, trouble, sizeof trouble))
        snprintf(result->error, sizeof result->error, "%s: %s", session->options->output, trouble);
    objects_destroy(tracer->objects);
}

static void append_given_up(const struct session *session, char *summary, size_t size) {
    size_t length = strlen(summary);
    uint64_t lost = session->counts.lost;
    char given[160];
    governor_summary(&session->tracer.governor, given, sizeof given);
    length += (size_t)snprintf(summary + length, size - length, "%s", given);
    if (lost && length < size) snprintf(summary + length, size - length, "; %lu fault records lost", lost);
}

static void summarise(const struct session *session, struct record_result *result) {
    const struct vmv_end *end = &session->end;
    struct stat status;
    uint64_t events = 0;
    for (int type = VMV_EV_MMAP; type < VMV_EV_GAP; type++) events += end->events[type];
    double bytes = stat(session->options->output, &status) == 0 ? (double)status.st_size : 0;
    snprintf(result->summary, sizeof result->summary,
             "%s: %.2f s, %lu frames, %lu events, %lu pages, %.1f MiB; faults %s; cost %.1f %%",
             session->options->output, (double)end->duration_ns / 1e9, end->events[VMV_EV_FRAME], events,
             end->pages_captured, bytes / 1048576, sources_faults_name(&session->sources), end->percent);
    append_given_up(session, result->summary, sizeof result->summary);
    const struct tracer *tracer = &session->tracer;
    if (tracer->refused_tracers)
        snprintf(
            result->hint, sizeof result->hint,
            "the program wanted to trace a process, which cannot work while it is recorded; if LeakSanitizer failed: "
            "ASAN_OPTIONS=detect_leaks=0");
    if (!session->watch_found)
        snprintf(result->hint, sizeof result->hint,
                 "--watch: not all names were found in the program and its libraries: %s%s; nothing was watched",
                 session->options->watch.items[0].text, session->options->watch.count > 1 ? " ..." : "");
    if (tracer->unprivileged[0])
        snprintf(result->hint, sizeof result->hint,
                 "%s ran without the privileges of its file, because it was recorded; run vmvis-record as root with "
                 "--user NAME",
                 tracer->unprivileged);
}

static void take_result(struct session *session, struct record_result *result) {
    const struct tracer *tracer = &session->tracer;
    const char *where = "", *program = session->options->command[0];
    int error = launch_result(&session->launch, &where);
    result->started = error == 0 && tracer->started;
    if (result->started) {
        if (tracer->root_ended && tracer->root_end.kind == STOP_KILLED) result->signal = tracer->root_end.signal;
        result->status = tracer->root_ended ? tracer->root_end.signal : 128 + SIGTERM;
        return;
    }
    output_withdraw(&session->output, session->options->output);
    bool exec = strcmp(where, "exec") == 0;
    result->status = !exec ? 125 : error == ENOENT ? 127 : 126;
    bool filter = *where == 'f';
    snprintf(result->error, sizeof result->error, "%s: %s%s%s", program,
             exec     ? "cannot be executed: "
             : filter ? "the seccomp filter that stops memory calls was refused: "
                      : "cannot take on that user: ",
             strerror(error), filter ? "; use --maps frames, which needs none" : "");
}

static struct vmv_writer *begin_another(void *user, int fd, char *error, size_t error_size) {
    const struct session *session = user;
    return trace_begin(fd, session->options, &session->sources, &session->subject, error, error_size);
}

static void begin(struct session *session, struct record_result *result) {
    char error[256];
    session->subject.start = monotonic_ns();
    struct vmv_writer *writer =
        trace_begin(session->output.fd, session->options, &session->sources, &session->subject, error, sizeof error);
    if (!writer) { // a full disk, say: the program runs all the same, and the line is printed at its end
        snprintf(result->error, sizeof result->error, "%s: %s", session->options->output, error);
        session->output.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        writer = trace_begin(session->output.fd, session->options, &session->sources, &session->subject, error,
                             sizeof error);
        if (!writer) abort();
    }
    prepare_tracer(session, writer);
    struct sink_ring ring = {.ns = session->options->ring_ns,
                             .bytes = session->options->ring_bytes,
                             .path = session->options->output,
                             .begin = begin_another,
                             .user = session};
    if (session->options->ring && !result->error[0]) sink_set_ring(session->tracer.sink, &ring);
}

static bool start_watcher(struct session *session, struct record_result *result) {
    struct watch_options options = {.sink = session->tracer.sink,
                                    .list = &session->options->watch,
                                    .stack_bytes = fault_stack_bytes(session->options),
                                    .kernel = geteuid() == 0,
                                    .threads_only = session->options->no_follow};
    if (!options.list->count) return true;
    int error = watcher_create(&options, &session->tracer.watcher);
    if (error == 0) return true;
    return not_started(result, 125, "--watch cannot work here: %s%s", strerror(-error),
                       error == -EACCES || error == -EPERM ? "; run as root, or set kernel.perf_event_paranoid to 2"
                       : error == -ENOSPC                  ? "; the debug registers are in use by another"
                                                           : "; this machine has no debug registers for it");
}

static void trace_launched(struct session *session, struct record_result *result) {
    begin(session, result);
    bool going =
        start_fault_server(session, result) && start_watcher(session, result) && start_records(session, result);
    if (going) {
        governor_start(&session->tracer);
        launch_go(&session->launch);
        output_free_replaced(&session->output);
    } else {
        kill(session->subject.pid, SIGKILL);
    }
    tracer_run(&session->tracer);
    finish(session, result);
    if (!going) {
        output_withdraw(&session->output, session->options->output);
        return;
    }
    take_result(session, result);
    summarise(session, result);
}

static bool open_output(struct session *session, struct record_result *result) {
    const struct options *options = session->options;
    int error = output_open(&session->output, options->output);
    if (error) return not_started(result, 125, "%s: %s", options->output, strerror(-error));
    if (session->output.created && options->user &&
        fchown(session->output.fd, session->user.uid, session->user.gid) != 0)
        fprintf(stderr, "vmvis-record: %s could not be given to %s: %s\n", options->output, options->user,
                strerror(errno));
    return true;
}

static void run_launched(struct session *session, struct record_result *result) {
    const struct options *options = session->options;
    char path[4096];
    if (!find_program(options, path, result) || !find_user(session, result)) return;
    if (!choose_sources(session, result) || !open_output(session, result)) return;
    struct launch_how how = {.stdout_to_stderr = strcmp(options->output, "-") == 0,
                             .filter = !options->maps_frames,
                             .user = options->user ? &session->user : NULL};
    int error = launch_start(&session->launch, path, options->command, &how);
    if (error) {
        output_withdraw(&session->output, options->output);
        obstacle_of_seize(error, session->launch.tracer, result->error, sizeof result->error);
        result->status = 125;
        return;
    }
    session->signals = signals_catch(SIGNALS_LAUNCHED, options->ring != NULL, TICK_SIGNAL);
    session->subject.pid = session->launch.pid;
    session->subject.program = options->command;
    session->subject.environment = options->no_env ? NULL : environ;
    if (!getcwd(session->directory, sizeof session->directory)) session->directory[0] = 0;
    trace_launched(session, result);
}

// ---------------------------------------------------------------------------------------------- attached

struct attached {
    struct session *session;
    int error; // it could not be seized
};

// A thread of its own: at its end the kernel lets go of all that it traces.
static void *trace_attached(void *user) {
    struct attached *attached = user;
    struct session *session = attached->session;
    struct perf_records_options options = records_options(session, false);
    attached->error = attach_seize(&session->tracer);
    if (attached->error) return NULL;
    governor_start(&session->tracer);
    attach_begin(&session->tracer, session->sources.faults == VMV_SOURCE_RECORDS ? &options : NULL);
    if (!session->options->quiet)
        fprintf(stderr, "vmvis-record: attached to process %d; Ctrl-C detaches\n", session->subject.pid);
    tracer_run(&session->tracer);
    attach_end(&session->tracer);
    return NULL;
}

static void free_strings(char **strings) {
    if (!strings) return;
    free(strings[0]);
    free(strings);
}

static bool run_attached_thread(struct session *session, struct record_result *result) {
    struct attached attached = {session, 0};
    pthread_t thread;
    int error = pthread_create(&thread, NULL, trace_attached, &attached);
    if (error == 0) pthread_join(thread, NULL);
    if (error == 0) error = -attached.error;
    if (error == EPERM)
        return not_started(result, 125, "-p %s: not permitted%s", session->pid_text,
                           geteuid() == 0 ? ": a container or a security module forbids ptrace"
                                          : ": it belongs to another user, or kernel.yama.ptrace_scope is not 0; run "
                                            "vmvis-record as root");
    if (error) return not_started(result, 125, "-p %s: %s", session->pid_text, strerror(error));
    return true;
}

static void take_attached_result(struct session *session, struct record_result *result) {
    const struct tracer *tracer = &session->tracer;
    result->started = true;
    if (!tracer->root_ended) return; // detached: it goes on
    if (tracer->root_end.kind == STOP_KILLED) result->signal = tracer->root_end.signal;
    result->status = tracer->root_end.signal;
}

static void run_attached(struct session *session, struct record_result *result) {
    pid_t pid = session->options->attach;
    char link[64];
    snprintf(session->pid_text, sizeof session->pid_text, "%d", pid);
    if (!attach_check(pid, result->error, sizeof result->error)) {
        result->status = 125;
        return;
    }
    if (!choose_sources(session, result) || !open_output(session, result)) return;
    session->signals = signals_catch(SIGNALS_ATTACHED, session->options->ring != NULL, TICK_SIGNAL);
    snprintf(link, sizeof link, "/proc/%d/cwd", pid);
    ssize_t length = readlink(link, session->directory, sizeof session->directory - 1);
    session->directory[length > 0 ? length : 0] = 0;
    session->subject.pid = pid;
    session->subject.program = attach_read_strings(pid, "cmdline");
    if (!session->options->no_env) session->subject.environment = attach_read_strings(pid, "environ");
    begin(session, result);
    bool going =
        start_fault_server(session, result) && start_watcher(session, result) && run_attached_thread(session, result);
    finish(session, result);
    if (going) {
        output_free_replaced(&session->output);
        take_attached_result(session, result);
        summarise(session, result);
    } else {
        output_withdraw(&session->output, session->options->output);
    }
    free_strings(session->subject.program);
    free_strings(session->subject.environment);
}

void record_run(const struct options *options, struct record_result *result) {
    struct session session = {.options = options};
    session.subject.directory = session.directory;
    memset(result, 0, sizeof *result);
    if (options->attach) {
        run_attached(&session, result);
    } else {
        run_launched(&session, result);
    }
}
