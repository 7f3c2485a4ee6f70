/* What lies under a point, and where an address stands, by the picture last drawn. */
#include "app_regions.h"
#include "map_space.h"

#include <math.h>

/* --- places --------------------------------------------------------------------------------------------------------
 */

static struct app_place gap_place(struct app *app, uint64_t addr) {
    const struct app_regions *regions = app_regions(app);
    size_t i = app_mapping_lower(app, addr);
    uint64_t start = i > 0 ? regions->map[i - 1].map->end : 0;
    uint64_t end = i < regions->count ? regions->map[i].map->start : MAP_SPACE_END;
    if (end <= start) end = start + 1;
    return (struct app_place){.kind = APP_PLACE_GAP, .addr = start, .len = end - start};
}

static struct app_place mapping_place(struct app *app, uint64_t addr) {
    const struct app_mapping *mapping = app_mapping_at(app, addr);
    return mapping ? app_place_mapping(mapping) : gap_place(app, addr);
}

/* --- pages ---------------------------------------------------------------------------------------------------------
 */

static struct ui_rect cell_rect(const struct map_drawn *drawn, const struct map_item *item, int column, int row) {
    const struct map_grid *grid = &drawn->grid;
    return ui_rect(drawn->cells.x + column * grid->cell_w, drawn->cells.y + item->y + row * grid->cell_h,
                   grid->cell_w - grid->gap, grid->cell_h - grid->gap);
}

/* Within a cell as within the page of the look of bytes: lines from top to bottom. */
static uint64_t within_cell(const struct map_grid *grid, double across, double down) {
    uint64_t bytes = map_grid_cell_bytes(grid), lines = bytes / MAP_LINE;
    uint64_t line = (uint64_t)(down * (double)lines), byte = (uint64_t)(across * MAP_LINE);
    if (line >= lines) line = lines - 1;
    return line * MAP_LINE + (byte < MAP_LINE ? byte : MAP_LINE - 1);
}

static struct map_hit hit_note(struct app *app, const struct map_drawn *drawn, const struct map_item *item, int y) {
    struct map_hit hit = {.set = true, .found = true};
    uint64_t start = item->start < 0 ? 0 : (uint64_t)item->start;
    hit.share = (double)(y - drawn->cells.y - item->y) / item->h;
    hit.addr = start + (uint64_t)(hit.share * (double)((uint64_t)item->end - start));
    hit.addr -= hit.addr % map_page_size(app);
    hit.place = mapping_place(app, hit.addr);
    hit.rect = ui_rect(drawn->cells.x, drawn->cells.y + item->y, drawn->cells.w, item->h);
    return hit;
}

static struct map_hit hit_pages(struct app *app, const struct app_map_cache *cache, int x, int y) {
    const struct map_drawn *drawn = &cache->drawn;
    const struct map_grid *grid = &drawn->grid;
    const struct map_item *item = map_flow_at(&cache->flow, y - drawn->cells.y);
    if (!item || y < drawn->cells.y) return (struct map_hit){0};
    if (item->note) return hit_note(app, drawn, item, y);
    struct map_hit hit = {.found = true, .share = (double)(y - drawn->cells.y - item->y) / item->h};
    bool inside = x >= drawn->cells.x && x < drawn->cells.x + map_grid_width(grid);
    int within_x = ui_clamp(x - drawn->cells.x, 0, map_grid_width(grid) - 1), within_y = y - drawn->cells.y - item->y;
    int column = within_x / grid->cell_w, row = ui_min(within_y / grid->cell_h, map_grid_band_rows(grid) - 1);
    int64_t addr = item->start + (int64_t)map_grid_offset(grid, column, row);
    if (addr < 0) return (struct map_hit){0};
    hit.addr = (uint64_t)addr + within_cell(grid, (double)(within_x % grid->cell_w) / grid->cell_w,
                                            (double)(within_y % grid->cell_h) / grid->cell_h);
    hit.rect = cell_rect(drawn, item, column, row);
    if (!inside) return hit;
    hit.set = true;
    const struct app_regions *regions = app_regions(app);
    size_t i = app_mapping_lower(app, (uint64_t)addr);
    bool mapped = i < regions->count && regions->map[i].map->start < (uint64_t)addr + map_grid_cell_bytes(grid);
    if (!mapped) {
        hit.place = gap_place(app, (uint64_t)addr);
    } else {
        uint64_t page = regions->map[i].map->start > hit.addr ? regions->map[i].map->start : hit.addr;
        hit.place = app_place_page(app, app_mapping_at(app, page) ? page : regions->map[i].map->start);
    }
    return hit;
}

static bool rect_in_pages(struct app *app, const struct app_map_cache *cache, uint64_t addr, struct ui_rect *rect) {
    const struct map_item *item = map_flow_find(&cache->flow, addr);
    int column, row;
    (void)app;
    if (!item || item->note) return false;
    map_grid_cell(&cache->drawn.grid, (uint64_t)((int64_t)addr - item->start), &column, &row);
    *rect = cell_rect(&cache->drawn, item, column, row);
    return ui_rect_bottom(*rect) > cache->drawn.cells.y && rect->y < ui_rect_bottom(cache->drawn.cells);
}

