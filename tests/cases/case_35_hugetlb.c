// MAP_HUGETLB memory: as many pages as the pool has are touched, then one more.
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum { HUGE = 2 << 20 };
static sigjmp_buf back;
static void on_bus(int number) { siglongjmp(back, number); }

int main(int argc, char **argv) {
    volatile int pool = argc > 1 ? atoi(argv[1]) : 4;
    signal(SIGBUS, on_bus);
    char *volatile memory = mmap(NULL, (size_t)(pool + 1) * HUGE, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        printf("mmap errno %d\n", errno);
        return 0;
    }
    volatile int touched = 0, bus = 0;
    for (volatile int i = 0; i <= pool; i++) {
        if ((bus = sigsetjmp(back, 1)) != 0) break;
        memory[(size_t)i * HUGE + 12345] = (char)(i + 1);
        touched++;
        nanosleep(&(struct timespec){0, 15000000}, NULL);
        for (volatile int k = 0; k < 5000000; k++) {
        }
    }
    int same = 1;
    for (int i = 0; i < touched; i++) same &= memory[(size_t)i * HUGE + 12345] == i + 1;
    memory[5] = 1;
    int result = munmap(memory, 4096), error = errno;
    printf("touched %d signal %d same %d munmap of a part %d errno %d\n", touched, bus, same, result, error);
    return munmap(memory, (size_t)(pool + 1) * HUGE);
}
