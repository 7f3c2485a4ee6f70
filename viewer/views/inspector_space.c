/* Details of the whole space: the process, the frame, and the recording itself. */
#include "app_names.h"
#include "inspector.h"
#include "ui_format.h"

#include <stdio.h>
#include <string.h>

static void plain_fact(struct page_writer *page, const char *name, const char *text) {
    char plain[512];
    app_plain(plain, sizeof plain, text);
    if (*plain)
        inspector_fact(page, name, UI_DIM, "%s", plain);
    else
        inspector_fact(page, name, UI_FAINT, "unknown");
}

/* --- process --- */

static void exit_text(bool killed, int code, char *out, size_t size) {
    char name[24];
    view_signal_name(code, name, sizeof name);
    if (killed)
        snprintf(out, size, "killed by %s", name);
    else
        snprintf(out, size, "status %d", code);
}

/* The latest signal that killed it, or was about to. */
static void signal_fact(struct page_writer *page) {
    struct app *app = page->app;
    const struct vmv_event *found = NULL;
    size_t count = 0;
    const struct vmv_event *landmark = timeline_landmarks(app->tl, &count);
    for (size_t i = 0; i < count && landmark[i].t <= app->t; i++)
        if (landmark[i].type == VMV_EV_SIGNAL && landmark[i].flag && landmark[i].pid == app->pid) found = &landmark[i];
    if (!found) return;
    char text[64], ago[UI_FORMAT_SIZE], code[64];
    view_signal_code(found->number, found->code, code, sizeof code);
    view_signal_text(found, text, sizeof text);
    ui_format_ago(ago, sizeof ago, (int64_t)(app->t - found->t));
    inspector_fact(page, "signal", UI_ATTENTION, "%s: %s; thread %d\n%s: it ends the process", text, code, found->tid,
                   ago);
}

static void process_facts(struct page_writer *page) {
    struct app *app = page->app;
    const struct vmv_process *process = vmv_world_process(app->world, app->pid);
    const struct app_regions *regions = app_regions(app);
    char text[UI_FORMAT_SIZE], more[UI_FORMAT_SIZE], how[48];
    inspector_section(page, "process", NULL);
    if (!process) {
        inspector_line(page, UI_FAINT, "It has not started at this moment.");
        return;
    }
    plain_fact(page, "program", process->path);
    ui_format_time(text, sizeof text, (int64_t)process->started, 6);
    if (process->parent)
        inspector_fact(page, "started", UI_DIM, "at %s by %d", text, process->parent);
    else
        inspector_fact(page, "started", UI_DIM, "at %s", text);
    if (process->ended && process->ended <= app->t) {
        ui_format_time(text, sizeof text, (int64_t)process->ended, 6);
        exit_text(process->killed, process->exit_code, how, sizeof how);
        inspector_fact(page, "ended", process->killed ? UI_ATTENTION : UI_DIM, "at %s, %s", text, how);
    }
    signal_fact(page);
    ui_format_size(text, sizeof text, regions->bytes);
    inspector_fact(page, "mapped", UI_DIM, "%s in %zu mapping%s", text, regions->count, regions->count == 1 ? "" : "s");
    ui_format_size(text, sizeof text, regions->resident * app->world->page_size);
    ui_format_percent(more, sizeof more,
                      regions->bytes ? (double)regions->resident * app->world->page_size / (double)regions->bytes : 0);
    inspector_fact(page, "resident", UI_DIM, "%s, %s", text, more);
}

/* --- frame --- */

static void count_fact(struct page_writer *page, const char *name, uint64_t count, const char *words) {
    char text[UI_FORMAT_SIZE];
    ui_format_count(text, sizeof text, count);
    inspector_fact(page, name, UI_DIM, "%s page%s%s", text, count == 1 ? "" : "s", count ? words : "");
}

