// Memory that changes without a store of the program: io_uring reads, process_vm_writev from a sibling, O_DIRECT reads,
// aio, and /proc/PID/mem. Each target is fresh, then read back.
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { P = 4096, LENGTH = 16 * P };
static char *fresh(int armed) {
    char *memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (armed) { // seen by a frame before it changes
        memset(memory, 1, LENGTH);
        nanosleep(&(struct timespec){0, 15000000}, NULL);
        for (volatile int i = 0; i < 4000000; i++) {
        }
    }
    return memory;
}
static int all(const char *memory, char wanted) {
    for (int i = 0; i < LENGTH; i++)
        if (memory[i] != wanted) return 0;
    return 1;
}
static long by_uring(int fd, char *into) {
    struct io_uring_params params = {0};
    int ring = (int)syscall(SYS_io_uring_setup, 4, &params);
    if (ring < 0) return -errno;
    size_t size = params.sq_off.array + params.sq_entries * 4, cq = params.cq_off.cqes + params.cq_entries * 16;
    char *sq = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
    char *cqs = mmap(NULL, cq, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_CQ_RING);
    struct io_uring_sqe *sqes = mmap(NULL, P, PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQES);
    sqes[0] = (struct io_uring_sqe){.opcode = IORING_OP_READ, .fd = fd, .addr = (uintptr_t)into, .len = LENGTH};
    ((uint32_t *)(sq + params.sq_off.array))[0] = 0;
    ++*(volatile uint32_t *)(sq + params.sq_off.tail);
    long entered = syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0);
    struct io_uring_cqe *done = (void *)(cqs + params.cq_off.cqes);
    long result = entered < 0 ? -errno : done[0].res;
    close(ring);
    return result;
}
static long by_aio(int fd, char *into) {
    aio_context_t context = 0;
    if (syscall(SYS_io_setup, 4, &context) != 0) return -errno;
    struct iocb one = {.aio_lio_opcode = IOCB_CMD_PREAD, .aio_fildes = (uint32_t)fd, .aio_buf = (uintptr_t)into, .aio_nbytes = LENGTH};
    struct iocb *list[] = {&one};
    struct io_event event = {0};
    if (syscall(SYS_io_submit, context, 1, list) != 1) return -errno;
    syscall(SYS_io_getevents, context, 1, 1, &event, NULL);
    syscall(SYS_io_destroy, context);
    return (long)event.res;
}
static long by_sibling(pid_t me, char *into) {
    char *bytes = aligned_alloc(P, LENGTH);
    memset(bytes, 5, LENGTH);
    pid_t pid = fork();
    if (pid == 0) {
        struct iovec local = {bytes, LENGTH}, remote = {into, LENGTH};
        _exit(process_vm_writev(me, &local, 1, &remote, 1, 0) == LENGTH ? 0 : 1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    free(bytes);
    return WEXITSTATUS(status) == 0 ? LENGTH : -1;
}
static long by_mem(char *into) {
    char *bytes = malloc(LENGTH);
    memset(bytes, 5, LENGTH);
    int fd = open("/proc/self/mem", O_WRONLY);
    long result = pwrite(fd, bytes, LENGTH, (off_t)(uintptr_t)into);
    close(fd);
    free(bytes);
    return result;
}
int main(int argc, char **argv) {
    int file = open(argv[1], O_RDONLY), direct = open(argv[1], O_RDONLY | O_DIRECT);
    for (int armed = 0; armed < 2; armed++) {
        for (int kind = 0; kind < 6; kind++) {
            static const char *const names[] = {"read", "io_uring", "direct", "aio", "sibling", "mem"};
            char *into = fresh(armed || (kind == 5 && argc > 2));
            lseek(file, 0, SEEK_SET);
            long result = kind == 0   ? read(file, into, LENGTH)
                          : kind == 1 ? by_uring(file, into)
                          : kind == 2 ? direct < 0 ? -EINVAL : pread(direct, into, LENGTH, 0)
                          : kind == 3 ? by_aio(direct < 0 ? file : direct, into)
                          : kind == 4 ? by_sibling(getpid(), into)
                                      : by_mem(into);
            if (kind == 2 && result < 0) result = -1;
            printf("{\"what\":\"%s\",\"armed\":%d,\"result\":%ld,\"right\":%d}\n", names[kind], armed, result, result != LENGTH || all(into, 5));
        }
    }
    fflush(stdout);
    return 0;
}
