// Runs vmvis-dwarf on an ELF file, or takes what it gave before from the user's cache.
#ifndef DWARF_LOAD_H
#define DWARF_LOAD_H

#include "dwarf_index.h"
#include "elf_file.h"

// NULL: `error` says why in one line.
struct dwarf_index *dwarf_load(const struct elf_file *file, char *error, size_t error_size);

#endif
