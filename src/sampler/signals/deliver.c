/* SPDX-License-Identifier: MIT */
#include "sampler/signals/deliver.h"

#include "sampler/signals/kernel_action.h"
#include "sampler/signals/mask.h"
#include "sampler/signals/program_action.h"

/* int3 and other traps of the processor: the kernel kills a program that ignores or blocks them
 * (force_sig_info() in kernel/signal.c). SIGPROF comes from the kernel only for interval timers. */
static bool is_forced(int signal, const siginfo_t *info)
{
    return signal == SIGTRAP && info->si_code > 0 && info->si_code != SI_USER;
}

/* Ends the program by the default action, with the interrupted registers and the signal information
 * in the core. The signal is blocked until this handler returns. */
static void deliver_default(int signal, siginfo_t *info)
{
    static const uint64_t standard[4]; /* the kernel's handler, flags, restorer and mask */
    raw_syscall(SYS_rt_sigaction, signal, standard, NULL, sizeof(standard[0]));
    long pid = raw_syscall(SYS_getpid);
    long tid = raw_syscall(SYS_gettid);
    raw_syscall(SYS_rt_tgsigqueueinfo, pid, tid, signal, info);
}

static void call_handler(const struct action *action, int signal, siginfo_t *info, void *context)
{
    ucontext_t *interrupted = context;
    uint64_t mask = sigset_word(&interrupted->uc_sigmask) | action->mask;
    if (!(action->flags & SA_NODEFER))
        mask |= SIGNAL_BIT(signal);
    kernel_mask_change(SIG_SETMASK, mask);
    if (action->flags & SA_SIGINFO)
        action->handler.full(signal, info, context);
    else
        action->handler.simple(signal);
    kernel_mask_change(SIG_SETMASK, ~UINT64_C(0));
}

void deliver_foreign(int signal, siginfo_t *info, void *context)
{
    bool forced = is_forced(signal, info);
    if (!forced && mask_defer(signal, info, context))
        return;
    struct action action = program_action_read();
    bool is_ignored = action.handler.value == (uintptr_t)SIG_IGN;
    if (is_ignored && !forced)
        return;
    if (is_ignored || action.handler.value == (uintptr_t)SIG_DFL ||
        (forced && mask_hides_block_at(context))) {
        deliver_default(signal, info);
        return;
    }
    if (action.flags & (int)SA_RESETHAND) {
        struct action standard = action;
        standard.handler.value = (uintptr_t)SIG_DFL;
        program_action_write(&standard);
    }
    call_handler(&action, signal, info, context);
}
