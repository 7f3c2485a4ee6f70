/* The bytes of one page, sorted into zeros, values, text and pointers, with what is known of them and what changed in
 * this frame. */
#include "app_search.h"
#include "map.h"

#include <stdlib.h>
#include <string.h>

enum { RUNS = 64, TEXT_LEAST = 4 };
#define SEARCH_KEY 0x6d61702073686565ull /* one answer for each sheet kept */

static void sheet_free(struct map_sheet *sheet) {
    free(sheet->byte);
    *sheet = (struct map_sheet){0};
}

void map_sheets_free(struct app_map_cache *cache) {
    for (int i = 0; i < MAP_SHEETS; i++) sheet_free(&cache->sheet[i]);
}

/* --- what bytes are --------------------------------------------------------------------------------------------------
 */

static bool printable(uint8_t byte) { return byte >= 0x20 && byte < 0x7f; }

static uint64_t word_at(const uint8_t *byte) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | byte[i];
    return value;
}

static bool all_known(const struct map_sheet *sheet, size_t from, size_t count) {
    for (size_t i = from; i < from + count; i++)
        if (sheet->kind[i] == MAP_BYTE_UNKNOWN) return false;
    return true;
}

static void find_text(struct map_sheet *sheet) {
    for (size_t from = 0, to; from < sheet->size; from = to + 1) {
        to = from;
        while (to < sheet->size && sheet->kind[to] != MAP_BYTE_UNKNOWN && printable(sheet->byte[to])) to++;
        if (to - from >= TEXT_LEAST) memset(sheet->kind + from, MAP_BYTE_TEXT, to - from);
    }
}

static void find_pointers(struct app *app, struct map_sheet *sheet) {
    for (size_t i = 0; i + 8 <= sheet->size; i += 8) {
        uint64_t value = word_at(sheet->byte + i);
        if (!value || !all_known(sheet, i, 8)) continue;
        const struct app_mapping *target = app_mapping_at(app, value);
        if (!target || target->reserved) continue;
        memset(sheet->kind + i, MAP_BYTE_POINTER, 8);
        memset(sheet->target + i, (int)target->kind, 8);
    }
}

static void sort_bytes(struct app *app, struct map_sheet *sheet) {
    for (size_t i = 0; i < sheet->size; i++)
        if (sheet->kind[i] != MAP_BYTE_UNKNOWN) sheet->kind[i] = sheet->byte[i] ? MAP_BYTE_VALUE : MAP_BYTE_ZERO;
    find_text(sheet);
    find_pointers(app, sheet);
}

/* --- reading -------------------------------------------------------------------------------------------------------
 */

static void take_run(struct map_sheet *sheet, const struct timeline_run *run) {
    if (run->addr < sheet->addr || run->addr - sheet->addr >= sheet->size) return;
    size_t from = (size_t)(run->addr - sheet->addr), most = sheet->size - from;
    size_t length = run->length < most ? (size_t)run->length : most;
    bool known = run->known && run->mapped;
    uint8_t pattern = (uint8_t)(known ? view_certainty_pattern(run->certainty) : UI_PATTERN_UNKNOWN);
    memset(sheet->pattern + from, run->mapped ? pattern : UI_PATTERN_COUNT, length);
    memset(sheet->kind + from, known ? MAP_BYTE_VALUE : MAP_BYTE_UNKNOWN, length);
    if (!known || sheet->certainty != VMV_CERT_UNKNOWN) return;
    sheet->captured = run->captured;
    sheet->certainty = run->certainty;
}

static void read_sheet(struct map_frame *frame, struct map_sheet *sheet) {
    struct app *app = frame->app;
    struct timeline_run run[RUNS];
    memset(sheet->kind, MAP_BYTE_UNKNOWN, sheet->size);
    memset(sheet->pattern, UI_PATTERN_UNKNOWN, sheet->size);
    sheet->certainty = VMV_CERT_UNKNOWN;
    sheet->captured = 0;
    sheet->changes_asked = false;
    size_t count = timeline_read(app->tl, app->space_id, sheet->addr, sheet->byte, sheet->size, run, RUNS);
    for (size_t i = 0; i < count && i < RUNS; i++) take_run(sheet, &run[i]);
    sort_bytes(app, sheet);
}

