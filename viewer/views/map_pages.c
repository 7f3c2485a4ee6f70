/* Pages as they are drawn, asked for once a moment and colouring; and where there is something to be seen. */
#include "app_regions.h"
#include "map.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS_MOST = 16384 };

/* --- the cache -----------------------------------------------------------------------------------------------------
 */

void map_pages_free(struct map_pages *pages) {
    free(pages->block);
    free(pages->slot);
    *pages = (struct map_pages){0};
}

static void renew(struct map_pages *pages, const struct app *app) {
    if (pages->moment == app->moment + 1 && pages->colour == app->colour && pages->count < BLOCKS_MOST) return;
    if (pages->slot) memset(pages->slot, 0, pages->room * sizeof *pages->slot);
    pages->count = 0;
    pages->huge = 0;
    pages->moment = app->moment + 1;
    pages->colour = app->colour;
}

static size_t place_of(const struct map_pages *pages, uint64_t number) {
    size_t at = (size_t)(number * 0x9e3779b97f4a7c15u >> 32) & (pages->room - 1);
    while (pages->slot[at] && pages->block[pages->slot[at] - 1].number != number) at = (at + 1) & (pages->room - 1);
    return at;
}

static bool make_room(struct map_pages *pages) {
    if (pages->count < pages->block_room) return true;
    size_t room = pages->block_room ? pages->block_room * 2 : 256;
    struct map_block *block = realloc(pages->block, room * sizeof *block);
    if (!block) return false;
    pages->block = block;
    uint32_t *slot = calloc(room * 2, sizeof *slot);
    if (!slot) return false;
    free(pages->slot);
    pages->slot = slot;
    pages->block_room = room;
    pages->room = room * 2;
    for (size_t i = 0; i < pages->count; i++) pages->slot[place_of(pages, block[i].number)] = (uint32_t)i + 1;
    return true;
}

/* --- one page ------------------------------------------------------------------------------------------------------
 */

static bool touched(const struct vmv_page *page) {
    return page->content != VMV_CONTENT_NONE || (page->state != VMV_PAGE_ABSENT && page->state != VMV_PAGE_UNKNOWN);
}

/* A huge page is one: what is known of the writes to any part of it holds for all. */
static uint64_t huge_written(struct app *app, struct map_pages *pages, uint64_t addr) {
    uint64_t bytes = app_huge_bytes(app->space->page_size), start = addr - addr % bytes, at = start;
    if (pages->huge == start + 1) return pages->huge_written;
    pages->huge = start + 1;
    pages->huge_written = 0;
    const struct vmv_page *page;
    while ((page = vmv_space_page_next(app->space, &at, start + bytes))) {
        if (page->flags & VMV_PAGEF_HUGE && page->written > pages->huge_written) pages->huge_written = page->written;
        at += app->space->page_size;
    }
    return pages->huge_written;
}

static struct map_page make_page(struct app *app, struct map_pages *pages, const struct app_mapping *mapping,
                                 uint64_t addr) {
    const struct vmv_page *known = vmv_space_page_peek(app->space, addr);
    if (mapping->reserved && !known) /* costs nothing, however large it is */
        return (struct map_page){UI_RULE2, UI_PATTERN_DOT, 1, -1, MAP_PAGE_MAPPED};
    struct timeline_page page = timeline_page(app->tl, app->space_id, addr);
    bool huge = known && known->flags & VMV_PAGEF_HUGE && touched(known);
    if (huge) page.page.written = huge_written(app, pages, addr);
    struct view_cell cell = view_page_cell(app, mapping, &page);
    struct map_page made = {.color = cell.color, .pattern = (uint8_t)cell.pattern, .strength = (int8_t)cell.strength};
    made.step = (int8_t)view_recency_step(view_recency(app), app->t, page.page.written);
    made.flags = MAP_PAGE_MAPPED;
    if (known && touched(known)) made.flags |= MAP_PAGE_TOUCHED;
    if (huge) made.flags |= MAP_PAGE_HUGE;
    return made;
}

static void fill(struct app *app, struct map_pages *pages, struct map_block *block) {
    uint64_t size = map_page_size(app), addr = (block->number << MAP_BLOCK_BITS) * size;
    const struct app_mapping *mapping = NULL;
    memset(block->page, 0, sizeof block->page);
    for (int i = 0; i < MAP_BLOCK_PAGES; i++, addr += size) {
        if (!mapping || addr >= mapping->map->end) mapping = app_mapping_at(app, addr);
        if (mapping) block->page[i] = make_page(app, pages, mapping, addr);
    }
}

static const struct map_block *block_of(struct map_frame *frame, uint64_t number) {
    struct map_pages *pages = &frame->cache->pages;
    renew(pages, frame->app);
    if (pages->room) {
        uint32_t index = pages->slot[place_of(pages, number)];
        if (index) return &pages->block[index - 1];
    }
    if (!make_room(pages)) return NULL;
    struct map_block *block = &pages->block[pages->count++];
    block->number = number;
    pages->slot[place_of(pages, number)] = (uint32_t)pages->count;
    fill(frame->app, pages, block);
    return block;
}

const struct map_page *map_page_at(struct map_frame *frame, uint64_t addr) {
    static const struct map_page none;
    uint64_t number = addr / map_page_size(frame->app);
    const struct map_block *block = block_of(frame, number >> MAP_BLOCK_BITS);
    return block ? &block->page[number & (MAP_BLOCK_PAGES - 1)] : &none;
}

/* --- the strongest of several --------------------------------------------------------------------------------------
 */

