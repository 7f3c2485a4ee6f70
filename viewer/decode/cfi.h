// Call frame information: how the registers of a caller are found (DWARF 5, 6.4; LSB "Exception Frames" for .eh_frame).
#ifndef CFI_H
#define CFI_H

#include "elf_file.h"

enum { CFI_REGISTERS = 34 }; // x86-64: 0 to 15 and 16, the return address; aarch64: 0 to 30, 31 SP, 32 PC

enum cfi_kind {
    CFI_UNDEFINED,
    CFI_SAME,
    CFI_AT_CFA,        // lies at CFA + offset
    CFI_IS_CFA,        // is CFA + offset
    CFI_REGISTER,      // is in another register
    CFI_AT_EXPRESSION, // lies where the expression says
    CFI_IS_EXPRESSION, // is what the expression gives
    CFI_FROM_REGISTER, // the CFA alone: register + offset
};

struct cfi_rule {
    uint8_t kind; // enum cfi_kind
    uint8_t reg;
    int64_t offset;
    const uint8_t *expression;
    uint64_t length; // bytes of the expression
};

struct cfi_row { // what holds at one address
    struct cfi_rule cfa, rules[CFI_REGISTERS];
    uint8_t return_register;
    bool signal; // the frame that the kernel made for a signal handler
};

struct cfi; // all of an ELF file's

// Reads .eh_frame, and .debug_frame for what that lacks. Never NULL; the file must live as long.
struct cfi *cfi_create(struct elf_file *file);
void cfi_destroy(struct cfi *cfi); // accepts NULL
// The row of a link-time address. False: there is none, or it is malformed.
bool cfi_find(const struct cfi *cfi, uint64_t addr, struct cfi_row *row);
size_t cfi_count(const struct cfi *cfi); // functions it knows

#endif
