// What the kernel offers and Debian 12's headers lack: numbers and structures of the kernel's own interface.
#ifndef REC_KERNEL_H
#define REC_KERNEL_H

#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#ifndef UFFD_USER_MODE_ONLY
#define UFFD_USER_MODE_ONLY 1
#endif
#ifndef UFFD_FEATURE_EXACT_ADDRESS
#define UFFD_FEATURE_EXACT_ADDRESS (1 << 11)
#endif
#ifndef UFFD_FEATURE_WP_HUGETLBFS_SHMEM
#define UFFD_FEATURE_WP_HUGETLBFS_SHMEM (1 << 12)
#endif
#ifndef UFFD_FEATURE_WP_UNPOPULATED
#define UFFD_FEATURE_WP_UNPOPULATED (1 << 13)
#endif
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif
#ifndef USERFAULTFD_IOC_NEW
#define USERFAULTFD_IOC_NEW _IO(0xAA, 0x00)
#endif

#ifndef PERF_FORMAT_LOST
#define PERF_FORMAT_LOST (1U << 4) // an enum member where the headers have it
#endif

enum { RSEQ_CS_OFFSET = 8 };                            // of struct rseq's rseq_cs, linux/rseq.h
enum { KERNEL_PTRACE_GET_RSEQ_CONFIGURATION = 0x420f }; // 5.13
struct kernel_rseq_configuration {
    uint64_t rseq_abi_pointer; // 0: the thread has none
    uint32_t rseq_abi_size, signature, flags, pad;
};

enum { KERNEL_PTRACE_GET_USER_DISPATCH = 0x4211 }; // PTRACE_GET_SYSCALL_USER_DISPATCH_CONFIG, 6.4
struct kernel_user_dispatch {
    uint64_t on, selector, offset, length; // on: PR_SYS_DISPATCH_ON, or 0
};

#ifndef PAGEMAP_SCAN
#define PAGEMAP_SCAN _IOWR('f', 16, struct pm_scan_arg)
struct page_region {
    uint64_t start, end, categories;
};
struct pm_scan_arg {
    uint64_t size, flags, start, end, walk_end, vec, vec_len, max_pages;
    uint64_t category_inverted, category_mask, category_anyof_mask, return_mask;
};
enum { PM_SCAN_WP_MATCHING = 1, PM_SCAN_CHECK_WPASYNC = 2 };
enum {
    PAGE_IS_WPALLOWED = 1,
    PAGE_IS_WRITTEN = 2,
    PAGE_IS_FILE = 4,
    PAGE_IS_PRESENT = 8,
    PAGE_IS_SWAPPED = 16,
    PAGE_IS_PFNZERO = 32,
    PAGE_IS_HUGE = 64,
    PAGE_IS_SOFT_DIRTY = 128,
};
#endif
#ifndef PAGE_IS_GUARD
#define PAGE_IS_GUARD (1 << 8) // 6.15
#endif

#ifndef PROCMAP_QUERY
#define PROCMAP_QUERY _IOWR('f', 17, struct procmap_query) // 6.11, on an open /proc/PID/maps
enum {
    PROCMAP_QUERY_VMA_READABLE = 1,
    PROCMAP_QUERY_VMA_WRITABLE = 2,
    PROCMAP_QUERY_VMA_EXECUTABLE = 4,
    PROCMAP_QUERY_VMA_SHARED = 8,
    PROCMAP_QUERY_COVERING_OR_NEXT_VMA = 16,
};
struct procmap_query {
    uint64_t size, query_flags, query_addr;
    uint64_t vma_start, vma_end, vma_flags, vma_page_size, vma_offset, inode;
    uint32_t dev_major, dev_minor, vma_name_size, build_id_size;
    uint64_t vma_name_addr, build_id_addr;
};
#endif

// /proc/PID/pagemap, one 64-bit word a page
#define PAGEMAP_SOFT_DIRTY (1ULL << 55)
#define PAGEMAP_UFFD_WP (1ULL << 57)
#define PAGEMAP_GUARD (1ULL << 58)
#define PAGEMAP_FILE (1ULL << 61)
#define PAGEMAP_SWAPPED (1ULL << 62)
#define PAGEMAP_PRESENT (1ULL << 63)

// what the kernel puts into the return register of an interrupted call; user space never sees them
enum {
    KERNEL_ERESTARTSYS = 512,
    KERNEL_ERESTARTNOINTR = 513,
    KERNEL_ERESTARTNOHAND = 514,
    KERNEL_ERESTART_RESTARTBLOCK = 516
};

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd 438
#endif
#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef SYS_mseal
#define SYS_mseal 462
#endif
#ifndef SYS_map_shadow_stack
#define SYS_map_shadow_stack 453
#endif

#endif
