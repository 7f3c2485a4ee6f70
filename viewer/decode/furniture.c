#include "furniture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 8, LOOK_BYTES = 4 << 20, CHUNK = 65536, ENTRIES_MOST = 1 << 17, AUX_MOST = 64, TEXT_MOST = 1 << 17 };

// linux, include/uapi/linux/auxvec.h and arch/x86/include/uapi/asm/auxvec.h; elf.h
static const struct {
    uint8_t type;
    const char *name;
    bool text; // the value is the address of one
} aux_types[] = {
    {2, "AT_EXECFD", false},       {3, "AT_PHDR", false},     {4, "AT_PHENT", false},
    {5, "AT_PHNUM", false},        {6, "AT_PAGESZ", false},   {7, "AT_BASE", false},
    {8, "AT_FLAGS", false},        {9, "AT_ENTRY", false},    {10, "AT_NOTELF", false},
    {11, "AT_UID", false},         {12, "AT_EUID", false},    {13, "AT_GID", false},
    {14, "AT_EGID", false},        {15, "AT_PLATFORM", true}, {16, "AT_HWCAP", false},
    {17, "AT_CLKTCK", false},      {23, "AT_SECURE", false},  {24, "AT_BASE_PLATFORM", true},
    {25, "AT_RANDOM", false},      {26, "AT_HWCAP2", false},  {27, "AT_RSEQ_FEATURE_SIZE", false},
    {28, "AT_RSEQ_ALIGN", false},  {29, "AT_HWCAP3", false},  {30, "AT_HWCAP4", false},
    {31, "AT_EXECFN", true},       {32, "AT_SYSINFO", false}, {33, "AT_SYSINFO_EHDR", false},
    {51, "AT_MINSIGSTKSZ", false},
};
enum { AUX_TYPES = sizeof aux_types / sizeof *aux_types, AT_VDSO = 33 };

static int aux_index(uint64_t type) {
    for (int i = 0; i < AUX_TYPES; i++)
        if (aux_types[i].type == type) return i;
    return -1;
}

const char *furniture_aux_name(uint64_t type) {
    int index = aux_index(type);
    return index < 0 ? NULL : aux_types[index].name;
}

// ------------------------------------------------------------------------------------------------- finding

static const struct vmv_mapping *named(const struct vmv_space *space, const char *name) {
    for (size_t i = 0; i < space->map_count; i++)
        if (strcmp(space->maps[i].name, name) == 0) return &space->maps[i];
    return NULL;
}

// Of the entry for the vdso, whose value nothing else on the stack has behind a 33.
static bool find_vdso_entry(struct decode *d, uint32_t space, const struct vmv_mapping *stack, uint64_t vdso,
                            uint64_t *at) {
    uint8_t *bytes = malloc(CHUNK + 2 * WORD);
    uint64_t low = stack->end - stack->start > LOOK_BYTES ? stack->end - LOOK_BYTES : stack->start;
    const uint64_t wanted[2] = {AT_VDSO, vdso};
    bool found = false;
    for (uint64_t end = stack->end; bytes && !found && end > low; end -= CHUNK) {
        uint64_t begin = end - low > CHUNK ? end - CHUNK : low;
        size_t length = (size_t)(end - begin) + (end < stack->end ? WORD : 0);
        struct timeline_run runs[64];
        timeline_read(decode_timeline(d), space, begin, bytes, length, runs, 64);
        for (size_t i = 0; i + sizeof wanted <= length && !found; i += WORD)
            if (memcmp(bytes + i, wanted, sizeof wanted) == 0) found = true, *at = begin + i;
        if (begin == low) break;
    }
    free(bytes);
    return found;
}

static bool word(struct decode *d, uint32_t space, uint64_t at, uint64_t *value) {
    return decode_read_u64(d, space, at, value);
}

static bool find_auxv(struct decode *d, uint32_t space, uint64_t entry, struct furniture *out) {
    uint64_t type, at = entry;
    for (int left = AUX_MOST; left && word(d, space, at - 2 * WORD, &type) && aux_index(type) >= 0; left--)
        at -= 2 * WORD;
    out->auxv = at;
    for (out->aux_count = 0; out->aux_count < AUX_MOST; out->aux_count++, at += 2 * WORD) {
        if (!word(d, space, at, &type)) return false;
        if (type == 0) break;
    }
    out->auxv_end = at;
    return out->aux_count < AUX_MOST;
}

// Goes down an array of pointers that ends, below `end`, with a 0. Returns how many there are before what `stop` says.
static bool count_down(struct decode *d, uint32_t space, uint64_t end, bool to_argc, uint64_t *count) {
    uint64_t value;
    if (!word(d, space, end - WORD, &value) || value) return false;
    for (*count = 0; *count < ENTRIES_MOST; ++*count) {
        if (!word(d, space, end - (*count + 2) * WORD, &value)) return false;
        if (to_argc ? value == *count : value == 0) return true;
    }
    return false;
}

