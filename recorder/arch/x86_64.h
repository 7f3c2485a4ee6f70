// x86-64: registers of a stopped thread, system call numbers, register blobs. Functions that take a tid are ptrace
// requests: only the tracer thread may call them. They return 0 or a negative errno (-ESRCH: gone, or not stopped).
#ifndef REC_ARCH_X86_64_H
#define REC_ARCH_X86_64_H

#include <errno.h>
#include <linux/audit.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/user.h>

#define ARCH_NAME "x86_64"
#define ARCH_AUDIT AUDIT_ARCH_X86_64 // <linux/audit.h>, for seccomp filters
#define ARCH_REGISTER_SET "x86_64-user-regs"
#define ARCH_SPACE_END 0x7ffffffff000ULL // end of what a program can map (without 57-bit addresses)

struct arch_regs { // the REGS "general" blob, byte for byte
    struct user_regs_struct user;
};
int arch_get_regs(pid_t tid, struct arch_regs *regs);
int arch_set_regs(pid_t tid, const struct arch_regs *regs);
// The extended state as the kernel's XSAVE area. Returns its length in bytes (0: refused), at most `room`.
enum { ARCH_EXTENDED_MAX = 16384 };
size_t arch_get_extended(pid_t tid, void *out, size_t room);

static inline uint64_t arch_pc(const struct arch_regs *r) { return r->user.rip; }
static inline uint64_t arch_sp(const struct arch_regs *r) { return r->user.rsp; }
static inline uint64_t arch_fp(const struct arch_regs *r) { return r->user.rbp; }
// Number of the system call the thread is in (at its stops), -1: none. At entry and exit stops.
static inline int64_t arch_syscall(const struct arch_regs *r) { return (int64_t)r->user.orig_rax; }
static inline int64_t arch_ret(const struct arch_regs *r) { return (int64_t)r->user.rax; }
static inline void arch_set_pc(struct arch_regs *r, uint64_t pc) { r->user.rip = pc; }
static inline void arch_set_sp(struct arch_regs *r, uint64_t sp) { r->user.rsp = sp; }
static inline void arch_set_ret(struct arch_regs *r, int64_t ret) { r->user.rax = (uint64_t)ret; }
// At an entry stop: the call to be made instead; -1: none.
static inline void arch_set_syscall(struct arch_regs *r, int64_t nr) { r->user.orig_rax = (uint64_t)nr; }
uint64_t arch_arg(const struct arch_regs *regs, unsigned index); // 0..5
void arch_set_arg(struct arch_regs *regs, unsigned index, uint64_t value);
// Registers so that the instruction at pc, a system call instruction, makes this call.
void arch_prepare_call(struct arch_regs *regs, uint64_t pc, int64_t nr, const uint64_t args[6]);
bool arch_is_compat(const struct arch_regs *regs); // runs 32-bit code
bool arch_is_foreign_call(pid_t tid);              // at a system call's stop: made by another convention
// Calls made by another convention than the native one (int 0x80 here): their first three arguments; whether it is
// prctl(2); whether seccomp's strict mode allows it.
uint64_t arch_foreign_arg(const struct arch_regs *regs, unsigned index);
bool arch_is_foreign_prctl(const struct arch_regs *regs);
bool arch_foreign_is_strict(const struct arch_regs *regs);
void arch_set_foreign_arg(struct arch_regs *regs, uint64_t value);
// The call the thread stands in was broken off and the kernel means to restart it when the thread goes on.
bool arch_restart_pending(const struct arch_regs *regs);
// At a stop of our own making: a call that gave EINTR because of us is made to restart. True if `regs` were changed.
bool arch_repair_eintr(struct arch_regs *regs);

// System call instructions: length in bytes; is there one at `code`; the first one in code[0..length), -1: none.
enum { ARCH_SYSCALL_BYTES = 2 };
bool arch_is_syscall_at(const uint8_t *code);
ptrdiff_t arch_find_syscall(const uint8_t *code, size_t length);

// perf: which registers to ask for (PERF_SAMPLE_REGS_USER), their number, and the way from a record's values (in mask
// order) to the general blob. Registers perf does not give are 0, orig_rax is -1.
uint64_t arch_perf_mask(void);
size_t arch_perf_count(void);
void arch_perf_to_regs(const uint64_t *values, struct arch_regs *regs);
// Whether the registers are those of a fork, vfork or clone that a pending signal made give up: the kernel restarts it.
bool arch_is_fork_begun_anew(const struct arch_regs *regs);
size_t arch_perf_pc_at(void); // bytes into the values, where the PC stands

#endif
