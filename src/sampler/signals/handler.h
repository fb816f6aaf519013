/* SPDX-License-Identifier: MIT */
#pragma once

#include <signal.h>

/* The handler of the sampler's signal: samples, or delivers the signal of another sender to the
 * program. Async-signal-safe. */
void handler(int signal, siginfo_t *info, void *context);
