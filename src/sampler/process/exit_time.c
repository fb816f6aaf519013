/* SPDX-License-Identifier: MIT */
/*
 * The CPU time of the program itself. CPU time after exit() or execve() is the teardown of the
 * address space, and samples cannot separate the two. A process ended by _exit() or a signal states
 * no figure.
 */
#include "sampler/process/exit_time.h"

#include "sampler/signals/kernel_action.h"

/* A vfork child has its parent's. */
static bool has_own_slot(void)
{
    return process_is_followed() && !process_is_another();
}

static void note(enum end_exec exec)
{
    if (!has_own_slot())
        return;
    bool is_unseen = thread_self && thread_self->samples == 0;
    bool is_blocked = is_unseen && kernel_mask_change(SIG_BLOCK, 0) & SIGNAL_BIT(process.signal);
    store_relaxed(&process.slot->end_is_blocked, is_blocked);
    store_relaxed(&process.slot->end_is_exec, exec);
    store_relaxed(&process.slot->end_cpu_ns, clock_ns(PROCESS_CLOCK));
}

void exit_time_note_exec(bool is_of_other)
{
    note(is_of_other ? END_EXEC_OF_OTHER : END_EXEC);
}

void exit_time_forget(void)
{
    if (has_own_slot())
        store_relaxed(&process.slot->end_cpu_ns, 0);
}

/* After all of the program's own. */
__attribute__((destructor)) static void end(void)
{
    note(END_NO_EXEC);
}
