#include "dwarf_expression.h"

#include "dwarf_bytes.h"

#include <dwarf.h>

enum { DEPTH = 64, STEPS = 10000 };

struct run {
    const struct dwarf_machine *machine;
    struct dwarf_bytes in;
    const uint8_t *begin;
    uint64_t stack[DEPTH];
    size_t depth;
    bool bad;
};

static void push(struct run *run, uint64_t value) {
    if (run->depth == DEPTH) {
        run->bad = true;
    } else {
        run->stack[run->depth++] = value;
    }
}

static uint64_t pop(struct run *run) {
    if (run->depth == 0) {
        run->bad = true;
        return 0;
    }
    return run->stack[--run->depth];
}

static void pick(struct run *run, uint64_t index) {
    if (index >= run->depth) {
        run->bad = true;
    } else {
        push(run, run->stack[run->depth - 1 - index]);
    }
}

static void from_register(struct run *run, uint64_t number, int64_t offset) {
    uint64_t value = 0;
    if (!run->machine->reg(run->machine->user, number, &value)) run->bad = true;
    push(run, value + (uint64_t)offset);
}

static void dereference(struct run *run, uint64_t size) {
    uint64_t value = 0;
    uint64_t addr = pop(run);
    if (run->bad || size == 0 || size > 8 || !run->machine->read(run->machine->user, addr, &value, size))
        run->bad = true;
    push(run, value);
}

static void jump(struct run *run, bool taken) {
    int64_t by = dwarf_signed(&run->in, 2);
    if (!taken || run->in.bad) return;
    if (by < run->begin - run->in.at || by > run->in.end - run->in.at) {
        run->bad = true;
        return;
    }
    run->in.at += by;
}

static void rotate(struct run *run) {
    uint64_t top = pop(run), second = pop(run), third = pop(run);
    push(run, top);
    push(run, third);
    push(run, second);
}

static bool constant(struct run *run, unsigned op) {
    switch (op) {
    case DW_OP_addr:
        push(run, dwarf_unsigned(&run->in, 8) + run->machine->bias);
        return true;
    case DW_OP_const1u:
        push(run, dwarf_unsigned(&run->in, 1));
        return true;
    case DW_OP_const1s:
        push(run, (uint64_t)dwarf_signed(&run->in, 1));
        return true;
    case DW_OP_const2u:
        push(run, dwarf_unsigned(&run->in, 2));
        return true;
    case DW_OP_const2s:
        push(run, (uint64_t)dwarf_signed(&run->in, 2));
        return true;
    case DW_OP_const4u:
        push(run, dwarf_unsigned(&run->in, 4));
        return true;
    case DW_OP_const4s:
        push(run, (uint64_t)dwarf_signed(&run->in, 4));
        return true;
    case DW_OP_const8u:
    case DW_OP_const8s:
        push(run, dwarf_unsigned(&run->in, 8));
        return true;
    case DW_OP_constu:
        push(run, dwarf_uleb(&run->in));
        return true;
    case DW_OP_consts:
        push(run, (uint64_t)dwarf_sleb(&run->in));
        return true;
    default:
        return false;
    }
}

static uint64_t divide(struct run *run, int64_t left, int64_t right) {
    if (right == 0 || (left == INT64_MIN && right == -1)) run->bad = true;
    return run->bad ? 0 : (uint64_t)(left / right);
}

