#include "launch.h"

#include "filter.h"
#include "procstat.h"
#include "user.h"

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

extern char **environ;

enum step { STEP_FILTER, STEP_USER, STEP_EXEC };

struct report {
    int error;
    enum step step;
};

static int check_file(const char *path) {
    struct stat status;
    if (stat(path, &status) != 0) return errno;
    if (S_ISDIR(status.st_mode)) return EISDIR;
    return access(path, X_OK) == 0 ? 0 : errno;
}

int launch_find(const char *program, char path[4096]) {
    if (!*program) return ENOENT;
    snprintf(path, 4096, "%s", program);
    if (strchr(program, '/')) return check_file(path);
    const char *list = getenv("PATH");
    int found = ENOENT;
    for (const char *at = list ? list : "/bin:/usr/bin"; at; at = strchr(at, ':') ? strchr(at, ':') + 1 : NULL) {
        int length = (int)strcspn(at, ":");
        snprintf(path, 4096, "%.*s/%s", length ? length : 1, length ? at : ".", program);
        int error = check_file(path);
        if (error == 0) return 0;
        if (error == EACCES) found = EACCES;
    }
    return found;
}

// As shells decide what to do with a file the kernel does not know: a damaged ELF file, or one with a zero byte in its
// beginning, is no script.
static bool is_text(const char *path) {
    char begin[256];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd < 0 ? -1 : read(fd, begin, sizeof begin);
    if (fd >= 0) close(fd);
    bool elf = got >= 4 && memcmp(begin, "\177ELF", 4) == 0;
    return got > 0 && !elf && !memchr(begin, 0, (size_t)got);
}

// sh PATH ARG..., NULL if there is no memory.
static char **shell_command(const char *path, char **command) {
    size_t count = 0;
    while (command[count]) count++;
    char **shell = calloc(count + 2, sizeof *shell);
    if (!shell) return NULL;
    shell[0] = "sh";
    shell[1] = (char *)path;
    for (size_t i = 1; i < count; i++) shell[i + 1] = command[i];
    return shell;
}

struct child {
    const char *path;
    char **command, **shell; // shell: how to run it as a script, NULL: not
    int go, result;
    const struct launch_how *how;
};

// In the child. Only async-signal-safe calls.
static void run(const struct child *child) {
    char byte;
    if (read(child->go, &byte, 1) != 1) _exit(125); // the recorder is gone
    if (child->how->stdout_to_stderr) dup2(STDERR_FILENO, STDOUT_FILENO);
    struct report report = {child->how->filter ? -filter_install() : 0, STEP_FILTER};
    if (report.error == 0 && child->how->user) report = (struct report){-user_become(child->how->user), STEP_USER};
    if (report.error == 0) {
        execve(child->path, child->command, environ);
        if (errno == ENOEXEC && child->shell) execve("/bin/sh", child->shell, environ);
        report = (struct report){errno, STEP_EXEC};
    }
    if (write(child->result, &report, sizeof report) < 0) _exit(125);
    _exit(127);
}

static int attach(pid_t pid) {
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE |
                   PTRACE_O_TRACEEXEC | PTRACE_O_TRACEVFORKDONE | PTRACE_O_TRACEEXIT | PTRACE_O_TRACESECCOMP |
                   PTRACE_O_EXITKILL;
    return ptrace(PTRACE_SEIZE, pid, 0, options) == 0 ? 0 : -errno;
}

int launch_start(struct launch *launch, const char *path, char **command, const struct launch_how *how) {
    int go[2], result[2];
    if (pipe2(go, O_CLOEXEC) != 0) return -errno;
    if (pipe2(result, O_CLOEXEC) != 0) return -errno;
    char **shell = is_text(path) ? shell_command(path, command) : NULL;
    pid_t pid = fork();
    if (pid < 0) return -errno;
    if (pid == 0) {
        close(go[1]);
        close(result[0]);
        run(&(struct child){path, command, shell, go[0], result[1], how});
    }
    free(shell);
    close(go[0]);
    close(result[1]);
    *launch = (struct launch){pid, go[1], result[0], 0};
    int error = attach(pid);
    if (error == 0) return 0;
    launch->tracer = procstat_tracer(pid);
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
    static const char *const steps[] = {"filter", "user", "exec"};
    *where = steps[report.step];
    return report.error;
}
