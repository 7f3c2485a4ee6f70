// What the trace says of itself at its beginning: machine, program, settings.
#ifndef REC_TRACE_META_H
#define REC_TRACE_META_H

#include "options.h"
#include "sources.h"
#include "writer.h"

struct trace_subject {
    pid_t pid;
    char **program;     // its argv
    char **environment; // NULL: not to be told
    const char *directory;
    uint64_t start; // CLOCK_MONOTONIC, ns
};
// Begins the trace. NULL: `error` says why.
struct vmv_writer *trace_begin(int fd, const struct options *options, const struct sources *sources,
                               const struct trace_subject *subject, char *error, size_t error_size);

#endif
