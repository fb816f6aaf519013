/* SPDX-License-Identifier: MIT */
/*
 * Unloaded code. Loading a library needs no hook: its first sample has a PC outside of all known
 * modules, and the launcher reads the mappings again. An unloaded library may be followed by
 * another library at the same addresses: a changed count marks the published map as outdated for
 * walks. If samples are in code still unread by the launcher, dlclose() waits for the launcher to
 * read the mappings.
 *
 * dlopen() has no hook, because dlopen() examines its caller.
 */
#include "sampler/process/modules.h"

#include "sampler/base/next_symbol.h"
#include "sampler/base/own_call.h"
#include "sampler/process/launcher.h"

#include <dlfcn.h>

/* No more of the time since the first call may be spent waiting than this part, and
 * SESSION_WAIT_BUSY_NS. One wait takes 0.2 ms on an idle machine. */
#define WAIT_PART 10

/* Not async-signal-safe. */
static void await_maps(void)
{
    static uint64_t first_ns, waited_ns;
    struct process_slot *slot = process.slot;
    uint32_t wanted = load_acquire(&slot->unknown_count);
    if (load_acquire(&slot->unknown_seen) == wanted || seccomp_forbids(CALLS_OF_WAIT) ||
        launcher_is_stale())
        return;
    uint64_t start_ns = clock_ns(CLOCK);
    if (load_relaxed(&first_ns) == 0)
        store_relaxed(&first_ns, start_ns);
    if (load_relaxed(&waited_ns) >
        (start_ns - load_relaxed(&first_ns)) / WAIT_PART + SESSION_WAIT_BUSY_NS)
        return;
    store_release(&slot->unknown_requested, wanted);
    launcher_await(&slot->unknown_seen, wanted, SESSION_WAIT_BUSY_NS);
    add_relaxed(&waited_ns, clock_ns(CLOCK) - start_ns);
}

int dlclose(void *handle)
{
    if (!process_is_sampled())
        return NEXT(dlclose)(handle);
    await_maps();
    add_release(&process.slot->unload_count, 1);
    int result = NEXT(dlclose)(handle);
    add_release(&process.slot->unload_count, 1);
    return result;
}
