#ifndef DISASM_X86_H
#define DISASM_X86_H

#include <stddef.h>
#include <stdint.h>

// The length of an instruction that the disassembler does not know, so that it goes on at the next one: of EVEX and VEX
// encodings (Intel SDM volume 2, 2.3 and 2.7). 1 if it is none of these.
size_t disasm_x86_length(const uint8_t *code, size_t length);

#endif
