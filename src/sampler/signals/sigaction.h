/* SPDX-License-Identifier: MIT */
/* Hooks: sigaction(), signal(), __sysv_signal(). */
#pragma once

#include "sampler/base/hook.h"

#include <signal.h>

typedef void (*signal_handler)(int);

HOOK int sigaction(int signal, const struct sigaction *action, struct sigaction *old);
HOOK signal_handler signal(int number, signal_handler simple);
/* The name of signal() in programs compiled as strict ISO C (-std=c11) or with _XOPEN_SOURCE. */
HOOK signal_handler __sysv_signal(int number, signal_handler simple);
