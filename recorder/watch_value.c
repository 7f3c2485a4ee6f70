#include "watch_value.h"

#include <errno.h>
#include <linux/bpf.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

// Helpers by number: include/uapi/linux/bpf.h, __BPF_FUNC_MAPPER.
enum { HELPER_PERF_EVENT_OUTPUT = 25, HELPER_PROBE_READ_USER = 112 };

#define OP(code_, dst_, src_, off_, imm_)                                                                              \
    ((struct bpf_insn){.code = (code_), .dst_reg = (dst_), .src_reg = (src_), .off = (off_), .imm = (int32_t)(imm_)})
#define MOVE(dst, src) OP(BPF_ALU64 | BPF_MOV | BPF_X, dst, src, 0, 0)
#define SET(dst, value) OP(BPF_ALU64 | BPF_MOV | BPF_K, dst, 0, 0, value)
#define ADD(dst, value) OP(BPF_ALU64 | BPF_ADD | BPF_K, dst, 0, 0, value)
#define STORE(offset, src) OP(BPF_STX | BPF_MEM | BPF_DW, BPF_REG_10, src, offset, 0)
#define LOAD64(dst, kind, value)                                                                                       \
    OP(BPF_LD | BPF_DW | BPF_IMM, dst, kind, 0, (uint32_t)(value)), OP(0, 0, 0, 0, (uint64_t)(value) >> 32)
#define CALL(helper) OP(BPF_JMP | BPF_CALL, 0, 0, 0, helper)

enum { FRAME = -(int)sizeof(struct watch_value), BYTES_AT = FRAME + 8, GOOD_AT = FRAME + 16 };

static int bpf(int command, union bpf_attr *attr) {
    long result = syscall(SYS_bpf, command, attr, sizeof *attr);
    return result < 0 ? -errno : (int)result;
}

int watch_value_map(int processors) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.map_type = BPF_MAP_TYPE_PERF_EVENT_ARRAY;
    attr.key_size = attr.value_size = 4;
    attr.max_entries = (uint32_t)processors;
    return bpf(BPF_MAP_CREATE, &attr);
}

int watch_value_set_output(int map, int processor, int event_fd) {
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.map_fd = (uint32_t)map;
    attr.key = (uint64_t)(uintptr_t)&processor;
    attr.value = (uint64_t)(uintptr_t)&event_fd;
    return bpf(BPF_MAP_UPDATE_ELEM, &attr);
}

int watch_value_program(int map, uint64_t addr, uint32_t length) {
    const struct bpf_insn program[] = {
        MOVE(BPF_REG_6, BPF_REG_1), // the context
        LOAD64(BPF_REG_7, 0, addr),
        STORE(FRAME, BPF_REG_7),
        SET(BPF_REG_0, 0),
        STORE(BYTES_AT, BPF_REG_0),
        // probe_read_user(bytes, length, addr)
        MOVE(BPF_REG_1, BPF_REG_10),
        ADD(BPF_REG_1, BYTES_AT),
        SET(BPF_REG_2, length),
        MOVE(BPF_REG_3, BPF_REG_7),
        CALL(HELPER_PROBE_READ_USER),
        SET(BPF_REG_1, 0),
        OP(BPF_JMP | BPF_JNE | BPF_K, BPF_REG_0, 0, 1, 0),
        SET(BPF_REG_1, 1),
        STORE(GOOD_AT, BPF_REG_1),
        // perf_event_output(context, map, BPF_F_CURRENT_CPU, value, its size)
        MOVE(BPF_REG_1, BPF_REG_6),
        LOAD64(BPF_REG_2, BPF_PSEUDO_MAP_FD, map),
        LOAD64(BPF_REG_3, 0, BPF_F_CURRENT_CPU),
        MOVE(BPF_REG_4, BPF_REG_10),
        ADD(BPF_REG_4, FRAME),
        SET(BPF_REG_5, sizeof(struct watch_value)),
        CALL(HELPER_PERF_EVENT_OUTPUT),
        SET(BPF_REG_0, 1), // the breakpoint's own record is to be written too
        OP(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
    };
    union bpf_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.prog_type = BPF_PROG_TYPE_PERF_EVENT;
    attr.insns = (uint64_t)(uintptr_t)program;
    attr.insn_cnt = sizeof program / sizeof *program;
    attr.license = (uint64_t)(uintptr_t) "GPL"; // the helpers are for programs that say so
    return bpf(BPF_PROG_LOAD, &attr);
}
