// Children by vfork and posix_spawn: they live in their parent's address space until they exec.
// vfork_spawn [--children N] [--checkpoints N]
#include "calls.h"
#include <spawn.h>
#include <sys/wait.h>

extern char **environ;
static char path[4096]; // this program
static int64_t mapped_at;
static void *mapped; // by the child of a vfork: the parent sees it

static void find_path(void) {
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n < 0) truth_fail("/proc/self/exe");
    path[n] = '\0';
}

static void wait_for(pid_t child, const char *how, int64_t before) {
    int status;
    truth_line("\"what\":\"fork\",\"how\":\"%s\",\"pid\":%d,\"child\":%d,\"before\":%" PRId64, how, getpid(), child,
               before);
    waitpid(child, &status, 0);
    truth_line("\"what\":\"exit\",\"pid\":%d,\"code\":%d,\"t\":%" PRId64, child, WEXITSTATUS(status), truth_now());
}

static void vfork_and_exec(char *number) {
    char *args[] = {path, "--child", number, NULL};
    truth_flush();
    int64_t before = truth_now();
    pid_t child = vfork();
    if (child < 0) truth_fail("vfork");
    if (child == 0) {
        execve(path, args, environ);
        _exit(9);
    }
    wait_for(child, "vfork", before);
}

// The child maps memory for its parent, and leaves without exec.
static void vfork_and_map(void) {
    truth_flush();
    int64_t before = truth_now();
    pid_t child = vfork();
    if (child < 0) truth_fail("vfork");
    if (child == 0) {
        mapped_at = truth_now();
        mapped = mmap(NULL, 3 * 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        _exit(3);
    }
    wait_for(child, "vfork", before);
    truth_line("\"what\":\"mapped_by_child\",\"pid\":%d,\"addr\":\"%p\",\"len\":%d,\"before\":%" PRId64, child, mapped,
               3 * 4096, mapped_at);
}

static void spawn(char *number) {
    char *args[] = {path, "--child", number, NULL};
    truth_flush();
    int64_t before = truth_now();
    pid_t child;
    errno = posix_spawn(&child, path, NULL, NULL, args, environ);
    if (errno != 0) truth_fail(path);
    wait_for(child, "spawn", before);
}

int main(int argc, char **argv) {
    truth_args(argc, argv);
    long child = truth_number("--child", 0);
    long children = truth_number("--children", 2);
    truth_begin();
    find_path();
    if (child > 0) {
        truth_end();
        return (int)(10 + child);
    }
    truth_checkpoint("start");
    for (long i = 0; i < children; i++) vfork_and_exec(i % 2 == 0 ? "1" : "2");
    truth_checkpoint("children of vfork gone");
    vfork_and_map();
    truth_checkpoint("a child mapped for us");
    spawn("3");
    truth_checkpoint("spawned child gone");
    call_munmap(mapped, 4096);
    truth_checkpoint("unmapped");
    return truth_end();
}
