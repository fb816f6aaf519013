/* SPDX-License-Identifier: MIT */
/* Waits for signals, without the signals of the sampler. Hooks: sigwait(), sigtimedwait(),
 * sigwaitinfo(). */
#pragma once

#include "sampler/base/hook.h"

#include <signal.h>
#include <time.h>

HOOK int sigtimedwait(const sigset_t *set, siginfo_t *info, const struct timespec *timeout);
HOOK int sigwaitinfo(const sigset_t *set, siginfo_t *info);
HOOK int sigwait(const sigset_t *set, int *number);
