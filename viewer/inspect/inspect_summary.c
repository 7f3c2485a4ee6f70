// summary: the recording in a few numbers: peaks, what grew and who touched it, the pages written most, and notes.
#include "inspect.h"

#include "inspect_show.h"
#include "inspect_summary.h"
#include "inspect_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- JSON

static void summary_put_pc(struct json *json, uint64_t pc) {
    json_key(json, "stack");
    if (pc == 0) {
        json_null(json);
        return;
    }
    json_array(json);
    json_begin(json);
    json_put_hex(json, "pc", pc);
    json_end(json);
    json_array_end(json);
}

static void summary_put_growers(struct json *json, const struct summary *summary) {
    json_key(json, "growers");
    json_array(json);
    for (size_t i = 0; i < summary->grower_count; i++) {
        const struct grower *grower = &summary->growers[i];
        json_begin(json);
        json_put_text(json, "region", grower->name);
        json_put_unsigned(json, "bytes", grower->bytes);
        json_put_hex(json, "start", grower->start);
        json_put_hex(json, "end", grower->end);
        json_put_unsigned(json, "touches", grower->touches);
        json_put_unsigned(json, "all_touches", grower->all_touches);
        summary_put_pc(json, grower->pc);
        json_end(json);
    }
    json_array_end(json);
}

static void summary_json(struct inspect *in, const struct summary *summary) {
    struct json *json = &in->json;
    json_begin(json);
    json_put_unsigned(json, "peak_resident", summary->peak_resident);
    json_put_unsigned(json, "peak_virtual", summary->peak_virtual);
    json_put_unsigned(json, "final_resident", summary->final_resident);
    json_put_signed(json, "pid", summary->pid);
    json_put_unsigned(json, "from", summary->began);
    json_put_unsigned(json, "to", summary->to);
    summary_put_growers(json, summary);
    json_key(json, "busiest");
    json_array(json);
    for (size_t i = 0; i < summary->busy_count; i++) {
        json_begin(json);
        json_put_hex(json, "addr", summary->busiest[i].addr);
        json_put_unsigned(json, "writes", summary->busiest[i].writes);
        json_put_text(json, "region", summary->busiest[i].name);
        json_end(json);
    }
    json_array_end(json);
    json_key(json, "notes");
    json_array(json);
    for (size_t i = 0; i < summary->note_count; i++) json_text(json, summary->notes[i], strlen(summary->notes[i]));
    json_array_end(json);
    json_line(json);
}

// --- text

static void summary_growers_text(struct inspect_out *out, const struct summary *summary) {
    struct table table;
    inspect_out_text(out, "\nGREW MOST\n");
    if (summary->grower_count == 0)
        inspect_out_text(out, "  nothing: no mapping has more resident pages than before\n");
    table_begin(&table, "rrrll", "grew by|address|size|touched most by|region");
    for (size_t i = 0; i < summary->grower_count; i++) {
        const struct grower *grower = &summary->growers[i];
        table_cell(&table, "%s", show_size(grower->bytes).text);
        table_cell(&table, "%012" PRIx64, grower->start);
        table_cell(&table, "%s", show_size(grower->end - grower->start).text);
        if (grower->pc == 0) {
            table_cell(&table, "%s", INSPECT_NONE);
        } else {
            table_cell(&table, "0x%" PRIx64 "  %s of %s", grower->pc, show_count(grower->touches).text,
                       show_plural(grower->all_touches, "first touch", "first touches").text);
        }
        table_name(&table, grower->name);
    }
    if (summary->grower_count == 0) table.count = 0;
    table_end(&table, out, 2);
}

static void summary_busiest_text(struct inspect_out *out, const struct summary *summary) {
    struct table table;
    inspect_out_text(out, "\nWRITTEN MOST OFTEN\n");
    if (summary->busy_count == 0) inspect_out_text(out, "  nothing: no write was seen\n");
    table_begin(&table, "rrl", "page|writes seen|region");
    for (size_t i = 0; i < summary->busy_count; i++) {
        table_cell(&table, "%012" PRIx64, summary->busiest[i].addr);
        table_cell(&table, "%s", show_count(summary->busiest[i].writes).text);
        table_name(&table, summary->busiest[i].name);
    }
    if (summary->busy_count == 0) table.count = 0;
    table_end(&table, out, 2);
}

static void summary_text(struct inspect *in, const struct summary *summary) {
    struct inspect_out *out = &in->out;
    inspect_out_format(out, "process %" PRId32 ", %s to %s\n", summary->pid, show_time(summary->began).text,
                       show_time(summary->to).text);
    inspect_out_format(out, "resident     %s at its peak, %s at the end\n", show_size(summary->peak_resident).text,
                       show_size(summary->final_resident).text);
    inspect_out_format(out, "virtual      %s at its peak\n", show_size(summary->peak_virtual).text);
    summary_growers_text(out, summary);
    summary_busiest_text(out, summary);
    if (summary->note_count > 0) inspect_out_text(out, "\nNOTES\n");
    for (size_t i = 0; i < summary->note_count; i++) inspect_out_format(out, "  %s\n", summary->notes[i]);
}

int inspect_summary(struct inspect *in) {
    int status = INSPECT_OK;
    struct summary summary;
    if (!summary_gather(in, &summary, &status)) return status;
    if (in->options.json) {
        summary_json(in, &summary);
    } else {
        summary_text(in, &summary);
    }
    summary_free(&summary);
    return INSPECT_OK;
}
