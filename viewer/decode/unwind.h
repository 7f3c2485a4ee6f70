// Backtraces from captured registers and stack bytes.
#ifndef UNWIND_H
#define UNWIND_H

#include "cfi.h"
#include "decode.h"

enum unwind_how { UNWIND_REGISTERS, UNWIND_CFI, UNWIND_FP, UNWIND_SCAN, UNWIND_SIGNAL };
const char *unwind_how_word(enum unwind_how how); // the contract's; NULL for REGISTERS

struct unwind_registers { // numbered as DWARF does
    uint64_t value[CFI_REGISTERS];
    uint64_t known; // bit set
    uint64_t pc;
    uint8_t sp_number, fp_number, return_number;
};

struct unwind_frame {
    unsigned n;
    uint64_t pc;
    uint8_t how; // enum unwind_how, of this frame: how it was found from the one it was called by
    uint64_t at; // an address inside the call: pc, or the byte before it in a caller
    bool named;
    struct decode_symbol symbol;        // if named
    const struct decode_module *module; // NULL: none
    const struct unwind_registers *registers;
};

// False ends it. The frame lives until it returns.
typedef bool unwind_visit(void *user, const struct unwind_frame *frame);

// The thread's stack at the moment. Returns why it ends ("outermost frame"); NULL: the thread's registers are not
// known.
const char *decode_backtrace(struct decode *d, uint32_t space, int32_t tid, unwind_visit *visit, void *user);
// The same of a captured stack (STACKS number of an event): from its own bytes, beyond them from the space's.
const char *decode_backtrace_stack(struct decode *d, uint32_t space, uint64_t stack, unwind_visit *visit, void *user);

#endif
