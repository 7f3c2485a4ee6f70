// Splits memory into as many mappings as asked for (or as the kernel allows), then maps and unmaps at that number.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

int main(int argc, char **argv) {
    long most = argc > 1 ? atol(argv[1]) : 2000, made = 0, worked = 0;
    int why = 0, later = 0;
    size_t size = (size_t)most * 2 * 4096;
    char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return 2;
    for (long i = 0; i < most; i++, made++)
        if (mprotect(memory + i * 8192, 4096, PROT_READ) != 0) {
            why = errno;
            break;
        }
    for (int i = 0; i < 200; i++) {
        char *more = mmap(NULL, 8192, i % 2 ? PROT_READ : PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (more == MAP_FAILED) {
            later = errno;
            continue;
        }
        worked++;
        if (munmap(more, 8192) != 0) later = errno;
    }
    printf("mprotect failed with %d, then %ld of 200 worked, errno %d\n", why, worked, later);
    // the exact number depends on how many libraries are mapped, which is the same alone and recorded
    printf("made %ld\n", made);
    return 0;
}
