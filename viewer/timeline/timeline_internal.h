// What the files of the timeline share among themselves. Nobody else includes it.
#ifndef VMV_TIMELINE_INTERNAL_H
#define VMV_TIMELINE_INTERNAL_H

#include "timeline.h"

// --- chunks.c: where the chunks lie, and the decoded EVENTS chunks
struct events_chunk {
    const struct vmv_chunk *chunk;
    uint64_t types[2]; // bit set over enum vmv_event_type of what is inside, once types_known
    bool types_known;
};
struct chunk_table { // pointers into the reader's table, in file order
    struct events_chunk *events;
    size_t event_count;
    const struct vmv_chunk **states, **summaries;
    size_t state_count, summary_count;
};
struct decoded {  // the events of one EVENTS chunk
    size_t index; // in chunk_table.events
    struct vmv_arena arena;
    struct vmv_event *events;
    size_t count, bytes;
    uint64_t used; // clock of the last use
    unsigned pins; // users; a pinned one is never thrown out
};
struct decoded_cache {
    struct decoded **entries;
    size_t count, room, bytes;
    uint64_t clock;
};
void chunk_table_build(struct timeline *tl);
void chunk_table_free(struct chunk_table *table);
// The last EVENTS chunk that begins at or before t / seq; SIZE_MAX if none does.
size_t chunk_at_time(const struct timeline *tl, uint64_t t);
size_t chunk_at_seq(const struct timeline *tl, uint64_t seq);
uint64_t chunk_end_seq(const struct timeline *tl, size_t index); // number after its last event
const uint64_t *chunk_types(struct timeline *tl, size_t index);  // two words
// NULL if the chunk is damaged (trouble is set). Give back with decoded_put().
struct decoded *decoded_get(struct timeline *tl, size_t index);
void decoded_put(struct timeline *tl, struct decoded *decoded); // accepts NULL
void decoded_cache_trim(struct timeline *tl, size_t bytes);
void decoded_cache_free(struct timeline *tl);

// --- walk.c: the events of a chunk one by one
struct payload {  // the inflated events of one chunk
    size_t index; // in chunk_table.events
    uint8_t *data;
    size_t length;
    uint64_t used; // clock of the last use
    unsigned pins;
};
struct payload_cache {
    struct payload **entries;
    size_t count, room, bytes;
    uint64_t clock;
};
enum { WALK_BATCH = 16 };
struct event_walk {
    struct timeline *tl;
    const struct vmv_chunk *chunk;
    struct payload *payload; // pinned
    struct vmv_in in;
    struct vmv_codec codec;
    struct vmv_arena arena; // of the event at hand
    struct vmv_event events[WALK_BATCH];
    uint64_t seq, left;
};
bool walk_begin(struct timeline *tl, struct event_walk *walk, size_t index); // false: damaged (trouble is set)
const struct vmv_event *walk_next(struct event_walk *walk); // lives until the next call; NULL at the end
const struct vmv_event *walk_batch(struct event_walk *walk, size_t *count); // several at once, as walk_next
void walk_end(struct event_walk *walk);                                     // also after a begin that failed
void payload_cache_trim(struct payload_cache *cache, size_t bytes);
void payload_cache_free(struct payload_cache *cache);

// --- seek.c: worlds at a moment
enum { WORLD_MEMORY = 768 << 20 }; // bytes that a world and its copies may take; pages beyond are unknown
typedef void replay_visit(void *user, const struct vmv_world *world, const struct vmv_event *event);
struct replay_hooks {             // each may be NULL
    replay_visit *before, *after; // the event is applied to the world
    void *user;
    struct undo *undo; // notes how to take the events back
};
// A world before event `seq`, from the newest STATE; the caller destroys it. *seq_out: where it really stands.
struct vmv_world *world_before(struct timeline *tl, uint64_t seq, uint64_t *seq_out);
// Applies the events [from, to) to the world. hooks may be NULL.
void world_replay(struct timeline *tl, struct vmv_world *world, uint64_t from, uint64_t to,
                  const struct replay_hooks *hooks);
uint64_t seq_after_time(struct timeline *tl, uint64_t t); // number of the first event later than t
uint64_t time_of_seq(struct timeline *tl, uint64_t seq);  // ns of event `seq`, UINT64_MAX if it cannot be read
uint64_t seq_end(const struct timeline *tl);

