// One object's DWARF, read with libdwarf into an index.
#ifndef DWARF_READ_H
#define DWARF_READ_H

#include "dwarf_index.h"
#include "line_program.h"

#include <libdwarf.h>

// Reads all units. What is malformed is left out, and the rest read on.
void dwarf_read_all(Dwarf_Debug debug, const struct line_sections *sections, struct dwarf_builder *builder);

#endif
