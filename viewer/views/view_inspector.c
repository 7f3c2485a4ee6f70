/* The inspector: tabs over facts about the selection. */
#include "inspector.h"
#include "ui_format.h"

#include <stdio.h>
#include <string.h>

enum { TABS = 20, MARGIN = 12 };

void inspector_subject(struct page_writer *page, const char *subject, bool sign, ui_color color, const char *words) {
    struct ui_draw *draw = page->app->draw;
    int words_width = ui_text_width(UI_S, words) + 26;
    bool beside = ui_text_width(UI_L, subject) + words_width <= page->w;
    int room = beside ? page->w - words_width : page->w;
    int x = ui_draw_text_fit(draw, page->x, page->y, room, UI_L | UI_BOLD, UI_INK, subject) + 7;
    page->y += 22;
    int y = beside ? page->y - 16 : page->y;
    if (!beside) {
        x = page->x;
        page->y += INSPECTOR_LINE;
    }
    if (sign) {
        ui_draw_rect(draw, ui_rect(x, y + 2, 8, 8), color);
        x += 14;
    }
    ui_draw_text_fit(draw, x, y, page->x + page->w - x, UI_S, UI_DIM, words);
}

void inspector_section(struct page_writer *page, const char *title, const char *right) {
    page->y += 8;
    ui_section_title(page->app->draw, page->x, page->y, page->w, title, right);
    page->y += 17;
}

static void wrapped(struct page_writer *page, int x, ui_color color, const char *text) {
    size_t length = strlen(text), next = 0;
    int width = page->x + page->w - x;
    do {
        size_t line = ui_text_wrap(UI_S, text, length, width, &next);
        ui_draw_text_n(page->app->draw, x, page->y, UI_S, color, text, line);
        page->y += INSPECTOR_LINE;
        text += next;
        length -= next;
    } while (length > 0 && next > 0);
}

void inspector_fact(struct page_writer *page, const char *name, ui_color color, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    ui_draw_begin_group(page->app->draw, "fact", name);
    ui_draw_text(page->app->draw, page->x, page->y, UI_S, UI_FAINT, name);
    wrapped(page, page->x + INSPECTOR_VALUE, color, text);
    ui_draw_end_group(page->app->draw);
}

void inspector_line(struct page_writer *page, ui_color color, const char *format, ...) {
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    wrapped(page, page->x, color, text);
}

void inspector_range(struct page_writer *page, uint64_t start, uint64_t end) {
    struct ui_draw *draw = page->app->draw;
    int x = ui_draw_address(draw, page->x, page->y, UI_S, UI_INK, start, UI_NO_ADDRESS);
    x = ui_draw_text(draw, x + 6, page->y, UI_S, UI_FAINT, "to");
    ui_draw_address(draw, x + 6, page->y, UI_S, UI_INK, end, UI_NO_ADDRESS);
    page->y += INSPECTOR_LINE;
}

void inspector_gap(struct page_writer *page, int pixels) { page->y += pixels; }

/* --- knowledge --- */

static int worse(enum vmv_certainty certainty) {
    static const int rank[] = {[VMV_CERT_EXACT] = 0,
                               [VMV_CERT_STALE] = 1,
                               [VMV_CERT_PARTIAL] = 1,
                               [VMV_CERT_TORN] = 2,
                               [VMV_CERT_UNKNOWN] = 3};
    return certainty <= VMV_CERT_PARTIAL ? rank[certainty] : 3;
}

static void captured_text(struct app *app, uint64_t captured, char *out, size_t size) {
    char time[UI_FORMAT_SIZE], ago[UI_FORMAT_SIZE];
    if (captured == app->t && app_frame(app) && app_frame(app)->t == captured) {
        snprintf(out, size, "captured in this frame");
        return;
    }
    ui_format_time(time, sizeof time, (int64_t)captured, 6);
    ui_format_ago(ago, sizeof ago, (int64_t)(app->t > captured ? app->t - captured : 0));
    if (captured > app->t) snprintf(ago, sizeof ago, "after this moment");
    snprintf(out, size, "captured at %s, %s", time, ago);
}

#define RUNS 64

