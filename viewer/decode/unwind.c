#include "unwind.h"

#include "decode_private.h"
#include "dwarf_expression.h"
#include "unwind_arch.h"

#include <string.h>

enum { FRAMES_MAX = 4096, SCAN_WORDS = 128 };

struct unwinding {
    struct decode *d;
    uint32_t space;
    const char *arch;
    struct unwind_registers now;
    bool exact;             // PC is where the thread stands, not a return address
    struct vmv_stack piece; // bytes that come first; length 0: none
    unwind_visit *visit;
    void *user;
};

const char *unwind_how_word(enum unwind_how how) {
    static const char *const words[] = {NULL, "cfi", "fp", "scan", "signal"};
    return words[how];
}

// ------------------------------------------------------------------------------------------------- what is known

// Beyond a captured piece of stack only what is certain at that moment: the rest is of another time.
static bool read_exact(struct unwinding *u, uint64_t addr, void *out, size_t length) {
    enum { RUNS = 8 };
    struct timeline_run runs[RUNS];
    size_t count = timeline_read(decode_timeline(u->d), u->space, addr, out, length, runs, RUNS);
    uint64_t end = addr;
    for (size_t i = 0; i < count; i++) {
        if (!runs[i].known || runs[i].certainty != VMV_CERT_EXACT) return false;
        end = runs[i].addr + runs[i].length;
    }
    return count && end >= addr + length;
}

static bool read_memory(void *user, uint64_t addr, void *out, size_t length) {
    struct unwinding *u = user;
    const struct vmv_stack *piece = &u->piece;
    if (piece->length && addr >= piece->sp && addr - piece->sp <= piece->length &&
        length <= piece->length - (addr - piece->sp)) {
        memcpy(out, piece->bytes + (addr - piece->sp), length);
        return true;
    }
    if (piece->length) return read_exact(u, addr, out, length);
    return decode_read(u->d, u->space, addr, out, length, NULL);
}

static bool read_register(void *user, uint64_t number, uint64_t *value) {
    const struct unwinding *u = user;
    if (number >= CFI_REGISTERS || !(u->now.known >> number & 1)) return false;
    *value = u->now.value[number];
    return true;
}

static void learn(struct unwind_registers *registers, unsigned number, bool known, uint64_t value) {
    registers->known &= ~(1ull << number);
    if (known) registers->known |= 1ull << number;
    registers->value[number] = known ? value : 0;
}

static bool is_code(const struct unwinding *u, uint64_t addr) {
    const struct vmv_space *space = vmv_world_space(timeline_world(decode_timeline(u->d)), u->space);
    const struct vmv_mapping *mapping = space ? vmv_space_find(space, addr) : NULL;
    return mapping && mapping->flags & VMV_MAP_X;
}

static bool is_return_address(struct unwinding *u, uint64_t addr) {
    uint8_t code[UNWIND_CODE_BEFORE];
    return addr > sizeof code && is_code(u, addr) &&
           decode_read(u->d, u->space, addr - sizeof code, code, sizeof code, NULL) &&
           unwind_follows_call(u->arch, code);
}

// ------------------------------------------------------------------------------------------------- by CFI

static bool find_row(struct unwinding *u, uint64_t addr, struct cfi_row *row) {
    const struct decode_module *module = decode_module_at(u->d, u->space, addr);
    if (!module) return false;
    const struct cfi *cfi = decode_object_cfi(u->d, module->object, false);
    if (cfi && cfi_find(cfi, addr - module->bias, row)) return true;
    cfi = decode_object_cfi(u->d, module->object, true);
    return cfi && cfi_find(cfi, addr - module->bias, row);
}

static bool find_cfa(struct unwinding *u, const struct cfi_rule *rule, uint64_t *cfa) {
    struct dwarf_machine machine = {.read = read_memory, .reg = read_register, .user = u};
    if (rule->kind == CFI_IS_EXPRESSION) return dwarf_evaluate(&machine, rule->expression, rule->length, NULL, cfa);
    if (!read_register(u, rule->reg, cfa)) return false;
    *cfa += (uint64_t)rule->offset;
    return true;
}

