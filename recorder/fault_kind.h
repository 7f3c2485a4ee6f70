// What a fault record means, by what is known of the page at that moment. Pure.
#ifndef REC_FAULT_KIND_H
#define REC_FAULT_KIND_H

#include "world.h"

// Fills kind and, where the page's state settles it, access. Records carry no read/write flag: what cannot be told
// stays unknown.
void fault_kind_settle(const struct vmv_space *space, struct vmv_event *fault);

#endif
