#include "obstacle.h"

#include "kernel.h"
#include "procstat.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

// ---------------------------------------------------------------------------------------------- seizing

static int yama_scope(void) {
    int scope = -1;
    FILE *file = fopen("/proc/sys/kernel/yama/ptrace_scope", "re");
    if (file && fscanf(file, "%d", &scope) != 1) scope = -1;
    if (file) fclose(file);
    return scope;
}

static void say_who_traces(pid_t tracer, char *text, size_t size) {
    char name[16] = "?";
    procstat_name(tracer, tracer, name);
    snprintf(text, size,
             "cannot trace: process %d (%s) traces what is started here already, and a process has one tracer; start "
             "vmvis-record outside of it, or let that one not follow children (strace without -f)",
             tracer, name);
}

void obstacle_of_seize(int error, pid_t tracer, char *text, size_t size) {
    int scope = yama_scope();
    if (tracer) {
        say_who_traces(tracer, text, size);
    } else if (error == -EPERM && scope >= 2) {
        snprintf(text, size, "cannot trace: kernel.yama.ptrace_scope is %d%s", scope,
                 scope == 2 ? ": run vmvis-record as root, or set it to 1"
                            : ", which forbids all tracing until a reboot with a lower value");
    } else if (error == -EPERM || error == -EACCES) {
        snprintf(text, size,
                 "cannot trace: %s; a container or a security module forbids ptrace: allow it "
                 "(--cap-add=SYS_PTRACE, or a profile that permits ptrace)",
                 strerror(-error));
    } else if (error == -ENOSYS || error == -EIO || error == -EINVAL) {
        snprintf(text, size,
                 "cannot trace: %s; ptrace, or its PTRACE_SEIZE, is missing: a container forbids it "
                 "(--cap-add=SYS_PTRACE), or this is no Linux kernel of its own (gVisor, WSL1, proot): run it on one",
                 strerror(-error));
    } else {
        snprintf(text, size, "cannot trace: %s", strerror(-error));
    }
}

// ---------------------------------------------------------------------------------------------- calls that kill

enum need { ALWAYS, FOR_RECORDS, FOR_FILTER };
struct trial {
    const char *name;
    enum need need;
    long number;
    long args[4]; // with which it does nothing
};

static const struct trial trials[] = {
    {"ptrace", ALWAYS, SYS_ptrace, {PTRACE_SEIZE, -1, 0, 0}},
    {"seccomp", FOR_FILTER, SYS_seccomp, {SECCOMP_SET_MODE_FILTER, -1, 0, 0}},
    {"perf_event_open", FOR_RECORDS, SYS_perf_event_open, {0, 0, -1, -1}},
    {"userfaultfd", ALWAYS, SYS_userfaultfd, {-1, 0, 0, 0}},
    {"pidfd_open", ALWAYS, SYS_pidfd_open, {-1, 0, 0, 0}},
    {"pidfd_getfd", ALWAYS, SYS_pidfd_getfd, {-1, -1, 0, 0}},
    {"process_vm_readv", ALWAYS, SYS_process_vm_readv, {-1, 0, 0, 0}},
    {"process_vm_writev", ALWAYS, SYS_process_vm_writev, {-1, 0, 0, 0}},
    {"kcmp", ALWAYS, SYS_kcmp, {-1, -1, 0, 0}},
    {"sched_setscheduler", ALWAYS, SYS_sched_setscheduler, {-1, 0, 0, 0}},
    {"ioctl", ALWAYS, SYS_ioctl, {-1, PAGEMAP_SCAN, 0, 0}},
    {"ioctl", ALWAYS, SYS_ioctl, {-1, UFFDIO_REGISTER, 0, 0}},
};

static void make_call(const struct trial *trial) {
    const long *args = trial->args;
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); // no core file of it
    signal(SIGSYS, SIG_DFL);
    syscall(trial->number, args[0], args[1], args[2], args[3], 0);
}

static bool kills(const struct trial *trial) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return false;
    if (child == 0) {
        make_call(trial);
        _exit(0);
    }
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

const char *obstacle_fatal_call(bool records, bool filter) {
    if (procstat_seccomp_mode(getpid(), getpid()) != SECCOMP_MODE_FILTER) return NULL;
    for (size_t i = 0; i < sizeof trials / sizeof *trials; i++) {
        enum need need = trials[i].need;
        bool wanted = need == ALWAYS || (need == FOR_RECORDS ? records : filter);
        if (wanted && kills(&trials[i])) return trials[i].name;
    }
    return NULL;
}
