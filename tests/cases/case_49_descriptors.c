// Forks where no descriptor is left, so that the child cannot make a userfaultfd; the child writes to
// 0x30000038 and prints what else worked, and that its descriptors are as they were.
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static int use_memory(uint64_t *stored) {
    unsigned good = 0;
    for (unsigned i = 0; i < 100; i++) {
        char *memory = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) continue;
        memory[i] = 1;
        good += munmap(memory, 16384) == 0;
    }
    stored[7] = 0x1122334455667788;
    usleep(50000);
    int free_ones = 0;
    for (int fd; (fd = dup(0)) >= 0;) free_ones++;
    printf("%u of 100, %d descriptors free, %d\n", good, free_ones, errno == EMFILE);
    fflush(stdout);
    return 6;
}

int main(void) {
    int status;
    void *stored =
        mmap((void *)0x30000000, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    setrlimit(RLIMIT_NOFILE, &(struct rlimit){16, 16});
    while (dup(0) >= 0) {
    }
    fflush(stdout);
    if (fork() == 0) _exit(use_memory(stored));
    wait(&status);
    printf("child ended with %#x\n", status);
    return 5;
}
