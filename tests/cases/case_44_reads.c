// Sixteen threads read() into fresh pages all the time, while frames want them to stop.
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { THREADS = 16, P = 4096, PAGES = 16 };
static int rounds;
static atomic_long wrong, bytes;
static void *reader(void *argument) {
    (void)argument;
    int fd = open("/dev/zero", O_RDONLY), half = open("/proc/self/exe", O_RDONLY);
    for (int i = 0; i < rounds; i++) {
        char *fresh = mmap(NULL, PAGES * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        long got = read(fd, fresh, PAGES / 2 * P);
        if (got != PAGES / 2 * P) wrong++;
        got = pread(half, fresh + PAGES / 2 * P + 100, 4, 0);
        if (got != 4 || fresh[PAGES / 2 * P + 101] != 'E') wrong++;
        bytes += got;
        munmap(fresh, PAGES * P);
    }
    close(fd);
    close(half);
    return NULL;
}
int main(int argc, char **argv) {
    rounds = argc > 1 ? atoi(argv[1]) : 60;
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) pthread_create(&threads[i], NULL, reader, NULL);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    printf("wrong %ld, bytes %ld\n", wrong, bytes);
    return 0;
}