/* --- space ---------------------------------------------------------------------------------------------------------
 */

static struct map_hit hit_strip(struct app *app, const struct map_drawn *drawn, int y) {
    struct map_hit hit = {.set = true, .found = true, .strip = true};
    hit.addr = map_window_addr(&drawn->window, y - drawn->strip.y);
    uint64_t end = map_window_addr(&drawn->window, y - drawn->strip.y + 1);
    const struct app_regions *regions = app_regions(app);
    size_t i = app_mapping_lower(app, hit.addr);
    if (i < regions->count && regions->map[i].map->start < end) {
        if (regions->map[i].map->start > hit.addr) hit.addr = regions->map[i].map->start;
        hit.place = app_place_mapping(&regions->map[i]);
        hit.rect = ui_rect(drawn->strip.x, y, drawn->strip.w, 1);
    } else {
        hit.place = gap_place(app, hit.addr);
    }
    return hit;
}

static uint64_t along(uint64_t start, uint64_t end, double share) {
    double at = share < 0 ? 0 : share;
    uint64_t length = end - start, offset = (uint64_t)(at * (double)length);
    return start + (offset < length ? offset : length - 1);
}

static struct map_hit hit_list(struct app *app, const struct app_map_cache *cache, int x, int y) {
    const struct map_drawn *drawn = &cache->drawn;
    const struct app_regions *regions = app_regions(app);
    size_t index = map_list_at(&cache->list, y - drawn->cells.y);
    if (index >= cache->list.count) return (struct map_hit){0};
    const struct map_entry *entry = &cache->list.entry[index];
    int top = drawn->cells.y + map_list_y(&cache->list, entry), h = ui_max(map_list_h(&cache->list, entry), 1);
    if (y < top) return (struct map_hit){0};
    struct map_hit hit = {.set = true, .found = true, .share = (double)(y - top) / h};
    hit.rect = map_list_bar(drawn, regions, map_page_size(app), &cache->list, entry);
    double share = x >= hit.rect.x && x < ui_rect_right(hit.rect) ? (double)(x - hit.rect.x) / hit.rect.w : 0;
    if (entry->kind == MAP_ENTRY_GAP) {
        hit.addr = along(entry->start, entry->end, hit.share);
        hit.place = gap_place(app, hit.addr);
        hit.rect = ui_rect(0, 0, 0, 0); /* nothing to put a box around */
        return hit;
    }
    if (entry->first + entry->count > regions->count) return (struct map_hit){0};
    const struct app_mapping *mapping = &regions->map[entry->first];
    if (entry->kind == MAP_ENTRY_CLUSTER) {
        mapping += (size_t)(share * (double)entry->count);
        hit.addr = mapping->map->start;
        hit.rect = ui_rect(0, 0, 0, 0);
    } else {
        hit.addr = along(entry->start, entry->end, share);
        const struct app_mapping *at = app_mapping_at(app, hit.addr);
        if (at) mapping = at;
    }
    hit.addr -= hit.addr % map_page_size(app);
    hit.place = app_place_mapping(mapping);
    return hit;
}

static struct map_hit hit_space(struct app *app, const struct app_map_cache *cache, int x, int y) {
    struct ui_rect strip = cache->drawn.strip;
    if (x < cache->drawn.cells.x - 6 && y >= strip.y && y < ui_rect_bottom(strip)) {
        struct map_hit hit = hit_strip(app, &cache->drawn, y);
        hit.set = x >= strip.x && x < ui_rect_right(strip);
        return hit;
    }
    return x < cache->drawn.cells.x - 6 ? (struct map_hit){0} : hit_list(app, cache, x, y);
}

static bool rect_in_space(struct app *app, const struct app_map_cache *cache, uint64_t addr, struct ui_rect *rect) {
    const struct map_drawn *drawn = &cache->drawn;
    size_t index = map_list_find(&cache->list, addr);
    if (index >= cache->list.count) return false;
    *rect = map_list_bar(drawn, app_regions(app), map_page_size(app), &cache->list, &cache->list.entry[index]);
    return ui_rect_bottom(*rect) > drawn->cells.y && rect->y < ui_rect_bottom(drawn->cells);
}

/* --- bytes ---------------------------------------------------------------------------------------------------------
 */

static int line_y(const struct map_drawn *drawn, int line) { return line * drawn->line_h + line / 8 * MAP_PAGE_GAP; }

static bool hit_page_byte(const struct map_drawn *drawn, int x, int y, uint64_t *addr, struct ui_rect *rect) {
    if (!ui_rect_contains(drawn->cells, x, y)) return false;
    int line = 0, column = (x - drawn->cells.x) / 3;
    while (line < MAP_LINES - 1 && y - drawn->cells.y >= line_y(drawn, line + 1)) line++;
    *addr = drawn->page + (uint64_t)(line * MAP_LINE + column);
    *rect = ui_rect(drawn->cells.x + column * 3, drawn->cells.y + line_y(drawn, line), 3, drawn->line_h - 1);
    return true;
}

