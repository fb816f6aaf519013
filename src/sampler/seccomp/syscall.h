/* SPDX-License-Identifier: MIT */
/* Hook: syscall(). System calls with a hook of their own pass through that hook. */
#pragma once

#include "sampler/base/hook.h"

/* The C library declares syscall() with "...". With fixed parameters the call of the C library's
 * function is a jump, without a frame: a new process may return here on another stack. */
HOOK long syscall_hook(long number, long a, long b, long c, long d, long e,
                       long f) __asm__("syscall");
