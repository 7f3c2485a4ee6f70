// The whole state at one moment: address spaces, processes, threads. Replaying events from the beginning, or from a
// STATE chunk, gives the same world.
#ifndef VMV_WORLD_H
#define VMV_WORLD_H

#include "space.h"

struct vmv_thread {
    int32_t pid, tid;
    uint32_t space;
    uint8_t state;     // enum vmv_thread_state
    uint8_t certainty; // of the registers: exact at a frame, partial for sleepers left asleep, stale later
    int64_t syscall;   // number, -1: in none
    uint64_t pc, sp, fp;
    uint64_t regs;     // REGS number, 0: none
    uint64_t captured; // ns
    uint64_t started, ended; // ns; ended 0: alive
    uint64_t run_ns;   // time on a processor, summed over the frames
    char name[16];
    int32_t exit_code;
};

struct vmv_process {
    int32_t pid, parent;
    uint32_t space; // 0 after its end
    uint32_t last_space; // the last one it had
    uint64_t started, ended; // ns; ended 0: alive
    bool killed; // exit_code is a signal number
    int32_t exit_code;
    const char *path; // program, owned by the world
};

struct vmv_world {
    uint64_t t;   // ns, of the last event applied
    uint64_t seq; // of the next event
    uint32_t page_size;
    struct vmv_space **spaces; // by number; once no process uses it, one has no mappings and no pages any more
    size_t space_count, space_room;
    struct vmv_thread *threads; // by first appearance; gone ones stay with state GONE for 1 to 2 s
    size_t thread_count, thread_room;
    struct vmv_process *processes; // all that ever were
    size_t process_count, process_room;
    uint64_t frames; // frames so far
    uint64_t events[VMV_EV_TYPE_COUNT];
    struct vmv_string_store *strings;
    struct vmv_world_private *hidden;
};

struct vmv_world *vmv_world_create(uint32_t page_size);
struct vmv_world *vmv_world_copy(const struct vmv_world *world); // cheap: shares pages until one of them writes
void vmv_world_destroy(struct vmv_world *world); // accepts NULL
void vmv_world_apply(struct vmv_world *world, const struct vmv_event *event);

struct vmv_space *vmv_world_space(const struct vmv_world *world, uint32_t id);   // NULL if none
struct vmv_thread *vmv_world_thread(const struct vmv_world *world, int32_t tid); // the newest of that tid, or NULL
struct vmv_process *vmv_world_process(const struct vmv_world *world, int32_t pid);
size_t vmv_world_memory(const struct vmv_world *world); // bytes held
// Bytes that knowledge of pages may take; beyond, pages stay unknown. 4 GiB unless set.
void vmv_world_limit_pages(struct vmv_world *world, size_t bytes);

#endif
