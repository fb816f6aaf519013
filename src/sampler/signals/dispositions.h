/* SPDX-License-Identifier: MIT */
/* The program's actions for signals other than the sampler's. */
#pragma once

#include <signal.h>

typedef void (*signal_handler)(int);

/* sigaction() with the sampler's changes. Async-signal-safe. */
int dispositions_set(int signal, const struct sigaction *action, struct sigaction *old);
/* The same for `set`, the C library's signal() or __sysv_signal(). Async-signal-safe. */
signal_handler dispositions_set_simple(signal_handler (*set)(int, signal_handler), int signal,
                                       signal_handler simple);
