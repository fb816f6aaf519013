/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>
#include <time.h>

/* Limits of CPU time are multiplied by the factor: builds with the address sanitizer read debug
 * info three times as long, and symbolize five times as long. */
#ifdef __SANITIZE_ADDRESS__
enum { CPU_TIME_FACTOR = 5 };
#else
enum { CPU_TIME_FACTOR = 1 };
#endif

/* 0: no such clock, as of a process that has ended. */
uint64_t clock_ns(clockid_t clock);
/* CPU time of ended children that were waited for. */
uint64_t children_cpu_ns(void);
/* CLOCK_MONOTONIC. */
uint64_t monotonic_ns(void);
/* CLOCK_MONOTONIC in milliseconds, for timeouts. */
int64_t monotonic_ms(void);
