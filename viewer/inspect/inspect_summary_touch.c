// Who touched what grew: first touches of each growing mapping, by fault records, counted by instruction.
#include "inspect_summary.h"

#include <stdlib.h>

struct toucher {
    uint64_t pc, count; // count 0: a free slot
};
struct touchers { // open addressing by pc, of bounded size
    struct toucher *slots;
    size_t used;
};
enum { TOUCHER_SLOTS = 4096, TOUCHER_MOST = 3072 };

static void toucher_count(struct touchers *touchers, uint64_t pc) {
    size_t at = (size_t)((pc * UINT64_C(0x9e3779b97f4a7c15)) >> 52) % TOUCHER_SLOTS;
    while (touchers->slots[at].count != 0 && touchers->slots[at].pc != pc) at = (at + 1) % TOUCHER_SLOTS;
    if (touchers->slots[at].count == 0 && touchers->used == TOUCHER_MOST) return; // rare ones beyond that cannot win
    if (touchers->slots[at].count++ == 0) touchers->used++;
    touchers->slots[at].pc = pc;
}

static void grower_settle(struct grower *grower, const struct touchers *touchers) {
    for (size_t i = 0; i < TOUCHER_SLOTS; i++) {
        if (touchers->slots[i].count <= grower->touches) continue;
        grower->touches = touchers->slots[i].count;
        grower->pc = touchers->slots[i].pc;
    }
}

// A fault in the kernel has the kernel's instruction; the captured registers have the program's.
static uint64_t fault_pc(struct inspect *in, const struct vmv_event *event) {
    uint64_t pc = 0;
    if (event->kernel || event->pc == 0) return inspect_stack_pc(in, event->stack, &pc) ? pc : 0;
    return event->pc;
}

// What brought a page in. A write that the recorder's own write-protection caught grew nothing.
static bool fault_touches(const struct vmv_event *event) {
    return event->kind == VMV_FAULT_FIRST_TOUCH || event->kind == VMV_FAULT_FILE;
}

static void grower_find(struct inspect *in, const struct summary *summary, struct grower *grower, uint32_t space,
                        struct inspect_progress *progress) {
    struct touchers touchers = {.slots = calloc(TOUCHER_SLOTS, sizeof *touchers.slots)};
    if (touchers.slots == NULL) abort();
    struct timeline_filter filter = {
        .space = space, .addr = grower->start, .end = grower->end, .from = summary->from, .to = summary->to + 1};
    timeline_filter_type(&filter, VMV_EV_FAULT);
    struct timeline_cursor *cursor = timeline_cursor_create(in->tl, &filter);
    const struct vmv_event *event;
    while ((event = timeline_cursor_next(cursor)) != NULL) {
        uint64_t pc = fault_touches(event) ? fault_pc(in, event) : 0;
        if (pc != 0) toucher_count(&touchers, pc);
        grower->all_touches += fault_touches(event);
        inspect_progress_step(progress, "who touched it", event->t, summary->to);
    }
    timeline_cursor_destroy(cursor);
    grower_settle(grower, &touchers);
    free(touchers.slots);
}

void summary_find_touchers(struct inspect *in, struct summary *summary, uint32_t space) {
    struct inspect_progress progress;
    inspect_progress_begin(&progress);
    for (size_t i = 0; i < summary->grower_count; i++) grower_find(in, summary, &summary->growers[i], space, &progress);
    inspect_progress_end(&progress);
}
