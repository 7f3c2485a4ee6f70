// Symbols: of .symtab, of .dynsym with their versions, and of the small .symtab in .gnu_debugdata.
#include "elf_private.h"

#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { SYMBOLS_MAX = 20 << 20, VERSIONS_MAX = 1 << 15, VERSION_HIDDEN = 0x8000 };

struct versions {
    const char *names[VERSIONS_MAX];
    Elf_Data *of_symbols;
};

struct reading {
    struct elf_file *file;
    size_t room;
    struct versions *versions;
};

// ------------------------------------------------------------------------------------------------- versions

// The next entry of a chain within `data`; false at its end. Chains only go forward, so they end.
static bool step(int *at, uint64_t next, const Elf_Data *data) {
    if (next == 0 || next >= data->d_size - (size_t)*at) return false;
    *at += (int)next;
    return true;
}

static void read_definitions(struct versions *versions, Elf *elf, Elf_Scn *section, const GElf_Shdr *header) {
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Verdef def;
    GElf_Verdaux aux;
    int at = 0;
    if (!data || data->d_size > INT_MAX / 2) return;
    for (int left = VERSIONS_MAX; left-- && gelf_getverdef(data, at, &def);) {
        int of_name = at;
        if (def.vd_ndx < VERSIONS_MAX && step(&of_name, def.vd_aux, data) && gelf_getverdaux(data, of_name, &aux))
            versions->names[def.vd_ndx] = elf_strptr(elf, header->sh_link, aux.vda_name);
        if (!step(&at, def.vd_next, data)) break;
    }
}

static void read_needs(struct versions *versions, Elf *elf, Elf_Scn *section, const GElf_Shdr *header) {
    Elf_Data *data = elf_getdata(section, NULL);
    GElf_Verneed need;
    GElf_Vernaux aux;
    int at = 0;
    if (!data || data->d_size > INT_MAX / 2) return;
    for (int left = VERSIONS_MAX; left && gelf_getverneed(data, at, &need); left--) {
        int of_name = at;
        bool more = step(&of_name, need.vn_aux, data);
        for (; more && left && gelf_getvernaux(data, of_name, &aux); left--) {
            if (aux.vna_other < VERSIONS_MAX)
                versions->names[aux.vna_other] = elf_strptr(elf, header->sh_link, aux.vna_name);
            more = step(&of_name, aux.vna_next, data);
        }
        if (!left || !step(&at, need.vn_next, data)) break;
    }
}

static struct versions *read_versions(Elf *elf) {
    struct versions *versions = calloc(1, sizeof *versions);
    for (Elf_Scn *section = NULL; versions && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header)) continue;
        if (header.sh_type == SHT_GNU_verdef) read_definitions(versions, elf, section, &header);
        if (header.sh_type == SHT_GNU_verneed) read_needs(versions, elf, section, &header);
        if (header.sh_type == SHT_GNU_versym) versions->of_symbols = elf_getdata(section, NULL);
    }
    return versions;
}

static void set_version(const struct reading *reading, size_t index, struct elf_symbol *symbol) {
    GElf_Versym version = 0;
    const struct versions *versions = reading->versions;
    if (!versions || !versions->of_symbols || !gelf_getversym(versions->of_symbols, (int)index, &version)) return;
    const char *name = versions->names[version & ~VERSION_HIDDEN];
    if ((version & ~VERSION_HIDDEN) < 2 || !name) return; // 0: local, 1: global
    symbol->version = name;
    symbol->version_default = !(version & VERSION_HIDDEN);
}

// ------------------------------------------------------------------------------------------------- tables

static bool is_address(const struct elf_file *file, const GElf_Sym *symbol) {
    bool ordinary = symbol->st_shndx < SHN_LORESERVE && symbol->st_shndx < file->section_count;
    if (ordinary && symbol->st_shndx && !(file->sections[symbol->st_shndx].flags & SHF_ALLOC)) return false;
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    bool defined = symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS;
    return defined && type != STT_SECTION && type != STT_FILE && type != STT_TLS;
}

static struct elf_symbol *add(struct reading *reading) {
    struct elf_file *file = reading->file;
    if (file->symbol_count == reading->room) {
        size_t room = reading->room * 2 + 256;
        struct elf_symbol *symbols = realloc(file->symbols, room * sizeof *symbols);
        if (!symbols) return NULL;
        file->symbols = symbols;
        reading->room = room;
    }
    return &file->symbols[file->symbol_count++];
}

