/* Threads: the list, then registers and stack of one. */
#include "app_names.h"
#include "inspector.h"
#include "registers.h"
#include "ui_format.h"

#include <stdio.h>
#include <string.h>

enum { STACK_WORDS = 24 };

static const char *state_word(const struct vmv_thread *thread) {
    static const char *const words[] = {"gone", "running", "asleep", "stopped"};
    return thread->state < 4 ? words[thread->state] : "unknown";
}

static bool belongs(const struct app *app, const struct vmv_thread *thread) {
    return thread->pid == app->pid || (app->space_id && thread->space == app->space_id);
}

/* --- list --- */

static const struct vmv_thread *chosen(struct app *app) {
    const struct vmv_thread *first = NULL;
    for (size_t i = 0; i < app->world->thread_count; i++) {
        const struct vmv_thread *thread = &app->world->threads[i];
        if (!belongs(app, thread)) continue;
        if (app->tid && thread->tid == app->tid) return thread;
        if (!first || (first->state == VMV_THREAD_GONE && thread->state != VMV_THREAD_GONE)) first = thread;
    }
    return first;
}

static void list_row(struct page_writer *page, const struct vmv_thread *thread, bool selected) {
    struct app *app = page->app;
    char name[24], call[48], tid[16];
    struct ui_rect rect = ui_rect(page->x - 12, page->y - 1, page->w + 24, 14);
    ui_id id = ui_id_child(ui_id_of("thread"), (uint64_t)thread->tid);
    ui_draw_begin_group(app->draw, "row", "thread");
    unsigned signals = ui_list_row(&app->ui, id, rect, selected);
    if (signals & UI_PRESSED) {
        app->tid = thread->tid;
        app->focus = APP_PANEL_INSPECTOR;
        app->redraw = true;
    }
    app_plain(name, sizeof name, view_thread_name(thread));
    snprintf(tid, sizeof tid, "%d", thread->tid);
    view_syscall_name(app, thread->syscall, call, sizeof call);
    ui_color color = thread->state == VMV_THREAD_RUNNING ? UI_INK : thread->state ? UI_DIM : UI_GHOST;
    ui_draw_text_fit(app->draw, page->x, page->y, 84, UI_S, color, name);
    ui_draw_text(app->draw, page->x + 90, page->y, UI_S, UI_FAINT, tid);
    ui_draw_text(app->draw, page->x + 138, page->y, UI_S, color, state_word(thread));
    ui_draw_text_fit(app->draw, page->x + 192, page->y, page->w - 192, UI_S, UI_DIM, call);
    ui_draw_end_group(app->draw);
    page->y += 14;
}

static size_t count_threads(const struct app *app) {
    size_t count = 0;
    for (size_t i = 0; i < app->world->thread_count; i++) count += belongs(app, &app->world->threads[i]);
    return count;
}

static void list(struct page_writer *page, const struct vmv_thread *selected) {
    struct app *app = page->app;
    for (size_t i = 0; i < app->world->thread_count; i++) {
        const struct vmv_thread *thread = &app->world->threads[i];
        if (belongs(app, thread)) list_row(page, thread, thread == selected);
    }
}

/* --- registers --- */

static void certainty_words(struct app *app, const struct vmv_thread *thread, char *out, size_t size) {
    const struct timeline_frame *frame = app_frame(app);
    char ago[UI_FORMAT_SIZE];
    ui_format_ago(ago, sizeof ago, (int64_t)(app->t > thread->captured ? app->t - thread->captured : 0));
    if (thread->certainty == VMV_CERT_EXACT && frame && frame->t == thread->captured)
        snprintf(out, size, "exact: in this frame");
    else if (thread->certainty == VMV_CERT_PARTIAL)
        snprintf(out, size, "partial: left asleep, %s", ago);
    else
        snprintf(out, size, "%s: %s", view_certainty_word((enum vmv_certainty)thread->certainty), ago);
}

/* "qsort +1c", "libc.so.6 r-x +1b278": the name is cut, never the offset. */
static void target(struct page_writer *page, int x, uint64_t value) {
    char name[APP_NAME_SIZE + 24];
    view_address_name(page->app, value, name, sizeof name);
    char *plus = strstr(name, " +"), *offset = plus ? plus + 1 : name + strlen(name);
    if (plus) *plus = '\0';
    int room = page->x + page->w - x - ui_text_width(UI_S, offset) - 6;
    int width = ui_min(ui_text_width(UI_S, name), room);
    ui_draw_text_fit(page->app->draw, x, page->y, width, UI_S, UI_FAINT, name);
    ui_draw_text(page->app->draw, x + width + 6, page->y, UI_S, UI_FAINT, offset);
}

