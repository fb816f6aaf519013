/* SPDX-License-Identifier: MIT */
#include "base/pid_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

int pid_fd_open(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Signal 0 checks without a signal (kill(2)); EPERM: the process is there. */
bool pid_fd_is_reaped(int pid_fd)
{
    return pid_fd >= 0 && syscall(SYS_pidfd_send_signal, pid_fd, 0, NULL, 0) != 0 && errno == ESRCH;
}

static int open_task(pid_t tid)
{
    enum { OF_THREAD = O_EXCL }; /* PIDFD_THREAD, since Linux 6.9 */
    int fd = pid_fd_open(tid);
    return fd >= 0 ? fd : (int)syscall(SYS_pidfd_open, tid, OF_THREAD);
}

int *pid_fds_open(const pid_t *pids, size_t count)
{
    int *pid_fds = malloc((count + 1) * sizeof(*pid_fds));
    for (size_t i = 0; pid_fds && i < count; i++)
        pid_fds[i] = open_task(pids[i]);
    return pid_fds;
}

void pid_fds_close(int *pid_fds, size_t count)
{
    for (size_t i = 0; pid_fds && i < count; i++)
        if (pid_fds[i] >= 0)
            close(pid_fds[i]);
    free(pid_fds);
}
