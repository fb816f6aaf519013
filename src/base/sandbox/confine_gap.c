/* SPDX-License-Identifier: MIT */
/* Messages for missing layers of the sandbox. */
#include "base/sandbox/confine.h"

#include "base/files/sudo_user.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static void describe_rights(struct error *message, int err)
{
    error_set(message, -EPERM,
              "symbols are not read: under sudo, binaries are parsed as user %u, and a process "
              "cannot become this user here (%s); unset SUDO_UID and SUDO_GID, or convert the "
              "capture as another user",
              (unsigned)sudo_user_find().uid, strerror(-err));
}

static bool remains_root(void)
{
    struct sudo_user user = sudo_user_find();
    return geteuid() == 0 && (!user.is_known || user.uid == 0);
}

static void describe_calls(struct error *message, int err, bool is_refused)
{
    if (is_refused)
        error_set(
            message, -EPERM,
            "symbols are not read: for root, parsing binaries needs a seccomp filter, and none "
            "can be installed here (%s); convert the capture as another user",
            strerror(-err));
    else
        error_set(message, -EPERM,
                  "symbols are read without a seccomp filter: none can be installed here (%s); see "
                  "`rec doctor`",
                  strerror(-err));
}

/* A kernel without Landlock fails with one of the two (landlock_create_ruleset(2)). */
static bool is_landlock_refused(int abi)
{
    return abi < 0 && abi != -ENOSYS && abi != -EOPNOTSUPP;
}

bool confine_gap(struct error *message, bool *is_refused)
{
    struct confine_support support = confine_support();
    *is_refused = support.rights_err || (support.seccomp_err && remains_root());
    if (support.rights_err)
        describe_rights(message, support.rights_err);
    else if (support.seccomp_err)
        describe_calls(message, support.seccomp_err, *is_refused);
    else if (is_landlock_refused(support.landlock_abi))
        error_set(message, -EPERM,
                  "symbols are read without Landlock: an outer sandbox refuses the system call "
                  "(%s); see `rec doctor`",
                  strerror(-support.landlock_abi));
    else
        return false;
    return true;
}
