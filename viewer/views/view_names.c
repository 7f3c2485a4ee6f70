/* Words and colours that all views share. */
#include "app_names.h"
#include "app_regions.h"
#include "syscalls.h"
#include "ui_format.h"
#include "views.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ui_color view_kind_color(enum vmv_kind kind) {
    static const ui_color colors[VMV_KIND_COUNT] = {
        [VMV_KIND_PROGRAM] = UI_PROGRAM, [VMV_KIND_LIBRARY] = UI_LIBRARY, [VMV_KIND_FILE] = UI_FILE,
        [VMV_KIND_HEAP] = UI_HEAP,       [VMV_KIND_STACK] = UI_STACK,     [VMV_KIND_ANONYMOUS] = UI_ANONYMOUS,
        [VMV_KIND_KERNEL] = UI_KERNEL,
    };
    return kind < VMV_KIND_COUNT ? colors[kind] : UI_KERNEL;
}

const char *view_kind_word(enum vmv_kind kind) { return kind < VMV_KIND_COUNT ? vmv_kind_name(kind) : "unknown"; }

void view_perm(const struct vmv_mapping *map, char perm[5]) { app_permissions(map->flags, perm); }

const char *view_state_word(enum vmv_page_state state) {
    static const char *const words[] = {"unknown", "absent", "zero", "resident", "swapped", "guard"};
    return (unsigned)state < sizeof words / sizeof *words ? words[state] : "unknown";
}

const char *view_certainty_word(enum vmv_certainty certainty) {
    static const char *const words[] = {"unknown", "exact", "stale", "torn", "partial"};
    return (unsigned)certainty < sizeof words / sizeof *words ? words[certainty] : "unknown";
}

enum ui_pattern view_certainty_pattern(enum vmv_certainty certainty) {
    switch (certainty) {
    case VMV_CERT_EXACT:
        return UI_PATTERN_EXACT;
    case VMV_CERT_STALE:
    case VMV_CERT_PARTIAL:
        return UI_PATTERN_STALE;
    case VMV_CERT_TORN:
        return UI_PATTERN_TORN;
    default:
        return UI_PATTERN_UNKNOWN;
    }
}

ui_color view_protection_color(uint32_t flags, bool *dots) {
    bool write = flags & VMV_MAP_W, execute = flags & VMV_MAP_X;
    *dots = !(flags & (VMV_MAP_R | VMV_MAP_W | VMV_MAP_X));
    if (*dots) return UI_RULE2;
    if (write && execute) return UI_ATTENTION;
    return execute ? UI_PROGRAM : write ? UI_HEAP : UI_READ_ONLY;
}

const char *view_thread_name(const struct vmv_thread *thread) {
    return thread && thread->name[0] ? thread->name : "thread";
}

void view_syscall_name(struct app *app, int64_t number, char *out, size_t size) {
    const char *name = syscall_name(vmv_reader_meta(timeline_reader(app->tl))->arch, number);
    if (number < 0)
        out[0] = '\0';
    else if (name)
        snprintf(out, size, "%s", name);
    else
        snprintf(out, size, "call %lld", (long long)number);
}

void view_signal_name(int number, char *out, size_t size) {
    const char *name = number > 0 ? sigabbrev_np(number) : NULL;
    if (name)
        snprintf(out, size, "SIG%s", name);
    else
        snprintf(out, size, "signal %d", number);
}

