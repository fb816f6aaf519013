/* SPDX-License-Identifier: MIT */
/*
 * Filters of system calls that the program installs itself:
 *
 *     prctl(), syscall() ─▶ the filter, and each call of own_call.h ─▶ seccomp_eval.c
 *         ─▶ process.forbidden ─▶ own_syscall()
 *     exec ─▶ REC_SESSION=…:FORBIDDEN ─▶ the new program's sampler
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Around the call that installs the program's filter, a struct sock_fprog. Async-signal-safe. */
struct seccomp_change {
    uint64_t before, after;
};
struct seccomp_change seccomp_begin(const void *filter);
void seccomp_end(struct seccomp_change change, bool has_failed);
