// Kinds of memory that are seldom met; prints what it put where, and what the kernel said.
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef SYS_memfd_secret
#define SYS_memfd_secret 447
#endif

enum { BYTES = 65536 };

static sigjmp_buf back;
static void on_bus(int number) { siglongjmp(back, 1); }

static void say(const char *what, const void *addr, int value) { printf("%s %p %d\n", what, addr, value); }

static void secret(void) {
    int fd = (int)syscall(SYS_memfd_secret, 0);
    if (fd < 0 || ftruncate(fd, BYTES) != 0) {
        printf("secret none %d\n", errno);
        return;
    }
    char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memset(memory, 0x53, BYTES);
    say("secret", memory, memory[BYTES - 1]);
}

static void memfd_twice(void) {
    int fd = memfd_create("twice", 0);
    if (ftruncate(fd, BYTES) != 0) exit(1);
    char *one = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    char *other = mmap(NULL, BYTES, PROT_READ, MAP_SHARED, fd, 0);
    memset(one, 0x11, BYTES);
    usleep(60000); // a frame or two
    one[100] = 0x22;
    say("first", one, one[100]);
    say("second", other, other[100]);
    char *private = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    private[4096] = 0x33;
    say("private", private + 4096, private[4096]);
    say("shared", one + 4096, one[4096]);
}

static void system_v(void) {
    int id = shmget(IPC_PRIVATE, BYTES, IPC_CREAT | 0600);
    if (id < 0) {
        printf("sysv none %d\n", errno);
        return;
    }
    char *memory = shmat(id, NULL, 0), *again = shmat(id, NULL, SHM_RDONLY);
    shmctl(id, IPC_RMID, NULL);
    memset(memory, 0x44, BYTES);
    say("sysv", memory, memory[0]);
    say("again", again, again[0]);
    shmdt(again);
    say("left", memory, memory[BYTES - 1]);
}

// A file that is cut under its mapping: SIGBUS beyond its end, as alone.
static void truncated(void) {
    char name[] = "/tmp/vmvis-case-XXXXXX";
    int fd = mkstemp(name);
    unlink(name);
    if (ftruncate(fd, BYTES) != 0) exit(1);
    volatile char *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    memset((char *)memory, 0x66, BYTES);
    usleep(30000);
    if (ftruncate(fd, BYTES / 2) != 0) exit(1);
    struct sigaction action = {.sa_handler = on_bus};
    sigaction(SIGBUS, &action, NULL);
    if (sigsetjmp(back, 1) == 0) {
        memory[BYTES - 1] = 1;
        printf("truncated: NO SIGBUS\n");
    } else {
        printf("truncated: SIGBUS\n");
    }
    say("before", (char *)memory, memory[0]);
    if (ftruncate(fd, BYTES) != 0) exit(1);
    say("grown", (char *)memory + BYTES - 1, memory[BYTES - 1]);
}

int main(void) {
    setvbuf(stdout, NULL, _IONBF, 0);
    secret();
    memfd_twice();
    system_v();
    truncated();
    usleep(60000);
    return 0;
}
