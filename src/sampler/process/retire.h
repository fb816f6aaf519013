/* SPDX-License-Identifier: MIT */
/* The end of sampling in a process. Hook: ptrace(). */
#pragma once

#include "sampler/base/hook.h"
#include "wire/session.h"

/* Ends the sampling of this process. On return no signal of the sampler is pending in the calling
 * thread or will be, unless the launcher does not reply; the kernel blocks the signal where the
 * program does. Not async-signal-safe. */
void process_retire(enum retirement cause);

/* Before a call of ptrace(): tells the launcher to look for tracers, and retires a process that its
 * parent is going to trace. */
void ptrace_prepare(long request);
/* The C library declares ptrace() with "...". */
HOOK long ptrace_hook(long request, long pid, long address, long data) __asm__("ptrace");
