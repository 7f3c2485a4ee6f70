// One recording, from the options to the finished trace.
#ifndef REC_RECORD_H
#define REC_RECORD_H

#include "options.h"

#include <stdbool.h>
#include <stdint.h>

struct record_result {
    bool started;    // the program was executed
    int status;      // exit status to end with, when it was not, or when it ended by itself
    int signal;      // the signal that killed the program, 0: none
    char error[512]; // one line, "" if there is none: why it was not started, or trouble with the trace
    char summary[512];
    char hint[512]; // one line about something that works otherwise while it is recorded, "": none
};

void record_run(const struct options *options, struct record_result *result);

#endif
