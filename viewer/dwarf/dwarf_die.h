// What is asked of a DIE, whatever form it has.
#ifndef DWARF_DIE_H
#define DWARF_DIE_H

#include <libdwarf.h>

#include <stdbool.h>
#include <stdint.h>

bool die_unsigned(Dwarf_Die die, Dwarf_Half attribute, uint64_t *value);
bool die_offset(Dwarf_Die die, Dwarf_Half attribute, uint64_t *offset);  // into a section
bool die_string(Dwarf_Die die, Dwarf_Half attribute, const char **text); // lives as long as the Dwarf_Debug
Dwarf_Half die_tag(Dwarf_Die die);
// The DIE that an attribute refers to, in the same file; NULL if there is none. dwarf_dealloc_die().
Dwarf_Die die_reference(Dwarf_Debug debug, Dwarf_Die die, Dwarf_Half attribute);
// Its name and mangled name, from itself or from what it is an instance or the definition of.
void die_names(Dwarf_Debug debug, Dwarf_Die die, const char **name, const char **linkage);

// Calls `each` for the stretches of addresses of a DIE. `base`: the unit's lowest address.
typedef void die_range(void *user, uint64_t low, uint64_t high);
void die_ranges(Dwarf_Debug debug, Dwarf_Die die, uint64_t base, die_range *each, void *user);

#endif
