/* Bytes: the first of the selection as every type, then all of them in hex and text. */
#include "inspector.h"
#include "ui_format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { AS_MOST = 8, SHOWN = 512, LITTLE = 0, BIG = 1 };

struct bytes { /* what the tab shows */
    uint64_t addr;
    size_t length;
    uint8_t value[SHOWN];
    bool known[SHOWN];
};

static void read_bytes(struct app *app, struct bytes *bytes) {
    struct timeline_run run[SHOWN];
    memset(bytes->known, 0, sizeof bytes->known);
    if (!app->space_id) return;
    size_t runs = timeline_read(app->tl, app->space_id, bytes->addr, bytes->value, bytes->length, run, SHOWN);
    for (size_t i = 0; i < runs; i++) {
        if (!run[i].known || run[i].addr < bytes->addr) continue;
        uint64_t from = run[i].addr - bytes->addr;
        for (uint64_t k = from; k < bytes->length && k - from < run[i].length; k++) bytes->known[k] = true;
    }
}

static bool known(const struct bytes *bytes, size_t length) {
    if (length > bytes->length) return false;
    for (size_t i = 0; i < length; i++)
        if (!bytes->known[i]) return false;
    return true;
}

static uint64_t number(const struct bytes *bytes, size_t size, int order) {
    uint64_t value = 0;
    for (size_t i = 0; i < size; i++) value = value << 8 | bytes->value[order == BIG ? i : size - 1 - i];
    return value;
}

/* --- as numbers --- */

enum as_kind { AS_UNSIGNED, AS_SIGNED, AS_FLOAT };
static const struct as {
    const char *name;
    size_t size;
    enum as_kind kind;
} as_table[] = {{"u8", 1, AS_UNSIGNED},  {"i8", 1, AS_SIGNED},  {"u16", 2, AS_UNSIGNED}, {"i16", 2, AS_SIGNED},
                {"u32", 4, AS_UNSIGNED}, {"i32", 4, AS_SIGNED}, {"u64", 8, AS_UNSIGNED}, {"i64", 8, AS_SIGNED},
                {"f32", 4, AS_FLOAT},    {"f64", 8, AS_FLOAT}};

static int64_t sign_extend(uint64_t value, size_t size) {
    unsigned shift = 64 - 8 * (unsigned)size;
    return (int64_t)(value << shift) >> shift;
}

static void as_text(const struct bytes *bytes, const struct as *as, int order, char *out, size_t size) {
    uint64_t value = number(bytes, as->size, order);
    uint32_t half = (uint32_t)value;
    float single;
    double whole;
    if (as->kind == AS_UNSIGNED) {
        ui_format_count(out, size, value);
    } else if (as->kind == AS_SIGNED) {
        ui_format_signed(out, size, sign_extend(value, as->size));
    } else if (as->size == 4) {
        memcpy(&single, &half, sizeof single);
        snprintf(out, size, isnan(single) ? "nan" : "%.6g", (double)single);
    } else {
        memcpy(&whole, &value, sizeof whole);
        snprintf(out, size, isnan(whole) ? "nan" : "%.10g", whole);
    }
}

/* In groups where there is room, else without, else below. */
static void big_endian(struct page_writer *page, const struct bytes *bytes, const struct as *as, int room) {
    char text[UI_FORMAT_SIZE];
    as_text(bytes, as, BIG, text, sizeof text);
    if (ui_text_width(UI_S, text) > room && as->kind != AS_FLOAT) {
        uint64_t value = number(bytes, as->size, BIG);
        if (as->kind == AS_UNSIGNED)
            snprintf(text, sizeof text, "%llu", (unsigned long long)value);
        else
            snprintf(text, sizeof text, "%lld", (long long)sign_extend(value, as->size));
    }
    if (ui_text_width(UI_S, text) > room) page->y += 13;
    ui_draw_text_right(page->app->draw, page->x + page->w, page->y, UI_S, UI_FAINT, text);
}

