// Frames: a consistent moment of one address space. The running threads are held, their registers read, the pages
// written since the frame before found, re-armed and copied.
#include "tracer.h"

#include "arch.h"
#include "attach.h"
#include "hold.h"
#include "mend.h"
#include "objects.h"
#include "track.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    HUGE_COPY_BYTES = 4 << 20, // contents of huge pages copied in one frame
    RESIDENCY_EVERY = 50,      // frames between two full looks at what is resident
    PAGE = 4096,
    HUGE_BYTES = 2 << 20,
    SPARE_NS = 250000000,
    SPARE_MAX_NS = 2000000000,
};

// ---------------------------------------------------------------------------------------------- threads

// The kernel gives a fork or clone up when an interrupt comes, and begins anew. Where processors are busy, the next
// frame would come before it is done, and so on for ever: the thread is spared for a while.
static void spare_fork(struct tracer *tracer, struct tracee *tracee, const struct arch_regs *regs) {
    if (!arch_is_fork_begun_anew(regs)) return;
    tracee->spared_ns = tracee->spared_ns ? tracee->spared_ns * 2 : SPARE_NS;
    if (tracee->spared_ns > SPARE_MAX_NS) tracee->spared_ns = SPARE_MAX_NS;
    tracee->spared_until = tracer_now(tracer) + tracee->spared_ns;
}

static void add_registers(struct tracer *tracer, struct sink_frame *frame, struct sink_thread *out,
                          struct tracee *tracee) {
    struct arch_regs regs;
    if (arch_get_regs(tracee->tid, &regs) != 0) return;
    spare_fork(tracer, tracee, &regs);
    struct arch_regs after = regs;
    if (tracee->held && mend_call(tracee, &after, frame->event.t)) arch_set_regs(tracee->tid, &after);
    uint8_t extended[ARCH_EXTENDED_MAX];
    size_t length = arch_get_extended(tracee->tid, extended, sizeof extended);
    void *general = vmv_arena_alloc(&frame->arena, sizeof regs + length);
    memcpy(general, &regs, sizeof regs);
    memcpy((uint8_t *)general + sizeof regs, extended, length);
    out->general = general;
    out->general_length = sizeof regs;
    out->extended = (uint8_t *)general + sizeof regs;
    out->extended_length = length;
    out->event.pc = arch_pc(&regs);
    out->event.sp = arch_sp(&regs);
    out->event.fp = arch_fp(&regs);
    out->event.syscall = arch_syscall(&regs) >= 0 && !arch_is_compat(&regs) ? arch_syscall(&regs) : -1;
    out->event.certainty = VMV_CERT_EXACT;
}

static bool add_from_proc(struct sink_thread *out, struct tracee *tracee) {
    struct procstat_syscall now;
    if (procstat_syscall(&tracee->stat, &now) != 0) return false;
    out->event.syscall = now.nr;
    if (out->event.state != VMV_THREAD_STOPPED)
        out->event.state = now.where == PROCSTAT_IN_SYSCALL ? VMV_THREAD_SLEEPING : VMV_THREAD_RUNNING;
    if (now.where == PROCSTAT_RUNNING) return true;
    out->event.pc = now.pc;
    out->event.sp = now.sp;
    out->event.certainty = VMV_CERT_PARTIAL;
    return true;
}

static void add_run_time(struct tracee *tracee, struct vmv_event *event) {
    uint64_t run_ns;
    if (procstat_run_ns(&tracee->stat, &run_ns) != 0) return;
    event->run_ns = run_ns > tracee->run_ns ? run_ns - tracee->run_ns : 0;
    tracee->run_ns = run_ns;
    if (tracee->sampled_asleep && tracee->held) tracee->sampled_run_ns = run_ns;
}

static void add_name(struct rec_space *space, struct tracee *tracee, struct vmv_event *event) {
    char name[16];
    // Names change rarely, and then early: later they are looked at every eighth frame, and at the special ones.
    if (tracee->named > 4 && event->why == VMV_FRAME_INTERVAL && space->frames % 8) return;
    tracee->named++;
    if (procstat_name(tracee->process->pid, tracee->tid, name) != 0 || strcmp(name, tracee->name) == 0) return;
    memcpy(tracee->name, name, sizeof name);
    event->name = tracee->name;
}

