// Which process, which address space, which moment.
#include "inspect.h"

#include "inspect_show.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool select_time(struct inspect *in, const char *option, const char *text, uint64_t *t, uint64_t *seq,
                        int *status) {
    char error[400] = "";
    bool missing = false;
    if (timeline_time(in->tl, text, t, seq, &missing, error, sizeof error)) return true;
    *status = inspect_fail(in, missing ? INSPECT_ABSENT : INSPECT_USAGE, "%s %.80s: %s", option, text, error);
    return false;
}

bool inspect_span(struct inspect *in, uint64_t *from, uint64_t *to, int *status) {
    uint64_t seq;
    *from = 0;
    *to = UINT64_MAX;
    if (in->options.from != NULL && !select_time(in, "--from", in->options.from, from, &seq, status)) return false;
    bool bounded = in->options.to != NULL && strcmp(in->options.to, "end") != 0; // the last event belongs to "end"
    if (bounded && !select_time(in, "--to", in->options.to, to, &seq, status)) return false;
    if (*from <= *to) return true;
    *status =
        inspect_fail(in, INSPECT_USAGE, "--from %s lies after --to %s", show_time(*from).text, show_time(*to).text);
    return false;
}

// --- the last moment

static bool select_alive(const struct vmv_world *world, int32_t pid, uint32_t space) {
    for (size_t i = 0; i < world->process_count; i++) {
        const struct vmv_process *process = &world->processes[i];
        if (process->space == 0 || process->ended != 0) continue;
        if (pid != 0 ? process->pid == pid : process->space == space) return true;
    }
    return false;
}

// The event that took the memory away: the exit of the process, or the exec that left the space behind.
static const struct vmv_event *select_end(struct inspect *in, int32_t pid, uint32_t space) {
    size_t count;
    const struct vmv_event *events = timeline_landmarks(in->tl, &count);
    for (size_t i = count; i-- > 0;) {
        const struct vmv_event *event = &events[i];
        if (event->type == VMV_EV_EXIT && (pid != 0 ? event->pid == pid : event->space == space)) return event;
        if (event->type == VMV_EV_EXEC && pid == 0 && event->child_space == space) return event;
    }
    return NULL;
}

// The frame that was taken because the memory was about to go: at a deadly signal if one killed it, else at exit or
// exec. NULL if there is none.
static const struct timeline_frame *select_last_frame(struct inspect *in, int32_t pid, uint32_t space,
                                                      const struct vmv_event *end) {
    size_t count;
    const struct timeline_frame *frames = timeline_frames(in->tl, &count), *found = NULL;
    bool killed = end->type == VMV_EV_EXIT && end->flag;
    for (size_t i = count; i-- > 0;) {
        const struct timeline_frame *frame = &frames[i];
        if (frame->t > end->t || (pid != 0 ? frame->pid != pid : frame->space != space)) continue;
        if (frame->why == VMV_FRAME_INTERVAL) break;
        if (killed && frame->why == VMV_FRAME_SIGNAL) return frame;
        if (found == NULL) found = frame;
        if (!killed) break;
    }
    return found;
}

static uint64_t select_seq(struct inspect *in, const struct vmv_event *landmark) {
    struct timeline_filter filter = {.pid = landmark->pid, .from = landmark->t, .to = landmark->t + 1};
    timeline_filter_type(&filter, landmark->type);
    struct timeline_cursor *cursor = timeline_cursor_create(in->tl, &filter);
    const struct vmv_event *event = timeline_cursor_next(cursor);
    uint64_t seq = event == NULL ? 0 : event->seq;
    timeline_cursor_destroy(cursor);
    return seq;
}

const struct vmv_world *inspect_seek_last(struct inspect *in, int32_t pid, uint32_t space) {
    const struct vmv_world *world = timeline_seek(in->tl, timeline_duration(in->tl));
    if (select_alive(world, pid, space)) return world;
    const struct vmv_event *end = select_end(in, pid, space);
    if (end == NULL) return world;
    const struct timeline_frame *frame = select_last_frame(in, pid, space, end);
    if (frame != NULL) {
        world = timeline_seek(in->tl, frame->t);
        if (select_alive(world, pid, space)) return world;
    }
    uint64_t seq = select_seq(in, end);
    return seq == 0 ? timeline_seek(in->tl, end->t == 0 ? 0 : end->t - 1) : timeline_seek_seq(in->tl, seq - 1);
}

// --- who

static int32_t select_first_process(struct inspect *in) {
    const struct vmv_meta *meta = vmv_reader_meta(timeline_reader(in->tl));
    if (meta->pid != 0) return meta->pid;
    const struct vmv_world *world = timeline_seek(in->tl, timeline_duration(in->tl));
    return world->process_count > 0 ? world->processes[0].pid : 0;
}

