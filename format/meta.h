// What a trace says of itself: the META chunk at its beginning and the END chunk at its end.
#ifndef VMV_META_H
#define VMV_META_H

#include "arena.h"
#include "bytes.h"
#include "event.h"

struct vmv_meta {               // strings and arrays belong to the maker, or to the reader's arena
    const char *const *program; // argv, at least one
    size_t program_count;
    const char *const *environment; // NULL with --no-env
    size_t environment_count;
    const char *directory;
    int32_t pid;
    uint64_t started;            // ns since 1970 (CLOCK_REALTIME)
    uint64_t start_monotonic_ns; // CLOCK_MONOTONIC at trace time 0
    const char *arch;            // "x86_64", "aarch64"
    uint32_t page_size;
    const char *machine, *kernel;                         // processor model; uname release and version
    const char *recorder;                                 // version of vmvis-record
    const char *source_faults, *source_maps, *source_why; // contract: sources
    uint64_t interval_ns;
    bool interval_auto;
    double budget_percent; // < 0: none
    uint32_t stack_bytes;
    const char *content; // "changed" or "none"
    uint64_t embed_limit;
    // What was asked for beyond the defaults; texts are empty where nothing was.
    bool attached; // -p: the program ran before
    bool no_follow, split_huge;
    uint64_t max_size;        // bytes, 0: no limit
    const char *faults_asked; // --faults
    const char *exclude, *watch, *ring, *user;
    const char *register_set; // "x86_64-user-regs": how REGS blobs are laid out, see docs/FORMAT.md
};

struct vmv_end {
    bool complete;
    uint64_t duration_ns;
    bool exited, killed;
    int32_t exit_code; // or the signal
    uint64_t held_ns, fault_ns;
    double percent;
    uint64_t pages_captured, raw_bytes; // raw: before compression, embedded files too
    uint64_t events[VMV_EV_TYPE_COUNT];
};

void vmv_meta_encode(struct vmv_out *out, const struct vmv_meta *meta);
bool vmv_meta_decode(struct vmv_in *in, struct vmv_arena *arena, struct vmv_meta *meta); // false: malformed
void vmv_end_encode(struct vmv_out *out, const struct vmv_end *end);
bool vmv_end_decode(struct vmv_in *in, struct vmv_end *end);

#endif