// How many STATEs stand before or at event `seq`.
size_t state_before(const struct timeline *tl, uint64_t seq);

enum { KEEP_EVENTS = 8192 }; // between copies that are kept, at least

// --- worlds.c: the world at hand and those kept for coming back
enum { TROUBLE_SIZE = 160 };
struct standing {
    struct vmv_world *world;
    uint64_t seq;               // of the next event
    uint64_t base;              // seq of the STATE that it and its relatives came from
    uint64_t used;              // clock of the last use
    char trouble[TROUBLE_SIZE]; // what of its past could not be read
};
struct kept_worlds {
    struct standing *list; // by seq
    size_t count, room;
    uint64_t clock;
};
// Makes tl->at a world at or before `goal` from which it is cheapest to go there. True: it was read from a STATE.
bool worlds_approach(struct timeline *tl, uint64_t goal);
// A world of the caller's own at or before `goal`, the one from which it is cheapest to go there.
struct standing worlds_borrow(struct timeline *tl, uint64_t goal);
void worlds_keep(struct timeline *tl, const struct standing *standing); // keeps a copy
void worlds_trim(struct timeline *tl);                                  // to their share of the budget
size_t worlds_memory(const struct timeline *tl);
void worlds_free(struct kept_worlds *kept);

// --- undo.c: how to take events back
struct undo_event {
    uint64_t seq, world_seq, t; // its own; those of the world before it
    uint64_t frame, frame_t;    // FRAME: the space's last one before it
    uint32_t space, pages;      // pages: how many of undo.pages are its
    uint8_t type;
};
struct undo_page {
    uint64_t page; // number
    struct vmv_page old;
};
struct undo {      // all three are stacks
    uint64_t from; // seq; the world can go back to there
    struct undo_event *events;
    struct undo_page *pages;
    struct vmv_thread *threads;
    size_t event_count, event_room, page_count, page_room, thread_count, thread_room;
};
void undo_reset(struct undo *undo, uint64_t seq); // forgets all; the world stands before event `seq`
void undo_apply(struct undo *undo, struct vmv_world *world, const struct vmv_event *event);
bool undo_to(struct undo *undo, struct vmv_world *world, uint64_t seq); // false, and nothing done, if not noted so far
size_t undo_memory(const struct undo *undo);
void undo_free(struct undo *undo);

// --- prepare.c: the stretch of events before those that can be taken back, made ready while going backwards
struct preparing {
    uint64_t base, until;          // seq; until UINT64_MAX: nothing is being prepared
    const struct vmv_chunk *state; // NULL: the stretch begins with the recording
    uint8_t *payload;              // inflated, not decoded yet
    size_t length;
    struct standing standing;
    struct undo undo;
    uint64_t kept; // seq of the last copy kept
    bool done;
};
void prepare_step(struct timeline *tl);                // does a few milliseconds of it
bool prepare_take(struct timeline *tl, uint64_t goal); // makes it the world at hand if that helps to get to `goal`
void prepare_cancel(struct timeline *tl);

// --- id_map.c: numbers (spaces, threads) to places in an array
struct id_map {
    struct id_slot {
        uint32_t id;
        size_t place; // + 1; 0: free
    } * slots;
    size_t room, count;
};
size_t id_map_get(const struct id_map *map, uint32_t id); // SIZE_MAX: none
void id_map_put(struct id_map *map, uint32_t id, size_t place);
void id_map_free(struct id_map *map);

