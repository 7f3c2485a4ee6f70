#include "inspect_registers.h"

#include <stdio.h>
#include <string.h>

static const char *const x86_names[] = {"r15",    "r14", "r13", "r12",     "rbp",     "rbx", "r11",      "r10", "r9",
                                        "r8",     "rax", "rcx", "rdx",     "rsi",     "rdi", "orig_rax", "rip", "cs",
                                        "eflags", "rsp", "ss",  "fs_base", "gs_base", "ds",  "es",       "fs",  "gs"};
enum { X86_COUNT = sizeof x86_names / sizeof x86_names[0], X86_PC = 16 };
enum { ARM_X = 31, ARM_PC = 32, ARM_COUNT = 34 };

static uint64_t register_word(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

bool registers_pc(const char *arch, const uint8_t *general, size_t length, uint64_t *pc) {
    size_t index;
    if (arch != NULL && strcmp(arch, "x86_64") == 0) {
        index = X86_PC;
    } else if (arch != NULL && strcmp(arch, "aarch64") == 0) {
        index = ARM_PC;
    } else {
        return false;
    }
    if (general == NULL || length < (index + 1) * 8) return false;
    *pc = register_word(general + index * 8);
    return true;
}

// XSAVE standard form: 512 bytes as FXSAVE, a header whose first word tells which components hold anything, and the
// upper halves of the ymm registers at 576.
enum {
    XSAVE_MXCSR = 24,
    XSAVE_ST = 32,
    XSAVE_XMM = 160,
    XSAVE_LEGACY = 512,
    XSAVE_BV = 512,
    XSAVE_COMPACT = 520, // bit 63: compacted, the upper halves may lie elsewhere
    XSAVE_YMM = 576,
    XSAVE_YMM_END = 832,
    XSAVE_AVX = 4,
};

static bool x86_has_ymm(const uint8_t *extended, size_t length) {
    if (length < XSAVE_YMM_END) return false;
    bool compact = (register_word(extended + XSAVE_COMPACT) >> 63) != 0;
    return !compact && (register_word(extended + XSAVE_BV) & XSAVE_AVX) != 0;
}

static void x86_walk_vectors(const uint8_t *extended, size_t length, register_each *each, void *user) {
    bool wide = x86_has_ymm(extended, length);
    for (int i = 0; i < 16; i++) {
        char name[16];
        uint8_t value[32];
        memcpy(value, extended + XSAVE_XMM + 16 * i, 16);
        snprintf(name, sizeof name, "xmm%d", i);
        each(user, name, REGISTER_VECTOR, value, 16);
        if (!wide) continue;
        memcpy(value + 16, extended + XSAVE_YMM + 16 * i, 16);
        snprintf(name, sizeof name, "ymm%d", i);
        each(user, name, REGISTER_VECTOR, value, 32);
    }
}

static void x86_walk_extended(const uint8_t *extended, size_t length, register_each *each, void *user) {
    if (extended == NULL || length < XSAVE_LEGACY) return;
    each(user, "fcw", REGISTER_FLOAT, extended, 2);
    each(user, "fsw", REGISTER_FLOAT, extended + 2, 2);
    each(user, "mxcsr", REGISTER_FLOAT, extended + XSAVE_MXCSR, 4);
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "st%d", i);
        each(user, name, REGISTER_FLOAT, extended + XSAVE_ST + 16 * i, 10);
    }
    x86_walk_vectors(extended, length, each, user);
}

static void arm_general_name(char *out, size_t size, size_t index) {
    static const char *const last[] = {"sp", "pc", "pstate"};
    if (index < ARM_X) {
        snprintf(out, size, "x%zu", index);
    } else {
        snprintf(out, size, "%s", last[index - ARM_X]);
    }
}

static void arm_walk_extended(const uint8_t *extended, size_t length, register_each *each, void *user) {
    if (extended == NULL || length < 32 * 16 + 8) return;
    each(user, "fpsr", REGISTER_FLOAT, extended + 512, 4);
    each(user, "fpcr", REGISTER_FLOAT, extended + 516, 4);
    for (int i = 0; i < 32; i++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", i);
        each(user, name, REGISTER_VECTOR, extended + 16 * i, 16);
    }
}

static void arm_walk(const uint8_t *general, size_t length, register_each *each, void *user) {
    for (size_t i = 0; i < ARM_COUNT && (i + 1) * 8 <= length; i++) {
        char name[16];
        arm_general_name(name, sizeof name, i);
        each(user, name, REGISTER_GENERAL, general + 8 * i, 8);
    }
}

bool registers_walk(const char *arch, const uint8_t *general, size_t general_length, const uint8_t *extended,
                    size_t extended_length, register_each *each, void *user) {
    if (general == NULL) general_length = 0;
    if (arch != NULL && strcmp(arch, "x86_64") == 0) {
        for (size_t i = 0; i < X86_COUNT && (i + 1) * 8 <= general_length; i++) {
            each(user, x86_names[i], REGISTER_GENERAL, general + 8 * i, 8);
        }
        x86_walk_extended(extended, extended_length, each, user);
        return true;
    }
    if (arch != NULL && strcmp(arch, "aarch64") == 0) {
        arm_walk(general, general_length, each, user);
        arm_walk_extended(extended, extended_length, each, user);
        return true;
    }
    return false;
}
