// What the recorder was sent is passed on to the program, and where the terminal stops the program, it stops too.
#include "tracer.h"

#include <signal.h>
#include <unistd.h>

enum {
    GATHER_NS = 30000000,       // one sender's signals to us and to the program come within this time
    ONE_REQUEST_NS = 200000000, // or, on a busy machine, this
    REQUESTS_TO_END = 2,
};
static const uint64_t STOPS_WITHIN_NS = 5000000000; // a program may have something to do before it stops

static uint64_t bit(int number) { return 1ull << (number - 1); }

// What was sent to the whole group the program has from there: it was seen to be delivered, or it waits while it is
// blocked.
static bool has_it(const struct tracer *tracer, int number, pid_t sender, uint64_t now) {
    struct procstat_signals signals;
    const struct heard *heard = &tracer->heard[number];
    if (heard->at && heard->sender == sender && now - heard->at < ONE_REQUEST_NS) return true;
    if (number >= SIGRTMIN || tracer->passed & bit(number)) return false;
    if (tracer->root_ended || procstat_signals(tracer->root, tracer->root, &signals) != 0) return false;
    return signals.shared_pending & bit(number);
}

static void send_to(pid_t pid, int number, const struct signals_news *news) {
    if (news->queued) {
        sigqueue(pid, number, news->value);
    } else {
        kill(pid, number);
    }
}

// To the program, or when its first process has ended to those that are left of it.
static void send(struct tracer *tracer, int number, const struct signals_news *news) {
    tracer->passed |= bit(number);
    if (!tracer->root_ended) send_to(tracer->root, number, news);
    if (!tracer->root_ended) return;
    for (const struct rec_process *process = tracer->table.processes; process; process = process->next)
        send_to(process->pid, number, news);
}

// timeout(1) sends the same signal twice, to its child and to the whole group: that is one request to end. What came to
// us alone is as many as we saw.
static void count_requests(struct tracer *tracer, unsigned count, bool program_has_it, uint64_t now) {
    bool same = program_has_it && tracer->requests && now - tracer->requested < ONE_REQUEST_NS;
    if (!same) tracer->requests += program_has_it ? 1 : count;
    tracer->requested = now;
    if (tracer->requests >= REQUESTS_TO_END && !tracer->signals->insists) tracer->signals->stop = 1;
}

static void pass(struct tracer *tracer, int number, uint64_t now) {
    struct signals_news *news = &tracer->signals->news[number];
    unsigned count = atomic_exchange(&news->count, 0);
    bool has = has_it(tracer, number, news->sender, now);
    unsigned times = number >= SIGRTMIN ? count : 1; // the others are kept once
    for (unsigned i = 0; i < times && !has; i++) send(tracer, number, news);
    if (number == SIGTERM) count_requests(tracer, count, has, now);
}

void tracer_pass_signals(struct tracer *tracer, uint64_t now) {
    if (!atomic_exchange(&tracer->signals->any, false)) return;
    for (int number = 1; number < SIGNALS_END; number++) {
        struct signals_news *news = &tracer->signals->news[number];
        if (!news->count) continue;
        if (now < sink_time(tracer->sink, news->since) + GATHER_NS) {
            tracer->signals->any = true;
        } else {
            pass(tracer, number, now);
        }
    }
}

// A program that ignores the signal, or has done something else about it, does not stop because of it any more: a later
// stop is not the terminal's.
static bool will_not_stop(const struct tracer *tracer, uint64_t now) {
    struct procstat_signals signals;
    if (now > sink_time(tracer->sink, tracer->signals->stopped_at) + STOPS_WITHIN_NS) return true;
    if (procstat_signals(tracer->root, tracer->root, &signals) != 0) return true;
    return signals.ignored & bit(tracer->signals->stopped);
}

// Ctrl-Z stops the whole process group of the terminal: when the program has stopped, and the recorder was sent the
// same signal, the recorder stops too, so that the shell sees its job stopped. The SIGCONT of fg or bg goes to both.
void tracer_stop_with_program(struct tracer *tracer, uint64_t now) {
    if (!tracer->signals->stopped) return;
    const struct tracee *root = tracee_find(&tracer->table, tracer->root);
    bool stands = root && root->state == TRACEE_GROUP;
    if (!stands && root && !will_not_stop(tracer, now)) return;
    tracer->signals->stopped = 0;
    if (stands) raise(SIGSTOP);
}