// --- curves.c: SUMMARY chunks in memory; also finer spans made from events (detail.c)
struct curve_node {           // one span of one address space
    uint64_t index;           // its number on its level
    uint64_t virtual_bytes;   // at its end
    uint32_t low, high, last; // resident pages
    uint32_t written;         // pages: the largest number in one base span
    uint32_t ticks[VMV_TICK_COUNT];
    uint32_t faults[VMV_KIND_COUNT];
    uint8_t tick_kinds[VMV_TICK_COUNT];
};
enum { CURVE_LEVELS = 28, REGION_BLOCK = 64 };
struct curve_level {
    struct curve_node *nodes; // by index
    size_t count, room;
    unsigned shift; // a node covers 2^shift of the level below
};
struct region_point { // a mapping in one span in which it changed
    uint64_t start, end, index;
    uint32_t resident, written;
};
struct space_curve {
    uint32_t space;
    struct curve_level levels[CURVE_LEVELS]; // level 0: as recorded; higher ones are coarser
    unsigned level_count;                    // 1 until pyramid_build()
    struct region_point *regions;            // by start, then index
    size_t region_count, region_room;
    uint32_t *region_peak; // resident and written maxima of each REGION_BLOCK points
};
struct thread_point {
    uint64_t index;
    uint64_t run_ns; // in all spans up to and including this one, once finished
};
struct thread_curve {
    int32_t tid;
    struct thread_point *points; // by index
    size_t count, room;
};
struct curves {
    uint64_t origin; // ns, where span 0 begins
    unsigned shift;  // a span is 2^shift ns
    struct id_map space_places, thread_places;
    struct space_curve *spaces;
    size_t space_count, space_room;
    struct thread_curve *threads;
    size_t thread_count, thread_room;
    size_t bytes;
};
void curves_add(struct curves *curves, const struct vmv_summary *summary); // in order of time
void curves_finish(struct curves *curves);                                 // sorts; call once, after all
void curves_free(struct curves *curves);
struct space_curve *curves_space(const struct curves *curves, uint32_t space); // NULL if none
struct space_curve *curves_make_space(struct curves *curves, uint32_t space);  // makes it if there is none
struct thread_curve *curves_thread(const struct curves *curves, int32_t tid);  // NULL if none
uint64_t curves_span(const struct curves *curves, uint64_t t);                 // the span that holds t
uint64_t curves_span_up(const struct curves *curves, uint64_t t); // the first span that begins at or after t

// --- regions.c
void regions_add(struct space_curve *curve, const struct vmv_bucket *bucket);
void regions_finish(struct space_curve *curve); // finds where mappings ended, and sorts

// --- pyramid.c
void pyramid_build(struct space_curve *curve);
// Merges the nodes of [from, to) on level 0 into *sum (zeroed by the caller but for low and high).
void pyramid_sum(const struct space_curve *curve, uint64_t from, uint64_t to, struct curve_node *sum);
const struct curve_node *pyramid_before(const struct space_curve *curve,
                                        uint64_t index); // the last with a smaller index
void curve_node_merge(struct curve_node *into, const struct curve_node *later);

// --- columns.c
uint64_t timeline_border(uint64_t from, uint64_t to, size_t i, size_t count); // where column i of `count` begins, ns

// --- landmarks.c: frames and other landmarks of the whole recording
struct space_gap {
    uint64_t from, to; // ns
    uint64_t reach;    // the furthest end of the gaps up to this one
    uint32_t space;    // 0: all
};
struct thread_life {
    uint64_t from, to; // ns; to UINT64_MAX: until the end
};
struct landmarks {
    struct timeline_frame *frames, **by_space; // by time; by space and time
    size_t frame_count, frame_room;
    struct vmv_event *events; // without argv
    size_t event_count, event_room;
    struct space_gap *gaps; // by beginning
    size_t gap_count, gap_room;
    struct thread_life *lives;
    size_t life_count, life_room;
    struct id_map life_places;
    struct vmv_arena arena;
};
void landmarks_add(struct landmarks *marks, const struct vmv_event *events, size_t count);
void landmarks_finish(struct landmarks *marks); // puts all in order; call once, after all
void landmarks_free(struct landmarks *marks);
// The first frame of `space` after t / the last at or before t; NULL if none.
const struct timeline_frame *landmarks_frame_after(const struct landmarks *marks, uint32_t space, uint64_t t);
const struct timeline_frame *landmarks_frame_before(const struct landmarks *marks, uint32_t space, uint64_t t);
// The first gap of `space` that overlaps [from, to), or the next one after `after`; NULL if none.
const struct space_gap *landmarks_gap(const struct landmarks *marks, uint32_t space, uint64_t from, uint64_t to,
                                      const struct space_gap *after);
struct thread_life landmarks_life(const struct landmarks *marks, int32_t tid);

// --- overview.c: loads both, once
struct overview {
    bool loaded;
    struct curves curves;
    struct landmarks marks;
};
const struct overview *overview_get(struct timeline *tl);

// --- detail.c: spans finer than SUMMARY's, for a part of the recording
struct detail {
    bool valid;
    uint64_t from, to; // ns
    struct curves curves;
};
// Curves whose spans are at most `width` ns and that cover [from, to); NULL if that would take too many events.
const struct curves *detail_get(struct timeline *tl, uint64_t from, uint64_t to, uint64_t width);

