/* SPDX-License-Identifier: MIT */
#include "base/sandbox/confine_internal.h"

#include "base/files/rights.h"
#include "base/files/sudo_user.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -EINVAL: the user namespace does not map the user; -EPERM: the namespace disables setgroups(). */
static int become(const struct sudo_user *user)
{
    if (setgroups(0, NULL) != 0 || setresgid(user->gid, user->gid, user->gid) != 0 ||
        setresuid(user->uid, user->uid, user->uid) != 0)
        return -errno;
    /* The memory is still root's: the user must not trace this process. */
    return prctl(PR_SET_DUMPABLE, 0) == 0 ? 0 : -errno;
}

/* Drops all capabilities outside of the mask of the first 32. */
static int keep_capabilities(uint32_t kept)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct sets[_LINUX_CAPABILITY_U32S_3];
    if (syscall(SYS_capget, &header, sets) != 0)
        return -errno;
    if ((sets[0].permitted & ~kept) == 0 && sets[1].permitted == 0)
        return 0;
    sets[0].permitted &= kept;
    sets[0].effective &= kept;
    sets[0].inheritable = 0;
    sets[1] = (struct __user_cap_data_struct){0};
    return syscall(SYS_capset, &header, sets) == 0 ? 0 : -errno;
}

static bool is_given_up(const struct sudo_user *user)
{
    return user->is_known && user->uid != 0;
}

int confine_rights(void)
{
    struct sudo_user user = sudo_user_find();
    int err = is_given_up(&user) ? become(&user) : 0;
    return err ? err : keep_capabilities(geteuid() == 0 ? 1u << CAP_DAC_READ_SEARCH : 0);
}

int confine_rights_and_home(void)
{
    uid_t before = geteuid();
    int err = confine_rights();
    const struct passwd *user = !err && geteuid() != before ? getpwuid(geteuid()) : NULL;
    if (user && setenv("HOME", user->pw_dir, 1) != 0)
        err = -errno;
    return err;
}

/* Borrowed rights need setgroups() and mapped ids, as become() does, and can be returned. */
int confine_rights_are_refused(void)
{
    struct rights_loan loan;
    struct sudo_user user = sudo_user_find();
    if (!is_given_up(&user))
        return 0;
    int err = rights_borrow(&loan, &(struct rights){.uid = user.uid, .gid = user.gid});
    if (err == 0)
        rights_return(&loan);
    return err;
}
