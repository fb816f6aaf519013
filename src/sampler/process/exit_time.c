/* SPDX-License-Identifier: MIT */
/*
 * Facts about the end of a program. CPU time after exit() or execve() is the teardown of the
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

/* The ids are those of the launcher's pid namespace. Without a descriptor, the read fails. */
void account_note(void)
{
    if (!process_is_followed() || !load_relaxed(&process.tables->header.takes_accounts) ||
        load_relaxed(&process.verdict->namespace))
        return;
    uint32_t tid = (uint32_t)own_syscall(GETTID);
    struct account_note *note = &process.requests->accounts[tid % SESSION_ACCOUNTS];
    store_relaxed(&note->tid, 0);
    long fd = own_syscall(OPEN, AT_FDCWD, "/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
    long bytes = own_syscall(READ_AT, fd, note->text, sizeof(note->text), 0);
    own_syscall(CLOSE, fd);
    store_relaxed(&note->time_ns, clock_ns(CLOCK));
    if (!raw_failed(bytes))
        store_release(&note->tid, tid); /* publishes the account */
}

/* After all of the program's own. */
__attribute__((destructor)) static void end(void)
{
    note(END_NO_EXEC);
    account_note();
}
