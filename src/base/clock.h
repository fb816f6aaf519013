/* SPDX-License-Identifier: MIT */
#pragma once

#include <stdint.h>

/* CLOCK_MONOTONIC. */
uint64_t monotonic_ns(void);
/* The same, for what waits in milliseconds. */
int64_t monotonic_ms(void);
