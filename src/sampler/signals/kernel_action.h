/* SPDX-License-Identifier: MIT */
/* What the kernel makes of signals, actions and masks. */
#pragma once

#include "arch/own.h"
#include "sampler/base/own_call.h"

#include <signal.h>
#include <stdint.h>

#define SIGNAL_BIT(signal) (UINT64_C(1) << ((signal)-1))

/* The kernel keeps these flags (UAPI_SA_FLAGS in include/linux/signal_types.h) and drops all
 * others. */
#define KERNEL_ACTION_FLAGS (0xd8000c07 | ARCH_SA_RESTORER)
/* The kernel removes these signals from each mask. */
#define KERNEL_NEVER_BLOCKED (SIGNAL_BIT(SIGKILL) | SIGNAL_BIT(SIGSTOP))

/* Signals ignored by the kernel by default (signal(7)). */
#define KERNEL_IGNORED_BY_DEFAULT \
    (SIGNAL_BIT(SIGCHLD) | SIGNAL_BIT(SIGCONT) | SIGNAL_BIT(SIGURG) | SIGNAL_BIT(SIGWINCH))

/* The first 64 signals of the C library's set: all signals of the kernel. */
static inline uint64_t sigset_word(const sigset_t *set)
{
    return *(const uint64_t *)(const void *)set;
}

static inline void sigset_assign(sigset_t *set, uint64_t word)
{
    *(uint64_t *)(void *)set = word;
}

/* Changes the calling thread's mask in the kernel; returns the mask before. Async-signal-safe. */
static inline uint64_t kernel_mask_change(int how, uint64_t mask)
{
    uint64_t before = 0;
    own_syscall(SIGPROCMASK, how, &mask, &before, sizeof(mask));
    return before;
}
