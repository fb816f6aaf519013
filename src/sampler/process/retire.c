/* SPDX-License-Identifier: MIT */
/*
 * The end of sampling in a process that reads the sampler's signal itself, gives up the clock of
 * the handler, or is traced by its parent. Handler and hooks stay installed: other threads may
 * still have a pending signal of the sampler, and hide a block.
 *
 *     process                                        launcher
 *     is_retired = 1: no new timer, no sample
 *     delete the timers of all threads
 *     retirement = cause, doorbell  ───────────────▶ close the perf event of all threads
 *     ◀───────────────────────────────────────────── retirement = DONE
 *     make the block real in the calling thread
 *
 * Another thread with a hidden block gets a real block at its next change of the mask, or from
 * mask_defer() when a signal of another sender arrives. Only a thread itself can change its mask,
 * and an extra signal for this purpose would end a poll() with EINTR.
 */
#include "sampler/process/retire.h"

#include "sampler/base/next_symbol.h"
#include "sampler/base/own_call.h"
#include "sampler/process/launcher.h"
#include "sampler/signals/mask.h"
#include "sampler/threads/timer.h"

#include <sys/ptrace.h>

static void announce_retirement(enum retirement cause)
{
    uint32_t *word = &process.slot->retirement;
    swap_acq_rel(word, RETIREMENT_NONE, cause);
    if (process.engine == ENGINE_PERF_TRAP && !seccomp_forbids(CALLS_OF_WAIT))
        launcher_await(word, RETIREMENT_DONE, SESSION_WAIT_BUSY_NS);
    else
        ring_doorbell();
}

void process_retire(enum retirement cause)
{
    if (!process_is_followed() || process_is_another())
        return;
    exchange_acquire(&process.is_retired, 1);
    timer_stop_all();
    announce_retirement(cause);
    if (thread_self)
        mask_retire(thread_self);
}

/* Each sample would stop the process, and tracers take SIGTRAP for an event of their own: proot
 * changed registers, and one in five of its programs ended by SIGSEGV at 9999 Hz. */
void ptrace_prepare(long request)
{
    bool traces = request == PTRACE_ATTACH || request == PTRACE_SEIZE;
    if (process.requests && (traces || request == PTRACE_TRACEME))
        store_release(&process.requests->has_tracers, 1);
    if (request == PTRACE_TRACEME && process_is_sampled())
        process_retire(RETIREMENT_TRACED);
}

HOOK long ptrace_hook(long request, long pid, long address, long data)
{
    typedef long function(long, long, long, long);
    ptrace_prepare(request);
    return ((function *)next_symbol(NEXT_INDEX_ptrace))(request, pid, address, data);
}
