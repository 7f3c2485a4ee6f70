// The model: the whole recorded state at any time, bytes at (space, address, time), events by filter, curves over
// time. Opens in time independent of the trace's length and keeps within a memory budget.
#ifndef VMV_TIMELINE_H
#define VMV_TIMELINE_H

#include "reader.h"

struct timeline;

struct timeline *timeline_open(const char *path, char *error, size_t error_size); // as vmv_reader_open
void timeline_close(struct timeline *tl);
struct vmv_reader *timeline_reader(struct timeline *tl);
void timeline_set_memory(struct timeline *tl, size_t bytes); // budget, default 512 MiB for the whole process

// --- time
uint64_t timeline_duration(const struct timeline *tl); // ns
uint64_t timeline_now(const struct timeline *tl);
// The state after every event at or before t. The world belongs to the timeline and holds until the next seek.
const struct vmv_world *timeline_seek(struct timeline *tl, uint64_t t);
const struct vmv_world *timeline_seek_seq(struct timeline *tl, uint64_t seq); // after the event with that number
const struct vmv_world *timeline_world(const struct timeline *tl);
// Non-NULL after a seek that met damaged chunks: what is not known, with the offset.
const char *timeline_trouble(const struct timeline *tl);

// --- pages and bytes at the moment sought
struct timeline_page {
    struct vmv_page page;     // as in the world; state UNKNOWN where nothing is known
    enum vmv_certainty certainty; // of its contents at this moment, by what later frames say as well
    uint64_t may_have_changed; // ns: earliest moment it may have changed after capture, 0 if it did not
    enum vmv_page_state state; // as to be shown: with mapping taken into account (absent where never touched)
    bool mapped;
};
struct timeline_page timeline_page(struct timeline *tl, uint32_t space, uint64_t addr);

// Counts pages that are in memory or swapped by their certainty, as timeline_page() has it: the next 512 or fewer that lie
// at or after *addr in the mapping that ends at `end`. Moves *addr behind them; false: there are no more.
struct timeline_census { uint64_t exact, stale, torn, unknown; };
bool timeline_census(struct timeline *tl, uint32_t space, uint64_t *addr, uint64_t end, struct timeline_census *census);

struct timeline_run { // a stretch of bytes with one provenance
    uint64_t addr, length;
    bool known, mapped;
    enum vmv_certainty certainty;
    uint64_t captured; // ns
    enum { TIMELINE_FROM_CAPTURE, TIMELINE_FROM_OBJECT, TIMELINE_FROM_ZERO } from;
};
// Copies up to `length` bytes (unknown ones as 0) and describes them; returns the number of runs, at most `room`.
size_t timeline_read(struct timeline *tl, uint32_t space, uint64_t addr, void *out, size_t length,
                     struct timeline_run *runs, size_t room);

// --- events
struct timeline_filter {
    uint64_t types[2];        // bit set over enum vmv_event_type; both 0: all
    uint32_t space; int32_t pid, tid; // 0: any
    uint64_t addr, end;       // events that concern an address in [addr, end); end 0: any
    uint64_t from, to;        // ns, half-open; to 0: to the end
};
void timeline_filter_type(struct timeline_filter *filter, enum vmv_event_type type);
struct timeline_cursor; // walks events; does not move the timeline
struct timeline_cursor *timeline_cursor_create(struct timeline *tl, const struct timeline_filter *filter);
void timeline_cursor_destroy(struct timeline_cursor *cursor);
void timeline_cursor_seek(struct timeline_cursor *cursor, uint64_t t);     // between the last event <= t and the next
// The event after / before the cursor, and moves over it; NULL at the end. It lives until the next call.
const struct vmv_event *timeline_cursor_next(struct timeline_cursor *cursor);
const struct vmv_event *timeline_cursor_previous(struct timeline_cursor *cursor);
uint64_t timeline_event_count(struct timeline *tl); // all of the recording

// --- what a window shows of the whole recording, from SUMMARY
struct timeline_frame { uint64_t n, t, pause_ns, pages_written, torn; uint32_t space; int32_t pid; uint8_t why; };
const struct timeline_frame *timeline_frames(struct timeline *tl, size_t *count); // by t
// Landmarks other than frames: marks, gaps, governor, notes, threads, processes, signals; by t.
const struct vmv_event *timeline_landmarks(struct timeline *tl, size_t *count);

struct timeline_column { // one pixel column of one space
    uint64_t virtual_bytes;             // at its end
    uint32_t resident_low, resident_high; // pages
    uint32_t written;                   // pages: the largest number in one base bucket
    uint32_t ticks[VMV_TICK_COUNT];
    uint8_t tick_kinds[VMV_TICK_COUNT];
    uint32_t faults[VMV_KIND_COUNT];
    bool known; // false inside a gap or beyond the end
};
// Fills `count` columns that divide [from, to) evenly. Where a column is narrower than a base bucket, the real events
// are counted, so that ticks stand at their times.
void timeline_columns(struct timeline *tl, uint32_t space, uint64_t from, uint64_t to, struct timeline_column *columns, size_t count);
// Share of time running (0..1) of a thread per column; negative where not known or not alive.
void timeline_thread_columns(struct timeline *tl, int32_t tid, uint64_t from, uint64_t to, float *shares, size_t count);
// Resident and written pages of the mappings that begin in [start, end) per column, over the time given.
struct timeline_region_column { uint32_t resident, written; bool mapped; };
void timeline_region_columns(struct timeline *tl, uint32_t space, uint64_t start, uint64_t end, uint64_t from, uint64_t to,
                             struct timeline_region_column *columns, size_t count);

// --- places: "0xADDR", "map:NAME", "NAME" ("[heap]", a path or its last part), "sym:NAME" where symbols are known;
// with "+N" or "+0xN" behind: so many bytes further, from the first mapping of that name
// Finds in the world of the moment. False: no such place. *length: the size of the thing, 0 if it has none.
bool timeline_place(struct timeline *tl, uint32_t space, const char *text, uint64_t *addr, uint64_t *length);
// "1.25s 350ms 500us 1250000000ns frame:12 seq:N mark:NAME start end" -> ns, and the seq if it was given (else UINT64_MAX).
// False: `error` says what is wrong; *missing tells "no such frame or mark" from a malformed time.
bool timeline_time(struct timeline *tl, const char *text, uint64_t *t, uint64_t *seq, bool *missing, char *error, size_t error_size);

size_t timeline_memory(const struct timeline *tl); // bytes held now

#endif
