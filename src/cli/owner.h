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

/* Hands an open file over; failing to is not worth a word (file systems without owners). */
void owner_give(const struct owner *owner, int fd);
