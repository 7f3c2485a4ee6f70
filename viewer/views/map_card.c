/* The card beside the pointer: what is known of the thing under it, how certain it is, and since when. */
#include "app_search.h"
#include "map.h"

#include <stdio.h>
#include <string.h>

enum { LINES = 10, LINE = 160 };
#define TOUCH_KEY 0x6d617020746f7563ull

struct card {
    struct map_frame *frame;
    struct ui_card_line line[LINES];
    char text[LINES][LINE];
    size_t count;
};

static struct ui_card_line *add(struct card *card, ui_color color) {
    if (card->count == LINES) return NULL;
    struct ui_card_line *line = &card->line[card->count];
    *line = (struct ui_card_line){.text = card->text[card->count], .color = color};
    card->count++;
    return line;
}

static char *last_text(struct card *card) { return card->text[card->count - 1]; }

static void title(struct card *card, uint64_t addr, const char *name) {
    char address[UI_FORMAT_SIZE];
    ui_format_address(address, sizeof address, addr);
    if (add(card, UI_WHITE)) snprintf(last_text(card), LINE, "%s  %s", address, name);
}

static void say(struct card *card, ui_color color, const char *text) {
    if (add(card, color)) snprintf(last_text(card), LINE, "%s", text);
}

static void when(char *out, size_t size, uint64_t t) { ui_format_time(out, size, (int64_t)t, 3); }

static void ago(const struct app *app, char *out, size_t size, uint64_t t) {
    ui_format_ago(out, size, (int64_t)(app->t > t ? app->t - t : 0));
}

/* --- pages ---------------------------------------------------------------------------------------------------------
 */

static bool first_touch(const struct vmv_event *event, const struct timeline_filter *filter) {
    (void)filter;
    return event->kind != VMV_FAULT_WRITE;
}

static void say_touch(struct card *card, uint64_t addr) {
    struct app *app = card->frame->app;
    uint64_t size = map_page_size(app);
    struct app_question question = {.key = TOUCH_KEY, .accept = first_touch, .t = app->t};
    question.filter =
        (struct timeline_filter){.space = app->space_id, .addr = addr - addr % size, .end = addr - addr % size + size};
    timeline_filter_type(&question.filter, VMV_EV_FAULT);
    const struct app_found *found = app_ask(app, &question);
    if (!found->found || found->searching) return;
    char time[UI_FORMAT_SIZE];
    when(time, sizeof time, found->event.t);
    const struct vmv_thread *thread = vmv_world_thread(app->world, found->event.tid);
    bool frames = found->event.source == VMV_SOURCE_FRAMES || found->event.kind == VMV_FAULT_POPULATED;
    if (!add(card, UI_FAINT)) return;
    snprintf(last_text(card), LINE, "%s %s%s%s", frames ? "resident by" : "first touch", time,
             thread && !frames ? ", " : "", thread && !frames ? view_thread_name(thread) : "");
}

static void say_written(struct card *card, const struct timeline_page *page) {
    struct app *app = card->frame->app;
    char text[UI_FORMAT_SIZE], time[UI_FORMAT_SIZE];
    if (!page->page.written) {
        say(card, UI_FAINT, "not seen written");
        return;
    }
    int step = view_recency_step(view_recency(app), app->t, page->page.written);
    ago(app, text, sizeof text, page->page.written);
    when(time, sizeof time, page->page.written);
    if (!add(card, UI_FAINT)) return;
    const char *word = page->page.flags & VMV_PAGEF_HUGE ? "perhaps written" : "seen written";
    snprintf(last_text(card), LINE, "%s %s %s", word, step == 0 ? "in this frame, by" : "by", time);
    if (step != 0) snprintf(last_text(card), LINE, "%s by %s, %s", word, time, text);
}

static void say_contents(struct card *card, const struct timeline_page *page) {
    struct app *app = card->frame->app;
    char time[UI_FORMAT_SIZE], back[UI_FORMAT_SIZE];
    const struct timeline_frame *frame = app_frame(app);
    when(time, sizeof time, page->page.captured);
    ago(app, back, sizeof back, page->page.captured);
    bool captured = page->page.content != VMV_CONTENT_NONE && page->page.content != VMV_CONTENT_FILE;
    switch (page->certainty) {
    case VMV_CERT_EXACT:
        if (captured && frame && page->page.captured >= frame->t)
            snprintf(last_text(card), LINE, "exact: captured in this frame");
        else if (captured)
            snprintf(last_text(card), LINE, "exact: captured %s, unchanged since", time);
        else
            snprintf(last_text(card), LINE, "exact: as in the mapped file");
        break;
    case VMV_CERT_TORN:
        snprintf(last_text(card), LINE, "torn: written while it was copied, %s", time);
        break;
    case VMV_CERT_UNKNOWN:
        snprintf(last_text(card), LINE, "unknown: its contents were never captured");
        break;
    default:
        if (captured)
            snprintf(last_text(card), LINE, "stale: contents are from %s, %s", time, back);
        else
            snprintf(last_text(card), LINE, "stale: contents are those of the mapped file");
        say(card, UI_DIM, "may have changed since");
        if (page->page.flags & VMV_PAGEF_SKIPPED) say(card, UI_FAINT, "written, but its contents were not copied");
        break;
    }
}

