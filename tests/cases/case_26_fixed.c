// MAP_FIXED over several mappings and holes, failing ones, MAP_FIXED_NOREPLACE, munmap of parts and of nothing.
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
enum { P = 4096 };
static char *base;

static void say(const char *what, const void *result) {
    if (result == MAP_FAILED)
        printf("%s: errno %d\n", what, errno);
    else
        printf("%s: at %ld\n", what, (long)((const char *)result - base) / P);
}
static void *fixed(long page, long pages, int prot, int flags, int fd, long offset) {
    return mmap(base + page * P, (size_t)pages * P, prot, flags, fd, offset);
}

int main(void) {
    int rw = PROT_READ | PROT_WRITE, anonymous = MAP_PRIVATE | MAP_ANONYMOUS;
    base = mmap(NULL, 256 * P, PROT_NONE, anonymous | MAP_NORESERVE, -1, 0);
    munmap(base + 64 * P, 64 * P); // a hole within
    int fd = open("/proc/self/exe", O_RDONLY);
    for (int round = 0; round < 20; round++) {
        say("three and two holes", fixed(0, 10, rw, anonymous | MAP_FIXED, -1, 0));
        memset(base, round, 10 * P);
        say("file", fixed(20, 4, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0));
        say("shared", fixed(30, 4, rw, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
        munmap(base + 12 * P, 3 * P);
        munmap(base + 26 * P, 2 * P);
        say("across all", fixed(5, 90, PROT_READ, anonymous | MAP_FIXED, -1, 0));
        say("bad descriptor", fixed(0, 40, rw, MAP_PRIVATE | MAP_FIXED, 9999, 0));
        say("no length", fixed(0, 0, rw, anonymous | MAP_FIXED, -1, 0));
        say("not aligned", mmap(base + 1, P, rw, anonymous | MAP_FIXED, -1, 0));
        say("bad offset", fixed(3, 1, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 1));
        say("write a read-only file", fixed(3, 1, rw, MAP_SHARED | MAP_FIXED, fd, 0));
        say("no replace, busy", fixed(8, 2, rw, anonymous | MAP_FIXED_NOREPLACE, -1, 0));
        munmap(base + 100 * P, 10 * P);
        say("no replace, free", fixed(100, 2, rw, anonymous | MAP_FIXED_NOREPLACE, -1, 0));
        printf("munmap of nothing %d\n", munmap(base + 104 * P, P));
        errno = 0;
        int result = mprotect(base + 90 * P, 20 * P, PROT_READ);
        printf("mprotect over a hole %d errno %d\n", result, errno);
        result = munmap(base + 3, P);
        printf("munmap not aligned %d errno %d\n", result, errno);
        fixed(0, 64, PROT_NONE, anonymous | MAP_FIXED | MAP_NORESERVE, -1, 0);
    }
    fflush(stdout);
    return 0;
}
