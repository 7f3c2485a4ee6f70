// Page-fault records from perf: every CPU fault of a process and all its descendants, with time, thread, address,
// instruction and (all in calm, some in storms) registers and stack. A thread of its own drains them into the sink as
// FAULT events of kind UNKNOWN, space 0 (the writer finds the space by the pid). Losses become GAP events.
#ifndef REC_PERF_RECORDS_H
#define REC_PERF_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "sink.h"

struct perf_records;

struct perf_records_options {
    pid_t pid;
    bool on_exec;               // begin at its next exec; else at once
    bool threads_only;          // not its child processes, where the kernel can tell (5.13)
    bool kernel;                // also faults inside system calls (sources.perf_kernel)
    uint32_t stack_bytes;       // with each record, while stacks are on; rounded down to 8; 0: none
    size_t ring_bytes;          // per CPU, a power of two of pages; 0: chosen by the number of CPUs
    uint32_t stacks_per_second; // in a storm; 0: 2000
    struct sink *sink;
};
// 0 or a negative errno; `error` then holds one line. Starts the thread.
int perf_records_open(const struct perf_records_options *options, struct perf_records **records, char *error,
                      size_t error_size);
// Attaching: follows a thread that exists already (its later children come by themselves). The pid given at opening is
// followed already. 0 or negative errno.
int perf_records_add(struct perf_records *records, pid_t tid);
// Hands everything that was recorded before this call to the sink; returns when that is done. A caller that is itself a
// producer advances its own promise first, or is done: else the sink may have no room for what is handed over.
void perf_records_flush(struct perf_records *records);
// The governor's levers: stacks on or off; records on or off.
void perf_records_stacks(struct perf_records *records, bool on);
void perf_records_enable(struct perf_records *records, bool on);

// Pieces of stack of this process end below `addr` from now on.
void perf_records_withhold(struct perf_records *records, pid_t pid, uint64_t addr);
// Records that the kernel has written so far, whether read yet or not. Costs nothing; any thread.
uint64_t perf_records_written(const struct perf_records *records);

struct perf_records_counts {
    uint64_t faults, kernel_faults; // all records; of these, from inside the kernel
    uint64_t stacks;                // of these, with a stack
    uint64_t lost;                  // records lost
};
void perf_records_counts(struct perf_records *records, struct perf_records_counts *counts);
void perf_records_close(struct perf_records *records); // drains the rest first; accepts NULL
#endif