int map_lens_x(int column) { return column * 20 + (column >= 8 ? 8 : 0); }

static bool hit_lens_byte(const struct map_drawn *drawn, int x, int y, uint64_t *addr, struct ui_rect *rect,
                          double *share) {
    int column = -1;
    for (int i = 0; i < 16; i++)
        if (x >= drawn->lens.x + map_lens_x(i) - 3 && x < drawn->lens.x + map_lens_x(i) + 17) column = i;
    if (drawn->text_x && x >= drawn->text_x && x < drawn->text_x + 16 * 7) column = (x - drawn->text_x) / 7;
    for (int i = 0; i < drawn->row_count; i++) {
        int top = drawn->main.y + drawn->row[i].y;
        if (y < top || y >= top + drawn->pitch) continue;
        *addr = drawn->row[i].addr + (uint64_t)(column < 0 ? 0 : column);
        *share = (double)(y - top) / drawn->pitch;
        *rect = ui_rect(drawn->lens.x + map_lens_x(column < 0 ? 0 : column) - 3, top, 20, 16);
        return true;
    }
    return false;
}

/* All eight bytes of a pointer are one thing. */
static struct app_place byte_place(const struct app_map_cache *cache, uint64_t addr) {
    for (int i = 0; i < MAP_SHEETS; i++) {
        const struct map_sheet *sheet = &cache->sheet[i];
        if (!sheet->byte || !sheet->moment || addr < sheet->addr || addr - sheet->addr >= sheet->size) continue;
        if ((sheet->kind[addr - sheet->addr] & 7) == MAP_BYTE_POINTER) return app_place_bytes(addr - addr % 8, 8);
    }
    return app_place_bytes(addr, 1);
}

static struct map_hit hit_bytes(struct app *app, const struct app_map_cache *cache, int x, int y) {
    struct map_hit hit = {0};
    hit.found = hit_page_byte(&cache->drawn, x, y, &hit.addr, &hit.rect) ||
                hit_lens_byte(&cache->drawn, x, y, &hit.addr, &hit.rect, &hit.share);
    if (!hit.found) return hit;
    bool over = ui_rect_contains(cache->drawn.cells, x, y) || x >= cache->drawn.lens.x - 3;
    hit.set = over && app_mapping_at(app, hit.addr);
    if (hit.set) hit.place = byte_place(cache, hit.addr);
    return hit;
}

static bool rect_in_bytes(const struct app_map_cache *cache, uint64_t addr, uint64_t len, struct ui_rect *rect) {
    const struct map_drawn *drawn = &cache->drawn;
    for (int i = 0; i < drawn->row_count; i++) {
        uint64_t row = drawn->row[i].addr;
        if (addr < row || addr - row >= 16) continue;
        int from = (int)(addr - row), to = len > 16u - (unsigned)from ? 15 : from + (int)(len ? len - 1 : 0);
        *rect = ui_rect(drawn->lens.x + map_lens_x(from) - 3, drawn->main.y + drawn->row[i].y,
                        map_lens_x(to) - map_lens_x(from) + 20, 16);
        return true;
    }
    return false;
}

/* --- all looks -----------------------------------------------------------------------------------------------------
 */

struct map_hit map_hit_at(struct app *app, int x, int y) {
    const struct app_map_cache *cache = app->map_cache;
    if (!cache || !cache->drawn.valid || !ui_rect_contains(cache->drawn.main, x, y)) return (struct map_hit){0};
    switch (cache->drawn.look) {
    case APP_LOOK_SPACE:
        return hit_space(app, cache, x, y);
    case APP_LOOK_PAGES:
        return hit_pages(app, cache, x, y);
    default:
        return hit_bytes(app, cache, x, y);
    }
}

bool map_hit_rect(struct app *app, uint64_t addr, uint64_t len, struct ui_rect *rect) {
    const struct app_map_cache *cache = app->map_cache;
    if (!cache || !cache->drawn.valid) return false;
    switch (cache->drawn.look) {
    case APP_LOOK_SPACE:
        return rect_in_space(app, cache, addr, rect);
    case APP_LOOK_PAGES:
        return rect_in_pages(app, cache, addr, rect);
    default:
        return rect_in_bytes(cache, addr, len, rect);
    }
}

/* The first and the last cell of a huge page, or of a range, as one rectangle. */
bool map_hit_range(struct app *app, uint64_t addr, uint64_t len, struct ui_rect *rect) {
    struct ui_rect last;
    if (!map_hit_rect(app, addr, len, rect)) return false;
    const struct app_map_cache *cache = app->map_cache;
    if (cache->drawn.look != APP_LOOK_PAGES || len <= map_grid_cell_bytes(&cache->drawn.grid)) return true;
    if (!map_hit_rect(app, addr + len - 1, 1, &last)) return true;
    int left = rect->x, right = ui_rect_right(last);
    if (last.y != rect->y)
        left = cache->drawn.cells.x, right = left + map_grid_width(&cache->drawn.grid) - cache->drawn.grid.gap;
    *rect = ui_rect(left, rect->y, right - left, ui_rect_bottom(last) - rect->y);
    return true;
}