static void read_table(struct reading *reading, Elf *elf, Elf_Scn *section, const GElf_Shdr *header, uint8_t table) {
    Elf_Data *data = header->sh_entsize ? elf_getdata(section, NULL) : NULL;
    size_t count = data ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 1; i < count && i < INT_MAX && reading->file->symbol_count < SYMBOLS_MAX; i++) {
        GElf_Sym from;
        if (!gelf_getsym(data, (int)i, &from) || !is_address(reading->file, &from)) continue;
        const char *name = elf_strptr(elf, header->sh_link, from.st_name); // lies in the file's bytes
        struct elf_symbol *to = name && *name ? add(reading) : NULL;
        if (!to) continue;
        *to = (struct elf_symbol){.addr = from.st_value,
                                  .size = from.st_size,
                                  .section = from.st_shndx,
                                  .type = GELF_ST_TYPE(from.st_info),
                                  .bind = GELF_ST_BIND(from.st_info),
                                  .table = table,
                                  .name = name};
        if (table == ELF_DYNSYM) set_version(reading, i, to);
    }
}

static void read_tables(struct reading *reading, Elf *elf, uint32_t type, uint8_t table) {
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) && header.sh_type == type) read_table(reading, elf, section, &header, table);
    }
}

// An ELF file with a .symtab of the functions that .dynsym lacks, compressed with xz (gdb manual, "MiniDebugInfo").
static void read_debugdata(struct reading *reading) {
    struct elf_file *file = reading->file;
    size_t length, raw;
    uint8_t *inflated;
    const struct elf_section *section = elf_file_section(file, ".gnu_debugdata");
    const uint8_t *bytes = section ? elf_file_section_bytes(file, section, &length) : NULL;
    if (!bytes || !elf_inflate_xz(bytes, length, &inflated, &raw)) return;
    struct elf_file *inner = file->hidden->debugdata = elf_file_open_inner(inflated, raw);
    for (size_t i = 0; inner && i < inner->symbol_count; i++) {
        struct elf_symbol *to = inner->symbols[i].table == ELF_SYMTAB ? add(reading) : NULL;
        if (!to) continue;
        *to = inner->symbols[i];
        to->table = ELF_DEBUGDATA;
    }
}

// ------------------------------------------------------------------------------------------------- order

static int rank(const struct elf_symbol *symbol) {
    bool typed = symbol->type == STT_FUNC || symbol->type == STT_OBJECT || symbol->type == STT_GNU_IFUNC;
    int bind = symbol->bind == STB_GLOBAL ? 2 : symbol->bind == STB_WEAK ? 1 : 0;
    return typed * 4 + bind;
}

static int underscores(const char *name) {
    int count = 0;
    while (name[count] == '_') count++;
    return count;
}

static int by_address(const void *left, const void *right) {
    const struct elf_symbol *a = left, *b = right;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    if (rank(a) != rank(b)) return rank(b) - rank(a);
    bool a_old = a->version && !a->version_default, b_old = b->version && !b->version_default;
    if (a_old != b_old) return a_old - b_old;
    if (underscores(a->name) != underscores(b->name)) return underscores(a->name) - underscores(b->name);
    int order = strcmp(a->name, b->name);
    return order ? order : a->table - b->table;
}

static bool is_same(const struct elf_symbol *a, const struct elf_symbol *b) {
    return a->addr == b->addr && a->size == b->size && a->bind == b->bind && strcmp(a->name, b->name) == 0;
}

// What stands in several tables is kept once, with its version.
static void join_equal(struct elf_file *file) {
    size_t kept = 0;
    for (size_t i = 0; i < file->symbol_count; i++) {
        struct elf_symbol *last = kept ? &file->symbols[kept - 1] : NULL;
        if (!last || !is_same(last, &file->symbols[i]) || last->table == file->symbols[i].table) {
            file->symbols[kept++] = file->symbols[i];
        } else if (!last->version) {
            last->version = file->symbols[i].version;
            last->version_default = file->symbols[i].version_default;
        }
    }
    file->symbol_count = kept;
}

