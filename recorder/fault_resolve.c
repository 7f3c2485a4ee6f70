#include "fault_resolve.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <sys/mman.h>

static const uint64_t page_sizes[] = {4096, 64 << 10, 2 << 20, 32 << 20, 512 << 20, 1ULL << 30};
enum { SIZES = sizeof page_sizes / sizeof page_sizes[0], LARGEST = 1 << 30, TRIES = 1000 };

const void *fault_zeros_create(void) {
    void *zeros = mmap(NULL, LARGEST, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (zeros == MAP_FAILED) return NULL;
    madvise(zeros, LARGEST, MADV_NOHUGEPAGE); // every page of it is the kernel's one zero page
    return zeros;
}

void fault_zeros_destroy(const void *zeros) {
    if (zeros) munmap((void *)(uintptr_t)zeros, LARGEST);
}

static void wake(int uffd, uint64_t start, uint64_t size) {
    struct uffdio_range range = {start, size};
    ioctl(uffd, UFFDIO_WAKE, &range); // an error means that nobody can wait there any more
}

static int fill_by_copy(int uffd, uint64_t start, uint64_t size, const void *zeros) {
    struct uffdio_copy copy = {.dst = start, .src = (uint64_t)(uintptr_t)zeros, .len = size};
    return ioctl(uffd, UFFDIO_COPY, &copy) == 0 ? 0 : errno;
}

static int fill_by_zeropage(int uffd, uint64_t start, uint64_t size) {
    struct uffdio_zeropage zero = {.range = {start, size}};
    return ioctl(uffd, UFFDIO_ZEROPAGE, &zero) == 0 ? 0 : errno;
}

// EAGAIN: the mapping is being changed by another thread, which is not waiting for us.
static int fill(int uffd, uint64_t start, uint64_t size, bool write, const void *zeros) {
    int error = EAGAIN;
    for (int tries = 0; error == EAGAIN && tries < TRIES; tries++) {
        if (tries) sched_yield();
        error = write ? fill_by_copy(uffd, start, size, zeros) : fill_by_zeropage(uffd, start, size);
    }
    return error;
}

// A page under a write-protect marker answers EEXIST to a zero page for ever, but can be copied to.
static int fill_missing(int uffd, uint64_t start, uint64_t size, bool write, const void *zeros) {
    int error = write ? EEXIST : fill(uffd, start, size, false, zeros);
    return error == EEXIST || error == EINVAL ? fill(uffd, start, size, true, zeros) : error;
}

enum fault_resolved fault_resolve_missing(int uffd, uint64_t addr, bool write, const void *zeros, int *failure) {
    int error = EINVAL;
    uint64_t start = 0;
    // EINVAL: the mapping has larger pages (hugetlb), which take a copy only.
    for (int i = 0; i < SIZES && error == EINVAL; i++) {
        start = addr & ~(page_sizes[i] - 1);
        error = fill_missing(uffd, start, page_sizes[i], write || i, zeros);
    }
    *failure = error;
    if (error == 0) return FAULT_RESOLVED;
    wake(uffd, addr & ~(uint64_t)4095, 4096);
    if (error == ESRCH) return FAULT_GONE;
    return error == EEXIST || error == ENOENT || error == EAGAIN ? FAULT_RACED : FAULT_FAILED;
}

enum fault_resolved fault_resolve_other(int uffd, uint64_t addr, uint64_t flags) {
    uint64_t start = addr & ~(uint64_t)4095;
    struct uffdio_writeprotect open = {.range = {start, 4096}};
    struct uffdio_continue go_on = {.range = {start, 4096}};
    if (flags & UFFD_PAGEFAULT_FLAG_WP)
        ioctl(uffd, UFFDIO_WRITEPROTECT, &open);
    else
        ioctl(uffd, UFFDIO_CONTINUE, &go_on);
    wake(uffd, start, 4096);
    return FAULT_RACED;
}
