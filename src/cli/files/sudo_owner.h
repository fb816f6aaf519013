/* SPDX-License-Identifier: MIT */
/* Under sudo, outputs belong to the sudo user. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct sudo_owner {
    bool is_other; /* false: not under sudo */
    uid_t uid;
    gid_t gid;
};

struct sudo_owner sudo_owner_find(void);

/* The user of the outputs: the sudo user, else the effective uid. */
uid_t sudo_owner_uid(const struct sudo_owner *owner);

/* Changes the owner of an open file. The file must have been created by this process. Errors are
 * ignored: some file systems have no owners. */
void sudo_owner_give(const struct sudo_owner *owner, int fd);

/* The same for a directory that this process has just created in the directory `above`. Another
 * user may have replaced the new directory: a link, a directory of another owner and a directory
 * with entries are left alone. */
void sudo_owner_give_directory(const struct sudo_owner *owner, int above, const char *name);
