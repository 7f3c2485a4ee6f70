// Types and variables of all units, into an index. The same type of several units is kept once.
#ifndef DWARF_TYPES_H
#define DWARF_TYPES_H

#include "dwarf_index.h"

#include <libdwarf.h>

struct type_reader;

// It lives as long as the process.
struct type_reader *type_reader_create(Dwarf_Debug debug, struct dwarf_builder *builder);
// Of a unit: all types that have names, and variables that lie at one address.
void type_reader_unit(struct type_reader *reader, Dwarf_Die unit);
#endif
