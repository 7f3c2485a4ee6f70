#include "cfi.h"

#include "dwarf_bytes.h"

#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>

enum { INDIRECT = 0x80 }; // of DW_EH_PE_*, in none of the headers
enum { ENTRIES_MAX = 8 << 20, STATES = 64, STEPS = 100000 };

struct cie {
    uint64_t code_align;
    int64_t data_align;
    uint8_t return_register, encoding; // DW_EH_PE_*
    bool signal, sized;                // sized: augmentation data with its length ('z')
    const uint8_t *code, *code_end;
};

struct entry { // of one function or a part of it
    uint64_t start, end;
    const uint8_t *code, *code_end;
    uint32_t cie;
};

struct section {
    const uint8_t *bytes, *end;
    uint64_t addr;
    bool eh;
};

struct known_cie {
    const uint8_t *at;
    struct cie cie;
    bool good;
};

struct cfi {
    struct elf_file *file;
    struct known_cie *cies;
    size_t cie_count, cie_room;
    struct entry *entries; // by start, disjoint as far as the file is honest
    size_t count, room;
};

// ------------------------------------------------------------------------------------------------- reading

// False: an encoding that cannot be followed in a file alone.
static bool read_pointer(const struct section *section, struct dwarf_bytes *in, uint8_t encoding, uint64_t *value) {
    uint64_t place = section->addr + (uint64_t)(in->at - section->bytes);
    switch (encoding & 0x0f) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        *value = dwarf_unsigned(in, 8);
        break;
    case DW_EH_PE_uleb128:
        *value = dwarf_uleb(in);
        break;
    case DW_EH_PE_sleb128:
        *value = (uint64_t)dwarf_sleb(in);
        break;
    case DW_EH_PE_udata2:
        *value = dwarf_unsigned(in, 2);
        break;
    case DW_EH_PE_sdata2:
        *value = (uint64_t)dwarf_signed(in, 2);
        break;
    case DW_EH_PE_udata4:
        *value = dwarf_unsigned(in, 4);
        break;
    case DW_EH_PE_sdata4:
        *value = (uint64_t)dwarf_signed(in, 4);
        break;
    default:
        return false;
    }
    if ((encoding & 0x70) == DW_EH_PE_pcrel) *value += place;
    bool plain = (encoding & 0x70) == DW_EH_PE_pcrel || (encoding & 0x70) == 0;
    return plain && !(encoding & INDIRECT) && !in->bad;
}

static bool read_augmentation(const struct section *section, struct dwarf_bytes *in, const char *letters,
                              struct cie *cie) {
    uint64_t ignored;
    if (letters[0] != 'z') return letters[0] == 0; // what is behind an unknown letter cannot be found
    uint64_t length = dwarf_uleb(in);
    const uint8_t *block = dwarf_block(in, length);
    struct dwarf_bytes data = {block, block ? block + length : NULL, !block};
    cie->sized = true;
    for (const char *letter = letters + 1; *letter; letter++) {
        if (*letter == 'R') {
            cie->encoding = (uint8_t)dwarf_unsigned(&data, 1);
        } else if (*letter == 'S') {
            cie->signal = true;
        } else if (*letter == 'L') {
            dwarf_unsigned(&data, 1);
        } else if (*letter == 'P') {
            uint8_t encoding = (uint8_t)dwarf_unsigned(&data, 1);
            if (encoding != DW_EH_PE_omit) read_pointer(section, &data, encoding & 0x0f, &ignored);
        } else if (*letter != 'B') { // 'B': return addresses are signed (aarch64)
            return false;
        }
    }
    return !data.bad;
}

static bool read_cie(const struct section *section, struct dwarf_bytes in, struct cie *cie) {
    *cie = (struct cie){.encoding = DW_EH_PE_absptr};
    uint64_t version = dwarf_unsigned(&in, 1);
    size_t left = (size_t)(in.end - in.at), length = strnlen((const char *)in.at, left);
    if (in.bad || length == left || (version != 1 && version != 3 && version != 4)) return false;
    const char *letters = (const char *)in.at;
    in.at += length + 1;
    if (version == 4 && (dwarf_unsigned(&in, 1) != 8 || dwarf_unsigned(&in, 1) != 0)) return false;
    cie->code_align = dwarf_uleb(&in);
    cie->data_align = dwarf_sleb(&in);
    cie->return_register = (uint8_t)(version == 1 ? dwarf_unsigned(&in, 1) : dwarf_uleb(&in));
    if (!read_augmentation(section, &in, letters, cie)) return false;
    cie->code = in.at;
    cie->code_end = in.end;
    return !in.bad && cie->return_register < CFI_REGISTERS;
}

