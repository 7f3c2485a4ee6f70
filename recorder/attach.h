// Attaching to a process that runs already (-p). There is no filter: it could not be taken back.
#ifndef REC_ATTACH_H
#define REC_ATTACH_H

#include "perf_records.h"
#include "tracer.h"

// Whether a process may be recorded; else `error` holds cause and remedy in one line.
bool attach_check(pid_t pid, char *error, size_t error_size);
// Its argv and environment; NULL if they cannot be read. Freed by the caller: the array, and its first string.
char **attach_read_strings(pid_t pid, const char *file);
// Seizes all threads of tracer->root; its later threads, and its children unless --no-follow, come by themselves. To be
// called by the thread that will trace: when that thread ends, the kernel lets go of all of them, wherever they are,
// and none is disturbed. 0 or a negative errno.
int attach_seize(struct tracer *tracer);
// Starts fault records with the threads held (`options` as for perf_records_open; NULL: none), reads the address space
// as it is, makes its pages watched and takes the first frame. Trouble with the records is noted in the trace.
void attach_begin(struct tracer *tracer, const struct perf_records_options *options);
// Makes the pages of an address space watched whose threads are held. Where none of them stands where a call can be
// injected, space->watch_due stays set, and it is tried again at the next frame.
void attach_watch(struct tracer *tracer, struct rec_space *space);
// The last frame; all threads are left running or stopped as they would be alone.
void attach_end(struct tracer *tracer);

#endif
