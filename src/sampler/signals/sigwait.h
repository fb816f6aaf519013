/* SPDX-License-Identifier: MIT */
/* Waits for signals, without the signals of the sampler. Hooks: sigwait(), sigtimedwait(),
 * sigwaitinfo(). */
#pragma once

#include "sampler/base/hook.h"

#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

HOOK int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);
HOOK int sigwaitinfo(const sigset_t *set, siginfo_t *info);
HOOK int sigwait(const sigset_t *set, int *number);
HOOK int sigsuspend(const sigset_t *mask);
HOOK int pselect(int count, fd_set *readable, fd_set *writable, fd_set *exceptional,
                 const struct timespec *timeout, const sigset_t *mask);
HOOK int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
               const sigset_t *mask);
HOOK int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                     const sigset_t *mask, size_t bytes);
HOOK int epoll_pwait(int epoll_fd, struct epoll_event *events, int count, int timeout_ms,
                     const sigset_t *mask);
HOOK int epoll_pwait2(int epoll_fd, struct epoll_event *events, int count,
                      const struct timespec *timeout, const sigset_t *mask);

/* rt_sigtimedwait as a bare system call, with the result of syscall(). */
long sigwait_bare(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);
