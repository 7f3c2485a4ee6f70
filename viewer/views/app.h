/* The state of the window: what is looked at, when, and how. One struct, owned by replay, handed to every view. Views
 * read it and answer the pointer through the functions below; commands (viewer/replay) use the same functions, so that
 * a key, a click and a script line do the same thing.
 *
 * Time is ns since the recording began, addresses and lengths are bytes, positions are logical pixels.
 */
#ifndef APP_H
#define APP_H

#include "decode.h"
#include "timeline.h"

#include "ui_anim.h"
#include "ui_command.h"
#include "ui_widget.h"

/* --- places --- */

enum app_place_kind {
    APP_PLACE_SPACE,   /* nothing selected: the whole space */
    APP_PLACE_GROUP,   /* an entry of the regions tree that holds several mappings: `group` */
    APP_PLACE_MAPPING, /* addr, len: that of the mapping when it was chosen; found again by addr */
    APP_PLACE_PAGE,    /* one page (small, or the whole huge one) */
    APP_PLACE_BYTES,   /* 1 byte or more */
    APP_PLACE_GAP      /* unmapped addresses between two mappings */
};

struct app_place {
    enum app_place_kind kind;
    uint64_t addr, len; /* SPACE: 0, 2^47 */
    uint64_t group;     /* GROUP: app_group.id */
};

/* Same thing, whatever its length was. */
bool app_place_equal(struct app_place a, struct app_place b);

/* --- map camera --- */

/* The main area of the map shows 2^bits bytes of what is not folded away, and the address `at` stands at `at_y` pixels
 * below its top (any double: it may lie outside). Zooming keeps both and moves bits; panning moves at_y; go-to sets
 * all. The look follows from bits alone: app_look(). */
struct app_camera {
    uint64_t at;
    struct ui_anim at_y;
    struct ui_anim bits; /* log2 of bytes shown: 47 the whole space .. 6 one cache line */
    int scroll;          /* space look: pixels scrolled off the top of the list of mappings */
};
#define APP_BITS_MAX 47.0
#define APP_BITS_MIN 6.0

enum app_look { APP_LOOK_SPACE, APP_LOOK_PAGES, APP_LOOK_BYTES };
#define APP_BITS_SPACE 28.0 /* from here on: space look */
#define APP_BITS_BYTES 14.0 /* below this: bytes look */

/* --- how things are shown --- */

enum app_colour {
    APP_COLOUR_KIND,
    APP_COLOUR_WRITTEN, /* write recency: enum app_recency */
    APP_COLOUR_RESIDENCY,
    APP_COLOUR_PROTECTION,
    APP_COLOUR_AGE, /* age of knowledge */
    APP_COLOUR_COUNT
};
const char *app_colour_name(enum app_colour colour); /* "write recency" */

enum app_tab { APP_TAB_DETAILS, APP_TAB_BYTES, APP_TAB_CODE, APP_TAB_THREADS, APP_TAB_COUNT };
const char *app_tab_name(enum app_tab tab);

enum app_panel { APP_PANEL_REGIONS, APP_PANEL_MAP, APP_PANEL_INSPECTOR, APP_PANEL_TIMELINE, APP_PANEL_COUNT };
const char *app_panel_name(enum app_panel panel);

/* What lies over the window. */
enum app_overlay { APP_OVERLAY_NONE, APP_OVERLAY_GOTO, APP_OVERLAY_PALETTE, APP_OVERLAY_HELP, APP_OVERLAY_PIDS };

/* --- mappings with names, of the space and moment shown --- */

#define APP_NAME_SIZE 96

struct app_mapping {
    const struct vmv_mapping *map; /* of the world of the moment */
    enum vmv_kind kind;
    bool guard;               /* no access, beside a thread's stack: a touch raises SIGSEGV */
    bool reserved;            /* no access, not a guard */
    int32_t tid;              /* stack: the thread whose SP lies in it, 0 when none is known */
    int group;                /* index into app_regions.group */
    char name[APP_NAME_SIZE]; /* everywhere: "sqlite3 r-x", "[heap]", "apply-0 stack" */
    char short_name[48];      /* inside of its group: "r-x +1000", "stack" */
    uint64_t resident;        /* pages, a huge one as its many small ones */
    uint64_t written;         /* pages seen written in the latest frame or after it, a huge one as one */
    uint64_t huge;            /* of written: huge pages */
    uint64_t known;           /* pages of which anything is known */
};

struct app_group {
    uint64_t id; /* stable over time: of its name */
    char name[APP_NAME_SIZE];
    enum vmv_kind kind;
    int first, count;                  /* in app_regions.order */
    bool single;                       /* one mapping with the same name: shown as one row */
    uint64_t bytes, resident, written; /* sums over its mappings */
};

struct app_regions {
    struct app_mapping *map; /* by address */
    size_t count;
    struct app_group *group; /* as listed */
    size_t group_count;
    int *order;                              /* indices into map, group by group */
    uint64_t bytes, resident, written, huge; /* totals */
    struct app_ages *ages; /* of the last writes, of pages not written in this frame; for the bounds of recency */
    bool valid;            /* private: made for the moment */
};

