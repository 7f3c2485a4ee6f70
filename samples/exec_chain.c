// A process replaces its program several times, now from its first thread, now from another.
// exec_chain [--depth N] [--checkpoints N]
#include "calls.h"
#include <pthread.h>

static char path[4096]; // this program

static void find_path(void) {
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0) truth_fail("/proc/self/exe");
    path[n] = '\0';
}

// Never returns to a thread that would go on: the new program begins with one thread.
static void *exec_next(void *argument) {
    const long *depth = argument;
    char left[24], checkpoints[24];
    snprintf(left, sizeof left, "%ld", *depth - 1);
    snprintf(checkpoints, sizeof checkpoints, "%ld", truth.checkpoints - truth.passed);
    char *next[] = {path, "--depth", left, "--checkpoints", checkpoints, NULL};
    truth_line(
        "\"what\":\"exec\",\"path\":\"%.999s\",\"argv\":[\"%.999s\",\"--depth\",\"%s\",\"--checkpoints\",\"%s\"],"
        "\"pid\":%d,\"tid\":%d,\"before\":%" PRId64,
        path, path, left, checkpoints, getpid(), gettid(), truth_now());
    truth_flush();
    execv(path, next);
    truth_fail(path);
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    long depth = truth_number("--depth", 4);
    truth_begin();
    find_path();
    char *start = call_anonymous(8 * 4096);
    call_store(start, (uint64_t)depth);
    truth_checkpoint("in a new program");
    truth_value("depth", start, 8);
    if (depth == 0) return truth_end();
    if (depth % 2 == 0) exec_next(&depth);
    pthread_t thread;
    if (pthread_create(&thread, NULL, exec_next, &depth) != 0) truth_fail("pthread_create");
    pthread_join(thread, NULL);
    return 9;
}
