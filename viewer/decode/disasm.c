#include "disasm.h"

#include "disasm_x86.h"
#include "got.h"

#define CAPSTONE_AARCH64_COMPAT_HEADER // names of version 4 and 5 in version 6
#include <capstone/capstone.h>
#include <stdio.h>
#include <string.h>

enum { WINDOW = 1024, LONGEST = 15 };

struct disasm {
    struct decode *d;
    uint32_t space;
    csh engine;
    cs_insn *instruction;
    bool is_x86;
    disasm_visit *visit;
    void *user;
    uint64_t at, end;
    uint8_t bytes[WINDOW];
    size_t known; // bytes of the window, from `at` on
};

static bool open_engine(struct disasm *dis, const char **error) {
    const struct vmv_meta *meta = vmv_reader_meta(timeline_reader(decode_timeline(dis->d)));
    const char *arch = meta->arch ? meta->arch : "";
    dis->is_x86 = strcmp(arch, "x86_64") == 0;
    bool arm = strcmp(arch, "aarch64") == 0;
    *error = "instructions of this architecture are not known";
    if (!dis->is_x86 && !arm) return false;
    *error = "out of memory";
    cs_arch which = dis->is_x86 ? CS_ARCH_X86 : CS_ARCH_ARM64;
    if (cs_open(which, dis->is_x86 ? CS_MODE_64 : CS_MODE_ARM, &dis->engine) != CS_ERR_OK) return false;
    cs_option(dis->engine, CS_OPT_DETAIL, CS_OPT_ON);
    dis->instruction = cs_malloc(dis->engine);
    if (dis->instruction) return true;
    cs_close(&dis->engine);
    return false;
}

// ------------------------------------------------------------------------------------------------- targets

static void x86_target(const cs_insn *in, struct disasm_line *line, bool branch, bool call) {
    const cs_x86 *x86 = &in->detail->x86;
    for (int i = 0; i < x86->op_count; i++) {
        const cs_x86_op *op = &x86->operands[i];
        if ((branch || call) && op->type == X86_OP_IMM) {
            line->target_kind = call ? DISASM_CALL : DISASM_BRANCH;
            line->target = (uint64_t)op->imm;
        } else if (op->type == X86_OP_MEM && op->mem.base == X86_REG_RIP && op->mem.index == X86_REG_INVALID) {
            line->target_kind = DISASM_DATA;
            line->target = in->address + in->size + (uint64_t)op->mem.disp;
        }
    }
}

static void arm64_target(const cs_insn *in, struct disasm_line *line, bool branch, bool call) {
    const cs_arm64 *arm = &in->detail->arm64;
    bool address = in->id == ARM64_INS_ADR || in->id == ARM64_INS_ADRP;
    for (int i = 0; i < arm->op_count; i++) {
        if (arm->operands[i].type != ARM64_OP_IMM || !(branch || call || address)) continue;
        line->target_kind = call ? DISASM_CALL : branch ? DISASM_BRANCH : DISASM_DATA;
        line->target = (uint64_t)arm->operands[i].imm;
    }
}

static void find_target(struct disasm *dis, struct disasm_line *line) {
    const cs_insn *in = dis->instruction;
    bool call = cs_insn_group(dis->engine, in, CS_GRP_CALL);
    bool branch = cs_insn_group(dis->engine, in, CS_GRP_JUMP) || cs_insn_group(dis->engine, in, CS_GRP_BRANCH_RELATIVE);
    if (dis->is_x86) {
        x86_target(in, line, branch, call);
    } else {
        arm64_target(in, line, branch, call);
    }
    if (line->target_kind == DISASM_NO_TARGET) return;
    const struct decode_module *module = decode_module_at(dis->d, dis->space, line->target);
    if (line->target_kind == DISASM_DATA) {
        line->slot = module ? decode_got_name(dis->d, module, line->target) : NULL;
    } else {
        line->slot = decode_plt_name(dis->d, dis->space, line->target);
    }
}

// ------------------------------------------------------------------------------------------------- lines

static bool put_instruction(struct disasm *dis) {
    const cs_insn *in = dis->instruction;
    char text[sizeof in->mnemonic + sizeof in->op_str + 2];
    snprintf(text, sizeof text, "%s%s%s", in->mnemonic, in->op_str[0] ? " " : "", in->op_str);
    struct disasm_line line = {.addr = dis->at, .length = in->size, .bytes = dis->bytes, .text = text, .decoded = true};
    find_target(dis, &line);
    return dis->visit(dis->user, &line);
}

static bool put_bytes(struct disasm *dis, size_t length) {
    char text[8 * LONGEST] = ".byte";
    size_t at = 5;
    for (size_t i = 0; i < length; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s 0x%02x", i ? "," : "", dis->bytes[i]);
    struct disasm_line line = {.addr = dis->at, .length = length, .bytes = dis->bytes, .text = text};
    return dis->visit(dis->user, &line);
}

// The next address at or after `at` whose byte is known, at most `end`.
static uint64_t next_known(struct disasm *dis) {
    enum { RUNS = 64 };
    struct timeline_run runs[RUNS];
    uint64_t at = dis->at;
    while (at < dis->end) {
        size_t want = dis->end - at < WINDOW ? (size_t)(dis->end - at) : WINDOW;
        size_t count = timeline_read(decode_timeline(dis->d), dis->space, at, dis->bytes, want, runs, RUNS);
        for (size_t i = 0; i < count; i++) {
            if (runs[i].known) return runs[i].addr;
            at = runs[i].addr + runs[i].length;
        }
        if (count == 0) break;
    }
    return dis->end;
}

static bool put_unknown(struct disasm *dis) {
    struct disasm_line line = {.addr = dis->at};
    line.length = next_known(dis) - dis->at;
    dis->known = 0;
    bool more = line.length && dis->visit(dis->user, &line);
    dis->at += line.length;
    return more;
}

// The bytes of a line are those at the window's beginning, and it moves on with each.
static void move_on(struct disasm *dis, size_t length) {
    dis->at += length;
    dis->known -= length;
    memmove(dis->bytes, dis->bytes + length, dis->known);
}

static bool put_line(struct disasm *dis) {
    const uint8_t *code = dis->bytes;
    size_t left = dis->known < LONGEST ? dis->known : LONGEST, length;
    uint64_t at = dis->at;
    bool more;
    if (cs_disasm_iter(dis->engine, &code, &left, &at, dis->instruction)) {
        length = dis->instruction->size;
        more = put_instruction(dis);
    } else {
        size_t all = dis->known < LONGEST ? dis->known : LONGEST;
        length = dis->is_x86 ? disasm_x86_length(dis->bytes, all) : all < 4 ? all : 4;
        more = put_bytes(dis, length);
    }
    move_on(dis, length);
    return more;
}

// Fills the window anew when less than the longest instruction is left of it.
static void fill(struct disasm *dis) {
    if (dis->known >= LONGEST) return;
    decode_read(dis->d, dis->space, dis->at, dis->bytes, WINDOW, &dis->known);
}

const char *decode_disasm(struct decode *d, uint32_t space, uint64_t addr, uint64_t end, disasm_visit *visit,
                          void *user) {
    struct disasm dis = {.d = d, .space = space, .visit = visit, .user = user, .at = addr, .end = end};
    const char *error = "";
    if (!open_engine(&dis, &error)) return error;
    bool more = true;
    while (more && dis.at < dis.end) {
        fill(&dis);
        more = dis.known ? put_line(&dis) : put_unknown(&dis);
    }
    cs_free(dis.instruction, 1);
    cs_close(&dis.engine);
    return "";
}
