// DWARF expressions (DWARF 5, 2.5): a small stack machine over registers and memory that may not be known.
#ifndef DWARF_EXPRESSION_H
#define DWARF_EXPRESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dwarf_machine {
    bool (*read)(void *user, uint64_t addr, void *out, size_t length); // false: not known
    bool (*reg)(void *user, uint64_t number, uint64_t *value);         // the same
    void *user;
    bool has_cfa;
    uint64_t cfa;
    uint64_t bias; // added to addresses of the file (DW_OP_addr)
};

// Runs the expression, with `first` on the stack if that is not NULL. False: malformed, longer than any honest one, or
// it needs what is not known.
bool dwarf_evaluate(const struct dwarf_machine *machine, const uint8_t *code, size_t length, const uint64_t *first,
                    uint64_t *result);

#endif