// A record: its length (u32, or u64 behind 0xffffffff), then an id that tells a CIE from an FDE. False: the end.
static bool next_record(struct dwarf_bytes *in, struct dwarf_bytes *record, bool *wide) {
    uint64_t length = dwarf_unsigned(in, 4);
    *wide = length == 0xffffffff;
    if (*wide) length = dwarf_unsigned(in, 8);
    const uint8_t *block = in->bad || length == 0 ? NULL : dwarf_block(in, length);
    *record = (struct dwarf_bytes){block, block ? block + length : NULL, !block};
    return block;
}

static bool is_cie(const struct section *section, uint64_t id, bool wide) {
    if (section->eh) return id == 0;
    return id == (wide ? UINT64_MAX : 0xffffffff);
}

// The number of the CIE at `at`, read at its first use. UINT32_MAX: it is malformed.
static uint32_t cie_at(struct cfi *cfi, const struct section *section, const uint8_t *at) {
    for (size_t i = cfi->cie_count; i-- > 0;)
        if (cfi->cies[i].at == at) return cfi->cies[i].good ? (uint32_t)i : UINT32_MAX;
    if (at < section->bytes || at >= section->end) return UINT32_MAX;
    if (cfi->cie_count == cfi->cie_room) {
        size_t room = cfi->cie_room * 2 + 16;
        struct known_cie *cies = realloc(cfi->cies, room * sizeof *cies);
        if (!cies) return UINT32_MAX;
        cfi->cies = cies;
        cfi->cie_room = room;
    }
    struct known_cie *known = &cfi->cies[cfi->cie_count++];
    struct dwarf_bytes in = {at, section->end, false}, record;
    bool wide;
    *known = (struct known_cie){.at = at};
    if (!next_record(&in, &record, &wide)) return UINT32_MAX;
    uint64_t id = dwarf_unsigned(&record, wide && !section->eh ? 8 : 4);
    known->good = is_cie(section, id, wide) && read_cie(section, record, &known->cie);
    return known->good ? (uint32_t)(cfi->cie_count - 1) : UINT32_MAX;
}

static void add_entry(struct cfi *cfi, const struct entry *entry) {
    if (entry->end <= entry->start || cfi->count >= ENTRIES_MAX) return;
    if (cfi->count == cfi->room) {
        size_t room = cfi->room * 2 + 256;
        struct entry *entries = realloc(cfi->entries, room * sizeof *entries);
        if (!entries) return;
        cfi->entries = entries;
        cfi->room = room;
    }
    cfi->entries[cfi->count++] = *entry;
}

static void read_fde(struct cfi *cfi, const struct section *section, struct dwarf_bytes in, const uint8_t *cie_place) {
    struct entry entry = {.cie = cie_at(cfi, section, cie_place)};
    if (entry.cie == UINT32_MAX) return;
    const struct cie *cie = &cfi->cies[entry.cie].cie;
    uint64_t length;
    if (!read_pointer(section, &in, cie->encoding, &entry.start)) return;
    if (!read_pointer(section, &in, cie->encoding & 0x0f, &length)) return;
    if (cie->sized) dwarf_block(&in, dwarf_uleb(&in));
    if (in.bad || length > UINT64_MAX - entry.start) return;
    entry.end = entry.start + length;
    entry.code = in.at;
    entry.code_end = in.end;
    add_entry(cfi, &entry);
}

static void read_section(struct cfi *cfi, const char *name, bool eh) {
    size_t length;
    const struct elf_section *from = elf_file_section(cfi->file, name);
    const uint8_t *bytes = from ? elf_file_section_bytes(cfi->file, from, &length) : NULL;
    if (!bytes) return;
    struct section section = {bytes, bytes + length, from->addr, eh};
    struct dwarf_bytes in = {bytes, bytes + length, false}, record;
    bool wide;
    while (next_record(&in, &record, &wide)) {
        const uint8_t *place = record.at;
        uint64_t id = dwarf_unsigned(&record, wide && !eh ? 8 : 4);
        if (record.bad || is_cie(&section, id, wide)) continue;
        uint64_t back = eh ? (uint64_t)(place - bytes) - id : id; // .eh_frame counts back from this field
        if (back < length) read_fde(cfi, &section, record, bytes + back);
    }
}

