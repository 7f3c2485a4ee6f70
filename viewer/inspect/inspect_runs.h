// Known pages as runs of equal ones. A few bytes of a trace may speak of a terabyte; walking its runs costs little.
#ifndef INSPECT_RUNS_H
#define INSPECT_RUNS_H

#include "space.h"

struct inspect_run {
    uint64_t addr, pages;
    struct vmv_page page; // each of them
};
struct inspect_runs {
    const struct vmv_space *space; // must not change meanwhile
    uint64_t addr, end;            // what is left
    struct vmv_page_stretch stretch;
    size_t at; // in the stretch
};
struct inspect_runs inspect_runs_begin(const struct vmv_space *space, uint64_t start, uint64_t end);
bool inspect_runs_next(struct inspect_runs *runs, struct inspect_run *run); // false: no more known pages

bool inspect_page_resident(const struct vmv_page *page); // in memory, the page of zeros included

#endif
