// What can keep the recorder from tracing here, said in one line with its remedy.
#ifndef REC_OBSTACLE_H
#define REC_OBSTACLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Why PTRACE_SEIZE of the recorder's own child failed. error: negative errno; tracer: who traces the child already,
// 0 nobody.
void obstacle_of_seize(int error, pid_t tracer, char *text, size_t size);
// A sandbox that the recorder itself is in may answer a call with death instead of an error: the calls it is going to
// make are made in a child first. records: page-fault records are wanted; filter: memory calls stop. Returns the name
// of the first one that kills, NULL if none does. Costs one read of /proc where there is no sandbox.
const char *obstacle_fatal_call(bool records, bool filter);

#endif
