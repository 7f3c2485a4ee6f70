// What the dynamic linker reads of an object: its dynamic section, found by the program headers, as sections may be
// gone.
#ifndef ELF_DYNAMIC_H
#define ELF_DYNAMIC_H

#include "elf_file.h"

struct elf_slot { // a relocation that puts the place of a symbol into 8 bytes
    uint64_t addr;
    const char *symbol; // "" for IRELATIVE
    bool lazy;          // of DT_JMPREL
    bool indirect;      // IRELATIVE: what its function `addend` returns
    uint64_t addend;
};

// By address; belongs to the caller, free(). The names lie in the file. NULL and 0: there are none.
struct elf_slot *elf_dynamic_slots(const struct elf_file *file, size_t *count);

#endif
