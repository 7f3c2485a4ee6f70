// The file that the trace goes to, and what lay there before.
#ifndef REC_OUTPUT_H
#define REC_OUTPUT_H

#include <stdbool.h>

struct output {
    int fd;
    int replaced;       // what lay at `old` before, open so that it is not freed while the program waits; -1: none
    bool created;       // a regular file of ours: removed again if the program never starts
    char old[4096 + 8]; // where the former file went, "" if there was none
};

// "-" is standard output. An existing regular file becomes PATH.old. 0 or a negative errno.
int output_open(struct output *output, const char *path);
// Closes what the former file replaced, in a thread: freeing a large file takes milliseconds.
void output_free_replaced(struct output *output);
// The program never started: all is put back as it was.
void output_withdraw(const struct output *output, const char *path);

#endif