static enum vmv_thread_state state_of(const struct tracee *tracee) {
    if (tracee->state == TRACEE_GROUP) return VMV_THREAD_STOPPED;
    return tracee->held && tracee->sampled_asleep ? VMV_THREAD_SLEEPING : VMV_THREAD_RUNNING;
}

static void add_thread(struct hold *hold, struct sink_frame *frame, struct tracee *tracee) {
    if (tracee->state == TRACEE_EXPECTED || tracee->state == TRACEE_EXITING) return;
    bool readable = tracee == hold->at || tracee->held || tracee->stands || tracee->state == TRACEE_QUEUED;
    if (tracee->state == TRACEE_GROUP) tracee->sampled_asleep = false; // to be told anew, also when it goes on
    if (!readable && tracee->sampled_asleep) return;                   // still in the sleep whose registers are known
    struct sink_thread *out = sink_frame_add_thread(frame);
    out->event = frame->event;
    out->event.type = VMV_EV_THREAD;
    out->event.pid = tracee->process->pid;
    out->event.tid = tracee->tid;
    out->event.syscall = -1;
    out->event.state = state_of(tracee);
    if (readable) add_registers(hold->tracer, frame, out, tracee);
    if (!out->general && !add_from_proc(out, tracee)) {
        frame->thread_count--;
        return;
    }
    add_run_time(tracee, &out->event);
    add_name(hold->space, tracee, &out->event);
    if (out->event.name) { // the frame outlives this moment
        char *copy = vmv_arena_alloc(&frame->arena, sizeof tracee->name);
        memcpy(copy, tracee->name, sizeof tracee->name);
        out->event.name = copy;
    }
}

// ---------------------------------------------------------------------------------------------- pages

static uint8_t state_of_pages(uint64_t pages) {
    if (pages & TRACK_PAGE_GUARD) return VMV_PAGE_GUARD;
    if (pages & TRACK_PAGE_ZERO) return VMV_PAGE_ZERO;
    if (pages & TRACK_PAGE_PRESENT) return VMV_PAGE_RESIDENT;
    return pages & TRACK_PAGE_SWAPPED ? VMV_PAGE_SWAPPED : VMV_PAGE_UNKNOWN;
}

// A page of a private mapping that is still the file's is not copied: its bytes are in the embedded file.
static bool is_file_page(const struct vmv_mapping *mapping, uint64_t pages) {
    return mapping && (pages & TRACK_PAGE_FILE) && !(mapping->flags & VMV_MAP_SHARED) && mapping->object;
}

static bool is_kernel(const struct vmv_mapping *mapping) { return mapping && strncmp(mapping->name, "[v", 2) == 0; }

struct scan {
    struct tracer *tracer;
    struct rec_space *space;
    struct sink_frame *frame;
    struct track_runs wanted; // contents to copy
    uint64_t huge_left;       // bytes of huge pages that may still be copied
};

static void want(struct scan *scan, uint64_t start, uint64_t end, uint64_t pages) {
    struct track_runs *wanted = &scan->wanted;
    struct track_run *last = wanted->count ? &wanted->runs[wanted->count - 1] : NULL;
    if (last && last->end == start && last->pages == pages) {
        last->end = end;
        return;
    }
    if (wanted->count == wanted->room) {
        wanted->room = wanted->room * 2 + 64;
        wanted->runs = realloc(wanted->runs, wanted->room * sizeof *wanted->runs);
        if (!wanted->runs) abort();
    }
    wanted->runs[wanted->count++] = (struct track_run){start, end, pages};
}

// Huge pages are listed whether they were written or not: a bounded number is copied each frame, in turn.
static bool want_huge(struct scan *scan, const struct track_run *run) {
    if (scan->tracer->options->budget_percent < 0 || scan->frame->event.why != VMV_FRAME_INTERVAL) return true;
    if (run->start < scan->space->huge_next || scan->huge_left < run->end - run->start) return false;
    scan->huge_left -= run->end - run->start;
    scan->space->huge_next = run->end;
    return true;
}

