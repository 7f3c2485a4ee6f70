// Curves and counts over time, so that a window can draw a recording of any length without reading its events.
#ifndef VMV_SUMMARY_H
#define VMV_SUMMARY_H

#include "arena.h"
#include "bytes.h"
#include "world.h"

enum { VMV_BUCKET_SHIFT = 23 }; // a base bucket is 2^23 ns (8.39 ms); empty ones are not stored

// Kinds of memory, for colours and for counting. Derived from a mapping by vmv_mapping_kind().
enum vmv_kind {
    VMV_KIND_PROGRAM, VMV_KIND_LIBRARY, VMV_KIND_FILE, VMV_KIND_HEAP, VMV_KIND_STACK, VMV_KIND_ANONYMOUS,
    VMV_KIND_KERNEL, VMV_KIND_COUNT
};
const char *vmv_kind_name(enum vmv_kind kind); // the contract's words
// program: the executed file; library: a file with an executable mapping in the same space; kernel: vdso, vvar,
// vsyscall; stack: [stack], VMV_MAP_STACK; heap: [heap].
enum vmv_kind vmv_mapping_kind(const struct vmv_space *space, const struct vmv_mapping *mapping);

enum vmv_lane { VMV_LANE_MAP, VMV_LANE_PROTECT, VMV_LANE_THREAD, VMV_LANE_COUNT };
// What a lane's tick is. Failed calls count too. mmap: shmat as well; munmap: shmdt; mremap: remap; mprotect: mseal;
// madvise: punch, truncate, setname.
enum vmv_tick {
    VMV_TICK_MMAP, VMV_TICK_MUNMAP, VMV_TICK_MREMAP, VMV_TICK_BRK, // lane map
    VMV_TICK_MPROTECT, VMV_TICK_MADVISE,                           // lane protect
    VMV_TICK_THREAD_START, VMV_TICK_THREAD_EXIT, VMV_TICK_PROCESS, // lane thread (process: fork, exec, exit, signal)
    VMV_TICK_COUNT
};

struct vmv_bucket_region { // a mapping that changed in the bucket
    uint64_t start, end;   // bytes, as at the bucket's end
    uint32_t resident, written; // pages resident at its end; pages written in it
};
struct vmv_bucket_thread {
    int32_t tid;
    uint32_t run_us; // time on a processor in it
};
struct vmv_bucket { // one address space in one span of time
    uint64_t index; // t >> VMV_BUCKET_SHIFT
    uint32_t space;
    uint64_t virtual_bytes;
    uint32_t resident, written;         // pages: at its end; seen written in it
    uint32_t ticks[VMV_TICK_COUNT];
    uint8_t tick_kinds[VMV_TICK_COUNT]; // bit k: kind k was concerned
    uint32_t faults[VMV_KIND_COUNT];
    struct vmv_bucket_region *regions;
    size_t region_count;
    struct vmv_bucket_thread *threads;
    size_t thread_count;
};

// A SUMMARY chunk: the buckets since the one before it, by index then space, and the landmarks of that time: FRAME,
// MARK, GAP, GOVERNOR, NOTE, THREAD_START, THREAD_EXIT, FORK, EXEC, EXIT, SIGNAL and SPACE events, without argv.
struct vmv_summary {
    struct vmv_bucket *buckets;
    size_t bucket_count;
    struct vmv_event *landmarks;
    size_t landmark_count;
};

// A bucket that lies across the border of two chunks stands in both: its counts add up, its levels are the later's.
enum vmv_tick vmv_event_tick(enum vmv_event_type type); // VMV_TICK_COUNT: it is none
bool vmv_event_is_landmark(enum vmv_event_type type);

// Builds summaries: give every event after it was applied to the world, and, for levels that are exact at the border of
// two buckets and for the kinds of memory that a call takes away, also before. The world must live until the flush.
struct vmv_summary_builder;
struct vmv_summary_builder *vmv_summary_builder_create(void);
void vmv_summary_builder_destroy(struct vmv_summary_builder *builder);
void vmv_summary_builder_before(struct vmv_summary_builder *builder, const struct vmv_world *world, const struct vmv_event *event);
void vmv_summary_builder_add(struct vmv_summary_builder *builder, const struct vmv_world *world, const struct vmv_event *event);
size_t vmv_summary_builder_size(const struct vmv_summary_builder *builder); // about how many bytes flush would write
void vmv_summary_builder_flush(struct vmv_summary_builder *builder, struct vmv_out *out); // encodes and starts anew
bool vmv_summary_decode(struct vmv_in *in, struct vmv_arena *arena, struct vmv_summary *summary); // false: malformed

#endif
