// Pages are given back: anonymous ones read as zero afterwards, file pages as the file.   madvise_dontneed
// [--checkpoints N]
#include "calls.h"

#define PAGE 4096
#define PAGES 16

static void say(const char *name, char *start) {
    truth_checkpoint(name);
    truth_value(name, start + 5 * PAGE, 8);
    truth_value(name, start + 13 * PAGE, 8);
}

static char *map_file(int fd) {
    char *start = call_mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (start == MAP_FAILED) truth_fail("mmap");
    return start;
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    truth_begin();
    char *start = call_anonymous(PAGES * PAGE);
    for (size_t i = 0; i < PAGES; i++) call_store(start + i * PAGE, 0x100 + i);
    say("filled", start);

    call_madvise(start + 4 * PAGE, 4 * PAGE, MADV_DONTNEED);
    call_store(start + 5 * PAGE, *(volatile uint64_t *)(start + 5 * PAGE) + 1);
    say("given back", start);

    call_madvise(start + 12 * PAGE, 2 * PAGE, MADV_FREE);
    call_madvise(start, PAGE, 12345);
    call_madvise(start + 1, PAGE, MADV_DONTNEED);
    say("lazily freed", start + PAGE);

    // The call reports the hole, but the pages around it are gone.
    call_munmap(start + 9 * PAGE, PAGE);
    call_madvise(start + 8 * PAGE, 3 * PAGE, MADV_DONTNEED);
    say("across a hole", start + PAGE);

    int fd = memfd_create("dontneed", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, PAGES * PAGE) != 0) truth_fail("memfd_create");
    char *shared = map_file(fd);
    for (size_t i = 0; i < PAGES; i++) call_store(shared + i * PAGE, 0x200 + i);
    truth_sleep(TRUTH_QUIET_NS); // long enough to be seen: afterwards the mapping no longer shows these pages
    call_madvise(shared, PAGES * PAGE, MADV_DONTNEED);
    say("file pages come back", shared);
    return truth_end();
}