// Pages that hold the environment (--no-env), or what --exclude names. Lowers part->end to where the answer ends.
static bool is_withheld(const struct scan *scan, const struct vmv_mapping *mapping, struct track_run *part) {
    const struct exclude *exclude = &scan->tracer->options->exclude;
    struct exclude environment = {.items = {{NULL, scan->space->env_start, scan->space->env_end}}, .count = 1};
    if (exclude_names(exclude, mapping)) return true;
    if (exclude_covers(exclude, part->start, PAGE, &part->end)) return true;
    return scan->tracer->options->no_env && exclude_covers(&environment, part->start, PAGE, &part->end);
}

static void add_part(struct scan *scan, const struct vmv_mapping *mapping, struct track_run part, bool withheld) {
    bool huge = part.pages & TRACK_PAGE_HUGE, kernel = is_kernel(mapping);
    if (kernel && scan->space->frames) return; // the kernel's own pages: seen once
    struct vmv_event run = scan->frame->event;
    run.type = VMV_EV_PAGES;
    run.addr = part.start;
    run.len = part.end - part.start;
    run.state = state_of_pages(part.pages);
    bool file = is_file_page(mapping, part.pages);
    if (file) run.page_flags |= VMV_PAGEF_FILE;
    if (huge) run.page_flags |= VMV_PAGEF_HUGE;
    if (part.pages & TRACK_PAGE_UNARMED) run.page_flags |= VMV_PAGEF_UNARMED;
    bool changed = part.pages & (TRACK_PAGE_WRITTEN | TRACK_PAGE_HUGE | TRACK_PAGE_UNARMED);
    if (changed && !file && !kernel && run.state == VMV_PAGE_RESIDENT) run.page_flags |= VMV_PAGEF_WRITTEN;
    bool copy = !file && run.state == VMV_PAGE_RESIDENT && scan->tracer->options->content &&
                sink_fill(scan->tracer->sink) == SINK_TAKES_ALL;
    if (kernel && strcmp(mapping->name, "[vdso]") != 0) copy = false;
    if (withheld) copy = false;
    if (copy && huge && !want_huge(scan, &part)) copy = false;
    if (copy) want(scan, part.start, part.end, part.pages);
    if (!copy && !file && run.state == VMV_PAGE_RESIDENT) run.page_flags |= VMV_PAGEF_SKIPPED;
    sink_frame_add_run(scan->frame, &run);
}

// The stack grows without a call: pages below its known start show it.
static void follow_growth(struct scan *scan, uint64_t addr) {
    struct vmv_mapping mapping;
    struct tracer *tracer = scan->tracer;
    if (procmaps_at(&tracer->maps, scan->space->pid, addr, &mapping, NULL) != 0) return;
    mapping.object = tracer_object(tracer, scan->space, &mapping);
    struct vmv_event event = tracer_event(tracer, VMV_EV_MAPS, NULL);
    event.t = scan->frame->event.t;
    event.space = scan->space->id;
    event.pid = scan->space->pid;
    event.addr = mapping.start;
    event.len = mapping.end - mapping.start;
    event.maps = &mapping;
    event.map_count = 1;
    tracer_emit(tracer, &event, NULL);
}

static void add_run(struct scan *scan, struct track_run run) {
    const struct vmv_space *model = scan->space->model;
    while (run.start < run.end) {
        const struct vmv_mapping *mapping = vmv_space_find(model, run.start);
        if (!mapping) {
            follow_growth(scan, run.start);
            mapping = vmv_space_find(model, run.start);
        }
        uint64_t end = mapping && mapping->end < run.end ? mapping->end : run.end;
        if (!mapping) { // unmapped meanwhile, or of a call under way: on to what is known
            size_t next = vmv_space_lower_bound(model, run.start);
            run.start =
                next < model->map_count && model->maps[next].start < run.end ? model->maps[next].start : run.end;
            continue;
        }
        if (run.pages & TRACK_PAGE_HUGE) { // one huge page at a time
            uint64_t border = (run.start | (HUGE_BYTES - 1)) + 1;
            if (border < end) end = border;
        }
        struct track_run part = {run.start, end, run.pages};
        bool withheld = is_withheld(scan, mapping, &part);
        add_part(scan, mapping, part, withheld);
        run.start = part.end;
    }
}

// ---------------------------------------------------------------------------------------------- contents

