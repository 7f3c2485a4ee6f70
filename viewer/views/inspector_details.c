/* Details: what the selection is, where it lies, how it came to be, and how well it is known. */
#include "app_curves.h"
#include "app_history.h"
#include "app_names.h"
#include "app_regions.h"
#include "inspector.h"
#include "ui_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void size_line(struct page_writer *page, uint64_t bytes) {
    char size[UI_FORMAT_SIZE], pages[UI_FORMAT_SIZE], one[UI_FORMAT_SIZE];
    uint64_t page_size = page->app->world->page_size;
    ui_format_size(size, sizeof size, bytes);
    ui_format_count(pages, sizeof pages, bytes / page_size);
    ui_format_size(one, sizeof one, page_size);
    inspector_line(page, UI_DIM, "%s  =  %s page%s of %s", size, pages, bytes == page_size ? "" : "s", one);
}

static void resident_fact(struct page_writer *page, uint64_t pages, uint64_t bytes) {
    char size[UI_FORMAT_SIZE], percent[UI_FORMAT_SIZE];
    uint64_t resident = pages * page->app->world->page_size;
    ui_format_size(size, sizeof size, resident);
    ui_format_percent(percent, sizeof percent, bytes ? (double)resident / (double)bytes : NAN);
    inspector_fact(page, "resident", UI_DIM, "%s, %s", size, percent);
}

static void written_fact(struct page_writer *page, uint64_t written, uint64_t huge) {
    char count[UI_FORMAT_SIZE];
    ui_format_count(count, sizeof count, written);
    if (!app_frame(page->app)) {
        inspector_fact(page, "written", UI_FAINT, "unknown before the first frame");
    } else if (!written) {
        inspector_fact(page, "written", UI_DIM, "no page in this frame");
    } else {
        inspector_fact(page, "written", UI_WRITTEN_1, "%s page%s in this frame%s", count, written == 1 ? "" : "s",
                       huge ? ", some of them huge" : "");
    }
}

/* --- chart --- */

enum { CHART = 44 };

static void chart_gaps(struct app *app, struct ui_rect rect) {
    size_t count = 0;
    const struct vmv_event *landmark = timeline_landmarks(app->tl, &count);
    for (size_t i = 0; i < count; i++) {
        if (landmark[i].type != VMV_EV_GAP) continue;
        int x0 = (int)((double)landmark[i].t / (double)app->duration * rect.w);
        int x1 = (int)ceil((double)landmark[i].to / (double)app->duration * rect.w);
        struct ui_rect gap = ui_rect(rect.x + x0, rect.y, ui_max(x1 - x0, 1), rect.h);
        ui_draw_rect(app->draw, gap, UI_PANEL);
        ui_draw_pattern(app->draw, gap, UI_PATTERN_GAP, UI_RULE2);
    }
}

/* One bar for each frame, over the time whose writes it saw: from the frame before. */
static void chart_bars(struct app *app, struct ui_rect rect, const uint32_t *written, size_t done, uint32_t most) {
    const struct timeline_frame *frame = app->history->frame;
    double scale = (double)rect.w / (double)app->duration;
    for (size_t i = 0, next; i < done; i = next) {
        int x0 = i ? (int)((double)frame[i - 1].t * scale) : (int)((double)app_first_moment(app) * scale), x1;
        uint32_t high = 0;
        /* Frames that end in the same pixel: the highest one is seen. */
        next = i;
        do {
            x1 = (int)((double)frame[next].t * scale);
            if (written[next] > high) high = written[next];
            next++;
        } while (next < done && (int)((double)frame[next].t * scale) <= x0 + 1);
        if (!high) continue;
        int height = ui_max((int)((double)high / most * CHART), 1), width = x1 - x0;
        x0 = ui_min(x0, rect.w - 1);
        ui_draw_rect(app->draw,
                     ui_rect(rect.x + x0, rect.y + CHART - height, ui_max(width > 3 ? width - 1 : width, 1), height),
                     UI_WRITTEN_2);
    }
}

