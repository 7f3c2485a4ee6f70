#include "filter.h"

#include "arch.h"
#include "arch_filter.h"
#include "call.h"
#include "kernel.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <unistd.h>

// One word of struct seccomp_data; arguments are 64 bits, of which the low word is compared (little-endian).
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define TRACE TRACE_AS(FILTER_NATIVE)
#define TRACE_AS(answer) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRACE | (answer))
// Always traced.
#define ON_AS(number, answer) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), TRACE_AS(answer)
#define FOREIGN(number) ON_AS(number, FILTER_FOREIGN)
#define ON(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), TRACE
// Traced if an argument has one of these bits.
#define ON_BITS(number, index, bits)                                                                                   \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 4), LOAD(args[index]),                                            \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, (bits), 0, 1), TRACE, ALLOW
// Traced if an argument is one of two values.
#define ON_VALUES(number, index, one, other)                                                                           \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 5), LOAD(args[index]),                                            \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (one), 1, 0), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (other), 0, 1), TRACE,   \
        ALLOW

enum { PUNCH_HOLE = 2, CLONE_UNTRACED_BIT = 0x00800000, SET_VMA = 0x53564d41 };

// The kernel keeps a bitmap of calls that are always allowed (5.11+), so the length of this list costs only the calls
// on it.
static const struct sock_filter program[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH_AUDIT, ARCH_FOREIGN_WORDS + 1, 0),
    LOAD(nr),
    ARCH_FOREIGN_CALLS,
    LOAD(nr),
    ARCH_MARKED_CALLS,
    ON(SYS_mmap),
    ON(SYS_munmap),
    ON(SYS_brk),
    ON(SYS_mprotect),
    ON(SYS_madvise),
    ON(SYS_mremap),
    ON(SYS_execve),
    ON(SYS_execveat),
    ON(SYS_clone3),
    ON(SYS_shmat),
    ON(SYS_shmdt),
    ON(SYS_remap_file_pages),
    ON(SYS_pkey_mprotect),
    ON(SYS_process_madvise),
    ON(SYS_mseal),
    ON(SYS_map_shadow_stack),
    ON(SYS_truncate),
    ON(SYS_ftruncate),
    ON(SYS_userfaultfd),
    ON_BITS(SYS_fallocate, 1, PUNCH_HOLE),
    ON_BITS(SYS_clone, 0, CLONE_UNTRACED_BIT),
    ON(SYS_seccomp),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ptrace, 0, 6),
    LOAD(args[0]),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PTRACE_TRACEME, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PTRACE_ATTACH, 1, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PTRACE_SEIZE, 0, 1),
    TRACE,
    ALLOW,
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 6),
    LOAD(args[0]),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SET_VMA, 2, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, CALL_MARK_OPTION, 1, 0),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
    TRACE,
    ALLOW,
    ON_VALUES(SYS_ioctl, 1, (uint32_t)UFFDIO_REGISTER, (uint32_t)USERFAULTFD_IOC_NEW),
    ALLOW,
};

static bool has_admin(void) {
    struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
    struct __user_cap_data_struct data[2] = {0};
    if (syscall(SYS_capget, &header, data) != 0) return false;
    return data[0].effective & (1u << CAP_SYS_ADMIN);
}

int filter_install(void) {
    struct sock_fprog fprog = {sizeof program / sizeof *program, (struct sock_filter *)program};
    if (!has_admin() && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return -errno;
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &fprog) != 0) return -errno;
    return 0;
}
