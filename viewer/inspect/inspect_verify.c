// verify: every chunk is read, hashed, inflated and decoded.
#include "inspect.h"

#include "inspect_show.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct verify_error {
    uint64_t offset;
    const char *chunk, *what;
};
struct verify_errors {
    struct verify_error *items;
    size_t count, room;
    struct vmv_arena arena;
};
enum { VERIFY_MOST = 10000 }; // errors that are listed; a trace may consist of nothing else

static void verify_note(void *user, uint64_t offset, const char *chunk, const char *what) {
    struct verify_errors *errors = user;
    if (errors->count == VERIFY_MOST) return;
    if (errors->count == errors->room) {
        errors->room = errors->room == 0 ? 16 : errors->room * 2;
        errors->items = realloc(errors->items, errors->room * sizeof *errors->items);
        if (errors->items == NULL) abort();
    }
    errors->items[errors->count++] = (struct verify_error){
        .offset = offset,
        .chunk = chunk == NULL ? NULL : vmv_arena_strdup(&errors->arena, chunk, strlen(chunk)),
        .what = vmv_arena_strdup(&errors->arena, what, strlen(what)),
    };
}

static void verify_json(struct json *json, const struct vmv_verify *verdict, const struct verify_errors *errors) {
    json_begin(json);
    json_put_bool(json, "ok", verdict->ok);
    json_put_unsigned(json, "chunks", verdict->chunks);
    json_put_unsigned(json, "bytes", verdict->bytes);
    json_put_bool(json, "complete", verdict->complete);
    json_key(json, "errors");
    json_array(json);
    for (size_t i = 0; i < errors->count; i++) {
        json_begin(json);
        json_put_unsigned(json, "offset", errors->items[i].offset);
        json_put_text(json, "chunk", errors->items[i].chunk);
        json_put_text(json, "what", errors->items[i].what);
        json_end(json);
    }
    json_array_end(json);
    json_line(json);
}

static void verify_text(struct inspect_out *out, const struct vmv_verify *verdict, const struct verify_errors *errors) {
    for (size_t i = 0; i < errors->count; i++) {
        const struct verify_error *error = &errors->items[i];
        inspect_out_format(out, "offset %" PRIu64 "  %-8s  ", error->offset, error->chunk == NULL ? "?" : error->chunk);
        inspect_out_text(out, error->what);
        inspect_out_bytes(out, "\n", 1);
    }
    if (verdict->errors > errors->count) {
        inspect_out_format(out, "and %s\n",
                           show_plural(verdict->errors - errors->count, "more error", "more errors").text);
    }
    if (verdict->ok) {
        inspect_out_format(out, "sound: %s, %s, %s\n", show_plural(verdict->chunks, "chunk", "chunks").text,
                           show_size(verdict->bytes).text, verdict->complete ? "complete" : "not complete");
    } else {
        inspect_out_format(out, "damaged: %s in %s, %s, %s\n", show_plural(verdict->errors, "error", "errors").text,
                           show_plural(verdict->chunks, "chunk", "chunks").text, show_size(verdict->bytes).text,
                           verdict->complete ? "complete" : "not complete");
    }
}

int inspect_verify(struct inspect *in) {
    struct verify_errors errors = {0};
    struct vmv_verify verdict = vmv_reader_verify(timeline_reader(in->tl), verify_note, &errors);
    if (in->options.json) {
        verify_json(&in->json, &verdict, &errors);
    } else {
        verify_text(&in->out, &verdict, &errors);
    }
    free(errors.items);
    vmv_arena_free(&errors.arena);
    return verdict.ok ? INSPECT_OK : INSPECT_UNREADABLE;
}
