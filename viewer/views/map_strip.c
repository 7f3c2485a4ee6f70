/* The scale strip: a part of the space true to scale, its empty spans measured, and the ties to the list. */
#include "map_space.h"

#include <math.h>
#include <stdio.h>

enum {
    LABEL_EVERY = 52, /* pixels between labels at least; their step is a power of two */
    TICK_LEAST = 6,
    MEASURE_LEAST = 44, /* pixels of an empty span that is measured */
    TIE_NEAR = 1        /* pixels between mappings of one fan */
};

/* --- ruler ---------------------------------------------------------------------------------------------------------
 */

static unsigned step_bits(const struct map_window *window, int least) {
    unsigned bits = 12;
    while (bits < MAP_SPACE_BITS && exp2(bits) / window->length * window->height < least) bits++;
    return bits;
}

/* "0000 0000 0000" over "16 TiB": how far from 0, or from the first label where the strip shows only a part. */
static void draw_label(const struct map_space *space, uint64_t addr, uint64_t first, bool last, int y) {
    struct ui_draw *draw = space->frame->draw;
    char size[UI_FORMAT_SIZE], text[UI_FORMAT_SIZE + 2];
    int tick = space->strip.x - 8;
    ui_draw_hline(draw, tick, y, 7, UI_RULE2);
    if (space->columns) {
        ui_draw_address(draw, tick - 4 - ui_address_width(UI_S) - 6, y - 6, UI_S, UI_DIM, addr, UI_NO_ADDRESS);
    } else {
        char digits[UI_FORMAT_SIZE];
        ui_format_address(digits, sizeof digits, addr);
        snprintf(text, sizeof text, "%.4s \xe2\x80\xa6", digits);
        ui_draw_text_right(draw, tick - 4, y - 6, UI_S, UI_DIM, text);
    }
    if (last) return;
    map_format_size(size, sizeof size, addr - first);
    snprintf(text, sizeof text, "%s%s", first ? "+" : "", addr == first ? "0" : size);
    ui_draw_text_right(draw, tick - 4, y + 5, UI_S, UI_FAINT, text);
}

static void draw_ruler(const struct map_space *space) {
    struct ui_draw *draw = space->frame->draw;
    const struct map_window *window = &space->window;
    unsigned labels = step_bits(window, space->columns ? LABEL_EVERY : LABEL_EVERY + 20);
    unsigned ticks = step_bits(window, TICK_LEAST);
    uint64_t step = 1ull << labels, small = 1ull << ticks, from = (uint64_t)window->from, end = map_window_end(window);
    uint64_t first = (from + step - 1) / step * step;
    for (uint64_t addr = (from + small - 1) / small * small; addr <= end; addr += small) {
        int y = space->strip.y - 1 + (int)lround(map_window_y(window, addr));
        if (addr % step) {
            bool middle = addr % (step / 2) == 0;
            ui_draw_hline(draw, space->strip.x - (middle ? 5 : 3), y, middle ? 4 : 2, UI_RULE2);
            continue;
        }
        ui_draw_hline(draw, space->strip.x, y, space->strip.w, UI_HAIR);
        draw_label(space, addr, first, addr == MAP_SPACE_END, y);
    }
}

/* --- slivers -------------------------------------------------------------------------------------------------------
 */

static ui_color sliver_color(const struct app_mapping *mapping) {
    return mapping->guard || mapping->reserved ? UI_RULE2 : view_kind_color(mapping->kind);
}

/* Never thinner than a pixel; a kind that would be hidden by the next one on the same pixel moves up where it is free.
 */
void map_slivers_draw(struct map_frame *frame, const struct map_window *window, struct ui_rect inside) {
    const struct app_regions *regions = app_regions(frame->app);
    int free_y = 0, last_y = -1;
    ui_color last_color = 0;
    uint64_t end = map_window_end(window);
    for (size_t i = app_mapping_lower(frame->app, (uint64_t)window->from); i < regions->count; i++) {
        const struct app_mapping *mapping = &regions->map[i];
        if (mapping->map->start >= end) break;
        double from = fmax(map_window_y(window, mapping->map->start), 0);
        double to = fmin(map_window_y(window, mapping->map->end), window->height);
        int y = ui_min((int)from, window->height - 1), h = ui_max((int)lround(to) - y, 1);
        ui_color color = sliver_color(mapping);
        if (y == last_y && color == last_color && h == 1) continue;
        if (y == last_y && last_y > free_y)
            ui_draw_hline(frame->draw, inside.x, inside.y + last_y - 1, inside.w, last_color);
        if (y > last_y) free_y = last_y + 1;
        struct ui_rect sliver = ui_rect(inside.x, inside.y + y, inside.w, h);
        if (h > 3 && (mapping->guard || mapping->reserved))
            ui_draw_pattern(frame->draw, sliver, UI_PATTERN_DOTS, color);
        else
            ui_draw_rect(frame->draw, sliver, color);
        last_y = y + h - 1;
        last_color = color;
    }
}

/* --- emptiness -----------------------------------------------------------------------------------------------------
 */

