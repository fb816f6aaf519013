/* SPDX-License-Identifier: MIT */
#include "sampler/signals/sigwait.h"

#include "sampler/base/next_symbol.h"
#include "sampler/base/own_call.h"
#include "sampler/sample/own_signal.h"

#include <stddef.h>

/* The rest of the given time; NULL stays NULL. */
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

/* The kernel alone reads the set: a bad address is an error of the call, not a fault here. */
int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout)
{
    int64_t start_ns = timeout ? (int64_t)clock_ns(CLOCK) : 0;
    const struct timespec *time = timeout;
    struct timespec left;
    siginfo_t unwanted;
    siginfo_t *got = info ? info : &unwanted;
    int number = NEXT(sigtimedwait)(set, got, time);
    while (number > 0 && number == process.signal && own_signal_is_ours(got)) {
        time = remaining(timeout, start_ns, &left);
        number = NEXT(sigtimedwait)(set, got, time);
    }
    return number;
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