// --- ahead.c: what is said of a space's pages between two of its frames
enum ahead_word {
    AHEAD_NOTHING,   // no later word
    AHEAD_UNCHANGED, // the next frame says: not written since the moment
    AHEAD_LATER,     // it was first written (or touched) after the moment, at answer.t
    AHEAD_CHANGED,   // written before the next frame, nobody knows when
};
struct ahead_answer {
    enum ahead_word word;
    uint64_t t;           // ns, of the fault or frame that says so
    bool listed;          // the next frame speaks of the page
    uint8_t state, flags; // what it says
    uint64_t first_fault; // ns, first fault on the page since the frame before the moment and before it; 0: none
};
struct ahead_run {
    uint64_t start, end, reach;
    uint8_t state, flags;
}; // reach: the furthest end up to here
struct ahead_fault {
    uint64_t start, seq, t; // start of the page, or of the huge page
};
struct ahead_drop {
    uint64_t start, end, seq;
};
enum { AHEAD_KEPT = 8, AHEAD_SIZES = 4 };
struct ahead {
    uint32_t space;    // 0: unused
    uint64_t from;     // seq: after the frame before
    uint64_t now_from; // ns: holds for moments from here up to frame_t
    bool frame;        // the next frame is whole
    uint64_t frame_t;  // ns; UINT64_MAX: there is no next frame
    struct ahead_run *runs;
    size_t run_count, run_room;
    struct ahead_fault *faults;
    size_t fault_count, fault_room;
    uint64_t fault_sizes[AHEAD_SIZES]; // bytes; sizes of pages that faulted, 0: none
    struct ahead_drop *drops;
    size_t drop_count, drop_room;
    uint64_t used;
};
struct ahead_answer ahead_ask(struct timeline *tl, const struct vmv_space *space, uint64_t addr);
// What ahead_ask() says of every page of [addr, addr + 512 pages) but those set in `spoken`, a bit for each.
enum { AHEAD_STRETCH = 512 };
struct ahead_answer ahead_ask_rest(struct timeline *tl, const struct vmv_space *space, uint64_t addr,
                                   uint64_t spoken[AHEAD_STRETCH / 64]);
void ahead_free(struct ahead *ahead);

// --- judge.c: where a page's bytes come from and how certain they are
struct verdict {
    bool known;
    enum vmv_certainty certainty;
    uint64_t captured, may_have_changed; // ns
    uint64_t content;                    // when from TIMELINE_FROM_CAPTURE
    int from;                            // TIMELINE_FROM_*
    enum vmv_page_state state;
};
struct verdict judge_page(struct timeline *tl, const struct vmv_space *space, const struct vmv_mapping *map,
                          uint64_t addr);
// The certainty of kept pages (vmv_page_kept) that were captured in [low, high], of all of which `answer` holds.
// False: it has to be asked page by page.
bool judge_kept(struct timeline *tl, const struct vmv_space *space, const struct vmv_mapping *map, uint64_t low,
                uint64_t high, const struct ahead_answer *answer, enum vmv_certainty *certainty);

// --- filter.c
bool filter_has_type(const struct timeline_filter *filter, enum vmv_event_type type);
bool filter_match(const struct timeline *tl, const struct timeline_filter *filter, const struct vmv_event *event);
bool filter_match_chunk(struct timeline *tl, const struct timeline_filter *filter, size_t index);
struct event_span {
    uint64_t start, end;
};
// The address ranges an event concerns; returns how many (0..2).
int event_spans(const struct vmv_event *event, uint32_t page_size, struct event_span spans[2]);

struct timeline {
    struct vmv_reader *reader;
    uint64_t duration; // ns
    uint32_t page_size;
    bool faults_recorded; // the source records every first touch
    size_t budget;
    struct chunk_table chunks;
    struct decoded_cache cache;
    struct payload_cache payloads;
    struct standing at; // the moment sought
    struct kept_worlds kept;
    struct undo undo; // of the world at hand
    struct preparing preparing;
    uint64_t now;
    struct overview overview;
    struct detail detail;
    struct ahead ahead[AHEAD_KEPT];
    uint64_t ahead_clock;
    char trouble[TROUBLE_SIZE];
};
void timeline_note_trouble(struct timeline *tl, const char *text); // keeps the first since the last seek

// Grows an array to hold one more; aborts when the machine is out of memory.
void *timeline_grow(void *array, size_t count, size_t *room, size_t element);

#endif
