// The way from those who see things (tracer, fault records, fault server) to the one who writes them. Each producer
// hands in events in its own time order; the writer thread merges them by time and appends them to the trace. It also
// settles what only the merged order tells: the address space of a fault record and the kind of a fault.
#ifndef REC_SINK_H
#define REC_SINK_H

#include "track.h"
#include "writer.h"

struct sink;
struct sink_producer;

struct sink_stack {   // registers and stack bytes at an event; copied
    const void *regs; // general registers as the arch lays them out (REGS "general" blob)
    size_t regs_length;
    uint64_t sp;
    const void *bytes; // from sp upwards
    size_t length;
};

// Takes over the trace writer. Starts the writer thread. content_room: bytes of page contents that may wait for the
// writer at one time.
// size_limit: bytes of trace, 0: none.
struct sink *sink_create(struct vmv_writer *writer, uint64_t start_monotonic_ns, size_t content_room,
                         uint64_t size_limit);
// What still goes into the trace: near its size limit contents are left out, and at it all but the ends of processes.
// Both are told in the trace. Any thread.
enum sink_fill { SINK_TAKES_ALL, SINK_TAKES_NO_CONTENTS, SINK_FULL };
enum sink_fill sink_fill(const struct sink *sink);
// --ring: of two traces written at a time the older one lies at `path`, the younger beside it; both together hold at
// least what is to be kept. To be called before the first event.
struct sink_ring {
    uint64_t ns, bytes; // to be kept: one of both
    const char *path;
    struct vmv_writer *(*begin)(void *user, int fd, char *error, size_t error_size);
    void *user;
};
void sink_set_ring(struct sink *sink, const struct sink_ring *ring);
void sink_keep_ring(struct sink *sink); // completes what the ring holds as PATH.1, PATH.2 ...; any thread

// All producers must be done. Joins the writer thread after everything was written; the trace is then finished with
// `end` (totals are filled in). Returns false if the trace is incomplete; `trouble` then holds why.
bool sink_finish(struct sink *sink, struct vmv_end *end, char *trouble, size_t trouble_size);

struct sink_producer *sink_producer_create(struct sink *sink, const char *name);
// Copies the event with its strings and arrays, and the stack piece (NULL: none). event->t must not fall. An event of
// type NONE is not written: it says that process `pid` has entered an exec call.
void sink_event(struct sink_producer *producer, const struct vmv_event *event, const struct sink_stack *stack);
// Waits while more than 32 MiB of this producer's events wait for the writer. For producers that may lose (fault
// records: what does not fit in the rings meanwhile becomes a gap); never for those that hold the program.
void sink_wait_room(struct sink_producer *producer);
// Promises that no later event of this producer lies before t. Call at least every 50 ms while the program runs.
void sink_advance(struct sink_producer *producer, uint64_t t);
void sink_producer_done(struct sink_producer *producer); // promises no further events

// ns since the recording began.
uint64_t sink_now(const struct sink *sink);
uint64_t sink_time(const struct sink *sink, uint64_t monotonic_ns); // CLOCK_MONOTONIC -> trace time, 0 if before

// A file whose number is `object` in the producer's events from now on. Takes fd (-1: identity only).
void sink_object(struct sink_producer *producer, uint32_t object, const struct vmv_object_identity *identity, int fd);

// --- frames
struct sink_thread {
    struct vmv_event event;         // THREAD; regs is filled in by the writer thread
    const void *general, *extended; // in the frame's arena; NULL: none
    size_t general_length, extended_length;
};
// A frame on its way. Made by the tracer, freed by the writer thread, which settles what the pages' history tells:
// which pages became resident without a record, and which were written.
struct sink_frame {
    struct vmv_event event; // FRAME; pages_written and torn are filled in by the writer thread
    struct sink_thread *threads;
    size_t thread_count, thread_room;
    struct vmv_event *runs; // PAGES
    size_t run_count, run_room;
    struct track_copy copy; // contents
    struct track_runs torn; // of these, written while they were copied
    bool as_found;          // the first of a space that was there before: its pages came before the recording
    bool has_resident;
    struct track_runs resident; // everything resident or swapped: what is not in it is absent
    size_t reserved;            // bytes of contents accounted for
    struct vmv_arena arena;     // registers
};
struct sink_frame *sink_frame_create(struct sink *sink); // from a pool; never NULL
void sink_frame_add_run(struct sink_frame *frame, const struct vmv_event *run);
struct sink_thread *sink_frame_add_thread(struct sink_frame *frame);
// Accounts for up to `bytes` of contents; returns how many may be copied: fewer if the writer is behind, unless `wait`.
size_t sink_frame_reserve(struct sink *sink, struct sink_frame *frame, size_t bytes, bool wait);
void sink_frame_drop_contents(struct sink_frame *frame); // they are said to have been skipped
void sink_frame_submit(struct sink_producer *producer, struct sink_frame *frame);

#endif
