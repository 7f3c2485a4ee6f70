#include "elf_dynamic.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { ENTRIES_MAX = 4096, SLOTS_MAX = 4 << 20 };

struct dynamic {
    const struct elf_file *file;
    uint64_t symbols, strings, strings_size;
    uint64_t rela[2], rela_size[2]; // DT_RELA, DT_JMPREL
};

static void take(struct dynamic *dynamic, const Elf64_Dyn *entry) {
    uint64_t value = entry->d_un.d_val;
    switch (entry->d_tag) {
    case DT_SYMTAB:
        dynamic->symbols = value;
        break;
    case DT_STRTAB:
        dynamic->strings = value;
        break;
    case DT_STRSZ:
        dynamic->strings_size = value;
        break;
    case DT_RELA:
        dynamic->rela[0] = value;
        break;
    case DT_RELASZ:
        dynamic->rela_size[0] = value;
        break;
    case DT_JMPREL:
        dynamic->rela[1] = value;
        break;
    case DT_PLTRELSZ:
        dynamic->rela_size[1] = value;
        break;
    default:
        break;
    }
}

static bool read_dynamic(const struct elf_file *file, struct dynamic *dynamic) {
    *dynamic = (struct dynamic){.file = file};
    if (!file->is_64 || !file->is_little) return false;
    for (size_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *segment = &file->segments[i];
        if (segment->type != PT_DYNAMIC) continue;
        for (uint64_t at = 0; at < segment->file_size && at < ENTRIES_MAX * sizeof(Elf64_Dyn);
             at += sizeof(Elf64_Dyn)) {
            Elf64_Dyn entry;
            const uint8_t *bytes = elf_file_bytes_at(file, segment->addr + at, sizeof entry);
            if (!bytes) return true;
            memcpy(&entry, bytes, sizeof entry);
            if (entry.d_tag == DT_NULL) return true;
            take(dynamic, &entry);
        }
        return true;
    }
    return false;
}

static const char *name_at(const struct dynamic *dynamic, uint64_t offset) {
    if (offset >= dynamic->strings_size) return NULL;
    uint64_t left = dynamic->strings_size - offset;
    const uint8_t *text = elf_file_bytes_at(dynamic->file, dynamic->strings + offset, left);
    return text && memchr(text, 0, left) ? (const char *)text : NULL;
}

static const char *symbol_name(const struct dynamic *dynamic, uint64_t index) {
    Elf64_Sym symbol;
    if (!index || index > UINT32_MAX) return NULL;
    const uint8_t *bytes = elf_file_bytes_at(dynamic->file, dynamic->symbols + index * sizeof symbol, sizeof symbol);
    if (!bytes) return NULL;
    memcpy(&symbol, bytes, sizeof symbol);
    return name_at(dynamic, symbol.st_name);
}

enum slot_kind { SLOT_NONE, SLOT_SYMBOL, SLOT_INDIRECT };

// The types that put an address into a slot (psABI x86-64, "Relocation Types"; ELF for the Arm 64-bit architecture).
static enum slot_kind kind_of(const struct elf_file *file, uint64_t info) {
    uint32_t type = ELF64_R_TYPE(info);
    if (file->machine == EM_X86_64) {
        if (type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT) return SLOT_SYMBOL;
        return type == R_X86_64_IRELATIVE ? SLOT_INDIRECT : SLOT_NONE;
    }
    if (file->machine == EM_AARCH64) {
        if (type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT) return SLOT_SYMBOL;
        return type == R_AARCH64_IRELATIVE ? SLOT_INDIRECT : SLOT_NONE;
    }
    return SLOT_NONE;
}

static bool take_slot(const struct dynamic *dynamic, const Elf64_Rela *rela, bool lazy, struct elf_slot *slot) {
    enum slot_kind kind = kind_of(dynamic->file, rela->r_info);
    if (kind == SLOT_NONE) return false;
    *slot = (struct elf_slot){.addr = rela->r_offset,
                              .symbol = "",
                              .lazy = lazy && kind == SLOT_SYMBOL,
                              .indirect = kind == SLOT_INDIRECT,
                              .addend = (uint64_t)rela->r_addend};
    if (kind == SLOT_SYMBOL) slot->symbol = symbol_name(dynamic, ELF64_R_SYM(rela->r_info));
    return slot->symbol;
}

static int by_address(const void *left, const void *right) {
    const struct elf_slot *a = left, *b = right;
    return a->addr < b->addr ? -1 : a->addr > b->addr;
}

struct elf_slot *elf_dynamic_slots(const struct elf_file *file, size_t *count) {
    struct dynamic dynamic;
    struct elf_slot *slots = NULL;
    size_t room = 0;
    *count = 0;
    if (!read_dynamic(file, &dynamic)) return NULL;
    for (int table = 0; table < 2; table++)
        for (uint64_t at = 0; at + sizeof(Elf64_Rela) <= dynamic.rela_size[table]; at += sizeof(Elf64_Rela)) {
            Elf64_Rela rela;
            const uint8_t *bytes = elf_file_bytes_at(file, dynamic.rela[table] + at, sizeof rela);
            if (!bytes || *count >= SLOTS_MAX) break;
            memcpy(&rela, bytes, sizeof rela);
            if (*count == room) {
                struct elf_slot *more = realloc(slots, (room = room * 2 + 64) * sizeof *slots);
                if (!more) break;
                slots = more;
            }
            *count += take_slot(&dynamic, &rela, table, &slots[*count]);
        }
    if (*count) qsort(slots, *count, sizeof *slots, by_address);
    return slots;
}
