// Numbers of Linux system calls' arguments that events carry, as x86-64 and aarch64 share them. A trace is read on
// other machines than it was made on, so the reader's own headers do not count.
#ifndef VMV_LINUX_ABI_H
#define VMV_LINUX_ABI_H

enum {
    ABI_PROT_READ = 1,
    ABI_PROT_WRITE = 2,
    ABI_PROT_EXEC = 4,
    ABI_PROT_RWX = 7,
    ABI_PROT_GROWSDOWN = 0x01000000,
    ABI_MAP_TYPE = 0x0f,
    ABI_MAP_SHARED = 1,
    ABI_MAP_SHARED_VALIDATE = 3,
    ABI_MAP_ANONYMOUS = 0x20,
    ABI_MAP_GROWSDOWN = 0x100,
    ABI_MAP_STACK = 0x20000,
    ABI_MAP_HUGETLB = 0x40000,
    ABI_MAP_HUGE_SHIFT = 26,
    ABI_MREMAP_DONTUNMAP = 4,
    ABI_MADV_DONTNEED = 4,
    ABI_MADV_FREE = 8,
    ABI_MADV_REMOVE = 9,
    ABI_MADV_DONTFORK = 10,
    ABI_MADV_DOFORK = 11,
    ABI_MADV_WIPEONFORK = 18,
    ABI_MADV_KEEPONFORK = 19,
    ABI_MADV_DONTNEED_LOCKED = 24,
    ABI_MADV_GUARD_INSTALL = 102,
    ABI_MADV_GUARD_REMOVE = 103,
    ABI_ENOMEM = 12,
};

#endif
