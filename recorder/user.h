// Another user, whom the program is to run as (--user).
#ifndef REC_USER_H
#define REC_USER_H

#include <sys/types.h>

enum { USER_GROUPS = 256 };

struct program_user {
    uid_t uid;
    gid_t gid;
    int group_count;
    gid_t groups[USER_GROUPS];
    char name[256], home[4096], shell[4096];
};

// By name or number. 0, or a negative errno: -ENOENT there is no such user; -E2BIG more than USER_GROUPS groups.
int user_find(const char *name, struct program_user *user);
// Becomes the user, for good, and sets HOME, USER, LOGNAME and SHELL. In a single-threaded process, before exec. 0 or a
// negative errno.
int user_become(const struct program_user *user);

#endif