// The process of a thread, from anything in the recording that names both.
static int32_t select_process_of(struct inspect *in, int32_t tid) {
    size_t count;
    const struct vmv_event *events = timeline_landmarks(in->tl, &count);
    for (size_t i = 0; i < count; i++) {
        if (events[i].tid == tid && events[i].pid != 0) return events[i].pid;
        if (events[i].type == VMV_EV_FORK && events[i].child == tid) return tid;
    }
    const struct vmv_thread *thread = vmv_world_thread(timeline_seek(in->tl, timeline_duration(in->tl)), tid);
    return thread == NULL ? 0 : thread->pid;
}

static void select_list_processes(const struct vmv_world *world, char *out, size_t size) {
    size_t at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < world->process_count && at + 32 < size; i++) {
        at += (size_t)snprintf(out + at, size - at, "%s%" PRId32, i == 0 ? "" : ", ", world->processes[i].pid);
    }
    if (at + 32 >= size) snprintf(out + at, size - at, ", …");
}

static int select_no_process(struct inspect *in, int32_t pid) {
    uint64_t t = timeline_now(in->tl);
    const struct vmv_world *world = timeline_seek(in->tl, timeline_duration(in->tl));
    const struct vmv_process *process = vmv_world_process(world, pid);
    if (process == NULL) {
        char list[300];
        select_list_processes(world, list, sizeof list);
        return inspect_fail(in, INSPECT_ABSENT, "%s: no process %" PRId32 "; it has %s", in->options.trace, pid,
                            list[0] == '\0' ? "none" : list);
    }
    if (process->started > t) {
        return inspect_fail(in, INSPECT_ABSENT, "%s: process %" PRId32 " starts at %s, after --at %s",
                            in->options.trace, pid, show_time_ns(process->started).text, show_time_ns(t).text);
    }
    return inspect_fail(in, INSPECT_ABSENT,
                        "%s: process %" PRId32 " has no memory at %s; --at end is its last moment with memory",
                        in->options.trace, pid, show_time_ns(t).text);
}

static int select_no_space(struct inspect *in, uint32_t space) {
    return inspect_fail(in, INSPECT_ABSENT,
                        "%s: no address space %" PRIu32 " at %s; vmvis-inspect frames shows which there are",
                        in->options.trace, space, show_time_ns(timeline_now(in->tl)).text);
}

static bool select_seek(struct inspect *in, int *status) {
    uint64_t t = 0, seq = UINT64_MAX;
    if (!select_time(in, "--at", in->options.at, &t, &seq, status)) return false;
    if (seq != UINT64_MAX) {
        timeline_seek_seq(in->tl, seq);
    } else {
        timeline_seek(in->tl, t);
    }
    return true;
}

static bool select_who(struct inspect *in, int32_t *pid, int *status) {
    const struct inspect_options *options = &in->options;
    *pid = options->pid;
    if (*pid != 0 || options->space != 0) return true;
    *pid = options->tid != 0 ? select_process_of(in, options->tid) : select_first_process(in);
    if (*pid != 0) return true;
    if (options->tid != 0) {
        *status = inspect_fail(in, INSPECT_ABSENT, "%s: no thread %" PRId32, options->trace, options->tid);
    } else {
        *status = inspect_fail(in, INSPECT_ABSENT, "%s: no process was recorded", options->trace);
    }
    return false;
}

static const struct vmv_space *select_space(const struct vmv_world *world, int32_t pid, uint32_t space) {
    if (pid == 0) {
        const struct vmv_space *found = vmv_world_space(world, space);
        return found != NULL && (found->map_count > 0 || select_alive(world, 0, space)) ? found : NULL;
    }
    const struct vmv_process *process = vmv_world_process(world, pid);
    return process == NULL || process->space == 0 ? NULL : vmv_world_space(world, process->space);
}

// The first space of a process, 0 if the recording does not say.
static uint32_t select_first_space(struct inspect *in, int32_t pid) {
    size_t count;
    const struct vmv_event *events = timeline_landmarks(in->tl, &count);
    for (size_t i = 0; i < count; i++) {
        const struct vmv_event *event = &events[i];
        if ((event->type == VMV_EV_SPACE || event->type == VMV_EV_EXEC) && event->pid == pid) return event->space;
        if (event->type == VMV_EV_FORK && event->child == pid) return event->child_space;
    }
    return 0;
}

void inspect_seek_first(struct inspect *in, int32_t pid, uint32_t space) {
    struct timeline_filter filter = {.space = pid != 0 ? select_first_space(in, pid) : space};
    timeline_filter_type(&filter, VMV_EV_MAPS);
    timeline_filter_type(&filter, VMV_EV_MMAP);
    struct timeline_cursor *cursor = timeline_cursor_create(in->tl, &filter);
    const struct vmv_event *event = timeline_cursor_next(cursor);
    uint64_t seq = event == NULL ? UINT64_MAX : event->seq;
    timeline_cursor_destroy(cursor);
    if (seq != UINT64_MAX) timeline_seek_seq(in->tl, seq);
}

