// Kinds are not in any chunk's lead: the fault records are read one by one, as long as that is quick.
#include "inspect_info_faults.h"

#include "inspect_event.h"

enum { RECORDS_MOST = 4 << 20 }; // about a second

static uint64_t populated_pages(const struct vmv_event *event, uint64_t page_size) {
    return event->page_flags & VMV_PAGEF_POPULATED ? event->len / page_size : 0;
}

struct info_faults info_faults_count(struct inspect *in, uint64_t records) {
    struct info_faults faults = {.known = records <= RECORDS_MOST};
    struct timeline_filter filter = {0};
    uint64_t page_size = vmv_reader_meta(timeline_reader(in->tl))->page_size;
    if (!faults.known) return faults;
    timeline_filter_type(&filter, VMV_EV_FAULT);
    timeline_filter_type(&filter, VMV_EV_PAGES);
    struct timeline_cursor *cursor = timeline_cursor_create(in->tl, &filter);
    const struct vmv_event *event;
    while ((event = timeline_cursor_next(cursor)) != NULL) {
        if (event->type == VMV_EV_PAGES) {
            faults.kinds[VMV_FAULT_POPULATED] += populated_pages(event, page_size);
        } else {
            faults.kinds[event->kind <= VMV_FAULT_FILE ? event->kind : VMV_FAULT_UNKNOWN]++;
        }
    }
    timeline_cursor_destroy(cursor);
    return faults;
}

void info_faults_json(struct json *json, const struct info_faults *faults) {
    json_key(json, "faults");
    if (!faults->known) {
        json_null(json);
        return;
    }
    json_begin(json);
    for (uint8_t kind = 0; kind <= VMV_FAULT_FILE; kind++)
        json_put_unsigned(json, inspect_fault_kind(kind), faults->kinds[kind]);
    json_end(json);
}