static void chart(struct page_writer *page, uint64_t start, uint64_t end) {
    struct app *app = page->app;
    size_t done = 0;
    const uint32_t *written = app_curves_frames(app, start, end, &done);
    uint32_t most = 0;
    char number[UI_FORMAT_SIZE], text[UI_FORMAT_SIZE + 16];
    if (!written || !app->duration) return;
    for (size_t i = 0; i < done; i++)
        if (written[i] > most) most = written[i];
    ui_format_count(number, sizeof number, most);
    snprintf(text, sizeof text, done < app->history->frame_count ? "counting \xe2\x80\xa6" : "max %s", number);
    inspector_section(page, "written pages a frame", text);
    struct ui_rect rect = ui_rect(page->x, page->y - 2, ui_max(page->w, 1), CHART);
    ui_draw_begin_group(app->draw, "chart", "written");
    chart_bars(app, rect, written, done, most);
    chart_gaps(app, rect);
    ui_draw_hline(app->draw, rect.x, rect.y + CHART, rect.w, UI_RULE);
    int cursor = (int)((double)app->t / (double)app->duration * (rect.w - 1));
    ui_draw_vline(app->draw, rect.x + cursor, rect.y, CHART, UI_WHITE);
    ui_draw_end_group(app->draw);
    page->y += CHART + 6;
}

/* --- hints --- */

static void go_on(struct page_writer *page, const char *key, const char *what) {
    ui_key_cap(page->app->draw, page->x, page->y, key, UI_DIM);
    ui_draw_text_fit(page->app->draw, page->x + 54, page->y, page->w - 54, UI_S, UI_DIM, what);
    page->y += 16;
}

/* --- a mapping --- */

static void file_facts(struct page_writer *page, const struct vmv_mapping *map) {
    char path[512], size[UI_FORMAT_SIZE];
    if (!app_mapping_is_file(map)) return;
    app_plain(path, sizeof path, map->name);
    inspector_fact(page, "file", UI_DIM, "%s", path);
    inspector_fact(page, "offset", UI_DIM, "0x%llx", (unsigned long long)map->offset);
    inspector_fact(page, "device", UI_DIM, "%02x:%02x, inode %llu", map->dev_major, map->dev_minor,
                   (unsigned long long)map->inode);
    const struct vmv_object *object = vmv_reader_object(timeline_reader(page->app->tl), map->object);
    if (!object || !object->embedded) {
        inspector_fact(page, "in trace", UI_FAINT, "no: the file is not embedded");
        return;
    }
    ui_format_size(size, sizeof size, object->embedded);
    inspector_fact(page, "in trace", UI_DIM, object->embedded < object->size ? "its first %s" : "all %s of it", size);
}

static void flag_facts(struct page_writer *page, const struct app_mapping *mapping) {
    uint32_t flags = mapping->map->flags;
    if (mapping->guard) inspector_fact(page, "guard", UI_ATTENTION, "no access: a touch raises SIGSEGV");
    if (mapping->reserved) inspector_fact(page, "reserved", UI_DIM, "no access: addresses only, no memory");
    if (flags & VMV_MAP_GROWSDOWN) inspector_fact(page, "grows", UI_DIM, "downwards when touched below");
    if (flags & VMV_MAP_HUGETLB) inspector_fact(page, "hugetlb", UI_DIM, "of the pool of huge pages");
    if (flags & VMV_MAP_SEALED) inspector_fact(page, "sealed", UI_DIM, "mseal: it cannot be changed");
}

static void known_fact(struct page_writer *page, const struct app_mapping *mapping) {
    struct app *app = page->app;
    uint64_t pages = (mapping->map->end - mapping->map->start) / app->world->page_size;
    char known[UI_FORMAT_SIZE], never[UI_FORMAT_SIZE];
    ui_format_count(known, sizeof known, mapping->known);
    ui_format_count(never, sizeof never, pages - mapping->known);
    if (!app->space->last_frame_t)
        inspector_fact(page, "knowledge", UI_FAINT, "no frame yet: pages unknown but for recorded faults");
    else if (mapping->known == 0)
        inspector_fact(page, "knowledge", UI_DIM, "no page of it was ever seen in memory");
    else
        inspector_fact(page, "knowledge", UI_DIM, "%s page%s seen in memory; %s never", known,
                       mapping->known == 1 ? "" : "s", never);
}

