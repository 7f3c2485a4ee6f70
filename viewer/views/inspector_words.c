/* What the selection is, in words, and its instructions: as the decoders tell. */
#include "inspector.h"

#include "disasm.h"
#include "explain.h"
#include "ui_format.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXPLANATIONS = 3, INSTRUCTIONS = 48, CODE_BYTES = 60 };

/* --- words --- */

void inspector_words(struct page_writer *page, uint64_t addr) {
    struct app *app = page->app;
    struct explanations all;
    if (!app->decode || !app->space_id) return;
    decode_explain(app->decode, app->space_id, addr, false, &all);
    size_t count = all.count < EXPLANATIONS ? all.count : EXPLANATIONS;
    for (size_t i = 0; i < count; i++) {
        page->y += 8;
        ui_draw_text_fit(app->draw, page->x, page->y, page->w, UI_S | UI_BOLD, UI_INK, all.items[i].title);
        page->y += INSPECTOR_LINE;
        inspector_line(page, UI_DIM, "%s", all.items[i].text);
    }
    explain_free(&all);
}

/* --- code --- */

struct code {
    struct page_writer *page;
    const struct elf_symbol *function; /* of the line before */
    int left;
};

static void target_name(struct app *app, const struct disasm_line *line, char *out, size_t size) {
    struct decode_symbol symbol;
    out[0] = '\0';
    if (line->target_kind == DISASM_NO_TARGET) return;
    if (line->slot) {
        snprintf(out, size, "%s", line->slot);
    } else if (decode_symbol_at(app->decode, app->space_id, line->target, &symbol)) {
        char *plain = decode_demangle(symbol.name);
        unsigned long long offset = line->target - symbol.addr;
        snprintf(out, size, offset ? "%s+%llu" : "%s", plain ? plain : symbol.name, offset);
        free(plain);
    }
}

static void drop(char *text, const char *word) {
    size_t length = strlen(word);
    for (char *at; (at = strstr(text, word));) memmove(at, at + length, strlen(at + length) + 1);
}

/* "call free", "mov rax, [counter]": the name in the place of the address, and no sizes that registers tell. */
static void shorten(const struct disasm_line *line, const char *target, char *out, size_t size) {
    static const char *const sizes[] = {"xmmword ptr ", "ymmword ptr ", "qword ptr ",
                                        "dword ptr ",   "word ptr ",    "byte ptr "};
    char text[256];
    snprintf(text, sizeof text, "%s", line->text);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) drop(text, sizes[i]);
    char *at = line->target_kind == DISASM_DATA ? strstr(text, "[rip ") : strstr(text, "0x");
    char *end = at && line->target_kind == DISASM_DATA ? strchr(at, ']') : at ? at + strlen(at) : NULL;
    bool data = line->target_kind == DISASM_DATA;
    if (!target[0] || !end) {
        snprintf(out, size, "%s", text);
    } else {
        snprintf(out, size, "%.*s%s%s%s%s", (int)(at - text), text, data ? "[" : "", target, data ? "]" : "",
                 data ? end + 1 : "");
    }
}

static bool is_pc(struct app *app, uint64_t addr) {
    for (size_t i = 0; i < app->world->thread_count; i++) {
        const struct vmv_thread *thread = &app->world->threads[i];
        if (thread->space == app->space_id && thread->state != VMV_THREAD_GONE && thread->pc == addr) return true;
    }
    return false;
}

static void function_line(struct code *code, const struct decode_symbol *symbol) {
    struct page_writer *page = code->page;
    char *plain = decode_demangle(symbol->name);
    page->y += code->function ? 6 : 0;
    ui_draw_text_fit(page->app->draw, page->x, page->y, page->w, UI_S | UI_BOLD, UI_INK, plain ? plain : symbol->name);
    page->y += INSPECTOR_LINE;
    code->function = symbol->symbol;
    free(plain);
}

static bool code_line(void *user, const struct disasm_line *line) {
    struct code *code = user;
    struct page_writer *page = code->page;
    struct ui_draw *draw = page->app->draw;
    struct decode_symbol symbol;
    char offset[24], target[128], text[400];
    bool named = decode_symbol_at(page->app->decode, page->app->space_id, line->addr, &symbol);
    if (named && symbol.symbol != code->function) function_line(code, &symbol);
    snprintf(offset, sizeof offset, "+%llx",
             (unsigned long long)(named ? line->addr - symbol.addr : line->addr & 4095));
    bool here = is_pc(page->app, line->addr);
    ui_draw_text(draw, page->x, page->y, UI_S, here ? UI_INK : UI_FAINT, here ? "pc" : offset);
    int x = page->x + CODE_BYTES, end = page->x + page->w;
    if (!line->bytes) {
        ui_draw_text(draw, x, page->y, UI_S, UI_FAINT, "unknown");
    } else {
        target_name(page->app, line, target, sizeof target);
        shorten(line, target, text, sizeof text);
        ui_draw_text_fit(draw, x, page->y, end - x, UI_S,
                         !line->decoded ? UI_FAINT
                         : target[0]    ? UI_INK
                                        : UI_DIM,
                         text);
    }
    page->y += INSPECTOR_LINE;
    return --code->left > 0;
}

/* A selection that is not code, or larger than it can be shown: from the PC of the thread shown, or of the first. */
static uint64_t where(struct app *app) {
    struct app_place place = app->selection;
    const struct app_mapping *mapping = app_mapping_at(app, place.addr);
    bool bytes = place.kind == APP_PLACE_BYTES || place.kind == APP_PLACE_PAGE;
    if (bytes && mapping && mapping->map->flags & VMV_MAP_X) return place.addr;
    for (size_t i = 0; i < app->world->thread_count; i++) {
        const struct vmv_thread *thread = &app->world->threads[i];
        bool wanted = thread->space == app->space_id && thread->state != VMV_THREAD_GONE && thread->pc;
        if (wanted && (!app->tid || thread->tid == app->tid)) return thread->pc;
    }
    return 0;
}

void inspector_code(struct page_writer *page) {
    struct app *app = page->app;
    struct code code = {.page = page, .left = INSTRUCTIONS};
    uint64_t addr = app->decode && app->space_id ? where(app) : 0;
    char text[32];
    if (!addr || !app_mapping_at(app, addr)) {
        inspector_line(page, UI_FAINT, "Select an instruction, or a thread whose PC is known.");
        return;
    }
    snprintf(text, sizeof text, "0x%llx", (unsigned long long)addr);
    inspector_subject(page, "code", false, UI_GHOST, text);
    const char *error = decode_disasm(app->decode, app->space_id, addr, addr + 4096, code_line, &code);
    if (error[0]) inspector_line(page, UI_FAINT, "%s", error);
}
