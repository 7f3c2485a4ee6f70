#include "signals.h"

#include <stddef.h>
#include <time.h>
#include <unistd.h>

static const uint64_t STUCK_NS = 3000000000;

static struct signals seen;

static uint64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_sent(const siginfo_t *info) {
    bool by_process = info->si_code == SI_USER || info->si_code == SI_QUEUE || info->si_code == SI_TKILL;
    return by_process && info->si_pid != getpid(); // our own: SIGPIPE, abort()
}

// What the terminal sends it sends to the whole process group, and so to the program already. But its end is told to
// the leader of the session alone, and an interval timer, which exec keeps, is ours alone: without us the program would
// have been that process.
static bool is_from_kernel_for_us(int number, const siginfo_t *info) {
    if (info->si_code != SI_KERNEL) return false;
    if (number == SIGALRM || number == SIGVTALRM || number == SIGPROF) return true;
    return (number == SIGHUP || number == SIGCONT) && getsid(0) == getpid();
}

static void pass_on(int number, const siginfo_t *info) {
    struct signals_news *news = &seen.news[number];
    if (!is_sent(info) && !is_from_kernel_for_us(number, info)) return;
    news->sender = is_sent(info) ? info->si_pid : -1;
    news->queued = info->si_code == SI_QUEUE;
    news->value = info->si_value;
    if (atomic_load(&news->count) == 0) news->since = now_ns();
    news->count++;
    seen.any = true;
}

static void on_forwarded(int number, siginfo_t *info, void *context) { pass_on(number, info); }

// A recorder that does not come to acting on a request to end waits for the reader of the trace, perhaps for ever: the
// trace ends where it was written to.
static void end_if_stuck(int number, uint64_t asked) {
    if (asked && now_ns() - asked > STUCK_NS) _exit(128 + number);
}

static void on_terminate(int number, siginfo_t *info, void *context) {
    const struct signals_news *news = &seen.news[number];
    end_if_stuck(number, news->count ? news->since : 0);
    pass_on(number, info);
}

static void on_end(int number, siginfo_t *info, void *context) {
    static _Atomic uint64_t asked;
    end_if_stuck(number, asked);
    if (!asked) asked = now_ns();
    seen.stop = 1;
}

static void on_stop(int number, siginfo_t *info, void *context) {
    seen.stopped_at = now_ns();
    seen.stopped = number;
    pass_on(number, info);
}

static void on_continue(int number, siginfo_t *info, void *context) {
    seen.stopped = 0;
    pass_on(number, info);
}

// A mistake of ours, unless another process sent it.
static void on_fault(int number, siginfo_t *info, void *context) {
    if (is_sent(info)) {
        pass_on(number, info);
    } else {
        signal(number, SIG_DFL);
        raise(number);
    }
}

static void on_keep_ring(int number, siginfo_t *info, void *context) { seen.keep_ring = 1; }

typedef void handler(int, siginfo_t *, void *);

static bool is_ignored(int number) {
    struct sigaction old;
    return sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_IGN;
}

static bool is_default(int number) {
    struct sigaction old;
    return sigaction(number, NULL, &old) == 0 && old.sa_handler == SIG_DFL;
}

static void catch_it(int number, handler *how) {
    struct sigaction action = {.sa_sigaction = how, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigaction(number, &action, NULL);
}

// How each is handled when the program was started by us. NULL: as it is.
static handler *launched_handler(int number) {
    switch (number) {
    case SIGTERM:
        return on_terminate;
    case SIGTSTP:
    case SIGTTIN:
    case SIGTTOU:
        return on_stop;
    case SIGCONT:
        return on_continue;
    case SIGILL:
    case SIGTRAP:
    case SIGABRT:
    case SIGBUS:
    case SIGFPE:
    case SIGSEGV:
    case SIGSYS: // a sanitizer's own handlers stay
        return is_default(number) ? on_fault : NULL;
    case SIGKILL:
    case SIGSTOP:
    case SIGCHLD: // for which nobody asks the program
        return NULL;
    default: // those between are the C library's own
        return number < 32 || number >= SIGRTMIN ? on_forwarded : NULL;
    }
}

// Those that were ignored when we were started (nohup) too: the program was started the same way, and may act on them
// by now.
static void catch_launched(int tick) {
    seen.insists = is_ignored(SIGTERM);
    for (int number = 1; number < SIGNALS_END; number++) {
        handler *how = number == tick ? NULL : launched_handler(number);
        if (how) catch_it(number, how);
    }
}

static void catch_attached(int tick) {
    static const int ending[] = {SIGTERM, SIGINT, SIGQUIT};
    static const int ignored[] = {SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF,  SIGIO,
                                  SIGPWR,  SIGPIPE, SIGXFSZ, SIGXCPU,   SIGSTKFLT};
    bool stays = is_ignored(SIGHUP);
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++) signal(ignored[i], SIG_IGN);
    for (int number = SIGRTMIN; number < SIGNALS_END; number++)
        if (number != tick) signal(number, SIG_IGN);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++) catch_it(ending[i], on_end);
    if (!stays) catch_it(SIGHUP, on_end);
}

struct signals *signals_catch(enum signals_use use, bool ring, int tick) {
    sigset_t all;
    if (use == SIGNALS_ATTACHED) {
        catch_attached(tick);
    } else {
        catch_launched(tick);
    }
    if (ring) catch_it(SIGUSR1, on_keep_ring);
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
    return &seen;
}
