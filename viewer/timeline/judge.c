// Where the bytes of a page come from and how certain they are, with hindsight: contents captured at one moment are
// still exact at a later one if nothing can have changed them.
#include "timeline_internal.h"

#include <string.h>

struct question {
    struct timeline *tl;
    const struct vmv_space *space;
    const struct vmv_mapping *map;
    const struct vmv_page *page; // never NULL
    uint64_t addr;
    bool asked;
    struct ahead_answer answer;
};

static const struct ahead_answer *ask(struct question *q) {
    if (!q->asked) q->answer = ahead_ask(q->tl, q->space, q->addr);
    q->asked = true;
    return &q->answer;
}

static bool at_frame(const struct question *q) {
    return q->space->last_frame_t && q->space->last_frame_t == q->tl->now;
}

// The beginning of the first gap that overlaps (from, to]; UINT64_MAX if none does.
static uint64_t gap_in(struct question *q, uint64_t from, uint64_t to) {
    const struct landmarks *marks = &overview_get(q->tl)->marks;
    const struct space_gap *gap = landmarks_gap(marks, q->space->id, from, to < UINT64_MAX ? to + 1 : to, NULL);
    return gap ? gap->from : UINT64_MAX;
}

// Until when the answer speaks: the fault or the frame, or the moment itself.
static uint64_t horizon(struct question *q) {
    const struct ahead_answer *answer = ask(q);
    return answer->word == AHEAD_NOTHING ? q->tl->now : answer->t;
}

static void stale(struct verdict *verdict, uint64_t since) {
    verdict->certainty = VMV_CERT_STALE;
    verdict->may_have_changed = since;
}

// The last moment of which a frame still says "unchanged", for contents known at `captured`.
static uint64_t unchanged_until(struct question *q, uint64_t captured, uint64_t limit) {
    const struct timeline_frame *frame = landmarks_frame_before(&overview_get(q->tl)->marks, q->space->id, limit);
    return frame && frame->t > captured && frame->t <= limit ? frame->t : captured;
}

// Bytes that were right at `captured`, in a page that no event up to the moment says was written.
static void settle_unwritten(struct question *q, struct verdict *verdict, bool armed) {
    uint64_t captured = verdict->captured;
    uint64_t gap = gap_in(q, captured, at_frame(q) ? q->tl->now : horizon(q));
    if (gap != UINT64_MAX) {
        stale(verdict, unchanged_until(q, captured, gap) + 1);
        return;
    }
    if (at_frame(q) && armed) { // the frame itself says so
        verdict->certainty = VMV_CERT_EXACT;
        return;
    }
    const struct ahead_answer *answer = ask(q);
    bool still_zero = q->page->state == VMV_PAGE_ZERO && answer->listed && answer->state == VMV_PAGE_ZERO;
    if (still_zero && answer->word != AHEAD_NOTHING)
        verdict->certainty = VMV_CERT_EXACT;
    else if (!armed)
        stale(verdict, captured + 1);
    else if (answer->word == AHEAD_UNCHANGED || answer->word == AHEAD_LATER)
        verdict->certainty = VMV_CERT_EXACT;
    else
        stale(verdict, unchanged_until(q, captured, q->tl->now) + 1);
}

// Bytes captured, and the page seen written since: by a record of this interval, or by a frame that did not copy it.
static void settle_written(struct question *q, struct verdict *verdict) {
    bool by_record = q->page->written > q->space->last_frame_t && ask(q)->first_fault;
    bool copied = !(q->page->flags & (VMV_PAGEF_SKIPPED | VMV_PAGEF_HUGE));
    uint64_t since = verdict->captured + 1;
    if (by_record && copied && gap_in(q, verdict->captured, q->tl->now) == UINT64_MAX) since = ask(q)->first_fault;
    stale(verdict, since);
}

static void settle(struct question *q, struct verdict *verdict, bool armed) {
    bool loose = q->page->flags & (VMV_PAGEF_HUGE | VMV_PAGEF_SKIPPED);
    if (q->map->flags & VMV_MAP_SHARED)
        stale(verdict, verdict->captured + 1);
    else if (q->page->written > verdict->captured)
        settle_written(q, verdict);
    else if (verdict->captured >= q->tl->now)
        verdict->certainty = VMV_CERT_EXACT;
    else if (loose)
        stale(verdict, verdict->captured + 1);
    else
        settle_unwritten(q, verdict, armed);
}

static bool has_contents(const struct vmv_page *page) {
    return (page->content == VMV_CONTENT_ZERO || page->content >= VMV_CONTENT_FIRST) &&
           page->certainty != VMV_CERT_UNKNOWN;
}

static void judge_captured(struct question *q, struct verdict *verdict) {
    verdict->known = true;
    verdict->from = TIMELINE_FROM_CAPTURE;
    verdict->content = q->page->content;
    verdict->captured = q->page->captured;
    if (q->page->certainty == VMV_CERT_TORN) {
        verdict->certainty = VMV_CERT_TORN;
        verdict->may_have_changed = verdict->captured;
    } else if (q->page->certainty != VMV_CERT_EXACT) {
        stale(verdict, verdict->captured + 1);
    } else {
        settle(q, verdict, q->page->armed || q->page->state == VMV_PAGE_ZERO);
    }
}

// The shared page of zeros: it can only be left by a write, which faults.
static void judge_zero_page(struct question *q, struct verdict *verdict) {
    verdict->known = true;
    verdict->from = TIMELINE_FROM_ZERO;
    verdict->captured = q->space->last_frame_t < q->tl->now ? q->space->last_frame_t : q->tl->now;
    settle(q, verdict, true);
}

static bool never_touched(const struct question *q) {
    return q->page->state == VMV_PAGE_UNKNOWN || q->page->state == VMV_PAGE_ABSENT;
}

