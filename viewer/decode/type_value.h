// Types laid over memory: their names, and values as text.
#ifndef TYPE_VALUE_H
#define TYPE_VALUE_H

#include "decode.h"
#include "dwarf_index.h"

struct type_place { // a value: of a type, at an address
    const struct dwarf_index *index;
    uint32_t type; // number; may be a typedef
    uint64_t addr;
    uint16_t bit_offset, bit_size; // bit_size 0: no bitfield
};

// The place of a variable or of a type by its name, looked for in all modules, the program's first. False: none.
bool type_named(struct decode *d, uint32_t space, const char *name, struct type_place *out); // addr is not set
bool type_of_variable(struct decode *d, uint32_t space, const char *name, struct type_place *out);
// The variable that an address lies in. False: none is known.
bool type_of_address(struct decode *d, uint32_t space, uint64_t addr, struct type_place *out, const char **name);

// "struct account *[4]", as C writes it for a value without a name.
void type_name(const struct dwarf_index *index, uint32_t number, char *out, size_t size);
uint64_t type_size(const struct dwarf_index *index, uint32_t number); // bytes; 0: not known
uint8_t type_kind(const struct dwarf_index *index, uint32_t number);  // enum dwarf_kind, of the plain type

// The parts of a struct, union or array: how many, and one of them with its name ("[3]", "next", "" for an anonymous
// one).
uint64_t type_part_count(const struct type_place *place);
bool type_part(const struct type_place *place, uint64_t number, struct type_place *out, char *name, size_t size);

// A value that has no parts, as text: "-3", "0x55d0c3a41180 <main>", "'a'", "RED". False: bytes of it are not known.
bool type_value(struct decode *d, uint32_t space, const struct type_place *place, char *out, size_t size);

#endif
