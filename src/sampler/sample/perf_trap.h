/* SPDX-License-Identifier: MIT */
/* The SIGTRAP of a perf event (sigtrap in perf_event_open(2)). */
#pragma once

#include <stdint.h>

/* Of si_perf_data in siginfo_t (include/uapi/asm-generic/siginfo.h, Linux 5.13), unknown to
 * glibc. */
enum { PERF_TRAP_DATA_AT = 24 };

/* The event's sig_data. Async-signal-safe. */
static inline uint64_t perf_trap_data(const void *siginfo)
{
    uint64_t data;
    __builtin_memcpy(&data, (const char *)siginfo + PERF_TRAP_DATA_AT, sizeof(data));
    return data;
}
