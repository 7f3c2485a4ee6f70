#include "dwarf_load.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATIENCE_MS = 150000 }; // the child limits itself to less
static const size_t INDEX_MOST = 2ull << 30;

static bool write_all(int fd, const uint8_t *bytes, size_t length) {
    for (size_t done = 0; done < length;) {
        ssize_t put = write(fd, bytes + done, length - done);
        if (put <= 0) return false;
        done += (size_t)put;
    }
    return true;
}

static uint8_t *read_all(int fd, size_t *length) {
    struct stat status;
    if (fstat(fd, &status) != 0 || status.st_size <= 0 || (size_t)status.st_size > INDEX_MOST) return NULL;
    uint8_t *bytes = malloc((size_t)status.st_size);
    *length = 0;
    while (bytes && *length < (size_t)status.st_size) {
        ssize_t got = pread(fd, bytes + *length, (size_t)status.st_size - *length, (off_t)*length);
        if (got <= 0) break;
        *length += (size_t)got;
    }
    return bytes;
}

// ------------------------------------------------------------------------------------------------- cache

// By build-id and length: a program and its separate debug file have the same build-id. False: nothing to go by.
static bool cache_path(const struct elf_file *file, char *out, size_t size) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    bool own = cache && cache[0] == '/';
    char id[2 * sizeof file->build_id + 1] = "";
    if (!file->build_id_length || (!own && !(home && home[0] == '/'))) return false;
    for (size_t i = 0; i < file->build_id_length; i++) snprintf(id + 2 * i, 3, "%02x", file->build_id[i]);
    int length =
        snprintf(out, size, "%s%s/vmvis/%s-%zx.dwarf", own ? cache : home, own ? "" : "/.cache", id, file->length);
    return length > 0 && (size_t)length < size;
}

static struct dwarf_index *from_cache(const struct elf_file *file) {
    char path[PATH_MAX];
    struct stat status;
    int fd = cache_path(file, path, sizeof path) ? open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
    if (fd < 0) return NULL;
    size_t length;
    bool ours = fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
    uint8_t *bytes = ours ? read_all(fd, &length) : NULL;
    close(fd);
    struct dwarf_index *index = bytes ? dwarf_index_decode(bytes, length, file->build_id, file->build_id_length) : NULL;
    free(bytes);
    return index;
}

// What cannot be kept is made again the next time.
static void to_cache(const struct elf_file *file, const uint8_t *bytes, size_t length) {
    char path[PATH_MAX], draft[PATH_MAX + 16];
    if (!cache_path(file, path, sizeof path)) return;
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    snprintf(draft, sizeof draft, "%s.XXXXXX", path);
    int fd = mkostemp(draft, O_CLOEXEC);
    if (fd < 0) return;
    bool good = write_all(fd, bytes, length);
    close(fd);
    if (!good || rename(draft, path) != 0) unlink(draft);
}

// ------------------------------------------------------------------------------------------------- child

static bool child_path(char *out, size_t size) {
    static const char name[] = "vmvis-dwarf";
    ssize_t length = readlink("/proc/self/exe", out, size - 1);
    if (length <= 0) return false;
    out[length] = 0;
    char *slash = strrchr(out, '/');
    if (!slash || (size_t)(slash + 1 - out) + sizeof name > size) return false;
    memcpy(slash + 1, name, sizeof name);
    return access(out, X_OK) == 0;
}

static pid_t start(const char *path, int in, int out) {
    posix_spawn_file_actions_t actions;
    pid_t pid = -1;
    char *const arguments[] = {(char *)"vmvis-dwarf", NULL}, *const environment[] = {NULL};
    if (posix_spawn_file_actions_init(&actions) != 0) return -1;
    posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    int error = posix_spawn(&pid, path, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    return error ? -1 : pid;
}

// The exit status, 128 + a signal's number, or -1: it took too long.
static int wait_for(pid_t pid) {
    int status = 0, pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    struct pollfd end = {.fd = pidfd, .events = POLLIN};
    int ready = pidfd < 0 ? 1 : poll(&end, 1, PATIENCE_MS);
    if (ready == 0) kill(pid, SIGKILL);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
    if (pidfd >= 0) close(pidfd);
    if (ready == 0) return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const char *say_end(int status, char *error, size_t error_size) {
    if (status == 0) return NULL;
    if (status == 1) {
        snprintf(error, error_size, "no debug information");
    } else if (status < 0) {
        snprintf(error, error_size, "reading its debug information took too long");
    } else {
        snprintf(error, error_size, "its debug information cannot be read (%s %d)", status > 128 ? "signal" : "status",
                 status > 128 ? status - 128 : status);
    }
    return error;
}

static struct dwarf_index *run_child(const struct elf_file *file, const char *path, int in, int out, char *error,
                                     size_t error_size) {
    snprintf(error, error_size, "out of memory");
    if (in < 0 || out < 0 || !write_all(in, file->bytes, file->length)) return NULL;
    pid_t pid = start(path, in, out);
    if (pid < 0) {
        snprintf(error, error_size, "%s cannot be started", path);
        return NULL;
    }
    if (say_end(wait_for(pid), error, error_size)) return NULL;
    size_t length = 0;
    uint8_t *bytes = read_all(out, &length);
    struct dwarf_index *index = bytes ? dwarf_index_decode(bytes, length, file->build_id, file->build_id_length) : NULL;
    if (index) to_cache(file, bytes, length);
    if (!index) snprintf(error, error_size, "its debug information cannot be read");
    free(bytes);
    return index;
}

struct dwarf_index *dwarf_load(const struct elf_file *file, char *error, size_t error_size) {
    char path[PATH_MAX];
    struct dwarf_index *index = from_cache(file);
    if (index) return index;
    if (!child_path(path, sizeof path)) {
        snprintf(error, error_size, "vmvis-dwarf, which reads debug information, is not beside this program");
        return NULL;
    }
    int in = memfd_create("object", MFD_CLOEXEC), out = memfd_create("index", MFD_CLOEXEC);
    index = run_child(file, path, in, out, error, error_size);
    if (in >= 0) close(in);
    if (out >= 0) close(out);
    return index;
}
