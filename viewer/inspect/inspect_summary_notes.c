// What a reader of the numbers must know: how complete and how fine the recording is.
#include "inspect_summary.h"

#include "inspect_runs.h"
#include "inspect_show.h"
#include "inspect_signal.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static void note(struct summary *summary, const char *format, ...) {
    char raw[600], plain[1200];
    va_list args;
    if (summary->note_count == SUMMARY_NOTES) return;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    inspect_plain(plain, sizeof plain, raw);
    summary->notes[summary->note_count++] = vmv_arena_strdup(&summary->arena, plain, strlen(plain));
}

static void note_completeness(struct inspect *in, struct summary *summary) {
    struct vmv_reader *reader = timeline_reader(in->tl);
    if (!vmv_reader_end(reader)->complete)
        note(summary, "the trace is not complete: it ends at %s, before the recording did",
             show_time(timeline_duration(in->tl)).text);
    const char *trouble = timeline_trouble(in->tl);
    if (trouble != NULL) note(summary, "part of the trace is damaged: %s", trouble);
}

static void note_sources(struct inspect *in, struct summary *summary) {
    const struct vmv_meta *meta = vmv_reader_meta(timeline_reader(in->tl));
    if (meta->source_faults == NULL) return;
    if (strcmp(meta->source_faults, "none") == 0)
        note(summary, "page faults were not recorded: who touched a page is not known");
    if (strcmp(meta->source_faults, "frames") == 0) {
        note(summary, "page faults were not recorded, only frames: a write is known to lie between two frames");
    }
    if (meta->source_why != NULL && meta->source_why[0] != '\0') note(summary, "sources: %s", meta->source_why);
}

struct note_count {
    uint64_t gaps, gap_ns, steps, torn;
    uint64_t signals; // deadly ones
};

static void note_one(struct note_count *counts, struct summary *summary, const struct vmv_event *event) {
    switch (event->type) {
    case VMV_EV_GAP:
        counts->gaps++;
        if (event->to > event->t) counts->gap_ns += event->to - event->t;
        break;
    case VMV_EV_GOVERNOR:
        counts->steps++;
        break;
    case VMV_EV_NOTE:
        if (event->name != NULL) note(summary, "%s: %s", show_time(event->t).text, event->name);
        break;
    case VMV_EV_SIGNAL:
        if (event->flag && event->pid == summary->pid) {
            note(summary, "%s: killed by %s (%s), thread %" PRId32 ", address 0x%" PRIx64, show_time(event->t).text,
                 inspect_signal(event->number).text, inspect_signal_code(event->number, event->code).text, event->tid,
                 event->addr);
        }
        break;
    default:
        break;
    }
}

static void note_landmarks(struct inspect *in, struct summary *summary) {
    struct note_count counts = {0};
    size_t count;
    const struct vmv_event *events = timeline_landmarks(in->tl, &count);
    for (size_t i = 0; i < count; i++) {
        if (events[i].t >= summary->from && events[i].t <= summary->to) note_one(&counts, summary, &events[i]);
    }
    if (counts.gaps > 0) {
        note(summary, "%s, %s in all: what happened there is not known; vmvis-inspect info lists them",
             show_plural(counts.gaps, "gap", "gaps").text, show_span(counts.gap_ns).text);
    }
    if (counts.steps > 0) {
        note(summary, "the recorder changed its effort %s to keep its budget; events --event governor lists when",
             show_plural(counts.steps, "time", "times").text);
    }
}

static void note_frames(struct inspect *in, struct summary *summary, uint32_t space) {
    uint64_t torn = 0, pause = 0;
    size_t count;
    const struct timeline_frame *frames = timeline_frames(in->tl, &count);
    for (size_t i = 0; i < count; i++) {
        if (frames[i].space != space || frames[i].t < summary->from || frames[i].t > summary->to) continue;
        torn += frames[i].torn;
        if (frames[i].pause_ns > pause) pause = frames[i].pause_ns;
    }
    if (torn > 0)
        note(summary, "%s torn: written while they were copied", show_plural(torn, "page was", "pages were").text);
    if (pause > 0) note(summary, "the longest pause for a frame was %s", show_span(pause).text);
}

static void note_pages(struct summary *summary, const struct vmv_space *space) {
    uint64_t huge = 0, skipped = 0;
    struct inspect_runs runs = inspect_runs_begin(space, 0, UINT64_MAX);
    struct inspect_run run;
    while (inspect_runs_next(&runs, &run)) {
        if (run.page.flags & VMV_PAGEF_HUGE) huge += run.pages;
        if (run.page.flags & VMV_PAGEF_SKIPPED) skipped += run.pages;
    }
    if (huge > 0)
        note(summary, "%s in huge pages: for these, written means possibly written",
             show_size(huge * space->page_size).text);
    if (skipped > 0)
        note(summary, "%s at the end whose contents were not copied", show_plural(skipped, "page", "pages").text);
}

void summary_note_all(struct inspect *in, struct summary *summary, const struct vmv_space *space) {
    note_completeness(in, summary);
    note_pages(summary, space); // first: the space holds until the next seek
    note_frames(in, summary, space->id);
    note_landmarks(in, summary);
    note_sources(in, summary);
}
