// META and END are lists of items: a varint tag, a varint length, that many bytes. Unknown tags are skipped.
#include "meta.h"

#include <string.h>

enum value_kind { VALUE_TEXT, VALUE_U64, VALUE_U32, VALUE_I32, VALUE_BOOL, VALUE_DOUBLE };
struct item {
    uint8_t tag, kind;
    uint16_t offset;
};
enum { TAG_PROGRAM = 1, TAG_ENVIRONMENT = 2, TAG_EVENTS = 1 }; // lists
enum { FIRST_OPTIONAL = 22 };                                  // of META's items

#define M(tag, kind, member)                                                                                           \
    { tag, VALUE_##kind, offsetof(struct vmv_meta, member) }
static const struct item meta_items[] = {
    M(3, TEXT, directory),
    M(4, I32, pid),
    M(5, U64, started),
    M(6, U64, start_monotonic_ns),
    M(7, TEXT, arch),
    M(8, U32, page_size),
    M(9, TEXT, machine),
    M(10, TEXT, kernel),
    M(11, TEXT, recorder),
    M(12, TEXT, source_faults),
    M(13, TEXT, source_maps),
    M(14, TEXT, source_why),
    M(15, U64, interval_ns),
    M(16, BOOL, interval_auto),
    M(17, DOUBLE, budget_percent),
    M(18, U32, stack_bytes),
    M(19, TEXT, content),
    M(20, U64, embed_limit),
    M(21, TEXT, register_set),
    M(22, BOOL, attached),
    M(23, BOOL, no_follow),
    M(24, BOOL, split_huge),
    M(25, U64, max_size),
    M(26, TEXT, faults_asked),
    M(27, TEXT, exclude),
    M(28, TEXT, watch),
    M(29, TEXT, ring),
    M(30, TEXT, user),
};
#define E(tag, kind, member)                                                                                           \
    { tag, VALUE_##kind, offsetof(struct vmv_end, member) }
static const struct item end_items[] = {
    E(2, BOOL, complete),       E(3, U64, duration_ns), E(4, BOOL, exited),  E(5, BOOL, killed),
    E(6, I32, exit_code),       E(7, U64, held_ns),     E(8, U64, fault_ns), E(9, DOUBLE, percent),
    E(10, U64, pages_captured), E(11, U64, raw_bytes),
};
#define COUNT(items) (sizeof(items) / sizeof *(items))
#define AT(type, base, item) (*(type *)((char *)(base) + (item)->offset))

static void out_double(struct vmv_out *out, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    vmv_out_u64(out, bits);
}

static double in_double(struct vmv_in *in) {
    uint64_t bits = vmv_in_u64(in);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value == value ? value : 0;
}

static void value_encode(struct vmv_out *out, const void *base, const struct item *item) {
    switch ((enum value_kind)item->kind) {
    case VALUE_TEXT: {
        const char *text = AT(const char *const, base, item);
        return vmv_out_bytes(out, text, text ? strlen(text) : 0);
    }
    case VALUE_U64:
        return vmv_out_varint(out, AT(const uint64_t, base, item));
    case VALUE_U32:
        return vmv_out_varint(out, AT(const uint32_t, base, item));
    case VALUE_I32:
        return vmv_out_zigzag(out, AT(const int32_t, base, item));
    case VALUE_BOOL:
        return vmv_out_u8(out, AT(const bool, base, item));
    case VALUE_DOUBLE:
        return out_double(out, AT(const double, base, item));
    }
}

static void out_item(struct vmv_out *out, uint64_t tag, struct vmv_out *value) {
    vmv_out_varint(out, tag);
    vmv_out_varint(out, value->length);
    vmv_out_bytes(out, value->data, value->length);
    value->length = 0;
}

// Settings are left out where nothing was asked for; the older items stand in every trace.
static bool is_absent(const void *base, const struct item *item) {
    bool optional = item->tag >= FIRST_OPTIONAL;
    switch ((enum value_kind)item->kind) {
    case VALUE_TEXT: {
        const char *text = AT(const char *const, base, item);
        return !text || (optional && !*text);
    }
    case VALUE_BOOL:
        return optional && !AT(const bool, base, item);
    case VALUE_U64:
        return optional && !AT(const uint64_t, base, item);
    default:
        return false;
    }
}

static void items_encode(struct vmv_out *out, const void *base, const struct item *items, size_t count) {
    struct vmv_out value = {0};
    for (size_t i = 0; i < count; i++) {
        if (is_absent(base, &items[i])) continue;
        value_encode(&value, base, &items[i]);
        out_item(out, items[i].tag, &value);
    }
    vmv_out_free(&value);
}

// `arena` is NULL where no item is a text.
static void value_decode(struct vmv_in *in, struct vmv_arena *arena, void *base, const struct item *item) {
    switch ((enum value_kind)item->kind) {
    case VALUE_TEXT:
        AT(const char *, base, item) = vmv_arena_strdup(arena, (const char *)in->data, in->length);
        break;
    case VALUE_U64:
        AT(uint64_t, base, item) = vmv_in_varint(in);
        break;
    case VALUE_U32:
        AT(uint32_t, base, item) = (uint32_t)vmv_in_varint(in);
        break;
    case VALUE_I32:
        AT(int32_t, base, item) = (int32_t)vmv_in_zigzag(in);
        break;
    case VALUE_BOOL:
        AT(bool, base, item) = vmv_in_u8(in) != 0;
        break;
    case VALUE_DOUBLE:
        AT(double, base, item) = in_double(in);
        break;
    }
}

// The next item's tag and its bytes; false at the end or when malformed.
static bool in_item(struct vmv_in *in, uint64_t *tag, struct vmv_in *value) {
    if (in->bad || in->at == in->length) return false;
    *tag = vmv_in_varint(in);
    size_t length;
    const char *bytes = vmv_in_string(in, &length);
    *value = (struct vmv_in){.data = (const uint8_t *)bytes, .length = length};
    return !in->bad;
}

static void item_decode(struct vmv_in *value, struct vmv_arena *arena, void *base, const struct item *items,
                        size_t count, uint64_t tag) {
    for (size_t i = 0; i < count; i++)
        if (items[i].tag == tag) return value_decode(value, arena, base, &items[i]);
}

static void list_encode(struct vmv_out *out, uint64_t tag, const char *const *texts, size_t count) {
    struct vmv_out value = {0};
    vmv_out_varint(&value, count);
    for (size_t i = 0; i < count; i++) vmv_out_string(&value, texts[i]);
    out_item(out, tag, &value);
    vmv_out_free(&value);
}

static const char *const *list_decode(struct vmv_in *in, struct vmv_arena *arena, size_t *count) {
    uint64_t claimed = vmv_in_varint(in);
    *count = 0;
    if (claimed > vmv_in_left(in)) in->bad = true;
    if (in->bad) return NULL;
    const char **texts = vmv_arena_alloc(arena, ((size_t)claimed + 1) * sizeof *texts);
    for (; *count < claimed && !in->bad; ++*count) {
        size_t length;
        const char *text = vmv_in_string(in, &length);
        texts[*count] = vmv_arena_strdup(arena, text ? text : "", length);
    }
    return texts;
}

void vmv_meta_encode(struct vmv_out *out, const struct vmv_meta *meta) {
    list_encode(out, TAG_PROGRAM, meta->program, meta->program_count);
    if (meta->environment) list_encode(out, TAG_ENVIRONMENT, meta->environment, meta->environment_count);
    items_encode(out, meta, meta_items, COUNT(meta_items));
}

static bool page_size_sound(uint32_t size) { return size >= 4096 && size <= 1 << 20 && !(size & (size - 1)); }

bool vmv_meta_decode(struct vmv_in *in, struct vmv_arena *arena, struct vmv_meta *meta) {
    *meta = (struct vmv_meta){0};
    uint64_t tag;
    struct vmv_in value;
    bool sound = true;
    while (sound && in_item(in, &tag, &value)) {
        if (tag == TAG_PROGRAM)
            meta->program = list_decode(&value, arena, &meta->program_count);
        else if (tag == TAG_ENVIRONMENT)
            meta->environment = list_decode(&value, arena, &meta->environment_count);
        else
            item_decode(&value, arena, meta, meta_items, COUNT(meta_items), tag);
        sound = !value.bad;
    }
    for (size_t i = 0; i < COUNT(meta_items); i++) // what an older recorder did not say is empty, not NULL
        if (meta_items[i].kind == VALUE_TEXT && !AT(const char *, meta, &meta_items[i]))
            AT(const char *, meta, &meta_items[i]) = "";
    return sound && !in->bad && page_size_sound(meta->page_size);
}

static void counts_encode(struct vmv_out *out, const uint64_t *events) {
    struct vmv_out value = {0};
    for (unsigned type = 0; type < VMV_EV_TYPE_COUNT; type++) {
        if (!events[type]) continue;
        vmv_out_varint(&value, type);
        vmv_out_varint(&value, events[type]);
    }
    out_item(out, TAG_EVENTS, &value);
    vmv_out_free(&value);
}

static void counts_decode(struct vmv_in *in, uint64_t *events) {
    while (vmv_in_left(in)) {
        uint64_t type = vmv_in_varint(in), count = vmv_in_varint(in);
        if (type < VMV_EV_TYPE_COUNT && !in->bad) events[type] = count;
    }
}

void vmv_end_encode(struct vmv_out *out, const struct vmv_end *end) {
    counts_encode(out, end->events);
    items_encode(out, end, end_items, COUNT(end_items));
}

bool vmv_end_decode(struct vmv_in *in, struct vmv_end *end) {
    *end = (struct vmv_end){0};
    uint64_t tag;
    struct vmv_in value;
    bool sound = true;
    while (sound && in_item(in, &tag, &value)) {
        if (tag == TAG_EVENTS)
            counts_decode(&value, end->events);
        else
            item_decode(&value, NULL, end, end_items, COUNT(end_items), tag);
        sound = !value.bad;
    }
    return sound && !in->bad;
}