static bool binary(struct run *run, unsigned op) {
    static const uint8_t ops[] = {DW_OP_and,  DW_OP_div, DW_OP_minus, DW_OP_mod,  DW_OP_mul, DW_OP_or,
                                  DW_OP_plus, DW_OP_shl, DW_OP_shr,   DW_OP_shra, DW_OP_xor, DW_OP_eq,
                                  DW_OP_ge,   DW_OP_gt,  DW_OP_le,    DW_OP_lt,   DW_OP_ne};
    if (!memchr(ops, (int)op, sizeof ops)) return false;
    uint64_t right = pop(run), left = pop(run), value = 0;
    int64_t r = (int64_t)right, l = (int64_t)left;
    if (op == DW_OP_and) value = left & right;
    if (op == DW_OP_div) value = divide(run, l, r);
    if (op == DW_OP_minus) value = left - right;
    if (op == DW_OP_mod) value = right ? left % right : (run->bad = true, 0);
    if (op == DW_OP_mul) value = left * right;
    if (op == DW_OP_or) value = left | right;
    if (op == DW_OP_plus) value = left + right;
    if (op == DW_OP_shl) value = right < 64 ? left << right : 0;
    if (op == DW_OP_shr) value = right < 64 ? left >> right : 0;
    if (op == DW_OP_shra) value = (uint64_t)(l >> (right < 63 ? right : 63));
    if (op == DW_OP_xor) value = left ^ right;
    if (op == DW_OP_eq) value = l == r;
    if (op == DW_OP_ge) value = l >= r;
    if (op == DW_OP_gt) value = l > r;
    if (op == DW_OP_le) value = l <= r;
    if (op == DW_OP_lt) value = l < r;
    if (op == DW_OP_ne) value = l != r;
    push(run, value);
    return true;
}

static bool unary(struct run *run, unsigned op) {
    switch (op) {
    case DW_OP_deref:
        dereference(run, 8);
        return true;
    case DW_OP_deref_size:
        dereference(run, dwarf_unsigned(&run->in, 1));
        return true;
    case DW_OP_abs: {
        int64_t value = (int64_t)pop(run);
        push(run, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
        return true;
    }
    case DW_OP_neg:
        push(run, 0 - pop(run));
        return true;
    case DW_OP_not:
        push(run, ~pop(run));
        return true;
    case DW_OP_plus_uconst:
        push(run, pop(run) + dwarf_uleb(&run->in));
        return true;
    default:
        return false;
    }
}

static bool order(struct run *run, unsigned op) {
    switch (op) {
    case DW_OP_dup:
        pick(run, 0);
        return true;
    case DW_OP_drop:
        pop(run);
        return true;
    case DW_OP_over:
        pick(run, 1);
        return true;
    case DW_OP_pick:
        pick(run, dwarf_unsigned(&run->in, 1));
        return true;
    case DW_OP_swap: {
        uint64_t top = pop(run), second = pop(run);
        push(run, top);
        push(run, second);
        return true;
    }
    case DW_OP_rot:
        rotate(run);
        return true;
    case DW_OP_skip:
        jump(run, true);
        return true;
    case DW_OP_bra:
        jump(run, pop(run) != 0);
        return true;
    case DW_OP_nop:
        return true;
    case DW_OP_call_frame_cfa:
        if (!run->machine->has_cfa) run->bad = true;
        push(run, run->machine->cfa);
        return true;
    default:
        return false;
    }
}

static bool step(struct run *run) {
    unsigned op = (unsigned)dwarf_unsigned(&run->in, 1);
    if (op >= DW_OP_lit0 && op <= DW_OP_lit31) {
        push(run, op - DW_OP_lit0);
    } else if (op >= DW_OP_breg0 && op <= DW_OP_breg31) {
        from_register(run, op - DW_OP_breg0, dwarf_sleb(&run->in));
    } else if (op == DW_OP_bregx) {
        uint64_t number = dwarf_uleb(&run->in);
        from_register(run, number, dwarf_sleb(&run->in));
    } else if (!constant(run, op) && !unary(run, op) && !binary(run, op) && !order(run, op)) {
        return false;
    }
    return !run->bad && !run->in.bad;
}

bool dwarf_evaluate(const struct dwarf_machine *machine, const uint8_t *code, size_t length, const uint64_t *first,
                    uint64_t *result) {
    struct run run = {.machine = machine, .in = {code, code + length, false}, .begin = code};
    if (!code || length == 0) return false;
    if (first) push(&run, *first);
    for (int steps = 0; run.in.at < run.in.end; steps++)
        if (steps == STEPS || !step(&run)) return false;
    *result = pop(&run);
    return !run.bad;
}
