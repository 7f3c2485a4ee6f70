// A program that traces its own child, by each way of becoming a tracer; prints what it was told.
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(void) {
    int status = 0;
    setvbuf(stdout, NULL, _IONBF, 0);
    pid_t child = fork();
    if (child == 0) {
        for (;;) pause();
    }
    long seized = ptrace(PTRACE_SEIZE, child, 0, 0);
    printf("seize: %s\n", seized == 0 ? "worked" : strerror(errno));
    long attached = seized == 0 ? 0 : ptrace(PTRACE_ATTACH, child, 0, 0);
    printf("attach: %s\n", attached == 0 ? "worked" : strerror(errno));
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    printf("child: %#x\n", status);
    child = fork();
    if (child == 0) {
        long asked = ptrace(PTRACE_TRACEME, 0, 0, 0);
        _exit(asked == 0 ? 1 : 2);
    }
    waitpid(child, &status, 0);
    printf("traceme: %s\n", status == 0x100 ? "worked" : "refused");
    return 0;
}
