/* SPDX-License-Identifier: MIT */
#include "cli/owner.h"

#include "base/error.h"
#include "cli/options.h"

#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

struct owner owner_find(void)
{
    struct owner owner = {0};
    const char *uid_text = getenv("SUDO_UID");
    const char *gid_text = getenv("SUDO_GID");
    unsigned long uid, gid;
    if (geteuid() == 0 && uid_text && gid_text &&
        options_number(uid_text, "SUDO_UID", 0, UINT32_MAX - 1, &uid, NULL) == 0 &&
        options_number(gid_text, "SUDO_GID", 0, UINT32_MAX - 1, &gid, NULL) == 0)
        owner = (struct owner){.is_other = true, .uid = (uid_t)uid, .gid = (gid_t)gid};
    return owner;
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