static void apply(struct unwinding *u, const struct cfi_rule *rule, unsigned number, uint64_t cfa,
                  struct unwind_registers *next) {
    struct dwarf_machine machine = {.read = read_memory, .reg = read_register, .user = u, .has_cfa = true, .cfa = cfa};
    uint64_t value = 0;
    bool known = false;
    switch (rule->kind) {
    case CFI_SAME:
        return;
    case CFI_AT_CFA:
        known = read_memory(u, cfa + (uint64_t)rule->offset, &value, sizeof value);
        break;
    case CFI_IS_CFA:
        known = true;
        value = cfa + (uint64_t)rule->offset;
        break;
    case CFI_REGISTER:
        known = read_register(u, rule->reg, &value);
        break;
    case CFI_AT_EXPRESSION:
        known = dwarf_evaluate(&machine, rule->expression, rule->length, &cfa, &value) &&
                read_memory(u, value, &value, sizeof value);
        break;
    case CFI_IS_EXPRESSION:
        known = dwarf_evaluate(&machine, rule->expression, rule->length, &cfa, &value);
        break;
    default:
        break;
    }
    learn(next, number, known, value);
}

enum step { STEP_DONE, STEP_OUTERMOST, STEP_NOT };

// Fills `next`. STEP_NOT: `why` says what is missing.
static enum step step_by_cfi(struct unwinding *u, const struct cfi_row *row, struct unwind_registers *next,
                             const char **why) {
    uint64_t cfa;
    *why = "a register that the frame is found by is not known";
    if (!find_cfa(u, &row->cfa, &cfa)) return STEP_NOT;
    unsigned back = row->return_register;
    if (row->rules[back].kind == CFI_UNDEFINED) return STEP_OUTERMOST;
    *next = u->now;
    if (!row->signal) { // what a callee may change is not the caller's any more
        uint64_t kept = unwind_kept(u->arch) | (row->rules[back].kind == CFI_SAME ? 1ull << back : 0);
        next->known &= kept;
    }
    for (unsigned i = 0; i < CFI_REGISTERS; i++) apply(u, &row->rules[i], i, cfa, next);
    if (row->rules[next->sp_number].kind == CFI_SAME) learn(next, next->sp_number, true, cfa);
    *why = "the stack where the return address lies is not known";
    if (!(next->known >> back & 1)) return STEP_NOT;
    next->pc = unwind_plain_address(u->arch, next->value[back]);
    return STEP_DONE;
}

// ------------------------------------------------------------------------------------------------- otherwise

static bool step_by_sigreturn(struct unwinding *u, struct unwind_registers *next) {
    uint8_t code[UNWIND_SIGRETURN_BYTES], bytes[UNWIND_SIGNAL_BYTES];
    uint64_t offset, sp;
    if (!decode_read(u->d, u->space, u->now.pc, code, sizeof code, NULL)) return false;
    if (!unwind_is_sigreturn(u->arch, code, &offset) || !read_register(u, u->now.sp_number, &sp)) return false;
    if (!read_memory(u, sp + offset, bytes, sizeof bytes)) return false;
    unwind_from_signal(bytes, next);
    return true;
}

static bool step_by_fp(struct unwinding *u, struct unwind_registers *next) {
    uint64_t fp, sp, pair[2];
    if (!read_register(u, u->now.fp_number, &fp) || !read_register(u, u->now.sp_number, &sp)) return false;
    if (fp % 8 || fp < sp || !read_memory(u, fp + UNWIND_FP_SAVED, pair, sizeof pair)) return false;
    uint64_t back = unwind_plain_address(u->arch, pair[1]);
    if (!is_return_address(u, back)) return false;
    *next = u->now;
    next->known = 0;
    next->pc = back;
    learn(next, next->sp_number, true, fp + UNWIND_FP_CFA);
    learn(next, next->fp_number, true, pair[0]);
    return true;
}

// The first word on the stack that looks like a return address: of a function that saved nothing, or of a jump into
// nowhere, the uppermost.
static bool step_by_scan(struct unwinding *u, struct unwind_registers *next) {
    uint64_t sp, value;
    if (!read_register(u, u->now.sp_number, &sp)) return false;
    sp = (sp + 7) & ~7ull;
    for (int i = 0; i < SCAN_WORDS; i++, sp += 8) {
        if (!read_memory(u, sp, &value, sizeof value)) return false;
        if (!is_return_address(u, value)) continue;
        uint64_t fp;
        bool has_fp = read_register(u, u->now.fp_number, &fp);
        *next = u->now;
        next->known = 0;
        next->pc = value;
        learn(next, next->sp_number, true, sp + 8);
        learn(next, next->fp_number, has_fp, has_fp ? fp : 0);
        return true;
    }
    return false;
}

