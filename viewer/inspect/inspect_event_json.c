// Events as JSON: the keys of the contract, by type.
#include "inspect_event.h"

#include <stdio.h>
#include <string.h>

const char *inspect_fault_kind(uint8_t kind) {
    static const char *const words[] = {"unknown", "first-touch", "write", "populated", "file"};
    return kind < sizeof words / sizeof words[0] ? words[kind] : "unknown";
}

const char *inspect_access(uint8_t access) {
    static const char *const words[] = {NULL, "read", "write", "exec"};
    return access < sizeof words / sizeof words[0] ? words[access] : NULL;
}

bool inspect_event_returns_address(enum vmv_event_type type) {
    return type == VMV_EV_MMAP || type == VMV_EV_MREMAP || type == VMV_EV_BRK || type == VMV_EV_SHMAT;
}

static const char *event_text(const struct vmv_event *event) { return event->name == NULL ? "" : event->name; }

static void put_name(struct json *json, const char *key, const char *name) {
    json_put_text(json, key, name == NULL || name[0] == '\0' ? NULL : name);
}

static void put_common(struct json *json, const struct vmv_event *event, const char *type) {
    json_begin(json);
    json_put_unsigned(json, "t", event->t);
    json_put_unsigned(json, "seq", event->seq);
    json_put_text(json, "type", type);
    json_put_known(json, "pid", event->pid > 0, (uint32_t)event->pid);
    json_put_known(json, "tid", event->tid > 0, (uint32_t)event->tid);
    json_put_known(json, "space", event->space != 0, event->space);
}

static void put_result(struct json *json, const struct vmv_event *event) {
    if (event->ret < 0 && event->ret >= -4095) {
        json_put_signed(json, "ret", event->ret);
    } else if (inspect_event_returns_address(event->type)) {
        json_put_hex(json, "ret", (uint64_t)event->ret);
    } else {
        json_put_signed(json, "ret", event->ret);
    }
}

static void put_device(struct json *json, const struct vmv_event *event) {
    char text[32];
    snprintf(text, sizeof text, "%02x:%02x", event->dev_major, event->dev_minor);
    json_put_text(json, "dev", text);
}

static void put_mmap(struct json *json, const struct vmv_event *event) {
    json_put_unsigned(json, "prot", event->prot);
    json_put_unsigned(json, "flags", event->flags);
    put_name(json, "name", event->name);
    json_put_unsigned(json, "offset", event->offset);
    put_device(json, event);
    json_put_unsigned(json, "ino", event->inode);
}

static void put_mremap(struct json *json, const struct vmv_event *event) {
    json_put_hex(json, "old_addr", event->old_addr);
    json_put_unsigned(json, "old_len", event->old_len);
    json_put_unsigned(json, "flags", event->flags);
}

static void put_shmat(struct json *json, const struct vmv_event *event) {
    json_put_unsigned(json, "prot", event->prot);
    put_name(json, "name", event->name);
    json_put_unsigned(json, "ino", event->inode);
}

static void put_call_arguments(struct json *json, const struct vmv_event *event) {
    bool file = event->type == VMV_EV_PUNCH || event->type == VMV_EV_TRUNCATE;
    if (event->type == VMV_EV_MMAP) put_mmap(json, event);
    if (event->type == VMV_EV_MREMAP) put_mremap(json, event);
    if (event->type == VMV_EV_SHMAT) put_shmat(json, event);
    if (event->type == VMV_EV_MPROTECT) json_put_unsigned(json, "prot", event->prot);
    if (event->type == VMV_EV_MADVISE) json_put_unsigned(json, "advice", event->prot);
    if (event->type == VMV_EV_BRK) json_put_known_hex(json, "old_addr", event->old_addr != 0, event->old_addr);
    if (event->type == VMV_EV_REMAP) json_put_unsigned(json, "offset", event->offset);
    if (event->type == VMV_EV_SETNAME) put_name(json, "name", event->name);
    if (file) put_device(json, event);
    if (file) json_put_unsigned(json, "ino", event->inode);
}

// addr, len: of a truncation the new size of the file is the length, and there is no address.
static void put_call_place(struct json *json, const struct vmv_event *event) {
    bool truncate = event->type == VMV_EV_TRUNCATE;
    json_put_known_hex(json, "addr", !truncate, event->addr);
    if (event->type != VMV_EV_BRK) json_put_unsigned(json, "len", truncate ? event->addr : event->len);
}

static void put_call(struct inspect *in, const struct vmv_event *event) {
    put_call_place(&in->json, event);
    put_call_arguments(&in->json, event);
    put_result(&in->json, event);
    inspect_put_stack(in, event);
}

static void put_fault(struct inspect *in, const struct vmv_event *event) {
    struct json *json = &in->json;
    json_put_hex(json, "addr", event->addr);
    json_put_known_hex(json, "pc", event->pc != 0, event->pc);
    json_put_text(json, "kind", inspect_fault_kind(event->kind));
    json_put_text(json, "access", inspect_access(event->access));
    json_put_bool(json, "kernel", event->kernel);
    json_put_text(json, "source", event->source == VMV_SOURCE_NONE ? NULL : inspect_source(event->source));
    if (event->len != 0) json_put_unsigned(json, "len", event->len);
    inspect_put_stack(in, event);
}

static void put_exec(struct json *json, const struct vmv_event *event) {
    json_put_text(json, "path", event_text(event));
    json_key(json, "argv");
    json_array(json);
    for (size_t i = 0; i < event->argc; i++) json_text(json, event->argv[i], strlen(event->argv[i]));
    json_array_end(json);
    json_put_known(json, "old_space", event->child_space != 0, event->child_space);
}

