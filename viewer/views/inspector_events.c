/* Facts that come from events: who made a mapping, what last changed it, who touched a page first. */
#include "app_history.h"
#include "app_names.h"
#include "app_search.h"
#include "inspector.h"
#include "ui_format.h"

#include <stdio.h>
#include <string.h>

/* A call that succeeded and really touched the range: a brk that only asks concerns no addresses. */
static bool changed_range(const struct vmv_event *event, const struct timeline_filter *filter) {
    if (event->ret < 0) return false;
    if (event->type != VMV_EV_BRK) return true;
    uint64_t now = (uint64_t)event->ret, before = event->old_addr ? event->old_addr : now;
    uint64_t low = now < before ? now : before, high = now < before ? before : now;
    return low < filter->end && filter->addr < high;
}

/* The same of a heap, whose filter reaches one byte beyond it: a brk that gave memory back ends just there. */
static bool changed_heap(const struct vmv_event *event, const struct timeline_filter *filter) {
    if (event->ret < 0) return false;
    if (event->type != VMV_EV_BRK) return event->addr + 1 < filter->end;
    uint64_t now = (uint64_t)event->ret, before = event->old_addr ? event->old_addr : now;
    uint64_t low = now < before ? now : before, high = now < before ? before : now;
    return low < high && low < filter->end && filter->addr < high;
}

static bool is_first_touch(const struct vmv_event *event, const struct timeline_filter *filter) {
    return event->kind == VMV_FAULT_FIRST_TOUCH || event->kind == VMV_FAULT_FILE;
}

static bool is_write(const struct vmv_event *event, const struct timeline_filter *filter) {
    return event->kind == VMV_FAULT_WRITE || event->access == VMV_ACCESS_WRITE;
}

static const struct app_found *ask(struct app *app, uint64_t key, const enum vmv_event_type *types, uint64_t start,
                                   uint64_t end, app_search_accept *accept) {
    struct app_question question = {.key = key, .t = app->t, .accept = accept};
    for (; *types != VMV_EV_NONE; types++) timeline_filter_type(&question.filter, *types);
    question.filter.space = app->space_id;
    question.filter.addr = start;
    question.filter.end = end;
    return app_ask(app, &question);
}

static void who(struct app *app, int32_t tid, char *out, size_t size) {
    const struct vmv_thread *thread = vmv_world_thread(app->world, tid);
    char name[20] = "";
    if (thread) app_plain(name, sizeof name, thread->name);
    for (size_t i = 0; app->history && !*name && i < app->history->thread_count; i++)
        if (app->history->thread[i].tid == tid) app_plain(name, sizeof name, app->history->thread[i].name);
    snprintf(out, size, "%s %d", *name ? name : "thread", tid);
}

static void when(struct app *app, uint64_t t, char *out, size_t size) {
    char time[UI_FORMAT_SIZE], ago[UI_FORMAT_SIZE];
    ui_format_time(time, sizeof time, (int64_t)t, 6);
    ui_format_ago(ago, sizeof ago, (int64_t)(app->t > t ? app->t - t : 0));
    snprintf(out, size, "at %s, %s", time, ago);
}

static void event_fact(struct page_writer *page, const char *name, const struct app_found *found, const char *none) {
    char thread[40], time[UI_FORMAT_SIZE * 2 + 8];
    if (!found->found) {
        inspector_fact(page, name, UI_FAINT, "%s", found->searching ? "searching \xe2\x80\xa6" : none);
        return;
    }
    const struct vmv_event *event = &found->event;
    const char *type = vmv_event_name(event->type);
    when(page->app, event->t, time, sizeof time);
    who(page->app, event->tid ? event->tid : event->pid, thread, sizeof thread);
    if (event->type == VMV_EV_MAPS)
        inspector_fact(page, name, UI_DIM, "found in the process's maps\n%s", time);
    else
        inspector_fact(page, name, UI_DIM, "%s, %s\n%s", type ? type : "event", thread, time);
}

void inspector_origin(struct page_writer *page, uint64_t start, uint64_t end) {
    static const enum vmv_event_type made[] = {VMV_EV_MMAP,  VMV_EV_MREMAP, VMV_EV_BRK,
                                               VMV_EV_SHMAT, VMV_EV_MAPS,   VMV_EV_NONE};
    static const enum vmv_event_type changed[] = {
        VMV_EV_MMAP,  VMV_EV_MUNMAP, VMV_EV_MREMAP, VMV_EV_MPROTECT, VMV_EV_MADVISE, VMV_EV_BRK,      VMV_EV_SHMAT,
        VMV_EV_SHMDT, VMV_EV_REMAP,  VMV_EV_PUNCH,  VMV_EV_MSEAL,    VMV_EV_SETNAME, VMV_EV_TRUNCATE, VMV_EV_NONE};
    struct app *app = page->app;
    event_fact(page, "made by", ask(app, APP_ASK_MADE, made, start, start + 1, changed_range),
               "no call of the recording: it was there before");
    const struct app_mapping *mapping = app_mapping_at(app, start);
    bool heap = mapping && mapping->map->name && !strcmp(mapping->map->name, "[heap]") && mapping->map->end == end;
    event_fact(page, "last change",
               ask(app, APP_ASK_CHANGED, changed, start, heap ? end + 1 : end, heap ? changed_heap : changed_range),
               "none recorded");
}

static void touch_fact(struct page_writer *page, const char *name, const struct app_found *found, const char *none) {
    char thread[40], time[UI_FORMAT_SIZE * 2 + 8], place[APP_NAME_SIZE + 24];
    if (!found->found) {
        inspector_fact(page, name, UI_FAINT, "%s", found->searching ? "searching \xe2\x80\xa6" : none);
        return;
    }
    const struct vmv_event *event = &found->event;
    static const char *const access[] = {"", " to read", " to write", " to execute"};
    when(page->app, event->t, time, sizeof time);
    who(page->app, event->tid, thread, sizeof thread);
    inspector_fact(page, name, UI_DIM, "%s%s\n%s", thread, event->access < 4 ? access[event->access] : "", time);
    if (!event->pc) return;
    view_address_name(page->app, event->pc, place, sizeof place);
    inspector_fact(page, "  from", UI_FAINT, "%s%s", event->kernel ? "the kernel, called at " : "", place);
}

void inspector_touches(struct page_writer *page, uint64_t start, uint64_t end) {
    static const enum vmv_event_type fault[] = {VMV_EV_FAULT, VMV_EV_NONE};
    touch_fact(page, "first touch", ask(page->app, APP_ASK_TOUCHED, fault, start, end, is_first_touch),
               "no fault recorded; by whom unknown");
    touch_fact(page, "last write", ask(page->app, APP_ASK_WRITTEN, fault, start, end, is_write), "no fault recorded");
}
