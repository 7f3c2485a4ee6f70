// Gives advice to itself and to its child by process_madvise(2); prints the ranges and what it returned.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_process_madvise
#define SYS_process_madvise 440
#endif
#ifndef MADV_COLD
#define MADV_COLD 20
#endif

enum { BYTES = 65536 };

static void advise(const char *who, pid_t pid, char *memory) {
    struct iovec parts[2] = {{memory, 8192}, {memory + 32768, 16384}};
    int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    long done = syscall(SYS_process_madvise, pidfd, parts, 2, MADV_COLD, 0);
    printf("%s %d %p %ld\n", who, (int)pid, (void *)memory, done < 0 ? -errno : done);
    close(pidfd);
}

int main(void) {
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 7, BYTES);
    setvbuf(stdout, NULL, _IONBF, 0);
    advise("self", getpid(), memory);
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    advise("child", child, memory);
    kill(child, 9);
    waitpid(child, NULL, 0);
    return memory[100] != 7;
}
