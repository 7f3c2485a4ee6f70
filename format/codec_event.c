// Events as bytes. Two forms (docs/FORMAT-encodings.md): a fault in its short form, one byte of choices and then only
// what differs from the fault before; and the general form, which any version can skip: type, length, body.
#include "codec.h"

#include <string.h>

#include "codec_private.h"

enum { SHORT_FAULT = 0x80 }; // first byte of the short form; the general form's types stay below
enum { PREFIX_IDS = 1, PREFIX_STACK = 2 };
enum { SHORT_IDS = 1, SHORT_ADDR_SHIFT = 1, SHORT_PC = 8, SHORT_STACK_SHIFT = 4, SHORT_BITS = 64 };
enum { ADDR_NEXT = 0, ADDR_PAGE = 1, ADDR_BOTH = 2, ADDR_NEXT_OFFSET = 3 };
enum { STACK_NONE = 0, STACK_NEXT = 1, STACK_DELTA = 2, STACK_SAME = 3 };
enum { FAULT_LEN_BIT = 1 << 16 };

// --- the fields of each type, in the order of the file

enum field_kind {
    FIELD_U8,
    FIELD_BOOL,
    FIELD_U32,
    FIELD_I32,
    FIELD_U64,
    FIELD_I64,
    FIELD_SIZE,
    FIELD_ADDR,
    FIELD_NEAR, // an address: the one that later addresses are differences to; one that is not
    FIELD_PC,
    FIELD_SP,
    FIELD_CONTENT,
    FIELD_REGS,
    FIELD_FRAME, // differences to the last of their kind
    FIELD_TEXT,
    FIELD_MAPS,
    FIELD_ARGV,
    FIELD_RAW8,
};
struct field {
    uint8_t kind;
    uint16_t offset; // of the member in struct vmv_event
};
struct layout {
    uint8_t count;
    struct field fields[14];
};
#define F(kind, member)                                                                                                \
    { FIELD_##kind, offsetof(struct vmv_event, member) }
#define LAYOUT(...)                                                                                                    \
    {                                                                                                                  \
        .count = sizeof((struct field[]){__VA_ARGS__}) / sizeof(struct field), .fields = { __VA_ARGS__ }               \
    }

static const struct layout layouts[VMV_EV_TYPE_COUNT] = {
    [VMV_EV_MMAP] = LAYOUT(F(NEAR, addr), F(SIZE, len), F(U32, prot), F(U32, flags), F(ADDR, ret), F(SIZE, offset),
                           F(U64, inode), F(U32, dev_major), F(U32, dev_minor), F(TEXT, name), F(U32, object)),
    [VMV_EV_MUNMAP] = LAYOUT(F(ADDR, addr), F(SIZE, len), F(I64, ret)),
    [VMV_EV_MREMAP] =
        LAYOUT(F(NEAR, old_addr), F(SIZE, old_len), F(NEAR, addr), F(SIZE, len), F(U32, flags), F(ADDR, ret)),
    [VMV_EV_MPROTECT] = LAYOUT(F(ADDR, addr), F(SIZE, len), F(U32, prot), F(I64, ret)),
    [VMV_EV_MADVISE] = LAYOUT(F(ADDR, addr), F(SIZE, len), F(U32, prot), F(I64, ret)),
    [VMV_EV_BRK] = LAYOUT(F(NEAR, addr), F(ADDR, ret), F(NEAR, old_addr)),
    [VMV_EV_SHMAT] = LAYOUT(F(NEAR, addr), F(SIZE, len), F(U32, prot), F(ADDR, ret), F(TEXT, name), F(U64, inode),
                            F(U32, object), F(U32, dev_major), F(U32, dev_minor), F(U32, flags)),
    [VMV_EV_SHMDT] = LAYOUT(F(ADDR, addr), F(SIZE, len), F(I64, ret)),
    [VMV_EV_REMAP] = LAYOUT(F(ADDR, addr), F(SIZE, len), F(SIZE, offset), F(I64, ret)),
    [VMV_EV_PUNCH] =
        LAYOUT(F(SIZE, addr), F(SIZE, len), F(U32, dev_major), F(U32, dev_minor), F(U64, inode), F(I64, ret)),
    [VMV_EV_TRUNCATE] =
        LAYOUT(F(SIZE, addr), F(SIZE, len), F(U32, dev_major), F(U32, dev_minor), F(U64, inode), F(I64, ret)),
    [VMV_EV_MSEAL] = LAYOUT(F(ADDR, addr), F(SIZE, len), F(I64, ret)),
    [VMV_EV_SETNAME] = LAYOUT(F(ADDR, addr), F(SIZE, len), F(TEXT, name), F(I64, ret)),
    [VMV_EV_FAULT] = LAYOUT(F(ADDR, addr), F(PC, pc), F(U8, kind), F(U8, access), F(BOOL, kernel), F(U8, source),
                            F(SIZE, len), F(U8, page_flags)),
    [VMV_EV_FORK] = LAYOUT(F(I32, child), F(U32, child_space), F(BOOL, flag)),
    [VMV_EV_EXEC] = LAYOUT(F(TEXT, name), F(U32, child_space), F(ARGV, argv)),
    [VMV_EV_THREAD_START] = LAYOUT(F(TEXT, name)),
    [VMV_EV_THREAD_EXIT] = LAYOUT(F(I32, code)),
    [VMV_EV_EXIT] = LAYOUT(F(I32, code), F(BOOL, flag)),
    [VMV_EV_SIGNAL] = LAYOUT(F(I32, number), F(I32, code), F(NEAR, addr), F(BOOL, flag)),
    [VMV_EV_MARK] = LAYOUT(F(TEXT, name)),
    [VMV_EV_WATCH] = LAYOUT(F(ADDR, addr), F(SIZE, len), F(RAW8, before), F(RAW8, after), F(PC, pc), F(U8, known)),
    [VMV_EV_GAP] = LAYOUT(F(U64, to), F(TEXT, name)),
    [VMV_EV_GOVERNOR] = LAYOUT(F(I32, number), F(TEXT, name)),
    [VMV_EV_NOTE] = LAYOUT(F(TEXT, name)),
    [VMV_EV_SPACE] = LAYOUT(F(TEXT, name), F(U32, child_space)),
    [VMV_EV_MAPS] = LAYOUT(F(ADDR, addr), F(SIZE, len), F(MAPS, maps)),
    [VMV_EV_FRAME] = LAYOUT(F(FRAME, frame), F(U8, why), F(U64, pause_ns), F(U64, pages_written), F(U64, torn)),
    [VMV_EV_PAGES] = LAYOUT(F(ADDR, addr), F(SIZE, len), F(U8, state), F(U8, page_flags)),
    [VMV_EV_CONTENT] = LAYOUT(F(ADDR, addr), F(SIZE, len), F(CONTENT, content), F(U8, content_step), F(U8, certainty)),
    [VMV_EV_THREAD] = LAYOUT(F(U8, state), F(TEXT, name), F(I64, syscall), F(PC, pc), F(SP, sp), F(NEAR, fp),
                             F(REGS, regs), F(U64, run_ns), F(U8, certainty)),
};

// --- numbers

// Lengths and distances are mostly whole pages of 4096: those lose their zeros.
void vmv_out_size(struct vmv_out *out, uint64_t value) {
    if (!(value & 4095)) return vmv_out_varint(out, value >> 12 << 1);
    if (value < UINT64_C(1) << 63) return vmv_out_varint(out, value << 1 | 1);
    vmv_out_u8(out, 1); // would be 0 with bytes: the escape
    vmv_out_u64(out, value);
}

uint64_t vmv_in_size(struct vmv_in *in) {
    uint64_t coded = vmv_in_varint(in);
    if (coded == 1) return vmv_in_u64(in);
    return coded & 1 ? coded >> 1 : coded >> 1 << 12;
}

static uint64_t zigzag(uint64_t distance) { return (distance << 1) ^ (0 - (distance >> 63)); }
static uint64_t unzigzag(uint64_t coded) { return (coded >> 1) ^ (0 - (coded & 1)); }

void vmv_out_address(struct vmv_out *out, uint64_t address, uint64_t base) {
    uint64_t distance = address - base, coded = zigzag(distance);
    if (!(distance & 4095)) return vmv_out_varint(out, zigzag((uint64_t)((int64_t)distance / 4096)) << 1);
    if (coded < UINT64_C(1) << 63) return vmv_out_varint(out, coded << 1 | 1);
    vmv_out_u8(out, 1);
    vmv_out_u64(out, address);
}

uint64_t vmv_in_address(struct vmv_in *in, uint64_t base) {
    uint64_t coded = vmv_in_varint(in);
    if (coded == 1) return vmv_in_u64(in);
    return base + (coded & 1 ? unzigzag(coded >> 1) : unzigzag(coded >> 1) << 12);
}

static void out_delta(struct vmv_out *out, uint64_t value, uint64_t *last) {
    vmv_out_zigzag(out, (int64_t)(value - *last));
    *last = value;
}

static uint64_t in_delta(struct vmv_in *in, uint64_t *last) {
    *last += (uint64_t)vmv_in_zigzag(in);
    return *last;
}

static void out_text(struct vmv_out *out, const char *text) { // present fields are not NULL
    vmv_out_string(out, text);
}

static const char *in_text(struct vmv_in *in, struct vmv_arena *arena) {
    size_t length;
    const char *text = vmv_in_string(in, &length);
    return vmv_arena_strdup(arena, text ? text : "", length);
}

// --- mappings

enum { MAPPING_SAME_FILE = 1, MAPPING_NO_OFFSET = 2, MAPPING_BITS = 2 };

static bool same_file(const struct vmv_mapping *a, const struct vmv_mapping *b) {
    return a->inode == b->inode && a->dev_major == b->dev_major && a->dev_minor == b->dev_minor &&
           a->object == b->object && !strcmp(a->name ? a->name : "", b->name ? b->name : "");
}

static void out_mapping(struct vmv_out *out, const struct vmv_mapping *map, const struct vmv_mapping *before) {
    bool same = same_file(map, before);
    vmv_out_address(out, map->start, before->end);
    vmv_out_size(out, map->end - map->start);
    vmv_out_varint(out, (uint64_t)map->flags << MAPPING_BITS | (same ? MAPPING_SAME_FILE : 0) |
                            (map->offset ? 0 : MAPPING_NO_OFFSET));
    if (map->offset) vmv_out_size(out, map->offset);
    if (same) return;
    vmv_out_string(out, map->name);
    vmv_out_varint(out, map->inode);
    vmv_out_varint(out, map->dev_major);
    vmv_out_varint(out, map->dev_minor);
    vmv_out_varint(out, map->object);
}

static void in_mapping(struct vmv_in *in, struct vmv_arena *arena, struct vmv_mapping *map,
                       const struct vmv_mapping *before) {
    *map = *before;
    map->start = vmv_in_address(in, before->end);
    map->end = map->start + vmv_in_size(in);
    uint64_t bits = vmv_in_varint(in);
    map->flags = (uint32_t)(bits >> MAPPING_BITS);
    map->offset = bits & MAPPING_NO_OFFSET ? 0 : vmv_in_size(in);
    if (bits & MAPPING_SAME_FILE) return;
    map->name = in_text(in, arena);
    map->inode = vmv_in_varint(in);
    map->dev_major = (uint32_t)vmv_in_varint(in);
    map->dev_minor = (uint32_t)vmv_in_varint(in);
    map->object = (uint32_t)vmv_in_varint(in);
}

void vmv_out_mappings(struct vmv_out *out, const struct vmv_mapping *maps, size_t count, uint64_t base) {
    struct vmv_mapping none = {.end = base, .name = ""};
    vmv_out_varint(out, count);
    for (size_t i = 0; i < count; i++) out_mapping(out, &maps[i], i ? &maps[i - 1] : &none);
}

struct vmv_mapping *vmv_in_mappings(struct vmv_in *in, struct vmv_arena *arena, size_t *count, uint64_t base) {
    enum { LEAST = 3 }; // bytes that any mapping takes
    uint64_t claimed = vmv_in_varint(in);
    *count = 0;
    if (claimed > vmv_in_left(in) / LEAST) {
        in->bad = true;
        return NULL;
    }
    struct vmv_mapping *maps = vmv_arena_alloc(arena, (size_t)claimed * sizeof *maps);
    struct vmv_mapping none = {.end = base, .name = ""};
    for (; *count < claimed && !in->bad; ++*count)
        in_mapping(in, arena, &maps[*count], *count ? &maps[*count - 1] : &none);
    return maps;
}

static void out_argv(struct vmv_out *out, const struct vmv_event *event) {
    vmv_out_varint(out, event->argc);
    for (size_t i = 0; i < event->argc; i++) vmv_out_string(out, event->argv[i]);
}

static void in_argv(struct vmv_in *in, struct vmv_arena *arena, struct vmv_event *event) {
    uint64_t count = vmv_in_varint(in);
    if (count > vmv_in_left(in)) {
        in->bad = true;
        return;
    }
    const char **argv = vmv_arena_alloc(arena, ((size_t)count + 1) * sizeof *argv);
    for (size_t i = 0; i < count && !in->bad; i++) argv[i] = in_text(in, arena);
    event->argv = argv;
    event->argc = (size_t)count;
}

// --- one field

#define AT(type, event, field) (*(type *)((char *)(event) + (field)->offset))

static bool field_present(const struct vmv_event *event, const struct field *field) {
    static const uint8_t zeros[8];
    switch ((enum field_kind)field->kind) {
    case FIELD_U8:
        return AT(const uint8_t, event, field) != 0;
    case FIELD_BOOL:
        return AT(const bool, event, field);
    case FIELD_U32:
    case FIELD_I32:
        return AT(const uint32_t, event, field) != 0;
    case FIELD_TEXT:
        return AT(const char *const, event, field) != NULL;
    case FIELD_MAPS:
        return event->map_count != 0;
    case FIELD_ARGV:
        return event->argc != 0;
    case FIELD_RAW8:
        return memcmp(&AT(const uint8_t, event, field), zeros, 8) != 0;
    default:
        return AT(const uint64_t, event, field) != 0;
    }
}

static uint64_t *field_last(struct vmv_codec *codec, enum field_kind kind) {
    switch (kind) {
    case FIELD_PC:
        return &codec->pc;
    case FIELD_SP:
        return &codec->sp;
    case FIELD_CONTENT:
        return &codec->content;
    case FIELD_REGS:
        return &codec->regs;
    default:
        return &codec->frame;
    }
}

static void field_encode(struct vmv_codec *codec, struct vmv_out *out, const struct vmv_event *event,
                         const struct field *field) {
    enum field_kind kind = (enum field_kind)field->kind;
    switch (kind) {
    case FIELD_U8:
        return vmv_out_u8(out, AT(const uint8_t, event, field));
    case FIELD_BOOL:
        return; // being present says true
    case FIELD_U32:
        return vmv_out_varint(out, AT(const uint32_t, event, field));
    case FIELD_I32:
        return vmv_out_zigzag(out, AT(const int32_t, event, field));
    case FIELD_U64:
        return vmv_out_varint(out, AT(const uint64_t, event, field));
    case FIELD_I64:
        return vmv_out_zigzag(out, AT(const int64_t, event, field));
    case FIELD_SIZE:
        return vmv_out_size(out, AT(const uint64_t, event, field));
    case FIELD_NEAR:
        return vmv_out_address(out, AT(const uint64_t, event, field), codec->addr);
    case FIELD_ADDR:
        vmv_out_address(out, AT(const uint64_t, event, field), codec->addr);
        codec->addr = AT(const uint64_t, event, field);
        return;
    case FIELD_TEXT:
        return out_text(out, AT(const char *const, event, field));
    case FIELD_MAPS:
        return vmv_out_mappings(out, event->maps, event->map_count, event->addr);
    case FIELD_ARGV:
        return out_argv(out, event);
    case FIELD_RAW8:
        return vmv_out_bytes(out, &AT(const uint8_t, event, field), 8);
    default:
        return out_delta(out, AT(const uint64_t, event, field), field_last(codec, kind));
    }
}

static void in_raw8(struct vmv_in *in, uint8_t *to) {
    const uint8_t *bytes = vmv_in_bytes(in, 8);
    if (bytes) memcpy(to, bytes, 8);
}

static void field_decode(struct vmv_codec *codec, struct vmv_in *in, struct vmv_arena *arena, struct vmv_event *event,
                         const struct field *field) {
    enum field_kind kind = (enum field_kind)field->kind;
    switch (kind) {
    case FIELD_U8:
        AT(uint8_t, event, field) = vmv_in_u8(in);
        return;
    case FIELD_BOOL:
        AT(bool, event, field) = true;
        return;
    case FIELD_U32:
        AT(uint32_t, event, field) = (uint32_t)vmv_in_varint(in);
        return;
    case FIELD_I32:
        AT(int32_t, event, field) = (int32_t)vmv_in_zigzag(in);
        return;
    case FIELD_U64:
        AT(uint64_t, event, field) = vmv_in_varint(in);
        return;
    case FIELD_I64:
        AT(int64_t, event, field) = vmv_in_zigzag(in);
        return;
    case FIELD_SIZE:
        AT(uint64_t, event, field) = vmv_in_size(in);
        return;
    case FIELD_NEAR:
        AT(uint64_t, event, field) = vmv_in_address(in, codec->addr);
        return;
    case FIELD_ADDR:
        AT(uint64_t, event, field) = codec->addr = vmv_in_address(in, codec->addr);
        return;
    case FIELD_TEXT:
        AT(const char *, event, field) = in_text(in, arena);
        return;
    case FIELD_MAPS:
        event->maps = vmv_in_mappings(in, arena, &event->map_count, event->addr);
        return;
    case FIELD_ARGV:
        in_argv(in, arena, event);
        return;
    case FIELD_RAW8:
        in_raw8(in, &AT(uint8_t, event, field));
        return;
    default:
        AT(uint64_t, event, field) = in_delta(in, field_last(codec, kind));
        return;
    }
}

// --- the general form

// Runs of a frame follow each other: the next one is expected where this one ends.
static void expect_next(struct vmv_codec *codec, const struct vmv_event *event) {
    if (event->type == VMV_EV_PAGES || event->type == VMV_EV_CONTENT) codec->addr = event->addr + event->len;
    if (event->type == VMV_EV_CONTENT && event->content_step) codec->content += event->len >> 12;
}

static void out_ids(struct vmv_codec *codec, struct vmv_out *out, const struct vmv_event *event) {
    vmv_out_zigzag(out, (int64_t)event->space - codec->space);
    vmv_out_zigzag(out, (int64_t)event->pid - codec->pid);
    vmv_out_zigzag(out, (int64_t)event->tid - codec->tid);
    codec->space = event->space;
    codec->pid = event->pid;
    codec->tid = event->tid;
}

static void in_ids(struct vmv_codec *codec, struct vmv_in *in) {
    codec->space = (uint32_t)(codec->space + (uint64_t)vmv_in_zigzag(in));
    codec->pid = (int32_t)((uint64_t)codec->pid + (uint64_t)vmv_in_zigzag(in));
    codec->tid = (int32_t)((uint64_t)codec->tid + (uint64_t)vmv_in_zigzag(in));
}

static bool ids_differ(const struct vmv_codec *codec, const struct vmv_event *event) {
    return event->space != codec->space || event->pid != codec->pid || event->tid != codec->tid;
}

static void body_encode(struct vmv_codec *codec, struct vmv_out *out, const struct vmv_event *event,
                        const struct layout *layout) {
    unsigned prefix = (ids_differ(codec, event) ? PREFIX_IDS : 0) | (event->stack ? PREFIX_STACK : 0);
    vmv_out_u8(out, (uint8_t)prefix);
    out_delta(out, event->t, &codec->t);
    if (prefix & PREFIX_IDS) out_ids(codec, out, event);
    if (prefix & PREFIX_STACK) out_delta(out, event->stack, &codec->stack);
    uint64_t present = 0;
    for (unsigned i = 0; i < layout->count; i++)
        if (field_present(event, &layout->fields[i])) present |= UINT64_C(1) << i;
    vmv_out_varint(out, present);
    for (unsigned i = 0; i < layout->count; i++)
        if (present >> i & 1) field_encode(codec, out, event, &layout->fields[i]);
    expect_next(codec, event);
}

// The length stands before the body: the body is written first, then moved if its length takes more than one byte.
static void general_encode(struct vmv_codec *codec, struct vmv_out *out, const struct vmv_event *event) {
    vmv_out_u8(out, (uint8_t)event->type);
    size_t at = out->length;
    vmv_out_u8(out, 0);
    body_encode(codec, out, event, &layouts[event->type]);
    size_t length = out->length - at - 1, extra = 0;
    for (size_t rest = length; rest >= 0x80; rest >>= 7) extra++;
    vmv_out_reserve(out, extra);
    if (extra) memmove(out->data + at + 1 + extra, out->data + at + 1, length);
    out->length = at;
    vmv_out_varint(out, length);
    out->length += length;
}

static bool body_decode(struct vmv_codec *codec, struct vmv_in *in, struct vmv_arena *arena, struct vmv_event *event) {
    unsigned prefix = vmv_in_u8(in);
    if (prefix & ~(unsigned)(PREFIX_IDS | PREFIX_STACK)) in->bad = true;
    event->t = in_delta(in, &codec->t);
    if (prefix & PREFIX_IDS) in_ids(codec, in);
    event->space = codec->space;
    event->pid = codec->pid;
    event->tid = codec->tid;
    if (prefix & PREFIX_STACK) event->stack = in_delta(in, &codec->stack);
    if (event->type == VMV_EV_NONE) return !in->bad;
    const struct layout *layout = &layouts[event->type];
    uint64_t present = vmv_in_varint(in);
    for (unsigned i = 0; i < layout->count && !in->bad; i++)
        if (present >> i & 1) field_decode(codec, in, arena, event, &layout->fields[i]);
    expect_next(codec, event);
    return !in->bad;
}

static bool general_decode(struct vmv_codec *codec, struct vmv_in *in, struct vmv_arena *arena, struct vmv_event *event,
                           uint8_t type) {
    uint64_t length = vmv_in_varint(in);
    if (!type || length > vmv_in_left(in)) in->bad = true;
    if (in->bad) return false;
    struct vmv_in body = {.data = vmv_in_bytes(in, (size_t)length), .length = (size_t)length};
    event->type = type < VMV_EV_TYPE_COUNT && layouts[type].count ? (enum vmv_event_type)type : VMV_EV_NONE;
    in->bad = !body_decode(codec, &body, arena, event);
    return !in->bad;
}

// --- the short form of a fault

static uint32_t fault_bits(const struct vmv_event *event) {
    return event->kind | (uint32_t)event->access << 3 | (uint32_t)event->kernel << 5 | (uint32_t)event->source << 6 |
           (uint32_t)event->page_flags << 8 | (event->len ? FAULT_LEN_BIT : 0);
}

static bool fault_fits(const struct vmv_codec *codec, const struct vmv_event *event) {
    return event->t >= codec->t && event->kind < 8 && event->access < 4 && event->source < 4;
}

static unsigned short_choices(const struct vmv_codec *codec, const struct vmv_event *event) {
    unsigned choices = SHORT_FAULT;
    if (ids_differ(codec, event)) choices |= SHORT_IDS;
    bool next = event->addr >> 12 == (codec->fault_addr >> 12) + 1;
    bool same = ((event->addr ^ codec->fault_addr) & 4095) == 0;
    unsigned mode = next ? (same ? ADDR_NEXT : ADDR_NEXT_OFFSET) : (same ? ADDR_PAGE : ADDR_BOTH);
    choices |= mode << SHORT_ADDR_SHIFT;
    if (event->pc != codec->pc) choices |= SHORT_PC;
    unsigned stack = !event->stack                      ? STACK_NONE
                     : event->stack == codec->stack     ? STACK_SAME
                     : event->stack == codec->stack + 1 ? STACK_NEXT
                                                        : STACK_DELTA;
    choices |= stack << SHORT_STACK_SHIFT;
    if (fault_bits(event) != codec->fault_bits || event->len != codec->fault_len) choices |= SHORT_BITS;
    return choices;
}

static void short_ids_encode(struct vmv_codec *codec, struct vmv_out *out, const struct vmv_event *event) {
    bool more = event->space != codec->space || event->pid != codec->pid;
    vmv_out_varint(out, zigzag((uint64_t)((int64_t)event->tid - codec->tid)) << 1 | more);
    if (more) vmv_out_zigzag(out, (int64_t)event->space - codec->space);
    if (more) vmv_out_zigzag(out, (int64_t)event->pid - codec->pid);
    codec->space = event->space;
    codec->pid = event->pid;
    codec->tid = event->tid;
}

static void short_ids_decode(struct vmv_codec *codec, struct vmv_in *in) {
    uint64_t coded = vmv_in_varint(in);
    codec->tid = (int32_t)((uint64_t)codec->tid + unzigzag(coded >> 1));
    if (!(coded & 1)) return;
    codec->space = (uint32_t)(codec->space + (uint64_t)vmv_in_zigzag(in));
    codec->pid = (int32_t)((uint64_t)codec->pid + (uint64_t)vmv_in_zigzag(in));
}

static void short_encode(struct vmv_codec *codec, struct vmv_out *out, const struct vmv_event *event) {
    unsigned choices = short_choices(codec, event);
    unsigned mode = choices >> SHORT_ADDR_SHIFT & 3, stack = choices >> SHORT_STACK_SHIFT & 3;
    vmv_out_u8(out, (uint8_t)choices);
    vmv_out_varint(out, event->t - codec->t);
    codec->t = event->t;
    if (choices & SHORT_IDS) short_ids_encode(codec, out, event);
    if (mode == ADDR_PAGE || mode == ADDR_BOTH)
        vmv_out_zigzag(out, (int64_t)(event->addr >> 12) - (int64_t)(codec->fault_addr >> 12));
    if (mode == ADDR_BOTH || mode == ADDR_NEXT_OFFSET) vmv_out_varint(out, event->addr & 4095);
    codec->fault_addr = event->addr;
    if (choices & SHORT_PC) out_delta(out, event->pc, &codec->pc);
    if (stack == STACK_DELTA) vmv_out_zigzag(out, (int64_t)(event->stack - codec->stack));
    if (stack != STACK_NONE) codec->stack = event->stack;
    if (!(choices & SHORT_BITS)) return;
    codec->fault_bits = fault_bits(event);
    codec->fault_len = event->len;
    vmv_out_varint(out, codec->fault_bits);
    if (event->len) vmv_out_size(out, event->len);
}

static void fault_bits_decode(struct vmv_codec *codec, struct vmv_in *in) {
    codec->fault_bits = (uint32_t)vmv_in_varint(in);
    codec->fault_len = codec->fault_bits & FAULT_LEN_BIT ? vmv_in_size(in) : 0;
}

static uint64_t short_stack_decode(struct vmv_codec *codec, struct vmv_in *in, unsigned mode) {
    if (mode == STACK_NONE) return 0;
    if (mode == STACK_NEXT) codec->stack++;
    if (mode == STACK_DELTA) codec->stack += (uint64_t)vmv_in_zigzag(in);
    return codec->stack;
}

static uint64_t short_address_decode(struct vmv_codec *codec, struct vmv_in *in, unsigned mode) {
    uint64_t page = codec->fault_addr >> 12, offset = codec->fault_addr & 4095;
    page += mode == ADDR_PAGE || mode == ADDR_BOTH ? (uint64_t)vmv_in_zigzag(in) : 1;
    if (mode == ADDR_BOTH || mode == ADDR_NEXT_OFFSET) offset = vmv_in_varint(in) & 4095;
    return page << 12 | offset;
}

static bool short_decode(struct vmv_codec *codec, struct vmv_in *in, struct vmv_event *event, unsigned choices) {
    event->type = VMV_EV_FAULT;
    event->t = codec->t += vmv_in_varint(in);
    if (choices & SHORT_IDS) short_ids_decode(codec, in);
    event->space = codec->space;
    event->pid = codec->pid;
    event->tid = codec->tid;
    event->addr = codec->fault_addr = short_address_decode(codec, in, choices >> SHORT_ADDR_SHIFT & 3);
    event->pc = choices & SHORT_PC ? in_delta(in, &codec->pc) : codec->pc;
    event->stack = short_stack_decode(codec, in, choices >> SHORT_STACK_SHIFT & 3);
    if (choices & SHORT_BITS) fault_bits_decode(codec, in);
    event->kind = codec->fault_bits & 7;
    event->access = codec->fault_bits >> 3 & 3;
    event->kernel = codec->fault_bits >> 5 & 1;
    event->source = codec->fault_bits >> 6 & 3;
    event->page_flags = (uint8_t)(codec->fault_bits >> 8);
    event->len = codec->fault_len;
    return !in->bad;
}

// --- both

void vmv_event_encode(struct vmv_codec *codec, struct vmv_out *out, const struct vmv_event *event) {
    if ((unsigned)event->type >= VMV_EV_TYPE_COUNT || !layouts[event->type].count) return;
    if (event->type == VMV_EV_FAULT && fault_fits(codec, event)) return short_encode(codec, out, event);
    general_encode(codec, out, event);
}

bool vmv_event_decode(struct vmv_codec *codec, struct vmv_in *in, struct vmv_arena *arena, struct vmv_event *event) {
    *event = (struct vmv_event){0};
    if (in->bad || in->at == in->length) return false;
    uint8_t first = vmv_in_u8(in);
    if (first & SHORT_FAULT) return short_decode(codec, in, event, first);
    return general_decode(codec, in, arena, event, first);
}
