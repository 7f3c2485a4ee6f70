#include "elf_private.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SEGMENTS_MAX = 4096, SECTIONS_MAX = 1 << 20, NOTES_MAX = 1 << 20 };

static bool lies_within(uint64_t offset, uint64_t size, uint64_t length) {
    return offset <= length && size <= length - offset;
}

static const char *copy_name(struct elf_file *file, const char *name) {
    return name ? vmv_arena_strdup(&file->hidden->arena, name, strlen(name)) : "";
}

static bool read_header(struct elf_file *file, char *error, size_t error_size) {
    GElf_Ehdr header;
    Elf *elf = file->hidden->elf;
    if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header)) {
        snprintf(error, error_size, "not an ELF file");
        return false;
    }
    file->type = header.e_type;
    file->machine = header.e_machine;
    file->entry = header.e_entry;
    file->is_64 = header.e_ident[EI_CLASS] == ELFCLASS64;
    file->is_little = header.e_ident[EI_DATA] == ELFDATA2LSB;
    return true;
}

static void read_segments(struct elf_file *file) {
    size_t count = 0;
    Elf *elf = file->hidden->elf;
    if (elf_getphdrnum(elf, &count) != 0 || count > SEGMENTS_MAX) return;
    file->segments = vmv_arena_alloc(&file->hidden->arena, (count + 1) * sizeof *file->segments);
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr from;
        if (!gelf_getphdr(elf, (int)i, &from)) break;
        file->segments[file->segment_count++] = (struct elf_segment){.type = from.p_type,
                                                                     .flags = from.p_flags,
                                                                     .offset = from.p_offset,
                                                                     .addr = from.p_vaddr,
                                                                     .file_size = from.p_filesz,
                                                                     .memory_size = from.p_memsz,
                                                                     .align = from.p_align};
    }
}

static void read_sections(struct elf_file *file) {
    size_t count = 0, names = 0;
    Elf *elf = file->hidden->elf;
    if (elf_getshdrnum(elf, &count) != 0 || count > SECTIONS_MAX) return;
    bool named = elf_getshdrstrndx(elf, &names) == 0;
    file->sections = vmv_arena_alloc(&file->hidden->arena, (count + 1) * sizeof *file->sections);
    for (size_t i = 0; i < count; i++) {
        GElf_Shdr from;
        Elf_Scn *section = elf_getscn(elf, i);
        if (!section || !gelf_getshdr(section, &from)) break;
        struct elf_section *to = &file->sections[file->section_count++];
        *to = (struct elf_section){.type = from.sh_type,
                                   .link = from.sh_link,
                                   .info = from.sh_info,
                                   .flags = from.sh_flags,
                                   .addr = from.sh_addr,
                                   .offset = from.sh_offset,
                                   .size = from.sh_size,
                                   .entry_size = from.sh_entsize};
        to->name = copy_name(file, named ? elf_strptr(elf, names, from.sh_name) : NULL);
    }
    file->hidden->inflated = calloc(file->section_count + 1, sizeof *file->hidden->inflated);
    if (!file->hidden->inflated) file->section_count = 0;
}

// A note: u32 name size, u32 descriptor size, u32 type, name and descriptor padded to 4 (gABI, "Note Section").
static bool find_build_id(struct elf_file *file, const uint8_t *at, size_t length) {
    while (length >= 12) {
        uint32_t head[3]; // name size, descriptor size, type
        memcpy(head, at, sizeof head);
        uint64_t name = ((uint64_t)head[0] + 3) & ~3ull, desc = ((uint64_t)head[1] + 3) & ~3ull;
        if (name > length - 12 || desc > length - 12 - name) return false;
        bool gnu = head[2] == NT_GNU_BUILD_ID && head[0] == 4 && memcmp(at + 12, "GNU", 4) == 0;
        if (gnu && head[1] && head[1] <= sizeof file->build_id) {
            memcpy(file->build_id, at + 12 + name, head[1]);
            file->build_id_length = head[1];
            return true;
        }
        at += 12 + name + desc;
        length -= 12 + name + desc;
    }
    return false;
}

static bool build_id_in(struct elf_file *file, uint64_t offset, uint64_t size) {
    return size <= NOTES_MAX && lies_within(offset, size, file->length) &&
           find_build_id(file, file->bytes + offset, size);
}

static void read_build_id(struct elf_file *file) {
    if (!file->is_little) return;
    for (size_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *segment = &file->segments[i];
        if (segment->type == PT_NOTE && build_id_in(file, segment->offset, segment->file_size)) return;
    }
    for (size_t i = 0; i < file->section_count; i++) { // a debug file's segments have no bytes
        const struct elf_section *section = &file->sections[i];
        if (section->type == SHT_NOTE && build_id_in(file, section->offset, section->size)) return;
    }
}

static const char *text_of(struct elf_file *file, const char *section_name, const uint8_t **bytes, size_t *length) {
    const struct elf_section *section = elf_file_section(file, section_name);
    *bytes = section ? elf_file_section_bytes(file, section, length) : NULL;
    size_t name = *bytes ? strnlen((const char *)*bytes, *length) : 0;
    if (!name || name >= *length) return NULL;
    return vmv_arena_strdup(&file->hidden->arena, (const char *)*bytes, name);
}

