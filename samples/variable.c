// A 64-bit variable changes every 100 ms.   variable [--changes N] [--checkpoints N]
#include "calls.h"
#include "vmvis_mark.h"

#define PERIOD 100000000 // ns

static uint64_t variable = 0x1234567;

int main(int argc, char **argv) {
    truth_args(argc, argv);
    long changes = truth_number("--changes", 24);
    truth_begin();
    truth_line("\"what\":\"variable\",\"addr\":\"%p\",\"size\":%zu", (void *)&variable, sizeof variable);
    int64_t start = truth_now();
    uint64_t value = variable;
    for (long i = 0; i < changes; i++) {
        int64_t due = start + (i + 1) * (int64_t)PERIOD;
        truth_sleep(due > truth_now() ? due - truth_now() : 0);
        value = value * 6364136223846793005u + 1442695040888963407u;
        call_store(&variable, value);
        if (i == changes / 2) VMVIS_MARK("half");
        if (truth_part_done((size_t)i, (size_t)changes, 5)) truth_checkpoint("between changes");
    }
    truth_sleep(PERIOD);
    return truth_end();
}
