/* SPDX-License-Identifier: MIT */
/*
 * Programs close what they do not know before they execute another one. That one gets the session's memory from the
 * launcher then, through /proc; but not from within another user namespace or as another user, where the kernel forbids it,
 * nor where there is no /proc. There the descriptors stay.
 */
#include "sampler/real.h"
#include "sampler/sandbox.h"

#include <sys/stat.h>
#include <unistd.h>

static bool is_still(const struct inherited *inherited)
{
    struct stat status;
    return inherited->inode != 0 && !raw_failed(own_syscall(STAT_FD, inherited->fd, &status)) &&
           status.st_ino == inherited->inode;
}

static bool launcher_has_it(uint32_t fd)
{
    char path[SESSION_PATH_BYTES];
    session_path(path, fd);
    return !raw_failed(own_syscall(ACCESS, AT_FDCWD, path, R_OK));
}

static bool is_needed(const struct inherited *inherited, int fd)
{
    return inherited->fd == (uint32_t)fd && is_still(inherited) &&
           !load_relaxed(&process.tables->header.stop) && !launcher_has_it(inherited->fd);
}

__attribute__((visibility("default"))) int close(int fd)
{
    if (process.tables &&
        (is_needed(&process.inherited[0], fd) || is_needed(&process.inherited[1], fd)))
        return 0;
    return REAL(close)(fd);
}
