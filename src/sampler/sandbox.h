/* SPDX-License-Identifier: MIT */
/*
 * Filters of system calls that the program installs itself:
 *
 *     prctl(), syscall() ─▶ the filter, and each call of own_call.h ─▶ bpf.c ─▶ process.forbidden ─▶ own_syscall()
 *     exec ─▶ REC_SESSION=…:FORBIDDEN ─▶ the new program's sampler
 */
#pragma once

#include "sampler/own_call.h"
#include "sampler/sampler.h"

/* Around the call that installs a filter, a struct sock_fprog of the program's. Async-signal-safe. */
struct sandbox_change {
    uint64_t before, after;
};
struct sandbox_change sandbox_begin(const void *filter);
void sandbox_end(struct sandbox_change change, bool has_failed);
