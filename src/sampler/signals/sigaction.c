/* SPDX-License-Identifier: MIT */
#include "sampler/signals/sigaction.h"

#include "sampler/base/next_symbol.h"
#include "sampler/signals/kernel_action.h"
#include "sampler/signals/program_action.h"

#include <errno.h>

/* A vfork child has actions of its own in the kernel, but the memory of its parent: the kernel's
 * actions are read and set. */
static bool is_ours(int signal)
{
    return signal == process.signal && signal != 0 && process.engine != ENGINE_NONE &&
           !process_is_another();
}

/* A bit for each action with the sampler's signal added to the mask. */
static uint64_t deferring;

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

int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    if (!is_ours(signal))
        return set_deferring(signal, action, old);
    struct action wanted;
    if (action) {
        wanted = action_from_libc(action);
        wanted.flags |= ARCH_SA_RESTORER;
    }
    struct action before = program_action_write(action ? &wanted : NULL);
    if (old)
        action_to_libc(&before, old);
    return 0;
}

/* signal() and __sysv_signal() differ in their flags. */
static signal_handler set_simple(signal_handler simple, int flags, uint64_t mask)
{
    struct action wanted = {.mask = mask, .flags = flags | ARCH_SA_RESTORER};
    if (simple == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    wanted.handler.simple = simple;
    struct action before = program_action_write(&wanted);
    return before.handler.simple;
}

signal_handler signal(int number, signal_handler simple)
{
    if (is_ours(number))
        return set_simple(simple, SA_RESTART, SIGNAL_BIT(number));
    return NEXT(signal)(number, simple);
}

signal_handler __sysv_signal(int number, signal_handler simple)
{
    if (is_ours(number))
        return set_simple(simple, (int)SA_RESETHAND | SA_NODEFER, 0);
    return NEXT(__sysv_signal)(number, simple);
}