static void put_bytes(struct json *json, const char *key, const uint8_t *bytes, uint64_t length) {
    char text[17] = "";
    for (size_t i = 0; i < length && i < 8; i++) snprintf(text + 2 * i, 3, "%02x", bytes[i]);
    json_put_text(json, key, text);
}

// NULL: not known.
static void put_seen(struct json *json, const char *key, const uint8_t *bytes, uint64_t length) {
    if (bytes) {
        put_bytes(json, key, bytes, length);
    } else {
        json_put_null(json, key);
    }
}

static void put_watch(struct inspect *in, const struct vmv_event *event) {
    struct json *json = &in->json;
    json_put_hex(json, "addr", event->addr);
    json_put_unsigned(json, "len", event->len);
    put_seen(json, "before", event->known & VMV_WATCH_BEFORE ? event->before : NULL, event->len);
    put_seen(json, "after", event->known & VMV_WATCH_AFTER ? event->after : NULL, event->len);
    json_put_known_hex(json, "pc", event->pc != 0, event->pc);
    inspect_put_stack(in, event);
}

static void put_gap(struct json *json, const struct vmv_event *event) {
    json_put_unsigned(json, "from", event->t);
    json_put_known(json, "to", event->to != 0, event->to);
    json_put_text(json, "why", event_text(event));
    if (event->len == 0) return;
    json_put_hex(json, "addr", event->addr);
    json_put_unsigned(json, "len", event->len);
}

// A governor's text is "step: why"; without a colon the whole is the step.
static void put_governor(struct json *json, const struct vmv_event *event) {
    const char *text = event_text(event), *colon = strchr(text, ':');
    json_key(json, "step");
    json_text(json, text, colon == NULL ? strlen(text) : (size_t)(colon - text));
    json_put_text(json, "why", colon == NULL ? NULL : colon + 1 + strspn(colon + 1, " "));
}

static void put_process(struct json *json, const struct vmv_event *event) {
    switch (event->type) {
    case VMV_EV_FORK:
        json_put_signed(json, "child", event->child);
        json_put_unsigned(json, "child_space", event->child_space);
        json_put_bool(json, "vfork", event->flag);
        break;
    case VMV_EV_EXEC:
        put_exec(json, event);
        break;
    case VMV_EV_THREAD_START:
        put_name(json, "name", event->name);
        break;
    case VMV_EV_THREAD_EXIT:
        json_put_signed(json, "code", event->code);
        break;
    case VMV_EV_EXIT:
        json_put_signed(json, event->flag ? "signal" : "code", event->code);
        break;
    case VMV_EV_SIGNAL:
        json_put_signed(json, "number", event->number);
        json_put_signed(json, "code", event->code);
        json_put_hex(json, "addr", event->addr);
        json_put_bool(json, "fatal", event->flag);
        break;
    case VMV_EV_GAP:
        put_gap(json, event);
        break;
    case VMV_EV_GOVERNOR:
        put_governor(json, event);
        break;
    case VMV_EV_MARK:
    case VMV_EV_NOTE:
        json_put_text(json, "text", event_text(event));
        break;
    default:
        break;
    }
}

// The carriers of state, which are shown only when asked for by --event.
static void put_state(struct json *json, const struct vmv_event *event) {
    switch (event->type) {
    case VMV_EV_SPACE:
        put_name(json, "path", event->name);
        json_put_known(json, "copied_from", event->child_space != 0, event->child_space);
        break;
    case VMV_EV_FRAME:
        json_put_unsigned(json, "n", event->frame);
        json_put_unsigned(json, "pages_written", event->pages_written);
        json_put_unsigned(json, "pause_ns", event->pause_ns);
        json_put_unsigned(json, "torn", event->torn);
        json_put_text(json, "why", inspect_frame_why(event->why));
        break;
    case VMV_EV_MAPS:
    case VMV_EV_PAGES:
    case VMV_EV_CONTENT:
        json_put_hex(json, "addr", event->addr);
        json_put_unsigned(json, "len", event->len);
        if (event->type == VMV_EV_MAPS) json_put_unsigned(json, "mappings", event->map_count);
        if (event->type == VMV_EV_PAGES) json_put_text(json, "state", inspect_page_state(event->state));
        if (event->type == VMV_EV_CONTENT) json_put_text(json, "certainty", inspect_certainty(event->certainty));
        break;
    case VMV_EV_THREAD:
        put_name(json, "name", event->name);
        json_put_known_hex(json, "pc", event->pc != 0, event->pc);
        json_put_known_hex(json, "sp", event->sp != 0, event->sp);
        json_put_text(json, "certainty", inspect_certainty(event->certainty));
        break;
    default:
        break;
    }
}

void inspect_event_json(struct inspect *in, const struct vmv_event *event) {
    const char *name = vmv_event_name(event->type);
    put_common(&in->json, event, name == NULL ? "unknown" : name);
    if (event->type == VMV_EV_FAULT) {
        put_fault(in, event);
    } else if (event->type == VMV_EV_WATCH) {
        put_watch(in, event);
    } else if (event->type < VMV_EV_FAULT) {
        put_call(in, event);
    } else if (event->type < VMV_EV_SPACE) {
        put_process(&in->json, event);
    } else {
        put_state(&in->json, event);
    }
    json_line(&in->json);
}

void inspect_populated_json(struct inspect *in, const struct vmv_event *event, uint64_t addr, uint64_t size) {
    struct json *json = &in->json;
    put_common(json, event, "fault");
    json_put_hex(json, "addr", addr);
    json_put_null(json, "pc");
    json_put_text(json, "kind", "populated");
    json_put_null(json, "access");
    json_put_null(json, "kernel");
    json_put_text(json, "source", "frames");
    json_put_null(json, "stack");
    json_put_unsigned(json, "len", size);
    json_line(json);
}
