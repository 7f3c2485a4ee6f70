// An ELF file as libdwarf wants to see it: its sections, inflated by us.
#ifndef DWARF_OBJECT_H
#define DWARF_OBJECT_H

#include "elf_file.h"

#include <libdwarf.h>

// NULL: it has no debug information, or libdwarf refuses it; `error` says why. The file must live as long.
Dwarf_Debug dwarf_object_open(struct elf_file *file, char *error, size_t error_size);
void dwarf_object_close(Dwarf_Debug debug);

#endif