static void mapping_details(struct page_writer *page, const struct app_mapping *mapping) {
    const struct vmv_mapping *map = mapping->map;
    char words[64], perm[5];
    view_perm(map, perm);
    snprintf(words, sizeof words, "%s, %s, %s", view_kind_word(mapping->kind), perm,
             map->flags & VMV_MAP_SHARED ? "shared" : "private");
    inspector_subject(page, mapping->name, true, view_kind_color(mapping->kind), words);
    inspector_range(page, map->start, map->end);
    size_line(page, map->end - map->start);
    chart(page, map->start, map->end);
    inspector_section(page, "facts", NULL);
    inspector_origin(page, map->start, map->end);
    resident_fact(page, mapping->resident, map->end - map->start);
    written_fact(page, mapping->written, mapping->huge);
    flag_facts(page, mapping);
    file_facts(page, map);
    known_fact(page, mapping);
    inspector_section(page, "go on", NULL);
    go_on(page, "Enter", "its pages");
    go_on(page, "K", "another colouring");
    go_on(page, "M", "bookmark this moment");
}

/* --- a group --- */

static void group_details(struct page_writer *page, const struct app_group *group) {
    struct app *app = page->app;
    const struct app_regions *regions = app_regions(app);
    char words[64];
    snprintf(words, sizeof words, "%s, %d mappings", view_kind_word(group->kind), group->count);
    inspector_subject(page, group->name, true, view_kind_color(group->kind), words);
    size_line(page, group->bytes);
    inspector_section(page, "facts", NULL);
    resident_fact(page, group->resident, group->bytes);
    written_fact(page, group->written, 0);
    inspector_section(page, "mappings", NULL);
    for (int i = 0; i < group->count && i < 200; i++) {
        const struct app_mapping *mapping = &regions->map[regions->order[group->first + i]];
        char size[UI_FORMAT_SIZE];
        int x = ui_draw_address(app->draw, page->x, page->y, UI_S, UI_DIM, mapping->map->start, UI_NO_ADDRESS);
        ui_format_size(size, sizeof size, mapping->map->end - mapping->map->start);
        ui_draw_text_right(app->draw, page->x + page->w, page->y, UI_S, UI_DIM, size);
        ui_draw_text_fit(app->draw, x + 10, page->y, page->x + page->w - x - 76, UI_S, UI_FAINT, mapping->short_name);
        page->y += INSPECTOR_LINE;
    }
}

/* --- a page and bytes --- */

static void page_flags(struct page_writer *page, const struct timeline_page *info) {
    static const struct {
        uint8_t flag;
        const char *words;
    } words[] = {{VMV_PAGEF_HUGE, "part of a huge page: its writes cannot be told apart"},
                 {VMV_PAGEF_FILE, "still the page of the mapped file"},
                 {VMV_PAGEF_POPULATED, "became resident without a fault: by whom unknown"},
                 {VMV_PAGEF_SKIPPED, "written, but its contents were not copied"}};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (info->page.flags & words[i].flag) inspector_fact(page, i ? "" : "huge", UI_DIM, "%s", words[i].words);
}

static void write_facts(struct page_writer *page, const struct timeline_page *info) {
    struct app *app = page->app;
    char text[UI_FORMAT_SIZE];
    if (!info->page.written) {
        inspector_fact(page, "written", UI_DIM, "never seen");
        return;
    }
    ui_format_time(text, sizeof text, (int64_t)info->page.written, 6);
    bool now = app->space && app_page_written(app->space, &info->page);
    inspector_fact(page, "written", now ? UI_WRITTEN_1 : UI_DIM, "last seen at %s%s", text, now ? ", this frame" : "");
    ui_format_count(text, sizeof text, info->page.writes);
    inspector_fact(page, "writes", UI_DIM, "seen in %s frame%s and faults", text, info->page.writes == 1 ? "" : "s");
}