// After --at was sought: goes to the nearest moment that the process or space lived through, where that is meant.
static void select_settle(struct inspect *in, int32_t pid, uint32_t space) {
    const struct vmv_space *found = select_space(timeline_world(in->tl), pid, space);
    uint64_t t = timeline_now(in->tl);
    if (strcmp(in->options.at, "start") == 0) {
        if (found == NULL || found->map_count == 0) inspect_seek_first(in, pid, space);
        return;
    }
    if (found != NULL && (found->map_count > 0 || select_alive(timeline_world(in->tl), pid, space))) return;
    const struct vmv_event *end = select_end(in, pid, space);
    if (end == NULL || end->t > t) return;
    inspect_warn("%s: the memory of %s %" PRIu32 " was given up at %s; this is its last moment before",
                 in->options.trace, pid != 0 ? "process" : "space", pid != 0 ? (uint32_t)pid : space,
                 show_time_ns(end->t).text);
    inspect_seek_last(in, pid, space);
}

bool inspect_select(struct inspect *in, struct inspect_moment *moment, int *status) {
    const struct inspect_options *options = &in->options;
    bool last = options->at == NULL || strcmp(options->at, "end") == 0;
    if (!select_who(in, &moment->pid, status)) return false;
    if (!last && !select_seek(in, status)) return false;
    if (last) {
        inspect_seek_last(in, moment->pid, options->space);
    } else {
        select_settle(in, moment->pid, options->space);
    }
    moment->world = timeline_world(in->tl);
    moment->space = select_space(moment->world, moment->pid, options->space);
    if (moment->space == NULL) {
        *status = moment->pid != 0 ? select_no_process(in, moment->pid) : select_no_space(in, options->space);
        return false;
    }
    if (moment->pid == 0) moment->pid = moment->space->pid;
    moment->t = timeline_now(in->tl);
    const char *trouble = timeline_trouble(in->tl);
    if (trouble != NULL) inspect_warn("%s: %s", options->trace, trouble);
    return true;
}

// --- whose events

static void whose_add_space(struct inspect_whose *whose, uint32_t space) {
    uint32_t *spaces = realloc(whose->spaces, (whose->space_count + 1) * sizeof *spaces);
    if (spaces == NULL) abort();
    whose->spaces = spaces;
    whose->spaces[whose->space_count++] = space;
}

static void whose_find_spaces(struct inspect *in, struct inspect_whose *whose) {
    size_t count;
    const struct vmv_event *events = timeline_landmarks(in->tl, &count);
    for (size_t i = 0; i < count; i++) {
        const struct vmv_event *event = &events[i];
        bool own = (event->type == VMV_EV_SPACE || event->type == VMV_EV_EXEC) && event->pid == whose->pid;
        if (own) whose_add_space(whose, event->space);
        if (event->type == VMV_EV_FORK && event->child == whose->pid) whose_add_space(whose, event->child_space);
    }
}

bool inspect_select_whose(struct inspect *in, struct inspect_whose *whose, int *status) {
    const struct inspect_options *options = &in->options;
    *whose = (struct inspect_whose){.pid = options->pid, .space = options->space, .tid = options->tid};
    const struct vmv_world *world = timeline_seek(in->tl, timeline_duration(in->tl));
    if (options->pid != 0 && vmv_world_process(world, options->pid) == NULL) {
        *status = select_no_process(in, options->pid);
        return false;
    }
    if (options->space != 0 && vmv_world_space(world, options->space) == NULL) {
        *status = select_no_space(in, options->space);
        return false;
    }
    if (options->tid != 0 && select_process_of(in, options->tid) == 0) {
        *status = inspect_fail(in, INSPECT_ABSENT, "%s: no thread %" PRId32, options->trace, options->tid);
        return false;
    }
    if (options->pid == 0 && options->space == 0 && options->tid == 0 && !options->everyone) {
        whose->pid = select_first_process(in);
    }
    if (whose->pid != 0) whose_find_spaces(in, whose);
    return true;
}

void inspect_whose_free(struct inspect_whose *whose) {
    free(whose->spaces);
    *whose = (struct inspect_whose){0};
}

static bool whose_owns(const struct inspect_whose *whose, uint32_t space) {
    for (size_t i = 0; i < whose->space_count; i++) {
        if (whose->spaces[i] == space) return true;
    }
    return false;
}

bool inspect_whose_match(const struct inspect_whose *whose, uint32_t space, int32_t pid, int32_t tid) {
    if (pid == 0 && space == 0) return whose->tid == 0;
    if (whose->tid != 0 && tid != whose->tid) return false;
    if (whose->space != 0 && space != whose->space) return false;
    if (whose->pid == 0) return true;
    return pid != 0 ? pid == whose->pid : whose_owns(whose, space);
}