static void owe(struct rec_space *space, uint64_t start, uint64_t end) {
    if (space->owed_count == space->owed_room) {
        space->owed_room = space->owed_room * 2 + 64;
        space->owed = realloc(space->owed, space->owed_room * sizeof *space->owed);
        if (!space->owed) abort();
    }
    space->owed[space->owed_count++] = (struct page_span){start, end};
}

void frame_forget(struct rec_space *space, uint64_t start, uint64_t end) {
    size_t kept = 0, count = space->owed_count;
    for (size_t i = 0; i < count; i++) {
        struct page_span span = space->owed[i];
        if (span.end <= start || span.start >= end) {
            space->owed[kept++] = span;
            continue;
        }
        if (span.start < start) space->owed[kept++] = (struct page_span){span.start, start};
        if (span.end > end) owe(space, end, span.end);
    }
    memmove(space->owed + kept, space->owed + count, (space->owed_count - count) * sizeof *space->owed);
    space->owed_count = kept + space->owed_count - count;
}

static int by_start(const void *a, const void *b) {
    const struct track_run *x = a, *y = b;
    return x->start < y->start ? -1 : x->start > y->start;
}

// Contents owed from earlier frames join those of this one; pages in both are taken once.
static void join_owed(struct scan *scan) {
    struct rec_space *space = scan->space;
    if (!space->owed_count) return;
    for (size_t i = 0; i < space->owed_count; i++)
        want(scan, space->owed[i].start, space->owed[i].end, TRACK_PAGE_PRESENT);
    space->owed_count = 0;
    struct track_runs *wanted = &scan->wanted;
    qsort(wanted->runs, wanted->count, sizeof *wanted->runs, by_start);
    size_t kept = 0;
    for (size_t i = 0; i < wanted->count; i++) {
        struct track_run run = wanted->runs[i];
        if (kept && run.start < wanted->runs[kept - 1].end) run.start = wanted->runs[kept - 1].end;
        if (run.start < run.end) wanted->runs[kept++] = run;
    }
    wanted->count = kept;
}

// What could not be copied is owed, and said to be known no better than before.
static void skip_from(struct scan *scan, size_t first, uint64_t offset) {
    for (size_t i = first; i < scan->wanted.count; i++, offset = 0) {
        struct track_run run = scan->wanted.runs[i];
        run.start += offset;
        owe(scan->space, run.start, run.end);
        struct vmv_event event = scan->frame->event;
        event.type = VMV_EV_PAGES;
        event.addr = run.start;
        event.len = run.end - run.start;
        event.state = VMV_PAGE_RESIDENT;
        event.page_flags = VMV_PAGEF_WRITTEN | VMV_PAGEF_SKIPPED;
        if (run.pages & TRACK_PAGE_HUGE) event.page_flags |= VMV_PAGEF_HUGE;
        sink_frame_add_run(scan->frame, &event);
    }
}

static void copy_contents(struct scan *scan) {
    struct tracer *tracer = scan->tracer;
    join_owed(scan);
    uint64_t pages = track_runs_pages(&scan->wanted), offset = 0;
    if (!pages) return;
    bool all = tracer->options->budget_percent < 0;
    bool fatal = scan->frame->event.why == VMV_FRAME_SIGNAL;           // what a crash left behind is kept whole
    bool last = fatal || scan->frame->event.why != VMV_FRAME_INTERVAL; // nothing can be owed beyond these
    uint64_t bytes = pages * PAGE, most = fatal ? UINT64_MAX : governor_copies(tracer, last);
    if (bytes > most) bytes = most;
    governor_contents_short(tracer, bytes < pages * PAGE);
    size_t granted = sink_frame_reserve(tracer->sink, scan->frame, bytes, all) / PAGE;
    size_t next = 0;
    if (granted) next = track_copy(scan->space->track, &scan->wanted, 0, &offset, granted, &scan->frame->copy);
    skip_from(scan, next, offset);
    track_rescan_torn(scan->space->track, &scan->wanted, &scan->frame->torn);
}

