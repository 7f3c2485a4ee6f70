#include "launch.h"

#include "filter.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct report {
    int error;
    bool filter;
};

static int check_file(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return errno;
    if (S_ISDIR(status.st_mode)) return EISDIR;
    return access(path, X_OK) == 0 ? 0 : errno;
}

int launch_check(const char *program) {
    if (!*program) return ENOENT;
    if (strchr(program, '/')) return check_file(program);
    const char *path = getenv("PATH");
    int found = ENOENT;
    for (const char *at = path ? path : "/bin:/usr/bin"; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        char file[4096];
        int length = (int)strcspn(at, ":");
        snprintf(file, sizeof file, "%.*s/%s", length ? length : 1, length ? at : ".", program);
        int error = check_file(file);
        if (error == 0) return 0;
        if (error == EACCES) found = EACCES;
    }
    return found;
}

// In the child. Only async-signal-safe calls.
static void run(char **command, int go, int result, bool stdout_to_stderr) {
    char byte;
    if (read(go, &byte, 1) != 1) _exit(125); // the recorder is gone
    if (stdout_to_stderr) dup2(STDERR_FILENO, STDOUT_FILENO);
    struct report report = {.error = -filter_install(), .filter = true};
    if (report.error == 0) {
        execvp(command[0], command);
        report = (struct report){errno, false};
    }
    if (write(result, &report, sizeof report) < 0) _exit(125);
    _exit(127);
}

static int attach(pid_t pid) {
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEEXEC | PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXIT | PTRACE_O_TRACESECCOMP |
                   PTRACE_O_EXITKILL;
    return ptrace(PTRACE_SEIZE, pid, 0, options) == 0 ? 0 : -errno;
}

int launch_start(struct launch *launch, char **command, bool stdout_to_stderr) {
    int go[2], result[2];
    if (pipe2(go, O_CLOEXEC) != 0) return -errno;
    if (pipe2(result, O_CLOEXEC) != 0) return -errno;
    pid_t pid = fork();
    if (pid < 0) return -errno;
    if (pid == 0) {
        close(go[1]);
        close(result[0]);
        run(command, go[0], result[1], stdout_to_stderr);
    }
    close(go[0]);
    close(result[1]);
    *launch = (struct launch){pid, go[1], result[0]};
    int error = attach(pid);
    if (error == 0) return 0;
    close(go[1]);
    close(result[0]);
    waitpid(pid, NULL, 0);
    return error;
}

void launch_go(struct launch *launch) {
    if (write(launch->go, "", 1) < 0) kill(launch->pid, SIGKILL);
    close(launch->go);
}

int launch_result(struct launch *launch, const char **where) {
    struct report report;
    ssize_t got = read(launch->result, &report, sizeof report);
    close(launch->result);
    if (got != sizeof report) return 0;
    *where = report.filter ? "filter" : "exec";
    return report.error;
}
