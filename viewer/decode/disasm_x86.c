#include "disasm_x86.h"

#include <stdbool.h>

// ModRM with SIB and displacement, 64-bit addressing (Intel SDM volume 2, table 2-2 and 2-3). 0: cut short.
static size_t operand_length(const uint8_t *code, size_t length) {
    if (length < 1) return 0;
    unsigned mod = code[0] >> 6, rm = code[0] & 7;
    if (mod == 3) return 1;
    size_t total = 1;
    unsigned base = rm;
    if (rm == 4) {
        if (length < 2) return 0;
        base = code[1] & 7;
        total = 2;
    }
    if (mod == 1) return total + 1;
    if (mod == 2 || base == 5) return total + 4;
    return total;
}

// Whether an opcode of a VEX or EVEX map has an immediate byte (Intel SDM volume 2, appendix A).
static bool has_immediate(unsigned map, uint8_t opcode) {
    if (map == 3) return true;
    return map == 1 && ((opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6));
}

static size_t vector_length(const uint8_t *code, size_t length, size_t prefix, unsigned map) {
    if (length < prefix + 2) return 1;
    uint8_t opcode = code[prefix];
    bool alone = map == 1 && opcode == 0x77 && prefix < 4; // vzeroupper
    size_t operands = alone ? 0 : operand_length(code + prefix + 1, length - prefix - 1);
    if (!alone && !operands) return 1;
    size_t total = prefix + 1 + operands + (alone ? 0 : has_immediate(map, opcode));
    return total <= length && total <= 15 ? total : 1;
}

size_t disasm_x86_length(const uint8_t *code, size_t length) {
    if (length < 4) return 1;
    if (code[0] == 0x62 && !(code[1] & 8) && (code[2] & 4)) return vector_length(code, length, 4, code[1] & 7);
    if (code[0] == 0xc5) return vector_length(code, length, 2, 1);
    if (code[0] == 0xc4) return vector_length(code, length, 3, code[1] & 31);
    return 1;
}
