/* The look of the space: the scale strip's window on the addresses, and the list of mappings beside it, with the gaps
 * between them. Pure arithmetic over the mappings of the moment. */
#ifndef MAP_LIST_H
#define MAP_LIST_H

#include "app.h"

/* --- the strip -----------------------------------------------------------------------------------------------------
 */

#define MAP_SPACE_BITS 47
#define MAP_SPACE_END (1ull << MAP_SPACE_BITS)

struct map_window { /* bytes from .. from + length stand in `height` pixels */
    double from, length;
    int height;
};

/* 2^bits bytes, `at` at the share (0 .. 1) of the height; held within the space. */
struct map_window map_window_make(double bits, uint64_t at, double share, int height);
double map_window_y(const struct map_window *window, uint64_t addr);
uint64_t map_window_addr(const struct map_window *window, double y);
uint64_t map_window_end(const struct map_window *window);

/* --- the list ------------------------------------------------------------------------------------------------------
 */

enum map_entry_kind {
    MAP_ENTRY_MAPPINGS, /* one, or several that touch and belong together */
    MAP_ENTRY_GAP,
    MAP_ENTRY_CLUSTER /* to scale: mappings too near to each other for a row each */
};

struct map_entry {
    enum map_entry_kind kind;
    size_t first, count; /* mappings; GAP: those around it are first - 1 and first */
    uint64_t start, end; /* bytes; without what lies between them */
    unsigned rows, gaps; /* of each kind above it */
    int y, h;            /* to scale: pixels from the top of the area */
};

struct map_list {
    struct map_entry *entry; /* by address */
    size_t count, room;
    unsigned rows, gaps;
    double row_h, gap_h; /* pixels */
    double top;          /* pixels from the top of the area to the first entry; negative when scrolled */
    int height;          /* of the area */
    bool to_scale;
};

#define MAP_ROW_LEAST 13.0
#define MAP_GAP_LEAST 12.0 /* the height of its words */
#define MAP_ROW_MOST 19.0

/* The mappings that reach into the window, with the gaps before, between and after them. joined: mappings of one group
 * that touch are one entry. false: out of memory. */
bool map_list_build(struct map_list *list, const struct app_regions *regions, const struct map_window *window,
                    bool joined);
/* Rows shrink before the list scrolls. The entry that holds `at` has the point `share` of its height at y; unless it is
 * fixed there, only as far as the list then fills the area. */
void map_list_place(struct map_list *list, int height, uint64_t at, double y, double share, bool fixed);
/* The other geometry: entries stand at their true places in the window. Mappings closer than a row are joined. */
bool map_list_to_scale(struct map_list *list, const struct app_regions *regions, const struct map_window *window);
void map_list_free(struct map_list *list);

/* Pixels from the top of the area. */
int map_list_y(const struct map_list *list, const struct map_entry *entry);
int map_list_h(const struct map_list *list, const struct map_entry *entry);
double map_list_content(const struct map_list *list); /* height of all entries */
/* Index of the first entry that ends below y; of the entry that holds addr. count: none. */
size_t map_list_at(const struct map_list *list, int y);
size_t map_list_find(const struct map_list *list, uint64_t addr);

/* Width of a bar: a step each doubling from one page on; `step` pixels so that `most` bytes fit into `width`. */
double map_bar_step(int width, uint64_t most, uint32_t page_size, double usual);
int map_bar_width(uint64_t bytes, uint32_t page_size, double step);

#endif
