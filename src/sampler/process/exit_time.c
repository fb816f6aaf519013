/* SPDX-License-Identifier: MIT */
/*
 * How much CPU time the program itself had: what its process uses after exit() or execve() is the taking down of
 * its address space, and no sample will tell one from the other. Whoever ends in another way (_exit(), a signal)
 * does not say.
 */
#include "sampler/process/exit_time.h"

#include "sampler/base/identity.h"
#include "sampler/base/own_call.h"

/* A vfork child has its parent's. */
static bool has_own_slot(void)
{
    return process_is_followed() && !process_is_another();
}

static void note(uint32_t is_exec)
{
    if (!has_own_slot())
        return;
    store_relaxed(&process.slot->end_is_exec, is_exec);
    store_relaxed(&process.slot->end_cpu_ns, clock_ns(PROCESS_CLOCK));
}

void exit_time_note_exec(void)
{
    note(1);
}

void exit_time_forget(void)
{
    if (has_own_slot())
        store_relaxed(&process.slot->end_cpu_ns, 0);
}

/* After all of the program's own. */
__attribute__((destructor)) static void end(void)
{
    note(0);
}