/* si_code of the signals that a program raises by what it does. */
void view_signal_code(int number, int code, char *out, size_t size) {
    static const struct {
        int number, code;
        const char *words;
    } known[] = {{SIGSEGV, SEGV_MAPERR, "nothing is mapped there"},
                 {SIGSEGV, SEGV_ACCERR, "the mapping does not allow it"},
                 {SIGBUS, BUS_ADRALN, "address not aligned"},
                 {SIGBUS, BUS_ADRERR, "no memory behind the mapping"},
                 {SIGBUS, BUS_OBJERR, "hardware error"},
                 {SIGFPE, FPE_INTDIV, "division by zero"},
                 {SIGFPE, FPE_INTOVF, "integer overflow"},
                 {SIGFPE, FPE_FLTDIV, "floating-point division by zero"},
                 {SIGILL, ILL_ILLOPC, "illegal opcode"},
                 {SIGILL, ILL_ILLOPN, "illegal operand"},
                 {SIGILL, ILL_PRVOPC, "privileged opcode"}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].number == number && known[i].code == code) {
            snprintf(out, size, "%s", known[i].words);
            return;
        }
    if (code == SI_USER)
        snprintf(out, size, "sent by kill");
    else if (code == SI_TKILL)
        snprintf(out, size, "sent by tkill or abort");
    else if (code == SI_QUEUE)
        snprintf(out, size, "sent by sigqueue");
    else if (code == SI_KERNEL)
        snprintf(out, size, "raised by the kernel");
    else
        snprintf(out, size, "code %d", code);
}

void view_signal_text(const struct vmv_event *event, char *out, size_t size) {
    char word[24];
    bool fault = event->number == SIGSEGV || event->number == SIGBUS || event->number == SIGILL ||
                 event->number == SIGFPE || event->number == SIGTRAP;
    view_signal_name(event->number, word, sizeof word);
    if (fault)
        snprintf(out, size, "%s at 0x%llx", word, (unsigned long long)event->addr);
    else
        snprintf(out, size, "%s", word);
}

/* "qsort +1c": where a symbol reaches the address. */
static bool symbol_name(struct app *app, uint64_t addr, char *out, size_t size) {
    struct decode_symbol symbol;
    if (!decode_symbol_at(app->decode, app->space_id, addr, &symbol)) return false;
    char *plain = decode_demangle(symbol.name);
    unsigned long long offset = addr - symbol.addr;
    snprintf(out, size, offset ? "%s +%llx" : "%s", plain ? plain : symbol.name, offset);
    free(plain);
    return true;
}

void view_address_name(struct app *app, uint64_t addr, char *out, size_t size) {
    const struct app_mapping *mapping = app_mapping_at(app, addr);
    if (mapping && symbol_name(app, addr, out, size)) return;
    if (!mapping)
        snprintf(out, size, "not mapped");
    else
        snprintf(out, size, "%s +%llx", mapping->name, (unsigned long long)(addr - mapping->map->start));
}

static void name_page(struct app *app, struct app_place place, char *out, size_t size) {
    const struct app_mapping *mapping = app_mapping_at(app, place.addr);
    uint64_t page_size = app->world->page_size;
    if (place.len > page_size) {
        char length[UI_FORMAT_SIZE];
        ui_format_size(length, sizeof length, place.len);
        snprintf(out, size, "huge page, %s", length);
    } else if (mapping) {
        snprintf(out, size, "page %llu", (unsigned long long)((place.addr - mapping->map->start) / page_size));
    } else {
        snprintf(out, size, "page, not mapped");
    }
}

void view_place_name(struct app *app, struct app_place place, char *out, size_t size) {
    const struct app_group *group = place.kind == APP_PLACE_GROUP ? app_group_find(app, place.group) : NULL;
    const struct app_mapping *mapping = place.kind == APP_PLACE_MAPPING ? app_mapping_at(app, place.addr) : NULL;
    char count[UI_FORMAT_SIZE];
    switch (place.kind) {
    case APP_PLACE_SPACE:
        snprintf(out, size, "whole space");
        break;
    case APP_PLACE_GROUP:
        snprintf(out, size, "%s", group ? group->name : "not mapped now");
        break;
    case APP_PLACE_MAPPING:
        snprintf(out, size, "%s", mapping ? mapping->name : "not mapped now");
        break;
    case APP_PLACE_PAGE:
        name_page(app, place, out, size);
        break;
    case APP_PLACE_GAP:
        snprintf(out, size, "unmapped");
        break;
    case APP_PLACE_BYTES:
        ui_format_count(count, sizeof count, place.len);
        snprintf(out, size, "+%03llx, %s byte%s", (unsigned long long)(place.addr % app->world->page_size), count,
                 place.len == 1 ? "" : "s");
        break;
    }
}
