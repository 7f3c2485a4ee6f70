#include "user.h"

#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct passwd *entry_of(const char *name) {
    const struct passwd *entry = getpwnam(name);
    if (entry) return entry;
    char *end;
    unsigned long uid = strtoul(name, &end, 10);
    return *name && !*end ? getpwuid((uid_t)uid) : NULL;
}

int user_find(const char *name, struct program_user *user) {
    const struct passwd *entry = entry_of(name);
    if (!entry) return -ENOENT;
    user->uid = entry->pw_uid;
    user->gid = entry->pw_gid;
    snprintf(user->name, sizeof user->name, "%s", entry->pw_name);
    snprintf(user->home, sizeof user->home, "%s", entry->pw_dir);
    snprintf(user->shell, sizeof user->shell, "%s", entry->pw_shell);
    user->group_count = USER_GROUPS;
    return getgrouplist(user->name, user->gid, user->groups, &user->group_count) < 0 ? -E2BIG : 0;
}

int user_become(const struct program_user *user) {
    if (setgroups((size_t)user->group_count, user->groups) != 0) return -errno;
    if (setresgid(user->gid, user->gid, user->gid) != 0) return -errno;
    if (setresuid(user->uid, user->uid, user->uid) != 0) return -errno;
    bool set = setenv("HOME", user->home, 1) == 0 && setenv("USER", user->name, 1) == 0 &&
               setenv("LOGNAME", user->name, 1) == 0 && setenv("SHELL", user->shell, 1) == 0;
    return set ? 0 : -ENOMEM;
}