static void frame_facts(struct page_writer *page) {
    static const char *const why[] = {"its interval", "a fatal signal", "exec", "exit"};
    struct app *app = page->app;
    const struct timeline_frame *frame = app_frame(app);
    char text[UI_FORMAT_SIZE], more[UI_FORMAT_SIZE];
    if (!frame) {
        inspector_section(page, "frame", NULL);
        inspector_line(page, UI_FAINT, "Before the first frame: what pages hold is unknown.");
        return;
    }
    snprintf(text, sizeof text, "frame %llu", (unsigned long long)frame->n);
    inspector_section(page, text, NULL);
    ui_format_time(text, sizeof text, (int64_t)frame->t, 6);
    ui_format_ago(more, sizeof more, (int64_t)(app->t - frame->t));
    inspector_fact(page, "captured", UI_DIM, frame->t == app->t ? "at %s, this moment" : "at %s, %s", text, more);
    inspector_fact(page, "because of", UI_DIM, "%s", frame->why < 4 ? why[frame->why] : "unknown");
    ui_format_span(text, sizeof text, (int64_t)frame->pause_ns);
    inspector_fact(page, "pause", UI_DIM, "%s", text);
    ui_format_count(text, sizeof text, frame->pages_written);
    inspector_fact(page, "written", UI_DIM, "%s page%s", text, frame->pages_written == 1 ? "" : "s");
    if (!app_alive(app)) {
        inspector_fact(page, "knowledge", UI_FAINT, "the memory is gone with the process");
        return;
    }
    struct app_census census = app_census(app);
    if (!census.complete) {
        inspector_fact(page, "knowledge", UI_FAINT, "counting \xe2\x80\xa6");
        return;
    }
    count_fact(page, "exact", census.exact, "");
    count_fact(page, "stale", census.stale, ": may have changed");
    count_fact(page, "torn", census.torn, ": written while copied");
    count_fact(page, "unknown", census.unknown, ": never captured");
}

/* --- recording --- */

static void cost_fact(struct page_writer *page, const struct vmv_end *end) {
    char held[UI_FORMAT_SIZE], fault[UI_FORMAT_SIZE];
    if (!end || !end->complete) {
        inspector_fact(page, "complete", UI_ATTENTION, "no: the recording was cut off");
        return;
    }
    ui_format_span(held, sizeof held, (int64_t)end->held_ns);
    ui_format_span(fault, sizeof fault, (int64_t)end->fault_ns);
    inspector_fact(page, "cost", UI_DIM, "%.1f %%: held %s, faults %s", end->percent, held, fault);
    char how[48];
    exit_text(end->killed, end->exit_code, how, sizeof how);
    if (end->exited) inspector_fact(page, "exit", end->killed ? UI_ATTENTION : UI_DIM, "%s", how);
}

static void recording_facts(struct page_writer *page) {
    struct app *app = page->app;
    struct vmv_reader *reader = timeline_reader(app->tl);
    const struct vmv_meta *meta = vmv_reader_meta(reader);
    char text[UI_FORMAT_SIZE], arguments[400] = "";
    for (size_t i = 0; i < meta->program_count && strlen(arguments) < 380; i++) {
        size_t length = strlen(arguments);
        snprintf(arguments + length, sizeof arguments - length, "%s%s", i ? " " : "", meta->program[i]);
    }
    inspector_section(page, "recording", NULL);
    plain_fact(page, "command", arguments);
    ui_format_time(text, sizeof text, (int64_t)app->duration, 3);
    inspector_fact(page, "duration", UI_DIM, "%s", text);
    ui_format_count(text, sizeof text, timeline_event_count(app->tl));
    inspector_fact(page, "events", UI_DIM, "%s", text);
    plain_fact(page, "faults", meta->source_faults);
    plain_fact(page, "maps", meta->source_maps);
    if (meta->source_why && *meta->source_why) plain_fact(page, "why", meta->source_why);
    ui_format_span(text, sizeof text, (int64_t)meta->interval_ns);
    inspector_fact(page, "frames", UI_DIM, "every %s%s", text, meta->interval_auto ? " or more" : "");
    cost_fact(page, vmv_reader_end(reader));
    plain_fact(page, "machine", meta->machine);
    plain_fact(page, "kernel", meta->kernel);
    ui_format_size(text, sizeof text, vmv_reader_bytes(reader));
    inspector_fact(page, "trace", UI_DIM, "%s", text);
    if (vmv_reader_warning(reader)) inspector_fact(page, "warning", UI_ATTENTION, "%s", vmv_reader_warning(reader));
}

void inspector_space(struct page_writer *page) {
    char words[UI_FORMAT_SIZE];
    ui_format_size(words, sizeof words, 1ull << 47);
    inspector_subject(page, "whole space", false, UI_GHOST, words);
    inspector_range(page, 0, 1ull << 47);
    process_facts(page);
    frame_facts(page);
    recording_facts(page);
}
