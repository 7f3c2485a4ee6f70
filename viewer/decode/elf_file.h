// An ELF file in memory: segments, sections, symbols. The file is not trusted: every offset, size and count is checked,
// what is malformed is left out. Addresses are those of the file (link-time); where it is mapped is not known here.
#ifndef ELF_FILE_H
#define ELF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_segment {
    uint32_t type, flags;                                 // PT_*, PF_*
    uint64_t offset, addr, file_size, memory_size, align; // bytes
};

struct elf_section {
    const char *name; // "" if it has none
    uint32_t type;    // SHT_*
    uint32_t link, info;
    uint64_t flags;                          // SHF_*
    uint64_t addr, offset, size, entry_size; // bytes; size as stored, before inflating
};

enum elf_symbol_table { ELF_SYMTAB, ELF_DYNSYM, ELF_DEBUGDATA };
struct elf_symbol {
    const char *name;     // mangled
    const char *version;  // "GLIBC_2.34", NULL if it has none
    uint64_t addr, size;  // bytes
    uint16_t section;     // index, SHN_*
    uint8_t type, bind;   // STT_*, STB_*
    uint8_t table;        // enum elf_symbol_table
    bool version_default; // name@@version
};

struct elf_file {
    const uint8_t *bytes;
    size_t length;
    uint16_t type, machine; // ET_*, EM_*
    bool is_64, is_little;
    uint64_t entry;
    struct elf_segment *segments;
    size_t segment_count;
    struct elf_section *sections; // as numbered in the file; 0 is the null section
    size_t section_count;
    struct elf_symbol *symbols; // defined ones by address, of equal ones the best name first
    size_t symbol_count;
    uint8_t build_id[32];
    size_t build_id_length;
    const char *debug_link; // .gnu_debuglink, NULL if there is none
    uint32_t debug_link_crc;
    const char *debug_alt; // .gnu_debugaltlink: a file that the debug information refers to
    struct elf_file_hidden *hidden;
};

// Takes over `bytes` (malloc), also when it fails. NULL: not ELF, or too damaged to say anything; `error` says what.
struct elf_file *elf_file_open(uint8_t *bytes, size_t length, char *error, size_t error_size);
void elf_file_close(struct elf_file *file); // accepts NULL

const struct elf_section *elf_file_section(const struct elf_file *file, const char *name); // the first, NULL if none
const struct elf_section *elf_file_section_at(const struct elf_file *file, uint64_t addr); // of allocated ones
// A section's bytes, inflated if they are compressed (zlib, zstd, the older .zdebug). They belong to the file. NULL: it
// has none in the file (NOBITS), is damaged, or claims to inflate beyond what a compressor can reach.
const uint8_t *elf_file_section_bytes(struct elf_file *file, const struct elf_section *section, size_t *length);
// `length` bytes at a link-time address, from the segments' file contents; NULL if they are not all in the file.
const uint8_t *elf_file_bytes_at(const struct elf_file *file, uint64_t addr, size_t length);
bool elf_file_offset(const struct elf_file *file, uint64_t addr, uint64_t *offset); // in the file, of an address

// The symbol that best names an address: the innermost function or object around it, else the last one without a size
// before it in the same section. NULL if there is none.
const struct elf_symbol *elf_file_symbol(const struct elf_file *file, uint64_t addr);
// By name, with or without "@VERSION". Global ones before local ones. NULL if there is none.
const struct elf_symbol *elf_file_symbol_named(const struct elf_file *file, const char *name);

#endif