// A page of a file that was not captured: it holds what the file holds, unless the program wrote to its own copy.
static void judge_file(struct question *q, struct verdict *verdict) {
    bool of_file = q->page->flags & VMV_PAGEF_FILE || q->page->content == VMV_CONTENT_FILE;
    verdict->known = true;
    verdict->from = TIMELINE_FROM_OBJECT;
    uint64_t seen = q->space->last_frame_t; // by the frame that found it so, or found nothing
    verdict->captured = of_file && !never_touched(q) ? seen : 0;
    if (q->map->flags & VMV_MAP_SHARED || (!of_file && !never_touched(q))) {
        stale(verdict, 1);
        return;
    }
    if (of_file && q->page->written > seen) {
        settle_written(q, verdict);
        return;
    }
    uint64_t gap = gap_in(q, seen, at_frame(q) ? q->tl->now : horizon(q));
    bool still_file = !at_frame(q) && ask(q)->listed && ask(q)->flags & VMV_PAGEF_FILE;
    if (gap != UINT64_MAX)
        stale(verdict, unchanged_until(q, 0, gap < seen ? gap : seen) + 1);
    else if (at_frame(q) || (still_file && ask(q)->word != AHEAD_NOTHING))
        verdict->certainty = VMV_CERT_EXACT;
    else if (ask(q)->word == AHEAD_UNCHANGED || ask(q)->word == AHEAD_LATER)
        verdict->certainty = VMV_CERT_EXACT;
    else
        stale(verdict, seen + 1);
}

static bool plain_memory(const struct question *q) {
    return !q->map->inode && q->map->name[0] != '/' && vmv_mapping_kind(q->space, q->map) != VMV_KIND_KERNEL;
}

// Whether it is known that nobody has touched the page until now.
static bool untouched(struct question *q) {
    if (!never_touched(q) || gap_in(q, q->tl->now, horizon(q)) != UINT64_MAX) return false;
    if (at_frame(q)) return true;
    const struct ahead_answer *answer = ask(q);
    if (answer->first_fault && answer->word != AHEAD_LATER) return false;
    if (answer->word == AHEAD_LATER) return true;
    return answer->word == AHEAD_UNCHANGED && (!answer->listed || answer->state == VMV_PAGE_ABSENT);
}

// Touched since the last frame, and the next one finds it to be the page of zeros: it was only read.
static bool only_read(struct question *q) {
    if (q->page->state != VMV_PAGE_RESIDENT || !q->space->last_frame_t) return false;
    if (gap_in(q, q->space->last_frame_t, horizon(q)) != UINT64_MAX) return false;
    const struct ahead_answer *answer = ask(q);
    return answer->listed && answer->state == VMV_PAGE_ZERO && answer->word != AHEAD_NOTHING;
}

static void judge_fresh(struct question *q, struct verdict *verdict) {
    if (q->map->flags & VMV_MAP_SHARED) return;
    if (!untouched(q) && !only_read(q)) return;
    verdict->known = true;
    verdict->from = TIMELINE_FROM_ZERO;
    verdict->captured = q->tl->now;
    verdict->certainty = VMV_CERT_EXACT;
}

// Absent where nothing was touched: a frame or the completeness of fault records must say so.
static enum vmv_page_state shown_state(struct question *q) {
    if (q->page->state != VMV_PAGE_UNKNOWN) return (enum vmv_page_state)q->page->state;
    if (vmv_mapping_kind(q->space, q->map) == VMV_KIND_KERNEL) return VMV_PAGE_UNKNOWN;
    if (untouched(q)) return VMV_PAGE_ABSENT;
    bool recorded = q->tl->faults_recorded && gap_in(q, q->space->last_frame_t, q->tl->now) == UINT64_MAX;
    return recorded && ask(q)->word == AHEAD_NOTHING ? VMV_PAGE_ABSENT : VMV_PAGE_UNKNOWN;
}

struct verdict judge_page(struct timeline *tl, const struct vmv_space *space, const struct vmv_mapping *map,
                          uint64_t addr) {
    static const struct vmv_page nothing;
    const struct vmv_page *page = vmv_space_page_peek(space, addr);
    struct question q = {.tl = tl, .space = space, .map = map, .page = page ? page : &nothing, .addr = addr};
    struct verdict verdict = {.certainty = VMV_CERT_UNKNOWN};
    verdict.state = shown_state(&q);
    if (q.page->state == VMV_PAGE_GUARD) return verdict;
    if (has_contents(q.page))
        judge_captured(&q, &verdict);
    else if (q.page->state == VMV_PAGE_ZERO)
        judge_zero_page(&q, &verdict);
    else if (map->object)
        judge_file(&q, &verdict);
    else if (plain_memory(&q))
        judge_fresh(&q, &verdict);
    return verdict;
}

bool judge_kept(struct timeline *tl, const struct vmv_space *space, const struct vmv_mapping *map, uint64_t low,
                uint64_t high, const struct ahead_answer *answer, enum vmv_certainty *certainty) {
    struct question q = {.tl = tl, .space = space, .map = map, .asked = true, .answer = *answer};
    if (map->flags & VMV_MAP_SHARED) {
        *certainty = VMV_CERT_STALE;
        return true;
    }
    if (low >= tl->now) {
        *certainty = VMV_CERT_EXACT;
        return true;
    }
    if ((high >= tl->now && !at_frame(&q)) || gap_in(&q, low, at_frame(&q) ? tl->now : horizon(&q)) != UINT64_MAX)
        return false;
    bool exact = at_frame(&q) || answer->word == AHEAD_UNCHANGED || answer->word == AHEAD_LATER;
    *certainty = exact ? VMV_CERT_EXACT : VMV_CERT_STALE;
    return true;
}
