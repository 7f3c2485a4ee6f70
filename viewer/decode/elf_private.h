// What the files that read ELF share.
#ifndef ELF_PRIVATE_H
#define ELF_PRIVATE_H

#include "arena.h"
#include "elf_file.h"

#include <libelf.h>

struct elf_inflated {
    uint8_t *bytes;
    size_t length;
    bool tried;
};

struct elf_file_hidden {
    uint8_t *bytes;
    Elf *elf;
    struct vmv_arena arena;        // names, arrays
    struct elf_inflated *inflated; // by section
    uint64_t *reach;               // by symbol: the largest end of it and of all before it
    struct elf_file *debugdata;    // the ELF file within .gnu_debugdata
};

// Fills `out` with what a compressed section holds. False: it is damaged or claims too much.
bool elf_inflate(const struct elf_file *file, const struct elf_section *section, const uint8_t *stored,
                 struct elf_inflated *out);
// xz, as .gnu_debugdata has it. False: as above. *out is malloc'ed.
bool elf_inflate_xz(const uint8_t *stored, size_t length, uint8_t **out, size_t *out_length);

void elf_symbols_read(struct elf_file *file, bool inner); // fills file->symbols
// As elf_file_open(), of a file within a file: what is within that in turn is not looked at.
struct elf_file *elf_file_open_inner(uint8_t *bytes, size_t length);
void elf_symbols_free(struct elf_file *file);

#endif
