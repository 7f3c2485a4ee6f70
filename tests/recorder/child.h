// For tests of the recorder's parts: a child that does what the test tells it, step by step, and can be stopped.
#ifndef TEST_CHILD_H
#define TEST_CHILD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct child {
    pid_t pid;
    int to[2], from[2]; // pipes: steps to it, answers from it
    uint64_t *shared;   // 1 MiB that both see
};

static inline uint64_t test_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static inline uint64_t test_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

// In the child: the next step, 0 when the test is over; and the answer to it.
static inline int child_wait(struct child *child) {
    char step = 0;
    ssize_t got;
    do got = read(child->to[0], &step, 1);
    while (got < 0 && errno == EINTR);
    return got == 1 ? step : 0;
}
static inline void child_answer(struct child *child) {
    while (write(child->from[1], "", 1) != 1 && errno == EINTR) {
    }
}

typedef void child_body(struct child *child);

static inline struct child child_start(child_body *body) {
    struct child child = {0};
    child.shared = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(child.shared, MAP_FAILED);
    assert_int_equal(pipe(child.to), 0);
    assert_int_equal(pipe(child.from), 0);
    fflush(NULL);
    child.pid = fork();
    if (child.pid == 0) {
        alarm(100);
        close(child.to[1]);
        close(child.from[0]);
        body(&child);
        _exit(0);
    }
    assert_true(child.pid > 0);
    close(child.to[0]);
    close(child.from[1]);
    return child;
}

static inline void child_tell(struct child *child, char step) { assert_int_equal(write(child->to[1], &step, 1), 1); }
static inline void child_hear(struct child *child) {
    char answer;
    ssize_t got;
    do got = read(child->from[0], &answer, 1);
    while (got < 0 && errno == EINTR);
    assert_int_equal(got, 1);
}
static inline void child_do(struct child *child, char step) {
    child_tell(child, step);
    child_hear(child);
}

// Ends it and returns its wait status.
static inline int child_end(struct child *child) {
    int status = -1;
    close(child->to[1]);
    close(child->from[0]);
    assert_int_equal(waitpid(child->pid, &status, 0), child->pid);
    munmap(child->shared, 1 << 20);
    return status;
}

enum { SEIZE_OPTIONS = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL | PTRACE_O_TRACEEXEC | PTRACE_O_TRACEFORK };

static inline int wait_status(pid_t pid) {
    int status;
    pid_t got;
    do got = waitpid(pid, &status, __WALL);
    while (got < 0 && errno == EINTR);
    assert_int_equal(got, pid);
    return status;
}

static inline void child_seize(pid_t pid) { assert_int_equal(ptrace(PTRACE_SEIZE, pid, NULL, SEIZE_OPTIONS), 0); }

// Stops it where it stands.
static inline void child_interrupt(pid_t pid) {
    assert_int_equal(ptrace(PTRACE_INTERRUPT, pid, NULL, NULL), 0);
    int status = wait_status(pid);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(status >> 16, PTRACE_EVENT_STOP);
}

#endif
