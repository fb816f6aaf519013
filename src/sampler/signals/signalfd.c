/* SPDX-License-Identifier: MIT */
/*
 * signalfd(). The kernel queues blocked signals of the sampler and of other senders alike, and of
 * several signals with one number only the first. Hooks cannot filter read(), readv(), splice()
 * and io_uring, so a process with a descriptor for the sampler's signal is not sampled any more.
 *
 * A descriptor returns the pending signals of the reader, not of its creator: forked children are
 * not sampled either.
 *
 * Not detected: descriptors from a socket, inherited by an executed program, or created by system
 * calls outside of the C library.
 */
#include "sampler/signals/signalfd.h"

#include "sampler/base/memory.h"
#include "sampler/base/next_symbol.h"
#include "sampler/process/retire.h"
#include "sampler/signals/kernel_action.h"

#include <sys/signalfd.h>

/* A vfork child gets no signals of the sampler, and runs on its parent's memory. */
void signalfd_prepare(const sigset_t *mask, size_t mask_bytes)
{
    uintptr_t page = MEMORY_NO_PAGE;
    if (!process_is_sampled() || process.signal == 0 || mask_bytes != sizeof(uint64_t) ||
        process_is_another() || !memory_is_readable(mask, mask_bytes, &page) ||
        !(sigset_word(mask) & SIGNAL_BIT(process.signal)))
        return;
    process_retire(RETIREMENT_SIGNALFD);
}

int signalfd(int fd, const sigset_t *mask, int flags)
{
    signalfd_prepare(mask, sizeof(uint64_t));
    return NEXT(signalfd)(fd, mask, flags);
}
