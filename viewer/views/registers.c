#include "registers.h"

#include <stdio.h>
#include <string.h>

/* user_regs_struct of x86-64, word by word; and the order in which they are read. */
static const char *const x86_names[] = {"r15",    "r14", "r13", "r12",     "rbp",     "rbx", "r11",      "r10", "r9",
                                        "r8",     "rax", "rcx", "rdx",     "rsi",     "rdi", "orig_rax", "rip", "cs",
                                        "eflags", "rsp", "ss",  "fs_base", "gs_base", "ds",  "es",       "fs",  "gs"};
static const int x86_order[] = {16, 19, 4, 10, 5, 11, 12, 13, 14, 9, 8, 7, 6, 3, 2, 1, 0, 18, 15, 21, 22};

static uint64_t word(const uint8_t *bytes) {
    uint64_t value = 0;
    for (int i = 7; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

static int list_x86(const uint8_t *general, size_t length, struct register_value *out, int room) {
    int count = 0;
    for (size_t i = 0; i < sizeof x86_order / sizeof *x86_order && count < room; i++) {
        size_t at = (size_t)x86_order[i];
        if (length < (at + 1) * 8) continue;
        snprintf(out[count].name, sizeof out[count].name, "%s", x86_names[at]);
        out[count].value = word(general + at * 8);
        out[count++].pointer = at != 18 && at != 15;
    }
    return count;
}

/* user_pt_regs of aarch64: x0 .. x30, sp, pc, pstate. */
static int list_arm(const uint8_t *general, size_t length, struct register_value *out, int room) {
    int count = 0;
    for (int i = 0; i < 34 && count < room; i++) {
        int at = i == 0 ? 32 : i == 1 ? 31 : i < 33 ? i - 2 : 33;
        if (length < (size_t)(at + 1) * 8) continue;
        static const char *const special[] = {"sp", "pc", "pstate"};
        if (at < 31)
            snprintf(out[count].name, sizeof out[count].name, "x%d", at);
        else
            snprintf(out[count].name, sizeof out[count].name, "%s", special[at - 31]);
        out[count].value = word(general + (size_t)at * 8);
        out[count++].pointer = at != 33;
    }
    return count;
}

int registers_list(const char *arch, const uint8_t *general, size_t length, struct register_value *out, int room) {
    if (!arch || !general) return 0;
    if (!strcmp(arch, "x86_64")) return list_x86(general, length, out, room);
    if (!strcmp(arch, "aarch64")) return list_arm(general, length, out, room);
    return 0;
}
