// Events as lines of text: time, thread, type, and the call with its result or the thing that happened.
#include "inspect_event.h"

#include "inspect_show.h"
#include "inspect_signal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

static void put_name(struct inspect_out *out, const char *before, const char *name) {
    if (name == NULL || name[0] == '\0') return;
    char plain[4 * 4096 + 1];
    inspect_plain(plain, sizeof plain, name);
    inspect_out_text(out, before);
    inspect_out_text(out, plain);
}

static void put_head(struct inspect_out *out, const struct vmv_event *event, const char *type) {
    char tid[16] = "";
    if (event->tid > 0 || event->pid > 0)
        snprintf(tid, sizeof tid, "%" PRId32, event->tid > 0 ? event->tid : event->pid);
    inspect_out_format(out, "%19s  %7s  %-12s  ", show_time_ns(event->t).text, tid, type);
}

static void put_address(struct inspect_out *out, uint64_t addr) { inspect_out_format(out, "0x%" PRIx64, addr); }

static void put_protection(struct inspect_out *out, uint32_t prot) {
    inspect_out_format(out, "%c%c%c", prot & PROT_READ ? 'r' : '-', prot & PROT_WRITE ? 'w' : '-',
                       prot & PROT_EXEC ? 'x' : '-');
}

struct bit_name {
    uint32_t bit;
    const char *name;
};

static void put_bits(struct inspect_out *out, uint32_t bits, const struct bit_name *names, size_t count) {
    const char *before = "";
    for (size_t i = 0; i < count; i++) {
        if ((bits & names[i].bit) != names[i].bit) continue;
        inspect_out_format(out, "%s%s", before, names[i].name);
        bits &= ~names[i].bit;
        before = " ";
    }
    if (bits != 0 || *before == '\0') inspect_out_format(out, "%s0x%x", before, bits);
}

static void put_map_flags(struct inspect_out *out, uint32_t flags) {
    static const struct bit_name names[] = {
        {MAP_SHARED_VALIDATE, "shared-validate"},
        {MAP_SHARED, "shared"},
        {MAP_PRIVATE, "private"},
        {0x100000, "fixed-noreplace"},
        {MAP_FIXED, "fixed"},
        {MAP_ANONYMOUS, "anonymous"},
        {MAP_GROWSDOWN, "growsdown"},
        {MAP_DENYWRITE, "denywrite"},
        {MAP_LOCKED, "locked"},
        {MAP_NORESERVE, "noreserve"},
        {MAP_POPULATE, "populate"},
        {MAP_NONBLOCK, "nonblock"},
        {MAP_STACK, "stack"},
        {MAP_HUGETLB, "hugetlb"},
        {0x80000, "sync"},
    };
    put_bits(out, flags, names, sizeof names / sizeof names[0]);
}

static void put_remap_flags(struct inspect_out *out, uint32_t flags) {
    static const struct bit_name names[] = {{1, "may-move"}, {2, "fixed"}, {4, "dontunmap"}};
    if (flags != 0) inspect_out_text(out, ", ");
    if (flags != 0) put_bits(out, flags, names, sizeof names / sizeof names[0]);
}

static void put_advice(struct inspect_out *out, uint32_t advice) {
    static const char *const names[] = {[0] = "normal",           [1] = "random",         [2] = "sequential",
                                        [3] = "willneed",         [4] = "dontneed",       [8] = "free",
                                        [9] = "remove",           [10] = "dontfork",      [11] = "dofork",
                                        [12] = "mergeable",       [13] = "unmergeable",   [14] = "hugepage",
                                        [15] = "nohugepage",      [16] = "dontdump",      [17] = "dodump",
                                        [18] = "wipeonfork",      [19] = "keeponfork",    [20] = "cold",
                                        [21] = "pageout",         [22] = "populate-read", [23] = "populate-write",
                                        [24] = "dontneed-locked", [25] = "collapse",      [102] = "guard-install",
                                        [103] = "guard-remove"};
    const char *name = advice < sizeof names / sizeof names[0] ? names[advice] : NULL;
    if (name != NULL) {
        inspect_out_text(out, name);
    } else {
        inspect_out_format(out, "advice %" PRIu32, advice);
    }
}

static void put_result(struct inspect_out *out, const struct vmv_event *event) {
    if (event->ret < 0 && event->ret >= -4095) {
        const char *name = strerrorname_np((int)-event->ret);
        inspect_out_format(out, " → %s (%s)", name == NULL ? "?" : name, strerror((int)-event->ret));
    } else if (inspect_event_returns_address(event->type)) {
        inspect_out_format(out, " → 0x%" PRIx64, (uint64_t)event->ret);
    }
}

