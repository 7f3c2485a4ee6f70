// threads and regs: the threads of a process at a moment, and their registers as last captured.
#include "inspect.h"

#include "inspect_registers.h"
#include "inspect_show.h"
#include "inspect_table.h"
#include "syscalls.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct thread_list { // what one run prints
    struct inspect *in;
    const struct inspect_moment *moment;
    const char *arch;
    bool registers; // regs rather than threads
};

static const char *thread_state(uint8_t state) {
    static const char *const words[] = {"gone", "running", "sleeping", "stopped"};
    return state < sizeof words / sizeof words[0] ? words[state] : "running";
}

static bool thread_captured(const struct vmv_thread *thread) {
    return thread->captured != 0 || thread->regs != 0 || thread->pc != 0 || thread->sp != 0;
}

// Registers captured before the moment may have changed since.
static uint8_t thread_certainty(const struct vmv_thread *thread, uint64_t now) {
    if (!thread_captured(thread)) return VMV_CERT_UNKNOWN;
    if (thread->certainty == VMV_CERT_EXACT && thread->captured < now) return VMV_CERT_STALE;
    return thread->certainty;
}

// --- registers

static void register_hex(char *out, const uint8_t *bytes, size_t size, bool full) {
    size_t at = 0;
    out += snprintf(out, 3, "0x");
    for (size_t i = size; i-- > 0;) at += (size_t)snprintf(out + at, 3, "%02x", bytes[i]);
    size_t zeros = full ? 0 : strspn(out, "0");
    if (zeros == at) zeros = at - 1;
    memmove(out, out + zeros, at - zeros + 1);
}

static void register_put(void *user, const char *name, enum register_group group, const uint8_t *bytes, size_t size) {
    char text[72];
    if (size > 32) return;
    register_hex(text, bytes, size, group == REGISTER_VECTOR);
    json_put_text(user, name, text);
}

static struct vmv_regs thread_registers(struct inspect *in, const struct vmv_thread *thread) {
    struct vmv_regs regs = {0};
    if (thread->regs == 0 || !vmv_reader_regs(timeline_reader(in->tl), thread->regs, &regs))
        return (struct vmv_regs){0};
    return regs;
}

static void registers_json(struct thread_list *list, const struct vmv_thread *thread) {
    struct json *json = &list->in->json;
    struct vmv_regs regs = thread_registers(list->in, thread);
    json_key(json, "regs");
    json_begin(json);
    bool known = registers_walk(list->arch, regs.general, regs.general_length, regs.extended, regs.extended_length,
                                register_put, json);
    json_end(json);
    if (!known) json_put_text(json, "regs_unknown", "the registers of this architecture are not known to this version");
}

struct register_text {
    struct inspect_out *out;
    enum register_group group; // printed now
    int column, columns;
};

static void register_print(void *user, const char *name, enum register_group group, const uint8_t *bytes, size_t size) {
    struct register_text *text = user;
    if (group != text->group || size > 32) return;
    inspect_out_format(text->out, "  %8s ", name);
    inspect_out_fill(text->out, ' ', size < 8 ? 2 * (8 - size) : 0);
    for (size_t i = size; i-- > 0;) inspect_out_format(text->out, "%02x", bytes[i]);
    text->column = (text->column + 1) % text->columns;
    if (text->column == 0) inspect_out_bytes(text->out, "\n", 1);
}

static void registers_text(struct thread_list *list, const struct vmv_thread *thread) {
    static const int columns[] = {[REGISTER_GENERAL] = 4, [REGISTER_FLOAT] = 4, [REGISTER_VECTOR] = 1};
    struct vmv_regs regs = thread_registers(list->in, thread);
    struct inspect_out *out = &list->in->out;
    for (int group = REGISTER_GENERAL; group <= REGISTER_VECTOR; group++) {
        struct register_text text = {.out = out, .group = (enum register_group)group, .columns = columns[group]};
        registers_walk(list->arch, regs.general, regs.general_length, regs.extended, regs.extended_length,
                       register_print, &text);
        if (text.column != 0) inspect_out_bytes(out, "\n", 1);
    }
    if (regs.general_length > 0) return;
    inspect_out_text(
        out, "  all registers but these were not captured: the thread was left asleep, or no frame has seen it\n");
}

// --- threads

