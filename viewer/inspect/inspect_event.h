// One event as JSON and as a line of text.
#ifndef INSPECT_EVENT_H
#define INSPECT_EVENT_H

#include "inspect.h"

void inspect_event_json(struct inspect *in, const struct vmv_event *event);
void inspect_event_text(struct inspect *in, const struct vmv_event *event);
// One page that became resident by itself between two frames, out of a PAGES event with VMV_PAGEF_POPULATED: a fault of
// kind "populated".
void inspect_populated_json(struct inspect *in, const struct vmv_event *event, uint64_t addr, uint64_t size);
void inspect_populated_text(struct inspect *in, const struct vmv_event *event, uint64_t addr, uint64_t size);

const char *inspect_fault_kind(uint8_t kind);
const char *inspect_access(uint8_t access); // NULL: not known
// Whether the result of a successful call of this type is an address.
bool inspect_event_returns_address(enum vmv_event_type type);

#endif