static int by_start(const void *left, const void *right) {
    const struct entry *a = left, *b = right;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->end < b->end ? -1 : a->end > b->end;
}

struct cfi *cfi_create(struct elf_file *file) {
    struct cfi *cfi = calloc(1, sizeof *cfi);
    if (!cfi) abort();
    cfi->file = file;
    if (!file->is_64 || !file->is_little) return cfi;
    read_section(cfi, ".eh_frame", true);
    read_section(cfi, ".debug_frame", false);
    if (cfi->count) qsort(cfi->entries, cfi->count, sizeof *cfi->entries, by_start);
    return cfi;
}

void cfi_destroy(struct cfi *cfi) {
    if (!cfi) return;
    free(cfi->cies);
    free(cfi->entries);
    free(cfi);
}

size_t cfi_count(const struct cfi *cfi) { return cfi->count; }

// ------------------------------------------------------------------------------------------------- running

struct machine {
    const struct cie *cie;
    struct cfi_row *row, initial, saved[STATES];
    struct cfi_rule nowhere; // of registers that are not followed
    unsigned depth, steps;
    uint64_t at, wanted;
};

static struct cfi_rule *rule_of(struct machine *m, uint64_t reg) {
    return reg < CFI_REGISTERS ? &m->row->rules[reg] : &m->nowhere;
}

static void set_offset(struct machine *m, uint64_t reg, int64_t factored, uint8_t kind) {
    *rule_of(m, reg) = (struct cfi_rule){.kind = kind, .offset = factored * m->cie->data_align};
}

static void set_expression(struct machine *m, struct dwarf_bytes *in, struct cfi_rule *rule, uint8_t kind) {
    uint64_t length = dwarf_uleb(in);
    const uint8_t *block = dwarf_block(in, length);
    *rule = (struct cfi_rule){.kind = kind, .expression = block, .length = block ? length : 0};
}

static void set_cfa(struct machine *m, uint64_t reg, int64_t offset) {
    m->row->cfa = (struct cfi_rule){.kind = CFI_FROM_REGISTER, .reg = (uint8_t)reg, .offset = offset};
    if (reg >= CFI_REGISTERS) m->row->cfa.kind = CFI_UNDEFINED;
}

static void restore(struct machine *m, uint64_t reg) {
    if (reg < CFI_REGISTERS) m->row->rules[reg] = m->initial.rules[reg];
}

static bool save(struct machine *m) {
    if (m->depth == STATES) return false;
    m->saved[m->depth++] = *m->row;
    return true;
}

static bool recall(struct machine *m) {
    if (m->depth == 0) return false;
    *m->row = m->saved[--m->depth];
    return true;
}

static void advance(struct machine *m, uint64_t delta) { m->at += delta * m->cie->code_align; }

static bool run_register(struct machine *m, struct dwarf_bytes *in, unsigned op) {
    uint64_t reg = dwarf_uleb(in);
    switch (op) {
    case DW_CFA_offset_extended:
        set_offset(m, reg, (int64_t)dwarf_uleb(in), CFI_AT_CFA);
        return true;
    case DW_CFA_offset_extended_sf:
        set_offset(m, reg, dwarf_sleb(in), CFI_AT_CFA);
        return true;
    case DW_CFA_GNU_negative_offset_extended:
        set_offset(m, reg, -(int64_t)dwarf_uleb(in), CFI_AT_CFA);
        return true;
    case DW_CFA_val_offset:
        set_offset(m, reg, (int64_t)dwarf_uleb(in), CFI_IS_CFA);
        return true;
    case DW_CFA_val_offset_sf:
        set_offset(m, reg, dwarf_sleb(in), CFI_IS_CFA);
        return true;
    case DW_CFA_restore_extended:
        restore(m, reg);
        return true;
    case DW_CFA_undefined:
        *rule_of(m, reg) = (struct cfi_rule){.kind = CFI_UNDEFINED};
        return true;
    case DW_CFA_same_value:
        *rule_of(m, reg) = (struct cfi_rule){.kind = CFI_SAME};
        return true;
    case DW_CFA_register: {
        uint64_t other = dwarf_uleb(in);
        *rule_of(m, reg) =
            (struct cfi_rule){.kind = other < CFI_REGISTERS ? CFI_REGISTER : CFI_UNDEFINED, .reg = (uint8_t)other};
        return true;
    }
    case DW_CFA_expression:
        set_expression(m, in, rule_of(m, reg), CFI_AT_EXPRESSION);
        return true;
    case DW_CFA_val_expression:
        set_expression(m, in, rule_of(m, reg), CFI_IS_EXPRESSION);
        return true;
    case DW_CFA_def_cfa:
        set_cfa(m, reg, (int64_t)dwarf_uleb(in));
        return true;
    case DW_CFA_def_cfa_sf:
        set_cfa(m, reg, dwarf_sleb(in) * m->cie->data_align);
        return true;
    case DW_CFA_def_cfa_register:
        set_cfa(m, reg, m->row->cfa.offset);
        return true;
    default:
        return false;
    }
}

