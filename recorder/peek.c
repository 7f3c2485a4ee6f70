#include "peek.h"

#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES_MAX = 17, PRESENT_BIT = 63 };

// Bytes from addr on that lie in present pages (pagemap.rst: bit 63 of a page's entry).
static size_t present_length(int pagemap, uint64_t addr, size_t length) {
    uint64_t entries[PAGES_MAX];
    uint64_t first = addr / PAGE, pages = (addr + length - 1) / PAGE - first + 1;
    if (pages > PAGES_MAX) pages = PAGES_MAX;
    ssize_t got = pread(pagemap, entries, pages * sizeof *entries, (off_t)(first * sizeof *entries));
    if (got < 0) return length;
    uint64_t present = 0;
    while (present < (uint64_t)got / sizeof *entries && entries[present] >> PRESENT_BIT) present++;
    uint64_t end = (first + present) * PAGE;
    if (end <= addr) return 0;
    return end - addr < length ? end - addr : length;
}

size_t peek_present(pid_t pid, int pagemap, uint64_t addr, void *out, size_t length) {
    if (length == 0) return 0;
    if (pagemap >= 0) length = present_length(pagemap, addr, length);
    if (length == 0) return 0;
    struct iovec local = {out, length}, remote = {(void *)addr, length};
    ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    return got > 0 ? (size_t)got : 0;
}
