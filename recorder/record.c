#include "record.h"

#include "arch.h"
#include "fault_server.h"
#include "launch.h"
#include "objects.h"
#include "perf_records.h"
#include "sources.h"
#include "tracer.h"
#include "user.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

enum { CONTENT_ROOM = 48 << 20 };

static volatile sig_atomic_t forward_signal, stop_recording, signals_seen, terminal_stop;

static void on_ending_signal(int signal) {
    if (signals_seen++) stop_recording = 1;
    forward_signal = signal;
}

static void on_terminal_stop(int signal) { terminal_stop = signal; }

// What the terminal sends to the whole group is the program's to act on; the recorder ends when the program does.
static void set_signals(void) {
    static const int ignored[] = {SIGINT, SIGQUIT, SIGPIPE, SIGXFSZ};
    static const int stopping[] = {SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < sizeof stopping / sizeof *stopping; i++)
        sigaction(stopping[i], &(struct sigaction){.sa_handler = on_terminal_stop}, NULL);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    static const int ending[] = {SIGTERM, SIGHUP};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) {
        struct sigaction action = {.sa_handler = on_ending_signal}, old;
        if (sigaction(ending[i], NULL, &old) == 0 && old.sa_handler == SIG_IGN) continue; // nohup
        sigaction(ending[i], &action, NULL);
    }
}

static uint64_t clock_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

// ---------------------------------------------------------------------------------------------- the output

struct output {
    int fd;
    int replaced;       // what lay at `old` before, open so that it is not freed while the program waits; -1: none
    bool created;       // a regular file of ours: removed again if the program never starts
    char old[4096 + 8]; // where the former file went, "" if there was none
};

static int open_output(const struct options *options, struct output *output) {
    struct stat status;
    output->created = false;
    output->replaced = -1;
    output->old[0] = 0;
    if (strcmp(options->output, "-") == 0) {
        output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        return output->fd < 0 ? -errno : 0;
    }
    bool exists = stat(options->output, &status) == 0;
    bool regular = exists && S_ISREG(status.st_mode);
    if (regular) {
        snprintf(output->old, sizeof output->old, "%s.old", options->output);
        output->replaced = open(output->old, O_PATH | O_CLOEXEC | O_NOFOLLOW);
        if (rename(options->output, output->old) != 0) return -errno;
    }
    int flags = O_WRONLY | O_CLOEXEC | (exists && !regular ? 0 : O_CREAT | O_EXCL);
    output->fd = open(options->output, flags, 0600);
    if (output->fd < 0) {
        int error = -errno;
        if (output->old[0]) rename(output->old, options->output);
        return error;
    }
    output->created = flags & O_CREAT;
    return 0;
}

static void *close_replaced(void *user) {
    close((int)(intptr_t)user);
    return NULL;
}

// Freeing a large file takes milliseconds.
static void let_go_of_replaced(struct output *output) {
    pthread_t thread;
    if (output->replaced < 0) return;
    if (pthread_create(&thread, NULL, close_replaced, (void *)(intptr_t)output->replaced) == 0)
        pthread_detach(thread);
    else
        close(output->replaced);
    output->replaced = -1;
}

static void withdraw_output(const struct options *options, const struct output *output) {
    if (!output->created) return;
    unlink(options->output);
    if (output->old[0]) rename(output->old, options->output);
}

// ---------------------------------------------------------------------------------------------- what the trace says

static size_t count_strings(char **strings) {
    size_t count = 0;
    while (strings[count]) count++;
    return count;
}

static void processor_name(char *out, size_t size) {
    char line[512];
    snprintf(out, size, "unknown");
    FILE *file = fopen("/proc/cpuinfo", "re");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(out, size, "%s", strchr(line, ':') + 2);
            out[strcspn(out, "\n")] = 0;
            break;
        }
    if (file) fclose(file);
}

struct session {
    const struct options *options;
    struct output output;
    struct sources sources;
    struct program_user user;
    struct launch launch;
    uint64_t start;
    struct tracer tracer;
    struct vmv_end end;
    struct perf_records_counts counts;
};

static struct vmv_writer *open_trace(struct session *session, char *error, size_t error_size) {
    const struct options *options = session->options;
    static struct utsname system;
    static char machine[256], kernel[512], directory[4096];
    uname(&system);
    processor_name(machine, sizeof machine);
    snprintf(kernel, sizeof kernel, "%s %s", system.release, system.version);
    if (!getcwd(directory, sizeof directory)) directory[0] = 0;
    struct vmv_meta meta = {.program = (const char *const *)options->command,
                            .program_count = count_strings(options->command),
                            .directory = directory,
                            .pid = session->launch.pid,
                            .started = clock_ns(CLOCK_REALTIME),
                            .start_monotonic_ns = session->start,
                            .arch = ARCH_NAME,
                            .page_size = (uint32_t)sysconf(_SC_PAGESIZE),
                            .machine = machine,
                            .kernel = kernel,
                            .recorder = VMVIS_VERSION,
                            .source_faults = sources_faults_name(&session->sources),
                            .source_maps = "stops",
                            .source_why = session->sources.why,
                            .interval_ns = options->interval_ns,
                            .interval_auto = options->interval_auto,
                            .budget_percent = options->budget_percent,
                            .stack_bytes = options->stack_bytes,
                            .content = options->content ? "changed" : "none",
                            .embed_limit = options->embed_limit,
                            .register_set = ARCH_REGISTER_SET};
    if (options->no_env) return vmv_writer_create(session->output.fd, &meta, error, error_size);
    meta.environment = (const char *const *)environ;
    meta.environment_count = count_strings(environ);
    return vmv_writer_create(session->output.fd, &meta, error, error_size);
}