/* --- how certain the moment is: counts of pages, over the whole space --- */

struct app_census {
    uint64_t exact, stale, torn, unknown; /* of resident pages, by timeline_page() */
    bool complete;                        /* false: still counting, the numbers are lower bounds */
};

/* --- write recency: see views.h --- */

struct view_recency {
    uint64_t frame_t;  /* pages written at or after it are "now"; 0: no frame yet */
    uint64_t bound[3]; /* ns before the moment, rising */
};

/* --- searches that go on over several pictures --- */

struct app_search; /* app_search.h */

/* --- places and times one has been to --- */

struct app_visit {
    struct app_place selection;
    struct app_camera camera;
    enum app_tab tab;
};
#define APP_VISITS 64

struct app_bookmarks { /* by time; of this session */
    uint64_t *t;
    size_t count, room;
};

/* --- the struct --- */

struct app {
    /* the recording; owned by replay, as is everything it needs from outside */
    struct timeline *tl;
    struct decode *decode;         /* over tl */
    const struct vmv_world *world; /* of the moment; renewed by app_seek */
    struct ui_commands commands;
    const char *trace_name; /* last part of the file's path */

    /* input and drawing */
    struct ui_context ui;
    struct ui_draw *draw; /* of this frame; equals ui.draw */
    int width, height;
    double now_ms; /* clock of animations and of playing */
    bool motion;   /* false: every animation takes 0 ms */
    bool patient;  /* scripts and pictures: searches and counts are finished within the frame */
    bool redraw;   /* another frame is needed at once: a search goes on, hover moved, ... */
    bool quit;
    char message[UI_ERROR_SIZE]; /* shown in the status line until the next key or press */
    bool message_bad;

    /* when */
    uint64_t duration;
    uint64_t t;      /* the moment shown */
    uint64_t seq;    /* set with seek_seq, else UINT64_MAX */
    uint64_t moment; /* counts changes of time, process and space: caches compare it */
    bool playing;
    int direction;                     /* +1, -1 */
    double speed;                      /* recorded seconds per second */
    double play_ms;                    /* clock at which `play_t` was the moment */
    double play_t;                     /* ns */
    struct ui_anim view_from, view_to; /* ns: what the timeline shows */
    bool span_set;                     /* a span of time is selected */
    uint64_t span_from, span_to, span_anchor;
    struct app_bookmarks bookmarks;

    /* where */
    int32_t pid;
    const struct vmv_space *space; /* of pid at the moment; NULL: it has none */
    uint32_t space_id;             /* 0: none */
    struct app_place selection;
    struct app_camera camera;
    struct app_visit visit[APP_VISITS];
    int visits;

    /* what is under the pointer: set while drawing, valid for the next frame, in every panel */
    struct app_place hover;
    bool hover_set;
    uint64_t hover_t;
    bool hover_t_set;
    struct app_place hover_next; /* private: see app_hover_place */
    bool hover_next_set;
    uint64_t hover_t_next;
    bool hover_t_next_set;

    /* how */
    enum app_panel focus;
    enum app_tab tab;
    enum app_colour colour;
    bool gaps_collapsed;
    enum app_overlay overlay;
    bool regions_over, inspector_over;                   /* shown as overlays in narrow windows */
    int regions_width, inspector_width, timeline_height; /* as dragged; 0: as the layout has it */
    struct app_place regions_seen;                       /* private: the selection that the list was scrolled to */
    bool span_dragging, time_panning;                    /* private: the timeline is being dragged */
    int inspector_height, help_height;                   /* of their contents, as drawn last */
    int threads_first;                                   /* timeline: thread lanes scrolled off */
    struct ui_scroll regions_scroll, inspector_scroll, help_scroll, palette_scroll;
    struct {
        uint64_t *id; /* folded groups, unsorted */
        size_t count, room;
    } folded;

    /* input lines */
    struct ui_text_input goto_input, palette_input;
    char goto_error[UI_ERROR_SIZE];
    int palette_chosen;
    int32_t tid; /* thread shown in the Threads tab; 0: the first */

    /* derived; private to the files that make them */
    struct app_regions regions;
    struct app_census census;
    struct app_census_walk *census_walk;
    struct view_recency recency;
    uint64_t recency_moment;
    struct app_search **searches;
    size_t search_count, search_room;
    uint64_t search_clock;           /* frames begun */
    double budget_ns;                /* app_search.h: the monotonic clock at which this frame's share is used up */
    struct app_curves *curves;       /* columns of the timeline and sparklines */
    struct app_history *history;     /* of pid: its spaces, frames and threads over time */
    struct app_map_cache *map_cache; /* of the map's views; freed with view_map_free() */
};

/* Everything as at the start: time 0, first process, whole space. tl stays the caller's. false: out of memory. */
bool app_init(struct app *app, struct timeline *tl);
void app_free(struct app *app);

/* --- time --- */

