// Writes to variables in all ways, and says which values followed each other.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

volatile uint64_t counter = 3;
volatile uint32_t small = 7;
volatile uint8_t bytes[8];
volatile struct {
    char name[24];
    uint64_t field;
} record;

enum { ADDS = 2000 };

__attribute__((noinline)) static void store(uint64_t value) { counter = value; }

static void *add(void *unused) {
    for (int i = 0; i < ADDS; i++) __atomic_fetch_add(&counter, 1, __ATOMIC_SEQ_CST);
    return unused;
}

int main(void) {
    pthread_t threads[2];
    printf("counter=%p small=%p bytes=%p field=%p\n", (void *)&counter, (void *)&small, (void *)bytes,
           (void *)&record.field);
    fflush(stdout);
    for (unsigned i = 0; i < 5; i++) store(100 * i);
    for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, add, NULL);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
    small = 9;
    bytes[5] = 0x55;
    record.field = 0x1234;
    int zero = open("/dev/zero", O_RDONLY);
    if (read(zero, (void *)&small, sizeof small) != sizeof small) return 1; // by the kernel
    pid_t child = fork();
    if (child == 0) {
        store(77);
        execl("/bin/true", "true", NULL);
    }
    waitpid(child, NULL, 0);
    store(5);
    printf("adds=%d child=%d\n", ADDS, (int)child);
    return 0;
}