static bool run_other(struct machine *m, struct dwarf_bytes *in, unsigned op) {
    switch (op) {
    case DW_CFA_nop:
        return true;
    case DW_CFA_advance_loc1:
        advance(m, dwarf_unsigned(in, 1));
        return true;
    case DW_CFA_advance_loc2:
        advance(m, dwarf_unsigned(in, 2));
        return true;
    case DW_CFA_advance_loc4:
        advance(m, dwarf_unsigned(in, 4));
        return true;
    case DW_CFA_remember_state:
        return save(m);
    case DW_CFA_restore_state:
        return recall(m);
    case DW_CFA_def_cfa_offset:
        m->row->cfa.offset = (int64_t)dwarf_uleb(in);
        return true;
    case DW_CFA_def_cfa_offset_sf:
        m->row->cfa.offset = dwarf_sleb(in) * m->cie->data_align;
        return true;
    case DW_CFA_def_cfa_expression:
        set_expression(m, in, &m->row->cfa, CFI_IS_EXPRESSION);
        return true;
    case DW_CFA_GNU_args_size:
        dwarf_uleb(in);
        return true;
    case DW_CFA_GNU_window_save: // on aarch64: the return address changes between signed and not
        return true;
    default:
        return run_register(m, in, op);
    }
}

// Runs to the wanted address. False: malformed.
static bool run(struct machine *m, const uint8_t *code, const uint8_t *end) {
    struct dwarf_bytes in = {code, end, false};
    while (in.at < in.end && m->at <= m->wanted) {
        unsigned op = (unsigned)dwarf_unsigned(&in, 1), low = op & 0x3f;
        if (++m->steps > STEPS) return false;
        if ((op & 0xc0) == DW_CFA_advance_loc) {
            advance(m, low);
        } else if ((op & 0xc0) == DW_CFA_offset) {
            set_offset(m, low, (int64_t)dwarf_uleb(&in), CFI_AT_CFA);
        } else if ((op & 0xc0) == DW_CFA_restore) {
            restore(m, low);
        } else if (!run_other(m, &in, op)) {
            return false;
        }
    }
    return !in.bad;
}

static const struct entry *entry_at(const struct cfi *cfi, uint64_t addr) {
    size_t low = 0, high = cfi->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (cfi->entries[middle].start <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    for (size_t i = low; i-- > 0 && low - i <= 8;) // .debug_frame may say the same again
        if (addr < cfi->entries[i].end) return &cfi->entries[i];
    return NULL;
}

bool cfi_find(const struct cfi *cfi, uint64_t addr, struct cfi_row *row) {
    const struct entry *entry = entry_at(cfi, addr);
    if (!entry) return false;
    const struct cie *cie = &cfi->cies[entry->cie].cie;
    struct machine *m = calloc(1, sizeof *m);
    if (!m) return false;
    *row = (struct cfi_row){.return_register = cie->return_register, .signal = cie->signal};
    for (size_t i = 0; i < CFI_REGISTERS; i++) row->rules[i].kind = CFI_SAME;
    *m = (struct machine){.cie = cie, .row = row, .at = entry->start, .wanted = UINT64_MAX};
    bool good = run(m, cie->code, cie->code_end);
    m->initial = *row;
    m->at = entry->start;
    m->wanted = addr;
    good = good && run(m, entry->code, entry->code_end);
    free(m);
    return good && row->cfa.kind != CFI_UNDEFINED;
}
