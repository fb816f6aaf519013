/* SPDX-License-Identifier: MIT */
/* Hooks: sigaction(), signal(), __sysv_signal(). */
#pragma once

#include "sampler/base/hook.h"
#include "sampler/signals/dispositions.h"
#include "sampler/signals/kernel_action.h"

#include <stdbool.h>

HOOK int sigaction(int signal, const struct sigaction *action, struct sigaction *old);
HOOK signal_handler signal(int number, signal_handler simple);
/* The name of signal() in programs compiled as strict ISO C (-std=c11) or with _XOPEN_SOURCE. */
HOOK signal_handler __sysv_signal(int number, signal_handler simple);

/* Whether a bare system call reads or sets the program's action for the sampler's signal. */
bool sigaction_is_bare_call(long number, int signal, long mask_bytes);
/* The same call on the program's action. Returns 0 or a negative errno, as the kernel. */
long sigaction_bare(const struct kernel_action *given, struct kernel_action *old);
