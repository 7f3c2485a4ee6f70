// Small things that several commands print: words for numbers of the trace, stacks, progress.
#include "inspect.h"

#include "dwarf_lines.h"
#include "inspect_registers.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

static const char *word_of(const char *const *words, size_t count, uint8_t value) {
    return value < count ? words[value] : "unknown";
}
#define WORD_OF(words, value) word_of(words, sizeof(words) / sizeof(words)[0], value)

const char *inspect_certainty(uint8_t certainty) {
    static const char *const words[] = {"unknown", "exact", "stale", "torn", "partial"};
    return WORD_OF(words, certainty);
}

const char *inspect_page_state(uint8_t state) {
    static const char *const words[] = {"unknown", "absent", "zero", "resident", "swapped", "guard"};
    return WORD_OF(words, state);
}

const char *inspect_frame_why(uint8_t why) {
    static const char *const words[] = {"interval", "signal", "exec", "exit"};
    return WORD_OF(words, why);
}

const char *inspect_source(uint8_t source) {
    static const char *const words[] = {"unknown", "records", "uffd", "frames"};
    return WORD_OF(words, source);
}

const char *inspect_protection(const struct vmv_mapping *mapping, char out[5]) {
    out[0] = mapping->flags & VMV_MAP_R ? 'r' : '-';
    out[1] = mapping->flags & VMV_MAP_W ? 'w' : '-';
    out[2] = mapping->flags & VMV_MAP_X ? 'x' : '-';
    out[3] = mapping->flags & VMV_MAP_SHARED ? 's' : 'p';
    out[4] = '\0';
    return out;
}

const char *inspect_mapping_label(const struct vmv_mapping *mapping) {
    return mapping->name != NULL && mapping->name[0] != '\0' ? mapping->name : "anonymous";
}

bool inspect_stack_pc(struct inspect *in, uint64_t number, uint64_t *pc) {
    struct vmv_reader *reader = timeline_reader(in->tl);
    struct vmv_stack stack;
    if (number == 0 || !vmv_reader_stack(reader, number, &stack)) return false;
    return registers_pc(vmv_reader_meta(reader)->arch, stack.regs, stack.regs_length, pc);
}

void inspect_put_stack(struct inspect *in, const struct vmv_event *event) {
    struct json *json = &in->json;
    uint64_t pc = event->pc;
    if (in->options.stacks && inspect_put_backtrace(in, event)) return;
    if (!inspect_stack_pc(in, event->stack, &pc) && pc == 0) {
        json_put_null(json, "stack");
        return;
    }
    json_key(json, "stack");
    json_array(json);
    json_begin(json);
    json_put_hex(json, "pc", pc);
    json_end(json);
    json_array_end(json);
}

static uint64_t progress_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void inspect_progress_begin(struct inspect_progress *progress) {
    *progress = (struct inspect_progress){.began = progress_now(), .tty = isatty(STDERR_FILENO) == 1};
}

void inspect_progress_step(struct inspect_progress *progress, const char *what, uint64_t done, uint64_t total) {
    if (!progress->tty || ++progress->skip % 1024 != 0) return;
    uint64_t now = progress_now();
    if (now - progress->began < 1000000000 || now - progress->shown < 200000000) return;
    progress->shown = now;
    fprintf(stderr, "\r%s: %3.0f %%", what, total == 0 ? 0 : 100.0 * (double)done / (double)total);
}

void inspect_progress_end(struct inspect_progress *progress) {
    if (progress->shown != 0) fprintf(stderr, "\r\033[K");
}

void inspect_warn_debug(struct inspect *in, uint32_t space) {
    size_t count;
    char text[600];
    const struct decode_module *modules = decode_modules(in->decode, space, &count);
    for (size_t i = 0; i < count; i++) {
        const char *remark = decode_dwarf_remark(in->decode, modules[i].object, text, sizeof text);
        if (remark) inspect_warn("%s", remark);
    }
}
