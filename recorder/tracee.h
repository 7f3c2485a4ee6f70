// Who is traced: threads (tracees), the processes they belong to, and the address spaces those use.
//
// The life of a tracee, and what is asserted at every move:
//
//            parent's event            first stop
//   (none) ------------------> EXPECTED ------------.
//      |                                             |
//      | first stop            parent's event        v
//      '-----------> NEWBORN ------------------> STOPPED <----- any stop ------.
//                      (held)                       |                           |
//            .------------------+-----------------+-+---------------+-----------.
//            v                  v                 v                 v           |
//         RUNNING            IN_CALL            QUEUED            GROUP ------->|
//    (CONT: full speed)  (SYSCALL: its     (stopped at entry,  (LISTEN: in a    |
//            |            exit stop is      until it meets no    group-stop)     |
//            |            due)              other call)                         |
//            |                                  |                               |
//            '-----------------+----------------+-------------------------------'
//                              v
//                           EXITING (continued from its EXIT stop; only its end may follow) ---> gone
//
// A ptrace request that fails with ESRCH means that the tracee is dying: its end will be reported, nothing else is
// done.
#ifndef REC_TRACEE_H
#define REC_TRACEE_H

#include "call.h"
#include "call_order.h"
#include "governor.h"
#include "procstat.h"
#include "space.h"

#include <sys/types.h>

enum { REGS_ROOM = 512, STACK_ROOM = 32768 };

enum tracee_state {
    TRACEE_EXPECTED, // its parent told of it; its first stop has not come
    TRACEE_NEWBORN,  // its first stop came before its parent told of it: held
    TRACEE_STOPPED,  // in a stop that is being dispatched, or held for a frame
    TRACEE_RUNNING,
    TRACEE_IN_CALL, // in a memory call, to be stopped at its exit
    TRACEE_QUEUED,  // stopped at the entry of a memory call until no other may touch what it touches
    TRACEE_GROUP,
    TRACEE_EXITING,
};

struct track;
struct fault_server;

struct page_span { // pages [start, end), bytes
    uint64_t start, end;
};

struct rec_space {
    uint32_t id;
    unsigned users; // processes that have it
    pid_t pid;      // one of them, for /proc
    struct vmv_space *model;
    uint64_t env_start, env_end;     // where the kernel put the environment
    struct track *track;             // NULL: its pages are not watched
    struct fault_server *server;     // serves its userfaultfd, NULL: none does
    struct tracee *in_call;          // in a memory call, from entry to exit, that has an order with others
    struct tracee *waiting;          // QUEUED, first come first served
    unsigned given_up;               // calls under way that others do not wait for any more
    uint64_t last_frame, next_frame; // ns: when, and when the next is due
    uint64_t cpu_ns;                 // of its processes at the last frame
    struct page_span *owed;          // written pages whose contents were not copied yet
    size_t owed_count, owed_room;
    unsigned frames;
    struct governor_space budget;
    bool maps_hidden;   // memory calls may pass unseen (confine.c): its mappings are read at frames
    bool as_found;      // it was there before it came into view, and no frame has its pages yet
    bool watch_due;     // attached to, but its pages are not watched yet
    uint64_t huge_next; // where copying huge pages goes on
    struct rec_space *next;
};

struct rec_process {
    pid_t pid, parent;
    struct rec_space *space; // NULL until it was set up
    unsigned threads;
    bool last_frame_done; // its memory was recorded for the last time
    bool unrecorded;      // a child under --no-follow: traced, so that the filter does not harm it, and nothing more
    bool fresh;           // a fork child that has not been set up at its first stop
    struct rec_process *next;
};

enum { TRANSFER_PARTS_MAX = 64 };
struct transfer { // a call that a stop of ours cut short and that goes on (transfer.c)
    bool active, entered;
    int64_t call, done; // its number; bytes, or elements
    uint64_t args[6], pc;
};

struct mended { // the last call that was broken off by a stop of ours and made to restart (mend.c)
    bool any;
    int64_t call;
    uint64_t since, sp, pc; // ns, when first
    uint64_t slices;        // times the thread was given a processor until then
};

struct tracee {
    pid_t tid;
    struct rec_process *process; // NULL while NEWBORN
    enum tracee_state state;
    uint64_t born;    // ns, NEWBORN: when its first stop came
    int first_status; // NEWBORN: to be dispatched once its parent told of it
    struct transfer transfer;
    struct mended mended;
    bool strict;       // in seccomp's strict mode, as far as it knows (confine.c)
    bool was_in_group; // before the stop it stands in
    bool vfork_wait;   // asleep in vfork until the child lets go: cannot be stopped

    // the memory call it is in
    enum call call;
    uint64_t call_args[6];
    struct call_reach call_reach;
    uint64_t call_since;  // ns, when it was let in
    uint64_t call_old;    // brk before; bytes of the shared memory segment
    bool call_disordered; // its order with others is unknown: the maps are read after it
    bool call_given_up;   // counted in rec_space.given_up
    uint64_t untraced_at; // where clone3 had CLONE_UNTRACED, to be put back; 0: nowhere
    bool has_stack;
    uint64_t stack_sp, stack_pc;
    uint8_t regs[REGS_ROOM];
    size_t regs_length;
    uint8_t *stack; // STACK_ROOM bytes, made on demand
    size_t stack_length;

    // frames
    struct procstat_thread stat;
    bool awaited;                     // a frame waits for it to stop
    bool held;                        // stopped for a frame by our interrupt
    bool stands;                      // in a stop that is to be dispatched after the frame
    uint64_t spared_until, spared_ns; // ns: not interrupted before, for its fork must come to its end
    bool sampled_asleep;              // its registers of this sleep are known:
    uint64_t sampled_sp, sampled_pc, sampled_run_ns;
    int64_t sampled_call;
    char name[16];
    unsigned named;  // times its name was looked at
    uint64_t run_ns; // on a processor, at the last frame

    struct tracee *next_in_call; // in rec_space.in_call
    struct tracee *next_waiting; // in rec_space.waiting
    struct tracee *next;         // in the hash chain
};

enum { TRACEE_BUCKETS = 1024 };
struct tracee_table {
    struct tracee *buckets[TRACEE_BUCKETS];
    size_t count;
    struct rec_process *processes;
    struct rec_space *spaces;
    uint32_t next_space;
};

struct tracee *tracee_find(const struct tracee_table *table, pid_t tid); // NULL if none
struct tracee *tracee_add(struct tracee_table *table, pid_t tid, enum tracee_state state);
void tracee_remove(struct tracee_table *table, struct tracee *tracee); // frees it; leaves its process
void tracee_rename(struct tracee_table *table, struct tracee *tracee, pid_t tid);
void tracee_move(struct tracee *tracee, enum tracee_state state); // asserts that the move is legal
// Walks all tracees: start with *bucket 0 and NULL; NULL at the end. Ask for the next one before removing one.
struct tracee *tracee_next(const struct tracee_table *table, size_t *bucket, struct tracee *previous);

struct rec_process *process_find(const struct tracee_table *table, pid_t pid);
struct rec_process *process_add(struct tracee_table *table, pid_t pid, pid_t parent);
void process_remove(struct tracee_table *table, struct rec_process *process); // gives up its space
void process_set_space(struct tracee_table *table, struct rec_process *process, struct rec_space *space);

struct rec_space *space_add(struct tracee_table *table, pid_t pid, struct vmv_space *model);
void tracee_table_free(struct tracee_table *table);

#endif