static bool stronger(const struct map_page *a, const struct map_page *b) {
    if (a->strength != b->strength) return a->strength > b->strength;
    if (a->pattern == b->pattern) return false;
    return a->pattern == UI_PATTERN_UNKNOWN; /* nothing known is said before nothing there */
}

void map_page_merge(struct map_page *into, const struct map_page *page) {
    uint8_t flags = into->flags | page->flags;
    if (!(into->flags & MAP_PAGE_MAPPED) || ((page->flags & MAP_PAGE_MAPPED) && stronger(page, into))) *into = *page;
    into->flags = flags;
}

bool map_pages_strongest(struct map_frame *frame, uint64_t start, uint64_t end, struct map_page *page,
                         const struct app_mapping **mapping) {
    const struct app_regions *regions = app_regions(frame->app);
    uint64_t size = map_page_size(frame->app);
    *page = (struct map_page){0};
    for (size_t i = app_mapping_lower(frame->app, start); i < regions->count; i++) {
        const struct app_mapping *at = &regions->map[i];
        if (at->map->start >= end) break;
        uint64_t from = at->map->start > start ? at->map->start : start, to = at->map->end < end ? at->map->end : end;
        if (at->reserved && !at->known) to = from + size; /* all alike */
        for (; from < to; from += size) {
            uint8_t before = page->strength, flags = page->flags;
            map_page_merge(page, map_page_at(frame, from));
            if (!flags || page->strength != (int8_t)before) *mapping = at;
        }
    }
    return page->flags & MAP_PAGE_MAPPED;
}

/* --- where something is to be seen ---------------------------------------------------------------------------------
 */

static bool next_touched(const struct vmv_space *space, uint64_t from, uint64_t end, uint64_t *found) {
    const struct vmv_page *page;
    while (from < end && (page = vmv_space_page_next(space, &from, end))) {
        *found = from;
        if (touched(page)) return true;
        from += space->page_size;
    }
    return false;
}

static bool last_touched(const struct vmv_space *space, uint64_t from, uint64_t end, uint64_t *found) {
    uint64_t low, page = space->page_size;
    if (!next_touched(space, from, end, &low)) return false;
    while (end - low > page) {
        uint64_t middle = low + (end - low) / 2, at;
        middle -= middle % page;
        if (middle <= low) middle = low + page;
        if (middle >= end) break;
        if (next_touched(space, middle, end, &at))
            low = at;
        else
            end = middle;
    }
    *found = low;
    return true;
}

static bool singled_out(const struct app *app, uint64_t *addr) {
    *addr = app->selection.addr;
    return app->selection.kind == APP_PLACE_PAGE || app->selection.kind == APP_PLACE_BYTES;
}

static void nearer(uint64_t candidate, uint64_t from, uint64_t *best, bool *any) {
    if (candidate < from || (*any && candidate >= *best)) return;
    *best = candidate;
    *any = true;
}

static bool source_next(void *user, uint64_t from, uint64_t end, uint64_t *found) {
    struct map_frame *frame = user;
    const struct app_regions *regions = app_regions(frame->app);
    bool any = false;
    uint64_t at, best = end;
    for (size_t i = app_mapping_lower(frame->app, from); i < regions->count && !any; i++) {
        const struct app_mapping *mapping = &regions->map[i];
        uint64_t start = mapping->map->start > from ? mapping->map->start : from;
        if (start >= end) break;
        if (!mapping->reserved && start == mapping->map->start)
            nearer(start, from, &best, &any);
        else if (mapping->known &&
                 next_touched(frame->app->space, start, mapping->map->end < end ? mapping->map->end : end, &at))
            nearer(at, from, &best, &any);
    }
    size_t marker = map_markers_lower(frame, from);
    if (marker < frame->marker_count) nearer(frame->marker[marker].addr, from, &best, &any);
    if (singled_out(frame->app, &at)) nearer(at, from, &best, &any);
    *found = best;
    return any && best < end;
}

static void later(uint64_t candidate, uint64_t from, uint64_t end, uint64_t *best, bool *any) {
    if (candidate < from || candidate >= end || (*any && candidate <= *best)) return;
    *best = candidate;
    *any = true;
}

static bool source_last(void *user, uint64_t from, uint64_t end, uint64_t *found) {
    struct map_frame *frame = user;
    const struct app_regions *regions = app_regions(frame->app);
    bool any = false;
    uint64_t at, best = 0;
    size_t i = app_mapping_lower(frame->app, end - 1);
    if (i < regions->count && regions->map[i].map->start < end) i++;
    while (i-- > 0 && !any && regions->map[i].map->end > from) {
        const struct app_mapping *mapping = &regions->map[i];
        uint64_t start = mapping->map->start > from ? mapping->map->start : from;
        uint64_t stop = mapping->map->end < end ? mapping->map->end : end;
        if (mapping->known && last_touched(frame->app->space, start, stop, &at)) later(at, from, end, &best, &any);
        if (!mapping->reserved) later(mapping->map->start, from, end, &best, &any);
    }
    size_t marker = map_markers_lower(frame, end);
    if (marker > 0) later(frame->marker[marker - 1].addr, from, end, &best, &any);
    if (singled_out(frame->app, &at)) later(at, from, end, &best, &any);
    *found = best;
    return any;
}

struct map_source map_pages_source(struct map_frame *frame) {
    const struct app_regions *regions = app_regions(frame->app);
    uint64_t limit = MAP_SPACE_END, last = regions->count ? regions->map[regions->count - 1].map->end : 0;
    if (last > limit) limit = last < 1ull << 62 ? last : 1ull << 62;
    return (struct map_source){frame, source_next, source_last, limit, frame->app->gaps_collapsed};
}
