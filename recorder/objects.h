// The files that are mapped: one number for each identity (device, inode, size, time), with its build-id, handed to
// the writer with an open descriptor so that it can embed them.
#ifndef REC_OBJECTS_H
#define REC_OBJECTS_H

#include "sink.h"

#include <sys/types.h>

struct object_table;

// embed_limit: bytes; programs and libraries are embedded at any size. embed_debug: their debug files, too.
struct object_table *objects_create(uint64_t embed_limit, bool embed_debug);
void objects_destroy(struct object_table *table); // accepts NULL

// The number of the file that `mapping` of process `pid` maps, 0 if it maps none (or no regular file). A file seen for
// the first time is announced to the sink before this returns. A file that a shared mapping may write is known by
// identity only: its bytes do not hold still.
uint32_t objects_of_mapping(struct object_table *table, struct sink_producer *producer, pid_t pid,
                            const struct vmv_mapping *mapping);

// A data or function symbol of an ELF file (the full table first, then the dynamic one): where it lies from the file's
// first mapped byte on, and its size, 0 if the file does not say. False: no ELF file, or no such symbol.
bool objects_find_symbol(const char *path, const char *name, uint64_t *offset, uint64_t *size);

// Device and inode of the file at `path`, as /proc/PID/maps prints them. False: no such file.
bool objects_identify(const char *path, uint32_t *dev_major, uint32_t *dev_minor, uint64_t *inode);

#endif
