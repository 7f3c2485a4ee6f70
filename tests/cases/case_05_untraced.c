// Children made with CLONE_UNTRACED, by clone and by clone3: they allocate, make children of their own and execute.
#include <errno.h>
#include <linux/sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void child(const char *who) {
    char *memory = malloc(1 << 20);
    memset(memory, 1, 1 << 20);
    void *more = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    int error = more == MAP_FAILED ? errno : 0;
    pid_t pid = fork();
    if (pid == 0) {
        free(malloc(1 << 21));
        execl("/bin/sh", "sh", "-c", "exit 4", NULL);
        _exit(1);
    }
    int status = -1;
    waitpid(pid, &status, 0);
    printf("%s: mmap errno %d, grandchild %d\n", who, error, WEXITSTATUS(status));
    fflush(stdout);
    _exit(5);
}

static void wait_for(const char *who, long pid) {
    int status = -1;
    if (pid < 0) {
        printf("%s: errno %d\n", who, errno);
        return;
    }
    waitpid((pid_t)pid, &status, __WALL);
    printf("%s ended with %d\n", who, WEXITSTATUS(status));
}

int main(void) {
    long pid = syscall(SYS_clone, CLONE_UNTRACED | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid == 0) child("clone");
    wait_for("clone", pid);
    struct clone_args arguments = {.flags = CLONE_UNTRACED, .exit_signal = SIGCHLD};
    pid = syscall(SYS_clone3, &arguments, sizeof arguments);
    if (pid == 0) child("clone3");
    wait_for("clone3", pid);
    printf("flags are %s\n", arguments.flags == CLONE_UNTRACED ? "untouched" : "changed");
    return 0;
}