// A file name, and for .gnu_debuglink behind it, padded to 4, the checksum of that file (gdb, "Separate Debug Files").
static void read_debug_links(struct elf_file *file) {
    const uint8_t *bytes;
    size_t length;
    file->debug_link = text_of(file, ".gnu_debuglink", &bytes, &length);
    if (file->debug_link) {
        size_t at = (strlen(file->debug_link) + 4) & ~(size_t)3;
        if (at + 4 <= length) memcpy(&file->debug_link_crc, bytes + at, 4);
    }
    file->debug_alt = text_of(file, ".gnu_debugaltlink", &bytes, &length);
}

static bool read_all(struct elf_file *file, bool inner, char *error, size_t error_size) {
    file->hidden->elf = elf_memory((char *)file->hidden->bytes, file->length);
    if (!read_header(file, error, error_size)) return false;
    read_segments(file);
    read_sections(file);
    read_build_id(file);
    read_debug_links(file);
    elf_symbols_read(file, inner);
    return true;
}

static struct elf_file *open_bytes(uint8_t *bytes, size_t length, bool inner, char *error, size_t error_size) {
    struct elf_file *file = calloc(1, sizeof *file);
    if (file) file->hidden = calloc(1, sizeof *file->hidden);
    if (!file || !file->hidden) {
        snprintf(error, error_size, "out of memory");
        free(file);
        free(bytes);
        return NULL;
    }
    file->hidden->bytes = bytes;
    file->bytes = bytes;
    file->length = length;
    elf_version(EV_CURRENT);
    if (read_all(file, inner, error, error_size)) return file;
    elf_file_close(file);
    return NULL;
}

struct elf_file *elf_file_open(uint8_t *bytes, size_t length, char *error, size_t error_size) {
    return open_bytes(bytes, length, false, error, error_size);
}

struct elf_file *elf_file_open_inner(uint8_t *bytes, size_t length) {
    char error[64];
    return open_bytes(bytes, length, true, error, sizeof error);
}

void elf_file_close(struct elf_file *file) {
    if (!file) return;
    struct elf_file_hidden *hidden = file->hidden;
    for (size_t i = 0; hidden->inflated && i < file->section_count; i++) free(hidden->inflated[i].bytes);
    elf_symbols_free(file);
    free(hidden->inflated);
    if (hidden->elf) elf_end(hidden->elf);
    vmv_arena_free(&hidden->arena);
    free(hidden->bytes);
    free(hidden);
    free(file);
}

const struct elf_section *elf_file_section(const struct elf_file *file, const char *name) {
    for (size_t i = 1; i < file->section_count; i++)
        if (strcmp(file->sections[i].name, name) == 0) return &file->sections[i];
    return NULL;
}

const struct elf_section *elf_file_section_at(const struct elf_file *file, uint64_t addr) {
    for (size_t i = 1; i < file->section_count; i++) {
        const struct elf_section *section = &file->sections[i];
        bool no_space = (section->flags & SHF_TLS) && section->type == SHT_NOBITS; // .tbss takes no addresses
        if (!(section->flags & SHF_ALLOC) || no_space) continue;
        if (addr >= section->addr && addr - section->addr < section->size) return section;
    }
    return NULL;
}

static bool is_compressed(const struct elf_section *section) {
    return section->flags & SHF_COMPRESSED || strncmp(section->name, ".zdebug", 7) == 0;
}

const uint8_t *elf_file_section_bytes(struct elf_file *file, const struct elf_section *section, size_t *length) {
    *length = 0;
    bool has = section->type != SHT_NOBITS && section->type != SHT_NULL;
    if (!has || !lies_within(section->offset, section->size, file->length)) return NULL;
    const uint8_t *stored = file->bytes + section->offset;
    *length = section->size;
    if (!is_compressed(section)) return stored;
    struct elf_inflated *inflated = &file->hidden->inflated[section - file->sections];
    if (!inflated->tried) elf_inflate(file, section, stored, inflated);
    inflated->tried = true;
    *length = inflated->length;
    return inflated->bytes;
}

static const struct elf_segment *segment_at(const struct elf_file *file, uint64_t addr) {
    for (size_t i = 0; i < file->segment_count; i++) {
        const struct elf_segment *segment = &file->segments[i];
        if (segment->type == PT_LOAD && addr >= segment->addr && addr - segment->addr < segment->file_size)
            return segment;
    }
    return NULL;
}

bool elf_file_offset(const struct elf_file *file, uint64_t addr, uint64_t *offset) {
    const struct elf_segment *segment = segment_at(file, addr);
    if (segment) *offset = segment->offset + (addr - segment->addr);
    return segment;
}

const uint8_t *elf_file_bytes_at(const struct elf_file *file, uint64_t addr, size_t length) {
    const struct elf_segment *segment = segment_at(file, addr);
    if (!segment || !lies_within(segment->offset, segment->file_size, file->length)) return NULL;
    uint64_t into = addr - segment->addr;
    return length <= segment->file_size - into ? file->bytes + segment->offset + into : NULL;
}
