// One memory object in several places: System V segments, memfd mapped twice, holes punched, truncation.
// shared_memory [--checkpoints N]
#include "calls.h"
#include <sys/shm.h>

#define PAGE 4096
#define PAGES 8

static char *attach(int id, int flags) {
    struct call call = call_enter();
    void *start = shmat(id, NULL, flags);
    call_leave(&call, (long long)(intptr_t)start);
    truth_line("\"what\":\"shmat\",\"addr\":\"%p\",\"len\":%d," CALL_FORMAT, start, PAGES * PAGE, CALL_ARGS(call));
    if (start == (void *)-1) truth_fail("shmat");
    return start;
}

static void detach(char *start) {
    struct call call = call_enter();
    call_leave(&call, shmdt(start));
    truth_line("\"what\":\"shmdt\",\"addr\":\"%p\"," CALL_FORMAT, (void *)start, CALL_ARGS(call));
}

static void system_v(void) {
    int id = shmget(IPC_PRIVATE, PAGES * PAGE, IPC_CREAT | 0600);
    if (id < 0) truth_fail("shmget");
    char *writable = attach(id, 0);
    char *readable = attach(id, SHM_RDONLY);
    shmctl(id, IPC_RMID, NULL); // gone with the last mapping, whatever happens
    call_store(writable + PAGE, 0x51);
    truth_checkpoint("segment attached twice");
    truth_value("segment", writable + PAGE, 8);
    detach(readable);
    detach(writable + PAGE); // fails: not where a segment starts
    detach(writable);
    truth_checkpoint("segment detached");
}

static void memory_file(void) {
    int fd = memfd_create("shared", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, PAGES * PAGE) != 0) truth_fail("memfd_create");
    char *first = call_mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *second = call_mmap(NULL, PAGES / 2 * PAGE, PROT_READ, MAP_SHARED, fd, 4 * PAGE);
    if (first == MAP_FAILED || second == MAP_FAILED) truth_fail("mmap");
    for (size_t i = 0; i < PAGES; i++) call_store(first + i * PAGE, 0x61 + i);
    truth_checkpoint("file mapped twice");
    truth_value("file", first + 5 * PAGE, 8);

    struct call call = call_enter();
    call_leave(&call, fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 2 * PAGE, 2 * PAGE));
    truth_line("\"what\":\"punch\",\"offset\":%d,\"len\":%d," CALL_FORMAT, 2 * PAGE, 2 * PAGE, CALL_ARGS(call));
    call = call_enter();
    call_leave(&call, ftruncate(fd, 6 * PAGE));
    truth_line("\"what\":\"truncate\",\"len\":%d," CALL_FORMAT, 6 * PAGE, CALL_ARGS(call));
    truth_checkpoint("punched and truncated");
    truth_value("file", first + 5 * PAGE, 8);
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    truth_begin();
    system_v();
    memory_file();
    char *anonymous = call_mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    call_munmap(anonymous + 3 * PAGE, PAGE);
    truth_checkpoint("shared anonymous memory with a hole");
    return truth_end();
}
