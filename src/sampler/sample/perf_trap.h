/* SPDX-License-Identifier: MIT */
/* The SIGTRAP of a perf event (sigtrap in perf_event_open(2)). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Of si_perf_data and si_perf_flags in siginfo_t (include/uapi/asm-generic/siginfo.h, Linux 5.13),
 * unknown to glibc. */
enum { PERF_TRAP_DATA_AT = 24, PERF_TRAP_FLAGS_AT = 36 };

/* The event's sig_data. Async-signal-safe. */
static inline uint64_t perf_trap_data(const void *siginfo)
{
    uint64_t data;
    __builtin_memcpy(&data, (const char *)siginfo + PERF_TRAP_DATA_AT, sizeof(data));
    return data;
}

/* The signal was blocked when the event occurred (TRAP_PERF_FLAG_ASYNC, Linux 6.0): the event is of
 * the handler. Async-signal-safe. */
static inline bool perf_trap_is_late(const void *siginfo)
{
    uint32_t flags;
    __builtin_memcpy(&flags, (const char *)siginfo + PERF_TRAP_FLAGS_AT, sizeof(flags));
    return flags & 1;
}
