// backtrace: the stacks of threads at a moment.
#include "inspect.h"

#include "inspect_help.h"
#include "unwind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char inspect_help_backtrace[] =
    "For each thread the functions that called each other, the innermost first, from its registers and\n"
    "the bytes of its stack at the moment. Each frame says how it was found: by call frame information\n"
    "(cfi), by the frame pointer (fp), or, as a guess, by looking for return addresses (scan); signal\n"
    "is the frame of a signal handler. The last line says why it ends. Without --tid: all threads that\n"
    "live.\n"
    "\n"
    "EXAMPLES\n"
    "  vmvis-inspect backtrace trace.vmv\n"
    "  vmvis-inspect backtrace trace.vmv --tid 4711 --at frame:12 --json\n";

static void frame_json(struct json *json, const struct unwind_frame *frame) {
    char *plain = frame->named ? decode_demangle(frame->symbol.name) : NULL;
    json_put_hex(json, "pc", frame->pc);
    json_put_text(json, "function", plain);
    json_put_known(json, "offset", frame->named, frame->named ? frame->pc - frame->symbol.addr : 0);
    json_put_null(json, "file");
    json_put_null(json, "line");
    json_put_bool(json, "inlined", false);
    json_put_text(json, "object", frame->module ? frame->module->object->path : NULL);
    json_put_text(json, "how", unwind_how_word(frame->how));
    free(plain);
}

struct put {
    struct inspect *in;
    uint64_t left; // frames
    int32_t tid;
};

static const char *last_part(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static void frame_text(struct put *put, const struct unwind_frame *frame) {
    struct inspect_out *out = &put->in->out;
    char *plain = frame->named ? decode_demangle(frame->symbol.name) : NULL;
    const char *word = unwind_how_word(frame->how);
    inspect_out_format(out, "  #%-3u 0x%012llx  ", frame->n, (unsigned long long)frame->pc);
    if (frame->how == UNWIND_SIGNAL) {
        inspect_out_text(out, "<signal handler called>");
    } else if (frame->named) {
        inspect_out_format(out, "%s+0x%llx", plain ? plain : frame->symbol.name,
                           (unsigned long long)(frame->pc - frame->symbol.addr));
    } else {
        inspect_out_text(out, "??");
    }
    if (frame->module) inspect_out_format(out, "  (%s)", last_part(frame->module->object->path));
    if (word) inspect_out_format(out, "  %s", word);
    inspect_out_text(out, "\n");
    free(plain);
}

static bool put_frame(void *user, const struct unwind_frame *frame) {
    struct put *put = user;
    if (put->in->options.json) {
        json_begin(&put->in->json);
        json_put_signed(&put->in->json, "tid", put->tid);
        json_put_unsigned(&put->in->json, "n", frame->n);
        frame_json(&put->in->json, frame);
        json_line(&put->in->json);
    } else {
        frame_text(put, frame);
    }
    return --put->left > 0 && put->in->out.error == 0;
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
    struct put put = {.in = in, .left = in->options.limit, .tid = thread->tid};
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
    return found ? INSPECT_OK
                 : inspect_fail(in, INSPECT_ABSENT, "%s: no thread of this process lives at this moment",
                                in->options.trace);
}
