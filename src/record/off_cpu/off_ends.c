/* SPDX-License-Identifier: MIT */
#include "record/off_cpu/off_ends.h"

#include "base/pid_fd.h"
#include "record/procfs/proc.h"

#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

/* Descriptors are scarce, and the recording needs most of them. */
enum { WATCHED_MAX = 256, DESCRIPTORS_SHARE = 16, TAKEN_AT_ONCE = 16 };

void off_ends_open(struct off_ends *ends)
{
    struct rlimit files = {0};
    getrlimit(RLIMIT_NOFILE, &files);
    uint64_t share = files.rlim_cur / DESCRIPTORS_SHARE;
    ends->limit = share < WATCHED_MAX ? share : WATCHED_MAX;
    ends->fd = epoll_create1(EPOLL_CLOEXEC);
}

void off_ends_close(struct off_ends *ends)
{
    if (ends->fd >= 0)
        close(ends->fd);
    ends->fd = -1;
}

/* EPOLLONESHOT: the pidfd of an ended process stays readable until it is closed. */
void off_ends_watch(const struct off_ends *ends, struct off_tasks *tasks,
                    struct off_process *process)
{
    if (process->pid_fd || ends->fd < 0 || tasks->watched >= ends->limit)
        return;
    struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT};
    int fd = pid_fd_open(process->pid);
    if (fd >= 0 && epoll_ctl(ends->fd, EPOLL_CTL_ADD, fd, &event) != 0) {
        close(fd);
        fd = -1;
    }
    /* The descriptor is older than the proof. */
    bool is_proven = process->program_ns == 0 || proc_existed_at(process->pid, process->program_ns);
    if (fd >= 0 && !is_proven) {
        close(fd);
        fd = -1;
    }
    process->is_other = !is_proven;
    process->pid_fd = fd;
    tasks->watched += fd >= 0;
}

void off_ends_take(const struct off_ends *ends)
{
    struct epoll_event taken[TAKEN_AT_ONCE];
    while (epoll_wait(ends->fd, taken, TAKEN_AT_ONCE, 0) == TAKEN_AT_ONCE)
        continue;
}