static void put_range(struct inspect_out *out, const struct vmv_event *event) {
    inspect_out_format(out, "0x%" PRIx64 ", %s", event->addr, show_size(event->len).text);
}

static void put_mmap(struct inspect_out *out, const struct vmv_event *event) {
    if (event->addr != 0) {
        put_address(out, event->addr);
    } else {
        inspect_out_text(out, "NULL");
    }
    inspect_out_format(out, ", %s, ", show_size(event->len).text);
    put_protection(out, event->prot);
    inspect_out_text(out, ", ");
    put_map_flags(out, event->flags);
    put_result(out, event);
    put_name(out, "  ", event->name);
    if (event->offset != 0) inspect_out_format(out, " +0x%" PRIx64, event->offset);
}

static void put_mremap(struct inspect_out *out, const struct vmv_event *event) {
    inspect_out_format(out, "0x%" PRIx64 ", %s, ", event->old_addr, show_size(event->old_len).text);
    inspect_out_text(out, show_size(event->len).text);
    put_remap_flags(out, event->flags);
    if (event->addr != 0) inspect_out_format(out, ", to 0x%" PRIx64, event->addr);
    put_result(out, event);
}

static void put_brk(struct inspect_out *out, const struct vmv_event *event) {
    if (event->addr == 0) {
        inspect_out_text(out, "asks");
    } else {
        put_address(out, event->addr);
    }
    put_result(out, event);
    if (event->old_addr == 0 || event->ret <= 0) return;
    uint64_t now = (uint64_t)event->ret, before = event->old_addr;
    if (now > before) inspect_out_format(out, "  (+%s)", show_size(now - before).text);
    if (now < before) inspect_out_format(out, "  (-%s)", show_size(before - now).text);
}

static void put_file(struct inspect_out *out, const struct vmv_event *event, const char *word, uint64_t offset) {
    if (event->inode != 0) {
        inspect_out_format(out, "inode %" PRIu64 " of %02x:%02x ", event->inode, event->dev_major, event->dev_minor);
    }
    inspect_out_format(out, "%s 0x%" PRIx64, word, offset);
    if (event->len != 0) inspect_out_format(out, ", %s", show_size(event->len).text);
}

static void put_call(struct inspect_out *out, const struct vmv_event *event) {
    switch (event->type) {
    case VMV_EV_MMAP:
        put_mmap(out, event);
        return;
    case VMV_EV_MREMAP:
        put_mremap(out, event);
        return;
    case VMV_EV_BRK:
        put_brk(out, event);
        return;
    case VMV_EV_TRUNCATE:
        put_file(out, event, "to", event->addr);
        break;
    case VMV_EV_PUNCH:
        put_file(out, event, "at", event->addr);
        break;
    default:
        put_range(out, event);
    }
    if (event->type == VMV_EV_MPROTECT) {
        inspect_out_text(out, ", ");
        put_protection(out, event->prot);
    } else if (event->type == VMV_EV_MADVISE) {
        inspect_out_text(out, ", ");
        put_advice(out, event->prot);
    } else if (event->type == VMV_EV_REMAP) {
        inspect_out_format(out, ", offset 0x%" PRIx64, event->offset);
    }
    put_result(out, event);
    put_name(out, "  ", event->name);
}

static void put_fault(struct inspect_out *out, const struct vmv_event *event) {
    const char *access = inspect_access(event->access);
    inspect_out_format(out, "0x%" PRIx64 "  %s", event->addr, inspect_fault_kind(event->kind));
    if (access != NULL && !(event->kind == VMV_FAULT_WRITE && event->access == VMV_ACCESS_WRITE)) {
        inspect_out_format(out, ", %s", access);
    }
    if (event->len > 4096) inspect_out_format(out, ", %s", show_size(event->len).text);
    if (event->pc != 0) inspect_out_format(out, "  by 0x%" PRIx64, event->pc);
    if (event->kernel) inspect_out_text(out, "  in the kernel");
}

static void put_signal(struct inspect_out *out, const struct vmv_event *event) {
    inspect_out_text(out, inspect_signal(event->number).text);
    inspect_out_format(out, ", %s", inspect_signal_code(event->number, event->code).text);
    if (event->addr != 0 || event->flag) inspect_out_format(out, ", at 0x%" PRIx64, event->addr);
    if (event->flag) inspect_out_text(out, ", kills the process");
}

