// Runs a command in which system calls are refused, or kill, as a container's profile or a sandbox has it:
//   case_53_deny NAME:ERROR|KILL|TRAP... -- COMMAND...
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static const struct {
    const char *name;
    unsigned number;
    int argument;   // -1: any
    uint32_t value; // that it must have
} calls[] = {
    {"userfaultfd", SYS_userfaultfd, -1, 0},
    {"userfaultfd", SYS_ioctl, 1, 0xaa00},             // USERFAULTFD_IOC_NEW
    {"userfaultfd_full", SYS_userfaultfd, 0, 0x80800}, // without UFFD_USER_MODE_ONLY
    {"uffdio_api", SYS_ioctl, 1, 0xc018aa3f},
    {"uffdio_register", SYS_ioctl, 1, 0xc020aa00},
    {"pagemap_scan", SYS_ioctl, 1, 0xc0606610}, // PAGEMAP_SCAN
    {"perf_event_open", SYS_perf_event_open, -1, 0},
    {"ptrace", SYS_ptrace, -1, 0},
    {"process_vm_readv", SYS_process_vm_readv, -1, 0},
    {"process_vm_readv", SYS_process_vm_writev, -1, 0},
    {"pidfd_getfd", 438, -1, 0},
    {"pidfd_open", 434, -1, 0},
    {"kcmp", SYS_kcmp, -1, 0},
    {"seccomp", SYS_seccomp, -1, 0},
    {"sched_setscheduler", SYS_sched_setscheduler, -1, 0},
};

static const struct {
    const char *name;
    unsigned answer;
} answers[] = {
    {"EPERM", SECCOMP_RET_ERRNO | EPERM},
    {"EACCES", SECCOMP_RET_ERRNO | EACCES},
    {"ENOSYS", SECCOMP_RET_ERRNO | ENOSYS},
    {"ENOTTY", SECCOMP_RET_ERRNO | ENOTTY},
    {"EINVAL", SECCOMP_RET_ERRNO | EINVAL},
    {"KILL", SECCOMP_RET_KILL_PROCESS},
    {"TRAP", SECCOMP_RET_TRAP},
};

static struct sock_filter code[256];
static unsigned short length;

static void add(struct sock_filter one) { code[length++] = one; }

static void deny(size_t i, unsigned answer) {
    add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)));
    add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].number, 0, calls[i].argument < 0 ? 1 : 3));
    if (calls[i].argument >= 0) {
        uint32_t at = (uint32_t)(offsetof(struct seccomp_data, args) + 8u * (unsigned)calls[i].argument);
        add((struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at));
        add((struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, calls[i].value, 0, 1));
    }
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, answer));
}

static void add_word(char *word) {
    char *name = strtok(word, ":"), *error = strtok(NULL, ":");
    unsigned answer = 0, found = 0;
    for (size_t i = 0; error && i < sizeof answers / sizeof *answers; i++)
        if (strcmp(answers[i].name, error) == 0) answer = answers[i].answer;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0) deny(i, answer), found++;
    if (answer && found) return;
    fprintf(stderr, "no such call or error: %s:%s\n", name, error ? error : "");
    exit(2);
}

int main(int argc, char **argv) {
    int at = 1;
    for (; at < argc && strcmp(argv[at], "--") != 0; at++) add_word(argv[at]);
    add((struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
    struct sock_fprog program = {length, code};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) perror("filter"), exit(2);
    execvp(argv[at + 1], argv + at + 1);
    perror(argv[at + 1]);
    return 2;
}
