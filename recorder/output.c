#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int output_open(struct output *output, const char *path) {
    struct stat status;
    output->created = false;
    output->replaced = -1;
    output->old[0] = 0;
    if (strcmp(path, "-") == 0) {
        output->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        return output->fd < 0 ? -errno : 0;
    }
    bool exists = stat(path, &status) == 0;
    bool regular = exists && S_ISREG(status.st_mode);
    if (regular) {
        snprintf(output->old, sizeof output->old, "%s.old", path);
        output->replaced = open(output->old, O_PATH | O_CLOEXEC | O_NOFOLLOW);
        if (rename(path, output->old) != 0) return -errno;
    }
    int flags = O_WRONLY | O_CLOEXEC | (exists && !regular ? 0 : O_CREAT | O_EXCL);
    output->fd = open(path, flags, 0600);
    if (output->fd < 0) {
        int error = -errno;
        if (output->old[0]) rename(output->old, path);
        return error;
    }
    output->created = flags & O_CREAT;
    return 0;
}

static void *close_replaced(void *user) {
    close((int)(intptr_t)user);
    return NULL;
}

void output_free_replaced(struct output *output) {
    pthread_t thread;
    if (output->replaced < 0) return;
    if (pthread_create(&thread, NULL, close_replaced, (void *)(intptr_t)output->replaced) == 0)
        pthread_detach(thread);
    else
        close(output->replaced);
    output->replaced = -1;
}

void output_withdraw(const struct output *output, const char *path) {
    if (!output->created) return;
    unlink(path);
    if (output->old[0]) rename(output->old, path);
}