static void put_exit(struct inspect_out *out, const struct vmv_event *event) {
    if (event->flag) {
        inspect_out_format(out, "killed by %s", inspect_signal(event->code).text);
    } else {
        inspect_out_format(out, "status %" PRId32, event->code);
    }
}

static void put_exec(struct inspect_out *out, const struct vmv_event *event) {
    put_name(out, "", event->name);
    inspect_out_text(out, "  (");
    for (size_t i = 0; i < event->argc && out->error == 0; i++) put_name(out, i == 0 ? "" : " ", event->argv[i]);
    inspect_out_format(out, ")  space %" PRIu32, event->space);
}

static void put_seen(struct inspect_out *out, bool known, const uint8_t *bytes, uint64_t length) {
    for (size_t i = 0; i < length && i < 8; i++) {
        if (known) {
            inspect_out_format(out, "%02x", bytes[i]);
        } else {
            inspect_out_text(out, "??");
        }
    }
}

static void put_watch(struct inspect_out *out, const struct vmv_event *event) {
    put_address(out, event->addr);
    inspect_out_text(out, "  ");
    put_seen(out, event->known & VMV_WATCH_BEFORE, event->before, event->len);
    inspect_out_text(out, " → ");
    put_seen(out, event->known & VMV_WATCH_AFTER, event->after, event->len);
    if (event->pc != 0) inspect_out_format(out, "  by 0x%" PRIx64, event->pc);
}

static void put_other(struct inspect_out *out, const struct vmv_event *event) {
    switch (event->type) {
    case VMV_EV_FAULT:
        put_fault(out, event);
        break;
    case VMV_EV_FORK:
        inspect_out_format(out, "%s %" PRId32 ", space %" PRIu32, event->flag ? "vfork, child" : "child", event->child,
                           event->child_space);
        break;
    case VMV_EV_EXEC:
        put_exec(out, event);
        break;
    case VMV_EV_THREAD_EXIT:
        inspect_out_format(out, "code %" PRId32, event->code);
        break;
    case VMV_EV_EXIT:
        put_exit(out, event);
        break;
    case VMV_EV_SIGNAL:
        put_signal(out, event);
        break;
    case VMV_EV_WATCH:
        put_watch(out, event);
        break;
    case VMV_EV_GAP:
        if (event->to >= event->t && event->to != 0)
            inspect_out_format(out, "%s: ", show_span(event->to - event->t).text);
        put_name(out, "", event->name);
        break;
    default:
        put_name(out, "", event->name);
    }
}

static void put_state(struct inspect_out *out, const struct vmv_event *event) {
    switch (event->type) {
    case VMV_EV_SPACE:
        inspect_out_format(out, "space %" PRIu32, event->space);
        put_name(out, "  ", event->name);
        break;
    case VMV_EV_FRAME:
        inspect_out_format(out, "frame %" PRIu64 ", %s, pause %s", event->frame, inspect_frame_why(event->why),
                           show_span(event->pause_ns).text);
        break;
    case VMV_EV_MAPS:
        put_range(out, event);
        inspect_out_format(out, ", %s", show_plural(event->map_count, "mapping", "mappings").text);
        break;
    case VMV_EV_PAGES:
        put_range(out, event);
        inspect_out_format(out, ", %s", inspect_page_state(event->state));
        break;
    case VMV_EV_CONTENT:
        put_range(out, event);
        inspect_out_format(out, ", %s", inspect_certainty(event->certainty));
        break;
    case VMV_EV_THREAD:
        inspect_out_format(out, "pc 0x%" PRIx64 ", sp 0x%" PRIx64 ", %s", event->pc, event->sp,
                           inspect_certainty(event->certainty));
        break;
    default:
        break;
    }
}

void inspect_event_text(struct inspect *in, const struct vmv_event *event) {
    const char *name = vmv_event_name(event->type);
    put_head(&in->out, event, name == NULL ? "unknown" : name);
    if (event->type < VMV_EV_FAULT) {
        put_call(&in->out, event);
    } else if (event->type < VMV_EV_SPACE) {
        put_other(&in->out, event);
    } else {
        put_state(&in->out, event);
    }
    inspect_out_bytes(&in->out, "\n", 1);
}

void inspect_populated_text(struct inspect *in, const struct vmv_event *event, uint64_t addr, uint64_t size) {
    struct vmv_event shown = *event;
    shown.pid = shown.tid = 0; // by whom is not known
    put_head(&in->out, &shown, "fault");
    inspect_out_format(&in->out, "0x%" PRIx64 "  populated", addr);
    if (size > 4096) inspect_out_format(&in->out, ", %s", show_size(size).text);
    inspect_out_bytes(&in->out, "\n", 1);
}
