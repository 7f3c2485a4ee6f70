#include "map_list.h"

#include <math.h>
#include <stdlib.h>

enum { BAR_PAGE = 10, TO_SCALE_ROW = 13 };

/* --- the strip -----------------------------------------------------------------------------------------------------
 */

struct map_window map_window_make(double bits, uint64_t at, double share, int height) {
    struct map_window window = {.height = height < 1 ? 1 : height};
    window.length = exp2(fmin(bits, MAP_SPACE_BITS));
    window.from = (double)at - share * window.length;
    window.from = fmax(fmin(window.from, (double)MAP_SPACE_END - window.length), 0);
    return window;
}

double map_window_y(const struct map_window *window, uint64_t addr) {
    return ((double)addr - window->from) / window->length * window->height;
}

uint64_t map_window_addr(const struct map_window *window, double y) {
    double addr = window->from + y / window->height * window->length;
    return (uint64_t)fmin(fmax(addr, 0), (double)(MAP_SPACE_END - 1));
}

uint64_t map_window_end(const struct map_window *window) { return (uint64_t)(window->from + window->length); }

/* --- entries -------------------------------------------------------------------------------------------------------
 */

static bool push(struct map_list *list, struct map_entry entry) {
    if (list->count == list->room) {
        size_t room = list->room ? list->room * 2 : 64;
        struct map_entry *grown = realloc(list->entry, room * sizeof *grown);
        if (!grown) return false;
        list->entry = grown;
        list->room = room;
    }
    entry.rows = list->rows;
    entry.gaps = list->gaps;
    if (entry.kind == MAP_ENTRY_GAP)
        list->gaps++;
    else
        list->rows++;
    list->entry[list->count++] = entry;
    return true;
}

static bool push_gap(struct map_list *list, size_t next, uint64_t start, uint64_t end) {
    if (end <= start) return true;
    return push(list, (struct map_entry){.kind = MAP_ENTRY_GAP, .first = next, .start = start, .end = end});
}

static bool belongs(const struct app_mapping *low, const struct app_mapping *high) {
    return low->map->end == high->map->start && low->group == high->group;
}