static void number_row(struct page_writer *page, const struct bytes *bytes, const struct as *as, uint64_t selected) {
    struct ui_draw *draw = page->app->draw;
    int middle = page->x + page->w * 58 / 100, right = page->x + page->w;
    char text[UI_FORMAT_SIZE];
    bool whole = selected == as->size && as->kind == AS_UNSIGNED && selected > 1;
    if (whole) ui_draw_rect(draw, ui_rect(page->x - 8, page->y - 1, page->w + 16, 13), UI_RAISED2);
    ui_draw_begin_group(draw, "as", as->name);
    ui_draw_text(draw, page->x, page->y, UI_S, whole ? UI_INK : UI_DIM, as->name);
    if (!known(bytes, as->size)) {
        ui_draw_text_right(draw, middle, page->y, UI_S, UI_FAINT, "unknown");
    } else {
        as_text(bytes, as, LITTLE, text, sizeof text);
        ui_draw_text_right(draw, middle, page->y, UI_S, UI_INK, text);
        if (as->size > 1) big_endian(page, bytes, as, right - middle - 6);
    }
    ui_draw_end_group(draw);
    page->y += 13;
}

static void numbers(struct page_writer *page, const struct bytes *bytes, uint64_t selected) {
    struct ui_draw *draw = page->app->draw;
    int middle = page->x + page->w * 58 / 100;
    ui_draw_text(draw, page->x, page->y, UI_S, UI_FAINT, "as");
    ui_draw_text_right(draw, middle, page->y, UI_S, UI_FAINT, "little endian");
    ui_draw_text_right(draw, page->x + page->w, page->y, UI_S, UI_FAINT, "big endian");
    page->y += 14;
    for (size_t i = 0; i < sizeof as_table / sizeof *as_table; i++) number_row(page, bytes, &as_table[i], selected);
    page->y += 4;
}

/* --- as other things --- */

static void hex_text(const struct bytes *bytes, size_t from, size_t count, char *out, size_t size) {
    size_t n = 0;
    for (size_t i = from; i < from + count && i < bytes->length && n + 4 < size; i++)
        n += (size_t)snprintf(out + n, size - n, bytes->known[i] ? "%s%02x" : "%s??", i > from ? " " : "",
                              bytes->value[i]);
    out[n] = '\0';
}

static void ascii_text(const struct bytes *bytes, size_t from, size_t count, char *out) {
    size_t n = 0;
    for (size_t i = from; i < from + count && i < bytes->length; i++) {
        const char *c = "\xc2\xb7";
        if (!bytes->known[i]) c = "?";
        if (bytes->known[i] && bytes->value[i] >= 0x20 && bytes->value[i] < 0x7f) {
            out[n++] = (char)bytes->value[i];
            continue;
        }
        while (*c) out[n++] = *c++;
    }
    out[n] = '\0';
}

/* A time of the years 2000 to 2100, as seconds, milliseconds, microseconds or nanoseconds since 1970. */
static void time_fact(struct page_writer *page, const struct bytes *bytes) {
    static const struct {
        uint64_t unit;
        const char *name;
    } units[] = {{1, "seconds"}, {1000, "ms"}, {1000000, "\xc2\xb5s"}, {1000000000, "ns"}};
    if (!known(bytes, 8)) return;
    uint64_t value = number(bytes, 8, LITTLE);
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        time_t seconds = (time_t)(value / units[i].unit);
        struct tm parts;
        char text[48];
        bool likely = seconds >= 946684800 && seconds < 4102444800;
        if (!likely && !(i == 0 && value < 4102444800u)) continue;
        if (!gmtime_r(&seconds, &parts)) continue;
        strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S UTC", &parts);
        inspector_fact(page, "time", likely ? UI_DIM : UI_FAINT, "%s, as %s", text, units[i].name);
        return;
    }
    inspector_fact(page, "time", UI_FAINT, "none: no date between 2000 and 2100");
}

static void pointer_fact(struct page_writer *page, const struct bytes *bytes) {
    char place[APP_NAME_SIZE + 24];
    if (!known(bytes, 8)) {
        inspector_fact(page, "pointer", UI_FAINT, "unknown");
        return;
    }
    uint64_t value = number(bytes, 8, LITTLE);
    const struct app_mapping *mapping = app_mapping_at(page->app, value);
    view_address_name(page->app, value, place, sizeof place);
    if (!value)
        inspector_fact(page, "pointer", UI_FAINT, "NULL");
    else
        inspector_fact(page, "pointer", mapping ? view_kind_color(mapping->kind) : UI_FAINT, "%s", place);
}

