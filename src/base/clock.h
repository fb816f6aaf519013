/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* CLOCK_MONOTONIC. */
uint64_t monotonic_ns(void);
/* CLOCK_MONOTONIC in milliseconds, for timeouts. */
int64_t monotonic_ms(void);
