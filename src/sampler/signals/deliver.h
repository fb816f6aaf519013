/* SPDX-License-Identifier: MIT */
/* Signals of other senders with the sampler's number: int3, raise(), kill(), timers of the
 * program. */
#pragma once

#include <signal.h>

/* Applies the program's action, as the kernel would without the sampler. Async-signal-safe (makes
 * system calls, as the emulation needs). */
void deliver_foreign(int signal, siginfo_t *info, void *context);
