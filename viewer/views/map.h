/* What the files of the map share: what it remembers from picture to picture, and one picture while it is drawn. Only
 * files of the map include it. Rectangles are logical pixels of the window. */
#ifndef MAP_H
#define MAP_H

#include "map_flow.h"
#include "map_list.h"
#include "ui_format.h"
#include "views.h"

/* --- what the map remembers ------------------------------------------------------------------------------------------
 */

/* Where the pointer was when the camera was last set by the map: with it, the address stays under the pointer whatever
 * the look. Without it (the shell set the camera) rows begin at multiples of their length. */
struct map_anchor {
    bool set;
    uint64_t at; /* copy of the camera's, to notice that somebody else set it */
    double at_y;
    int x, y;      /* pixels from the upper left of the main area */
    double share;  /* of the item's height above the pointer, 0 .. 1 */
    double window; /* of the scale strip's height above `at`, 0 .. 1 */
};

struct map_page { /* one page as drawn */
    ui_color color;
    uint8_t pattern; /* enum ui_pattern */
    int8_t strength;
    int8_t step;   /* of write recency, -1: not written */
    uint8_t flags; /* enum map_page_flag */
};
enum map_page_flag { MAP_PAGE_MAPPED = 1, MAP_PAGE_HUGE = 2, MAP_PAGE_TOUCHED = 4 };

enum { MAP_BLOCK_BITS = 6, MAP_BLOCK_PAGES = 1 << MAP_BLOCK_BITS };
struct map_block {   /* pages side by side */
    uint64_t number; /* of the first page >> MAP_BLOCK_BITS */
    struct map_page page[MAP_BLOCK_PAGES];
};
struct map_pages {   /* pages asked for, of one moment and colouring */
    uint64_t moment; /* app->moment + 1; 0: none */
    enum app_colour colour;
    struct map_block *block;
    size_t count, block_room;
    uint32_t *slot;        /* by hash of the number: index + 1 into block; 0: free */
    size_t room;           /* a power of two */
    uint64_t huge;         /* the huge page asked for last, + 1; 0: none */
    uint64_t huge_written; /* ns: the last write seen in any part of it */
};

struct map_bar { /* residency along a mapping's bar, or several's */
    uint64_t start, end;
    int width;
    struct map_bar_column *column; /* width of them */
};
struct map_bar_column {
    ui_color color;
    uint8_t full;    /* 255: all pages resident, 0: none */
    uint8_t unknown; /* 1: nothing is known of its pages */
    uint8_t huge;
    int8_t step; /* of write recency of the strongest page */
};
struct map_bars {
    uint64_t moment;
    enum app_colour colour;
    struct map_bar *bar;
    size_t count, room;
};

enum { MAP_LINE = 64, MAP_LINES = 64, MAP_SHEET = MAP_LINE * MAP_LINES }; /* bytes of a cache line, and of a sheet */

struct map_sheet {   /* 64 lines of bytes: a page, or a part of a larger one */
    uint64_t moment; /* app->moment + 1; 0: not read */
    uint64_t addr;
    size_t size;
    uint8_t *byte, *kind, *pattern, *target; /* enum map_byte, enum ui_pattern (COUNT: not mapped), enum vmv_kind */
    uint64_t captured;                       /* ns, and the certainty, of the first bytes known */
    enum vmv_certainty certainty;
    bool changes_asked; /* what changed in this frame was looked up */
};
/* Kinds of bytes; CHANGED is added to one of the others. */
enum map_byte {
    MAP_BYTE_UNKNOWN,
    MAP_BYTE_ZERO,
    MAP_BYTE_VALUE,
    MAP_BYTE_TEXT,
    MAP_BYTE_POINTER,
    MAP_BYTE_CHANGED = 8
};
enum { MAP_SHEETS = 4 };

/* Geometry of the look of bytes that zooming needs to know: where the lens' bytes begin, from the main area's left. */
enum { MAP_BYTES_WIDE = 690, MAP_HEX_X = 354, MAP_HEX_X_NARROW = 92, MAP_PAGE_GAP = 2 };

struct map_lens_row {
    uint64_t addr;
    int y; /* of the main area */
};

/* What was drawn, for questions between pictures. */
struct map_drawn {
    bool valid;
    enum app_look look;
    struct ui_rect main;
    struct ui_rect cells; /* PAGES: the cells; SPACE: the list; BYTES: the page */
    struct map_grid grid;
    struct ui_rect strip;
    struct map_window window;
    int bar_x; /* SPACE: where bars begin */
    double bar_step;
    uint64_t page;       /* BYTES: start of the page beside the lens */
    struct ui_rect lens; /* BYTES: the hex bytes */
    struct map_lens_row row[96];
    int row_count, pitch;
    int line_h, text_x;
};

struct app_map_cache {
    bool hilbert;
    struct map_anchor anchor;
    struct map_flow flow;
    struct map_list list;
    struct map_pages pages;
    struct map_bars bars;
    struct map_sheet sheet[MAP_SHEETS];
    unsigned sheet_next;
    struct map_drawn drawn;
    struct ui_anim fade; /* of a change of row length */
    unsigned fade_bits;
};

/* --- one picture -----------------------------------------------------------------------------------------------------
 */

