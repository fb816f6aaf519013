/* SPDX-License-Identifier: MIT */
/* Under sudo, what is written belongs to the user who typed it. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct owner {
    bool is_other; /* false: files simply belong to this process's user */
    uid_t uid;
    gid_t gid;
};

struct owner owner_find(void);

/* The user who is to read the outputs. */
uid_t owner_uid(const struct owner *owner);

/* Hands an open file over, which this process must have created. A failure has no message: some file
 * systems have no owners. */
void owner_give(const struct owner *owner, int fd);