static void scan_pages(struct scan *scan) {
    struct track *track = scan->space->track;
    const struct vmv_space *model = scan->space->model;
    struct track_maps maps = {model->maps, model->map_count};
    int error = track_scan(track, maps, &scan->tracer->runs);
    if (error == -ESRCH) return;
    if (error) {
        tracer_note(scan->tracer, VMV_EV_GAP, scan->space, "pages could not be scanned: %s", strerror(-error));
        return;
    }
    for (size_t i = 0; i < scan->tracer->runs.count; i++) add_run(scan, scan->tracer->runs.runs[i]);
    if (scan->huge_left == HUGE_COPY_BYTES) scan->space->huge_next = 0; // came to the end: from the beginning next time
    copy_contents(scan);
    if (scan->space->frames % RESIDENCY_EVERY != RESIDENCY_EVERY - 1) return;
    maps = (struct track_maps){model->maps, model->map_count};
    scan->frame->has_resident = track_scan_resident(track, maps, &scan->frame->resident) == 0;
}

// ---------------------------------------------------------------------------------------------- a frame

static uint64_t pages_written(const struct sink_frame *frame) {
    uint64_t bytes = 0;
    for (size_t i = 0; i < frame->run_count; i++) {
        const struct vmv_event *run = &frame->runs[i];
        bool armed = !(run->page_flags & (VMV_PAGEF_HUGE | VMV_PAGEF_UNARMED));
        if (armed && run->state != VMV_PAGE_GUARD) bytes += run->len;
    }
    return bytes / PAGE;
}

void frame_take(struct tracer *tracer, struct rec_space *space, enum vmv_frame_why why, struct tracee *at, bool hold) {
    struct hold holding = {tracer, space, at, 0};
    uint64_t begun = tracer_now(tracer);
    bool many = hold && tracer->table.count > 1;
    if (many) hold_prefer_tracer(true);
    if (hold) hold_threads(&holding);
    struct sink_frame *frame = sink_frame_create(tracer->sink);
    frame->event = tracer_event(tracer, VMV_EV_FRAME, at);
    frame->event.space = space->id;
    if (!at) frame->event.pid = space->pid;
    frame->event.frame = tracer->frames++;
    frame->event.why = (uint8_t)why;
    size_t bucket = 0;
    for (struct tracee *t = NULL; (t = tracee_next(&tracer->table, &bucket, t));)
        if (hold_is_of(t, space) && (hold || t == at)) add_thread(&holding, frame, t);
    if (tracer->options->maps_frames || space->maps_hidden) memcall_follow_maps(tracer, space);
    struct scan scan = {tracer, space, frame, {0}, HUGE_COPY_BYTES};
    if (space->watch_due && hold) attach_watch(tracer, space);
    frame->as_found = space->as_found;
    if (space->track) {
        space->as_found = false;
        scan_pages(&scan);
    }
    track_runs_free(&scan.wanted);
    hold_let_go(&holding);
    if (many) hold_prefer_tracer(false);
    uint64_t now = tracer_now(tracer), written = pages_written(frame);
    frame->event.pause_ns = now - begun;
    sink_frame_submit(tracer->producer, frame);
    governor_frame_done(tracer, space, written, now - begun);
    space->frames++;
    space->last_frame = now;
    if (why != VMV_FRAME_INTERVAL) space->next_frame = now + tracer->interval_ns;
}

static uint64_t cpu_of(struct tracer *tracer, const struct rec_space *space) {
    uint64_t sum = 0;
    for (struct rec_process *process = tracer->table.processes; process; process = process->next) {
        uint64_t ns;
        if (process->space == space && procstat_cpu_ns(process->pid, &ns) == 0) sum += ns;
    }
    return sum;
}

void frame_due(struct tracer *tracer, uint64_t now) {
    for (struct rec_space *space = tracer->table.spaces; space; space = space->next) {
        if (now < space->next_frame || sink_fill(tracer->sink) == SINK_FULL) continue;
        uint64_t cpu_ns = cpu_of(tracer, space), due = space->next_frame + tracer->interval_ns;
        space->next_frame = due > now ? due : now + tracer->interval_ns;
        if (cpu_ns == space->cpu_ns) continue; // nothing of it ran
        if (memcall_is_collapsing(space) || !governor_allows(tracer, space, now)) continue;
        frame_take(tracer, space, VMV_FRAME_INTERVAL, NULL, true);
        space->cpu_ns = cpu_of(tracer, space);
    }
}
