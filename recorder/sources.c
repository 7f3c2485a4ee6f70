#include "sources.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernel.h"

// VMVIS_HIDE is a comma-separated list of what shall count as missing.
static bool hidden(const char *name) {
    const char *list = getenv("VMVIS_HIDE");
    size_t length = strlen(name);
    while (list && *list) {
        size_t word = strcspn(list, ",");
        if (word == length && memcmp(list, name, length) == 0) return true;
        list += word + (list[word] == ',');
    }
    return false;
}

static int read_paranoid(void) {
    char text[32] = "";
    int fd = open("/proc/sys/kernel/perf_event_paranoid", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) close(fd);
    return got > 0 ? atoi(text) : -100;
}

static int probe_perf(bool kernel) {
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_SW_PAGE_FAULTS,
        .sample_period = 1,
        .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
        .disabled = 1,
        .inherit = 1,
        .exclude_kernel = !kernel,
        .use_clockid = 1,
        .clockid = CLOCK_MONOTONIC,
    };
    long fd = syscall(SYS_perf_event_open, &attr, 0, 0, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0) return errno;
    close((int)fd);
    return 0;
}

static void probe_records(struct sources *s) {
    s->perf_paranoid = read_paranoid();
    s->perf_errno = hidden("perf") ? ENOSYS : probe_perf(true);
    s->perf_kernel = s->perf_errno == 0;
    if (!s->perf_kernel && !hidden("perf")) s->perf_errno = probe_perf(false);
    s->perf = s->perf_errno == 0;
}

// A userfaultfd with its features negotiated, or -errno.
static int open_uffd(int flags, uint64_t features, uint64_t *offered) {
    long fd = syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | flags);
    if (fd < 0) return -errno;
    struct uffdio_api api = {.api = UFFD_API, .features = features};
    int error = ioctl((int)fd, UFFDIO_API, &api) == 0 ? 0 : -errno;
    if (offered) *offered = api.features;
    if (error == 0) return (int)fd;
    close((int)fd);
    return error;
}

// Arms a page, writes to it, and looks whether both scans say the truth.
static bool scan_works(int uffd, int pagemap, char *page, size_t size) {
    struct uffdio_register range = {.range = {.start = (uintptr_t)page, .len = size}, .mode = UFFDIO_REGISTER_MODE_WP};
    struct page_region found[4];
    struct pm_scan_arg scan = {
        .size = sizeof scan,
        .flags = PM_SCAN_WP_MATCHING,
        .start = (uintptr_t)page,
        .end = (uintptr_t)page + size,
        .vec = (uintptr_t)found,
        .vec_len = 4,
        .category_mask = PAGE_IS_WRITTEN,
        .category_anyof_mask = PAGE_IS_PRESENT | PAGE_IS_SWAPPED,
        .return_mask = PAGE_IS_WRITTEN,
    };
    *(volatile char *)page = 1;
    if (ioctl(uffd, UFFDIO_REGISTER, &range) != 0) return false;
    if (ioctl(pagemap, PAGEMAP_SCAN, &scan) != 1 || ioctl(pagemap, PAGEMAP_SCAN, &scan) != 0) return false;
    *(volatile char *)page = 2;
    return ioctl(pagemap, PAGEMAP_SCAN, &scan) == 1;
}

static bool ioctl_known(int pagemap) {
    struct pm_scan_arg empty = {.size = sizeof empty, .return_mask = PAGE_IS_PRESENT, .category_mask = PAGE_IS_PRESENT};
    return ioctl(pagemap, PAGEMAP_SCAN, &empty) >= 0;
}

static void probe_wp_async(struct sources *s) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    int pagemap = hidden("pagemap") ? -1 : open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    s->pagemap = pagemap >= 0;
    s->pagemap_scan = pagemap >= 0 && !hidden("pagemap_scan") && ioctl_known(pagemap);
    int uffd = s->uffd_user || s->uffd_full
                   ? open_uffd(s->uffd_full ? 0 : UFFD_USER_MODE_ONLY, UFFD_FEATURE_WP_ASYNC, NULL)
                   : -ENOSYS;
    char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    // Without the scan nobody could tell what was written.
    s->wp_async = uffd >= 0 && s->pagemap_scan && page != MAP_FAILED && !hidden("wp_async") &&
                  scan_works(uffd, pagemap, page, size);
    if (page != MAP_FAILED) munmap(page, size);
    if (uffd >= 0) close(uffd);
    if (pagemap >= 0) close(pagemap);
}

