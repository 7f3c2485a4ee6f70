// Disassembly of the bytes of the moment, in Intel's syntax. What cannot be decoded is shown as bytes, and it goes on
// behind them; bytes that are not known are one line without bytes.
#ifndef DISASM_H
#define DISASM_H

#include "decode.h"

enum disasm_target { DISASM_NO_TARGET, DISASM_BRANCH, DISASM_CALL, DISASM_DATA };

struct disasm_line {
    uint64_t addr, length; // bytes
    const uint8_t *bytes;  // NULL: not known
    const char *text;      // "mov rax, qword ptr [rip + 0x2fe2]", ".byte 0x06"; NULL where the bytes are not known
    bool decoded;          // false: undecodable bytes
    uint8_t target_kind;   // enum disasm_target
    uint64_t target;       // of a direct jump or call, or the address that an operand relative to the PC names
    const char *slot;      // the symbol whose PLT code or slot the target is, NULL
};

// False ends it. The line lives until it returns.
typedef bool disasm_visit(void *user, const struct disasm_line *line);

// Disassembles from `addr` to `end`; the last instruction may reach over it. An empty text: it went well; else why not
// (an architecture that is not known).
const char *decode_disasm(struct decode *d, uint32_t space, uint64_t addr, uint64_t end, disasm_visit *visit,
                          void *user);

#endif