static void say_state(struct card *card, const struct app_mapping *mapping, const struct timeline_page *page) {
    struct view_cell cell = view_page_cell(card->frame->app, mapping, page);
    struct ui_card_line *line = add(card, UI_INK);
    if (!line) return;
    line->has_sign = true;
    line->sign = cell.pattern == UI_PATTERN_DOT ? UI_PATTERN_DOTS : cell.pattern;
    line->sign_color = cell.color;
    if (mapping->guard || page->state == VMV_PAGE_GUARD)
        snprintf(last_text(card), LINE, "guard: a touch raises SIGSEGV");
    else if (mapping->reserved && page->state != VMV_PAGE_RESIDENT)
        snprintf(last_text(card), LINE, "reserved: no access, no memory");
    else if (page->state == VMV_PAGE_ABSENT)
        snprintf(last_text(card), LINE, "never touched: no memory yet");
    else if (page->state == VMV_PAGE_UNKNOWN)
        snprintf(last_text(card), LINE, "unknown: nothing was recorded of it");
    else if (page->state == VMV_PAGE_ZERO)
        snprintf(last_text(card), LINE, "zero page: read, never written");
    else if (page->state == VMV_PAGE_SWAPPED)
        snprintf(last_text(card), LINE, "swapped out");
    else
        say_contents(card, page);
}

static void page_card(struct card *card, uint64_t addr) {
    struct app *app = card->frame->app;
    const struct app_mapping *mapping = app_mapping_at(app, addr);
    if (!mapping) return;
    uint64_t size = map_page_size(app);
    struct timeline_page page = timeline_page(app->tl, app->space_id, addr);
    char name[LINE];
    bool huge = page.page.flags & VMV_PAGEF_HUGE;
    snprintf(name, sizeof name, "%s, page %llu", mapping->name,
             (unsigned long long)((addr - mapping->map->start) / size));
    title(card, addr - addr % size, name);
    say_state(card, mapping, &page);
    if (huge) say(card, UI_DIM, "part of a huge page: written means may have been");
    if (page.state == VMV_PAGE_RESIDENT || page.state == VMV_PAGE_SWAPPED) say_written(card, &page);
    if (page.state == VMV_PAGE_RESIDENT || page.state == VMV_PAGE_ZERO) say_touch(card, addr);
}

/* Several pages in a cell: how many, and the strongest of them. */
static void cell_card(struct card *card, const struct map_hit *hit) {
    const struct map_drawn *drawn = &card->frame->cache->drawn;
    uint64_t bytes = map_grid_cell_bytes(&drawn->grid);
    char size[UI_FORMAT_SIZE];
    page_card(card, hit->place.addr);
    if (drawn->look != APP_LOOK_PAGES || !drawn->grid.unit_bits) return;
    ui_format_size(size, sizeof size, bytes);
    char count[UI_FORMAT_SIZE];
    ui_format_count(count, sizeof count, 1u << drawn->grid.unit_bits);
    if (add(card, UI_FAINT))
        snprintf(last_text(card), LINE, "the cell shows the strongest of %s pages, %s", count, size);
}

/* --- threads -------------------------------------------------------------------------------------------------------
 */

static void say_markers(struct card *card, uint64_t start, uint64_t end) {
    const struct map_frame *frame = card->frame;
    int count = 0;
    for (size_t i = map_markers_lower(frame, start); i < frame->marker_count && frame->marker[i].addr < end; i++) {
        const struct map_marker *marker = &frame->marker[i];
        if (++count > 3 || !add(card, UI_INK)) return;
        snprintf(last_text(card), LINE, "%s of %s", map_marker_word(marker), view_thread_name(marker->thread));
    }
}

/* --- mappings, gaps, bytes -----------------------------------------------------------------------------------------
 */

