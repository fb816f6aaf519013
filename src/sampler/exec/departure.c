/* SPDX-License-Identifier: MIT */
/*
 *     process, or its vfork child                       launcher
 *     departure = CLAIMED, departure_pid = own pid
 *     departure = REQUESTED, doorbell ────────────────▶ open events with enable_on_exec
 *     ◀──────────────────────────────────────────────── departure = DONE
 *     execve()
 *
 * A vfork child runs on the memory of its parent, and uses the slot of the parent: the word is free
 * again before the exec of the child. After an exec without vfork the word stays DONE.
 */
#include "sampler/exec/departure.h"

#include "sampler/base/own_call.h"
#include "sampler/process/launcher.h"

static bool can_announce(enum exec_kind kind)
{
    return (kind == EXEC_STATIC || kind == EXEC_OTHER_LOADER) && process_is_sampled() &&
           load_relaxed(&process.tables->header.takes_departures) &&
           !seccomp_forbids(CALLS_OF_WAIT | CALL_BIT(GETPID)) && !launcher_is_stale();
}

void departure_announce(enum exec_kind kind)
{
    if (!can_announce(kind))
        return;
    uint32_t *word = &process.slot->departure;
    if (!swap_acq_rel(word, DEPARTURE_NONE, DEPARTURE_CLAIMED))
        return; /* another thread's; the launcher finds this program later */
    store_relaxed(&process.slot->departure_pid, (uint32_t)own_syscall(GETPID));
    store_release(word, DEPARTURE_REQUESTED);
    bool is_done = launcher_await(word, DEPARTURE_DONE, SESSION_WAIT_BUSY_NS);
    if (!is_done || process_is_another())
        store_release(word, DEPARTURE_NONE);
}

void departure_forget(void)
{
    if (process_is_followed() && !process_is_another())
        swap_acq_rel(&process.slot->departure, DEPARTURE_DONE, DEPARTURE_NONE);
}
