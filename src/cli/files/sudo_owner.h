/* SPDX-License-Identifier: MIT */
/* Under sudo, what is written belongs to the user who typed it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct sudo_owner {
    bool is_other; /* false: files simply belong to this process's user */
    uid_t uid;
    gid_t gid;
};

struct sudo_owner sudo_owner_find(void);

/* The user who is to read the outputs. */
uid_t sudo_owner_uid(const struct sudo_owner *owner);

/* Hands an open file over, which this process must have created. A failure has no message: some file
 * systems have no owners. */
void sudo_owner_give(const struct sudo_owner *owner, int fd);

/* The same for a directory that this process has just created in the directory `above`. Another
 * user may have replaced the new directory: a link, a directory of another owner and a directory
 * with entries are left alone. */
void sudo_owner_give_directory(const struct sudo_owner *owner, int above, const char *name);
