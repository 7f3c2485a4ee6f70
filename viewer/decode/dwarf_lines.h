// Source lines and inlined functions of addresses, from debug information.
#ifndef DWARF_LINES_H
#define DWARF_LINES_H

#include "decode.h"
#include "dwarf_index.h"

struct dwarf_place {
    const char *function, *linkage; // as in the source, and mangled; NULL: not known
    const char *file;               // NULL: not known
    uint32_t line, column;          // 0: not known
    bool inlined;                   // into the next one
};

// The debug information of an object, its own or of its separate debug file; read in a process of its own at the first
// call, which may take seconds, and kept in the user's cache. NULL: there is none, or decode_dwarf_trouble() says why.
const struct dwarf_index *decode_dwarf(struct decode *d, const struct decode_object *object);
const char *decode_dwarf_trouble(struct decode *d, const struct decode_object *object);

// What is to be said of an object's debug information, as far as it was asked for: why it could not be read, or the
// file that it lacks. NULL: nothing. `text` holds the line.
const char *decode_dwarf_remark(struct decode *d, const struct decode_object *object, char *text, size_t size);

// The functions around an address, the innermost first; at most `room`. 0: nothing is known of it.
size_t decode_places(struct decode *d, uint32_t space, uint64_t addr, struct dwarf_place *out, size_t room);

#endif
