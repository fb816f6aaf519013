/* SPDX-License-Identifier: MIT */
/* Time in threads that may not read the processor's clock. */
#pragma once

#include "sampler/sampler.h"

/* True when reading the clock is a fault in the calling thread. Makes a system call. Async-signal-safe. */
bool clock_is_forbidden(void);

/* Now, or a little earlier where the clock may not be read. Async-signal-safe. */
static inline uint64_t clock_ticks(const struct thread_state *thread)
{
    if (thread->has_no_clock)
        return load_relaxed(&process.tables->header.heartbeat_ticks);
    return arch_ticks();
}
