/* SPDX-License-Identifier: MIT */
#include "sampler/signals/sigaction.h"

#include "sampler/base/identity.h"
#include "sampler/base/next_symbol.h"
#include "sampler/base/raw_call.h"
#include "sampler/base/state.h"
#include "sampler/sample/handler.h"
#include "sampler/signals/program_action.h"

#include <errno.h>

/* A vfork child has its own actions in the kernel, but runs on its parent's memory. */
static bool is_ours(int signal)
{
    return signal == process.signal && signal != 0 && process.engine != ENGINE_NONE &&
           !process_is_another();
}

/* In a vfork child the kernel reports the sampler's handler, inherited from the parent. */
static int set_action_of_another(int signal, const struct sigaction *action, struct sigaction *old)
{
    int result = dispositions_set(signal, action, old);
    if (result == 0 && old && old->sa_sigaction == handler) {
        struct action inherited = program_action_read();
        action_to_libc(&inherited, old);
    }
    return result;
}

int sigaction(int signal, const struct sigaction *action, struct sigaction *old)
{
    if (!is_ours(signal))
        return set_action_of_another(signal, action, old);
    struct action wanted;
    if (action)
        wanted = action_from_libc(action);
    struct action before = program_action_write(action ? &wanted : NULL);
    if (old)
        action_to_libc(&before, old);
    return 0;
}

bool sigaction_is_bare_call(long number, int signal, long mask_bytes)
{
    return number == SYS_rt_sigaction && mask_bytes == sizeof(uint64_t) && is_ours(signal);
}

/* Two calls let the kernel test both addresses: the first writes the sampler's action to `old`,
 * replaced below; the second reads `given` for SIGKILL and then fails. */
long sigaction_bare(const struct kernel_action *given, struct kernel_action *old)
{
    long result = raw_syscall(SYS_rt_sigaction, process.signal, NULL, old, sizeof(old->mask));
    if (given && !raw_failed(result) &&
        raw_syscall(SYS_rt_sigaction, SIGKILL, given, NULL, sizeof(given->mask)) == -EFAULT)
        result = -EFAULT;
    if (raw_failed(result))
        return result;
    struct action wanted;
    if (given)
        wanted = action_from_kernel(given);
    struct action before = program_action_write(given ? &wanted : NULL);
    if (old)
        *old = action_to_kernel(&before);
    return 0;
}

/* signal() and __sysv_signal() differ in their flags. */
static signal_handler set_simple(signal_handler simple, int flags, uint64_t mask)
{
    struct action wanted = {.mask = mask,
                            .flags = flags | KERNEL_ACTION_RESTORER,
                            .restorer = program_action_restorer()};
    wanted.handler.simple = simple;
    struct action before = program_action_write(&wanted);
    return before.handler.simple;
}

/* The return value of the C library's function; in a vfork child, possibly the sampler's
 * handler. */
static signal_handler translate(signal_handler old)
{
    union {
        signal_handler simple;
        void (*full)(int, siginfo_t *, void *);
    } ours = {.full = handler};
    return old == ours.simple ? program_action_read().handler.simple : old;
}

static bool is_refused(signal_handler simple)
{
    if (simple != SIG_ERR)
        return false;
    errno = EINVAL;
    return true;
}

signal_handler signal(int number, signal_handler simple)
{
    if (is_ours(number))
        return is_refused(simple) ? SIG_ERR : set_simple(simple, SA_RESTART, SIGNAL_BIT(number));
    return translate(dispositions_set_simple(NEXT(signal), number, simple));
}

signal_handler __sysv_signal(int number, signal_handler simple)
{
    if (is_ours(number))
        return is_refused(simple) ? SIG_ERR : set_simple(simple, (int)SA_RESETHAND | SA_NODEFER, 0);
    return translate(dispositions_set_simple(NEXT(__sysv_signal), number, simple));
}
