// The writer thread's priority: it stands behind the program, until what it has not written yet grows old.
#ifndef REC_SINK_PACE_H
#define REC_SINK_PACE_H

#include <stdbool.h>
#include <stdint.h>

struct sink_pace {
    bool adapts; // the priority may be raised again once it was lowered
    bool hurries;
};

void pace_begin(struct sink_pace *pace); // of the calling thread, by which alone it is used from now on
// age: ns of the oldest event that is not in the file yet.
void pace_set(struct sink_pace *pace, uint64_t age);

#endif
