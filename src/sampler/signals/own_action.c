/* SPDX-License-Identifier: MIT */
#include "sampler/signals/own_action.h"

#include "sampler/base/identity.h"
#include "sampler/base/next_symbol.h"
#include "sampler/base/own_call.h"
#include "sampler/sample/handler.h"
#include "sampler/signals/program_action.h"

/* The handler's action in the kernel, with the return stub of the C library. */
static struct kernel_action installed;

/* A new program has no handlers yet. Signals ignored by the parent's choice are missing here,
 * and stay blocked. */
static uint64_t ignored = KERNEL_IGNORED_BY_DEFAULT;

static long kernel_sigaction(int signal, const struct kernel_action *action,
                             struct kernel_action *old)
{
    return own_syscall(SIGACTION, signal, action, old, sizeof(action->mask));
}

/* Sanitizers interpose sigaction(), but not this name: their functions report errors before their
 * own initialisation, and the thread sanitizer runs handlers long after the signal. */
int __sigaction(int, const struct sigaction *, struct sigaction *);

static int libc_sigaction(int signal, const struct sigaction *action)
{
    __typeof__(&__sigaction) function = NEXT(__sigaction);
    return function ? function(signal, action, NULL) : NEXT(sigaction)(signal, action, NULL);
}

/* The handler blocks each signal with a possible handler: a program's handler that leaves by
 * longjmp() would also leave the sampler's. Includes the C library's signal for pthread_cancel(),
 * absent from sigfillset(). */
static uint64_t handler_mask(void)
{
    return ~(load_acquire(&ignored) | KERNEL_NEVER_BLOCKED);
}

/* Under the lock, because another thread may be in own_action_show_ignored(): the kernel's
 * action is SIG_IGN then, and stays so. */
static void refresh_mask(void)
{
    struct kernel_action now;
    if (!process.signal)
        return;
    uint64_t mask = program_action_lock();
    if (!raw_failed(kernel_sigaction(process.signal, NULL, &now)) && now.handler == handler) {
        now.mask = handler_mask();
        kernel_sigaction(process.signal, &now, NULL);
    }
    program_action_unlock(mask);
}

void own_action_add_ignored(uint64_t signals)
{
    if (~__atomic_fetch_or(&ignored, signals, __ATOMIC_SEQ_CST) & signals)
        refresh_mask();
}

void own_action_remove_ignored(uint64_t signals)
{
    if (__atomic_fetch_and(&ignored, ~signals, __ATOMIC_SEQ_CST) & signals)
        refresh_mask();
}

bool own_action_install(int signal)
{
    struct sigaction ours = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
    sigset_assign(&ours.sa_mask, handler_mask());
    struct kernel_action before;
    if (raw_failed(kernel_sigaction(signal, NULL, &before)))
        return false;
    if (before.handler != handler) {
        struct action action = action_from_kernel(&before);
        program_action_write(&action);
    }
    process.signal = signal;
    if (libc_sigaction(signal, &ours) == 0) {
        kernel_sigaction(signal, NULL, &installed);
        program_action_set_restorer(installed.restorer);
        return true;
    }
    process.signal = 0;
    return false;
}

void own_action_uninstall(void)
{
    struct action action = program_action_read();
    struct kernel_action before = action_to_kernel(&action);
    int signal = process.signal;
    process.signal = 0;
    if (signal)
        kernel_sigaction(signal, &before, NULL);
}

bool own_action_ignore(void)
{
    struct action ignoring = {.handler.simple = SIG_IGN};
    struct kernel_action wanted = {.handler = ignoring.handler.full};
    return !raw_failed(kernel_sigaction(process.signal, &wanted, NULL));
}

void own_action_restore(void)
{
    kernel_sigaction(process.signal, &installed, NULL);
    refresh_mask();
}

/* Several threads may call exec at once, with at most one success: the last thread puts the
 * handler back. A vfork child has its own actions, but would count in the parent's memory: no
 * count. */
bool own_action_show_ignored(void)
{
    struct kernel_action now;
    if (!process.signal || program_action_read().handler.value != (uintptr_t)SIG_IGN)
        return false;
    uint32_t *showing = process_alive + WIPED_SHOWN_IGNORED;
    bool counts = !process_is_another();
    uint64_t mask = program_action_lock();
    bool is_shown =
        (counts && *showing > 0) || (!raw_failed(kernel_sigaction(process.signal, NULL, &now)) &&
                                     now.handler == handler && own_action_ignore());
    *showing += counts && is_shown;
    program_action_unlock(mask);
    return is_shown;
}

void own_action_hide_ignored(void)
{
    bool counts = !process_is_another();
    uint64_t mask = program_action_lock();
    bool is_last = !counts || --process_alive[WIPED_SHOWN_IGNORED] == 0;
    if (is_last)
        kernel_sigaction(process.signal, &installed, NULL);
    program_action_unlock(mask);
    if (is_last)
        refresh_mask();
}