/* First mapping that ends after addr. */
static size_t lower(const struct app_regions *regions, uint64_t addr) {
    size_t low = 0, high = regions->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (regions->map[middle].map->end <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct map_entry mapping_entry(const struct app_regions *regions, size_t first, bool joined) {
    struct map_entry entry = {.kind = MAP_ENTRY_MAPPINGS, .first = first, .count = 1};
    while (joined && first + entry.count < regions->count &&
           belongs(&regions->map[first + entry.count - 1], &regions->map[first + entry.count]))
        entry.count++;
    entry.start = regions->map[first].map->start;
    entry.end = regions->map[first + entry.count - 1].map->end;
    return entry;
}

bool map_list_build(struct map_list *list, const struct app_regions *regions, const struct map_window *window,
                    bool joined) {
    list->count = list->rows = list->gaps = 0;
    list->to_scale = false;
    uint64_t end = map_window_end(window);
    size_t i = lower(regions, (uint64_t)window->from);
    while (joined && i > 0 && i < regions->count && belongs(&regions->map[i - 1], &regions->map[i])) i--;
    uint64_t below = i > 0 ? regions->map[i - 1].map->end : 0;
    while (i < regions->count && (regions->map[i].map->start < end || end >= MAP_SPACE_END)) {
        struct map_entry entry = mapping_entry(regions, i, joined);
        if (!push_gap(list, i, below, entry.start) || !push(list, entry)) return false;
        below = entry.end;
        i += entry.count;
    }
    if (below >= end) return true;
    return push_gap(list, i, below, i < regions->count ? regions->map[i].map->start : MAP_SPACE_END);
}

/* --- places --------------------------------------------------------------------------------------------------------
 */

static double gap_height(double row) { return fmax(6.5 + 0.32 * row, MAP_GAP_LEAST); }

static void fit_rows(struct map_list *list) {
    double rows = list->rows, gaps = list->gaps;
    double fit = rows + gaps > 0 ? (list->height - 6.5 * gaps) / (rows + 0.32 * gaps) : MAP_ROW_MOST;
    if (gap_height(fit) <= MAP_GAP_LEAST && rows > 0) fit = (list->height - MAP_GAP_LEAST * gaps) / rows;
    list->row_h = fmin(fmax(fit, MAP_ROW_LEAST), MAP_ROW_MOST);
    list->gap_h = gap_height(list->row_h);
}

static double offset_of(const struct map_list *list, const struct map_entry *entry) {
    return entry->rows * list->row_h + entry->gaps * list->gap_h;
}

static int held(double y) { return (int)lround(fmax(fmin(y, 1e6), -1e6)); }

double map_list_content(const struct map_list *list) { return list->rows * list->row_h + list->gaps * list->gap_h; }

void map_list_place(struct map_list *list, int height, uint64_t at, double y, double share, bool fixed) {
    list->height = height;
    list->top = 0;
    fit_rows(list);
    size_t i = map_list_find(list, at);
    if (i < list->count) {
        const struct map_entry *entry = &list->entry[i];
        double h = entry->kind == MAP_ENTRY_GAP ? list->gap_h : list->row_h;
        list->top = y - share * h - offset_of(list, entry);
    }
    if (fixed) return;
    double room = height - map_list_content(list);
    list->top = fmax(fmin(list->top, fmax(room, 0)), fmin(room, 0));
}

int map_list_y(const struct map_list *list, const struct map_entry *entry) {
    if (list->to_scale) return entry->y;
    return held(list->top + offset_of(list, entry));
}

int map_list_h(const struct map_list *list, const struct map_entry *entry) {
    if (list->to_scale) return entry->h;
    struct map_entry next = *entry; /* so that the last pixel row is the one before the next entry's first */
    if (entry->kind == MAP_ENTRY_GAP)
        next.gaps++;
    else
        next.rows++;
    return held(list->top + offset_of(list, &next)) - map_list_y(list, entry);
}

size_t map_list_at(const struct map_list *list, int y) {
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct map_entry *entry = &list->entry[middle];
        if (map_list_y(list, entry) + map_list_h(list, entry) <= y)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

size_t map_list_find(const struct map_list *list, uint64_t addr) {
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->entry[middle].end <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low < list->count && list->entry[low].start <= addr ? low : list->count;
}

/* --- to scale ------------------------------------------------------------------------------------------------------
 */

static int held_y(const struct map_window *window, uint64_t addr) { return held(map_window_y(window, addr)); }

static void stand(struct map_entry *entry, int y, int bottom) {
    entry->y = y;
    entry->h = bottom - y;
}

/* Takes the mapping into the cluster above when it would stand on its row. */
static bool gather(struct map_list *list, const struct app_regions *regions, const struct map_window *window,
                   size_t i) {
    const struct vmv_mapping *map = regions->map[i].map;
    struct map_entry *above = list->count ? &list->entry[list->count - 1] : NULL;
    int y = held_y(window, map->start), bottom = held_y(window, map->end);
    bool full = above && above->y + above->h + TO_SCALE_ROW > list->height; /* no row fits below */
    if (above && above->kind != MAP_ENTRY_GAP && (full || y < above->y + above->h)) {
        above->kind = MAP_ENTRY_CLUSTER;
        above->count++;
        above->end = map->end;
        bottom = bottom < list->height ? bottom : list->height;
        if (bottom > above->y + above->h) above->h = bottom - above->y;
        return true;
    }
    struct map_entry entry = {.kind = MAP_ENTRY_MAPPINGS, .first = i, .count = 1, .start = map->start, .end = map->end};
    stand(&entry, y, bottom - y < TO_SCALE_ROW ? y + TO_SCALE_ROW : bottom);
    if (entry.y + entry.h > list->height) entry.y = list->height - entry.h;
    if (above && entry.y < above->y + above->h) entry.y = above->y + above->h;
    return push(list, entry);
}

static bool add_gap(struct map_list *list, size_t next, uint64_t start, uint64_t end, int y, int bottom) {
    if (bottom - y < TO_SCALE_ROW) return true;
    size_t before = list->count;
    if (!push_gap(list, next, start, end)) return false;
    if (list->count > before) stand(&list->entry[before], y, bottom);
    return true;
}

/* The gaps between the clusters, where they are high enough to be named. */
static bool add_gaps(struct map_list *list, const struct app_regions *regions, const struct map_window *window) {
    struct map_list with = {.height = list->height, .to_scale = true};
    uint64_t below = 0;
    int y = 0;
    bool done = true;
    for (size_t i = 0; i < list->count && done; i++) {
        const struct map_entry *entry = &list->entry[i];
        if (entry->first > 0) below = regions->map[entry->first - 1].map->end;
        done = add_gap(&with, entry->first, below, entry->start, y, entry->y) && push(&with, *entry);
        y = entry->y + entry->h;
        below = entry->end;
    }
    size_t next = lower(regions, below ? below : (uint64_t)window->from);
    uint64_t end = next < regions->count ? regions->map[next].map->start : MAP_SPACE_END;
    if (!list->count && next > 0) below = regions->map[next - 1].map->end;
    done = done && add_gap(&with, next, below, end, y, list->height);
    free(list->entry);
    *list = with;
    return done;
}

bool map_list_to_scale(struct map_list *list, const struct app_regions *regions, const struct map_window *window) {
    list->count = list->rows = list->gaps = 0;
    list->to_scale = true;
    list->height = window->height;
    uint64_t end = map_window_end(window);
    for (size_t i = lower(regions, (uint64_t)window->from); i < regions->count; i++) {
        if (regions->map[i].map->start >= end && end < MAP_SPACE_END) break;
        if (!gather(list, regions, window, i)) return false;
    }
    return add_gaps(list, regions, window);
}

void map_list_free(struct map_list *list) {
    free(list->entry);
    *list = (struct map_list){0};
}

/* --- bars ----------------------------------------------------------------------------------------------------------
 */

double map_bar_step(int width, uint64_t most, uint32_t page_size, double usual) {
    double doublings = most > page_size ? log2((double)most / page_size) : 0;
    if (doublings * usual + BAR_PAGE <= width || doublings <= 0) return usual;
    return fmax((width - BAR_PAGE) / doublings, 1);
}

int map_bar_width(uint64_t bytes, uint32_t page_size, double step) {
    double doublings = bytes > page_size ? log2((double)bytes / page_size) : 0;
    return BAR_PAGE + (int)lround(doublings * step);
}