// ---------------------------------------------------------------------------------------------- the recording

static const char *faults_word(enum faults_choice choice) {
    static const char *const words[] = {"auto", "records", "uffd", "frames", "none"};
    return words[choice];
}

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
    sources_probe(&session->sources, session->options->user != NULL, faults == FAULTS_AUTO || faults == FAULTS_RECORDS);
    if (sources_resolve(&session->sources, faults_word(session->options->faults), why, sizeof why) == 0) return true;
    return not_started(result, 125, "--faults=%s: %s", faults_word(session->options->faults), why);
}

// Of the pieces of stack in faults nothing is withheld but what lies at the environment: with --exclude of addresses or
// stacks there are none.
static uint32_t fault_stack_bytes(const struct options *options) {
    bool withheld = exclude_touches_stacks(&options->exclude) || (options->no_env && options->faults == FAULTS_UFFD);
    return withheld ? 0 : options->stack_bytes;
}

static bool start_records(struct session *session, struct record_result *result) {
    char error[256];
    struct tracer *tracer = &session->tracer;
    if (session->sources.faults == VMV_SOURCE_UFFD) {
        tracer->fault_server = fault_server_create(tracer->sink, fault_stack_bytes(session->options));
        if (!tracer->fault_server) return not_started(result, 125, "the fault server could not be started%s%s", "", "");
    }
    if (session->sources.faults != VMV_SOURCE_RECORDS) return true;
    struct perf_records_options options = {.pid = session->launch.pid,
                                           .on_exec = true,
                                           .threads_only = session->options->no_follow,
                                           .kernel = session->sources.perf_kernel,
                                           .stack_bytes = fault_stack_bytes(session->options),
                                           .sink = tracer->sink};
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
    tracer->sink = sink_create(writer, session->start, CONTENT_ROOM, session->options->max_size);
    tracer->producer = sink_producer_create(tracer->sink, "tracer");
    tracer->objects = objects_create(session->options->embed_limit);
    tracer->page_size = (uint64_t)sysconf(_SC_PAGESIZE);
    tracer->processors = sysconf(_SC_NPROCESSORS_ONLN);
    tracer->root = session->launch.pid;
    tracer->interval_ns = session->options->interval_ns;
    tracer->compare = getenv("VMVIS_COMPARE") != NULL;
    tracer->forward = &forward_signal;
    tracer->stopped = &terminal_stop;
    tracer->stop = &stop_recording;
    int filters = procstat_seccomp_filters(getpid(), getpid());
    tracer->own_filters = filters < 0 ? -1 : filters + 1;
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
    withdraw_output(session->options, &session->output);
    bool exec = strcmp(where, "exec") == 0;
    result->status = !exec ? 125 : error == ENOENT ? 127 : 126;
    snprintf(result->error, sizeof result->error, "%s: %s%s", program,
             exec            ? "cannot be executed: "
             : *where == 'f' ? "the seccomp filter was refused: "
                             : "cannot take on that user: ",
             strerror(error));
}

static void trace(struct session *session, struct record_result *result) {
    char error[256];
    struct vmv_writer *writer = open_trace(session, error, sizeof error);
    if (!writer) { // a full disk, say: the program runs all the same, and the line is printed at its end
        snprintf(result->error, sizeof result->error, "%s: %s", session->options->output, error);
        session->output.fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
        writer = open_trace(session, error, sizeof error);
        if (!writer) abort();
    }
    prepare_tracer(session, writer);
    bool going = start_records(session, result);
    if (going) {
        governor_start(&session->tracer);
        launch_go(&session->launch);
        let_go_of_replaced(&session->output);
    } else {
        kill(session->launch.pid, SIGKILL);
    }
    tracer_run(&session->tracer);
    finish(session, result);
    if (!going) {
        withdraw_output(session->options, &session->output);
        return;
    }
    take_result(session, result);
    summarise(session, result);
}

void record_run(const struct options *options, struct record_result *result) {
    struct session session = {.options = options};
    memset(result, 0, sizeof *result);
    char path[4096];
    if (!find_program(options, path, result) || !find_user(&session, result)) return;
    if (!choose_sources(&session, result)) return;
    int error = open_output(options, &session.output);
    if (error) {
        not_started(result, 125, "%s: %s", options->output, strerror(-error));
        return;
    }
    if (session.output.created && options->user && fchown(session.output.fd, session.user.uid, session.user.gid) != 0)
        fprintf(stderr, "vmvis-record: %s could not be given to %s: %s\n", options->output, options->user,
                strerror(errno));
    error = launch_start(&session.launch, path, options->command, strcmp(options->output, "-") == 0,
                         options->user ? &session.user : NULL);
    if (error) {
        withdraw_output(options, &session.output);
        not_started(result, 125, "cannot trace: %s%s", strerror(-error),
                    error == -EPERM ? "; ptrace is not allowed here (a container or a security module)" : "");
        return;
    }
    set_signals();
    session.start = clock_ns(CLOCK_MONOTONIC);
    trace(&session, result);
}
