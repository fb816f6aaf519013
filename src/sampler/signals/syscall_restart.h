/* SPDX-License-Identifier: MIT */
#pragma once

#include <ucontext.h>

/* If the signal interrupted a waiting system call, the call ends with EINTR instead of a
 * restart. Async-signal-safe. */
void syscall_restart_cancel(ucontext_t *interrupted);
