// frames: the consistent moments at which pages, registers and contents were taken.
#include "inspect.h"

#include "inspect_show.h"
#include "inspect_table.h"

#include <inttypes.h>

static bool frame_wanted(const struct timeline_frame *frame, const struct inspect_whose *whose, uint64_t from,
                         uint64_t to) {
    return frame->t >= from && frame->t < to && inspect_whose_match(whose, frame->space, frame->pid, 0);
}

static void frame_json(struct json *json, const struct timeline_frame *frame) {
    json_begin(json);
    json_put_unsigned(json, "n", frame->n);
    json_put_unsigned(json, "t", frame->t);
    json_put_unsigned(json, "space", frame->space);
    json_put_signed(json, "pid", frame->pid);
    json_put_unsigned(json, "pages_written", frame->pages_written);
    json_put_unsigned(json, "pause_ns", frame->pause_ns);
    json_put_unsigned(json, "torn", frame->torn);
    json_put_text(json, "why", inspect_frame_why(frame->why));
    json_line(json);
}

static void frame_row(struct table *table, const struct timeline_frame *frame) {
    table_cell(table, "%" PRIu64, frame->n);
    table_cell(table, "%s", show_time(frame->t).text);
    table_cell(table, "%" PRId32, frame->pid);
    table_cell(table, "%" PRIu32, frame->space);
    table_cell(table, "%s", show_count(frame->pages_written).text);
    table_cell(table, "%s", show_count(frame->torn).text);
    table_cell(table, "%s", show_span(frame->pause_ns).text);
    table_cell(table, "%s", inspect_frame_why(frame->why));
}

int inspect_frames(struct inspect *in) {
    int status = INSPECT_OK;
    uint64_t from, to, left = in->options.limit;
    struct inspect_whose whose;
    if (!inspect_span(in, &from, &to, &status) || !inspect_select_whose(in, &whose, &status)) return status;
    size_t count;
    const struct timeline_frame *frames = timeline_frames(in->tl, &count);
    struct table table;
    table_begin(&table, "rrrrrrrl", "frame|time|pid|space|pages written|torn|pause|why");
    for (size_t i = 0; i < count && left > 0 && in->out.error == 0; i++) {
        if (!frame_wanted(&frames[i], &whose, from, to)) continue;
        left--;
        if (in->options.json) {
            frame_json(&in->json, &frames[i]);
        } else {
            frame_row(&table, &frames[i]);
        }
    }
    if (in->options.json) table.count = 0;
    table_end(&table, &in->out, 0);
    inspect_whose_free(&whose);
    return status;
}
