// info: what was recorded, how, how completely and at what cost.
#include "inspect.h"

#include "inspect_event.h"
#include "inspect_info_faults.h"
#include "inspect_show.h"
#include "inspect_signal.h"
#include "inspect_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct info {
    const struct vmv_meta *meta;
    const struct vmv_end *end;
    const struct vmv_file_header *header;
    uint64_t bytes, duration, processes, threads;
    uint64_t events[VMV_EV_TYPE_COUNT];
    struct info_faults faults;
    const struct vmv_event *landmarks;
    size_t landmark_count, frame_count;
};

static int compare_tids(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Distinct numbers that the landmarks name as a thread or process that began.
static uint64_t info_count(const struct info *info, bool threads) {
    int32_t *ids = malloc((info->landmark_count + 1) * sizeof *ids);
    if (ids == NULL) abort();
    size_t count = 0;
    for (size_t i = 0; i < info->landmark_count; i++) {
        const struct vmv_event *event = &info->landmarks[i];
        if (event->type == VMV_EV_FORK) ids[count++] = event->child;
        if (event->type == VMV_EV_SPACE || event->type == VMV_EV_EXEC) ids[count++] = event->pid;
        if (threads && event->type == VMV_EV_THREAD_START) ids[count++] = event->tid;
    }
    qsort(ids, count, sizeof *ids, compare_tids);
    uint64_t distinct = 0;
    for (size_t i = 0; i < count; i++) distinct += ids[i] > 0 && (i == 0 || ids[i] != ids[i - 1]);
    free(ids);
    return distinct;
}

static void info_count_events(struct vmv_reader *reader, uint64_t events[VMV_EV_TYPE_COUNT]) {
    size_t count;
    const struct vmv_chunk *chunks = vmv_reader_chunks(reader, &count);
    for (size_t i = 0; i < count; i++) {
        uint64_t counts[VMV_EV_TYPE_COUNT] = {0};
        if (chunks[i].header.type != VMV_CHUNK_EVENTS || !vmv_reader_counts(reader, &chunks[i], counts)) continue;
        for (int type = 0; type < VMV_EV_TYPE_COUNT; type++) events[type] += counts[type];
    }
}

static struct info info_gather(struct inspect *in) {
    struct vmv_reader *reader = timeline_reader(in->tl);
    struct info info = {.meta = vmv_reader_meta(reader),
                        .end = vmv_reader_end(reader),
                        .header = vmv_reader_header(reader),
                        .bytes = vmv_reader_bytes(reader),
                        .duration = timeline_duration(in->tl)};
    info.landmarks = timeline_landmarks(in->tl, &info.landmark_count);
    timeline_frames(in->tl, &info.frame_count);
    info.processes = info_count(&info, false);
    info.threads = info_count(&info, true);
    info_count_events(reader, info.events);
    info.faults = info_faults_count(in, info.events[VMV_EV_FAULT]);
    return info;
}

// Events that scripts may rely on; the carriers of state are not counted.
static bool info_shows(int type) { return type < VMV_EV_SPACE && vmv_event_name((enum vmv_event_type)type) != NULL; }

// The exit of the first process, if the trace holds it.
static const struct vmv_event *info_exit(const struct info *info) {
    for (size_t i = info->landmark_count; i-- > 0;) {
        const struct vmv_event *event = &info->landmarks[i];
        if (event->type == VMV_EV_EXIT && event->pid == info->meta->pid) return event;
    }
    return NULL;
}

static bool info_how_ended(const struct info *info, bool *killed, int32_t *code) {
    const struct vmv_event *exit = info_exit(info);
    if (info->end->exited || info->end->killed) {
        *killed = info->end->killed;
        *code = info->end->exit_code;
        return true;
    }
    if (exit == NULL) return false;
    *killed = exit->flag;
    *code = exit->code;
    return true;
}

static void info_utc(uint64_t ns, char *out, size_t size) {
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm parts;
    if (gmtime_r(&seconds, &parts) == NULL || strftime(out, size, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0) {
        snprintf(out, size, "%s", INSPECT_NONE);
    }
}

// A gap may be announced beyond the end of the run.
static uint64_t gap_end(const struct info *info, const struct vmv_event *event) {
    return event->to < info->duration ? event->to : info->duration;
}

// --- JSON

static void json_put_gaps(struct json *json, const struct info *info) {
    json_key(json, "gaps");
    json_array(json);
    for (size_t i = 0; i < info->landmark_count; i++) {
        const struct vmv_event *event = &info->landmarks[i];
        if (event->type != VMV_EV_GAP) continue;
        json_begin(json);
        json_put_unsigned(json, "from", event->t);
        json_put_known(json, "to", event->to != 0, gap_end(info, event));
        json_put_known(json, "space", event->space != 0, event->space);
        json_put_text(json, "why", event->name == NULL ? "" : event->name);
        json_end(json);
    }
    json_array_end(json);
}

// As the recorder was told on its command line.
static void json_put_settings(struct json *json, const struct vmv_meta *meta) {
    json_key(json, "settings");
    json_begin(json);
    json_put_unsigned(json, "interval_ns", meta->interval_ns);
    json_put_bool(json, "interval_auto", meta->interval_auto);
    json_put_known(json, "budget_percent", meta->budget_percent >= 0, (uint64_t)meta->budget_percent);
    json_put_text(json, "faults", meta->faults_asked);
    json_put_unsigned(json, "stack_bytes", meta->stack_bytes);
    json_put_text(json, "content", meta->content);
    json_put_unsigned(json, "embed_limit", meta->embed_limit);
    json_put_known(json, "max_size", meta->max_size != 0, meta->max_size);
    json_put_text(json, "exclude", meta->exclude);
    json_put_text(json, "watch", meta->watch);
    json_put_text(json, "ring", meta->ring);
    json_put_text(json, "user", meta->user);
    json_put_bool(json, "no_follow", meta->no_follow);
    json_put_bool(json, "split_huge", meta->split_huge);
    json_put_bool(json, "environment", meta->environment_count != 0);
    json_end(json);
}

static void json_put_origin(struct json *json, const struct info *info) {
    const struct vmv_meta *meta = info->meta;
    char format[32], started[64];
    snprintf(format, sizeof format, "%u.%u", info->header->major, info->header->minor);
    info_utc(meta->started, started, sizeof started);
    json_put_text(json, "format", format);
    json_key(json, "program");
    json_array(json);
    for (size_t i = 0; i < meta->program_count; i++) json_text(json, meta->program[i], strlen(meta->program[i]));
    json_array_end(json);
    json_put_signed(json, "pid", meta->pid);
    json_put_unsigned(json, "started", meta->started);
    json_put_text(json, "started_utc", started);
    json_put_unsigned(json, "start_monotonic_ns", meta->start_monotonic_ns);
    json_put_text(json, "directory", meta->directory);
    json_put_text(json, "machine", meta->machine);
    json_put_text(json, "kernel", meta->kernel);
    json_put_text(json, "recorder", meta->recorder);
    json_put_bool(json, "attached", meta->attached);
    json_put_settings(json, meta);
    json_put_text(json, "arch", meta->arch);
    json_put_unsigned(json, "page_size", meta->page_size);
}

static void json_put_counts(struct json *json, const struct info *info) {
    json_put_unsigned(json, "duration_ns", info->duration);
    json_put_bool(json, "complete", info->end->complete);
    json_put_unsigned(json, "processes", info->processes);
    json_put_unsigned(json, "threads", info->threads);
    json_put_unsigned(json, "frames", info->frame_count);
    json_key(json, "events");
    json_begin(json);
    for (int type = 1; type < VMV_EV_TYPE_COUNT; type++) {
        if (info_shows(type)) json_put_unsigned(json, vmv_event_name((enum vmv_event_type)type), info->events[type]);
    }
    json_end(json);
    info_faults_json(json, &info->faults);
    json_put_unsigned(json, "pages_captured", info->end->pages_captured);
    json_put_unsigned(json, "file_bytes", info->bytes);
    json_put_known(json, "raw_bytes", info->end->raw_bytes != 0, info->end->raw_bytes);
}

static void json_put_quality(struct json *json, const struct info *info) {
    const struct vmv_meta *meta = info->meta;
    bool killed = false;
    int32_t code = 0;
    json_put_gaps(json, info);
    json_key(json, "sources");
    json_begin(json);
    json_put_text(json, "faults", meta->source_faults);
    json_put_text(json, "maps", meta->source_maps);
    json_put_text(json, "why", meta->source_why);
    json_end(json);
    json_key(json, "cost");
    json_begin(json);
    json_put_known(json, "held_ns", info->end->complete, info->end->held_ns);
    json_put_known(json, "fault_ns", info->end->complete, info->end->fault_ns);
    if (info->end->complete) {
        json_put_number(json, "percent", info->end->percent, 3);
    } else {
        json_put_null(json, "percent");
    }
    json_end(json);
    if (!info_how_ended(info, &killed, &code)) {
        json_put_null(json, "exit");
        return;
    }
    json_key(json, "exit");
    json_begin(json);
    json_put_signed(json, killed ? "signal" : "code", code);
    json_end(json);
}

static void info_json(struct inspect *in, const struct info *info) {
    json_begin(&in->json);
    json_put_origin(&in->json, info);
    json_put_counts(&in->json, info);
    json_put_quality(&in->json, info);
    json_line(&in->json);
}

// --- text

static void text_row(struct inspect_out *out, const char *label, const char *text) {
    char plain[4096];
    if (text == NULL || text[0] == '\0') return;
    inspect_plain(plain, sizeof plain, text);
    inspect_out_format(out, "%-11s  ", label);
    inspect_out_text(out, plain);
    inspect_out_bytes(out, "\n", 1);
}

static void text_program(struct inspect_out *out, const struct vmv_meta *meta) {
    inspect_out_format(out, "%-11s ", "program");
    for (size_t i = 0; i < meta->program_count && out->error == 0; i++) {
        char plain[4096];
        inspect_plain(plain, sizeof plain, meta->program[i]);
        inspect_out_text(out, " ");
        inspect_out_text(out, plain);
    }
    inspect_out_format(out, "  (pid %" PRId32 ")\n", meta->pid);
}

static void text_origin(struct inspect_out *out, const struct info *info) {
    const struct vmv_meta *meta = info->meta;
    char line[1024];
    text_program(out, meta);
    text_row(out, "directory", meta->directory);
    info_utc(meta->started, line, sizeof line);
    text_row(out, "started", line);
    snprintf(line, sizeof line, "%s%s%s, Linux %s, pages of %s", meta->machine == NULL ? "" : meta->machine,
             meta->machine == NULL || meta->machine[0] == '\0' ? "" : ", ", meta->arch == NULL ? "?" : meta->arch,
             meta->kernel == NULL ? "?" : meta->kernel, show_size(meta->page_size).text);
    text_row(out, "machine", line);
    snprintf(line, sizeof line, "trace format %u.%u, vmvis-record %s", info->header->major, info->header->minor,
             meta->recorder == NULL ? "?" : meta->recorder);
    text_row(out, "written by", line);
}

static void text_ending(struct inspect_out *out, const struct info *info) {
    bool killed = false;
    int32_t code = 0;
    char line[256];
    if (info_how_ended(info, &killed, &code)) {
        if (killed) {
            snprintf(line, sizeof line, "killed by %s", inspect_signal(code).text);
        } else {
            snprintf(line, sizeof line, "with status %" PRId32, code);
        }
        text_row(out, "ended", line);
    } else if (info->meta->attached && info->end->complete) {
        text_row(out, "ended", "detached; the process went on");
    }
    snprintf(line, sizeof line, "%s%s", show_time(info->duration).text,
             info->end->complete ? "" : "; the trace is not complete: it ends before the recording did");
    text_row(out, "duration", line);
}

// Known only at the end of a recording.
static void text_cost(struct inspect_out *out, const struct info *info) {
    char line[256];
    bool sane = info->end->percent >= 0 && info->end->percent < 1e6; // the number comes from the file
    int n = sane ? snprintf(line, sizeof line, "%.1f %% of the run: ", info->end->percent) : 0;
    snprintf(line + n, sizeof line - (size_t)n, "threads held %s, faults %s", show_span(info->end->held_ns).text,
             show_span(info->end->fault_ns).text);
    text_row(out, "cost", info->end->complete ? line : INSPECT_NONE);
}

static void text_quality(struct inspect_out *out, const struct info *info) {
    const struct vmv_meta *meta = info->meta;
    char line[2048];
    snprintf(line, sizeof line, "faults from %s, mappings from %s",
             meta->source_faults == NULL ? "?" : meta->source_faults,
             meta->source_maps == NULL ? "?" : meta->source_maps);
    text_row(out, "sources", line);
    text_row(out, "", meta->source_why);
    text_cost(out, info);
    bool raw = info->end->raw_bytes != 0; // 0: the trace was cut before it was said
    snprintf(line, sizeof line, "%s, %s before compression, %s captured", show_size(info->bytes).text,
             raw ? show_size(info->end->raw_bytes).text : INSPECT_NONE,
             show_plural(info->end->pages_captured, "page", "pages").text);
    text_row(out, "size", line);
}

static void text_fault_kinds(struct table *table, const struct info_faults *faults) {
    static const struct {
        uint8_t kind;
        const char *what;
    } rows[] = {{VMV_FAULT_FIRST_TOUCH, "the program touched a page for the first time"},
                {VMV_FAULT_FILE, "a page of a file was brought in"},
                {VMV_FAULT_WRITE, "seen by the recorder's write-protection: first writes to a page after a frame"},
                {VMV_FAULT_UNKNOWN, "what they did is not known"},
                {VMV_FAULT_POPULATED, "pages that came without a fault record, not counted as faults"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (faults->kinds[rows[i].kind] == 0) continue;
        table_cell(table, "  %s", inspect_fault_kind(rows[i].kind));
        table_cell(table, "%s", show_count(faults->kinds[rows[i].kind]).text);
        table_cell(table, "%s", rows[i].what);
    }
}

static void text_counts(struct inspect_out *out, const struct info *info) {
    struct table table;
    inspect_out_format(out, "\n%s, %s, %s\n\nEVENTS\n", show_plural(info->processes, "process", "processes").text,
                       show_plural(info->threads, "thread", "threads").text,
                       show_plural(info->frame_count, "frame", "frames").text);
    table_begin(&table, "lrl", NULL);
    for (int type = 1; type < VMV_EV_TYPE_COUNT; type++) {
        bool kinds = type == VMV_EV_FAULT;
        if (!info_shows(type) || (info->events[type] == 0 && !(kinds && info->faults.kinds[VMV_FAULT_POPULATED] != 0)))
            continue;
        table_cell(&table, "%s", vmv_event_name((enum vmv_event_type)type));
        table_cell(&table, "%s", show_count(info->events[type]).text);
        table_cell(&table, "%s", kinds && !info->faults.known ? "too many to count them by kind" : "");
        if (kinds) text_fault_kinds(&table, &info->faults);
    }
    table_end(&table, out, 2);
}

static void text_gaps(struct inspect_out *out, const struct info *info) {
    struct table table;
    size_t count = 0;
    table_begin(&table, "rrrl", "from|to|space|why");
    for (size_t i = 0; i < info->landmark_count; i++) {
        const struct vmv_event *event = &info->landmarks[i];
        if (event->type != VMV_EV_GAP) continue;
        count++;
        table_cell(&table, "%s", show_time(event->t).text);
        table_cell(&table, "%s", event->to == 0 ? INSPECT_NONE : show_time(gap_end(info, event)).text);
        table_cell(&table, event->space == 0 ? "all" : "%" PRIu32, event->space);
        table_name(&table, event->name == NULL ? "" : event->name);
    }
    if (count > 0) inspect_out_text(out, "\nGAPS\n");
    if (count == 0) table.count = 0;
    table_end(&table, out, 2);
}

static void info_text(struct inspect *in, const struct info *info) {
    text_origin(&in->out, info);
    text_ending(&in->out, info);
    text_quality(&in->out, info);
    text_counts(&in->out, info);
    text_gaps(&in->out, info);
}

int inspect_info(struct inspect *in) {
    struct info info = info_gather(in);
    if (in->options.json) {
        info_json(in, &info);
    } else {
        info_text(in, &info);
    }
    return INSPECT_OK;
}
