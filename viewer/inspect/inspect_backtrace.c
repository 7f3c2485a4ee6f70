// backtrace: the stacks of threads at a moment.
#include "inspect.h"

#include "dwarf_lines.h"
#include "inspect_help.h"
#include "unwind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char inspect_help_backtrace[] =
    "For each thread the functions that called each other, the innermost first, from its registers and\n"
    "the bytes of its stack at the moment. Each frame says how it was found: by call frame information\n"
    "(cfi), by the frame pointer (fp), or, as a guess, by looking for return addresses (scan); signal\n"
    "is the frame of a signal handler. Where there is debug information, source lines and inlined\n"
    "functions are shown. The last line says why it ends. Without --tid: all threads that\n"
    "live.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect backtrace trace.vmv\n"
    "  vmvis-inspect backtrace trace.vmv --tid 4711 --at frame:12 --json\n";

struct put {
    struct inspect *in;
    bool nested; // within "stack" of an event
    uint32_t space;
    uint64_t left; // frames
    int32_t tid;
    unsigned n;
};

// One line of a backtrace: a frame, or a function that was inlined into it.
struct shown {
    const struct unwind_frame *frame;
    const struct dwarf_place *place; // NULL: its source is not known
    bool inlined;
};

// The name as the symbol table has it, which tells parameters; of what was inlined as the debug information has it.
// malloc.
static char *function_name(const struct shown *shown) {
    if (shown->inlined) return shown->place->function ? strdup(shown->place->function) : NULL;
    return shown->frame->named ? decode_demangle(shown->frame->symbol.name) : NULL;
}

static void frame_json(struct put *put, const struct shown *shown) {
    struct json *json = &put->in->json;
    const struct unwind_frame *frame = shown->frame;
    const struct dwarf_place *place = shown->place;
    bool offset = frame->named && !shown->inlined;
    char *name = function_name(shown);
    json_begin(json);
    if (!put->nested) {
        json_put_signed(json, "tid", put->tid);
        json_put_unsigned(json, "n", put->n);
    }
    json_put_hex(json, "pc", frame->pc);
    json_put_text(json, "function", name);
    json_put_known(json, "offset", offset, offset ? frame->pc - frame->symbol.addr : 0);
    json_put_text(json, "file", place ? place->file : NULL);
    json_put_known(json, "line", place && place->line, place ? place->line : 0);
    json_put_bool(json, "inlined", shown->inlined);
    json_put_text(json, "object", frame->module ? frame->module->object->path : NULL);
    json_put_text(json, "how", unwind_how_word(frame->how));
    if (put->nested) {
        json_end(json);
    } else {
        json_line(json);
    }
    free(name);
}

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void frame_text(struct put *put, const struct shown *shown) {
    struct inspect_out *out = &put->in->out;
    const struct unwind_frame *frame = shown->frame;
    const char *word = unwind_how_word(frame->how);
    char *name = function_name(shown);
    inspect_out_format(out, "  #%-3u 0x%012llx  ", put->n, (unsigned long long)frame->pc);
    if (frame->how == UNWIND_SIGNAL) {
        inspect_out_text(out, "<signal handler called>");
    } else if (shown->inlined) {
        inspect_out_format(out, "%s, inlined", name ? name : "??");
    } else if (name) {
        inspect_out_format(out, "%s+0x%llx", name, (unsigned long long)(frame->pc - frame->symbol.addr));
    } else {
        inspect_out_text(out, "??");
    }
    if (shown->place && shown->place->file)
        inspect_out_format(out, "  %s:%u", last_part(shown->place->file), shown->place->line);
    if (frame->module) inspect_out_format(out, "  (%s)", last_part(frame->module->object->path));
    if (word && !shown->inlined) inspect_out_format(out, "  %s", word);
    inspect_out_text(out, "\n");
    free(name);
}

static bool put_frame(void *user, const struct unwind_frame *frame) {
    enum { PLACES = 32 };
    struct put *put = user;
    struct dwarf_place places[PLACES];
    bool signal = frame->how == UNWIND_SIGNAL;
    size_t count = signal ? 0 : decode_places(put->in->decode, put->space, frame->at, places, PLACES);
    for (size_t i = 0; i < (count ? count : 1) && put->left > 0; i++, put->n++, put->left--) {
        struct shown shown = {frame, count ? &places[i] : NULL, i + 1 < count};
        if (put->in->options.json) {
            frame_json(put, &shown);
        } else {
            frame_text(put, &shown);
        }
    }
    return put->left > 0 && put->in->out.error == 0;
}

static void put_end(struct inspect *in, int32_t tid, const char *why) {
    if (in->options.json) {
        json_begin(&in->json);
        json_put_signed(&in->json, "tid", tid);
        json_put_text(&in->json, "end", why);
        json_line(&in->json);
    } else {
        inspect_out_format(&in->out, "  end: %s\n", why);
    }
}

static void put_thread(struct inspect *in, const struct inspect_moment *moment, const struct vmv_thread *thread) {
    struct put put = {.in = in, .space = moment->space->id, .left = in->options.limit, .tid = thread->tid};
    if (!in->options.json)
        inspect_out_format(&in->out, "thread %d %s\n", thread->tid, thread->name[0] ? thread->name : "");
    const char *why = put.left ? decode_backtrace(in->decode, moment->space->id, thread->tid, put_frame, &put) : "";
    if (!why) why = "its registers are not known at this moment";
    put_end(in, thread->tid, why[0] ? why : "limit");
}

int inspect_backtrace(struct inspect *in) {
    struct inspect_moment moment;
    int status;
    size_t found = 0;
    if (!inspect_select(in, &moment, &status)) return status;
    for (size_t i = 0; i < moment.world->thread_count && in->out.error == 0; i++) {
        const struct vmv_thread *thread = &moment.world->threads[i];
        bool wanted = in->options.tid ? thread->tid == in->options.tid : thread->state != VMV_THREAD_GONE;
        if (!wanted || thread->space != moment.space->id || vmv_world_thread(moment.world, thread->tid) != thread)
            continue;
        if (found++ && !in->options.json) inspect_out_text(&in->out, "\n");
        put_thread(in, &moment, thread);
    }
    inspect_warn_debug(in, moment.space->id);
    return found ? INSPECT_OK
                 : inspect_fail(in, INSPECT_ABSENT, "%s: no thread of this process lives at this moment",
                                in->options.trace);
}

// ------------------------------------------------------------------------------------------------- of events

bool inspect_put_backtrace(struct inspect *in, const struct vmv_event *event) {
    struct put put = {.in = in, .nested = true, .space = event->space, .left = UINT64_MAX};
    uint64_t stack = event->stack;
    bool json = in->options.json;
    if (!stack || !event->space || !timeline_seek_seq(in->tl, event->seq)) return false;
    if (json) {
        json_key(&in->json, "stack");
        json_array(&in->json);
    }
    const char *end = decode_backtrace_stack(in->decode, put.space, stack, put_frame, &put);
    if (json) {
        json_array_end(&in->json);
    } else {
        inspect_out_format(&in->out, "  end: %s\n", end ? end : "the registers are not known");
    }
    return true;
}
