/* SPDX-License-Identifier: MIT */
/*
 * Two kinds of actions concern the sampler:
 *
 *     handlers on an alternate stack   the sampler's signal is blocked until they return
 *     ignored signals                  not blocked while the sampler's handler runs
 *
 * The kernel drops an ignored signal at the time of sending, unless the target thread blocks the
 * signal. Then the signal stays pending, the kernel wakes another thread, and epoll_wait() there
 * ends with EINTR. The target is the main thread or, for SIGCHLD, the thread with the fork():
 * often a thread in the sampler's handler. Observed with the ignored signals blocked, at 9999 Hz:
 * 180 waits ended per second in a program under constant SIGURG, and one in some million calls by
 * SIGCHLD.
 */
#include "sampler/signals/dispositions.h"

#include "sampler/base/identity.h"
#include "sampler/base/next_symbol.h"
#include "sampler/base/state.h"
#include "sampler/signals/kernel_action.h"
#include "sampler/signals/own_action.h"

/* A bit for each action with the sampler's signal added to the mask. */
static uint64_t deferring;

static bool ignores(int signal, uintptr_t handler_value)
{
    return handler_value == (uintptr_t)SIG_IGN ||
           (handler_value == (uintptr_t)SIG_DFL && SIGNAL_BIT(signal) & KERNEL_IGNORED_BY_DEFAULT);
}

/* A vfork child has its own actions in the kernel, but runs on its parent's memory. */
static bool is_known(int signal)
{
    return signal >= 1 && signal <= 64 && !process_is_another();
}

/* Before the signal gets a handler, because the handler may leave the sampler's by longjmp(). A
 * running sampler's handler still lets the signal through. */
static void note_before(int signal, uintptr_t handler_value)
{
    if (is_known(signal) && !ignores(signal, handler_value))
        own_action_remove_ignored(SIGNAL_BIT(signal));
}

static void note_after(int signal, uintptr_t handler_value)
{
    if (is_known(signal) && ignores(signal, handler_value))
        own_action_add_ignored(SIGNAL_BIT(signal));
}

signal_handler dispositions_set_simple(signal_handler (*set)(int, signal_handler), int signal,
                                       signal_handler simple)
{
    note_before(signal, (uintptr_t)simple);
    signal_handler old = set(signal, simple);
    if (old != SIG_ERR)
        note_after(signal, (uintptr_t)simple);
    return old;
}

/* A sample during the program's handler would use the alternate stack, too. The kernel's frame
 * alone takes 3.4 KiB with AVX-512, more than many alternate stacks have left. So the signal is
 * added to the action's mask, and removed from the mask that the program reads. */
static int set_deferring(int signal, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction wanted;
    bool defers = action && (action->sa_flags & SA_ONSTACK) && process.signal != 0 &&
                  process.engine != ENGINE_NONE && !sigismember(&action->sa_mask, process.signal);
    if (defers) {
        wanted = *action;
        sigaddset(&wanted.sa_mask, process.signal);
    }
    int result = NEXT(sigaction)(signal, defers ? &wanted : action, old);
    if (result != 0)
        return result;
    uint64_t before = load_relaxed(&deferring);
    if (action)
        before = defers ? __atomic_fetch_or(&deferring, SIGNAL_BIT(signal), __ATOMIC_RELAXED)
                        : __atomic_fetch_and(&deferring, ~SIGNAL_BIT(signal), __ATOMIC_RELAXED);
    if (old && before & SIGNAL_BIT(signal) && process.signal != 0)
        sigdelset(&old->sa_mask, process.signal);
    return 0;
}

int dispositions_set(int signal, const struct sigaction *action, struct sigaction *old)
{
    uintptr_t handler_value = action ? (uintptr_t)action->sa_sigaction : 0;
    if (action)
        note_before(signal, handler_value);
    int result = set_deferring(signal, action, old);
    if (action && result == 0)
        note_after(signal, handler_value);
    return result;
}