static void set_reach(struct elf_file *file) {
    uint64_t *reach = file->hidden->reach = calloc(file->symbol_count + 1, sizeof *reach), most = 0;
    if (!reach) file->symbol_count = 0;
    for (size_t i = 0; i < file->symbol_count; i++) {
        uint64_t end = file->symbols[i].addr + file->symbols[i].size;
        if (end > most && end >= file->symbols[i].addr) most = end;
        reach[i] = most;
    }
}

void elf_symbols_read(struct elf_file *file, bool inner) {
    struct reading reading = {.file = file, .versions = read_versions(file->hidden->elf)};
    read_tables(&reading, file->hidden->elf, SHT_SYMTAB, ELF_SYMTAB);
    read_tables(&reading, file->hidden->elf, SHT_DYNSYM, ELF_DYNSYM);
    if (!inner) read_debugdata(&reading);
    free(reading.versions);
    if (file->symbol_count) qsort(file->symbols, file->symbol_count, sizeof *file->symbols, by_address);
    join_equal(file);
    set_reach(file);
}

void elf_symbols_free(struct elf_file *file) {
    elf_file_close(file->hidden->debugdata);
    free(file->symbols);
    free(file->hidden->reach);
}

// ------------------------------------------------------------------------------------------------- looking up

static bool is_around(const struct elf_symbol *symbol, uint64_t addr) { return addr - symbol->addr < symbol->size; }

static size_t first_after(const struct elf_file *file, uint64_t addr) {
    size_t low = 0, high = file->symbol_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (file->symbols[middle].addr <= addr) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

// Of those that begin at the same address as symbols[i] and reach around `addr`, the first and so the best named.
static const struct elf_symbol *best_around(const struct elf_file *file, size_t i, uint64_t addr) {
    const struct elf_symbol *best = &file->symbols[i];
    for (; i > 0 && file->symbols[i - 1].addr == best->addr; i--)
        if (is_around(&file->symbols[i - 1], addr)) best = &file->symbols[i - 1];
    return best;
}

// Names of borders, such as _end, may lie behind all sections.
static const struct elf_symbol *exactly_at(const struct elf_file *file, size_t after, uint64_t addr) {
    const struct elf_symbol *found = NULL;
    for (size_t i = after; i-- > 0 && file->symbols[i].addr == addr;) found = &file->symbols[i];
    return found;
}

static const struct elf_symbol *sizeless_before(const struct elf_file *file, size_t after, uint64_t addr) {
    const struct elf_section *section = elf_file_section_at(file, addr);
    const struct elf_symbol *nearest = NULL;
    if (!section) return exactly_at(file, after, addr);
    for (size_t i = after; i-- > 0 && file->symbols[i].addr >= section->addr;) {
        if (nearest && file->symbols[i].addr != nearest->addr) break;
        if (file->symbols[i].size == 0) nearest = &file->symbols[i];
        if (!nearest) break; // behind the end of one with a size
    }
    return nearest;
}

const struct elf_symbol *elf_file_symbol(const struct elf_file *file, uint64_t addr) {
    size_t after = first_after(file, addr);
    for (size_t i = after; i-- > 0 && file->hidden->reach[i] > addr;)
        if (is_around(&file->symbols[i], addr)) return best_around(file, i, addr);
    return sizeless_before(file, after, addr);
}

static bool is_named(const struct elf_symbol *symbol, const char *name, size_t length, const char *version) {
    if (strncmp(symbol->name, name, length) != 0 || symbol->name[length]) return false;
    return !version || (symbol->version && strcmp(symbol->version, version) == 0);
}

const struct elf_symbol *elf_file_symbol_named(const struct elf_file *file, const char *name) {
    const char *at = strchr(name, '@'), *version = at > name ? at : NULL;
    size_t length = version ? (size_t)(at - name) : strlen(name);
    while (version && *version == '@') version++;
    const struct elf_symbol *found = NULL;
    int found_rank = -1;
    for (size_t i = 0; i < file->symbol_count; i++) {
        const struct elf_symbol *symbol = &file->symbols[i];
        if (!is_named(symbol, name, length, version)) continue;
        int here = rank(symbol) * 2 + (!symbol->version || symbol->version_default);
        if (here > found_rank) found = symbol, found_rank = here;
    }
    return found;
}
