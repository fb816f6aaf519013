/* SPDX-License-Identifier: MIT */
/* The invoking user of sudo. */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

struct sudo_user {
    bool is_known; /* false: not root, or SUDO_UID and SUDO_GID are not both numbers */
    uid_t uid;
    gid_t gid;
};

struct sudo_user sudo_user_find(void);
