/* SPDX-License-Identifier: MIT */
/* Programs close unknown descriptors before an exec. The new program then gets the session's
 * memory from the launcher, through /proc. The kernel forbids this in another user namespace and
 * for another user; without /proc it is impossible. There the descriptors stay open. */
#include "sampler/exec/fds.h"

#include "sampler/base/next_symbol.h"
#include "sampler/base/own_call.h"
#include "sampler/process/attach.h"

#include <sys/syscall.h>
#include <unistd.h>

#define NO_FD UINT32_MAX

static bool launcher_has_it(uint32_t fd)
{
    char path[SESSION_PATH_BYTES];
    session_path(path, fd);
    return !raw_failed(own_syscall(ACCESS, AT_FDCWD, path, R_OK));
}

static bool is_needed(const struct inherited *inherited)
{
    return session_is_still(inherited) && !load_relaxed(&process.tables->header.stop) &&
           !launcher_has_it(inherited->fd);
}

/* The first descriptor of the range to keep; NO_FD: none. */
static uint32_t first_needed(uint32_t first, uint32_t last)
{
    uint32_t found = NO_FD;
    for (int i = 0; process.tables && i < 2; i++) {
        const struct inherited *inherited = &process.inherited[i];
        if (inherited->fd >= first && inherited->fd <= last && inherited->fd < found &&
            is_needed(inherited))
            found = inherited->fd;
    }
    return found;
}

int close(int fd)
{
    return first_needed((uint32_t)fd, (uint32_t)fd) == NO_FD ? NEXT(close)(fd) : 0;
}

/* Closes up to three ranges, around the kept descriptors. The flags take effect on an empty
 * range, too. */
static long close_pieces(uint32_t first, uint32_t last, int flags)
{
    for (;;) {
        uint32_t stays = first_needed(first, last);
        if (stays == NO_FD)
            return raw_syscall(SYS_close_range, first, last, flags);
        long result = first < stays ? raw_syscall(SYS_close_range, first, stays - 1, flags)
                                    : raw_syscall(SYS_close_range, NO_FD, NO_FD, flags);
        if (raw_failed(result) || stays == last)
            return result;
        first = stays + 1;
    }
}

int close_range(unsigned first, unsigned last, int flags)
{
    return raw_told(close_pieces(first, last, flags));
}

/* On a kernel without close_range() the C library finds another way. */
void closefrom(int lowest)
{
    if (raw_failed(close_pieces(lowest > 0 ? (uint32_t)lowest : 0, UINT32_MAX, 0)))
        NEXT(closefrom)(lowest);
}
