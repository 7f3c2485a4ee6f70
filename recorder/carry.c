#include "carry.h"

#include "reader.h"

#include <stdlib.h>

struct carry {
    struct vmv_writer *to;
    struct vmv_reader *reader; // NULL: contents are not known
    const struct vmv_world *world;
    uint64_t t;
    uint8_t *bytes;            // of one page
    struct vmv_event run;      // PAGES being joined
    struct vmv_event contents; // CONTENT being joined
};

static void emit_run(struct carry *carry) {
    if (carry->run.len) vmv_writer_event(carry->to, &carry->run);
    carry->run.len = 0;
}

static void emit_contents(struct carry *carry) {
    if (carry->contents.len) vmv_writer_event(carry->to, &carry->contents);
    carry->contents.len = 0;
}

static struct vmv_event event_of(const struct carry *carry, enum vmv_event_type type, const struct vmv_space *space) {
    return (struct vmv_event){.t = carry->t, .type = (uint8_t)type, .space = space->id, .pid = space->pid};
}

static void add_page(struct carry *carry, const struct vmv_space *space, uint64_t addr, const struct vmv_page *page) {
    const uint64_t size = space->page_size;
    const uint8_t flags = page->flags & (uint8_t) ~(VMV_PAGEF_WRITTEN | VMV_PAGEF_POPULATED);
    struct vmv_event *run = &carry->run;
    if (run->len && run->addr + run->len == addr && run->state == page->state && run->page_flags == flags) {
        run->len += size;
        return;
    }
    emit_run(carry);
    *run = event_of(carry, VMV_EV_PAGES, space);
    run->addr = addr;
    run->len = size;
    run->state = page->state;
    run->page_flags = flags;
}

static void add_content(struct carry *carry, const struct vmv_space *space, uint64_t addr,
                        const struct vmv_page *page) {
    const uint64_t size = space->page_size;
    if (page->content == VMV_CONTENT_NONE || !carry->reader) return;
    if (!vmv_reader_page(carry->reader, page->content, carry->bytes)) return;
    uint64_t content = vmv_writer_page(carry->to, carry->bytes);
    struct vmv_event *run = &carry->contents;
    if (run->len && run->addr + run->len == addr && run->content + run->len / size == content) {
        run->content_step = 1;
        run->len += size;
        return;
    }
    emit_contents(carry);
    *run = event_of(carry, VMV_EV_CONTENT, space);
    run->addr = addr;
    run->len = size;
    run->content = content;
    run->content_step = 1;
    run->certainty = VMV_CERT_STALE; // captured at an earlier moment that this trace does not have
}

static void carry_pages(struct carry *carry, const struct vmv_space *space) {
    uint64_t addr = 0;
    for (const struct vmv_page *page; (page = vmv_space_page_next(space, &addr, UINT64_MAX)); addr += space->page_size)
        if (page->state != VMV_PAGE_UNKNOWN) add_page(carry, space, addr, page);
    emit_run(carry);
    addr = 0;
    for (const struct vmv_page *page; (page = vmv_space_page_next(space, &addr, UINT64_MAX)); addr += space->page_size)
        add_content(carry, space, addr, page);
    emit_contents(carry);
}

static void carry_space(struct carry *carry, const struct vmv_space *space, const struct vmv_process *process) {
    struct vmv_event event = event_of(carry, VMV_EV_SPACE, space);
    event.pid = event.tid = process->pid;
    event.name = process->path;
    vmv_writer_event(carry->to, &event);
    event = event_of(carry, VMV_EV_MAPS, space);
    event.len = UINT64_C(1) << 56;
    event.maps = space->maps;
    event.map_count = space->map_count;
    vmv_writer_event(carry->to, &event);
    carry_pages(carry, space);
}

static void carry_threads(struct carry *carry) {
    for (size_t i = 0; i < carry->world->thread_count; i++) {
        const struct vmv_thread *thread = &carry->world->threads[i];
        if (thread->state == VMV_THREAD_GONE || thread->tid == thread->pid) continue;
        struct vmv_event event = {.t = carry->t,
                                  .type = VMV_EV_THREAD_START,
                                  .space = thread->space,
                                  .pid = thread->pid,
                                  .tid = thread->tid,
                                  .name = thread->name};
        vmv_writer_event(carry->to, &event);
    }
}

void carry_over(struct vmv_writer *to, struct vmv_writer *from, const char *path, uint64_t t, const char *why) {
    char error[256];
    struct carry carry = {.to = to, .t = t, .world = vmv_writer_world(from)};
    struct vmv_event gap = {.type = VMV_EV_GAP, .to = t, .name = why};
    vmv_writer_flush(from);
    carry.reader = vmv_reader_open(path, error, sizeof error);
    carry.bytes = malloc(carry.world->page_size);
    if (!carry.bytes) abort();
    if (t) vmv_writer_event(to, &gap);
    for (size_t i = 0; i < carry.world->process_count; i++) {
        const struct vmv_process *process = &carry.world->processes[i];
        const struct vmv_space *space = process->ended ? NULL : vmv_world_space(carry.world, process->space);
        if (space && space->pid == process->pid) carry_space(&carry, space, process);
    }
    carry_threads(&carry);
    vmv_reader_close(carry.reader);
    free(carry.bytes);
}
