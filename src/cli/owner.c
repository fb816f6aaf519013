/* SPDX-License-Identifier: MIT */
#include "cli/owner.h"

#include "base/files/sudo_user.h"

#include <unistd.h>

struct owner owner_find(void)
{
    struct sudo_user user = sudo_user_find();
    return (struct owner){.is_other = user.is_known, .uid = user.uid, .gid = user.gid};
}

uid_t owner_uid(const struct owner *owner)
{
    return owner->is_other ? owner->uid : geteuid();
}

void owner_give(const struct owner *owner, int fd)
{
    if (owner->is_other && fchown(fd, owner->uid, owner->gid) != 0)
        return;
}
