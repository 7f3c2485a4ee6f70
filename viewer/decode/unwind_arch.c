#include "unwind_arch.h"

#include <string.h>

static uint64_t word(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

// ------------------------------------------------------------------------------------------------- x86-64

// DWARF's numbers (psABI x86-64, figure 3.36) of user_regs_struct's registers, in its order; -1: none.
static const int8_t x86_numbers[] = {15, 14, 13, 12, 6, 3, 11, 10, 9, 8, 0, 2, 1, 4, 5, -1, 16, -1, -1, 7};
enum { X86_SP = 7, X86_FP = 6, X86_PC = 16, X86_PC_AT = 16 };

static void x86_begin(struct unwind_registers *out) {
    *out = (struct unwind_registers){.sp_number = X86_SP, .fp_number = X86_FP, .return_number = X86_PC};
}

static bool x86_from_blob(const uint8_t *general, size_t length, struct unwind_registers *out) {
    if (length < sizeof x86_numbers * 8) return false;
    x86_begin(out);
    for (size_t i = 0; i < sizeof x86_numbers; i++) {
        if (x86_numbers[i] < 0) continue;
        out->value[x86_numbers[i]] = word(general + i * 8);
        out->known |= 1ull << x86_numbers[i];
    }
    out->pc = word(general + X86_PC_AT * 8);
    return true;
}

// e8 rel32; ff /2 with its operand: 2 to 7 bytes, which may have a prefix (Intel SDM volume 2, CALL).
static bool x86_follows_call(const uint8_t code[UNWIND_CODE_BEFORE]) {
    const uint8_t *end = code + UNWIND_CODE_BEFORE;
    if (end[-5] == 0xe8) return true;
    for (int length = 2; length <= 7; length++)
        if (end[-length] == 0xff && (end[-length + 1] & 0x38) == 0x10) return true;
    return false;
}

// mov $15, %rax; syscall. The ucontext lies at SP; its registers (struct sigcontext) 40 bytes into it.
static bool x86_is_sigreturn(const uint8_t code[UNWIND_SIGRETURN_BYTES], uint64_t *offset) {
    static const uint8_t wanted[UNWIND_SIGRETURN_BYTES] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};
    *offset = 40;
    return memcmp(code, wanted, sizeof wanted) == 0;
}

// The order of struct sigcontext (linux, arch/x86/include/uapi/asm/sigcontext.h).
static const int8_t x86_signal_numbers[] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7, 16};

void unwind_from_signal(const uint8_t bytes[UNWIND_SIGNAL_BYTES], struct unwind_registers *out) {
    x86_begin(out);
    for (size_t i = 0; i < sizeof x86_signal_numbers; i++) {
        out->value[x86_signal_numbers[i]] = word(bytes + i * 8);
        out->known |= 1ull << x86_signal_numbers[i];
    }
    out->pc = out->value[X86_PC];
}

// ------------------------------------------------------------------------------------------------- aarch64

// x0 to x30, SP, PC as user_pt_regs has them; DWARF's numbers are the same (DWARF for the Arm 64-bit architecture).
enum { ARM_FP = 29, ARM_LINK = 30, ARM_SP = 31, ARM_WORDS = 33 };

static void arm_begin(struct unwind_registers *out) {
    *out = (struct unwind_registers){.sp_number = ARM_SP, .fp_number = ARM_FP, .return_number = ARM_LINK};
}

static bool arm_from_blob(const uint8_t *general, size_t length, struct unwind_registers *out) {
    if (length < ARM_WORDS * 8) return false;
    arm_begin(out);
    for (int i = 0; i <= ARM_SP; i++) out->value[i] = word(general + i * 8);
    out->known = (1ull << (ARM_SP + 1)) - 1;
    out->pc = word(general + (ARM_WORDS - 1) * 8);
    return true;
}

// bl (100101…) or blr.
static bool arm_follows_call(const uint8_t code[UNWIND_CODE_BEFORE]) {
    uint32_t last;
    memcpy(&last, code + UNWIND_CODE_BEFORE - 4, sizeof last);
    return last >> 26 == 0x25 || (last & 0xfffffc1f) == 0xd63f0000;
}

// ------------------------------------------------------------------------------------------------- either

static bool is_x86(const char *arch) { return arch && strcmp(arch, "x86_64") == 0; }
static bool is_arm(const char *arch) { return arch && strcmp(arch, "aarch64") == 0; }

bool unwind_from_blob(const char *arch, const uint8_t *general, size_t length, struct unwind_registers *out) {
    if (!general) return false;
    return (is_x86(arch) && x86_from_blob(general, length, out)) ||
           (is_arm(arch) && arm_from_blob(general, length, out));
}

bool unwind_from_pointers(const char *arch, uint64_t pc, uint64_t sp, uint64_t fp, struct unwind_registers *out) {
    if (is_x86(arch)) {
        x86_begin(out);
    } else if (is_arm(arch)) {
        arm_begin(out);
    } else {
        return false;
    }
    out->pc = pc;
    out->value[out->sp_number] = sp;
    out->known = 1ull << out->sp_number;
    if (!fp) return true;
    out->value[out->fp_number] = fp;
    out->known |= 1ull << out->fp_number;
    return true;
}

// psABI x86-64, 3.2.1; Procedure Call Standard for the Arm 64-bit architecture, 6.1.1.
uint64_t unwind_kept(const char *arch) {
    if (is_x86(arch)) return 1 << 3 | 1 << X86_FP | 1 << X86_SP | 1 << 12 | 1 << 13 | 1 << 14 | 1 << 15;
    return 0x3ffull << 19 | 1 << ARM_FP | 1ull << ARM_SP;
}

uint64_t unwind_plain_address(const char *arch, uint64_t addr) {
    return is_arm(arch) ? addr & ((1ull << 48) - 1) : addr;
}

bool unwind_follows_call(const char *arch, const uint8_t code[UNWIND_CODE_BEFORE]) {
    return (is_x86(arch) && x86_follows_call(code)) || (is_arm(arch) && arm_follows_call(code));
}

bool unwind_is_sigreturn(const char *arch, const uint8_t code[UNWIND_SIGRETURN_BYTES], uint64_t *offset) {
    return is_x86(arch) && x86_is_sigreturn(code, offset);
}
