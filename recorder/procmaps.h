// The mappings of a process as /proc/PID/maps prints them.
#ifndef REC_PROCMAPS_H
#define REC_PROCMAPS_H

#include <stdbool.h>
#include <sys/types.h>

#include "arena.h"
#include "event.h"

enum procmaps_option {
    PROCMAPS_JOIN = 1,   // canonical: neighbours whose attributes continue each other are one
    PROCMAPS_STABLE = 2, // of a running process: read until two readings agree (at most eight)
};

// A reading, and the memory it is kept in. Zero it before first use; the arrays hold until the next call on it.
// Names are unescaped and as printed, " (deleted)" included. [stack] carries VMV_MAP_GROWSDOWN, what the kernel's own
// hugetlb file backs VMV_MAP_HUGETLB. object is 0.
struct procmaps {
    struct vmv_mapping *maps;
    bool *deleted; // maps[i] is of a file that no longer has a name
    size_t count;
    size_t room, deleted_room, text_room; // private from here on
    char *text;
    struct vmv_arena names;
};

// Reads all mappings of a process. 0, or -ESRCH (gone, or it has no memory any more), -EACCES, -EBADMSG (not
// understood).
int procmaps_read(struct procmaps *maps, pid_t pid, unsigned options);
// The same from text. `text` need not be terminated.
int procmaps_parse(struct procmaps *maps, const char *text, size_t length, unsigned options);
void procmaps_free(struct procmaps *maps);

// The mapping (one VMA, not joined) that holds addr. Its name lives in `maps` until the next call on it. 0, or
// -ENOENT: nothing is mapped there; else as procmaps_read. *page_bytes (may be NULL): the kernel's page size of the
// VMA, 0 where the kernel does not tell it.
int procmaps_at(struct procmaps *maps, pid_t pid, uint64_t addr, struct vmv_mapping *mapping, uint64_t *page_bytes);

#endif