static bool sysctl_allows_uffd(void) {
    char text[8] = "";
    int fd = open("/proc/sys/vm/unprivileged_userfaultfd", O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) close(fd);
    return got > 0 && text[0] == '1';
}

// A descriptor that the program made can be brought here: pidfd_open(2), pidfd_getfd(2). 0 or a negative errno.
static int fetching_works(void) {
    int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
    if (pidfd < 0) return -errno;
    int fd = (int)syscall(SYS_pidfd_getfd, pidfd, pidfd, 0), error = fd < 0 ? -errno : 0;
    if (fd >= 0) close(fd);
    close(pidfd);
    return error;
}

// 0 or a negative errno.
static int registering_works(int uffd) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    char *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) return -errno;
    struct uffdio_register range = {.range = {.start = (uintptr_t)page, .len = size},
                                    .mode = UFFDIO_REGISTER_MODE_MISSING};
    int error = ioctl(uffd, UFFDIO_REGISTER, &range) == 0 ? 0 : -errno;
    munmap(page, size);
    return error;
}

static void probe_uffd(struct sources *s, bool program_drops_privileges) {
    int fetching = hidden("uffd") ? -ENOSYS : fetching_works();
    int fd = fetching ? fetching : open_uffd(0, 0, &s->uffd_features);
    int error = fd < 0 ? fd : registering_works(fd);
    s->uffd_errno = -error;
    if (fd >= 0) close(fd);
    s->uffd_full = error == 0;
    if (s->uffd_full && program_drops_privileges && !sysctl_allows_uffd()) {
        s->uffd_full = false;
        s->uffd_errno = EPERM;
    }
    fd = fetching ? fetching : open_uffd(UFFD_USER_MODE_ONLY, 0, &s->uffd_features);
    s->uffd_user = fd >= 0;
    if (fd >= 0) close(fd);
}

// In a child, so that no one who uses soft-dirty bits on this process is disturbed.
static bool probe_soft_dirty(void) {
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
        static volatile char page[8192] __attribute__((aligned(4096)));
        uint64_t before = 0, after = 0;
        off_t at = (off_t)((uintptr_t)page / 4096 * 8);
        int pagemap = open("/proc/self/pagemap", O_RDONLY), clear = open("/proc/self/clear_refs", O_WRONLY);
        page[0] = 1;
        bool good = pagemap >= 0 && clear >= 0 && write(clear, "4", 1) == 1 && pread(pagemap, &before, 8, at) == 8;
        page[0] = 2;
        good = good && pread(pagemap, &after, 8, at) == 8;
        _exit(good && !(before & PAGEMAP_SOFT_DIRTY) && (after & PAGEMAP_SOFT_DIRTY) ? 0 : 1);
    }
    int status;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) return false;
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool probe_vm_readv(void) {
    int from = 7, to = 0;
    struct iovec local = {&to, sizeof to}, remote = {&from, sizeof from};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof to && to == 7;
}

void sources_probe(struct sources *sources, bool program_drops_privileges, bool records) {
    *sources = (struct sources){0};
    if (records) probe_records(sources);
    probe_uffd(sources, program_drops_privileges);
    probe_wp_async(sources);
    sources->soft_dirty = !sources->wp_async && !hidden("soft_dirty") && probe_soft_dirty();
    sources->vm_readv = probe_vm_readv();
    sources->changed = sources->wp_async     ? SOURCES_CHANGED_WP_ASYNC
                       : sources->soft_dirty ? SOURCES_CHANGED_SOFT_DIRTY
                                             : SOURCES_CHANGED_HASH;
}

const char *sources_faults_name(const struct sources *sources) {
    switch (sources->faults) {
    case VMV_SOURCE_RECORDS:
        return "records";
    case VMV_SOURCE_UFFD:
        return "uffd";
    case VMV_SOURCE_FRAMES:
        return "frames";
    default:
        return "none";
    }
}
