/* SPDX-License-Identifier: MIT */
/*
 * Waiting for signals.
 *
 *     sigwait, …         drop pending signals of the sampler
 *     sigsuspend, ppoll  with a mask that unblocks the signal, in a thread that hides a block (mask.c): a foreign
 *                        signal runs the program's handler
 */
#include "sampler/signals/sigwait.h"

#include "sampler/base/next_symbol.h"
#include "sampler/base/own_call.h"
#include "sampler/sample/own_signal.h"
#include "sampler/signals/mask.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>

/* What is left of the time that was given; NULL stays NULL. */
static const struct timespec *remaining(const struct timespec *given, int64_t start_ns,
                                        struct timespec *left)
{
    if (!given || given->tv_sec >= INT64_MAX / 2000000000)
        return given;
    int64_t left_ns =
        given->tv_sec * 1000000000 + given->tv_nsec - ((int64_t)clock_ns(CLOCK) - start_ns);
    if (left_ns < 0)
        left_ns = 0;
    *left = (struct timespec){.tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000};
    return left;
}

typedef int wait_function(const sigset_t *, siginfo_t *, const struct timespec *);

/* The set is the kernel's to read: a bad address is an error, not the end. */
static int wait_for_theirs(wait_function *wait, const sigset_t *set, siginfo_t *info,
                           const struct timespec *timeout)
{
    int64_t start_ns = timeout ? (int64_t)clock_ns(CLOCK) : 0;
    const struct timespec *time = timeout;
    struct timespec left;
    siginfo_t unwanted;
    siginfo_t *got = info ? info : &unwanted;
    int number = wait(set, got, time);
    while (number > 0 && number == process.signal && own_signal_is_ours(got)) {
        time = remaining(timeout, start_ns, &left);
        number = wait(set, got, time);
    }
    return number;
}

int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    return wait_for_theirs(NEXT(sigtimedwait), set, info, timeout);
}

/* The C library's function gives si_code another value than the kernel. */
static int wait_bare(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    return raw_told(raw_syscall(SYS_rt_sigtimedwait, set, info, timeout, sizeof(uint64_t)));
}

long sigwait_bare(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    return wait_for_theirs(wait_bare, set, info, timeout);
}

int sigwaitinfo(const sigset_t *set, siginfo_t *info)
{
    return sigtimedwait(set, info, NULL);
}

int sigwait(const sigset_t *set, int *number)
{
    int got;
    do
        got = sigtimedwait(set, NULL, NULL);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        return errno;
    *number = got;
    return 0;
}

#define WITH_MASK(mask, call)                                                        \
    do {                                                                             \
        struct thread_state *lifted = mask_lift((mask), __builtin_frame_address(0)); \
        if (mask_deliver_pending(lifted, (mask)))                                    \
            return raw_told(-EINTR);                                                 \
        int result = (call);                                                         \
        mask_lower(lifted);                                                          \
        return result;                                                               \
    } while (0)

int sigsuspend(const sigset_t *mask)
{
    WITH_MASK(mask, NEXT(sigsuspend)(mask));
}

int pselect(int count, fd_set *readable, fd_set *writable, fd_set *exceptional,
            const struct timespec *timeout, const sigset_t *mask)
{
    WITH_MASK(mask, NEXT(pselect)(count, readable, writable, exceptional, timeout, mask));
}

int ppoll(struct pollfd *fds, nfds_t count, const struct timespec *timeout, const sigset_t *mask)
{
    WITH_MASK(mask, NEXT(ppoll)(fds, count, timeout, mask));
}

int epoll_pwait(int epoll_fd, struct epoll_event *events, int count, int timeout_ms,
                const sigset_t *mask)
{
    WITH_MASK(mask, NEXT(epoll_pwait)(epoll_fd, events, count, timeout_ms, mask));
}

/* ppoll() in programs that are compiled with _FORTIFY_SOURCE. */
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                const sigset_t *mask, size_t bytes);
int __ppoll_chk(struct pollfd *fds, nfds_t count, const struct timespec *timeout,
                const sigset_t *mask, size_t bytes)
{
    WITH_MASK(mask, NEXT(__ppoll_chk)(fds, count, timeout, mask, bytes));
}

#if !__GLIBC_PREREQ(2, 35)
int epoll_pwait2(int epoll_fd, struct epoll_event *events, int count,
                 const struct timespec *timeout, const sigset_t *mask);
#endif

/* A program may ask whether the C library has it. */
int epoll_pwait2(int epoll_fd, struct epoll_event *events, int count,
                 const struct timespec *timeout, const sigset_t *mask)
{
    if (!NEXT(epoll_pwait2)) {
        errno = ENOSYS;
        return -1;
    }
    WITH_MASK(mask, NEXT(epoll_pwait2)(epoll_fd, events, count, timeout, mask));
}
