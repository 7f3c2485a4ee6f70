// The part of the seccomp filter that knows other calling conventions than the native one. Included by filter.c alone,
// which has the macros.
#ifndef REC_ARCH_FILTER_H
#define REC_ARCH_FILTER_H

#ifdef __x86_64__
// Numbers of arch/x86/entry/syscalls/syscall_32.tbl: mmap, mmap2, munmap, mremap, mprotect, brk, madvise,
// remap_file_pages, ipc (shmat, shmdt), shmat, shmdt, pkey_mprotect, mseal; execve, execveat; seccomp; prctl; clone.
#define ARCH_FOREIGN_WORDS (2 * 16 + 5 + 5)
#define ARCH_FOREIGN_CALLS                                                                                             \
    FOREIGN(90), FOREIGN(192), FOREIGN(91), FOREIGN(163), FOREIGN(125), FOREIGN(45), FOREIGN(219), FOREIGN(257),       \
        FOREIGN(117), FOREIGN(397), FOREIGN(398), FOREIGN(380), FOREIGN(462), ON_AS(11, FILTER_FOREIGN_EXEC),          \
        ON_AS(358, FILTER_FOREIGN_EXEC), ON_AS(354, FILTER_FOREIGN_SECCOMP),                                           \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 172, 0, 4), LOAD(args[0]),                                                 \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1), TRACE_AS(FILTER_FOREIGN_SECCOMP), ALLOW,            \
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 120, 0, 3), LOAD(args[0]),                                                 \
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_UNTRACED_BIT, 0, 1), TRACE_AS(FILTER_FOREIGN_CLONE), ALLOW
// x32: the native numbers with a bit on top, but for execve 520 and execveat 545.
#define X32_BIT 0x40000000u
#define X32_WORDS (2 * 12 + 2)
#define ARCH_MARKED_CALLS                                                                                              \
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, X32_BIT, 0, X32_WORDS), BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~X32_BIT),        \
        FOREIGN(SYS_mmap), FOREIGN(SYS_munmap), FOREIGN(SYS_mremap), FOREIGN(SYS_mprotect), FOREIGN(SYS_brk),          \
        FOREIGN(SYS_madvise), FOREIGN(SYS_remap_file_pages), FOREIGN(SYS_shmat), FOREIGN(SYS_shmdt),                   \
        FOREIGN(SYS_pkey_mprotect), ON_AS(520, FILTER_FOREIGN_EXEC), ON_AS(545, FILTER_FOREIGN_EXEC), ALLOW
#else
#define ARCH_FOREIGN_WORDS 1
#define ARCH_FOREIGN_CALLS ALLOW
#define ARCH_MARKED_CALLS LOAD(nr)
#endif

#endif