static void value_row(struct page_writer *page, const char *name, uint64_t value, bool pointer, bool strong) {
    struct app *app = page->app;
    const struct app_mapping *mapping = pointer && value ? app_mapping_at(app, value) : NULL;
    ui_color color = mapping ? view_kind_color(mapping->kind) : strong ? UI_WHITE : UI_DIM;
    ui_draw_begin_group(app->draw, "register", name);
    ui_draw_text(app->draw, page->x, page->y, UI_S, strong ? UI_WHITE : UI_FAINT, name);
    int x = ui_draw_register(app->draw, page->x + 54, page->y, UI_S, color, value);
    if (mapping) target(page, x + 10, value);
    struct ui_rect rect = ui_rect(page->x, page->y, page->w, 13);
    unsigned signals = ui_area(&app->ui, ui_id_child(ui_id_of("value"), (uint64_t)page->y), rect, UI_CURSOR_ARROW, 0);
    if (mapping && signals & UI_HOVER) app_hover_place(app, app_place_bytes(value, 8));
    if (mapping && signals & UI_CLICKED) app_goto(app, app_place_bytes(value, 8));
    ui_draw_end_group(app->draw);
    page->y += 13;
}

static void registers(struct page_writer *page, const struct vmv_thread *thread) {
    struct app *app = page->app;
    struct vmv_reader *reader = timeline_reader(app->tl);
    struct register_value value[REGISTERS_MOST];
    struct vmv_regs regs;
    char words[96];
    certainty_words(app, thread, words, sizeof words);
    inspector_section(page, "registers", words);
    int count = 0;
    if (thread->regs && vmv_reader_regs(reader, thread->regs, &regs))
        count = registers_list(vmv_reader_meta(reader)->arch, regs.general, regs.general_length, value, REGISTERS_MOST);
    for (int i = 0; i < count; i++) value_row(page, value[i].name, value[i].value, value[i].pointer, i < 3);
    if (count) return;
    if (thread->certainty == VMV_CERT_UNKNOWN && !thread->pc && !thread->sp) {
        inspector_line(page, UI_FAINT, "unknown: never captured");
        return;
    }
    value_row(page, "pc", thread->pc, true, true);
    value_row(page, "sp", thread->sp, true, true);
    if (thread->fp) value_row(page, "fp", thread->fp, true, true);
    inspector_line(page, UI_FAINT, "the others are unknown: the thread was left asleep");
}

/* --- stack --- */

static uint64_t word_at(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

static bool run_knows(const struct timeline_run *run, size_t runs, uint64_t addr) {
    for (size_t i = 0; i < runs; i++)
        if (addr >= run[i].addr && addr - run[i].addr < run[i].length)
            return run[i].known && addr + 8 - run[i].addr <= run[i].length;
    return false;
}

static void stack(struct page_writer *page, const struct vmv_thread *thread) {
    struct app *app = page->app;
    uint8_t bytes[STACK_WORDS * 8];
    struct timeline_run run[STACK_WORDS];
    const struct app_mapping *mapping = app_mapping_at(app, thread->sp);
    if (!thread->sp || !mapping) return;
    uint64_t room = mapping->map->end - thread->sp;
    size_t length = room < sizeof bytes ? (size_t)room : sizeof bytes;
    size_t runs = timeline_read(app->tl, app->space_id, thread->sp, bytes, length, run, STACK_WORDS);
    inspector_section(page, "stack", "from sp, up");
    for (size_t at = 0; at + 8 <= length; at += 8) {
        char name[16];
        snprintf(name, sizeof name, at ? "+%zu" : "sp", at);
        if (run_knows(run, runs, thread->sp + at)) {
            value_row(page, name, word_at(bytes + at), true, at == 0);
        } else {
            ui_draw_text(app->draw, page->x, page->y, UI_S, UI_FAINT, name);
            ui_draw_text(app->draw, page->x + 54, page->y, UI_S, UI_FAINT, "unknown");
            page->y += 13;
        }
    }
}

/* --- the tab --- */

void inspector_threads(struct page_writer *page) {
    struct app *app = page->app;
    const struct vmv_thread *thread = chosen(app);
    char name[24], words[64], call[48];
    if (!thread) {
        inspector_line(page, UI_FAINT, "The process has no threads at this moment.");
        return;
    }
    app_plain(name, sizeof name, view_thread_name(thread));
    snprintf(words, sizeof words, "tid %d, one of %zu", thread->tid, count_threads(app));
    inspector_subject(page, name, false, UI_GHOST, words);
    list(page, thread);
    inspector_section(page, "facts", NULL);
    view_syscall_name(app, thread->syscall, call, sizeof call);
    inspector_fact(page, "state", UI_DIM, "%s", state_word(thread));
    if (*call) inspector_fact(page, "in call", UI_DIM, "%s, number %lld", call, (long long)thread->syscall);
    char text[UI_FORMAT_SIZE];
    ui_format_time(text, sizeof text, (int64_t)thread->started, 6);
    inspector_fact(page, "started", UI_DIM, "at %s", text);
    if (thread->ended) {
        ui_format_time(text, sizeof text, (int64_t)thread->ended, 6);
        inspector_fact(page, "ended", UI_DIM, "at %s, status %d", text, thread->exit_code);
    }
    ui_format_span(text, sizeof text, (int64_t)thread->run_ns);
    inspector_fact(page, "has run", UI_DIM, "%s", text);
    inspector_backtrace(page, thread->tid);
    registers(page, thread);
    stack(page, thread);
}
