/* SPDX-License-Identifier: MIT */
#include "cli/files/sudo_reader.h"

#include "base/files/rights.h"
#include "cli/files/sudo_owner.h"

#include <grp.h>
#include <pwd.h>

/* An unknown user has only the group in SUDO_GID. */
static void find_groups(struct rights *rights)
{
    int count = RIGHTS_GROUPS_MAX;
    const struct passwd *user = getpwuid(rights->uid);
    if (!user)
        return;
    /* Without enough room the first groups are filled in. */
    int found = getgrouplist(user->pw_name, rights->gid, rights->groups, &count);
    rights->group_count = found < 0 ? RIGHTS_GROUPS_MAX : (size_t)found;
}

void sudo_reader_set(void)
{
    static struct rights rights;
    struct sudo_owner owner = sudo_owner_find();
    if (!owner.is_other)
        return;
    rights = (struct rights){.uid = owner.uid, .gid = owner.gid};
    find_groups(&rights);
    rights_set_reader(&rights);
}
