/* SPDX-License-Identifier: MIT */
#include "cli/files/sudo_owner.h"

#include "base/files/sudo_user.h"

#include <unistd.h>

struct sudo_owner sudo_owner_find(void)
{
    struct sudo_user user = sudo_user_find();
    return (struct sudo_owner){.is_other = user.is_known, .uid = user.uid, .gid = user.gid};
}

uid_t sudo_owner_uid(const struct sudo_owner *owner)
{
    return owner->is_other ? owner->uid : geteuid();
}

void sudo_owner_give(const struct sudo_owner *owner, int fd)
{
    if (owner->is_other && fchown(fd, owner->uid, owner->gid) != 0)
        return;
}
