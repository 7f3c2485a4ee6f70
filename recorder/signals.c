#include "signals.h"

#include <stddef.h>
#include <time.h>
#include <unistd.h>

enum { ONE_REQUEST_NS = 200000000 };

static struct signals seen;
static bool is_attached;
static volatile uint64_t first_ending; // ns

static uint64_t bit(int number) { return 1ull << (number - 1); }

// timeout(1) sends the same signal twice, to its child and to the whole group: that is one request.
static bool is_second(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    if (!first_ending) first_ending = ns;
    return ns - first_ending > ONE_REQUEST_NS;
}

// What the terminal sends to the whole process group (SI_KERNEL) has reached the program already; but the end of the
// terminal is told to the leader of the session alone, which without us would have been the program.
static void pass_on(int number, const siginfo_t *info) {
    bool to_group = info->si_code == SI_KERNEL && getsid(0) != getpid();
    seen.sender[number] = info->si_code <= 0 ? info->si_pid : -1;
    if (!to_group) seen.forward |= bit(number);
}

static void on_ending(int number, siginfo_t *info, void *context) {
    if (is_attached || is_second()) seen.stop = 1;
    if (!is_attached) pass_on(number, info);
}

static void on_forwarded(int number, siginfo_t *info, void *context) { pass_on(number, info); }

static void on_terminal_stop(int number, siginfo_t *info, void *context) { seen.stopped = number; }

static void on_keep_ring(int number, siginfo_t *info, void *context) { seen.keep_ring = 1; }

typedef void handler(int, siginfo_t *, void *);

static void catch_it(int number, handler *how) {
    struct sigaction action = {.sa_sigaction = how, .sa_flags = SA_SIGINFO};
    sigaction(number, &action, NULL);
}

// Ignored when we were started (nohup): it stays so.
static void catch_unless_ignored(int number, handler *how) {
    struct sigaction old;
    if (sigaction(number, NULL, &old) != 0 || old.sa_handler != SIG_IGN) catch_it(number, how);
}

static void catch_launched(bool ring) {
    static const int ending[] = {SIGTERM, SIGHUP}, stopping[] = {SIGTSTP, SIGTTIN, SIGTTOU};
    static const int forwarded[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) catch_unless_ignored(ending[i], on_ending);
    for (size_t i = 0; i < sizeof stopping / sizeof *stopping; i++) catch_it(stopping[i], on_terminal_stop);
    for (size_t i = 0; i < sizeof forwarded / sizeof *forwarded; i++) catch_unless_ignored(forwarded[i], on_forwarded);
    if (ring) catch_it(SIGUSR1, on_keep_ring);
    signal(SIGINT, SIG_IGN); // what the terminal sends to the whole group is the program's to act on
    signal(SIGQUIT, SIG_IGN);
}

static void catch_attached(bool ring) {
    static const int ending[] = {SIGTERM, SIGHUP, SIGINT, SIGQUIT};
    static const int ignored[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGIO, SIGPWR, SIGSTKFLT};
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) catch_it(ending[i], on_ending);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    if (ring) catch_it(SIGUSR1, on_keep_ring);
}

struct signals *signals_catch(enum signals_use use, bool ring) {
    static const int ignored[] = {SIGPIPE, SIGXFSZ, SIGXCPU}; // trouble of ours: told at the end, not died of
    is_attached = use == SIGNALS_ATTACHED;
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    if (is_attached) {
        catch_attached(ring);
    } else {
        catch_launched(ring);
    }
    return &seen;
}