bool decode_furniture(struct decode *d, uint32_t space_id, struct furniture *out) {
    const struct vmv_world *world = timeline_world(decode_timeline(d));
    const struct vmv_space *space = world ? vmv_world_space(world, space_id) : NULL;
    const struct vmv_mapping *stack = space ? named(space, "[stack]") : NULL,
                             *vdso = space ? named(space, "[vdso]") : NULL;
    uint64_t entry;
    *out = (struct furniture){0};
    if (!stack || !vdso || !find_vdso_entry(d, space_id, stack, vdso->start, &entry)) return false;
    if (!find_auxv(d, space_id, entry, out) || !count_down(d, space_id, out->auxv, false, &out->env_count))
        return false;
    out->envp = out->auxv - (out->env_count + 1) * WORD;
    if (!count_down(d, space_id, out->envp, true, &out->argc)) return false;
    out->argv = out->envp - (out->argc + 1) * WORD;
    out->argc_at = out->argv - WORD;
    return true;
}

// ------------------------------------------------------------------------------------------------- items

static struct furniture_item pointer_item(struct decode *d, uint32_t space, uint8_t kind, uint64_t array,
                                          uint64_t number) {
    struct furniture_item item = {.kind = kind, .number = number, .pointer = true};
    if (!word(d, space, array + number * WORD, &item.value)) return (struct furniture_item){0};
    size_t known;
    if (!decode_read_text(d, space, item.value, item.text, sizeof item.text)) { // longer, or not known
        decode_read(d, space, item.value, item.text, sizeof item.text - 1, &known);
        item.text[known] = 0;
    }
    return item;
}

struct furniture_item furniture_argument(struct decode *d, uint32_t space, const struct furniture *f, uint64_t number) {
    return number < f->argc ? pointer_item(d, space, FURNITURE_ARGUMENT, f->argv, number) : (struct furniture_item){0};
}

struct furniture_item furniture_environment(struct decode *d, uint32_t space, const struct furniture *f,
                                            uint64_t number) {
    return number < f->env_count ? pointer_item(d, space, FURNITURE_ENVIRONMENT, f->envp, number)
                                 : (struct furniture_item){0};
}

struct furniture_item furniture_auxiliary(struct decode *d, uint32_t space, const struct furniture *f,
                                          uint64_t number) {
    struct furniture_item item = {.kind = FURNITURE_AUXILIARY, .number = number, .pointer = true};
    uint64_t at = f->auxv + number * 2 * WORD;
    if (number >= f->aux_count || !word(d, space, at, &item.type) || !word(d, space, at + WORD, &item.value))
        return (struct furniture_item){0};
    int index = aux_index(item.type);
    if (index >= 0 && aux_types[index].text) decode_read_text(d, space, item.value, item.text, sizeof item.text);
    return item;
}

// The text of an array's pointers that an address lies in: they follow each other upwards.
static struct furniture_item text_at(struct decode *d, uint32_t space, const struct furniture *f, uint8_t kind,
                                     uint64_t addr) {
    uint64_t array = kind == FURNITURE_ARGUMENT ? f->argv : f->envp, value;
    uint64_t count = kind == FURNITURE_ARGUMENT ? f->argc : f->env_count;
    for (uint64_t i = count; i-- > 0;) {
        if (!word(d, space, array + i * WORD, &value) || value > addr || addr - value > TEXT_MOST) continue;
        struct furniture_item item = pointer_item(d, space, kind, array, i);
        bool within = addr - value <= strlen(item.text);
        item.pointer = false;
        return within ? item : (struct furniture_item){0};
    }
    return (struct furniture_item){0};
}

struct furniture_item furniture_at(struct decode *d, uint32_t space, const struct furniture *f, uint64_t addr) {
    if (addr >= f->argv && addr < f->argv + f->argc * WORD)
        return furniture_argument(d, space, f, (addr - f->argv) / WORD);
    if (addr >= f->envp && addr < f->envp + f->env_count * WORD)
        return furniture_environment(d, space, f, (addr - f->envp) / WORD);
    if (addr >= f->auxv && addr < f->auxv_end) return furniture_auxiliary(d, space, f, (addr - f->auxv) / (2 * WORD));
    if (addr < f->auxv_end) return (struct furniture_item){0};
    struct furniture_item item = text_at(d, space, f, FURNITURE_ARGUMENT, addr);
    return item.kind ? item : text_at(d, space, f, FURNITURE_ENVIRONMENT, addr);
}
