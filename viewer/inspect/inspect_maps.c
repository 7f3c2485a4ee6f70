// maps: the mappings at a moment, as /proc/PID/maps prints them but for neighbours that are joined, and what is
// known of their pages.
#include "inspect.h"

#include "inspect_runs.h"
#include "inspect_show.h"
#include "inspect_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct map_pages {
    uint64_t resident, written, ever; // pages
};

// Resident: in memory at the moment, zero pages included. Written: seen written in the last frame or since; ever: at
// any time since the page came to be.
static struct map_pages map_count(const struct vmv_space *space, const struct vmv_mapping *mapping) {
    struct map_pages pages = {0};
    struct inspect_runs runs = inspect_runs_begin(space, mapping->start, mapping->end);
    struct inspect_run run;
    while (inspect_runs_next(&runs, &run)) {
        if (inspect_page_resident(&run.page)) pages.resident += run.pages;
        if (space->last_frame_t != 0 && run.page.written >= space->last_frame_t) pages.written += run.pages;
        if (run.page.writes > 0 || run.page.written != 0) pages.ever += run.pages;
    }
    return pages;
}

static void map_json(struct json *json, const struct inspect_moment *moment, const struct vmv_mapping *mapping) {
    const struct vmv_space *space = moment->space;
    struct map_pages pages = map_count(space, mapping);
    char prot[5], device[32];
    snprintf(device, sizeof device, "%02x:%02x", mapping->dev_major, mapping->dev_minor);
    json_begin(json);
    json_put_signed(json, "pid", moment->pid);
    json_put_unsigned(json, "space", space->id);
    json_put_hex(json, "start", mapping->start);
    json_put_hex(json, "end", mapping->end);
    json_put_text(json, "prot", inspect_protection(mapping, prot));
    json_put_text(json, "kind", vmv_kind_name(vmv_mapping_kind(space, mapping)));
    json_put_bool(json, "shared", (mapping->flags & VMV_MAP_SHARED) != 0);
    json_put_text(json, "name", mapping->name == NULL || mapping->name[0] == '\0' ? NULL : mapping->name);
    json_put_unsigned(json, "offset", mapping->offset);
    json_put_text(json, "dev", device);
    json_put_unsigned(json, "inode", mapping->inode);
    json_put_unsigned(json, "size", mapping->end - mapping->start);
    json_put_unsigned(json, "resident", pages.resident * space->page_size);
    json_put_unsigned(json, "written", pages.written * space->page_size);
    json_put_unsigned(json, "ever_written", pages.ever * space->page_size);
    json_line(json);
}

static void map_row(struct table *table, const struct vmv_space *space, const struct vmv_mapping *mapping,
                    struct map_pages *total) {
    struct map_pages pages = map_count(space, mapping);
    char prot[5];
    total->resident += pages.resident;
    total->written += pages.written;
    total->ever += pages.ever;
    table_cell(table, "%08" PRIx64 "-%08" PRIx64, mapping->start, mapping->end);
    table_cell(table, "%s", inspect_protection(mapping, prot));
    table_cell(table, "%08" PRIx64, mapping->offset);
    table_cell(table, "%02x:%02x", mapping->dev_major, mapping->dev_minor);
    table_cell(table, "%" PRIu64, mapping->inode);
    table_cell(table, "%s", show_size(mapping->end - mapping->start).text);
    table_cell(table, "%s", show_size(pages.resident * space->page_size).text);
    table_cell(table, "%s", show_size(pages.written * space->page_size).text);
    table_cell(table, "%s", show_size(pages.ever * space->page_size).text);
    table_cell(table, "%s", vmv_kind_name(vmv_mapping_kind(space, mapping)));
    table_name(table, mapping->name == NULL ? "" : mapping->name);
}

static void map_text_end(struct inspect_out *out, struct table *table, const struct inspect_moment *moment,
                         uint64_t count, uint64_t bytes, const struct map_pages *total) {
    uint64_t size = moment->space->page_size;
    if (count == 0) table->count = 0;
    table_end(table, out, 0);
    inspect_out_format(out, "%s%s of process %" PRId32 " at %s: %s", count == 0 ? "" : "\n",
                       show_plural(count, "mapping", "mappings").text, moment->pid, show_time(moment->t).text,
                       show_size(bytes).text);
    inspect_out_format(out, ", %s resident, %s written", show_size(total->resident * size).text,
                       show_size(total->written * size).text);
    inspect_out_format(out, " in the last frame, %s ever\n", show_size(total->ever * size).text);
}

// Which mappings the ranges meet, by index; all without ranges.
static bool *maps_wanted(const struct vmv_space *space, const struct inspect_ranges *ranges) {
    bool *wanted = malloc(space->map_count + 1);
    if (wanted == NULL) abort();
    memset(wanted, ranges->count == 0, space->map_count + 1);
    for (size_t r = 0; r < ranges->count; r++) {
        const struct inspect_range *range = &ranges->items[r];
        size_t i = vmv_space_lower_bound(space, range->addr);
        for (; i < space->map_count && space->maps[i].start < range->addr + range->length; i++) wanted[i] = true;
    }
    return wanted;
}

static void maps_print(struct inspect *in, const struct inspect_moment *moment, const struct inspect_ranges *ranges) {
    struct table table;
    struct map_pages total = {0};
    uint64_t count = 0, bytes = 0;
    bool *wanted = maps_wanted(moment->space, ranges);
    table_begin(&table, "rlrrrrrrrll", "start-end|prot|offset|dev|inode|size|resident|written|ever written|kind|name");
    for (size_t i = 0; i < moment->space->map_count && count < in->options.limit && in->out.error == 0; i++) {
        const struct vmv_mapping *mapping = &moment->space->maps[i];
        if (!wanted[i]) continue;
        count++;
        bytes += mapping->end - mapping->start;
        if (in->options.json) {
            map_json(&in->json, moment, mapping);
        } else {
            map_row(&table, moment->space, mapping, &total);
        }
    }
    if (in->options.json) {
        table.count = 0;
        table_end(&table, &in->out, 0);
    } else {
        map_text_end(&in->out, &table, moment, count, bytes, &total);
    }
    free(wanted);
}

int inspect_maps(struct inspect *in) {
    int status = INSPECT_OK;
    struct inspect_moment moment;
    struct inspect_ranges ranges;
    if (!inspect_select(in, &moment, &status)) return status;
    if (!inspect_ranges_parse(in, moment.space->id, &ranges, &status)) return status;
    inspect_ranges_widen(moment.space, &ranges);
    maps_print(in, &moment, &ranges);
    inspect_ranges_free(&ranges);
    return status;
}
