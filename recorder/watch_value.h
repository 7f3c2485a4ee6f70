// The value at a watched address, read by a BPF program at the moment of the write. Private to watch.c.
#ifndef REC_WATCH_VALUE_H
#define REC_WATCH_VALUE_H

#include <stdint.h>

// What the program puts into the ring before the breakpoint's own record.
struct watch_value {
    uint64_t addr;
    uint8_t bytes[8];
    uint64_t good; // 1: they could be read
};

// A map from processor to the event that takes the values (PERF_COUNT_SW_BPF_OUTPUT). A descriptor or -errno.
int watch_value_map(int processors);
int watch_value_set_output(int map, int processor, int event_fd); // 0 or -errno
// The program for one address. A descriptor, to be attached with PERF_EVENT_IOC_SET_BPF, or -errno: BPF needs root,
// or CAP_BPF and CAP_PERFMON.
int watch_value_program(int map, uint64_t addr, uint32_t length);

#endif
