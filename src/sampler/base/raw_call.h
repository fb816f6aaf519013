/* SPDX-License-Identifier: MIT */
/* System calls that leave errno alone: results are negative errnos. Async-signal-safe
 * throughout. */
#pragma once

#include "sampler/arch/arch.h"

#include <errno.h>
#include <sys/syscall.h>

#define raw_syscall(number, ...) raw_syscall_pad(number, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define raw_syscall_pad(number, a, b, c, d, e, f, ...) \
    raw_syscall6((number), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f))

static inline bool raw_failed(long result)
{
    return result < 0 && result > -4096;
}

/* The result in the form of the C library. */
static inline int raw_told(long result)
{
    if (!raw_failed(result))
        return (int)result;
    errno = (int)-result;
    return -1;
}