static void other_forms(struct page_writer *page, const struct bytes *bytes) {
    char text[160];
    hex_text(bytes, 0, AS_MOST, text, sizeof text);
    inspector_fact(page, "hex", UI_INK, "%s", text);
    ascii_text(bytes, 0, 32, text);
    inspector_fact(page, "text", UI_INK, "%s", text);
    time_fact(page, bytes);
    pointer_fact(page, bytes);
}

/* --- hex --- */

static void hex_row(struct page_writer *page, const struct bytes *bytes, size_t at) {
    struct ui_draw *draw = page->app->draw;
    char text[64];
    int x = page->x + 30, cell = ui_cell_width(UI_S);
    ui_format_offset(text, sizeof text, (bytes->addr + at) % page->app->world->page_size);
    ui_draw_text(draw, page->x, page->y, UI_S, UI_FAINT, text);
    for (size_t i = at; i < at + 8 && i < bytes->length; i++) {
        hex_text(bytes, i, 1, text, sizeof text);
        ui_color color = !bytes->known[i] ? UI_FAINT : bytes->value[i] ? UI_DIM : UI_GHOST;
        ui_draw_text(draw, x + (int)(i - at) * 3 * cell + (i - at >= 4 ? 4 : 0), page->y, UI_S, color, text);
    }
    ascii_text(bytes, at, 8, text);
    ui_draw_text_fit(draw, x + 24 * cell + 10, page->y, page->w - 40 - 24 * cell, UI_S, UI_DIM, text);
    page->y += 13;
}

static void hex_rows(struct page_writer *page, const struct bytes *bytes, uint64_t selected) {
    char right[UI_FORMAT_SIZE + 24];
    if (bytes->length <= AS_MOST) return;
    right[0] = '\0';
    if (selected > bytes->length) snprintf(right, sizeof right, "the first %zu", bytes->length);
    inspector_section(page, "bytes", *right ? right : NULL);
    for (size_t at = 0; at < bytes->length; at += 8)
        if (ui_draw_visible(page->app->draw, ui_rect(page->x, page->y, page->w, 13)))
            hex_row(page, bytes, at);
        else
            page->y += 13;
}

/* --- the tab --- */

void inspector_bytes(struct page_writer *page) {
    struct app *app = page->app;
    struct app_place place = app->selection;
    uint64_t start = 0, end = 0;
    char name[APP_NAME_SIZE], words[APP_NAME_SIZE + 24], text[160];
    if (place.kind == APP_PLACE_SPACE) {
        inspector_line(page, UI_FAINT, "Select a mapping, a page or bytes: they are shown here as every type.");
        return;
    }
    if (!app_place_range(app, place, &start, &end)) {
        inspector_line(page, UI_FAINT, "Nothing is mapped here at this moment.");
        return;
    }
    uint64_t selected = end - start;
    struct bytes bytes = {.addr = start, .length = selected < AS_MOST ? AS_MOST : selected > SHOWN ? SHOWN : selected};
    enum ui_pattern pattern;
    read_bytes(app, &bytes);
    view_place_name(app, place, name, sizeof name);
    view_address_name(app, start, words, sizeof words);
    const struct app_mapping *mapping = app_mapping_at(app, start);
    inspector_subject(page, name, mapping, mapping ? view_kind_color(mapping->kind) : UI_GHOST, words);
    inspector_range(page, start, end);
    ui_color color = inspector_knowledge(app, start, selected, text, sizeof text, &pattern);
    ui_draw_pattern(app->draw, ui_rect(page->x, page->y + 1, 10, 10), pattern, UI_DIM);
    struct page_writer line = {app, page->x + 14, page->y, page->w - 14};
    inspector_line(&line, color, "%s", text);
    page->y = line.y + 6;
    numbers(page, &bytes, selected);
    other_forms(page, &bytes);
    hex_rows(page, &bytes, selected);
}