static void measure(const struct map_space *space, uint64_t start, uint64_t end) {
    struct ui_draw *draw = space->frame->draw;
    double top = fmax(map_window_y(&space->window, start), 0);
    double bottom = fmin(map_window_y(&space->window, end), space->window.height);
    if (bottom - top < MEASURE_LEAST) return;
    bool open_above = (double)start<space->window.from, open_below = end> map_window_end(&space->window);
    int x = space->strip.x + space->strip.w / 2, y0 = space->strip.y + (int)lround(top) + 1,
        y1 = space->strip.y + (int)lround(bottom) - 2, middle = (y0 + y1) / 2;
    char size[UI_FORMAT_SIZE];
    ui_format_size(size, sizeof size, end - start);
    ui_draw_begin_group(draw, "empty", size);
    ui_draw_value(draw, "start", "%012llx", (unsigned long long)start);
    ui_draw_value(draw, "size", "%llu", (unsigned long long)(end - start));
    ui_draw_vline(draw, x, y0, middle - 15 - y0, UI_RULE2);
    ui_draw_vline(draw, x, middle + 14, y1 - middle - 13, UI_RULE2);
    if (!open_above) ui_draw_triangle(draw, ui_rect(x - 3, y0, 7, 6), UI_UP, UI_RULE2);
    if (!open_below) ui_draw_triangle(draw, ui_rect(x - 3, y1 - 5, 7, 6), UI_DOWN, UI_RULE2);
    ui_draw_text_centred(draw, space->strip.x, middle - 12, space->strip.w, UI_S, UI_INK, size);
    ui_draw_text_centred(draw, space->strip.x, middle, space->strip.w, UI_S, UI_FAINT, "empty");
    ui_draw_end_group(draw);
}

static void draw_measures(const struct map_space *space) {
    const struct map_list *list = &space->frame->cache->list;
    for (size_t i = 0; i < list->count; i++)
        if (list->entry[i].kind == MAP_ENTRY_GAP) measure(space, list->entry[i].start, list->entry[i].end);
}

void map_strip_draw(struct map_space *space) {
    struct ui_draw *draw = space->frame->draw;
    struct ui_rect strip = space->strip;
    char size[UI_FORMAT_SIZE], text[UI_FORMAT_SIZE + 16];
    ui_draw_begin_group(draw, "strip", "scale");
    ui_draw_value(draw, "from", "%012llx", (unsigned long long)space->window.from);
    ui_draw_value(draw, "to", "%012llx", (unsigned long long)map_window_end(&space->window));
    ui_format_size(size, sizeof size, (uint64_t)(space->window.length / strip.h));
    snprintf(text, sizeof text, "1 px = %s", size);
    if (space->columns)
        ui_draw_text_right(draw, ui_rect_right(strip) + 10, space->frame->main.y + 4, UI_S, UI_FAINT, text);
    ui_draw_rect(draw, strip, UI_PIT);
    ui_draw_vline(draw, strip.x - 1, strip.y - 1, strip.h + 1, UI_RULE2);
    ui_draw_vline(draw, ui_rect_right(strip), strip.y - 1, strip.h + 1, UI_RULE);
    draw_ruler(space);
    map_slivers_draw(space->frame, &space->window, strip);
    draw_measures(space);
    ui_draw_end_group(draw);
}

/* --- ties ----------------------------------------------------------------------------------------------------------
 */

static void draw_tie(const struct map_space *space, int top0, int bottom0, int top1, int bottom1, ui_color color) {
    struct ui_draw *draw = space->frame->draw;
    int x0 = ui_rect_right(space->strip) + 1, x1 = space->tie_x;
    ui_draw_fan(draw, x0, top0, bottom0, x1, top1, bottom1, ui_mix(UI_GROUND, color, 7));
    ui_draw_line(draw, x0, top0, x1, top1, UI_LINE_SHARP, UI_RULE2);
    ui_draw_line(draw, x0, bottom0 - 1, x1, bottom1 - 1, UI_LINE_SHARP, UI_RULE2);
    ui_draw_vline(draw, x1, top1, bottom1 - top1, UI_RULE2);
}

static int strip_y(const struct map_space *space, uint64_t addr) {
    double y = map_window_y(&space->window, addr);
    return space->strip.y + (int)lround(fmin(fmax(y, 0), space->strip.h));
}

/* Fans join what the strip shows as one: mappings a few pixels from each other. */
void map_ties_draw(struct map_space *space) {
    const struct map_list *list = &space->frame->cache->list;
    const struct app_regions *regions = app_regions(space->frame->app);
    if (list->to_scale) return;
    ui_draw_push_clip(space->frame->draw,
                      ui_rect(space->strip.x, space->area.y, space->tie_x + 2 - space->strip.x, space->area.h));
    for (size_t i = 0, next; i < list->count; i = next) {
        next = i + 1;
        if (list->entry[i].kind == MAP_ENTRY_GAP) continue;
        size_t last = i;
        for (; next < list->count; next++) {
            if (list->entry[next].kind == MAP_ENTRY_GAP) continue;
            if (strip_y(space, list->entry[next].start) - strip_y(space, list->entry[last].end) > TIE_NEAR) break;
            last = next;
        }
        next = last + 1;
        const struct map_entry *top = &list->entry[i], *bottom = &list->entry[last];
        int y0 = strip_y(space, top->start), y1 = ui_max(strip_y(space, bottom->end), y0 + 1);
        int list_top = space->area.y + map_list_y(list, top);
        int list_bottom = space->area.y + map_list_y(list, bottom) + map_list_h(list, bottom);
        ui_color color = sliver_color(&regions->map[bottom->first + bottom->count - 1]);
        if (list_bottom > space->area.y && list_top < ui_rect_bottom(space->area))
            draw_tie(space, y0, y1, list_top, list_bottom, color);
    }
    ui_draw_pop_clip(space->frame->draw);
}