/* Go to t (held within the recording). Renews world, space, regions. Stops nothing: playing goes on from there. */
void app_seek(struct app *app, uint64_t t);
void app_seek_last_frame(struct app *app); /* or to the end, where the process has no frame */
void app_seek_seq(struct app *app, uint64_t seq, uint64_t t);
/* The first moment at which the process has memory: its first frame if that is of its exec. */
uint64_t app_first_moment(const struct app *app);
/* Its last frame; without one, the last moment at which it has memory. */
uint64_t app_last_moment(const struct app *app);
/* It has memory at the moment shown. */
bool app_alive(const struct app *app);
/* "1.25s", "frame:12", "start" and "end" of the process, ...: false with the reason in error (UI_ERROR_SIZE). */
bool app_seek_text(struct app *app, const char *text, char *error);
/* The frame shown: the latest at or before the moment, of the space shown; NULL: none yet. *count: frames of it. */
const struct timeline_frame *app_frame(const struct app *app);
/* The frame before or after the moment (step -1, +1), of the space shown. */
bool app_step_frame(struct app *app, int step);
/* Start of what "this frame" covers, its end being the moment of app_frame: (from, to]. false: no frame. */
bool app_frame_interval(const struct app *app, uint64_t *from, uint64_t *to);

void app_play(struct app *app, int direction); /* 0: pause */
void app_set_speed(struct app *app, double speed);
/* Advance playing to now_ms; true when the moment changed. */
bool app_play_tick(struct app *app);

/* The part of the recording that the timeline shows now, ns; from < to. */
void app_view_range(const struct app *app, double *from, double *to);
void app_view_show(struct app *app, double from, double to, double ms);
/* Move what it shows, as little as needed, so that the moment lies within. */
void app_view_follow(struct app *app);

/* --- place --- */

/* Show the process; false: no such process in the recording. Where it is not alive, see app_visit_pid. */
bool app_set_pid(struct app *app, int32_t pid);
/* Show the process, and go to its last frame if it has no memory at the moment: that is said in the status line. */
bool app_visit_pid(struct app *app, int32_t pid);
/* Select; does not move the camera. Clears nothing else. */
void app_select(struct app *app, struct app_place place);
/* Select and bring into view, remembering where one was. */
void app_goto(struct app *app, struct app_place place);
/* Bring the selection into view. */
void app_fit(struct app *app);
/* "0xADDR", "[heap]", "@1.5s", ...: false with the reason in error (UI_ERROR_SIZE). */
bool app_goto_text(struct app *app, const char *text, char *error);
/* Back to the last visit; false: at the beginning. */
bool app_back(struct app *app);
void app_remember(struct app *app);

struct app_place app_place_space(void);
struct app_place app_place_mapping(const struct app_mapping *mapping);
struct app_place app_place_bytes(uint64_t addr, uint64_t len);
/* The page that holds addr: 4 KiB (page_size), or all of a huge one. */
struct app_place app_place_page(const struct app *app, uint64_t addr);
/* Where the thing lies now: a mapping that grew is larger than when it was selected. false: not mapped now. */
bool app_place_range(const struct app *app, struct app_place place, uint64_t *start, uint64_t *end);

/* Set the camera so that [start, end) fills the main area, within ms (0: at once; motion off: at once). */
void app_camera_show(struct app *app, uint64_t start, uint64_t end, double ms);
/* Zoom so that 2^bits bytes are shown, keeping the address `at` at at_y pixels below the top of the main area. */
void app_camera_zoom(struct app *app, double bits, uint64_t at, double at_y, double ms);
double app_camera_bits(const struct app *app);
enum app_look app_look(const struct app *app);
/* Milliseconds for an animation: 0 with motion off. */
double app_ms(const struct app *app, double ms);

/* --- hover: called by a view while drawing --- */
void app_hover_place(struct app *app, struct app_place place);
void app_hover_time(struct app *app, uint64_t t);
/* The hovered thing lies within / covers [start, end): for lists and overviews. */
bool app_hovers(const struct app *app, uint64_t start, uint64_t end);
bool app_selects(const struct app *app, uint64_t start, uint64_t end);

/* --- derived --- */

/* Renewed when time, space or mappings changed. Never NULL; empty when the process has no space. */
const struct app_regions *app_regions(struct app *app);
/* The mapping that holds addr; NULL if none. */
const struct app_mapping *app_mapping_at(struct app *app, uint64_t addr);
/* First mapping that ends after addr: index, or count. */
size_t app_mapping_lower(struct app *app, uint64_t addr);
const struct app_group *app_group_find(struct app *app, uint64_t id);
bool app_group_folded(const struct app *app, uint64_t id);
void app_group_fold(struct app *app, uint64_t id, bool folded);

/* Pages by certainty at the moment; counts on until complete. */
struct app_census app_census(struct app *app);

/* One line shown in the status line. */
void app_say(struct app *app, bool bad, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* --- one frame --- */

/* Draw the window (layout, all views, overlays) into app->draw; ui_context_begin and _end are called here. */
void app_draw(struct app *app, struct ui_draw *draw, double now_ms);
/* When the next frame is due: 0 at once, < 0 only after input, else ms to wait (a card, playing). */
double app_next_frame(const struct app *app);
#endif
