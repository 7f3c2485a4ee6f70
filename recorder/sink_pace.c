#include "sink_pace.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NICE_CALM = 5, NICE_HURRY = -5, OLD_NS = 100000000 };

static bool set_priority(int nice) { return setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), nice) == 0; }

static void *try_to_hurry(void *answer) {
    *(bool *)answer = set_priority(NICE_HURRY);
    return NULL;
}

// Capabilities, limits and containers all have a say: asked of the kernel, by a thread that ends with the answer.
static bool may_hurry(void) {
    pthread_t thread;
    bool may = false;
    if (pthread_create(&thread, NULL, try_to_hurry, &may) == 0) pthread_join(thread, NULL);
    return may;
}

void pace_begin(struct sink_pace *pace) {
    *pace = (struct sink_pace){.adapts = may_hurry()};
    if (pace->adapts) set_priority(NICE_CALM);
}

void pace_set(struct sink_pace *pace, uint64_t age) {
    bool hurry = age > OLD_NS;
    if (!pace->adapts || hurry == pace->hurries) return;
    pace->hurries = hurry;
    set_priority(hurry ? NICE_HURRY : NICE_CALM);
}