static void thread_json(struct thread_list *list, const struct vmv_thread *thread) {
    struct json *json = &list->in->json;
    bool captured = thread_captured(thread);
    char name[sizeof thread->name + 1] = "";
    memcpy(name, thread->name, sizeof thread->name);
    json_begin(json);
    json_put_signed(json, "pid", thread->pid);
    json_put_signed(json, "tid", thread->tid);
    json_put_text(json, "name", name[0] == '\0' ? NULL : name);
    json_put_text(json, "state", thread_state(thread->state));
    json_put_known(json, "syscall", thread->syscall >= 0, (uint64_t)thread->syscall);
    json_put_text(json, "syscall_name", syscall_name(list->arch, thread->syscall));
    json_put_known_hex(json, "pc", captured && thread->pc != 0, thread->pc);
    json_put_known_hex(json, "sp", captured && thread->sp != 0, thread->sp);
    json_put_known_hex(json, "fp", captured && thread->certainty != VMV_CERT_PARTIAL, thread->fp);
    json_put_known(json, "captured_at", captured, thread->captured);
    json_put_text(json, "certainty", inspect_certainty(thread_certainty(thread, list->moment->t)));
    if (list->registers) registers_json(list, thread);
    json_line(json);
}

static void thread_cell_address(struct table *table, bool known, uint64_t value) {
    table_cell(table, known && value != 0 ? "%012" PRIx64 : INSPECT_NONE, value);
}

static void thread_cell_syscall(struct table *table, const char *arch, int64_t number) {
    const char *name = syscall_name(arch, number);
    if (number < 0) {
        table_cell(table, "%s", INSPECT_NONE);
    } else if (name != NULL) {
        table_cell(table, "%s", name);
    } else {
        table_cell(table, "%" PRId64, number);
    }
}

static void thread_row(struct thread_list *list, struct table *table, const struct vmv_thread *thread) {
    bool captured = thread_captured(thread);
    uint64_t now = list->moment->t;
    char name[sizeof thread->name + 1] = "";
    memcpy(name, thread->name, sizeof thread->name);
    table_cell(table, "%" PRId32, thread->tid);
    table_name(table, name);
    table_cell(table, "%s", thread_state(thread->state));
    thread_cell_syscall(table, list->arch, thread->syscall);
    thread_cell_address(table, captured, thread->pc);
    thread_cell_address(table, captured, thread->sp);
    thread_cell_address(table, captured && thread->certainty != VMV_CERT_PARTIAL, thread->fp);
    table_cell(table, "%s", captured ? show_ago(now, thread->captured).text : INSPECT_NONE);
    table_cell(table, "%s", inspect_certainty(thread_certainty(thread, now)));
}

static const char table_headings[] = "tid|name|state|call|pc|sp|fp|captured|certainty";
static const char table_align[] = "rlllrrrll";

static void threads_heading(struct thread_list *list, uint64_t count) {
    inspect_out_format(&list->in->out, "%s of process %" PRId32 " at %s\n",
                       show_plural(count, "thread", "threads").text, list->moment->pid,
                       show_time(list->moment->t).text);
}

static bool thread_wanted(const struct thread_list *list, const struct vmv_thread *thread) {
    if (list->in->options.tid != 0) return thread->tid == list->in->options.tid && thread->pid == list->moment->pid;
    return thread->pid == list->moment->pid || (thread->space == list->moment->space->id && thread->pid == 0);
}

static uint64_t threads_print(struct thread_list *list, struct table *table) {
    const struct vmv_world *world = list->moment->world;
    uint64_t count = 0;
    for (size_t i = 0; i < world->thread_count && count < list->in->options.limit; i++) {
        const struct vmv_thread *thread = &world->threads[i];
        if (!thread_wanted(list, thread) || list->in->out.error != 0) continue;
        count++;
        if (list->in->options.json) {
            thread_json(list, thread);
        } else if (list->registers) {
            table_begin(table, table_align, table_headings);
            thread_row(list, table, thread);
            if (count > 1) inspect_out_bytes(&list->in->out, "\n", 1);
            table_end(table, &list->in->out, 0);
            registers_text(list, thread);
        } else {
            thread_row(list, table, thread);
        }
    }
    return count;
}

static int threads_run(struct inspect *in, bool registers) {
    int status = INSPECT_OK;
    struct inspect_moment moment;
    if (!inspect_select(in, &moment, &status)) return status;
    struct thread_list list = {
        .in = in, .moment = &moment, .arch = vmv_reader_meta(timeline_reader(in->tl))->arch, .registers = registers};
    struct table table = {0};
    bool one_table = !in->options.json && !registers;
    if (one_table) table_begin(&table, table_align, table_headings);
    uint64_t count = threads_print(&list, &table);
    if (one_table) {
        if (count == 0) table.count = 0;
        table_end(&table, &in->out, 0);
        if (count > 0) inspect_out_bytes(&in->out, "\n", 1);
        threads_heading(&list, count);
    }
    if (count > 0 || in->options.tid == 0) return INSPECT_OK;
    return inspect_fail(in, INSPECT_ABSENT,
                        "%s: thread %" PRId32 " is not there at %s; vmvis-inspect events --tid %" PRId32
                        " tells when it is",
                        in->options.trace, in->options.tid, show_time_ns(moment.t).text, in->options.tid);
}

int inspect_threads(struct inspect *in) { return threads_run(in, false); }
int inspect_regs(struct inspect *in) { return threads_run(in, true); }
