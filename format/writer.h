// Writes a trace: events in their final order, contents, stacks, registers, embedded files. One thread uses it. It
// keeps its own world, from which STATE and SUMMARY chunks come, and never seeks: the file may be a pipe.
#ifndef VMV_WRITER_H
#define VMV_WRITER_H

#include "meta.h"
#include "world.h"

struct vmv_writer;

// Writes to `fd`, which it owns from now on and closes. Header and META are written at once. NULL and *error (static or
// in `error`'s buffer of error_size bytes) when that fails.
struct vmv_writer *vmv_writer_create(int fd, const struct vmv_meta *meta, char *error, size_t error_size);

// As vmv_writer_create, with choices. Zeroed options are the defaults.
struct vmv_writer_options {
    uint8_t id[16];     // of the file; all 0: random
    size_t dedup_bytes; // bound of the table that finds repeated pages; 0: 32 MiB
    bool store;         // nothing is compressed (so that the bytes do not depend on the zstd at hand)
};
struct vmv_writer *vmv_writer_create_with(int fd, const struct vmv_meta *meta, const struct vmv_writer_options *options,
                                          char *error, size_t error_size);

// Adds an event; its t must not be below the one before (it is raised if it is). Returns its seq. The world is
// advanced by it.
uint64_t vmv_writer_event(struct vmv_writer *writer, const struct vmv_event *event);
// The world after the last event, for classifying what comes next. Read only.
const struct vmv_world *vmv_writer_world(const struct vmv_writer *writer);

// Stores one page (page_size bytes) and returns its content number; zero pages and pages seen before (bounded
// dedup table) cost nothing. The number goes into a CONTENT event.
uint64_t vmv_writer_page(struct vmv_writer *writer, const void *bytes);
// Stores a stack: registers (arch blob) and `length` raw bytes from sp upwards. Returns its number.
uint64_t vmv_writer_stack(struct vmv_writer *writer, const void *regs, size_t regs_length, uint64_t sp,
                          const void *bytes, size_t length);
// Stores a register blob: general registers, then the extended state as the kernel gives it. Returns its number.
uint64_t vmv_writer_regs(struct vmv_writer *writer, const void *general, size_t general_length, const void *extended,
                         size_t extended_length);

// A file that is mapped: identity now, bytes (if fd >= 0) read and written in slices by vmv_writer_idle() or at the
// end. Takes fd. Returns the object's number; the same identity again returns the same number (and closes fd).
struct vmv_object_identity {
    const char *path;
    uint64_t inode, size;
    int64_t mtime_ns;
    uint32_t dev_major, dev_minor;
    uint8_t build_id[32];
    uint32_t build_id_length; // 0: none
};
uint32_t vmv_writer_object(struct vmv_writer *writer, const struct vmv_object_identity *identity, int fd);
void vmv_writer_give_up_objects(struct vmv_writer *writer); // of files not wholly embedded yet, no more follows
bool vmv_writer_idle(struct vmv_writer *writer); // does one slice (<= 1 MiB) of embedding; false: nothing left to do

// When the oldest event happened that is not in the file yet, ns of the trace; UINT64_MAX: all are.
uint64_t vmv_writer_open_since(const struct vmv_writer *writer);
// Closes chunks that are older than 200 ms or full. `now` in ns of the trace.
void vmv_writer_tick(struct vmv_writer *writer, uint64_t now);
// Closes all open chunks, so that what was written so far can be read from the file.
void vmv_writer_flush(struct vmv_writer *writer);
// Does all that finish does but closing the descriptor and freeing, so that the trouble can still be asked for. Then
// only trouble, bytes, pages, world and finish may be called.
bool vmv_writer_complete(struct vmv_writer *writer, struct vmv_end *end);
// Closes everything that is open, remaining objects, SUMMARY, INDEX and END, and the descriptor; frees the writer.
// False if the trace is incomplete: vmv_writer_trouble() said why before. Fills in *end: complete, pages_captured,
// raw_bytes, events, and raises duration_ns to the last event's time.
bool vmv_writer_finish(struct vmv_writer *writer, struct vmv_end *end);
// NULL, or one line on what went wrong with the output (disk full, pipe closed). From then on nothing is written,
// and all calls do nothing.
const char *vmv_writer_trouble(const struct vmv_writer *writer);
uint64_t vmv_writer_bytes(const struct vmv_writer *writer); // written to the file so far
// With what is packed but not written yet: what the file will have when its open chunks are closed, nearly.
uint64_t vmv_writer_bytes_due(const struct vmv_writer *writer);
uint64_t vmv_writer_pages(const struct vmv_writer *writer); // contents stored or referred to so far

#endif