static void mapping_card(struct card *card, uint64_t addr) {
    struct app *app = card->frame->app;
    const struct app_mapping *mapping = app_mapping_at(app, addr);
    if (!mapping) return;
    char perm[5], size[UI_FORMAT_SIZE], resident[UI_FORMAT_SIZE], end[UI_FORMAT_SIZE], count[UI_FORMAT_SIZE];
    uint64_t bytes = mapping->map->end - mapping->map->start;
    title(card, mapping->map->start, mapping->name);
    ui_format_address(end, sizeof end, mapping->map->end);
    ui_format_size(size, sizeof size, bytes);
    ui_format_size(resident, sizeof resident, mapping->resident * map_page_size(app));
    view_perm(mapping->map, perm);
    const char *shared = mapping->map->flags & VMV_MAP_SHARED ? "shared" : "private";
    if (add(card, UI_DIM)) snprintf(last_text(card), LINE, "to %s, %s", end, size);
    if (add(card, UI_DIM)) snprintf(last_text(card), LINE, "%s, %s, %s", view_kind_word(mapping->kind), perm, shared);
    if (mapping->guard) say(card, UI_DIM, "guard: a touch raises SIGSEGV");
    if (mapping->reserved) say(card, UI_DIM, "reserved: no access, no memory");
    ui_format_count(count, sizeof count, mapping->written);
    if (!mapping->guard && !mapping->reserved && add(card, UI_DIM))
        snprintf(last_text(card), LINE, "%s resident, %s page%s written in this frame", resident, count,
                 mapping->written == 1 ? "" : "s");
    if (mapping->map->name && mapping->map->name[0] == '/' && add(card, UI_FAINT))
        for (int i = 0; i < LINE - 1 && (last_text(card)[i] = mapping->map->name[i]); i++)
            if ((unsigned char)last_text(card)[i] < 0x20) last_text(card)[i] = '?';
}

static void gap_card(struct card *card, struct app_place place) {
    char size[UI_FORMAT_SIZE], end[UI_FORMAT_SIZE];
    title(card, place.addr, "unmapped");
    ui_format_size(size, sizeof size, place.len);
    ui_format_address(end, sizeof end, place.addr + place.len);
    if (add(card, UI_DIM)) snprintf(last_text(card), LINE, "to %s, %s", end, size);
}

static void bytes_card(struct card *card, struct app_place place) {
    struct app *app = card->frame->app;
    char name[APP_NAME_SIZE + 32];
    view_address_name(app, place.addr, name, sizeof name);
    title(card, place.addr, name);
    const struct map_sheet *sheet = map_sheet_at(card->frame, place.addr);
    if (!sheet) return;
    size_t at = (size_t)(place.addr - sheet->addr);
    uint64_t value = 0;
    for (size_t i = place.len < 8 ? (size_t)place.len : 8; i-- > 0 && at + i < sheet->size;)
        value = value << 8 | sheet->byte[at + i];
    if (sheet->kind[at] == MAP_BYTE_UNKNOWN) {
        say(card, UI_DIM, "unknown: it was never captured");
    } else if ((sheet->kind[at] & 7) == MAP_BYTE_POINTER) {
        view_address_name(app, value, name, sizeof name);
        if (add(card, view_kind_color((enum vmv_kind)sheet->target[at])))
            snprintf(last_text(card), LINE, "\xe2\x86\x92 %s", name);
    } else if (add(card, UI_DIM)) {
        snprintf(last_text(card), LINE, "0x%02x = %u", (unsigned)value, (unsigned)value);
    }
    if (sheet->kind[at] & MAP_BYTE_CHANGED) say(card, UI_WRITTEN_NOW, "changed in this frame");
    struct timeline_page page = timeline_page(app->tl, app->space_id, place.addr);
    const struct app_mapping *mapping = app_mapping_at(app, place.addr);
    if (mapping) say_state(card, mapping, &page);
    say_markers(card, place.addr, place.addr + place.len);
}

void map_card_draw(struct map_frame *frame, const struct map_hit *hit) {
    struct card *card = ui_draw_alloc(frame->draw, sizeof *card);
    if (!card) return;
    card->frame = frame;
    switch (hit->place.kind) {
    case APP_PLACE_PAGE:
        cell_card(card, hit);
        break;
    case APP_PLACE_MAPPING:
        mapping_card(card, hit->place.addr);
        break;
    case APP_PLACE_GAP:
        gap_card(card, hit->place);
        break;
    case APP_PLACE_BYTES:
        bytes_card(card, hit->place);
        break;
    default:
        return;
    }
    uint64_t page = map_page_size(frame->app);
    if (hit->place.kind == APP_PLACE_PAGE)
        say_markers(card, hit->place.addr - hit->place.addr % page, hit->place.addr + hit->place.len);
    if (!card->count) return;
    ui_card(frame->draw, frame->panel, frame->app->ui.mouse_x, frame->app->ui.mouse_y, card->line, card->count);
}
