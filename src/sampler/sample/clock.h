/* SPDX-License-Identifier: MIT */
/*
 * Time in threads without access to the processor's time stamp counter. The kernel takes the access
 * by PR_SET_TSC, or as a part of strict seccomp. Then rdtsc raises SIGSEGV, also in the handler,
 * and also in the threads, forked children and programs of such a thread.
 *
 *     prctl() ─▶ thread->has_no_clock ─▶ handler: the launcher's last heartbeat is the time
 */
#pragma once

#include "sampler/arch/arch.h"
#include "sampler/base/state.h"

/* True when a read of the counter raises SIGSEGV in the calling thread. Makes a system call.
 * Async-signal-safe. */
bool clock_is_forbidden(void);

/* Now, or a little earlier in a thread without access. Async-signal-safe. */
static inline uint64_t clock_ticks(const struct thread_state *thread)
{
    if (thread->has_no_clock)
        return load_relaxed(&process.tables->header.heartbeat_ticks);
    return arch_ticks();
}
