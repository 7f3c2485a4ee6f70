// Parent and child write the same pages after fork, the child forks again, and the first parent leaves first. Each
// says where its own values lie.
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { P = 4096 };
static void work(void) {
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    for (volatile int i = 0; i < 15000000; i++) {
    }
}
static void say(const char *who, char *memory, char value) {
    memset(memory, value, 2 * P);
    work();
    char line[200];
    int length = snprintf(line, sizeof line, "{\"what\":\"%s\",\"pid\":%d,\"addr\":\"%p\",\"value\":%d}\n", who, getpid(), (void *)memory, value);
    if (write(1, line, (size_t)length) < 0) _exit(9);
    work();
}
int main(void) {
    char *memory = mmap(NULL, 4 * P, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(memory, 1, 4 * P);
    work();
    int turn[2];
    if (pipe(turn) != 0) return 2;
    pid_t child = fork();
    if (child == 0) {
        say("child", memory, 3);
        pid_t grandchild = fork();
        if (grandchild == 0) {
            char byte;
            close(turn[1]);
            if (read(turn[0], &byte, 1) < 0) return 3; // until the first parent is gone
            say("grandchild", memory, 4);
            _exit(memory[3 * P] == 1 ? 6 : 7);
        }
        close(turn[1]);
        _exit(5);
    }
    say("parent", memory, 2);
    int status = -1;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status) == 5 && memory[0] == 2 ? 0 : 1;
}