ui_color inspector_knowledge(struct app *app, uint64_t addr, uint64_t len, char *out, size_t size,
                             enum ui_pattern *pattern) {
    struct timeline_run run[RUNS];
    uint8_t bytes[4096];
    enum vmv_certainty certainty = VMV_CERT_EXACT;
    const struct timeline_run *worst = NULL;
    if (len > sizeof bytes) len = sizeof bytes;
    size_t runs = app->space_id ? timeline_read(app->tl, app->space_id, addr, bytes, len, run, RUNS) : 0;
    for (size_t i = 0; i < runs; i++) {
        enum vmv_certainty here = run[i].known ? run[i].certainty : VMV_CERT_UNKNOWN;
        if (worst && worse(here) <= worse(certainty)) continue;
        certainty = here;
        worst = &run[i];
    }
    if (!worst) certainty = VMV_CERT_UNKNOWN;
    *pattern = view_certainty_pattern(certainty);
    if (!worst || (!worst->known && !worst->mapped)) {
        snprintf(out, size, "nothing: not mapped at this moment");
        return UI_FAINT;
    }
    char when[128];
    captured_text(app, worst->captured, when, sizeof when);
    if (!worst->known)
        snprintf(out, size, "unknown: never captured");
    else if (worst->from == TIMELINE_FROM_OBJECT && certainty == VMV_CERT_EXACT)
        snprintf(out, size, "exact: from the mapped file, never written");
    else if (worst->from == TIMELINE_FROM_ZERO && certainty == VMV_CERT_EXACT)
        snprintf(out, size, "exact: zeros, never written");
    else
        snprintf(out, size, "%s: %s%s", view_certainty_word(certainty), when,
                 certainty == VMV_CERT_STALE ? "; may have changed since" : "");
    return certainty == VMV_CERT_EXACT ? UI_INK : UI_DIM;
}

/* --- the panel --- */

static void draw_tabs(struct app *app, struct ui_rect rect) {
    const char *names[APP_TAB_COUNT];
    for (int i = 0; i < APP_TAB_COUNT; i++) names[i] = app_tab_name((enum app_tab)i);
    ui_draw_hline(app->draw, rect.x, rect.y + TABS - 1, rect.w, UI_HAIR);
    rect.x += MARGIN;
    rect.w -= 2 * MARGIN;
    int tab = ui_tabs(&app->ui, ui_id_of("tabs"), rect, names, APP_TAB_COUNT, (int)app->tab);
    if (tab == (int)app->tab) return;
    app->tab = (enum app_tab)tab;
    app->focus = APP_PANEL_INSPECTOR;
    app->inspector_scroll.offset = 0;
    app->redraw = true;
}

static int draw_tab(struct app *app, struct ui_rect rect, int y) {
    struct page_writer page = {app, rect.x + MARGIN, y + 8, rect.w - 2 * MARGIN};
    ui_draw_begin_group(app->draw, "tab", app_tab_name(app->tab));
    switch (app->tab) {
    case APP_TAB_BYTES:
        inspector_bytes(&page);
        break;
    case APP_TAB_CODE:
        inspector_code(&page);
        break;
    case APP_TAB_THREADS:
        inspector_threads(&page);
        break;
    default:
        inspector_details(&page);
        break;
    }
    ui_draw_end_group(app->draw);
    return page.y - y + 8;
}

void view_inspector_draw(struct app *app, const struct view_layout *layout) {
    struct ui_rect rect = layout->inspector, body = rect;
    ui_id id = ui_id_of("inspector");
    ui_draw_begin_group(app->draw, "panel", "inspector");
    ui_draw_push_clip(app->draw, rect);
    ui_panel_background(app->draw, rect, UI_PANEL, app->focus == APP_PANEL_INSPECTOR);
    draw_tabs(app, ui_rect_cut_top(&body, TABS));
    if (ui_area(&app->ui, ui_id_of("inspector body"), body, UI_CURSOR_ARROW, 0) & UI_PRESSED)
        app->focus = APP_PANEL_INSPECTOR;
    /* How high the contents are is known after drawing: the height of the frame before serves for scrolling. */
    int before = app->inspector_height;
    int y = ui_scroll_begin(&app->ui, id, body, before, &app->inspector_scroll);
    app->inspector_height = draw_tab(app, body, y);
    ui_scroll_end(&app->ui, id, body, &app->inspector_scroll);
    if (app->inspector_height != before) app->redraw = true;
    ui_draw_vline(app->draw, rect.x, rect.y, rect.h, UI_HAIR);
    ui_draw_pop_clip(app->draw);
    ui_draw_end_group(app->draw);
}