static void page_facts(struct page_writer *page, uint64_t addr, uint64_t len) {
    struct app *app = page->app;
    struct timeline_page info = timeline_page(app->tl, app->space_id, addr);
    char text[160];
    enum ui_pattern pattern;
    ui_color color = inspector_knowledge(app, addr, len, text, sizeof text, &pattern);
    inspector_section(page, "facts", NULL);
    inspector_fact(page, "state", info.state == VMV_PAGE_UNKNOWN ? UI_FAINT : UI_DIM, "%s",
                   view_state_word(info.state));
    ui_draw_pattern(app->draw, ui_rect(page->x + INSPECTOR_VALUE - 14, page->y + 1, 10, 10), pattern, UI_DIM);
    inspector_fact(page, "knowledge", color, "%s", text);
    if (info.may_have_changed && info.may_have_changed <= app->t) {
        ui_format_time(text, sizeof text, (int64_t)info.may_have_changed, 6);
        inspector_fact(page, "changed", UI_DIM, "may have, from %s on", text);
    }
    write_facts(page, &info);
    page_flags(page, &info);
    uint64_t size = app->world->page_size;
    inspector_touches(page, addr - addr % size, addr - addr % size + (len > size ? len : size));
}

static void place_details(struct page_writer *page, struct app_place place) {
    struct app *app = page->app;
    const struct app_mapping *mapping = app_mapping_at(app, place.addr);
    char name[APP_NAME_SIZE], subject[APP_NAME_SIZE * 2 + 8], perm[5] = "", words[64];
    view_place_name(app, place, name, sizeof name);
    if (mapping) view_perm(mapping->map, perm);
    if (place.kind == APP_PLACE_PAGE && mapping)
        snprintf(subject, sizeof subject, "%s of %s", name, mapping->name);
    else
        snprintf(subject, sizeof subject, "%s", name);
    snprintf(words, sizeof words, "%s%s%s", mapping ? view_kind_word(mapping->kind) : "not mapped", *perm ? ", " : "",
             perm);
    inspector_subject(page, subject, mapping, mapping ? view_kind_color(mapping->kind) : UI_GHOST, words);
    inspector_range(page, place.addr, place.addr + place.len);
    if (place.kind == APP_PLACE_BYTES) {
        char where[APP_NAME_SIZE + 24];
        view_address_name(app, place.addr, where, sizeof where);
        inspector_line(page, UI_DIM, "%s", where);
    } else if (place.len > app->world->page_size) {
        size_line(page, place.len);
    }
    if (!mapping) {
        inspector_line(page, UI_FAINT, "Nothing is mapped here at this moment.");
        return;
    }
    page_facts(page, place.addr, place.len);
    inspector_words(page, place.addr);
    inspector_section(page, "its mapping", NULL);
    inspector_origin(page, mapping->map->start, mapping->map->end);
    inspector_section(page, "go on", NULL);
    go_on(page, "2", "its bytes as every type");
    go_on(page, "[", "the change before");
    go_on(page, "]", "the change after");
}

static void gap_details(struct page_writer *page, struct app_place place) {
    struct app *app = page->app;
    char size[UI_FORMAT_SIZE];
    uint64_t start = place.addr, end = place.addr + place.len;
    const struct app_regions *regions = app_regions(app);
    size_t above = app_mapping_lower(app, place.addr);
    if (above < regions->count && regions->map[above].map->start > place.addr) {
        end = regions->map[above].map->start;
        start = above ? regions->map[above - 1].map->end : 0;
    }
    ui_format_size(size, sizeof size, end - start);
    inspector_subject(page, "unmapped", false, UI_GHOST, size);
    inspector_range(page, start, end);
    inspector_section(page, "facts", NULL);
    inspector_fact(page, "below", UI_DIM, "%s", above ? regions->map[above - 1].name : "the start of the space");
    inspector_fact(page, "above", UI_DIM, "%s",
                   above < regions->count ? regions->map[above].name : "the end of the space");
    inspector_fact(page, "a touch", UI_DIM, "raises SIGSEGV");
}

/* --- which --- */

void inspector_details(struct page_writer *page) {
    struct app *app = page->app;
    struct app_place place = app->selection;
    const struct app_mapping *mapping = place.kind == APP_PLACE_MAPPING ? app_mapping_at(app, place.addr) : NULL;
    const struct app_group *group = place.kind == APP_PLACE_GROUP ? app_group_find(app, place.group) : NULL;
    if (place.kind == APP_PLACE_SPACE)
        inspector_space(page);
    else if (mapping)
        mapping_details(page, mapping);
    else if (group)
        group_details(page, group);
    else if (place.kind == APP_PLACE_GAP)
        gap_details(page, place);
    else if (place.kind == APP_PLACE_GROUP)
        inspector_line(page, UI_FAINT, "Nothing of it is mapped at this moment.");
    else
        place_details(page, place);
}