static bool make_room(struct map_sheet *sheet) {
    if (sheet->byte) return true;
    sheet->byte = malloc(4 * MAP_SHEET);
    if (!sheet->byte) return false;
    sheet->kind = sheet->byte + MAP_SHEET;
    sheet->pattern = sheet->kind + MAP_SHEET;
    sheet->target = sheet->pattern + MAP_SHEET;
    return true;
}

/* --- what changed in this frame ------------------------------------------------------------------------------------
 * The contents captured with this frame are compared with the ones captured before, unless the memory was mapped,
 * moved or given back in between: then nothing is known of a change. */

static bool accept(const struct vmv_event *event, const struct timeline_filter *filter) {
    (void)filter;
    return event->ret >= 0;
}

static struct timeline_filter question_filter(const struct app *app, const struct map_sheet *sheet) {
    static const enum vmv_event_type types[] = {VMV_EV_CONTENT, VMV_EV_MMAP,    VMV_EV_MUNMAP, VMV_EV_MREMAP,
                                                VMV_EV_MADVISE, VMV_EV_BRK,     VMV_EV_REMAP,  VMV_EV_SHMAT,
                                                VMV_EV_MAPS,    VMV_EV_TRUNCATE};
    struct timeline_filter filter = {.space = app->space_id, .addr = sheet->addr, .end = sheet->addr + sheet->size};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) timeline_filter_type(&filter, types[i]);
    return filter;
}

static bool page_before(struct app *app, const struct map_sheet *sheet, const struct vmv_event *event, uint8_t *out) {
    uint64_t size = app->world->page_size;
    uint64_t content = event->content;
    if (event->content_step && sheet->addr >= event->addr) content += (sheet->addr - event->addr) / size;
    if (content == VMV_CONTENT_ZERO) {
        memset(out, 0, size);
        return true;
    }
    return content >= VMV_CONTENT_FIRST && vmv_reader_page(timeline_reader(app->tl), content, out);
}

static void mark_changes(struct app *app, struct map_sheet *sheet, const struct vmv_event *event) {
    uint64_t size = app->world->page_size;
    uint8_t *before = size >= sheet->size && size <= 1u << 20 ? malloc(size) : NULL;
    if (before && page_before(app, sheet, event, before)) {
        const uint8_t *part = before + sheet->addr % size;
        for (size_t i = 0; i < sheet->size; i++)
            if (sheet->kind[i] != MAP_BYTE_UNKNOWN && part[i] != sheet->byte[i]) sheet->kind[i] |= MAP_BYTE_CHANGED;
    }
    free(before);
}

static void ask_changes(struct map_frame *frame, struct map_sheet *sheet, uint64_t slot) {
    struct app *app = frame->app;
    const struct timeline_frame *at = app_frame(app);
    const struct vmv_page *page = app->space ? vmv_space_page_peek(app->space, sheet->addr) : NULL;
    sheet->changes_asked = true;
    if (!at || !page || page->content < VMV_CONTENT_FIRST || page->captured < at->t || !page->captured) return;
    struct app_question question = {.key = SEARCH_KEY + slot, .filter = question_filter(app, sheet), .accept = accept};
    question.t = page->captured - 1;
    const struct app_found *found = app_ask(app, &question);
    if (found->searching)
        sheet->changes_asked = false;
    else if (found->found && found->event.type == VMV_EV_CONTENT)
        mark_changes(app, sheet, &found->event);
}

const struct map_sheet *map_sheet_at(struct map_frame *frame, uint64_t addr) {
    struct app_map_cache *cache = frame->cache;
    uint64_t start = addr - addr % MAP_SHEET;
    int slot = -1;
    for (int i = 0; i < MAP_SHEETS; i++)
        if (cache->sheet[i].byte && cache->sheet[i].addr == start) slot = i;
    if (slot < 0) {
        slot = (int)(cache->sheet_next++ % MAP_SHEETS);
        cache->sheet[slot].moment = 0;
    }
    struct map_sheet *sheet = &cache->sheet[slot];
    if (!make_room(sheet)) return NULL;
    if (sheet->moment != frame->app->moment + 1) {
        sheet->moment = frame->app->moment + 1;
        sheet->addr = start;
        sheet->size = MAP_SHEET;
        read_sheet(frame, sheet);
    }
    if (!sheet->changes_asked) ask_changes(frame, sheet, (uint64_t)slot);
    return sheet;
}
