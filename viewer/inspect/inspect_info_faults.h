// Page faults of the whole recording by kind.
#ifndef INSPECT_INFO_FAULTS_H
#define INSPECT_INFO_FAULTS_H

#include "inspect.h"

struct info_faults {
    bool known;                         // false: so many that counting them would take long
    uint64_t kinds[VMV_FAULT_FILE + 1]; // by enum vmv_fault_kind; populated: pages without a fault record as well
};
// `records`: how many FAULT events there are.
struct info_faults info_faults_count(struct inspect *in, uint64_t records);
void info_faults_json(struct json *json, const struct info_faults *faults); // "faults":{kind:n} or null

#endif
