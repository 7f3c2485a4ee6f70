// Every wait status that waitpid can give for a seized tracee, built from the numbers of ptrace(2) and wait(2).
#include "stop.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int stopped(int signal, int event) { return event << 16 | signal << 8 | 0x7f; }

static void ends(void **state) {
    (void)state;
    for (int code = 0; code < 256; code++) {
        struct stop stop = stop_classify(code << 8);
        assert_int_equal(stop.kind, STOP_EXITED);
        assert_int_equal(stop.signal, code);
    }
    for (int signal = 1; signal < 65; signal++) {
        if (signal == 0x7f) continue;
        assert_int_equal(stop_classify(signal).kind, STOP_KILLED);
        assert_int_equal(stop_classify(signal).signal, signal);
        assert_int_equal(stop_classify(signal | 0x80).signal, signal); // with a core dump
    }
}

static void signals(void **state) {
    (void)state;
    for (int signal = 1; signal < 65; signal++) {
        struct stop stop = stop_classify(stopped(signal, 0));
        assert_int_equal(stop.kind, STOP_SIGNAL); // SIGTRAP of an int3 too
        assert_int_equal(stop.signal, signal);
    }
    assert_int_equal(stop_classify(stopped(SIGTRAP | 0x80, 0)).kind, STOP_SYSCALL);
}

static void events(void **state) {
    (void)state;
    static const struct {
        int event;
        enum stop_kind kind;
    } cases[] = {{1, STOP_FORK}, {2, STOP_VFORK},      {3, STOP_CLONE}, {4, STOP_EXEC},
                 {5, STOP_VFORK_DONE}, {6, STOP_EXIT}, {7, STOP_SECCOMP}, {128, STOP_INTERRUPT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(stop_classify(stopped(SIGTRAP, cases[i].event)).kind, cases[i].kind);
    int group[] = {SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(stop_classify(stopped(group[i], 128)).kind, STOP_GROUP);
        assert_int_equal(stop_classify(stopped(group[i], 128)).signal, group[i]);
        assert_int_equal(stop_classify(stopped(group[i], 0)).kind, STOP_SIGNAL); // about to be delivered
    }
    assert_int_equal(stop_classify(stopped(SIGTRAP, 99)).kind, STOP_UNKNOWN);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ends), cmocka_unit_test(signals), cmocka_unit_test(events)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
