// What unwinding needs to know of an architecture.
#ifndef UNWIND_ARCH_H
#define UNWIND_ARCH_H

#include "unwind.h"

// From a blob of general registers. False: an architecture that is not known, or a blob too short.
bool unwind_from_blob(const char *arch, const uint8_t *general, size_t length, struct unwind_registers *out);
// With PC, SP and FP alone. False: an architecture that is not known.
bool unwind_from_pointers(const char *arch, uint64_t pc, uint64_t sp, uint64_t fp, struct unwind_registers *out);

// Bit set of the registers that a function leaves to its caller as they were, SP among them.
uint64_t unwind_kept(const char *arch);
// The address without what pointer authentication puts into its high bits.
uint64_t unwind_plain_address(const char *arch, uint64_t addr);

enum { UNWIND_CODE_BEFORE = 8 };
// Whether the bytes before a return address, as many as UNWIND_CODE_BEFORE, end with a call.
bool unwind_follows_call(const char *arch, const uint8_t code[UNWIND_CODE_BEFORE]);
// How far above FP the return address and the caller's FP are: both architectures keep FP and the address side by side.
enum { UNWIND_FP_SAVED = 0, UNWIND_FP_RETURN = 8, UNWIND_FP_CFA = 16 };
// Whether the code at PC is the way back from a signal handler (rt_sigreturn), where the frame is: general registers
// from `*offset` on above SP, to be filled in by unwind_from_signal().
enum { UNWIND_SIGRETURN_BYTES = 9, UNWIND_SIGNAL_BYTES = 23 * 8 };
bool unwind_is_sigreturn(const char *arch, const uint8_t code[UNWIND_SIGRETURN_BYTES], uint64_t *offset);
void unwind_from_signal(const uint8_t bytes[UNWIND_SIGNAL_BYTES], struct unwind_registers *out);

#endif