/* What is on screen, for the legend: bits. */
struct map_seen {
    unsigned kinds;             /* 1 << enum vmv_kind */
    unsigned steps;             /* 1 << (step + 1) */
    unsigned patterns;          /* 1 << enum ui_pattern */
    unsigned bytes;             /* 1 << enum map_byte */
    unsigned protections;       /* 1 << (flags & 7) */
    unsigned ages;              /* 1 << index of the colour in map_age_color() */
    bool huge, markers, dimmed; /* dimmed: bars where nothing is resident */
};

enum map_marker_what { MAP_MARKER_PC, MAP_MARKER_SP, MAP_MARKER_FP };
struct map_marker { /* where a thread is */
    uint64_t addr;
    int what; /* enum map_marker_what */
    const struct vmv_thread *thread;
};

struct map_hit { /* what lies under a point */
    bool found;  /* addr and share are known: zooming goes by them */
    bool set;    /* there is a thing: place and rect */
    uint64_t addr;
    struct app_place place;
    struct ui_rect rect; /* of the thing, for the hover box */
    double share;        /* of its item's height above the point */
    bool strip;          /* over the scale strip */
};

struct map_frame {
    struct app *app;
    struct app_map_cache *cache;
    const struct view_layout *layout;
    struct ui_draw *draw;
    struct ui_rect panel, main, legend;
    double bits;
    struct map_seen seen;
    struct map_marker *marker; /* by address */
    size_t marker_count;
};

/* --- map_view.c ------------------------------------------------------------------------------------------------------
 */

/* Colours of the age of knowledge, from new to old: ink, dim, faint, ghost. */
#define MAP_AGES 4
ui_color map_age_color(int age);
/* Notes for the legend that a page or part of a bar was drawn in its colour. */
void map_seen_color(struct map_frame *frame, const struct app_mapping *mapping, ui_color color, int step);
/* The cache of app, made when needed; NULL: out of memory. */
struct app_map_cache *map_cache(struct app *app);
uint32_t map_page_size(const struct app *app);
/* "16 TiB" where it is whole, else as all sizes. */
void map_format_size(char *out, size_t size, uint64_t bytes);
/* The mapping's name without its protection, which stands in a column of its own. */
void map_plain_name(const struct app_mapping *mapping, char *out, size_t size);

/* --- map_markers.c ---------------------------------------------------------------------------------------------------
 */

void map_markers_find(struct map_frame *frame);
/* Index of the first marker at or after addr. */
size_t map_markers_lower(const struct map_frame *frame, uint64_t addr);
const char *map_marker_word(const struct map_marker *marker); /* "pc" */
/* The sign: filled for PC, hollow for SP, a hollow square for FP; 6 x 9 at x, y. */
void map_marker_sign(struct ui_draw *draw, int x, int y, const struct map_marker *marker);

/* --- map_pages.c: pages as drawn, and where there are any
 * -------------------------------------------------------------- */

/* The page that holds addr; flags 0: nothing is mapped there. It lives until the next call. */
const struct map_page *map_page_at(struct map_frame *frame, uint64_t addr);
/* Of two pages in one cell the stronger is shown; flags are those of both. Pure. */
void map_page_merge(struct map_page *into, const struct map_page *page);
/* The strongest of the pages in [start, end), which may reach over several mappings. false: nothing is mapped there.
 * *mapping: whose page it is. */
bool map_pages_strongest(struct map_frame *frame, uint64_t start, uint64_t end, struct map_page *page,
                         const struct app_mapping **mapping);
void map_pages_free(struct map_pages *pages);
struct map_source map_pages_source(struct map_frame *frame);

/* --- the looks
 * --------------------------------------------------------------------------------------------------------- */

void map_space_draw(struct map_frame *frame);
void map_rows_draw(struct map_frame *frame);
void map_bytes_draw(struct map_frame *frame);
void map_ladder_draw(struct map_frame *frame);
void map_legend_draw(struct map_frame *frame);
void map_card_draw(struct map_frame *frame, const struct map_hit *hit);

/* --- map_bars.c
 * -------------------------------------------------------------------------------------------------------- */

/* Draws the bar of mappings first .. first + count in rect. */
void map_bar_draw(struct map_frame *frame, size_t first, size_t count, struct ui_rect rect);
void map_bars_free(struct map_bars *bars);

/* --- map_sheet.c: bytes
 * ------------------------------------------------------------------------------------------------- */

/* The sheet that holds addr, read and sorted; it lives until MAP_SHEETS others were asked for. NULL: no memory. */
const struct map_sheet *map_sheet_at(struct map_frame *frame, uint64_t addr);
void map_sheets_free(struct app_map_cache *cache);

/* --- map_hit.c, map_input.c
 * ---------------------------------------------------------------------------------------------- */

struct map_hit map_hit_at(struct app *app, int x, int y);
/* Rectangle of addr .. addr + len as last drawn; false: not visible. _rect: of the first cell or row of it. */
bool map_hit_rect(struct app *app, uint64_t addr, uint64_t len, struct ui_rect *rect);
bool map_hit_range(struct app *app, uint64_t addr, uint64_t len, struct ui_rect *rect);
/* Pixels from the lens' first byte to another one of its row. */
int map_lens_x(int column);
/* Bits after `steps` of the wheel inwards. Pure. */
double map_zoom_bits(double bits, double steps);
void map_input(struct map_frame *frame);
/* Before drawing: whether the camera is the map's own, with the anchor. */
const struct map_anchor *map_anchor_now(struct map_frame *frame);
/* Set camera and anchor: addr stands at x, y of the main area. */
void map_anchor_set(struct app *app, uint64_t addr, int x, int y, double share, double window);

#endif
