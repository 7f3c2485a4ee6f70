#include "peek.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, PAGES_MAX = 17, PRESENT_BIT = 63 };

static int open_memory(pid_t pid, int flags) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    return open(path, flags | O_CLOEXEC);
}

static size_t read_file(pid_t pid, uint64_t addr, void *out, size_t length) {
    int fd = open_memory(pid, O_RDONLY);
    if (fd < 0) return 0;
    ssize_t got = pread(fd, out, length, (off_t)addr);
    close(fd);
    return got > 0 ? (size_t)got : 0;
}

static bool is_refused(int error) { return error == EPERM || error == ENOSYS || error == EACCES; }

size_t peek_some(pid_t pid, uint64_t addr, void *out, size_t length) {
    struct iovec local = {out, length}, remote = {(void *)addr, length};
    ssize_t got = process_vm_readv(pid, &local, 1, &remote, 1, 0);
    if (got < 0 && is_refused(errno)) return read_file(pid, addr, out, length);
    return got > 0 ? (size_t)got : 0;
}

bool peek(pid_t pid, uint64_t addr, void *out, size_t length) { return peek_some(pid, addr, out, length) == length; }

bool poke(pid_t pid, uint64_t addr, const void *bytes, size_t length) {
    struct iovec local = {(void *)bytes, length}, remote = {(void *)addr, length};
    ssize_t done = process_vm_writev(pid, &local, 1, &remote, 1, 0);
    if (done >= 0 || !is_refused(errno)) return done == (ssize_t)length;
    int fd = open_memory(pid, O_WRONLY);
    if (fd < 0) return false;
    done = pwrite(fd, bytes, length, (off_t)addr);
    close(fd);
    return done == (ssize_t)length;
}

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
    return peek_some(pid, addr, out, length);
}