// ------------------------------------------------------------------------------------------------- walking

static bool show(struct unwinding *u, unsigned n, enum unwind_how how, uint64_t at) {
    struct unwind_frame frame = {.n = n, .pc = u->now.pc, .how = (uint8_t)how, .at = at, .registers = &u->now};
    frame.named = decode_symbol_at(u->d, u->space, at, &frame.symbol);
    frame.module = decode_module_at(u->d, u->space, at);
    return u->visit(u->user, &frame);
}

// NULL: `next` and `how` are set.
static const char *step(struct unwinding *u, bool found, const struct cfi_row *row, struct unwind_registers *next,
                        enum unwind_how *how) {
    const char *why = "no unwind information, and nothing on the stack looks like a return address";
    *how = UNWIND_CFI;
    if (found) {
        enum step step = step_by_cfi(u, row, next, &why);
        if (step == STEP_DONE) return NULL;
        if (step == STEP_OUTERMOST) return "outermost frame";
    } else if (step_by_sigreturn(u, next)) {
        *how = UNWIND_SIGNAL;
        return NULL;
    }
    *how = UNWIND_FP;
    if (!found && step_by_fp(u, next)) return NULL;
    *how = UNWIND_SCAN;
    return !found && step_by_scan(u, next) ? NULL : why;
}

// The stack grows down: a caller's SP lies above, but for the frame that a signal interrupted, which may be on another
// stack.
static bool goes_up(const struct unwind_registers *now, const struct unwind_registers *next, bool signal) {
    bool known = now->known >> now->sp_number & next->known >> next->sp_number & 1;
    return signal || !known || next->value[next->sp_number] > now->value[now->sp_number] ||
           (next->value[next->sp_number] == now->value[now->sp_number] && next->pc != now->pc);
}

static const char *walk(struct unwinding *u) {
    enum unwind_how how = UNWIND_REGISTERS;
    u->exact = true;
    for (unsigned n = 0; n < FRAMES_MAX; n++) {
        struct cfi_row row;
        struct unwind_registers next;
        uint64_t at = u->exact ? u->now.pc : u->now.pc - 1;
        bool found = find_row(u, at, &row), signal = found && row.signal;
        enum unwind_how found_how = signal ? UNWIND_SIGNAL : how;
        if (!show(u, n, found_how, signal ? u->now.pc : at)) return "";
        const char *end = step(u, found, &row, &next, &how);
        if (end) return end;
        signal |= how == UNWIND_SIGNAL;
        if (how == UNWIND_SIGNAL) how = UNWIND_CFI;
        if (next.pc == 0) return "outermost frame";
        if (!goes_up(&u->now, &next, signal)) return "the frames go round in a circle";
        u->now = next;
        u->exact = signal;
    }
    return "too many frames";
}

static const char *arch_of(struct decode *d) { return vmv_reader_meta(timeline_reader(decode_timeline(d)))->arch; }

const char *decode_backtrace(struct decode *d, uint32_t space, int32_t tid, unwind_visit *visit, void *user) {
    struct unwinding u = {.d = d, .space = space, .arch = arch_of(d), .visit = visit, .user = user};
    const struct vmv_world *world = timeline_world(decode_timeline(d));
    const struct vmv_thread *thread = world ? vmv_world_thread(world, tid) : NULL;
    struct vmv_regs regs = {0};
    if (!thread) return NULL;
    bool whole = thread->regs && vmv_reader_regs(timeline_reader(decode_timeline(d)), thread->regs, &regs) &&
                 unwind_from_blob(u.arch, regs.general, regs.general_length, &u.now);
    if (!whole && (!thread->sp || !unwind_from_pointers(u.arch, thread->pc, thread->sp, thread->fp, &u.now)))
        return NULL;
    return walk(&u);
}

const char *decode_backtrace_stack(struct decode *d, uint32_t space, uint64_t stack, unwind_visit *visit, void *user) {
    struct unwinding u = {.d = d, .space = space, .arch = arch_of(d), .visit = visit, .user = user};
    if (!stack || !vmv_reader_stack(timeline_reader(decode_timeline(d)), stack, &u.piece)) return NULL;
    if (!unwind_from_blob(u.arch, u.piece.regs, u.piece.regs_length, &u.now)) return NULL;
    return walk(&u);
}
